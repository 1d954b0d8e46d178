/* Layer normalisation, and that by the mean square, which are ours: values lie in C order, a line along the last axis
 * side by side. */
#include "backend/onednn_state.h"
#include "backend/parallel.h"

#include <math.h>
#include <string.h>

struct lines {
    int threads;
    int64_t lines, count; /* elements of one */
    float epsilon;
    bool has_bias, wants_dx, is_square; /* the last: by the mean square, the mean counting as 0 */
};

struct statistics {
    float mean, inverse; /* 1 / sqrt(variance + epsilon) */
};

/** Sums in double: a line may be long, and its mean far from 0. */
static struct statistics statistics_of(const struct lines *l, const float *x)
{
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < l->count; k++)
        sum += x[k];
    const double mean = l->is_square ? 0 : sum / (double)l->count;
    for (int64_t k = 0; k < l->count; k++)
        squares += (x[k] - mean) * (x[k] - mean);
    return (struct statistics){(float)mean, (float)(1 / sqrt(squares / (double)l->count + l->epsilon))};
}

static void forward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct lines *l = context;
    const float *weight = operand[2], *bias = l->has_bias ? operand[3] : NULL;
    for (int64_t line = (int64_t)first; line < (int64_t)end; line++) {
        const float *x = (const float *)operand[0] + line * l->count;
        float *y = (float *)operand[1] + line * l->count;
        const struct statistics s = statistics_of(l, x);
        for (int64_t k = 0; k < l->count; k++)
            y[k] = (x[k] - s.mean) * s.inverse * weight[k];
        for (int64_t k = 0; bias && k < l->count; k++)
            y[k] += bias[k];
    }
}

/** x, y, weight, and where there is one bias */
static ys_status forward_run(void *context, void *const *operand)
{
    const struct lines *l = context;
    ys_parallel_for(l->threads, (size_t)l->lines, 1, forward_part, context, operand);
    return YS_OK;
}

/** With z = (x - mean) inverse and g = dy weight, dx = inverse (g - mean of g - z mean of g z), without the mean of g
 * where there is no mean that moves with x. */
static void backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct lines *l = context;
    const float *weight = operand[1];
    for (int64_t line = (int64_t)first; line < (int64_t)end; line++) {
        const float *x = (const float *)operand[0] + line * l->count, *dy = (const float *)operand[2] + line * l->count;
        float *dx = (float *)operand[4] + line * l->count;
        const struct statistics s = statistics_of(l, x);
        double sum = 0, product = 0;
        for (int64_t k = 0; k < l->count; k++) {
            float g = dy[k] * weight[k];
            sum += g;
            product += g * ((x[k] - s.mean) * s.inverse);
        }
        const float mean = l->is_square ? 0 : (float)(sum / (double)l->count),
                    slope = (float)(product / (double)l->count);
        for (int64_t k = 0; k < l->count; k++)
            dx[k] = s.inverse * (dy[k] * weight[k] - mean - (x[k] - s.mean) * s.inverse * slope);
    }
}

/** x, weight, dy, dweight, and as far as they are there dx, dbias */
static ys_status backward_run(void *context, void *const *operand)
{
    const struct lines *l = context;
    float *dweight = operand[3], *dbias = l->has_bias ? operand[4 + l->wants_dx] : NULL;
    memset(dweight, 0, (size_t)l->count * sizeof *dweight);
    if (dbias)
        memset(dbias, 0, (size_t)l->count * sizeof *dbias);
    for (int64_t line = 0; line < l->lines; line++) {
        const float *x = (const float *)operand[0] + line * l->count, *dy = (const float *)operand[2] + line * l->count;
        const struct statistics s = statistics_of(l, x);
        for (int64_t k = 0; k < l->count; k++)
            dweight[k] += dy[k] * ((x[k] - s.mean) * s.inverse);
        for (int64_t k = 0; dbias && k < l->count; k++)
            dbias[k] += dy[k];
    }
    if (l->wants_dx)
        ys_parallel_for(l->threads, (size_t)l->lines, 1, backward_part, context, operand);
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
    struct ys_operand operands[6] = {{0}}, dx = {0}, bias = {0};
    size_t count = 4;
    bool more_weight, more_bias = false;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    const struct lines l = describe(low, node, &plain);
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &operands[0]));
    operands[1] = ys_onednn_param(low, low->weights, node->weight);
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[2]));
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[3], &more_weight));
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
