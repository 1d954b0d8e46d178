#include "backend/line.h"

#include "backend/kernels/kernels.h"
#include "backend/parallel.h"

#include <string.h>

static void forward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_lines *l = context;
    const struct ys_line_kernels *kernels = ys_line_kernels();
    for (int64_t line = (int64_t)first; line < (int64_t)end; line++) {
        const float *x = (const float *)operand[0] + line * l->count;
        const struct ys_line_statistics s = kernels->statistics(x, l->count, l->is_square, l->epsilon);
        kernels->forward(&s, l->count, x, operand[2], l->has_bias ? operand[3] : NULL,
                         (float *)operand[1] + line * l->count);
    }
}

ys_status ys_lines_run(void *context, void *const *operand)
{
    const struct ys_lines *l = context;
    ys_parallel_for(l->threads, (size_t)l->lines, 1, forward_part, context, operand);
    return YS_OK;
}

static void backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_lines *l = context;
    const struct ys_line_kernels *kernels = ys_line_kernels();
    for (int64_t line = (int64_t)first; line < (int64_t)end; line++) {
        const int64_t at = line * l->count;
        const float *x = (const float *)operand[0] + at;
        struct ys_line_statistics *s = (struct ys_line_statistics *)operand[4] + line;
        *s = kernels->statistics(x, l->count, l->is_square, l->epsilon);
        if (l->wants_dx)
            kernels->backward(s, l->is_square, l->count, x, operand[1], (const float *)operand[2] + at,
                              (float *)operand[5] + at);
    }
}

/** Columns [first, end) of every line: no two threads write to one place, and all add in the order of the lines. */
static void gather_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_lines *l = context;
    const struct ys_line_kernels *kernels = ys_line_kernels();
    const size_t size = (end - first) * sizeof(float);
    float *dweight = (float *)operand[3] + first,
          *dbias = l->has_bias ? (float *)operand[5 + l->wants_dx] + first : NULL;
    memset(dweight, 0, size);
    if (dbias)
        memset(dbias, 0, size);
    for (int64_t line = 0; line < l->lines; line++) {
        const int64_t at = line * l->count + (int64_t)first;
        kernels->gather((const struct ys_line_statistics *)operand[4] + line, (int64_t)(end - first),
                        (const float *)operand[0] + at, (const float *)operand[2] + at, dweight, dbias);
    }
}

ys_status ys_lines_backward_run(void *context, void *const *operand)
{
    const struct ys_lines *l = context;
    ys_parallel_for(l->threads, (size_t)l->lines, 1, backward_part, context, operand);
    ys_parallel_for(l->threads, (size_t)l->count, YS_LANES, gather_part, context, operand);
    return YS_OK;
}

struct ys_lines ys_lines_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *in = &low->graph->values[node->in[0]];
    const int64_t count = in->shape[in->rank - 1];
    return (struct ys_lines){.threads = low->config.threads,
                             .lines = low->config.batch * ys_value_row_elements(in) / count,
                             .count = count,
                             .epsilon = (float)node->epsilon,
                             .has_bias = node->bias >= 0,
                             .is_square = node->op == YS_OP_RMSNORM,
                             .wants_dx = low->value_gradient[node->in[0]]};
}
