/* A graph that shows its insides: the same network, whose output is every value that its nodes make.
 *
 * Each value is flattened and put behind the ones before it, by Flatten and Concat: an adapter needs to know nothing
 * new, and a forward pass gives all of them at once, as `logits` of shape (N, sum of lengths). Parameters, their names
 * and the nodes before the taps are those of the graph it was made from, so the same file of weights serves both. The
 * loss stays too, over other logits: it means nothing here. */
#ifndef YS_GRAPH_EXPOSE_VALUES_H
#define YS_GRAPH_EXPOSE_VALUES_H

#include "graph/graph.h"

struct ys_tap_slice {
    int node, value;        /* indices in the graph that it was made from; a Split has a slice for each output */
    int64_t offset, length; /* columns of the output: elements of the value for one row of the batch, in C order */
};

struct ys_tap {
    struct ys_graph *graph;
    struct ys_tap_slice *slices; /* in the order of the nodes; offsets ascend without a gap, from 0 */
    size_t count;
};

/** `graph` is copied. YS_EUNSUPPORTED: its target is no class for each row. YS_EFORMAT: with the taps it would have too
 * many nodes. YS_ENOMEM. Free with ys_tap_fini(). */
ys_status ys_tap_make(const struct ys_graph *graph, struct ys_tap *tap) YS_MUST_CHECK;
void ys_tap_fini(struct ys_tap *tap); /* a zeroed one is fine */

#endif
