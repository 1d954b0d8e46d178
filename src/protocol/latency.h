/* The `latencies` message: what was measured of consecutive requests. Like that of a block it is formatted into memory
 * taken before the first request. */
#ifndef YS_PROTOCOL_LATENCY_H
#define YS_PROTOCOL_LATENCY_H

#include "yardstick/protocol.h"

#include <stddef.h>
#include <stdint.h>

#define YS_LATENCIES_LIMIT YS_PROTOCOL_LATENCIES_LIMIT /* requests in one message */

struct ys_latencies {
    int64_t first;                           /* request, counted from 0 */
    size_t count;                            /* requests, at least 1 */
    uint64_t t_start_ns, t_end_ns;           /* ys_time_ns(): before the first of them, and after the last */
    uint64_t latency_ns[YS_LATENCIES_LIMIT]; /* of each */
    /* The message: at most 20 digits and a comma for each latency. */
    char text[256 + 21 * YS_LATENCIES_LIMIT];
};

/** Formats the message with its newline into latencies->text; returns its bytes, the newline included. */
size_t ys_latencies_format(struct ys_latencies *latencies);

#endif
