#include "graph/builder.h"
#include "base/mem.h"
#include "graph/compose.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct ys_build {
    struct ys_graph *graph;
    char *label; /* begins the messages: "model vgg16 on [N,3,224,224]" */
    struct ys_draw weights, biases;
    double weight_lr, weight_decay, bias_lr, bias_decay;
    ys_status status; /* of the first failure */
};

/** A failure to fit is a mistake in what the caller asked for, not in a file. */
static ys_status status_of(ys_status status)
{
    return status == YS_EFORMAT ? YS_EINVAL : status;
}

static ys_status begin_graph(struct ys_build *build, const char *name, const int64_t *row_shape, size_t row_rank,
                             enum ys_dtype dtype)
{
    char text[YS_SHAPE_TEXT];
    YS_TRY(ys_compose_new(name, &build->graph));
    YS_TRY(ys_compose_value(build->graph, "x", &build->graph->inputs[0]));
    build->graph->input_count = 1;
    struct ys_value *input = &build->graph->values[build->graph->inputs[0]];
    input->dtype = dtype;
    input->rank = row_rank + 1;
    input->shape[0] = YS_BATCH;
    memcpy(&input->shape[1], row_shape, row_rank * sizeof *row_shape);
    build->label = ys_format("model %s on %s", name, ys_shape_text(input->shape, input->rank, text));
    if (!build->label)
        return ys_out_of_memory();
    return status_of(ys_compose_check_shape(build->label, "input x", input->shape, input->rank, 1));
}

ys_status ys_build_new(const char *name, const int64_t *row_shape, size_t row_rank, enum ys_dtype dtype,
                       struct ys_build **build)
{
    if (row_rank < 1 || row_rank > YS_MAX_RANK - 1 || (dtype != YS_U8 && dtype != YS_I32 && dtype != YS_F32))
        return ys_fail(YS_EINVAL, "model %s: an input row must have 1 to %d dimensions of type U8, I32 or F32", name,
                       YS_MAX_RANK - 1);
    struct ys_build *fresh = ys_alloc(1, sizeof *fresh);
    if (!fresh)
        return ys_out_of_memory();
    ys_build_draw(fresh, (struct ys_draw){YS_INIT_UNIFORM, YS_SPREAD_FAN_IN, 6},
                  (struct ys_draw){YS_INIT_CONSTANT, YS_SPREAD_FIXED, 0});
    ys_build_factors(fresh, 1, 1, 1, 1);
    ys_status status = begin_graph(fresh, name, row_shape, row_rank, dtype);
    if (status != YS_OK) {
        ys_graph_free(fresh->graph);
        ys_free(fresh->label);
        ys_free(fresh);
        return status;
    }
    *build = fresh;
    return YS_OK;
}

int ys_build_input(const struct ys_build *build)
{
    return build->graph->inputs[0];
}

int ys_build_more_input(struct ys_build *build, const char *name, const int64_t *row_shape, size_t row_rank,
                        enum ys_dtype dtype)
{
    int index;
    if (build->status == YS_OK)
        build->status = ys_compose_value(build->graph, name, &index);
    if (build->status != YS_OK)
        return -1;
    YS_ASSERT(build->graph->input_count < YS_ROWS_MAX_INPUTS && row_rank >= 1 && row_rank < YS_MAX_RANK);
    struct ys_value *input = &build->graph->values[index];
    input->dtype = dtype;
    input->rank = row_rank + 1;
    input->shape[0] = YS_BATCH;
    memcpy(&input->shape[1], row_shape, row_rank * sizeof *row_shape);
    build->graph->inputs[build->graph->input_count++] = index;
    build->status = status_of(ys_compose_check_shape(build->label, name, input->shape, input->rank, 1));
    return build->status == YS_OK ? index : -1;
}

void ys_build_target(struct ys_build *build, enum ys_target_kind kind)
{
    build->graph->target = kind;
}

const int64_t *ys_build_shape(const struct ys_build *build, int value)
{
    static const int64_t ones[YS_MAX_RANK] = {YS_BATCH, 1, 1, 1, 1, 1, 1, 1};
    return build->status == YS_OK ? build->graph->values[value].shape : ones;
}

void ys_build_draw(struct ys_build *build, struct ys_draw weights, struct ys_draw biases)
{
    build->weights = weights;
    build->biases = biases;
}

void ys_build_factors(struct ys_build *build, double weight_lr, double weight_decay, double bias_lr, double bias_decay)
{
    build->weight_lr = weight_lr;
    build->weight_decay = weight_decay;
    build->bias_lr = bias_lr;
    build->bias_decay = bias_decay;
}

void ys_build_loss(struct ys_build *build, enum ys_loss loss)
{
    build->graph->loss = loss;
}

/** Starts a node with its inputs and one output; false after a failure. */
static bool begin_with(struct ys_build *build, enum ys_op op, const int *in, size_t in_count, const char *name,
                       struct ys_node **node)
{
    if (build->status != YS_OK)
        return false;
    int index, out;
    build->status = ys_compose_node(build->graph, op, name, &index);
    if (build->status == YS_OK)
        build->status = ys_compose_value(build->graph, name, &out);
    if (build->status != YS_OK)
        return false;
    build->graph->values[out].producer = index;
    *node = &build->graph->nodes[index];
    (*node)->in_count = in_count;
    (*node)->out_count = 1;
    for (size_t i = 0; i < in_count; i++) {
        YS_ASSERT(in[i] >= 0 && in[i] < out);
        (*node)->in[i] = in[i];
    }
    (*node)->out[0] = out;
    return true;
}

static bool begin(struct ys_build *build, enum ys_op op, int in, const char *name, struct ys_node **node)
{
    return begin_with(build, op, &in, 1, name, node);
}

/** Gives the last node its shape; returns its output. */
static int end(struct ys_build *build)
{
    int last = (int)build->graph->node_count - 1;
    if (build->status == YS_OK)
        build->status = status_of(ys_compose_infer(build->graph, last, build->label));
    return build->status == YS_OK ? build->graph->nodes[last].out[0] : -1;
}

/** A parameter of the node, named after both. */
static void add_param(struct ys_build *build, struct ys_node *node, enum ys_node_param which, struct ys_param param)
{
    char name[YS_GRAPH_MAX_NAME + 16];
    snprintf(name, sizeof name, "%s.%s", node->name, ys_node_param_key(which));
    param.name = name;
    if (build->status == YS_OK)
        build->status = ys_compose_param(build->graph, &param, ys_node_param_place(node, which));
}

static struct ys_initializer initializer(struct ys_draw draw, double fan_in, double fan_out)
{
    double spread = draw.spread;
    if (draw.of != YS_SPREAD_FIXED)
        spread = sqrt(spread / (draw.of == YS_SPREAD_FAN_IN ? fan_in : fan_out));
    if (draw.kind == YS_INIT_CONSTANT)
        return (struct ys_initializer){draw.kind, spread, 0};
    return (struct ys_initializer){draw.kind, draw.kind == YS_INIT_UNIFORM ? -spread : 0, spread};
}

/** A weight of `shape`, `present` of whose elements are parameters, and, if wanted, a bias of shape[0]. */
static void add_weights(struct ys_build *build, struct ys_node *node, const int64_t *shape, size_t rank,
                        int64_t present, bool with_bias)
{
    struct ys_param weight = {.rank = rank, .lr_mult = build->weight_lr, .decay_mult = build->weight_decay};
    memcpy(weight.shape, shape, rank * sizeof *shape);
    build->status = status_of(ys_compose_check_shape(build->label, node->name, shape, rank, 0));
    if (build->status != YS_OK)
        return;
    double fan_in = (double)present / (double)shape[0], fan_out = (double)present / (double)shape[1];
    weight.init = initializer(build->weights, fan_in, fan_out);
    add_param(build, node, YS_NODE_WEIGHT, weight);
    struct ys_param bias = {.rank = 1,
                            .shape = {shape[0]},
                            .init = initializer(build->biases, fan_in, fan_out),
                            .lr_mult = build->bias_lr,
                            .decay_mult = build->bias_decay};
    if (with_bias)
        add_param(build, node, YS_NODE_BIAS, bias);
}

static int normalize(struct ys_build *build, int in, double scale, size_t channels, const double *means,
                     const double *stds, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_NORMALIZE, in, name, &node))
        return -1;
    node->normalize = (struct ys_normalize){.scale = scale, .channels = channels};
    node->normalize.mean = ys_alloc(channels, sizeof(double));
    node->normalize.std = ys_alloc(channels, sizeof(double));
    if (!node->normalize.mean || !node->normalize.std) {
        build->status = ys_out_of_memory();
        return -1;
    }
    memcpy(node->normalize.mean, means, channels * sizeof *means);
    memcpy(node->normalize.std, stds, channels * sizeof *stds);
    return end(build);
}

int ys_build_normalize(struct ys_build *build, int in, double scale, double mean, double std, const char *name)
{
    return normalize(build, in, scale, 1, &mean, &std, name);
}

int ys_build_normalize_each(struct ys_build *build, int in, double scale, const double *means, const double *stds,
                            const char *name)
{
    return normalize(build, in, scale, (size_t)ys_build_shape(build, in)[1], means, stds, name);
}

struct ys_window ys_build_window(int64_t kernel, int64_t stride, int64_t pad)
{
    return (struct ys_window){.kernel = {kernel, kernel},
                              .stride = {stride, stride},
                              .dilation = {1, 1},
                              .pad = {pad, pad, pad, pad},
                              .group = 1};
}

static int add_conv(struct ys_build *build, int in, int64_t out_channels, struct ys_window window,
                    const unsigned char *connected, bool with_bias, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_CONV, in, name, &node))
        return -1;
    node->window = window;
    const int64_t shape[4] = {out_channels, build->graph->values[in].shape[1] / window.group, window.kernel[0],
                              window.kernel[1]};
    int64_t pairs = shape[0] * shape[1], present = connected ? 0 : pairs;
    if (connected) {
        node->connected = ys_alloc((size_t)pairs, 1);
        if (!node->connected) {
            build->status = ys_out_of_memory();
            return -1;
        }
        memcpy(node->connected, connected, (size_t)pairs);
        for (int64_t i = 0; i < pairs; i++)
            present += connected[i];
    }
    add_weights(build, node, shape, 4, present * shape[2] * shape[3], with_bias);
    return end(build);
}

int ys_build_conv(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride, int64_t pad,
                  const char *name)
{
    return add_conv(build, in, out_channels, ys_build_window(kernel, stride, pad), NULL, true, name);
}

int ys_build_conv_plain(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride,
                        int64_t pad, int64_t group, const char *name)
{
    struct ys_window window = ys_build_window(kernel, stride, pad);
    window.group = group;
    return add_conv(build, in, out_channels, window, NULL, false, name);
}

int ys_build_conv_table(struct ys_build *build, int in, int64_t out_channels, int64_t kernel,
                        const unsigned char *connected, const char *name)
{
    if (!connected && build->status == YS_OK)
        build->status = ys_out_of_memory();
    return add_conv(build, in, out_channels, ys_build_window(kernel, 1, 0), connected, true, name);
}

int ys_build_conv_window(struct ys_build *build, int in, int64_t out_channels, const struct ys_window *window,
                         const unsigned char *connected, bool with_bias, const char *name)
{
    return add_conv(build, in, out_channels, *window, connected, with_bias, name);
}

int ys_build_conv_transpose(struct ys_build *build, int in, int64_t out_channels, const struct ys_window *window,
                            const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_CONV_TRANSPOSE, in, name, &node))
        return -1;
    node->window = *window;
    const double taps = (double)(window->kernel[0] * window->kernel[1]) / (double)window->group;
    const double fan_in = (double)build->graph->values[in].shape[1] * taps, fan_out = (double)out_channels * taps;
    struct ys_param weight = {.rank = 4,
                              .shape = {build->graph->values[in].shape[1], out_channels / window->group,
                                        window->kernel[0], window->kernel[1]},
                              .init = initializer(build->weights, fan_in, fan_out),
                              .lr_mult = build->weight_lr,
                              .decay_mult = build->weight_decay};
    struct ys_param bias = {.rank = 1,
                            .shape = {out_channels},
                            .init = initializer(build->biases, fan_in, fan_out),
                            .lr_mult = build->bias_lr,
                            .decay_mult = build->bias_decay};
    add_param(build, node, YS_NODE_WEIGHT, weight);
    add_param(build, node, YS_NODE_BIAS, bias);
    return end(build);
}

static int add_gemm(struct ys_build *build, int in, int64_t out_features, bool with_bias, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_GEMM, in, name, &node))
        return -1;
    const struct ys_value *from = &build->graph->values[in];
    const int64_t shape[2] = {out_features, from->shape[from->rank - 1]};
    add_weights(build, node, shape, 2, shape[0] * shape[1], with_bias);
    return end(build);
}

int ys_build_gemm_tied(struct ys_build *build, int embedding, int in, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_GEMM, in, name, &node))
        return -1;
    node->weight = build->graph->nodes[build->graph->values[embedding].producer].weight;
    return end(build);
}

int ys_build_embedding(struct ys_build *build, int in, int64_t vocabulary, int64_t width, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_EMBEDDING, in, name, &node))
        return -1;
    const int64_t shape[2] = {vocabulary, width};
    add_weights(build, node, shape, 2, shape[0] * shape[1], false);
    return end(build);
}

int ys_build_gemm(struct ys_build *build, int in, int64_t out_features, const char *name)
{
    return add_gemm(build, in, out_features, true, name);
}

int ys_build_gemm_plain(struct ys_build *build, int in, int64_t out_features, const char *name)
{
    return add_gemm(build, in, out_features, false, name);
}

int ys_build_batchnorm(struct ys_build *build, int in, const char *name)
{
    return ys_build_batchnorm_of(build, in, (struct ys_batchnorm){.epsilon = 1e-5, .momentum = 0.1}, name);
}

int ys_build_batchnorm_of(struct ys_build *build, int in, struct ys_batchnorm batchnorm, const char *name)
{
    static const double starts[] = {[YS_NODE_WEIGHT] = 1, [YS_NODE_RUNNING_VAR] = 1};
    struct ys_node *node;
    if (!begin(build, YS_OP_BATCHNORM, in, name, &node))
        return -1;
    node->batchnorm = batchnorm;
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
        if (!ys_op_takes(YS_OP_BATCHNORM, (enum ys_node_param)which))
            continue;
        struct ys_param param = {.rank = 1,
                                 .shape = {build->graph->values[in].shape[1]},
                                 .role = which < YS_NODE_RUNNING_MEAN ? YS_ROLE_WEIGHT : YS_ROLE_BUFFER,
                                 .init = {YS_INIT_CONSTANT, starts[which], 0},
                                 .lr_mult = 1,
                                 .decay_mult = 1};
        add_param(build, node, (enum ys_node_param)which, param);
    }
    return end(build);
}

static int norm_lines(struct ys_build *build, enum ys_op op, int in, double epsilon, const char *name)
{
    struct ys_node *node;
    if (!begin(build, op, in, name, &node))
        return -1;
    node->axis = (int)build->graph->values[in].rank - 1;
    node->epsilon = epsilon;
    for (int which = YS_NODE_WEIGHT; which <= YS_NODE_BIAS; which++) {
        struct ys_param param = {.rank = 1,
                                 .shape = {build->graph->values[in].shape[node->axis]},
                                 .init = {YS_INIT_CONSTANT, which == YS_NODE_WEIGHT, 0},
                                 .lr_mult = 1,
                                 .decay_mult = 1};
        if (ys_op_takes(op, (enum ys_node_param)which))
            add_param(build, node, (enum ys_node_param)which, param);
    }
    return end(build);
}

int ys_build_layernorm(struct ys_build *build, int in, double epsilon, const char *name)
{
    return norm_lines(build, YS_OP_LAYERNORM, in, epsilon, name);
}

int ys_build_rmsnorm(struct ys_build *build, int in, double epsilon, const char *name)
{
    return norm_lines(build, YS_OP_RMSNORM, in, epsilon, name);
}

int ys_build_recurrent(struct ys_build *build, enum ys_op op, int in, int64_t hidden, const char *name)
{
    struct ys_node *node;
    if (!begin(build, op, in, name, &node))
        return -1;
    const int64_t rows = (op == YS_OP_LSTM ? 4 : 3) * hidden, width = build->graph->values[in].shape[2];
    const int64_t extents[][2] = {[YS_NODE_WEIGHT] = {rows, width},
                                  [YS_NODE_BIAS] = {rows, 1},
                                  [YS_NODE_RECURRENT] = {rows, hidden},
                                  [YS_NODE_RECURRENT_BIAS] = {hidden, 1}};
    for (int which = YS_NODE_WEIGHT; which <= YS_NODE_RECURRENT_BIAS; which++) {
        const bool is_bias = which == YS_NODE_BIAS || which == YS_NODE_RECURRENT_BIAS;
        const double fan = (double)hidden; /* of all of them, as PyTorch and Keras draw recurrent layers */
        const struct ys_param param = {.rank = is_bias ? 1 : 2,
                                       .shape = {extents[which][0], is_bias ? 0 : extents[which][1]},
                                       .init = initializer(is_bias ? build->biases : build->weights, fan, fan),
                                       .lr_mult = is_bias ? build->bias_lr : build->weight_lr,
                                       .decay_mult = is_bias ? build->bias_decay : build->weight_decay};
        if (ys_op_takes(op, (enum ys_node_param)which))
            add_param(build, node, (enum ys_node_param)which, param);
    }
    return end(build);
}

int ys_build_operand(struct ys_build *build, enum ys_op op, int in, const int64_t *shape, size_t rank,
                     struct ys_initializer init, const char *name)
{
    struct ys_node *node;
    struct ys_param param = {
        .rank = rank, .init = init, .lr_mult = build->weight_lr, .decay_mult = build->weight_decay};
    memcpy(param.shape, shape, rank * sizeof *shape); /* before begin(): it may be a value's, and those move */
    if (!begin(build, op, in, name, &node))
        return -1;
    add_param(build, node, YS_NODE_WEIGHT, param);
    return end(build);
}

/** Outputs of the last node behind its first. */
static void add_outputs(struct ys_build *build, size_t count, const char *name)
{
    struct ys_node *node = &build->graph->nodes[build->graph->node_count - 1];
    for (size_t k = 1; k < count && build->status == YS_OK; k++) {
        char numbered[YS_GRAPH_MAX_NAME + 16];
        int out;
        snprintf(numbered, sizeof numbered, "%s_%zu", name, k);
        build->status = ys_compose_value(build->graph, numbered, &out);
        if (build->status != YS_OK)
            return;
        build->graph->values[out].producer = (int)build->graph->node_count - 1;
        node->out[node->out_count++] = out;
    }
}

int ys_build_node(struct ys_build *build, const struct ys_node *as, const int *in, size_t in_count, const char *name)
{
    struct ys_node *node;
    if (!begin_with(build, as->op, in, in_count, name, &node))
        return -1;
    ys_node_set_attrs(node, as);
    add_outputs(build, as->out_count, name);
    return end(build);
}

int ys_build_shared(struct ys_build *build, int like, int in, const char *name)
{
    struct ys_node *node;
    if (build->status != YS_OK ||
        !begin(build, build->graph->nodes[build->graph->values[like].producer].op, in, name, &node))
        return -1;
    const struct ys_node *first = &build->graph->nodes[build->graph->values[like].producer];
    YS_ASSERT(ys_op_rule(first->op)->params != YS_PARAMS_NONE && !ys_node_connections(first));
    ys_node_set_attrs(node, first);
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++)
        *ys_node_param_place(node, (enum ys_node_param)which) = ys_node_param(first, (enum ys_node_param)which);
    return end(build);
}

int ys_build_plain(struct ys_build *build, enum ys_op op, int in, const char *name)
{
    struct ys_node *node;
    return begin(build, op, in, name, &node) ? end(build) : -1;
}

int ys_build_relu(struct ys_build *build, int in, const char *name)
{
    return ys_build_plain(build, YS_OP_RELU, in, name);
}

int ys_build_flatten(struct ys_build *build, int in, const char *name)
{
    return ys_build_plain(build, YS_OP_FLATTEN, in, name);
}

int ys_build_pool(struct ys_build *build, enum ys_op op, int in, const struct ys_window *window, const char *name)
{
    struct ys_node *node;
    if (!begin(build, op, in, name, &node))
        return -1;
    node->window = *window;
    return end(build);
}

int ys_build_maxpool(struct ys_build *build, int in, int64_t kernel, int64_t stride, int64_t pad, const char *name)
{
    struct ys_window window = ys_build_window(kernel, stride, pad);
    return ys_build_pool(build, YS_OP_MAXPOOL, in, &window, name);
}

int ys_build_lrn(struct ys_build *build, int in, struct ys_lrn lrn, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_LRN, in, name, &node))
        return -1;
    node->lrn = lrn;
    return end(build);
}

int ys_build_clip(struct ys_build *build, int in, double low, double high, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_CLIP, in, name, &node))
        return -1;
    node->low = low;
    node->high = high;
    return end(build);
}

int ys_build_dropout(struct ys_build *build, int in, double ratio, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_DROPOUT, in, name, &node))
        return -1;
    node->ratio = ratio;
    return end(build);
}

int ys_build_log_softmax(struct ys_build *build, int in, const char *name)
{
    struct ys_node *node;
    if (!begin(build, YS_OP_LOG_SOFTMAX, in, name, &node))
        return -1;
    node->axis = 1;
    return end(build);
}

int ys_build_add(struct ys_build *build, int a, int b, const char *name)
{
    struct ys_node *node;
    return begin_with(build, YS_OP_ADD, (const int[]){a, b}, 2, name, &node) ? end(build) : -1;
}

int ys_build_mul(struct ys_build *build, int a, int b, const char *name)
{
    struct ys_node *node;
    return begin_with(build, YS_OP_MUL, (const int[]){a, b}, 2, name, &node) ? end(build) : -1;
}

int ys_build_concat(struct ys_build *build, int a, int b, const char *name)
{
    struct ys_node *node;
    if (!begin_with(build, YS_OP_CONCAT, (const int[]){a, b}, 2, name, &node))
        return -1;
    node->axis = 1;
    return end(build);
}

ys_status ys_build_finish(struct ys_build *build, int output, struct ys_graph **graph)
{
    ys_status status = build->status;
    if (status == YS_OK) {
        build->graph->output = output;
        status = status_of(ys_compose_finish(build->graph, build->label));
    }
    if (status == YS_OK)
        *graph = build->graph;
    else
        ys_graph_free(build->graph);
    ys_free(build->label);
    ys_free(build);
    return status;
}
