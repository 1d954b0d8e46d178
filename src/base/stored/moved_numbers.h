/* Numbers moved by rounding alone: what twins of a computation begin with, so that what they differ by is what rounding
 * may do to it. */
#ifndef YS_BASE_STORED_MOVED_NUMBERS_H
#define YS_BASE_STORED_MOVED_NUMBERS_H

#include "base/rng.h"

struct ys_mover {
    struct ys_rng rng;
    uint32_t unit; /* in the bits of a float32, what a number moves by: 1 is one unit in its last place */
};

/** The lots of (seed, twin). */
void ys_mover_init(struct ys_mover *mover, uint64_t seed, int twin, uint32_t unit);
/** `value` moved by a unit away from zero, towards it or not at all, each as likely. Zero, and what would cross zero or
 * infinity, stays. */
float ys_move_float(struct ys_mover *mover, float value);
/** The same by one unit in the last place of a double, whatever `unit` is. */
double ys_move_double(struct ys_mover *mover, double value);

#endif
