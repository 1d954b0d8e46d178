/* Networks computed by the formulas of docs/graph.md as they stand there: element by element, in double, with no
 * thought of speed. It shares no code with the back ends but the mask of dropout, which has a test of its own. */
#ifndef YS_TESTS_BACKEND_OPERATOR_NAIVE_H
#define YS_TESTS_BACKEND_OPERATOR_NAIVE_H

#include "backend/dropout.h"
#include "tap.h"
#include "unit/backend/operator_cases.h"

enum { NET_SEED = 7 }; /* of dropout */

struct naive {
    const struct net *n;
    enum ys_engine_mode mode;
    double *param[NET_MAX], *value[NET_MAX]; /* C order */
};

static int64_t extent_at(const struct naive *e, int value, size_t axis)
{
    const struct ys_value *v = &e->n->values[value];
    return axis == 0 ? e->n->batch : axis < v->rank ? v->shape[axis] : 1;
}

static int64_t naive_count(const struct naive *e, int value)
{
    return e->n->batch * ys_value_row_elements(&e->n->values[value]);
}

/** An element of a value as an image; axes that it lacks have extent 1. */
static double *pixel(const struct naive *e, int value, int64_t row, int64_t c, int64_t y, int64_t x)
{
    int64_t channels = extent_at(e, value, 1), height = extent_at(e, value, 2), width = extent_at(e, value, 3);
    return &e->value[value][((row * channels + c) * height + y) * width + x];
}

/** The index of element `at` of a value. */
static void index_of(const struct naive *e, int value, int64_t at, int64_t index[YS_MAX_RANK])
{
    for (size_t axis = YS_MAX_RANK; axis-- > 0; at /= extent_at(e, value, axis))
        index[axis] = at % extent_at(e, value, axis);
}

static double *element(const struct naive *e, int value, const int64_t index[YS_MAX_RANK])
{
    int64_t at = 0;
    for (size_t axis = 0; axis < YS_MAX_RANK; axis++)
        at = at * extent_at(e, value, axis) + index[axis];
    return &e->value[value][at];
}

static void naive_conv(const struct naive *e, const struct ys_node *node, int64_t row, int64_t o, int64_t y, int64_t x)
{
    const struct ys_window *w = &node->window;
    int in = node->in[0];
    int64_t channels = extent_at(e, in, 1) / w->group, outputs = extent_at(e, node->out[0], 1) / w->group;
    double sum = node->bias >= 0 ? e->param[node->bias][o] : 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < w->kernel[0]; i++)
            for (int64_t j = 0; j < w->kernel[1]; j++) {
                int64_t at_y = y * w->stride[0] + i * w->dilation[0] - w->pad[0];
                int64_t at_x = x * w->stride[1] + j * w->dilation[1] - w->pad[1];
                bool is_absent = node->connected && !node->connected[o * channels + c];
                if (!is_absent && at_y >= 0 && at_y < extent_at(e, in, 2) && at_x >= 0 && at_x < extent_at(e, in, 3))
                    sum += e->param[node->weight][((o * channels + c) * w->kernel[0] + i) * w->kernel[1] + j] *
                           *pixel(e, in, row, o / outputs * channels + c, at_y, at_x);
            }
    *pixel(e, node->out[0], row, o, y, x) = sum;
}

/** Element (c, y, x) of the input adds its share to as many elements of the result as its channel has weights. */
static void naive_conv_transpose(const struct naive *e, const struct ys_node *node)
{
    const struct ys_window *w = &node->window;
    const int in = node->in[0], out = node->out[0];
    const int64_t channels = extent_at(e, in, 1) / w->group, outputs = extent_at(e, out, 1) / w->group;
    int64_t k[YS_MAX_RANK];
    for (int64_t at = 0; at < naive_count(e, out); at++) {
        index_of(e, out, at, k);
        e->value[out][at] = node->bias >= 0 ? e->param[node->bias][k[1]] : 0;
    }
    for (int64_t at = 0; at < naive_count(e, in); at++) {
        index_of(e, in, at, k);
        for (int64_t o = 0; o < outputs; o++)
            for (int64_t i = 0; i < w->kernel[0]; i++)
                for (int64_t j = 0; j < w->kernel[1]; j++) {
                    const int64_t y = k[2] * w->stride[0] + i * w->dilation[0] - w->pad[0];
                    const int64_t x = k[3] * w->stride[1] + j * w->dilation[1] - w->pad[1];
                    if (y >= 0 && y < extent_at(e, out, 2) && x >= 0 && x < extent_at(e, out, 3))
                        *pixel(e, out, k[0], k[1] / channels * outputs + o, y, x) +=
                            e->param[node->weight][((k[1] * outputs + o) * w->kernel[0] + i) * w->kernel[1] + j] *
                            e->value[in][at];
                }
    }
}

/** Index `at`, behind the padding, of an axis of `extent`: where it is read, -1 for nowhere. */
static int64_t padded_from(enum ys_pad_mode mode, int64_t at, int64_t extent)
{
    while (mode == YS_PAD_REFLECT && (at < 0 || at > extent - 1))
        at = at < 0 ? -at : extent - 1 - (at - (extent - 1));
    if (mode == YS_PAD_EDGE)
        at = at < 0 ? 0 : at >= extent ? extent - 1 : at;
    return at < 0 || at >= extent ? -1 : at;
}

static double naive_padded(const struct naive *e, const struct ys_node *node, int64_t at)
{
    int64_t index[YS_MAX_RANK];
    bool inside = true;
    index_of(e, node->out[0], at, index);
    for (size_t axis = 1; axis < e->n->values[node->in[0]].rank; axis++) {
        index[axis] =
            padded_from(node->pad.mode, index[axis] - node->pad.before[axis], extent_at(e, node->in[0], axis));
        inside = inside && index[axis] >= 0;
    }
    return inside ? *element(e, node->in[0], index) : node->pad.value;
}

static void naive_pool(const struct naive *e, const struct ys_node *node, int64_t row, int64_t c, int64_t y, int64_t x)
{
    bool is_global = node->op == YS_OP_GLOBAL_AVERAGEPOOL || node->op == YS_OP_GLOBAL_MAXPOOL;
    bool is_max = node->op == YS_OP_MAXPOOL || node->op == YS_OP_GLOBAL_MAXPOOL;
    int64_t height = extent_at(e, node->in[0], 2), width = extent_at(e, node->in[0], 3);
    const struct ys_window whole = {.kernel = {height, width}, .stride = {1, 1}, .dilation = {1, 1}},
                           w = is_global ? whole : node->window;
    double sum = 0, top = -INFINITY, pixels = 0, counted = 0;
    for (int64_t i = 0; i < w.kernel[0]; i++)
        for (int64_t j = 0; j < w.kernel[1]; j++) {
            int64_t at_y = y * w.stride[0] + i * w.dilation[0] - w.pad[0];
            int64_t at_x = x * w.stride[1] + j * w.dilation[1] - w.pad[1];
            counted += at_y < height + w.pad[2] && at_x < width + w.pad[3];
            if (at_y < 0 || at_y >= height || at_x < 0 || at_x >= width)
                continue;
            double value = *pixel(e, node->in[0], row, c, at_y, at_x);
            sum += value;
            top = fmax(top, value);
            pixels++;
        }
    *pixel(e, node->out[0], row, c, y, x) = is_max ? top : sum / (w.include_pad ? counted : pixels);
}

/** Mean and variance (with n) of a channel over the batch. */
static void channel_statistics(const struct naive *e, int value, int64_t c, double *mean, double *variance)
{
    double n = 0, sum = 0, squares = 0;
    int64_t index[YS_MAX_RANK];
    for (int64_t i = 0; i < naive_count(e, value); i++) {
        index_of(e, value, i, index);
        n += index[1] == c;
        sum += index[1] == c ? e->value[value][i] : 0;
    }
    *mean = sum / n;
    for (int64_t i = 0; i < naive_count(e, value); i++) {
        index_of(e, value, i, index);
        squares += index[1] == c ? (e->value[value][i] - *mean) * (e->value[value][i] - *mean) : 0;
    }
    *variance = squares / n;
}

static void naive_batchnorm(const struct naive *e, const struct ys_node *node)
{
    for (int64_t c = 0; c < extent_at(e, node->in[0], 1); c++) {
        double mean = e->param[node->running_mean][c], variance = e->param[node->running_var][c];
        if (e->mode == YS_ENGINE_TRAIN)
            channel_statistics(e, node->in[0], c, &mean, &variance);
        for (int64_t i = 0; i < naive_count(e, node->in[0]); i++) {
            int64_t index[YS_MAX_RANK];
            index_of(e, node->in[0], i, index);
            if (index[1] == c)
                e->value[node->out[0]][i] = e->param[node->weight][c] * (e->value[node->in[0]][i] - mean) /
                                                sqrt(variance + node->batchnorm.epsilon) +
                                            e->param[node->bias][c];
        }
    }
}

/** Mean and variance (with n) of the line along the last axis that holds element `at`. */
static void line_of(const struct naive *e, int value, int64_t at, double *mean, double *variance)
{
    int64_t count = extent_at(e, value, e->n->values[value].rank - 1), first = at / count * count;
    *mean = *variance = 0;
    for (int64_t i = first; i < first + count; i++)
        *mean += e->value[value][i] / (double)count;
    for (int64_t i = first; i < first + count; i++)
        *variance += pow(e->value[value][i] - *mean, 2) / (double)count;
}

/** Mean and variance by which a node normalises: 0 and the mean square where it is RMSNormalization. */
static void line_of_node(const struct naive *e, const struct ys_node *node, int64_t at, double *mean, double *variance)
{
    line_of(e, node->in[0], at, mean, variance);
    if (node->op == YS_OP_RMSNORM) {
        *variance += *mean * *mean;
        *mean = 0;
    }
}

/** As complex numbers: each pair of a head times exp(i angle). */
static void naive_rotary(const struct naive *e, const struct ys_node *node, int64_t at)
{
    int64_t k[YS_MAX_RANK], other[YS_MAX_RANK];
    index_of(e, node->in[0], at, k);
    memcpy(other, k, sizeof k);
    const int64_t width = extent_at(e, node->in[0], 2) / node->rotary.heads, i = k[2] % width;
    const bool by_two = node->rotary.interleaved, second = by_two ? i % 2 : i >= width / 2;
    const double pair = (double)(by_two ? i / 2 : i % (width / 2));
    const double angle = (double)k[1] / pow(node->rotary.base, 2 * pair / (double)width);
    other[2] += (second ? -1 : 1) * (by_two ? 1 : width / 2);
    e->value[node->out[0]][at] = cos(angle) * *element(e, node->in[0], k) +
                                 (second ? sin(angle) : -sin(angle)) * *element(e, node->in[0], other);
}

static void naive_sinusoid(const struct naive *e, const struct ys_node *node, int64_t at)
{
    int64_t k[YS_MAX_RANK];
    index_of(e, node->in[0], at, k);
    const double i = floor((double)k[2] / 2), width = (double)extent_at(e, node->in[0], 2);
    const double angle = (double)k[1] / pow(node->rotary.base, 2 * i / width);
    e->value[node->out[0]][at] = e->value[node->in[0]][at] + (k[2] % 2 ? cos(angle) : sin(angle));
}

static void naive_layernorm(const struct naive *e, const struct ys_node *node, int64_t at)
{
    double mean, variance;
    int64_t count = extent_at(e, node->in[0], e->n->values[node->in[0]].rank - 1);
    line_of_node(e, node, at, &mean, &variance);
    e->value[node->out[0]][at] =
        e->param[node->weight][at % count] * (e->value[node->in[0]][at] - mean) / sqrt(variance + node->epsilon) +
        (node->bias >= 0 ? e->param[node->bias][at % count] : 0);
}

static void naive_lrn(const struct naive *e, const struct ys_node *node, int64_t row, int64_t c, int64_t y, int64_t x)
{
    const struct ys_lrn *l = &node->lrn;
    double sum = 0, reach = (double)(l->size - 1) / 2;
    for (int64_t i = 0; i < extent_at(e, node->in[0], 1); i++)
        if ((double)i >= (double)c - floor(reach) && (double)i <= (double)c + ceil(reach))
            sum += pow(*pixel(e, node->in[0], row, i, y, x), 2);
    *pixel(e, node->out[0], row, c, y, x) =
        *pixel(e, node->in[0], row, c, y, x) / pow(l->bias + l->alpha / (double)l->size * sum, l->beta);
}

/** Softmax and its logarithm, without taking out the largest: arguments in these tests are small. */
static void naive_softmax(const struct naive *e, const struct ys_node *node, int64_t at)
{
    int64_t index[YS_MAX_RANK];
    double sum = 0, x = e->value[node->in[0]][at];
    index_of(e, node->in[0], at, index);
    for (index[node->axis] = 0; index[node->axis] < extent_at(e, node->in[0], (size_t)node->axis); index[node->axis]++)
        sum += exp(*element(e, node->in[0], index));
    e->value[node->out[0]][at] = node->op == YS_OP_SOFTMAX ? exp(x) / sum : log(exp(x) / sum);
}

/** The element of an input that goes with element `index` of the result, where extents of 1 are repeated. */
static double repeated(const struct naive *e, int value, const int64_t index[YS_MAX_RANK])
{
    int64_t own[YS_MAX_RANK];
    for (size_t axis = 0; axis < YS_MAX_RANK; axis++)
        own[axis] = axis > 0 && extent_at(e, value, axis) == 1 ? 0 : index[axis];
    return *element(e, value, own);
}

/** The same of a parameter, which lies along the last axes of the result. */
static double repeated_param(const struct naive *e, const struct ys_node *node, const int64_t index[YS_MAX_RANK])
{
    const struct ys_param *p = &e->n->params[node->weight];
    size_t before = e->n->values[node->out[0]].rank - p->rank;
    int64_t at = 0;
    for (size_t d = 0; d < p->rank; d++)
        at = at * p->shape[d] + (p->shape[d] == 1 ? 0 : index[before + d]);
    return e->param[node->weight][at];
}

static double naive_pair(const struct naive *e, const struct ys_node *node, int64_t at)
{
    int64_t index[YS_MAX_RANK];
    index_of(e, node->out[0], at, index);
    double a = repeated(e, node->in[0], index);
    double b = node->in_count == 2 ? repeated(e, node->in[1], index) : repeated_param(e, node, index);
    if (node->op == YS_OP_ADD || node->op == YS_OP_SUB)
        return node->op == YS_OP_ADD ? a + b : a - b;
    return node->op == YS_OP_MUL ? a * b : a / b;
}

/** Element `at` of the result of an operator that makes each from one element of each input. */
static void naive_each(const struct naive *e, const struct ys_node *node, int64_t at)
{
    const struct ys_normalize *n = &node->normalize;
    double x = e->value[node->in[0]][at % naive_count(e, node->in[0])], *y = &e->value[node->out[0]][at];
    int64_t index[YS_MAX_RANK];
    index_of(e, node->out[0], at, index);
    unsigned char keep = 1;
    struct ys_dropout dropout;
    switch (node->op) {
    case YS_OP_NORMALIZE:
        *y = (x * n->scale - n->mean[n->channels > 1 ? index[1] : 0]) / n->std[n->channels > 1 ? index[1] : 0];
        return;
    case YS_OP_ADD:
    case YS_OP_SUB:
    case YS_OP_MUL:
    case YS_OP_DIV:
        *y = naive_pair(e, node, at);
        return;
    case YS_OP_PAD:
        *y = naive_padded(e, node, at);
        return;
    case YS_OP_DROPOUT:
        ys_dropout_init(&dropout, NET_SEED, node->name, node->ratio);
        ys_dropout_mask(&dropout, 0, (uint64_t)at, 1, &keep);
        *y = e->mode == YS_ENGINE_EVAL ? x : keep ? x / (1 - node->ratio) : 0;
        return;
    case YS_OP_FLATTEN:
    case YS_OP_RESHAPE:
        *y = x;
        return;
    default:
        if (CHECK(pointwise[node->op].formula))
            *y = pointwise[node->op].formula(node, x);
    }
}

/** Concat, Split and Transpose: element `at` of the input `in` goes to its place. */
static void naive_move(const struct naive *e, const struct ys_node *node, size_t in, int64_t at)
{
    int64_t index[YS_MAX_RANK], to[YS_MAX_RANK] = {0};
    index_of(e, node->in[in], at, index);
    memcpy(to, index, sizeof to);
    size_t out = 0, axis = (size_t)node->axis;
    for (size_t k = 0; node->op == YS_OP_CONCAT && k < in; k++)
        to[axis] += extent_at(e, node->in[k], axis);
    for (; node->op == YS_OP_SPLIT && to[axis] >= node->split[out]; out++)
        to[axis] -= node->split[out];
    for (size_t i = 0; node->op == YS_OP_TRANSPOSE && i < e->n->values[node->in[0]].rank; i++)
        to[i] = index[node->permutation[i]];
    *element(e, node->out[out], to) = e->value[node->in[in]][at];
}

/** Element `at` of the input has its share in one element of the mean. */
static void naive_mean(const struct naive *e, const struct ys_node *node, int64_t at)
{
    int64_t index[YS_MAX_RANK], to[YS_MAX_RANK] = {0};
    index_of(e, node->in[0], at, index);
    size_t axes = 0;
    double n = 1;
    for (size_t i = 0; i < e->n->values[node->in[0]].rank; i++)
        if (node->reduced[i]) {
            n *= (double)extent_at(e, node->in[0], i);
            axes += node->keepdims;
        } else {
            to[axes++] = index[i];
        }
    *element(e, node->out[0], to) += e->value[node->in[0]][at] / n;
}

static void naive_gemm(const struct naive *e, const struct ys_node *node, int64_t row, int64_t o)
{
    double sum = node->bias >= 0 ? e->param[node->bias][o] : 0;
    int64_t in = extent_at(e, node->in[0], 1);
    for (int64_t i = 0; i < in; i++)
        sum += e->param[node->weight][o * in + i] * *pixel(e, node->in[0], row, i, 0, 0);
    *pixel(e, node->out[0], row, o, 0, 0) = sum;
}

/** Element `at` of the result of an operator that makes each result alone. */
static void naive_result(const struct naive *e, const struct ys_node *node, int64_t at)
{
    int64_t k[YS_MAX_RANK];
    index_of(e, node->out[0], at, k);
    switch (node->op) {
    case YS_OP_CONV:
        naive_conv(e, node, k[0], k[1], k[2], k[3]);
        return;
    case YS_OP_GEMM:
        naive_gemm(e, node, k[0], k[1]);
        return;
    case YS_OP_MAXPOOL:
    case YS_OP_AVERAGEPOOL:
    case YS_OP_GLOBAL_MAXPOOL:
    case YS_OP_GLOBAL_AVERAGEPOOL:
        naive_pool(e, node, k[0], k[1], k[2], k[3]);
        return;
    case YS_OP_LAYERNORM:
    case YS_OP_RMSNORM:
        naive_layernorm(e, node, at);
        return;
    case YS_OP_ROTARY:
        naive_rotary(e, node, at);
        return;
    case YS_OP_SINUSOID:
        naive_sinusoid(e, node, at);
        return;
    case YS_OP_LRN:
        naive_lrn(e, node, k[0], k[1], k[2], k[3]);
        return;
    case YS_OP_SOFTMAX:
    case YS_OP_LOG_SOFTMAX:
        naive_softmax(e, node, at);
        return;
    default:
        naive_each(e, node, at);
    }
}

static void naive_node(const struct naive *e, const struct ys_node *node)
{
    switch (node->op) {
    case YS_OP_BATCHNORM:
        naive_batchnorm(e, node);
        return;
    case YS_OP_CONV_TRANSPOSE:
        naive_conv_transpose(e, node);
        return;
    case YS_OP_MEAN:
        for (int64_t i = 0; i < naive_count(e, node->in[0]); i++)
            naive_mean(e, node, i);
        return;
    case YS_OP_CONCAT:
    case YS_OP_SPLIT:
    case YS_OP_TRANSPOSE:
        for (size_t in = 0; in < node->in_count; in++)
            for (int64_t i = 0; i < naive_count(e, node->in[in]); i++)
                naive_move(e, node, in, i);
        return;
    default:
        for (int64_t i = 0; i < naive_count(e, node->out[0]); i++)
            naive_result(e, node, i);
    }
}

/** Computes every value of the network, with the parameters that net_fill(engine, n, size) gives. */
static void naive_run(struct naive *e, const struct net *n, double size, enum ys_engine_mode mode, const void *x)
{
    *e = (struct naive){.n = n, .mode = mode};
    for (size_t p = 0; p < n->graph.param_count; p++) {
        float *values = net_weights(n, p, size);
        int64_t count = ys_param_elements(&n->params[p]);
        e->param[p] = malloc((size_t)count * sizeof(double));
        for (int64_t i = 0; i < count; i++)
            e->param[p][i] = values[i];
        free(values);
    }
    for (int v = 0; v < (int)n->graph.value_count; v++)
        e->value[v] = calloc((size_t)naive_count(e, v), sizeof(double));
    for (int64_t i = 0; i < naive_count(e, 0); i++)
        e->value[0][i] = n->values[0].dtype == YS_U8 ? ((const uint8_t *)x)[i] : ((const float *)x)[i];
    for (size_t i = 0; i < n->graph.node_count; i++)
        naive_node(e, &n->nodes[i]);
}

static void naive_free(struct naive *e)
{
    for (int i = 0; i < NET_MAX; i++) {
        free(e->param[i]);
        free(e->value[i]);
    }
}

/** The loss by its formula, from the naive logits. */
static double naive_loss(const struct naive *e, const int64_t *y)
{
    const struct ys_graph *g = &e->n->graph;
    int64_t classes = extent_at(e, g->output, 1);
    double total = 0;
    for (int64_t row = 0; row < e->n->batch; row++) {
        double sum = 0, s = g->label_smoothing;
        for (int64_t k = 0; k < classes; k++)
            sum += exp(*pixel(e, g->output, row, k, 0, 0));
        for (int64_t k = 0; k < classes; k++) {
            double z = *pixel(e, g->output, row, k, 0, 0), t = k == y[row];
            if (g->loss == YS_LOSS_SOFTMAX_CROSS_ENTROPY)
                total -= ((1 - s) * t + s / (double)classes) * log(exp(z) / sum);
            else
                total += g->loss == YS_LOSS_NLL ? -t * z : (z - t) * (z - t) / (double)classes;
        }
    }
    return total / (double)e->n->batch;
}

#endif
