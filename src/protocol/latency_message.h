/* The `latencies` message: what was measured of consecutive requests. Like that of a block it is formatted into memory
 * taken before the first request. */
#ifndef YS_PROTOCOL_LATENCY_MESSAGE_H
#define YS_PROTOCOL_LATENCY_MESSAGE_H

#include "yardstick/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_LATENCIES_LIMIT YS_PROTOCOL_LATENCIES_LIMIT /* requests in one message */

struct ys_latencies {
    int64_t first;                           /* request, counted from 0 */
    size_t count;                            /* requests, at least 1 */
    uint64_t t_start_ns, t_end_ns;           /* ys_time_ns(): before the first of them, and after the last */
    uint64_t latency_ns[YS_LATENCIES_LIMIT]; /* of each */
    bool counted;                            /* whether the next are known */
    uint64_t instructions[YS_LATENCIES_LIMIT];
    /* Where rows are answered piece by piece: tokens of each request, and the latencies of its prompt and of its
     * tokens, in which all of a request's pieces have room. 0: rows are answered whole. */
    size_t tokens;
    uint64_t prompt_ns[YS_LATENCIES_LIMIT], token_ns[YS_LATENCIES_LIMIT];
    /* The message: at most 20 digits and a comma for each number. */
    char text[256 + 4 * 21 * YS_LATENCIES_LIMIT];
};

/** Whether there is room for one request more. */
bool ys_latencies_have_room(const struct ys_latencies *latencies);

/** Formats the message with its newline into latencies->text; returns its bytes, the newline included. */
size_t ys_latencies_format(struct ys_latencies *latencies);

#endif
