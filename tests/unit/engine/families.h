/* One small network for each family of models: the operators, in the order and with the branches that the real ones
 * have. */
#ifndef YS_TESTS_ENGINE_FAMILIES_H
#define YS_TESTS_ENGINE_FAMILIES_H

#include "unit/engine/open.h"

#define ONE     ((struct ys_window){{1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1})
#define SKIPPED ((struct ys_window){{1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1})
#define STRIDED ((struct ys_window){{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1})

static void family_input(struct net *n, int64_t side)
{
    net_input(n, YS_U8, 3, 3, side, side);
    net_normalize(n, 3, 1.0 / 255);
}

static void family_head(struct net *n, int64_t classes)
{
    net_flatten(n);
    net_gemm(n, classes, 1);
}

static void family_mlp(struct net *n)
{
    family_input(n, 6);
    net_flatten(n);
    net_gemm(n, 33, 1);
    net_relu(n);
    net_gemm(n, 18, 1);
    net_relu(n);
    net_gemm(n, 5, 1);
}

static void family_lenet(struct net *n)
{
    family_input(n, 12);
    net_conv(n, 8, THREE, 1);
    net_relu(n);
    net_pool(n, HALVE);
    net_conv(n, 19, THREE, 1);
    net_relu(n);
    net_pool(n, HALVE);
    net_flatten(n);
    net_gemm(n, 32, 1);
    net_relu(n);
    net_dropout(n, 0.5);
    net_gemm(n, 5, 1);
}

/** AlexNet and the first study's CIFAR-10 networks: overlapping pools, LRN, dropout before products. */
static void family_alexnet(struct net *n)
{
    struct ys_window overlap = {{3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1}, ceiled = overlap;
    ceiled.ceil = true;
    family_input(n, 13);
    net_conv(n, 16, THREE, 1);
    net_relu(n);
    net_pool(n, ceiled);
    net_lrn(n, (struct ys_lrn){5, 1e-2, 0.75, 1});
    net_conv(n, 24, THREE, 1);
    net_relu(n);
    net_lrn(n, (struct ys_lrn){3, 5e-2, 0.75, 2});
    net_pool_of(n, YS_OP_AVERAGEPOOL, overlap);
    net_dropout(n, 0.25);
    net_flatten(n);
    net_gemm(n, 20, 1);
    net_relu(n);
    net_dropout(n, 0.5);
    net_gemm(n, 6, 1);
}

/** With channels and places enough for minimal filtering (backend/onednn/onednn_v2.c) in the second convolution. */
static void family_vgg(struct net *n)
{
    family_input(n, 14);
    for (int stage = 1; stage <= 2; stage++) {
        net_conv(n, 32, THREE, 1);
        net_relu(n);
        net_conv(n, 32, THREE, 1);
        net_relu(n);
        net_pool(n, HALVE);
    }
    net_flatten(n);
    net_gemm(n, 24, 1);
    net_relu(n);
    net_dropout(n, 0.5);
    net_gemm(n, 4, 1);
}

static void family_conv_norm(struct net *n, int64_t channels, struct ys_window w)
{
    net_conv(n, channels, w, 0);
    net_batchnorm(n, 1e-5, 0.1);
}

static void family_block(struct net *n, enum ys_op activation, int64_t channels, bool projects)
{
    int shortcut = n->last;
    family_conv_norm(n, channels, projects ? STRIDED : THREE);
    net_alike(n, activation);
    family_conv_norm(n, channels, THREE);
    int body = n->last;
    if (projects) {
        net_from(n, shortcut);
        family_conv_norm(n, channels, SKIPPED);
        shortcut = n->last;
    }
    net_from(n, body);
    net_with(n, YS_OP_ADD, shortcut);
    net_alike(n, activation);
}

static void family_residual(struct net *n, enum ys_op activation, int64_t channels)
{
    family_input(n, 8);
    family_conv_norm(n, channels, THREE);
    net_alike(n, activation);
    family_block(n, activation, channels, false);
    family_block(n, activation, channels, false);
    family_block(n, activation, 2 * channels, true);
    net_global_pool(n, YS_OP_GLOBAL_AVERAGEPOOL);
    family_head(n, 5);
}

static void family_resnet(struct net *n)
{
    family_residual(n, YS_OP_RELU, 16);
}

/** Inverted residuals: widened, depthwise, narrowed without activation, and summed with what came in. */
static void family_mobilenet(struct net *n)
{
    struct ys_window depthwise = THREE;
    depthwise.group = 32;
    family_input(n, 8);
    family_conv_norm(n, 16, STRIDED);
    net_clip(n, 0, 6);
    for (int block = 0; block < 2; block++) {
        int shortcut = n->last;
        family_conv_norm(n, 32, ONE);
        net_clip(n, 0, 6);
        family_conv_norm(n, 32, depthwise);
        net_clip(n, 0, 6);
        family_conv_norm(n, 16, ONE);
        net_with(n, YS_OP_ADD, shortcut);
    }
    net_global_pool(n, YS_OP_GLOBAL_AVERAGEPOOL);
    net_dropout(n, 0.2);
    family_head(n, 5);
}

static void family_squeezenet(struct net *n)
{
    struct ys_window overlap = {{3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1};
    overlap.ceil = true;
    family_input(n, 12);
    net_conv(n, 16, STRIDED, 1);
    net_relu(n);
    net_pool(n, overlap);
    for (int fire = 0; fire < 2; fire++) {
        net_conv(n, 8, ONE, 1);
        net_relu(n);
        int squeezed = n->last;
        net_conv(n, 12, ONE, 1);
        net_relu(n);
        int narrow = n->last;
        net_from(n, squeezed);
        net_conv(n, 12, THREE, 1);
        net_relu(n);
        int wide = n->last;
        net_from(n, narrow);
        net_concat(n, 1, 1, &wide);
    }
    net_dropout(n, 0.5);
    net_conv(n, 5, ONE, 1);
    net_relu(n);
    net_global_pool(n, YS_OP_GLOBAL_AVERAGEPOOL);
    net_flatten(n);
}

/** Torch's and Theano's tutorials: tanh, partly connected convolution, log-softmax with NLL. */
static void family_torch(struct net *n)
{
    static unsigned char connected[12 * 8];
    for (int i = 0; i < 12 * 8; i++)
        connected[i] = (i / 8 + i % 8) % 3 != 0;
    family_input(n, 10);
    net_conv(n, 8, THREE, 1);
    net_alike(n, YS_OP_TANH);
    net_pool(n, HALVE);
    net_conv(n, 12, THREE, 1);
    n->nodes[n->graph.node_count - 1].connected = connected;
    net_alike(n, YS_OP_TANH);
    net_pool(n, HALVE);
    net_flatten(n);
    net_gemm(n, 15, 1);
    net_alike(n, YS_OP_TANH);
    net_gemm(n, 5, 1);
    net_softmax(n, YS_OP_LOG_SOFTMAX, 1);
    n->graph.loss = YS_LOSS_NLL;
}

/** What no other family has, with values that are read up to three times, once twice by one node. */
static void family_tangle(struct net *n)
{
    net_input(n, YS_F32, 3, 4, 6, 5);
    net_conv(n, 4, THREE, 1);
    net_alike(n, YS_OP_TANH);
    int first = n->last, parts[3];
    net_conv(n, 4, THREE, 1);
    net_alike(n, YS_OP_SIGMOID);
    int second = n->last;
    net_with(n, YS_OP_ADD, first);
    int sum = n->last;
    net_with(n, YS_OP_ADD, first);
    net_with(n, YS_OP_MUL, sum);
    net_with(n, YS_OP_ADD, n->last);
    net_split(n, 1, 3, (int64_t[]){1, 2, 1}, parts);
    net_concat(n, 1, 3, (int[]){parts[0], parts[1], second});
    net_transpose(n, (int[]){0, 1, 3, 2});
    net_alike(n, YS_OP_LEAKY_RELU)->slope = 0.125;
    net_reshape(n, 3, (int64_t[]){8, 30});
    net_softmax(n, YS_OP_SOFTMAX, 1);
    net_mean(n, 1U << 2);
    int mean = n->last;
    net_gemm(n, 8, 0);
    net_with(n, YS_OP_MUL, mean);
    net_gemm(n, 4, 1);
    n->graph.loss = YS_LOSS_MEAN_SQUARED_ERROR;
}

struct family {
    const char *name;
    void (*build)(struct net *n);
};

static const struct family families[] = {
    {"mlp", family_mlp},
    {"lenet", family_lenet},
    {"alexnet", family_alexnet},
    {"vgg", family_vgg},
    {"resnet", family_resnet},
    {"mobilenet", family_mobilenet},
    {"squeezenet", family_squeezenet},
    {"torch", family_torch},
    {"tangle", family_tangle},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

#endif
