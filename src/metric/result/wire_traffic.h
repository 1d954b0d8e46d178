/* What the ranks of a run sent through the interfaces of their hosts, beside what the way in which they exchange
 * gradients needs: what is compressed, or went round the wire, is found by its bytes. */
#ifndef YS_METRIC_RESULT_WIRE_TRAFFIC_H
#define YS_METRIC_RESULT_WIRE_TRAFFIC_H

#include "metric/study_view.h"

/* How gradients are exchanged, as the adapter says it (docs/protocol.md). */
enum ys_exchange {
    YS_EXCHANGE_RING,    /* a mean in two turns of a ring, in the order of ranks */
    YS_EXCHANGE_MEAN,    /* by whatever passes the fewest bytes, or takes the fewest turns */
    YS_EXCHANGE_SERVERS, /* each rank sends to servers that lie beside the ranks, and gets the sums */
    YS_EXCHANGE_SHARDS,  /* of parts of the network: weights are gathered twice, gradients summed, by rings */
};
extern const struct ys_names ys_exchanges; /* "ring", "mean", "servers", "shards" */

/** Of one of a run's networks, for a step. NaN: not known. */
struct ys_wire {
    const char *interface; /* borrowed; NULL: none */
    double sent_bytes, received_bytes;
    double needed_bytes; /* that have to leave it, without headers; NaN also where all ranks are in one network. Of the
                            ways `mean` and `servers`, which may divide that as they like, it is the mean over hosts */
};
struct ys_wire ys_wire_of(const struct ys_facts *facts, int precision, size_t network);

/* What is wrong with what was sent. */
enum ys_wire_fault { YS_WIRE_NONE, YS_WIRE_LESS, YS_WIRE_MORE };
/** `text` gets a sentence about the first fault of the run, if there is one. */
enum ys_wire_fault ys_wire_judge(const struct ys_facts *facts, int precision, char *text, size_t size);

/** The network of a run that rank `rank` is in; its number, or the count of networks. */
size_t ys_wire_find(const struct ys_facts *facts, int64_t rank);

#endif
