/* Small networks for tests, put together node by node: each function appends one node that reads the last value. To let
 * a node read another one, keep `last` of the moment and hand it to net_from(). */
#ifndef YS_TESTS_ENGINE_NET_H
#define YS_TESTS_ENGINE_NET_H

#include "base/rng.h"
#include "graph/graph.h"
#include "engine/engine.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NET_MAX = 64 };

struct net {
    struct ys_graph graph;
    struct ys_value values[NET_MAX];
    struct ys_node nodes[NET_MAX];
    struct ys_param params[NET_MAX];
    char value_names[NET_MAX][16], node_names[NET_MAX][16], param_names[NET_MAX][16], name[8];
    double mean[3], deviation[3];
    int64_t batch;
    int last;
};

static int net_value(struct net *n, int producer, enum ys_dtype dtype, size_t rank, const int64_t *row)
{
    int v = (int)n->graph.value_count++;
    snprintf(n->value_names[v], sizeof n->value_names[v], "v%d", v);
    n->values[v] = (struct ys_value){.name = n->value_names[v], .rank = rank, .dtype = dtype, .producer = producer};
    n->values[v].shape[0] = YS_BATCH;
    memcpy(n->values[v].shape + 1, row, (rank - 1) * sizeof *row);
    n->last = n->graph.output = v;
    n->graph.input_count = 1; /* the first value */
    return v;
}

static void net_input(struct net *n, enum ys_dtype dtype, int64_t batch, int64_t channels, int64_t height,
                      int64_t width)
{
    memset(n, 0, sizeof *n);
    strcpy(n->name, "test");
    n->graph = (struct ys_graph){.name = n->name, .values = n->values, .nodes = n->nodes, .params = n->params};
    n->batch = batch;
    strcpy(n->value_names[net_value(n, -1, dtype, 4, (int64_t[]){channels, height, width})], "x");
}

static struct ys_node *net_node(struct net *n, enum ys_op op, size_t rank, const int64_t *row)
{
    int index = (int)n->graph.node_count++, in = n->last;
    snprintf(n->node_names[index], sizeof n->node_names[index], "n%d", index);
    n->nodes[index] = (struct ys_node){.op = op,
                                       .name = n->node_names[index],
                                       .in_count = 1,
                                       .out_count = 1,
                                       .in = {in},
                                       .weight = -1,
                                       .bias = -1,
                                       .recurrent = -1,
                                       .recurrent_bias = -1,
                                       .running_mean = -1,
                                       .running_var = -1};
    n->nodes[index].out[0] = net_value(n, index, YS_F32, rank, row);
    n->values[in].uses++;
    return &n->nodes[index];
}

static int net_param(struct net *n, size_t rank, const int64_t *shape)
{
    int p = (int)n->graph.param_count++;
    snprintf(n->param_names[p], sizeof n->param_names[p], "p%d", p);
    n->params[p] = (struct ys_param){.name = n->param_names[p], .rank = rank, .lr_mult = 1, .decay_mult = 1};
    memcpy(n->params[p].shape, shape, rank * sizeof *shape);
    return p;
}

/** As docs/graph.md defines it: with ceil, a window that would begin behind image and left padding is left out. */
static int64_t net_extent(int64_t size, const struct ys_window *w, int axis)
{
    int64_t room = size + w->pad[axis] + w->pad[axis + 2] - w->dilation[axis] * (w->kernel[axis] - 1) - 1;
    int64_t extent = (room + (w->ceil ? w->stride[axis] - 1 : 0)) / w->stride[axis] + 1;
    return w->ceil && (extent - 1) * w->stride[axis] >= size + w->pad[axis] ? extent - 1 : extent;
}

static void net_conv(struct net *n, int64_t out, struct ys_window w, int bias)
{
    const int64_t *in = n->values[n->last].shape + 1;
    int64_t weight[] = {out, in[0] / w.group, w.kernel[0], w.kernel[1]};
    int64_t row[] = {out, net_extent(in[1], &w, 0), net_extent(in[2], &w, 1)};
    struct ys_node *node = net_node(n, YS_OP_CONV, 4, row);
    node->window = w;
    node->weight = net_param(n, 4, weight);
    if (bias)
        node->bias = net_param(n, 1, weight);
}

/** `extra`: output_padding, the same for height and width. */
__attribute__((unused)) static void net_conv_transpose(struct net *n, int64_t out, struct ys_window w, int64_t extra,
                                                       int bias)
{
    const int64_t *in = n->values[n->last].shape + 1;
    const int64_t weight[] = {in[0], out / w.group, w.kernel[0], w.kernel[1]};
    int64_t row[3] = {out};
    for (int d = 0; d < 2; d++)
        row[1 + d] =
            (in[1 + d] - 1) * w.stride[d] + extra + (w.kernel[d] - 1) * w.dilation[d] + 1 - w.pad[d] - w.pad[2 + d];
    struct ys_node *node = net_node(n, YS_OP_CONV_TRANSPOSE, 4, row);
    node->window = w;
    node->window.extra[0] = node->window.extra[1] = extra;
    node->weight = net_param(n, 4, weight);
    if (bias)
        node->bias = net_param(n, 1, &out);
}

/** Pads an image: before and behind its channels, rows and columns. */
__attribute__((unused)) static void net_pad(struct net *n, enum ys_pad_mode mode, double value, const int64_t pads[6])
{
    const int64_t *in = n->values[n->last].shape + 1;
    int64_t row[3];
    for (int d = 0; d < 3; d++)
        row[d] = in[d] + pads[d] + pads[3 + d];
    struct ys_node *node = net_node(n, YS_OP_PAD, 4, row);
    node->pad = (struct ys_pad){.mode = mode, .value = value, .rank = 4};
    memcpy(node->pad.before + 1, pads, 3 * sizeof *pads);
    memcpy(node->pad.after + 1, pads + 3, 3 * sizeof *pads);
}

static void net_pool_of(struct net *n, enum ys_op op, struct ys_window w)
{
    const int64_t *in = n->values[n->last].shape + 1;
    int64_t row[] = {in[0], net_extent(in[1], &w, 0), net_extent(in[2], &w, 1)};
    net_node(n, op, 4, row)->window = w;
}

static void net_pool(struct net *n, struct ys_window w)
{
    net_pool_of(n, YS_OP_MAXPOOL, w);
}

/** An operator whose result has the shape of its input: activations, softmax, LRN, dropout. Its attributes are the
 * caller's to set. */
static struct ys_node *net_alike(struct net *n, enum ys_op op)
{
    struct ys_value v = n->values[n->last];
    return net_node(n, op, v.rank, v.shape + 1);
}

__attribute__((unused)) static void net_relu(struct net *n)
{
    net_alike(n, YS_OP_RELU);
}

__attribute__((unused)) static void net_clip(struct net *n, double low, double high)
{
    struct ys_node *node = net_alike(n, YS_OP_CLIP);
    node->low = low;
    node->high = high;
}

__attribute__((unused)) static void net_dropout(struct net *n, double ratio)
{
    net_alike(n, YS_OP_DROPOUT)->ratio = ratio;
}

__attribute__((unused)) static void net_lrn(struct net *n, struct ys_lrn lrn)
{
    net_alike(n, YS_OP_LRN)->lrn = lrn;
}

__attribute__((unused)) static void net_softmax(struct net *n, enum ys_op op, int axis)
{
    net_alike(n, op)->axis = axis;
}

__attribute__((unused)) static void net_global_pool(struct net *n, enum ys_op op)
{
    net_node(n, op, 4, (int64_t[]){n->values[n->last].shape[1], 1, 1});
}

__attribute__((unused)) static void net_batchnorm(struct net *n, double epsilon, double momentum)
{
    struct ys_node *node = net_alike(n, YS_OP_BATCHNORM);
    const int64_t *channels = &n->values[n->last].shape[1];
    node->batchnorm = (struct ys_batchnorm){epsilon, momentum};
    node->weight = net_param(n, 1, channels);
    node->bias = net_param(n, 1, channels);
    node->running_mean = net_param(n, 1, channels);
    node->running_var = net_param(n, 1, channels);
    n->params[node->running_mean].role = n->params[node->running_var].role = YS_ROLE_BUFFER;
    n->params[node->running_var].init.a = 1;
}

/** The next node reads `value`. */
__attribute__((unused)) static void net_from(struct net *n, int value)
{
    n->last = value;
}

static void net_reads_too(struct net *n, struct ys_node *node, int value)
{
    node->in[node->in_count++] = value;
    n->values[value].uses++;
}

/** Add or Mul of the last value and another one. */
__attribute__((unused)) static void net_with(struct net *n, enum ys_op op, int other)
{
    net_reads_too(n, net_alike(n, op), other);
}

/** The last value and a parameter, whose extents are those of its last axes or 1; divisors lie away from 0. */
__attribute__((unused)) static struct ys_node *net_operand(struct net *n, enum ys_op op, size_t rank,
                                                           const int64_t *shape)
{
    struct ys_value v = n->values[n->last];
    for (size_t i = 0; i < rank; i++)
        if (shape[i] > v.shape[v.rank - rank + i])
            v.shape[v.rank - rank + i] = shape[i];
    struct ys_node *node = net_node(n, op, v.rank, v.shape + 1);
    node->weight = net_param(n, rank, shape);
    if (op == YS_OP_DIV)
        n->params[node->weight].init = (struct ys_initializer){YS_INIT_UNIFORM, 0.5, 1.5};
    return node;
}

/** The last value and `count` others, in this order. */
__attribute__((unused)) static void net_concat(struct net *n, int axis, size_t count, const int *others)
{
    struct ys_value v = n->values[n->last];
    for (size_t i = 0; i < count; i++)
        v.shape[axis] += n->values[others[i]].shape[axis];
    struct ys_node *node = net_node(n, YS_OP_CONCAT, v.rank, v.shape + 1);
    node->axis = axis;
    for (size_t i = 0; i < count; i++)
        net_reads_too(n, node, others[i]);
}

/** Parts of the given extents; parts[i] becomes the value of part i, and the last value is the last part. */
__attribute__((unused)) static void net_split(struct net *n, int axis, size_t count, const int64_t *extents, int *parts)
{
    struct ys_value v = n->values[n->last];
    v.shape[axis] = extents[0];
    int index = (int)n->graph.node_count;
    struct ys_node *node = net_node(n, YS_OP_SPLIT, v.rank, v.shape + 1);
    node->axis = axis;
    parts[0] = node->out[0];
    node->split[0] = extents[0];
    for (size_t i = 1; i < count; i++) {
        v.shape[axis] = node->split[i] = extents[i];
        parts[i] = node->out[node->out_count++] = net_value(n, index, YS_F32, v.rank, v.shape + 1);
    }
}

__attribute__((unused)) static void net_reshape(struct net *n, size_t rank, const int64_t *row)
{
    struct ys_node *node = net_node(n, YS_OP_RESHAPE, rank, row);
    node->shape_rank = rank;
    memcpy(node->shape, n->values[n->last].shape, rank * sizeof *row);
}

__attribute__((unused)) static void net_transpose(struct net *n, const int *permutation)
{
    struct ys_value v = n->values[n->last];
    int64_t row[YS_MAX_RANK];
    for (size_t i = 1; i < v.rank; i++)
        row[i - 1] = v.shape[permutation[i]];
    memcpy(net_node(n, YS_OP_TRANSPOSE, v.rank, row)->permutation, permutation, v.rank * sizeof *permutation);
}

/** Over the axes of which `reduced` has the bit, without keeping them. */
__attribute__((unused)) static void net_mean(struct net *n, unsigned reduced)
{
    struct ys_value v = n->values[n->last];
    int64_t row[YS_MAX_RANK];
    size_t rank = 1;
    for (size_t i = 1; i < v.rank; i++)
        if (!(reduced >> i & 1))
            row[rank++ - 1] = v.shape[i];
    struct ys_node *node = net_node(n, YS_OP_MEAN, rank, row);
    for (size_t i = 1; i < v.rank; i++)
        node->reduced[i] = reduced >> i & 1;
}

static void net_flatten(struct net *n)
{
    net_node(n, YS_OP_FLATTEN, 2, (int64_t[]){ys_value_row_elements(&n->values[n->last])});
}

static void net_gemm(struct net *n, int64_t out, int bias)
{
    int64_t weight[] = {out, n->values[n->last].shape[1]};
    struct ys_node *node = net_node(n, YS_OP_GEMM, 2, weight);
    node->weight = net_param(n, 2, weight);
    if (bias)
        node->bias = net_param(n, 1, weight);
}

/** `channels` statistics: 1, or one for each channel. */
__attribute__((unused)) static void net_normalize(struct net *n, size_t channels, double scale)
{
    struct ys_value v = n->values[n->last];
    struct ys_node *node = net_node(n, YS_OP_NORMALIZE, v.rank, v.shape + 1);
    for (size_t i = 0; i < channels; i++) {
        n->mean[i] = 0.25 + 0.125 * (double)i;
        n->deviation[i] = 0.3 + 0.1 * (double)i;
    }
    node->normalize = (struct ys_normalize){scale, channels, n->mean, n->deviation};
}

/** The network of the TensorFlow tutorial at 28 x 28 bytes: what the engine is most used with. */
__attribute__((unused)) static void net_lenet(struct net *n, int64_t batch)
{
    struct ys_window five = {{5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 1}, two = {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1};
    net_input(n, YS_U8, batch, 1, 28, 28);
    net_normalize(n, 1, 1.0 / 255);
    net_conv(n, 32, five, 1);
    net_relu(n);
    net_pool(n, two);
    net_conv(n, 64, five, 1);
    net_relu(n);
    net_pool(n, two);
    net_flatten(n);
    net_gemm(n, 1024, 1);
    net_relu(n);
    net_gemm(n, 10, 1);
}

static size_t net_input_count(const struct net *n)
{
    return (size_t)(n->batch * ys_value_row_elements(&n->values[0]));
}

/** Rows for the network: bytes, or floats on a grid of 1/64 in [-1, 1), none of them zero (odd multiples of 1/128), so
 * that a step of 2^-17 is exact in float and crosses no kink. Free with free(). */
__attribute__((unused)) static void *net_rows(const struct net *n, const char *name)
{
    size_t count = net_input_count(n);
    void *rows = malloc(count * 4);
    struct ys_rng rng;
    ys_rng_init(&rng, 1, name);
    for (size_t i = 0; i < count; i++)
        if (n->values[0].dtype == YS_U8)
            ((uint8_t *)rows)[i] = (uint8_t)ys_rng_below(&rng, 256);
        else
            ((float *)rows)[i] = ((float)ys_rng_below(&rng, 128) - 63.5F) / 64;
    return rows;
}

__attribute__((unused)) static int64_t *net_labels(const struct net *n, const char *name)
{
    int64_t *labels = malloc((size_t)n->batch * sizeof *labels);
    struct ys_rng rng;
    ys_rng_init(&rng, 2, name);
    for (int64_t i = 0; i < n->batch; i++)
        labels[i] = ys_rng_below(&rng, (uint32_t)n->values[n->graph.output].shape[1]);
    return labels;
}

/** Values in (-size, size), float32, by parameter name; `size` 0 takes 1 / sqrt(fan in). Buffers lie in (1/2, 3/2), as
 * a variance can; those with a uniform initializer where it says; absent connections get values too (the engine makes
 * them 0). Free with free(). */
static float *net_weights(const struct net *n, size_t param, double size)
{
    const struct ys_param *p = &n->params[param];
    size_t count = (size_t)ys_param_elements(p);
    float *values = malloc(count * sizeof *values);
    struct ys_rng rng;
    ys_rng_init(&rng, 3, p->name);
    double limit = size > 0 ? size : 1 / sqrt((double)count / (double)p->shape[0] + 1);
    for (size_t i = 0; i < count; i++)
        values[i] =
            (float)(p->role == YS_ROLE_BUFFER         ? 0.5 + ys_rng_uniform(&rng)
                    : p->init.kind == YS_INIT_UNIFORM ? p->init.a + (p->init.b - p->init.a) * ys_rng_uniform(&rng)
                                                      : (2 * ys_rng_uniform(&rng) - 1) * limit);
    return values;
}

__attribute__((unused)) static int net_fill(struct ys_engine *engine, const struct net *n, double size)
{
    int status = 0;
    for (size_t p = 0; status == 0 && p < n->graph.param_count; p++) {
        float *values = net_weights(n, p, size);
        status = ys_engine_param_set(engine, p, YS_ENGINE_F32, values);
        free(values);
    }
    return status;
}

#endif
