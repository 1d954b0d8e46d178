/* The `block` message: what was measured of one block of training steps. It is formatted into memory taken before
 * training starts, so that nothing is allocated between blocks. */
#ifndef YS_PROTOCOL_BLOCK_MESSAGE_H
#define YS_PROTOCOL_BLOCK_MESSAGE_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

/** What an adapter measures of one block; times are of ys_time_ns(). */
struct ys_block {
    uint64_t t_start_ns, t_end_ns; /* t_end_ns is read when all work of the block is done */
    uint64_t input_ns;             /* the part of it in which the loop waited for its batches */
    double *loss;                  /* room for one loss a step; those written may be NaN or infinite */
    size_t loss_count;             /* [out] losses written: one for every step; 0 for an adapter that does no work */
    /* Of one of several ranks, room for one time a step each: its forward pass began; its own gradients were there;
     * they were those of all; the weights had changed. */
    uint64_t *began_ns, *ready_ns, *reduced_ns, *updated_ns;
    size_t stamp_count;  /* [out] of each of them: one for every step, or 0 where it cannot tell */
    int64_t sent_bytes;  /* [out] to other ranks; below 0 where it cannot tell */
    int64_t exchange_ns; /* [out] an exchange with them was under way; likewise */
};

struct ys_block_line {
    size_t capacity; /* bytes of `text` */
    char *text;
    double *loss;     /* room for the losses of one block */
    uint64_t *stamps; /* and for its times, one list of the struct above after the other */
    size_t steps;     /* that there is room for */
};

/** Takes memory for blocks of at most `steps` steps. YS_OK or YS_ENOMEM. */
ys_status ys_block_line_init(struct ys_block_line *line, size_t steps) YS_MUST_CHECK;
void ys_block_line_fini(struct ys_block_line *line);

/** A block that nothing is known of yet, with the room of `line`. */
struct ys_block ys_block_begin(const struct ys_block_line *line);

/** Formats the message with its newline into line->text; `block` has at most as many losses, and times, as init was
 * told. Times are left out that lie outside the block, or further from its start than a day and more.
 * @param first  the first step of the block, @param count its number of steps
 * @return the number of bytes, the newline included. */
size_t ys_block_line_format(struct ys_block_line *line, int64_t first, int64_t count, const struct ys_block *block);

#endif
