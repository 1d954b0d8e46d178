/* The mask of dropout: which elements a training step keeps.
 *
 * It is a function of the seed, the node's name, the step and the element's index alone, so every back end, layout and
 * number of threads gives the same bits. Element e of step t (counted from 1) is kept where word e mod 4 of
 * Philox4x32-10 at the counter (e / 4, t) is at least ratio * 2^32; the key is that of the stream (seed, node name),
 * base/rng.h. (The streams that initial weights come from have t = 0, so they share no block with a mask.) */
#ifndef YS_BACKEND_DROPOUT_H
#define YS_BACKEND_DROPOUT_H

#include <stddef.h>
#include <stdint.h>

struct ys_dropout {
    uint32_t key[2];
    uint32_t threshold; /* words from here up are kept */
};

/** `ratio`: share of elements dropped, 0 <= ratio < 1. */
void ys_dropout_init(struct ys_dropout *dropout, uint64_t seed, const char *node_name, double ratio);

/** keep[i] = 1 where element first + i is kept, else 0. `steps_done`: as *low->step has it, that is t - 1. The index of
 * an element counts in C order over the whole batch (NCHW), whatever the layout in memory. Allocates nothing. */
void ys_dropout_mask(const struct ys_dropout *dropout, uint64_t steps_done, uint64_t first, size_t count,
                     unsigned char *keep);

#endif
