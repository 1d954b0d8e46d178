/* Batches in a ring of shared memory (protocol/feed.h), filled by threads as an adapter asks for them. */
#ifndef YS_FEEDER_STREAM_H
#define YS_FEEDER_STREAM_H

#include "feeder/batches.h"

#include <stdbool.h>

struct ys_stream_asked {
    struct ys_batches *batches; /* taken over */
    int channel, memory;        /* descriptors, taken over */
    int threads;                /* at least 1 */
    bool wraps;                 /* after the last batch comes the first one, as requests take them */
};

/** Gives the memory its size and its head, and begins to serve until the program ends. A batch that cannot be made ends
 * the program, with the reason as its last words. YS_EIO: there is no room for the ring, or no thread to be had.
 * YS_ENOMEM. */
ys_status ys_stream_begin(const struct ys_stream_asked *asked) YS_MUST_CHECK;
#endif
