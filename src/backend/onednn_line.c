/* Layer normalisation, and that by the mean square, which are ours: values lie in C order, a line along the last axis
 * side by side. */
#include "backend/kernels.h"
#include "backend/onednn_state.h"
#include "backend/parallel.h"

#include <string.h>

struct lines {
    int threads;
    int64_t lines, count; /* elements of one */
    float epsilon;
    bool has_bias, wants_dx, is_square; /* the last: by the mean square, the mean counting as 0 */
};

static void forward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct lines *l = context;
    const struct ys_line_kernels *kernels = ys_line_kernels();
    for (int64_t line = (int64_t)first; line < (int64_t)end; line++) {
        const float *x = (const float *)operand[0] + line * l->count;
        const struct ys_line_statistics s = kernels->statistics(x, l->count, l->is_square, l->epsilon);
        kernels->forward(&s, l->count, x, operand[2], l->has_bias ? operand[3] : NULL,
                         (float *)operand[1] + line * l->count);
    }
}

/** x, y, weight, and where there is one bias */
static ys_status forward_run(void *context, void *const *operand)
{
    const struct lines *l = context;
    ys_parallel_for(l->threads, (size_t)l->lines, 1, forward_part, context, operand);
    return YS_OK;
}

static void backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct lines *l = context;
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
    const struct lines *l = context;
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

/** x, weight, dy, dweight, statistics of the lines, and as far as they are there dx, dbias */
static ys_status backward_run(void *context, void *const *operand)
{
    const struct lines *l = context;
    ys_parallel_for(l->threads, (size_t)l->lines, 1, backward_part, context, operand);
    ys_parallel_for(l->threads, (size_t)l->count, YS_LANES, gather_part, context, operand);
    return YS_OK;
}

static struct lines describe(const struct ys_lowering *low, const struct ys_node *node, const ys_layout *plain)
{
    const struct ys_value *in = &low->graph->values[node->in[0]];
    const int64_t count = in->shape[in->rank - 1];
    return (struct lines){.threads = low->config.threads,
                          .lines = (int64_t)ys_layout_elements(plain) / count,
                          .count = count,
                          .epsilon = (float)node->epsilon,
                          .has_bias = node->bias >= 0,
                          .is_square = node->op == YS_OP_RMSNORM,
                          .wants_dx = low->value_gradient[node->in[0]]};
}

ys_status ys_onednn_forward_layernorm(struct ys_lowering *low, const struct ys_node *node)
{
    ys_layout plain;
    struct ys_operand operands[4];
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    const struct lines l = describe(low, node, &plain);
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &operands[0]));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[1] = ys_at(low->value[node->out[0]]);
    operands[2] = ys_onednn_param(low, low->weights, node->weight);
    if (l.has_bias)
        operands[3] = ys_onednn_param(low, low->weights, node->bias);
    return ys_onednn_append_own(low, node->name, forward_run, &l, sizeof l, operands, 3 + l.has_bias);
}

ys_status ys_onednn_backward_layernorm(struct ys_lowering *low, const struct ys_node *node)
{
    ys_layout plain;
    struct ys_operand operands[7] = {{0}}, dx = {0}, bias = {0};
    size_t count = 5;
    bool more_weight, more_bias = false;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    const struct lines l = describe(low, node, &plain);
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &operands[0]));
    operands[1] = ys_onednn_param(low, low->weights, node->weight);
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[2]));
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[3], &more_weight));
    YS_TRY(ys_program_buffer(low->program, (size_t)l.lines * sizeof(struct ys_line_statistics), false,
                             &operands[4].buffer));
    if (l.wants_dx) {
        YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
        operands[count++] = dx;
    }
    if (l.has_bias) {
        YS_TRY(ys_lower_param_share(low, node->bias, &bias, &more_bias));
        operands[count++] = bias;
    }
    YS_TRY(ys_onednn_append_own(low, node->name, backward_run, &l, sizeof l, operands, count));
    YS_TRY(ys_onednn_add_param(low, node, node->weight, operands[3], more_weight));
    YS_TRY(ys_onednn_add_param(low, node, node->bias, bias, more_bias));
    return l.wants_dx ? ys_onednn_give(low, node->name, node->in[0], &plain, dx) : YS_OK;
}
