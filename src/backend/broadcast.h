/* Sums, differences, products and quotients of two operands of one rank, whose extents are equal or 1 (docs/graph.md,
 * Add, Sub, Mul, Div), the second of which may be a parameter: where the elements of the result come from. Neighbouring
 * axes over which both values run on as over one are one here, so that values of one shape have a single axis. */
#ifndef YS_BACKEND_BROADCAST_H
#define YS_BACKEND_BROADCAST_H

#include "engine/backend.h"

struct ys_broadcast {
    size_t rank;                  /* at least 1 */
    int64_t count;                /* elements of the result */
    int64_t extent[YS_MAX_RANK];  /* of the result, the batch first */
    int64_t step[2][YS_MAX_RANK]; /* of either operand, in C order: 0 along an axis that it is stretched on */
    int64_t from[2];              /* elements of either operand */
};

/** Of a node that is an Add, Sub, Mul or Div. */
struct ys_broadcast ys_broadcast_of(const struct ys_lowering *low, const struct ys_node *node);

/** A walk over the result in C order, from line to line along its last axis: the places of both values that go with its
 * first element. Zeroed at the first line. */
struct ys_broadcast_walk {
    int64_t index[YS_MAX_RANK], at[2];
};

static inline void ys_broadcast_next_line(const struct ys_broadcast *b, struct ys_broadcast_walk *walk)
{
    for (size_t axis = b->rank - 1; axis-- > 0;) {
        walk->at[0] += b->step[0][axis];
        walk->at[1] += b->step[1][axis];
        if (++walk->index[axis] < b->extent[axis])
            return;
        walk->index[axis] = 0;
        walk->at[0] -= b->step[0][axis] * b->extent[axis];
        walk->at[1] -= b->step[1][axis] * b->extent[axis];
    }
}

#endif
