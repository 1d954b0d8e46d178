#include "graph/build.h"
#include "base/mem.h"
#include "graph/compose.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct ys_build {
    struct ys_graph *graph;
    double gain;
    ys_status status; /* of the first failure */
};

ys_status ys_build_new(const char *name, const int64_t *row_shape, size_t row_rank, enum ys_dtype dtype,
                       struct ys_build **build)
{
    if (row_rank < 1 || row_rank > YS_MAX_RANK - 1 || (dtype != YS_U8 && dtype != YS_F32))
        return ys_fail(YS_EINVAL, "model %s: an input row must have 1 to %d dimensions of type U8 or F32", name,
                       YS_MAX_RANK - 1);
    struct ys_build *fresh = ys_alloc(1, sizeof *fresh);
    if (!fresh)
        return ys_out_of_memory();
    fresh->gain = 6;
    ys_status status = ys_compose_new(name, &fresh->graph);
    if (status == YS_OK)
        status = ys_compose_value(fresh->graph, "x", &fresh->graph->input);
    if (status == YS_OK) {
        struct ys_value *input = &fresh->graph->values[fresh->graph->input];
        input->dtype = dtype;
        input->rank = row_rank + 1;
        input->shape[0] = YS_BATCH;
        memcpy(&input->shape[1], row_shape, row_rank * sizeof *row_shape);
        status = ys_compose_check_shape(name, "input x", input->shape, input->rank, 1);
    }
    if (status != YS_OK) {
        ys_graph_free(fresh->graph);
        ys_free(fresh);
        return status;
    }
    *build = fresh;
    return YS_OK;
}

int ys_build_input(const struct ys_build *build)
{
    return build->graph->input;
}

void ys_build_gain(struct ys_build *build, double gain)
{
    build->gain = gain;
}

/** Starts a node with its input and output; false after a failure. */
static bool begin(struct ys_build *build, enum ys_op op, int in, const char *name, struct ys_node **node)
{
    if (build->status != YS_OK)
        return false;
    YS_ASSERT(in >= 0 && (size_t)in < build->graph->value_count);
    int index, out;
    build->status = ys_compose_node(build->graph, op, name, &index);
    if (build->status == YS_OK)
        build->status = ys_compose_value(build->graph, name, &out);
    if (build->status != YS_OK)
        return false;
    build->graph->values[out].producer = index;
    *node = &build->graph->nodes[index];
    (*node)->in_count = (*node)->out_count = 1;
    (*node)->in[0] = in;
    (*node)->out[0] = out;
    return true;
}

/** Gives the last node its shape; returns its output. */
static int end(struct ys_build *build)
{
    int last = (int)build->graph->node_count - 1;
    if (build->status == YS_OK)
        build->status = ys_compose_infer(build->graph, last, build->graph->name);
    return build->status == YS_OK ? build->graph->nodes[last].out[0] : -1;
}

/** `node`.weight of `shape` and `node`.bias of shape[0], drawn for `fan_in` inputs. */
static void add_params(struct ys_build *build, struct ys_node *node, const int64_t *shape, size_t rank)
{
    char name[YS_GRAPH_MAX_NAME + 16];
    struct ys_param weight = {.name = name, .rank = rank, .role = YS_ROLE_WEIGHT, .lr_mult = 1, .decay_mult = 1};
    memcpy(weight.shape, shape, rank * sizeof *shape);
    build->status = ys_compose_check_shape(build->graph->name, node->name, shape, rank, 0);
    if (build->status != YS_OK)
        return;
    double fan_in = (double)(ys_param_elements(&weight) / shape[0]);
    double limit = sqrt(build->gain / fan_in);
    weight.init = (struct ys_initializer){YS_INIT_UNIFORM, -limit, limit};
    snprintf(name, sizeof name, "%s.weight", node->name);
    build->status = ys_compose_param(build->graph, &weight, &node->weight);
    if (build->status != YS_OK)
        return;
    struct ys_param bias = {.name = name, .rank = 1, .shape = {shape[0]}, .lr_mult = 1, .decay_mult = 1};
    snprintf(name, sizeof name, "%s.bias", node->name);
    build->status = ys_compose_param(build->graph, &bias, &node->bias);
}

static void set_window(struct ys_window *window, int64_t kernel, int64_t stride, int64_t pad)
{
    *window = (struct ys_window){.kernel = {kernel, kernel},
                                 .stride = {stride, stride},
                                 .dilation = {1, 1},
                                 .pad = {pad, pad, pad, pad},
                                 .group = 1};
}

int ys_build_normalize(struct ys_build *build, int in, double scale, double mean, double std, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_NORMALIZE, in, name, &node))
        return -1;
    node->normalize = (struct ys_normalize){.scale = scale, .channels = 1};
    node->normalize.mean = ys_alloc(1, sizeof(double));
    node->normalize.std = ys_alloc(1, sizeof(double));
    if (!node->normalize.mean || !node->normalize.std) {
        build->status = ys_out_of_memory();
        return -1;
    }
    node->normalize.mean[0] = mean;
    node->normalize.std[0] = std;
    return end(build);
}

int ys_build_conv(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride, int64_t pad,
                  const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_CONV, in, name, &node))
        return -1;
    set_window(&node->window, kernel, stride, pad);
    const int64_t shape[4] = {out_channels, build->graph->values[in].shape[1], kernel, kernel};
    add_params(build, node, shape, 4);
    return end(build);
}

int ys_build_relu(struct ys_build *build, int in, const char *name)
{
    struct ys_node *node;
    return begin(build, YS_OP_RELU, in, name, &node) ? end(build) : -1;
}

int ys_build_maxpool(struct ys_build *build, int in, int64_t kernel, int64_t stride, int64_t pad, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_MAXPOOL, in, name, &node))
        return -1;
    set_window(&node->window, kernel, stride, pad);
    return end(build);
}

int ys_build_flatten(struct ys_build *build, int in, const char *name)
{
    struct ys_node *node;
    return begin(build, YS_OP_FLATTEN, in, name, &node) ? end(build) : -1;
}

int ys_build_gemm(struct ys_build *build, int in, int64_t out_features, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_GEMM, in, name, &node))
        return -1;
    const int64_t shape[2] = {out_features, build->graph->values[in].shape[1]};
    add_params(build, node, shape, 2);
    return end(build);
}

ys_status ys_build_finish(struct ys_build *build, int output, struct ys_graph **graph)
{
    ys_status status = build->status;
    if (status == YS_OK) {
        build->graph->output = output;
        status = ys_compose_finish(build->graph, build->graph->name);
    }
    if (status == YS_OK)
        *graph = build->graph;
    else
        ys_graph_free(build->graph);
    ys_free(build);
    return status;
}
