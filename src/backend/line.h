/* Layer normalisation, and that by the mean square, in float: values lie in C order, a line along the last axis side by
 * side. */
#ifndef YS_BACKEND_LINE_H
#define YS_BACKEND_LINE_H

#include "engine/backend.h"

struct ys_lines {
    int threads;
    int64_t lines, count; /* elements of one */
    float epsilon;
    bool has_bias, wants_dx, is_square; /* the last: by the mean square, the mean counting as 0 */
};

struct ys_lines ys_lines_of(const struct ys_lowering *low, const struct ys_node *node);

/* Each takes the struct as its context. */
ys_status ys_lines_run(void *context, void *const *operand); /* x, y, weight, and where there is one bias */
/* x, weight, dy, dweight, statistics of the lines, and as far as they are there dx, dbias */
ys_status ys_lines_backward_run(void *context, void *const *operand);

#endif
