/* Small networks for tests, put together node by node: each function appends one node that reads the last value. */
#ifndef YS_TESTS_ENGINE_NET_H
#define YS_TESTS_ENGINE_NET_H

#include "base/rng.h"
#include "graph/graph.h"
#include "yardstick/engine.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NET_MAX = 24 };

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
    return v;
}

static void net_input(struct net *n, enum ys_dtype dtype, int64_t batch, int64_t channels, int64_t height,
                      int64_t width)
{
    memset(n, 0, sizeof *n);
    strcpy(n->name, "test");
    n->graph = (struct ys_graph){.name = n->name, .values = n->values, .nodes = n->nodes, .params = n->params};
    n->batch = batch;
    net_value(n, -1, dtype, 4, (int64_t[]){channels, height, width});
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
                                       .running_mean = -1,
                                       .running_var = -1};
    n->nodes[index].window = (struct ys_window){{1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1};
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

static int64_t net_extent(int64_t size, const struct ys_window *w, int axis)
{
    return (size + w->pad[axis] + w->pad[axis + 2] - w->dilation[axis] * (w->kernel[axis] - 1) - 1) / w->stride[axis] +
           1;
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

static void net_pool(struct net *n, struct ys_window w)
{
    const int64_t *in = n->values[n->last].shape + 1;
    int64_t row[] = {in[0], net_extent(in[1], &w, 0), net_extent(in[2], &w, 1)};
    net_node(n, YS_OP_MAXPOOL, 4, row)->window = w;
}

__attribute__((unused)) static void net_relu(struct net *n)
{
    struct ys_value v = n->values[n->last];
    net_node(n, YS_OP_RELU, v.rank, v.shape + 1);
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
static void *net_rows(const struct net *n, const char *name)
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

static int64_t *net_labels(const struct net *n, const char *name)
{
    int64_t *labels = malloc((size_t)n->batch * sizeof *labels);
    struct ys_rng rng;
    ys_rng_init(&rng, 2, name);
    for (int64_t i = 0; i < n->batch; i++)
        labels[i] = ys_rng_below(&rng, (uint32_t)n->values[n->graph.output].shape[1]);
    return labels;
}

/** Values in (-size, size), float32, by parameter name; `size` 0 takes 1 / sqrt(fan in). Free with free(). */
static float *net_weights(const struct net *n, size_t param, double size)
{
    const struct ys_param *p = &n->params[param];
    size_t count = (size_t)ys_param_elements(p);
    float *values = malloc(count * sizeof *values);
    struct ys_rng rng;
    ys_rng_init(&rng, 3, p->name);
    double limit = size > 0 ? size : 1 / sqrt((double)count / (double)p->shape[0] + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((2 * ys_rng_uniform(&rng) - 1) * limit);
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
