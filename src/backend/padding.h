/* Pad (docs/graph.md): where the elements of the result come from, in C order. */
#ifndef YS_BACKEND_PADDING_H
#define YS_BACKEND_PADDING_H

#include "engine/backend.h"

struct ys_padding {
    size_t rank;
    int64_t rows;                                   /* lines of the result along its last axis */
    int64_t in[YS_MAX_RANK], out[YS_MAX_RANK];      /* extents, the batch first */
    int64_t before[YS_MAX_RANK], step[YS_MAX_RANK]; /* step: of the input, in elements */
    enum ys_pad_mode mode;
    double value;
};

/** Of a node that is a Pad. */
struct ys_padding ys_padding_of(const struct ys_lowering *low, const struct ys_node *node);

/** The index along an axis of `extent` elements that index `at` (below 0 or beyond in the padding) is read from; -1:
 * none.
 */
static inline int64_t ys_padding_from(enum ys_pad_mode mode, int64_t at, int64_t extent)
{
    if (at >= 0 && at < extent)
        return at;
    if (mode == YS_PAD_EDGE)
        return at < 0 ? 0 : extent - 1;
    return mode == YS_PAD_CONSTANT ? -1 : at < 0 ? -at : 2 * (extent - 1) - at;
}

/** The first element of the input's line that line `row` of the result is made of; -1: none. */
int64_t ys_padding_line(const struct ys_padding *p, int64_t row);

#endif
