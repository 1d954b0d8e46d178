/* Batches in a ring of shared memory (protocol/batch_ring.h), filled by threads as an adapter asks for them. */
#ifndef YS_FEEDER_SERVE_FILL_RING_H
#define YS_FEEDER_SERVE_FILL_RING_H

#include "feeder/batches.h"

#include <stdbool.h>

struct ys_stream_asked {
    struct ys_batches *batches; /* taken over */
    int channel, memory;        /* descriptors, taken over */
    int threads;                /* that make batches */
    bool wraps;                 /* after the last batch comes the first one, as requests take them */
};

struct ys_stream;

/** Gives the memory its size and its head, and begins to serve until the program ends; *stream is never freed. A batch
 * that cannot be made ends the program, with the reason as its last words. YS_EIO: there is no room for the ring, or no
 * thread to be had. */
ys_status ys_stream_begin(const struct ys_stream_asked *asked, struct ys_stream **stream) YS_MUST_CHECK;
/** The batch that the adapter waits for, and since when in seconds; -1: for none. */
int64_t ys_stream_awaited(struct ys_stream *stream, double *since_s);
#endif
