/* What is tried of every operator: the formulas of those that are functions of one element, and the grid of operators
 * and shapes. Each case is a network with the operator between pixels and logits; behind what is no matrix, Flatten is
 * put. Operators with a kink read the pixels themselves, so that a test can put pixels on both sides of it, and keep
 * away from it. */
#ifndef YS_TESTS_BACKEND_OPERATOR_CASES_H
#define YS_TESTS_BACKEND_OPERATOR_CASES_H

#include "graph/op.h"
#include "unit/engine/net.h"

/** A function of one element as docs/graph.md has it. Every operator whose descriptor has kinks is here. */
struct pointwise {
    double (*formula)(const struct ys_node *node, double x);
    double slope, curvature; /* most that its first and second derivatives are */
    double units;            /* roundings in float of functions of a library, or of several steps, in its result */
    /** The derivative at each kink, of a node with the attributes that kinks_net() gives it. */
    double at_kink[YS_OP_MAX_KINKS];
};

static double formula_relu(const struct ys_node *node, double x)
{
    (void)node;
    return fmax(x, 0);
}

static double formula_clip(const struct ys_node *node, double x)
{
    return fmin(fmax(x, node->low), node->high);
}

static double formula_leaky_relu(const struct ys_node *node, double x)
{
    return x < 0 ? node->slope * x : x;
}

static double formula_tanh(const struct ys_node *node, double x)
{
    (void)node;
    return (exp(x) - exp(-x)) / (exp(x) + exp(-x));
}

static double formula_sigmoid(const struct ys_node *node, double x)
{
    (void)node;
    return 1 / (1 + exp(-x));
}

static double formula_hardswish(const struct ys_node *node, double x)
{
    (void)node;
    return x * fmin(fmax(x + 3, 0), 6) / 6;
}

static double formula_hardsigmoid(const struct ys_node *node, double x)
{
    return fmax(0, fmin(1, node->slope * x + node->shift));
}

static double formula_swish(const struct ys_node *node, double x)
{
    (void)node;
    return x / (1 + exp(-x));
}

static double formula_gelu(const struct ys_node *node, double x)
{
    const double pi = acos(-1);
    return node->by_tanh ? 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * pow(x, 3)))) : x * erfc(-x / sqrt(2)) / 2;
}

static double formula_sqrt(const struct ys_node *node, double x)
{
    (void)node;
    return sqrt(x);
}

static double formula_pow(const struct ys_node *node, double x)
{
    return pow(x, node->exponent);
}

static double formula_exp(const struct ys_node *node, double x)
{
    (void)node;
    return exp(x);
}

static double formula_elu(const struct ys_node *node, double x)
{
    return x < 0 ? node->slope * (exp(x) - 1) : x;
}

static double formula_selu(const struct ys_node *node, double x)
{
    return node->gamma * formula_elu(node, x);
}

static double formula_celu(const struct ys_node *node, double x)
{
    return fmax(x, 0) + fmin(0, node->slope * (exp(x / node->slope) - 1));
}

static double formula_softplus(const struct ys_node *node, double x)
{
    (void)node;
    return log(1 + exp(x));
}

static double formula_softsign(const struct ys_node *node, double x)
{
    (void)node;
    return x / (1 + fabs(x));
}

static double formula_mish(const struct ys_node *node, double x)
{
    return x * tanh(formula_softplus(node, x));
}

static const struct pointwise pointwise[YS_OP_COUNT] = {
    [YS_OP_RELU] = {formula_relu, 1, 0, 0, .at_kink = {0}},
    [YS_OP_CLIP] = {formula_clip, 1, 0, 0, .at_kink = {0, 0}},
    [YS_OP_LEAKY_RELU] = {formula_leaky_relu, 1, 0, 0, .at_kink = {0.5}},
    [YS_OP_TANH] = {formula_tanh, 1, 2, 16},
    [YS_OP_SIGMOID] = {formula_sigmoid, 1, 2, 16},
    [YS_OP_HARDSWISH] = {formula_hardswish, 1.5, 1.0 / 3, 16, .at_kink = {0, 1}},
    [YS_OP_HARDSIGMOID] = {formula_hardsigmoid, 0.5, 0, 2, .at_kink = {0, 0}},
    [YS_OP_SWISH] = {formula_swish, 1.1, 0.5, 16},
    [YS_OP_GELU] = {formula_gelu, 1.13, 0.8, 16},
    [YS_OP_SQRT] = {formula_sqrt, 1, 2, 16}, /* of 1/4 and more: behind a Sigmoid of pixels, as those of powers */
    [YS_OP_POW] = {formula_pow, 4, 24, 16},
    [YS_OP_EXP] = {formula_exp, 3, 3, 16}, /* of pixels, which are at most 1 */
    [YS_OP_ELU] = {formula_elu, 1.5, 1.5, 16, .at_kink = {0.5}},
    [YS_OP_SELU] = {formula_selu, 2, 2, 16, .at_kink = {0.25}},
    [YS_OP_CELU] = {formula_celu, 1, 2, 16},
    [YS_OP_SOFTPLUS] = {formula_softplus, 1, 0.25, 16},
    [YS_OP_SOFTSIGN] = {formula_softsign, 1, 2, 16},
    [YS_OP_MISH] = {formula_mish, 1.1, 0.7, 16},
};

#define WINDOW(kh, kw, sh, sw, top, left, bottom, right)                                                               \
    ((struct ys_window){{kh, kw}, {sh, sw}, {1, 1}, {top, left, bottom, right}, 1})
#define SQUARE(k, s, pad)    WINDOW(k, k, s, s, pad, pad, pad, pad)
#define SPARSE(k, s, d, pad) ((struct ys_window){{k, k}, {s, s}, {d, d}, {pad, pad, pad, pad}, 1})
#define GROUPS(k, s, pad, g) ((struct ys_window){{k, k}, {s, s}, {1, 1}, {pad, pad, pad, pad}, g})
#define CEIL(k, s, pad)      ((struct ys_window){{k, k}, {s, s}, {1, 1}, {pad, pad, pad, pad}, 1, .ceil = true})
#define COUNTED(k, s, pad)   ((struct ys_window){{k, k}, {s, s}, {1, 1}, {pad, pad, pad, pad}, 1, .include_pad = true})
#define COUNTED_AT(...)      ((struct ys_window){{3, 3}, {2, 2}, {1, 1}, {__VA_ARGS__}, 1, .include_pad = true})
#define CEIL_SPARSE(k, s, d) ((struct ys_window){{k, k}, {s, s}, {d, d}, {0, 0, 0, 0}, 1, .ceil = true})
#define CEIL_COUNTED(k, s, pad)                                                                                        \
    ((struct ys_window){{k, k}, {s, s}, {1, 1}, {pad, pad, pad, pad}, 1, .ceil = true, .include_pad = true})
#define LRN(...) ((struct ys_lrn){__VA_ARGS__})

/** Every third pair of channels of the last convolution, from `first` on, is absent, but every output keeps one. */
static void net_disconnect(struct net *n, int64_t first)
{
    static unsigned char connected[256];
    struct ys_node *node = &n->nodes[n->graph.node_count - 1];
    int64_t pairs = n->params[node->weight].shape[0] * n->params[node->weight].shape[1];
    memset(connected, 0, sizeof connected); /* behind its end, for whoever reads there */
    for (int64_t i = 0; i < pairs && i < (int64_t)sizeof connected; i++)
        connected[i] = i % 3 != first;
    node->connected = connected;
}

static void net_leaky_relu(struct net *n, double slope)
{
    net_alike(n, YS_OP_LEAKY_RELU)->slope = slope;
}

static void net_average(struct net *n, struct ys_window w)
{
    net_pool_of(n, YS_OP_AVERAGEPOOL, w);
}

/** A convolution 3x3, whose result is handed back so that several nodes can read it. */
static int net_branch(struct net *n, int64_t out)
{
    net_conv(n, out, SQUARE(3, 1, 1), 1);
    return n->last;
}

/** The pixels and two convolutions of them, joined or combined. */
static void net_combine(struct net *n, enum ys_op op)
{
    int first = net_branch(n, n->values[0].shape[1]);
    net_from(n, 0);
    net_branch(n, n->values[0].shape[1]);
    net_with(n, op, first);
    net_with(n, op, 0);
}

static void net_twice(struct net *n, enum ys_op op)
{
    int both = net_branch(n, 2);
    net_with(n, op, both);
}

static void net_join(struct net *n, int axis)
{
    int first = net_branch(n, n->values[0].shape[1]);
    net_from(n, 0);
    net_leaky_relu(n, 0.5);
    net_concat(n, axis, 2, (const int[]){0, first});
}

/** Two convolutions of the pixels, to so many channels, joined along them. */
static void net_join_branches(struct net *n, int64_t first, int64_t second)
{
    const int behind = net_branch(n, second);
    net_from(n, 0);
    net_branch(n, first);
    net_concat(n, 1, 1, &behind);
}

/** One value read by a convolution, a sum, a view and a join. */
static void net_read_often(struct net *n)
{
    int64_t channels = n->values[0].shape[1], area = n->values[0].shape[2] * n->values[0].shape[3];
    int v = net_branch(n, channels), shortcut, flat;
    net_branch(n, channels);
    net_with(n, YS_OP_ADD, v);
    shortcut = n->last;
    net_from(n, v);
    net_reshape(n, 4, (const int64_t[]){channels, area, 1});
    flat = n->last;
    net_from(n, shortcut);
    net_reshape(n, 4, (const int64_t[]){channels, area, 1});
    net_concat(n, 2, 1, &flat);
}

/** Parts along an axis, put together again in the other order; with `dead`, one is read by nobody. */
static void net_parts(struct net *n, int axis, size_t count, const int64_t *extents, bool dead)
{
    int parts[YS_NODE_MAX_OUT];
    net_split(n, axis, count, extents, parts);
    if (dead)
        parts[1] = parts[0];
    net_concat(n, axis, count - 1, parts);
}

static void net_residual_block(struct net *n)
{
    int64_t channels = n->values[0].shape[1];
    net_batchnorm(n, 1e-5, 0.1);
    int shortcut = n->last;
    net_branch(n, channels);
    net_batchnorm(n, 1e-5, 0.1);
    net_alike(n, YS_OP_SIGMOID);
    net_branch(n, channels);
    net_with(n, YS_OP_ADD, shortcut);
}

static void net_mean_kept(struct net *n, unsigned reduced)
{
    struct ys_value v = n->values[n->last];
    for (size_t i = 1; i < v.rank; i++)
        v.shape[i] = reduced >> i & 1 ? 1 : v.shape[i];
    struct ys_node *node = net_node(n, YS_OP_MEAN, v.rank, v.shape + 1);
    node->keepdims = true;
    for (size_t i = 1; i < v.rank; i++)
        node->reduced[i] = reduced >> i & 1;
}

static void net_hardsigmoid(struct net *n, double alpha, double beta)
{
    struct ys_node *node = net_alike(n, YS_OP_HARDSIGMOID);
    node->slope = alpha;
    node->shift = beta;
}

static void net_curve(struct net *n, enum ys_op op, double alpha, double gamma)
{
    struct ys_node *node = net_alike(n, op);
    node->slope = alpha;
    node->gamma = gamma;
}

/** `a` op `b`, of one rank, whose extents are equal or 1. */
static void net_pair(struct net *n, enum ys_op op, int a, int b)
{
    struct ys_value shape = n->values[a];
    for (size_t i = 1; i < shape.rank; i++)
        shape.shape[i] = n->values[b].shape[i] > shape.shape[i] ? n->values[b].shape[i] : shape.shape[i];
    net_from(n, a);
    struct ys_node *node = net_node(n, op, shape.rank, shape.shape + 1);
    node->broadcast = memcmp(n->values[a].shape, n->values[b].shape, sizeof shape.shape) != 0;
    net_reads_too(n, node, b);
}

/** A convolution of the pixels and what lies between 1/4 and 3/4 of them: two values to divide. */
static void net_divide(struct net *n)
{
    int first = net_branch(n, n->values[0].shape[1]);
    net_from(n, 0);
    net_alike(n, YS_OP_SIGMOID);
    net_pair(n, YS_OP_DIV, first, n->last);
}

/** A convolution of the pixels, and a number for each channel of them between 1/4 and 3/4; `turned`: that first. */
static void net_stretch(struct net *n, enum ys_op op, bool turned)
{
    int image = net_branch(n, n->values[0].shape[1]), few;
    net_from(n, image);
    net_alike(n, YS_OP_SIGMOID); /* so that it can stand below a division line, turned or not */
    image = n->last;
    net_from(n, 0);
    net_alike(n, YS_OP_SIGMOID);
    net_mean_kept(n, 0xc);
    few = n->last;
    net_pair(n, op, turned ? few : image, turned ? image : few);
}

/** A number for each column of each channel, and a convolution of the pixels, along whose rows it is repeated. */
static void net_repeat_along_rows(struct net *n, enum ys_op op)
{
    const int image = net_branch(n, n->values[0].shape[1]);
    net_from(n, 0);
    net_alike(n, YS_OP_SIGMOID);
    net_mean_kept(n, 0x4);
    net_pair(n, op, n->last, image);
}

/** A convolution of the pixels, positive, and a parameter of these extents (0: an axis that it has not). */
static void net_with_param(struct net *n, enum ys_op op, int64_t channels, int64_t height, int64_t width)
{
    const int64_t shape[3] = {channels, height, width};
    size_t left = channels ? 0 : height ? 1 : 2;
    net_branch(n, n->values[0].shape[1]);
    net_alike(n, YS_OP_SIGMOID);
    net_operand(n, op, 3 - left, shape + left);
}

/** A number for each channel, which a parameter of a whole row stretches. */
static void net_stretch_to_param(struct net *n, enum ys_op op)
{
    const struct ys_value v = n->values[0];
    net_mean_kept(n, 0xc);
    net_operand(n, op, 3, v.shape + 1);
}

/** One parameter that two nodes read. */
static void net_param_twice(struct net *n, enum ys_op first, enum ys_op second)
{
    const int64_t shape[3] = {n->values[0].shape[1], 1, 1};
    int weight = net_operand(n, first, 3, shape)->weight;
    net_alike(n, YS_OP_TANH);
    net_alike(n, second)->weight = weight;
}

/** A value and tanh of it, by turns, `count` of them behind the first. */
static void net_join_many(struct net *n, int axis, size_t count)
{
    int others[YS_NODE_MAX_IN], first = n->last;
    net_alike(n, YS_OP_TANH);
    for (size_t i = 0; i < count; i++)
        others[i] = i % 2 ? n->last : first;
    net_concat(n, axis, count, others);
}

/** A column and a row of the pixels' means, each stretched along the other. */
static void net_cross(struct net *n, enum ys_op op)
{
    net_alike(n, YS_OP_SIGMOID);
    int image = n->last;
    net_mean_kept(n, 0x8);
    int column = n->last;
    net_from(n, image);
    net_mean_kept(n, 0x4);
    net_pair(n, op, column, n->last);
}

static void net_norm_of_lines(struct net *n, enum ys_op op, double epsilon, bool bias)
{
    struct ys_node *node = net_alike(n, op);
    const struct ys_value *out = &n->values[n->last];
    node->axis = (int)out->rank - 1;
    node->epsilon = epsilon;
    node->weight = net_param(n, 1, &out->shape[out->rank - 1]);
    if (bias)
        node->bias = net_param(n, 1, &out->shape[out->rank - 1]);
}

static void net_layernorm(struct net *n, double epsilon, bool bias)
{
    net_norm_of_lines(n, YS_OP_LAYERNORM, epsilon, bias);
}

static void net_rmsnorm(struct net *n, double epsilon)
{
    net_norm_of_lines(n, YS_OP_RMSNORM, epsilon, false);
}

/** The row as `positions` of `width` numbers, turned, or with waves added where there are no heads. */
static void net_places(struct net *n, int64_t positions, int64_t width, struct ys_rotary how)
{
    net_reshape(n, 3, (const int64_t[]){positions, width});
    net_alike(n, how.heads ? YS_OP_ROTARY : YS_OP_SINUSOID)->rotary = how;
}
#define ROTARY(...) ((struct ys_rotary){__VA_ARGS__})

static void net_loss(struct net *n, enum ys_loss loss, double smoothing)
{
    net_flatten(n);
    if (loss == YS_LOSS_NLL)
        net_softmax(n, YS_OP_LOG_SOFTMAX, 1);
    n->graph.loss = loss;
    n->graph.label_smoothing = smoothing;
}

/* NAME, pixel type, batch, channels, height, width, then the operator. */
#define CONVOLUTIONS(X)                                                                                                \
    X(conv_3x3_pad_1, YS_F32, 2, 2, 5, 7, net_conv(n, 3, SQUARE(3, 1, 1), 1))                                          \
    X(conv_one_channel, YS_F32, 2, 1, 4, 4, net_conv(n, 1, SQUARE(2, 1, 0), 1))                                        \
    X(conv_odd_size_stride_2, YS_F32, 2, 3, 7, 5, net_conv(n, 4, SQUARE(3, 2, 1), 1))                                  \
    X(conv_stride_beyond_kernel, YS_F32, 2, 3, 8, 7, net_conv(n, 4, WINDOW(2, 1, 3, 3, 0, 0, 0, 0), 1))                \
    X(conv_asymmetric_pad, YS_F32, 2, 2, 5, 6, net_conv(n, 3, WINDOW(3, 4, 1, 1, 0, 1, 2, 3), 1))                      \
    X(conv_asymmetric_pad_stride, YS_F32, 2, 2, 6, 6, net_conv(n, 3, WINDOW(3, 3, 2, 2, 0, 0, 1, 1), 1))               \
    X(conv_pad_beyond_need, YS_F32, 2, 2, 3, 3, net_conv(n, 3, SQUARE(1, 1, 2), 1))                                    \
    X(conv_pad_beyond_kernel, YS_F32, 2, 2, 3, 4, net_conv(n, 3, SQUARE(2, 2, 3), 1))                                  \
    X(conv_kernel_beyond_image, YS_F32, 2, 2, 3, 3, net_conv(n, 3, WINDOW(1, 5, 1, 2, 0, 0, 0, 4), 1))                 \
    X(conv_two_groups, YS_F32, 2, 4, 5, 5, net_conv(n, 6, GROUPS(3, 1, 1, 2), 1))                                      \
    X(conv_groups_stride, YS_F32, 2, 6, 5, 6, net_conv(n, 3, GROUPS(3, 2, 1, 3), 0))                                   \
    X(conv_depthwise, YS_F32, 2, 5, 5, 5, net_conv(n, 5, GROUPS(3, 1, 1, 5), 1))                                       \
    X(conv_depthwise_stride_2, YS_F32, 2, 17, 6, 7, net_conv(n, 17, GROUPS(3, 2, 1, 17), 0))                           \
    X(conv_depthwise_double, YS_F32, 1, 3, 5, 4, net_conv(n, 6, GROUPS(2, 1, 0, 3), 0))                                \
    X(conv_depthwise_7x7, YS_F32, 2, 24, 9, 8, net_conv(n, 24, GROUPS(7, 1, 3, 24), 1))                                \
    X(conv_depthwise_beyond_image, YS_F32, 3, 19, 4, 2, net_conv(n, 19, GROUPS(7, 1, 3, 19), 1))                       \
    X(conv_depthwise_5x5_stride_2, YS_F32, 2, 16, 9, 7, net_conv(n, 16, GROUPS(5, 2, 2, 16), 0))                       \
    X(conv_depthwise_dilated, YS_F32, 2, 8, 9, 8,                                                                      \
      net_conv(n, 8, ((struct ys_window){{3, 4}, {2, 1}, {2, 3}, {2, 3, 1, 4}, 8}), 1))                                \
    X(conv_dilated, YS_F32, 2, 2, 7, 7, net_conv(n, 3, SPARSE(3, 1, 2, 2), 1))                                         \
    X(conv_dilated_stride, YS_F32, 2, 2, 9, 8, net_conv(n, 3, SPARSE(2, 2, 3, 1), 1))                                  \
    X(conv_odd_channels, YS_F32, 2, 17, 5, 5, net_conv(n, 33, SQUARE(3, 1, 1), 1))                                     \
    X(conv_full_blocks, YS_F32, 2, 16, 6, 6, net_conv(n, 32, SQUARE(5, 1, 2), 1))                                      \
    X(conv_many_taps, YS_F32, 1, 30, 4, 5, net_conv(n, 7, SQUARE(3, 1, 1), 1))                                         \
    X(conv_many_positions, YS_F32, 1, 2, 23, 25, net_conv(n, 2, SQUARE(3, 1, 1), 1))                                   \
    X(conv_many_positions_stride_2, YS_F32, 1, 2, 23, 51, net_conv(n, 2, SQUARE(3, 2, 1), 1))                          \
    X(conv_many_outputs, YS_F32, 1, 5, 2, 2, net_conv(n, 270, SQUARE(1, 1, 0), 1))                                     \
    X(conv_winograd, YS_F32, 2, 32, 16, 13, net_conv(n, 32, SQUARE(3, 1, 1), 1))                                       \
    X(conv_winograd_narrow, YS_F32, 4, 32, 13, 11, net_conv(n, 48, SQUARE(3, 1, 0), 0))                                \
    X(conv_batch_1, YS_F32, 1, 3, 5, 5, net_conv(n, 4, SQUARE(3, 1, 1), 1))                                            \
    X(conv_one_pixel, YS_F32, 1, 3, 1, 1, net_conv(n, 4, SQUARE(3, 1, 1), 1))                                          \
    X(conv_without_bias, YS_F32, 2, 3, 5, 5, net_conv(n, 4, SQUARE(3, 1, 1), 0))                                       \
    X(conv_flat_kernel, YS_F32, 2, 2, 4, 9, net_conv(n, 3, WINDOW(1, 5, 1, 2, 0, 2, 0, 2), 1))                         \
    X(conv_1x1, YS_F32, 3, 5, 3, 3, net_conv(n, 7, SQUARE(1, 1, 0), 1))                                                \
    X(conv_1x1_stride_2, YS_F32, 2, 5, 5, 5, net_conv(n, 7, SQUARE(1, 2, 0), 0))                                       \
    X(conv_whole_image, YS_F32, 3, 2, 4, 5, net_conv(n, 6, WINDOW(4, 5, 1, 1, 0, 0, 0, 0), 1))                         \
    X(conv_connections, YS_F32, 2, 4, 5, 5, (net_conv(n, 5, SQUARE(3, 1, 1), 1), net_disconnect(n, 0)))                \
    X(conv_connections_groups, YS_F32, 2, 6, 4, 5, (net_conv(n, 4, GROUPS(2, 2, 1, 2), 0), net_disconnect(n, 1)))      \
    X(conv_transpose_3x3, YS_F32, 2, 3, 4, 5, net_conv_transpose(n, 2, SQUARE(3, 1, 1), 0, 1))                         \
    X(conv_transpose_stride_2, YS_F32, 2, 3, 4, 5, net_conv_transpose(n, 4, SQUARE(3, 2, 1), 1, 1))                    \
    X(conv_transpose_stride_beyond_kernel, YS_F32, 2, 3, 3, 4,                                                         \
      net_conv_transpose(n, 4, WINDOW(2, 1, 3, 3, 0, 0, 0, 0), 2, 0))                                                  \
    X(conv_transpose_asymmetric_pad, YS_F32, 2, 2, 5, 6,                                                               \
      net_conv_transpose(n, 3, WINDOW(3, 4, 2, 1, 0, 1, 2, 3), 0, 1))                                                  \
    X(conv_transpose_dilated, YS_F32, 2, 2, 4, 5, net_conv_transpose(n, 3, SPARSE(3, 1, 2, 1), 0, 1))                  \
    X(conv_transpose_groups, YS_F32, 2, 4, 4, 3, net_conv_transpose(n, 6, GROUPS(3, 2, 1, 2), 1, 1))                   \
    X(conv_transpose_depthwise, YS_F32, 2, 5, 3, 4, net_conv_transpose(n, 5, GROUPS(2, 2, 0, 5), 0, 0))                \
    X(conv_transpose_full_blocks, YS_F32, 2, 32, 4, 4, net_conv_transpose(n, 16, SQUARE(4, 2, 1), 0, 1))               \
    X(conv_transpose_behind_conv, YS_F32, 2, 3, 4, 4,                                                                  \
      (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_conv_transpose(n, 5, SQUARE(2, 2, 0), 0, 1)))                          \
    X(gemm_small, YS_F32, 3, 7, 1, 1, (net_flatten(n), net_gemm(n, 5, 1)))                                             \
    X(gemm_batch_1, YS_F32, 1, 9, 1, 1, (net_flatten(n), net_gemm(n, 4, 1)))                                           \
    X(gemm_without_bias, YS_F32, 4, 6, 1, 1, (net_flatten(n), net_gemm(n, 3, 0)))                                      \
    X(gemm_wide, YS_F32, 5, 130, 1, 1, (net_flatten(n), net_gemm(n, 70, 1)))                                           \
    X(gemm_deep, YS_F32, 2, 401, 1, 1, (net_flatten(n), net_gemm(n, 11, 1)))                                           \
    X(gemm_many_outputs, YS_F32, 2, 9, 1, 1, (net_flatten(n), net_gemm(n, 270, 1)))                                    \
    X(gemm_one_feature, YS_F32, 3, 1, 1, 1, (net_flatten(n), net_gemm(n, 2, 1)))                                       \
    X(gemm_of_an_image, YS_F32, 3, 2, 3, 5, (net_flatten(n), net_gemm(n, 4, 1)))

#define POOLS(X)                                                                                                       \
    X(maxpool_2x2, YS_F32, 2, 3, 6, 6, net_pool(n, SQUARE(2, 2, 0)))                                                   \
    X(maxpool_odd_size, YS_F32, 2, 3, 7, 5, net_pool(n, SQUARE(2, 2, 0)))                                              \
    X(maxpool_overlapping, YS_F32, 2, 3, 7, 7, net_pool(n, SQUARE(3, 2, 1)))                                           \
    X(maxpool_stride_1, YS_F32, 2, 2, 5, 6, net_pool(n, SQUARE(3, 1, 1)))                                              \
    X(maxpool_stride_beyond_kernel, YS_F32, 2, 2, 8, 8, net_pool(n, SQUARE(2, 3, 0)))                                  \
    X(maxpool_asymmetric_pad, YS_F32, 2, 2, 5, 5, net_pool(n, WINDOW(3, 3, 2, 2, 0, 1, 1, 0)))                         \
    X(maxpool_pad_beyond_need, YS_F32, 2, 2, 3, 4, net_pool(n, SQUARE(5, 2, 2)))                                       \
    X(maxpool_dilated, YS_F32, 2, 2, 7, 7, net_pool(n, SPARSE(2, 1, 2, 1)))                                            \
    X(maxpool_ceil, YS_F32, 2, 3, 6, 7, net_pool(n, CEIL(3, 2, 0)))                                                    \
    X(maxpool_ceil_dilated, YS_F32, 2, 2, 6, 6, net_pool(n, CEIL_SPARSE(2, 2, 2)))                                     \
    X(maxpool_ceil_pad, YS_F32, 2, 2, 5, 6, net_pool(n, CEIL(3, 3, 1)))                                                \
    X(maxpool_ceil_left_out, YS_F32, 2, 2, 4, 4, net_pool(n, CEIL(2, 3, 1)))                                           \
    X(maxpool_one_channel, YS_F32, 1, 1, 4, 6, net_pool(n, WINDOW(2, 3, 2, 3, 0, 0, 0, 0)))                            \
    X(maxpool_16_channels, YS_F32, 2, 16, 4, 4, net_pool(n, SQUARE(2, 2, 0)))                                          \
    X(maxpool_1x1, YS_F32, 2, 3, 3, 4, net_pool(n, SQUARE(1, 1, 0)))                                                   \
    X(averagepool_2x2, YS_F32, 2, 3, 6, 6, net_average(n, SQUARE(2, 2, 0)))                                            \
    X(averagepool_odd_size, YS_F32, 2, 3, 7, 5, net_average(n, SQUARE(2, 2, 0)))                                       \
    X(averagepool_pad, YS_F32, 2, 3, 5, 6, net_average(n, SQUARE(3, 2, 1)))                                            \
    X(averagepool_counted_pad, YS_F32, 2, 3, 5, 6, net_average(n, COUNTED(3, 2, 1)))                                   \
    X(averagepool_counted_top, YS_F32, 2, 2, 5, 6, net_average(n, COUNTED_AT(1, 0, 0, 0)))                             \
    X(averagepool_counted_left, YS_F32, 2, 2, 4, 5, net_average(n, COUNTED_AT(0, 1, 0, 0)))                            \
    X(averagepool_counted_bottom, YS_F32, 2, 2, 6, 5, net_average(n, COUNTED_AT(0, 0, 1, 0)))                          \
    X(averagepool_counted_right, YS_F32, 2, 2, 5, 4, net_average(n, COUNTED_AT(0, 0, 0, 1)))                           \
    X(averagepool_stride_1, YS_F32, 2, 17, 4, 5, net_average(n, COUNTED(3, 1, 1)))                                     \
    X(averagepool_stride_beyond_kernel, YS_F32, 2, 2, 8, 8, net_average(n, SQUARE(2, 3, 0)))                           \
    X(averagepool_asymmetric_pad, YS_F32, 2, 2, 5, 5, net_average(n, WINDOW(3, 3, 2, 2, 0, 1, 1, 0)))                  \
    X(averagepool_pad_beyond_need, YS_F32, 2, 2, 3, 4, net_average(n, COUNTED(5, 2, 2)))                               \
    X(averagepool_ceil, YS_F32, 2, 3, 6, 7, net_average(n, CEIL(3, 2, 0)))                                             \
    X(averagepool_ceil_pad, YS_F32, 2, 2, 5, 6, net_average(n, CEIL(3, 3, 1)))                                         \
    X(averagepool_ceil_counted_pad, YS_F32, 2, 2, 6, 7, net_average(n, CEIL_COUNTED(3, 2, 1)))                         \
    X(averagepool_ceil_counted_no_pad, YS_F32, 2, 2, 6, 7, net_average(n, CEIL_COUNTED(3, 2, 0)))                      \
    X(averagepool_behind_normalize, YS_F32, 2, 3, 4, 4, (net_normalize(n, 3, 0.5), net_average(n, SQUARE(2, 2, 0))))   \
    X(averagepool_ceil_left_out, YS_F32, 2, 2, 4, 4, net_average(n, CEIL_COUNTED(2, 3, 1)))                            \
    X(averagepool_dilated, YS_F32, 2, 2, 7, 7, net_average(n, SPARSE(2, 2, 2, 1)))                                     \
    X(averagepool_batch_1, YS_F32, 1, 1, 4, 6, net_average(n, WINDOW(2, 3, 2, 3, 0, 0, 0, 0)))                         \
    X(global_averagepool_odd, YS_F32, 3, 5, 3, 7, net_global_pool(n, YS_OP_GLOBAL_AVERAGEPOOL))                        \
    X(global_averagepool_one_pixel, YS_F32, 2, 16, 1, 1, net_global_pool(n, YS_OP_GLOBAL_AVERAGEPOOL))                 \
    X(global_maxpool_odd, YS_F32, 3, 5, 3, 7, net_global_pool(n, YS_OP_GLOBAL_MAXPOOL))                                \
    X(global_maxpool_batch_1, YS_F32, 1, 16, 4, 4, net_global_pool(n, YS_OP_GLOBAL_MAXPOOL))

#define NORMALISATIONS(X)                                                                                              \
    X(normalize_each_channel, YS_F32, 2, 3, 4, 5, net_normalize(n, 3, 1.0))                                            \
    X(normalize_two_channels, YS_F32, 2, 2, 4, 5, net_normalize(n, 2, 1.0))                                            \
    X(normalize_all_alike, YS_F32, 2, 3, 4, 5, net_normalize(n, 1, 0.5))                                               \
    X(normalize_bytes, YS_U8, 2, 3, 4, 5, net_normalize(n, 3, 1.0 / 255))                                              \
    X(normalize_before_conv, YS_F32, 2, 3, 5, 6, (net_normalize(n, 3, 1.0), net_conv(n, 16, SQUARE(3, 1, 1), 1)))      \
    X(normalize_bytes_before_conv, YS_U8, 2, 3, 5, 6,                                                                  \
      (net_normalize(n, 3, 1.0 / 255), net_conv(n, 16, SQUARE(3, 1, 1), 1)))                                           \
    X(normalize_within, YS_F32, 2, 3, 4, 4, (net_branch(n, 3), net_normalize(n, 3, 0.5)))                              \
    X(batchnorm_image, YS_F32, 3, 4, 5, 3, net_batchnorm(n, 1e-5, 0.1))                                                \
    X(batchnorm_16_channels, YS_F32, 2, 16, 4, 4, net_batchnorm(n, 1e-3, 0.1))                                         \
    X(batchnorm_batch_1, YS_F32, 1, 3, 4, 5, net_batchnorm(n, 1e-5, 0.1))                                              \
    X(batchnorm_one_channel, YS_F32, 4, 1, 3, 3, net_batchnorm(n, 1e-5, 0.1))                                          \
    X(batchnorm_one_pixel, YS_F32, 8, 3, 1, 1, net_batchnorm(n, 1e-5, 0.1))                                            \
    X(batchnorm_features, YS_F32, 8, 7, 1, 1, (net_flatten(n), net_batchnorm(n, 1e-5, 0.1)))                           \
    X(batchnorm_behind_conv, YS_F32, 3, 3, 4, 4, (net_conv(n, 5, SQUARE(3, 1, 1), 0), net_batchnorm(n, 1e-5, 0.1)))    \
    X(batchnorm_and_the_pixels, YS_F32, 3, 4, 5, 3,                                                                    \
      (net_branch(n, 4), net_batchnorm(n, 1e-5, 0.1), net_with(n, YS_OP_ADD, 0)))                                      \
    X(layernorm_of_rows, YS_F32, 2, 3, 4, 5, net_layernorm(n, 1e-5, true))                                             \
    X(layernorm_large_epsilon, YS_F32, 2, 3, 4, 5, net_layernorm(n, 0.25, true))                                       \
    X(layernorm_without_bias, YS_F32, 3, 2, 3, 17, net_layernorm(n, 1e-6, false))                                      \
    X(layernorm_features, YS_F32, 4, 37, 1, 1, (net_flatten(n), net_layernorm(n, 1e-5, true)))                         \
    X(layernorm_behind_conv, YS_F32, 2, 3, 4, 5, (net_branch(n, 8), net_layernorm(n, 1e-2, true)))                     \
    X(layernorm_of_channels, YS_F32, 2, 7, 3, 4,                                                                       \
      (net_transpose(n, (const int[]){0, 2, 3, 1}), net_layernorm(n, 1e-6, true),                                      \
       net_transpose(n, (const int[]){0, 3, 1, 2})))                                                                   \
    X(rmsnorm_of_rows, YS_F32, 2, 3, 4, 5, net_rmsnorm(n, 1e-5))                                                       \
    X(rmsnorm_large_epsilon, YS_F32, 2, 3, 4, 5, net_rmsnorm(n, 0.25))                                                 \
    X(rmsnorm_features, YS_F32, 4, 37, 1, 1, (net_flatten(n), net_rmsnorm(n, 1e-5)))                                   \
    X(rmsnorm_behind_conv, YS_F32, 2, 3, 4, 5, (net_branch(n, 8), net_rmsnorm(n, 1e-2)))                               \
    X(rotary_halves, YS_F32, 2, 3, 4, 5, net_places(n, 5, 12, ROTARY(3, 10000, false)))                                \
    X(rotary_interleaved, YS_F32, 2, 3, 4, 5, net_places(n, 5, 12, ROTARY(2, 100, true)))                              \
    X(rotary_one_pair, YS_F32, 3, 3, 4, 1, net_places(n, 6, 2, ROTARY(1, 10000, false)))                               \
    X(rotary_behind_conv, YS_F32, 2, 3, 4, 4, (net_branch(n, 5), net_places(n, 4, 20, ROTARY(1, 1000, false))))        \
    X(sinusoid_positions, YS_F32, 2, 3, 4, 5, net_places(n, 5, 12, ROTARY(0, 10000, false)))                           \
    X(sinusoid_other_base, YS_F32, 3, 3, 4, 3, net_places(n, 6, 6, ROTARY(0, 100, false)))                             \
    X(sinusoid_behind_conv, YS_F32, 2, 3, 4, 4, (net_branch(n, 5), net_places(n, 4, 20, ROTARY(0, 1000, false))))      \
    X(lrn_of_5, YS_F32, 2, 8, 3, 4, net_lrn(n, LRN(5, 1e-1, 0.75, 1)))                                                 \
    X(lrn_even_size, YS_F32, 2, 7, 3, 3, net_lrn(n, LRN(4, 5e-1, 0.75, 2)))                                            \
    X(lrn_of_1, YS_F32, 1, 3, 2, 3, net_lrn(n, LRN(1, 1, 0.5, 1)))                                                     \
    X(lrn_beyond_channels, YS_F32, 2, 3, 3, 3, net_lrn(n, LRN(9, 1, 1, 1.5)))                                          \
    X(lrn_16_channels, YS_F32, 2, 16, 2, 2, net_lrn(n, LRN(3, 5e-2, 0.75, 1)))                                         \
    X(lrn_behind_conv, YS_F32, 2, 3, 4, 4, (net_branch(n, 32), net_lrn(n, LRN(5, 1e-1, 0.75, 1))))                     \
    X(dropout_half, YS_F32, 3, 3, 5, 7, net_dropout(n, 0.5))                                                           \
    X(dropout_many, YS_F32, 2, 3, 30, 25, net_dropout(n, 0.5))                                                         \
    X(dropout_none, YS_F32, 2, 3, 4, 4, net_dropout(n, 0))                                                             \
    X(dropout_features, YS_F32, 5, 37, 1, 1, (net_flatten(n), net_dropout(n, 0.25)))                                   \
    X(dropout_behind_conv, YS_F32, 2, 3, 4, 5, (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_dropout(n, 0.4)))

#define POINTWISE(X)                                                                                                   \
    X(relu_odd, YS_F32, 3, 3, 5, 7, net_relu(n))                                                                       \
    X(relu_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_relu(n)))                                                   \
    X(clip_odd, YS_F32, 3, 3, 5, 7, net_clip(n, -0.25, 0.5))                                                           \
    X(clip_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_clip(n, 0, 0.75)))                                          \
    X(clip_above, YS_F32, 3, 3, 5, 7, net_clip(n, 0.25, 0.75))                                                         \
    X(clip_below, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_clip(n, -0.75, -0.25)))                                    \
    X(clip_relu6, YS_F32, 3, 3, 5, 7, net_clip(n, 0, 6))                                                               \
    X(leaky_relu_odd, YS_F32, 3, 3, 5, 7, net_leaky_relu(n, 0.01))                                                     \
    X(leaky_relu_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_leaky_relu(n, 0.3)))                                  \
    X(tanh_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_TANH))                                                          \
    X(tanh_behind_normalize, YS_F32, 2, 3, 4, 5, (net_normalize(n, 3, 0.5), net_alike(n, YS_OP_TANH)))                 \
    X(tanh_behind_conv, YS_F32, 2, 3, 4, 5, (net_conv(n, 16, SQUARE(3, 1, 1), 1), net_alike(n, YS_OP_TANH)))           \
    X(sigmoid_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_SIGMOID))                                                    \
    X(sigmoid_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_alike(n, YS_OP_SIGMOID)))                                \
    X(hardswish_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_HARDSWISH))                                                \
    X(hardswish_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_alike(n, YS_OP_HARDSWISH)))                            \
    X(hardsigmoid_odd, YS_F32, 3, 3, 5, 7, net_hardsigmoid(n, 1.0 / 6, 0.5))                                           \
    X(hardsigmoid_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_hardsigmoid(n, 0.5, 0.25)))                          \
    X(swish_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_SWISH))                                                        \
    X(swish_behind_conv, YS_F32, 2, 3, 4, 5, (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_alike(n, YS_OP_SWISH)))         \
    X(gelu_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_GELU))                                                          \
    X(gelu_behind_conv, YS_F32, 2, 3, 4, 5, (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_alike(n, YS_OP_GELU)))           \
    X(gelu_tanh, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_GELU)->by_tanh = true)                                         \
    X(gelu_tanh_behind_conv, YS_F32, 2, 3, 4, 5,                                                                       \
      (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_alike(n, YS_OP_GELU)->by_tanh = true))                                 \
    X(sqrt_odd, YS_F32, 3, 3, 5, 7, (net_alike(n, YS_OP_SIGMOID), net_alike(n, YS_OP_SQRT)))                           \
    X(sqrt_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_alike(n, YS_OP_SIGMOID), net_alike(n, YS_OP_SQRT)))         \
    X(pow_square, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_POW)->exponent = 2)                                           \
    X(pow_cube, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_alike(n, YS_OP_POW)->exponent = 3))                          \
    X(pow_fraction, YS_F32, 2, 3, 4, 5, (net_alike(n, YS_OP_SIGMOID), net_alike(n, YS_OP_POW)->exponent = 1.7))        \
    X(pow_negative, YS_F32, 2, 3, 4, 5, (net_alike(n, YS_OP_SIGMOID), net_alike(n, YS_OP_POW)->exponent = -0.5))       \
    X(exp_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_EXP))                                                            \
    X(exp_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_alike(n, YS_OP_EXP)))                                        \
    X(elu_odd, YS_F32, 3, 3, 5, 7, net_curve(n, YS_OP_ELU, 0.5, 1))                                                    \
    X(elu_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_curve(n, YS_OP_ELU, 1.5, 1)))                                \
    X(selu_odd, YS_F32, 3, 3, 5, 7, net_curve(n, YS_OP_SELU, 1.67, 1.05))                                              \
    X(selu_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_curve(n, YS_OP_SELU, 0.5, 2)))                              \
    X(celu_odd, YS_F32, 3, 3, 5, 7, net_curve(n, YS_OP_CELU, 0.5, 1))                                                  \
    X(celu_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_curve(n, YS_OP_CELU, 3, 1)))                                \
    X(celu_behind_conv, YS_F32, 2, 3, 4, 5, (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_curve(n, YS_OP_CELU, 1, 1)))     \
    X(softplus_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_SOFTPLUS))                                                  \
    X(softplus_behind_conv, YS_F32, 2, 3, 4, 5, (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_alike(n, YS_OP_SOFTPLUS)))   \
    X(softsign_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_SOFTSIGN))                                                  \
    X(softsign_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_alike(n, YS_OP_SOFTSIGN)))                              \
    X(mish_odd, YS_F32, 3, 3, 5, 7, net_alike(n, YS_OP_MISH))                                                          \
    X(mish_behind_conv, YS_F32, 2, 3, 4, 5, (net_conv(n, 17, SQUARE(3, 1, 1), 1), net_alike(n, YS_OP_MISH)))           \
    X(softmax_flat, YS_F32, 3, 11, 1, 1, (net_flatten(n), net_softmax(n, YS_OP_SOFTMAX, 1)))                           \
    X(softmax_channels, YS_F32, 2, 5, 3, 4, net_softmax(n, YS_OP_SOFTMAX, 1))                                          \
    X(softmax_last_axis, YS_F32, 2, 2, 3, 7, net_softmax(n, YS_OP_SOFTMAX, 3))                                         \
    X(log_softmax_flat, YS_F32, 3, 11, 1, 1, (net_flatten(n), net_softmax(n, YS_OP_LOG_SOFTMAX, 1)))                   \
    X(log_softmax_channels, YS_F32, 2, 5, 3, 4, net_softmax(n, YS_OP_LOG_SOFTMAX, 1))                                  \
    X(log_softmax_last_axis, YS_F32, 2, 2, 3, 7, net_softmax(n, YS_OP_LOG_SOFTMAX, 3))                                 \
    X(add_three, YS_F32, 2, 3, 4, 5, net_combine(n, YS_OP_ADD))                                                        \
    X(add_16_channels, YS_F32, 1, 16, 4, 4, net_combine(n, YS_OP_ADD))                                                 \
    X(add_to_itself, YS_F32, 2, 3, 4, 5, net_twice(n, YS_OP_ADD))                                                      \
    X(mul_three, YS_F32, 2, 3, 4, 5, net_combine(n, YS_OP_MUL))                                                        \
    X(mul_16_channels, YS_F32, 1, 16, 4, 4, net_combine(n, YS_OP_MUL))                                                 \
    X(mul_with_itself, YS_F32, 2, 3, 4, 5, net_twice(n, YS_OP_MUL))                                                    \
    X(add_stretched, YS_F32, 2, 3, 4, 5, net_stretch(n, YS_OP_ADD, false))                                             \
    X(add_stretched_first, YS_F32, 3, 3, 4, 5, net_stretch(n, YS_OP_ADD, true))                                        \
    X(sub_three, YS_F32, 2, 3, 4, 5, net_combine(n, YS_OP_SUB))                                                        \
    X(sub_16_channels, YS_F32, 1, 16, 4, 4, net_combine(n, YS_OP_SUB))                                                 \
    X(sub_one_number, YS_F32, 1, 1, 1, 1, (net_combine(n, YS_OP_SUB), net_flatten(n), net_gemm(n, 3, 1)))              \
    X(sub_stretched, YS_F32, 2, 3, 4, 5, net_stretch(n, YS_OP_SUB, false))                                             \
    X(sub_stretched_first, YS_F32, 3, 3, 4, 5, net_stretch(n, YS_OP_SUB, true))                                        \
    X(mul_stretched, YS_F32, 2, 3, 4, 5, net_stretch(n, YS_OP_MUL, false))                                             \
    X(mul_stretched_first, YS_F32, 3, 3, 4, 5, net_stretch(n, YS_OP_MUL, true))                                        \
    X(mul_each_along_another_axis, YS_F32, 2, 3, 4, 5, net_cross(n, YS_OP_MUL))                                        \
    X(mul_stretched_along_rows, YS_F32, 2, 3, 4, 5, net_repeat_along_rows(n, YS_OP_MUL))                               \
    X(div_two, YS_F32, 2, 3, 4, 5, net_divide(n))                                                                      \
    X(div_stretched, YS_F32, 2, 3, 4, 5, net_stretch(n, YS_OP_DIV, false))                                             \
    X(div_stretched_first, YS_F32, 3, 3, 4, 5, net_stretch(n, YS_OP_DIV, true))                                        \
    X(div_each_along_another_axis, YS_F32, 1, 3, 4, 5, net_cross(n, YS_OP_DIV))                                        \
    X(add_param_row, YS_F32, 2, 3, 4, 5, net_with_param(n, YS_OP_ADD, 3, 4, 5))                                        \
    X(add_param_channels, YS_F32, 2, 16, 4, 5, net_with_param(n, YS_OP_ADD, 16, 1, 1))                                 \
    X(sub_param_last_axis, YS_F32, 3, 3, 4, 5, net_with_param(n, YS_OP_SUB, 0, 0, 5))                                  \
    X(sub_param_columns, YS_F32, 2, 2, 4, 5, net_with_param(n, YS_OP_SUB, 0, 4, 1))                                    \
    X(mul_param_channels, YS_F32, 2, 17, 4, 5, net_with_param(n, YS_OP_MUL, 17, 1, 1))                                 \
    X(mul_param_one_number, YS_F32, 2, 3, 4, 5, net_with_param(n, YS_OP_MUL, 0, 0, 1))                                 \
    X(mul_param_long_runs, YS_F32, 1, 2, 17, 31, net_with_param(n, YS_OP_MUL, 2, 1, 1))                                \
    X(mul_param_features, YS_F32, 3, 37, 1, 1, (net_flatten(n), net_operand(n, YS_OP_MUL, 1, (const int64_t[]){37})))  \
    X(mul_param_stretches, YS_F32, 2, 3, 4, 5, net_stretch_to_param(n, YS_OP_MUL))                                     \
    X(mul_param_twice, YS_F32, 2, 3, 4, 5, net_param_twice(n, YS_OP_MUL, YS_OP_ADD))                                   \
    X(div_param_channels, YS_F32, 2, 3, 4, 5, net_with_param(n, YS_OP_DIV, 3, 1, 1))                                   \
    X(div_param_long_runs, YS_F32, 1, 2, 17, 31, net_with_param(n, YS_OP_DIV, 2, 1, 1))                                \
    X(div_param_stretches, YS_F32, 2, 3, 4, 5, net_stretch_to_param(n, YS_OP_DIV))                                     \
    X(residual_block, YS_F32, 3, 4, 5, 5, net_residual_block(n))

#define MOVES(X)                                                                                                       \
    X(flatten_alone, YS_F32, 2, 3, 2, 3, (void)n)                                                                      \
    X(flatten_twice, YS_F32, 2, 3, 2, 3,                                                                               \
      (net_branch(n, 17), net_flatten(n), net_flatten(n), (void)net_alike(n, YS_OP_TANH)))                             \
    X(concat_channels, YS_F32, 2, 3, 4, 5, net_join(n, 1))                                                             \
    X(concat_16_channels, YS_F32, 2, 16, 3, 3, net_join(n, 1))                                                         \
    X(concat_within_blocks, YS_F32, 2, 16, 4, 4, net_join_branches(n, 20, 12))                                         \
    X(concat_behind_normalize, YS_F32, 2, 3, 4, 5,                                                                     \
      (net_normalize(n, 3, 0.5), net_concat(n, 1, 1, &(const int){n->last})))                                          \
    X(concat_rows, YS_F32, 2, 3, 4, 5, net_join(n, 2))                                                                 \
    X(concat_columns, YS_F32, 2, 2, 3, 3, net_join(n, 3))                                                              \
    X(concat_eight, YS_F32, 2, 3, 2, 3, net_join_many(n, 1, 7))                                                        \
    X(concat_ten, YS_F32, 2, 3, 2, 3, net_join_many(n, 1, 9))                                                          \
    X(concat_ten_blocked, YS_F32, 2, 5, 3, 3, (net_branch(n, 16), net_join_many(n, 1, 9)))                             \
    X(concat_ten_rows, YS_F32, 2, 5, 2, 3, (net_branch(n, 17), net_join_many(n, 2, 9)))                                \
    X(split_channels, YS_F32, 2, 7, 3, 4, net_parts(n, 1, 3, (const int64_t[]){2, 4, 1}, false))                       \
    X(split_16_channels, YS_F32, 2, 32, 3, 3, net_parts(n, 1, 2, (const int64_t[]){16, 16}, false))                    \
    X(split_within_blocks, YS_F32, 2, 16, 4, 4,                                                                        \
      (net_branch(n, 32), net_parts(n, 1, 2, (const int64_t[]){20, 12}, false)))                                       \
    X(split_rows, YS_F32, 2, 2, 5, 4, net_parts(n, 2, 2, (const int64_t[]){2, 3}, false))                              \
    X(split_behind_conv, YS_F32, 2, 3, 3, 4,                                                                           \
      (net_branch(n, 8), net_parts(n, 1, 4, (const int64_t[]){1, 2, 3, 2}, false)))                                    \
    X(split_with_an_unread_part, YS_F32, 2, 3, 3, 4,                                                                   \
      (net_branch(n, 6), net_parts(n, 1, 3, (const int64_t[]){2, 2, 2}, true)))                                        \
    X(reshape_channels, YS_F32, 2, 4, 3, 5, net_reshape(n, 4, (const int64_t[]){2, 6, 5}))                             \
    X(reshape_behind_conv, YS_F32, 2, 3, 4, 4,                                                                         \
      (net_branch(n, 16), net_reshape(n, 3, (const int64_t[]){32, 8}), net_alike(n, YS_OP_TANH)))                      \
    X(reshape_to_logits, YS_F32, 2, 3, 2, 2, (net_branch(n, 5), net_reshape(n, 2, (const int64_t[]){20})))             \
    X(reshape_before_gemm, YS_F32, 2, 3, 2, 2,                                                                         \
      (net_branch(n, 5), net_reshape(n, 2, (const int64_t[]){20}), net_gemm(n, 3, 1)))                                 \
    X(transpose_to_channels_last, YS_F32, 2, 3, 4, 5, net_transpose(n, (const int[]){0, 2, 3, 1}))                     \
    X(transpose_to_channels_first, YS_F32, 2, 3, 4, 5, net_transpose(n, (const int[]){0, 3, 1, 2}))                    \
    X(transpose_behind_conv, YS_F32, 2, 3, 3, 4, (net_branch(n, 17), net_transpose(n, (const int[]){0, 1, 3, 2})))     \
    X(transpose_shuffled_channels, YS_F32, 2, 6, 2, 3,                                                                 \
      (net_reshape(n, 5, (const int64_t[]){2, 3, 2, 3}), net_transpose(n, (const int[]){0, 2, 1, 3, 4})))              \
    X(mean_over_image, YS_F32, 2, 5, 3, 4, net_mean(n, 0xc))                                                           \
    X(mean_over_channels, YS_F32, 2, 5, 3, 4, net_mean(n, 0x2))                                                        \
    X(mean_over_rows, YS_F32, 2, 3, 4, 5, net_mean(n, 0x4))                                                            \
    X(mean_keeping_axes, YS_F32, 2, 3, 4, 5, net_mean_kept(n, 0x8))                                                    \
    X(mean_behind_conv, YS_F32, 2, 3, 4, 4, (net_branch(n, 16), net_mean(n, 0xc)))                                     \
    X(pad_zeros, YS_F32, 2, 3, 4, 5, net_pad(n, YS_PAD_CONSTANT, 0, (const int64_t[]){0, 1, 2, 0, 3, 0}))              \
    X(pad_value, YS_F32, 2, 2, 3, 4, net_pad(n, YS_PAD_CONSTANT, -1.5, (const int64_t[]){1, 0, 1, 2, 1, 0}))           \
    X(pad_reflect, YS_F32, 2, 3, 4, 5, net_pad(n, YS_PAD_REFLECT, 0, (const int64_t[]){2, 1, 3, 1, 3, 4}))             \
    X(pad_edge, YS_F32, 2, 3, 2, 3, net_pad(n, YS_PAD_EDGE, 0, (const int64_t[]){1, 3, 2, 0, 1, 4}))                   \
    X(pad_behind_conv, YS_F32, 2, 3, 4, 4,                                                                             \
      (net_branch(n, 17), net_pad(n, YS_PAD_REFLECT, 0, (const int64_t[]){0, 1, 1, 0, 1, 1})))                         \
    X(pad_nothing, YS_F32, 2, 3, 2, 2, net_pad(n, YS_PAD_EDGE, 0, (const int64_t[]){0, 0, 0, 0, 0, 0}))                \
    X(reads_of_one_value, YS_F32, 2, 3, 4, 3, net_read_often(n))

#define LOSSES(X)                                                                                                      \
    X(loss_label_smoothing, YS_F32, 3, 7, 1, 1, net_loss(n, YS_LOSS_SOFTMAX_CROSS_ENTROPY, 0.1))                       \
    X(loss_label_smoothing_behind_conv, YS_F32, 2, 3, 3, 3,                                                            \
      (net_branch(n, 4), net_loss(n, YS_LOSS_SOFTMAX_CROSS_ENTROPY, 0.3)))                                             \
    X(loss_nll, YS_F32, 3, 7, 1, 1, net_loss(n, YS_LOSS_NLL, 0))                                                       \
    X(loss_nll_behind_conv, YS_F32, 2, 3, 3, 3, (net_branch(n, 4), net_loss(n, YS_LOSS_NLL, 0)))                       \
    X(loss_squared_error, YS_F32, 3, 7, 1, 1, net_loss(n, YS_LOSS_MEAN_SQUARED_ERROR, 0))                              \
    X(loss_squared_error_behind_conv, YS_F32, 2, 3, 3, 3,                                                              \
      (net_branch(n, 4), net_loss(n, YS_LOSS_MEAN_SQUARED_ERROR, 0)))

/** Pixels at the kinks of an operator, and nothing behind it but the loss; how many there are. */
__attribute__((unused)) static size_t kinks_net(struct net *n, enum ys_op op, double at[YS_OP_MAX_KINKS])
{
    struct ys_node attributes = {.op = op};
    if (op == YS_OP_CLIP) {
        attributes.low = -1;
        attributes.high = 2;
    } else if (op == YS_OP_LEAKY_RELU || op == YS_OP_HARDSIGMOID || op == YS_OP_ELU || op == YS_OP_SELU) {
        attributes.slope = attributes.shift = attributes.gamma = 0.5;
    }
    size_t count = ys_op_rule(op)->kinks(&attributes, at);
    net_input(n, YS_F32, 1, (int64_t)count, 1, 1);
    net_flatten(n);
    ys_node_set_attrs(net_alike(n, op), &attributes);
    n->graph.loss = YS_LOSS_NLL;
    return count;
}

static void net_finish(struct net *n)
{
    if (n->values[n->graph.output].rank > 2)
        net_flatten(n);
}

#define CASES(X) CONVOLUTIONS(X) POOLS(X) NORMALISATIONS(X) POINTWISE(X) MOVES(X) LOSSES(X)

#define CASE_NET(name, dtype, batch, c, h, w, ...)                                                                     \
    __attribute__((unused)) static void name##_net(struct net *n)                                                      \
    {                                                                                                                  \
        net_input(n, dtype, batch, c, h, w);                                                                           \
        __VA_ARGS__;                                                                                                   \
        net_finish(n);                                                                                                 \
    }
CASES(CASE_NET)

#endif
