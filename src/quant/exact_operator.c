#include "quant/exact_operator.h"

#include "base/mem.h"
#include "quant/rounding.h"

#include <limits.h>
#include <math.h>
#include <string.h>

bool ys_exact_has(const struct ys_node *node)
{
    static const bool has[YS_OP_COUNT] = {[YS_OP_CONV] = true,
                                          [YS_OP_GEMM] = true,
                                          [YS_OP_ADD] = true,
                                          [YS_OP_RELU] = true,
                                          [YS_OP_CLIP] = true,
                                          [YS_OP_CONCAT] = true,
                                          [YS_OP_MAXPOOL] = true,
                                          [YS_OP_AVERAGEPOOL] = true,
                                          [YS_OP_GLOBAL_MAXPOOL] = true,
                                          [YS_OP_GLOBAL_AVERAGEPOOL] = true};
    if (node->op == YS_OP_GEMM)
        return !node->positions;
    return node->op == YS_OP_ADD ? node->in_count == 2 && !node->broadcast : has[node->op];
}

/* The integers of a weight, as the rule has them; new. */
static int *weight_steps(const struct ys_exact_operator *op)
{
    const struct ys_param *p = &op->graph->params[op->node->weight];
    const int64_t count = ys_param_elements(p), each = count / p->shape[0];
    int *steps = ys_alloc((size_t)count, sizeof *steps);
    for (int64_t i = 0; i < count; i++)
        steps[i] = ys_quant_s8((double)op->weight[i], ys_weight_scale_at(op->of_weight, i / each), op->limit);
    ys_param_clear_absent(op->graph, (size_t)op->node->weight, sizeof *steps, steps);
    return steps;
}

/* A sum of products of channel `channel`, with its bias, in steps of the result. */
static void put_sum(const struct ys_exact_operator *op, int64_t channel, int64_t sum, double *exact, double *size)
{
    const double of_weight = ys_weight_scale_at(op->of_weight, channel), in = op->in[0]->scale;
    const double bias = op->bias ? (double)ys_quant_bias((double)op->bias[channel], in, of_weight) : 0;
    const double factor = in * of_weight / op->result->scale;
    *exact = ((double)sum + bias) * factor;
    *size = (fabs((double)sum) + fabs(bias)) * factor;
}

static void gemm(const struct ys_exact_operator *op, double *exact, double *size)
{
    const int64_t *shape = op->graph->params[op->node->weight].shape;
    int *weight = weight_steps(op);
    for (int64_t c = 0; c < shape[0]; c++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < shape[1]; k++)
            sum += (int64_t)op->steps[0][k] * weight[c * shape[1] + k];
        put_sum(op, c, sum, &exact[c], &size[c]);
    }
    ys_free(weight);
}

/* Where window element `k` of result `at` lies along an axis; outside of [0, extent) it is padding. */
static int64_t place(const struct ys_window *w, int axis, int64_t at, int64_t k)
{
    return at * w->stride[axis] + k * w->dilation[axis] - w->pad[axis];
}

static int64_t conv_sum(const struct ys_window *w, const int64_t *in, const int *steps, const int *weight,
                        int64_t inner, int64_t y, int64_t x)
{
    int64_t sum = 0;
    for (int64_t c = 0; c < inner; c++)
        for (int64_t ky = 0; ky < w->kernel[0]; ky++) {
            const int64_t iy = place(w, 0, y, ky);
            for (int64_t kx = 0; iy >= 0 && iy < in[2] && kx < w->kernel[1]; kx++) {
                const int64_t ix = place(w, 1, x, kx);
                if (ix >= 0 && ix < in[3])
                    sum += (int64_t)steps[(c * in[2] + iy) * in[3] + ix] *
                           weight[(c * w->kernel[0] + ky) * w->kernel[1] + kx];
            }
        }
    return sum;
}

static void conv(const struct ys_exact_operator *op, double *exact, double *size)
{
    const struct ys_window *w = &op->node->window;
    const int64_t *in = op->graph->values[op->node->in[0]].shape, *out = op->graph->values[op->node->out[0]].shape;
    const int64_t inner = in[1] / w->group, each = inner * w->kernel[0] * w->kernel[1];
    int *weight = weight_steps(op);
    for (int64_t c = 0, i = 0; c < out[1]; c++) {
        const int64_t first = c / (out[1] / w->group) * inner;
        for (int64_t y = 0; y < out[2]; y++)
            for (int64_t x = 0; x < out[3]; x++, i++)
                put_sum(op, c, conv_sum(w, in, op->steps[0] + first * in[2] * in[3], weight + c * each, inner, y, x),
                        &exact[i], &size[i]);
    }
    ys_free(weight);
}

/* One window of a pool: what is in it, how many elements count, and the largest. */
struct window_look {
    int64_t sum, count;
    int largest;
};

static struct window_look look(const struct ys_window *w, const int64_t *in, const int *steps, int64_t y, int64_t x)
{
    struct window_look found = {.largest = INT_MIN};
    for (int64_t ky = 0; ky < w->kernel[0]; ky++)
        for (int64_t kx = 0; kx < w->kernel[1]; kx++) {
            const int64_t iy = place(w, 0, y, ky), ix = place(w, 1, x, kx);
            const bool is_in = iy >= 0 && iy < in[2] && ix >= 0 && ix < in[3];
            const bool is_padded =
                iy >= -w->pad[0] && iy < in[2] + w->pad[2] && ix >= -w->pad[1] && ix < in[3] + w->pad[3];
            found.count += is_in || (w->include_pad && is_padded);
            if (!is_in)
                continue;
            const int value = steps[iy * in[3] + ix];
            found.sum += value;
            found.largest = value > found.largest ? value : found.largest;
        }
    return found;
}

static void pool(const struct ys_exact_operator *op, double *exact, double *size)
{
    const int64_t *in = op->graph->values[op->node->in[0]].shape, *out = op->graph->values[op->node->out[0]].shape;
    const enum ys_op kind = op->node->op;
    const bool is_global = kind == YS_OP_GLOBAL_MAXPOOL || kind == YS_OP_GLOBAL_AVERAGEPOOL;
    const bool is_max = kind == YS_OP_MAXPOOL || kind == YS_OP_GLOBAL_MAXPOOL;
    const struct ys_window whole = {.kernel = {in[2], in[3]}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};
    const struct ys_window *w = is_global ? &whole : &op->node->window;
    const double factor = op->in[0]->scale / op->result->scale;
    for (int64_t c = 0, i = 0; c < out[1]; c++)
        for (int64_t y = 0; y < out[2]; y++)
            for (int64_t x = 0; x < out[3]; x++, i++) {
                const struct window_look found = look(w, in, op->steps[0] + c * in[2] * in[3], y, x);
                exact[i] = factor * (is_max ? found.largest : (double)found.sum / (double)found.count);
                size[i] = fabs(exact[i]);
            }
}

static void add(const struct ys_exact_operator *op, int64_t count, double *exact, double *size)
{
    for (int64_t i = 0; i < count; i++) {
        const double a = op->steps[0][i] * op->in[0]->scale, b = op->steps[1][i] * op->in[1]->scale;
        exact[i] = (a + b) / op->result->scale;
        size[i] = (fabs(a) + fabs(b)) / op->result->scale;
    }
}

/* Parts of each value that lie behind one another in the result: all axes from the joined one on. */
static void concat(const struct ys_exact_operator *op, double *exact, double *size)
{
    const struct ys_node *node = op->node;
    const struct ys_value *result = &op->graph->values[node->out[0]];
    int64_t outer = 1, inner = 1, done = 0;
    for (int i = 1; i < (int)result->rank; i++)
        *(i < node->axis ? &outer : &inner) *= i == node->axis ? 1 : result->shape[i];
    const int64_t all = result->shape[node->axis] * inner;
    for (size_t k = 0; k < node->in_count; k++) {
        const int64_t part = op->graph->values[node->in[k]].shape[node->axis] * inner;
        for (int64_t o = 0; o < outer; o++)
            for (int64_t i = 0; i < part; i++) {
                const int64_t at = o * all + done + i;
                exact[at] = op->steps[k][o * part + i] * op->in[k]->scale / op->result->scale;
                size[at] = fabs(exact[at]);
            }
        done += part;
    }
}

static void rescale(const struct ys_exact_operator *op, int64_t count, double *exact, double *size)
{
    for (int64_t i = 0; i < count; i++) {
        exact[i] = op->steps[0][i] * op->in[0]->scale / op->result->scale;
        size[i] = fabs(exact[i]);
    }
}

void ys_exact_row(const struct ys_exact_operator *op, double *exact, double *size)
{
    const int64_t count = ys_value_row_elements(&op->graph->values[op->node->out[0]]);
    const enum ys_op kind = op->node->op;
    if (kind == YS_OP_CONV)
        conv(op, exact, size);
    else if (kind == YS_OP_GEMM)
        gemm(op, exact, size);
    else if (kind == YS_OP_ADD)
        add(op, count, exact, size);
    else if (kind == YS_OP_CONCAT)
        concat(op, exact, size);
    else if (kind == YS_OP_RELU || kind == YS_OP_CLIP)
        rescale(op, count, exact, size);
    else
        pool(op, exact, size);
}
