/* Networks that weigh their channels: MobileNet v3, EfficientNet. Drawn as torchvision does. */
#include "graph/models/model_list.h"
#include <math.h>
#include <stdio.h>

/** A block: a wide 1x1 convolution unless `wide` is the input's channels, a depthwise one, weights of the channels if
 * `squeezed` is not 0, a narrow 1x1 convolution without activation. */
struct mobile_block {
    int64_t kernel, wide, channels, stride;
    int64_t squeezed;            /* channels between the two layers that make the weights */
    enum ys_op act, inner, gate; /* of the block; between those layers and behind them */
    double epsilon, momentum;    /* of batch normalisation */
};

static int conv_bn(struct ys_build *b, int v, int64_t channels, int64_t kernel, int64_t stride, int64_t group,
                   const struct mobile_block *block, const char *prefix, const char *suffix)
{
    char conv[48], bn[48];
    snprintf(conv, sizeof conv, "%sconv%s", prefix, suffix);
    snprintf(bn, sizeof bn, "%sbn%s", prefix, suffix);
    v = ys_build_conv_plain(b, v, channels, kernel, stride, kernel / 2, group, conv);
    return ys_build_batchnorm_of(b, v, (struct ys_batchnorm){block->epsilon, block->momentum}, bn);
}

static int gate(struct ys_build *b, int v, enum ys_op op, const char *prefix)
{
    char name[48];
    const struct ys_node as = {.op = op, .slope = 1.0 / 6, .shift = 0.5};
    snprintf(name, sizeof name, "%sgate", prefix);
    return ys_build_node(b, &as, &v, 1, name);
}

/** Hu, Shen, Sun, "Squeeze-and-excitation networks", CVPR 2018. */
static int weigh(struct ys_build *b, int in, const struct mobile_block *block, const char *prefix)
{
    char first[48], second[48], name[48];
    snprintf(first, sizeof first, "%ssqueeze", prefix);
    snprintf(second, sizeof second, "%sexcite", prefix);
    snprintf(name, sizeof name, "%sweigh", prefix);
    int v = ys_model_plain(b, YS_OP_GLOBAL_AVERAGEPOOL, in, prefix, "pool");
    v = ys_build_conv(b, v, block->squeezed, 1, 1, 0, first);
    v = ys_model_plain(b, block->inner, v, prefix, "act_squeeze");
    v = gate(b, ys_build_conv(b, v, block->wide, 1, 1, 0, second), block->gate, prefix);
    return ys_build_mul(b, in, v, name);
}

static int add_block(struct ys_build *b, int in, const struct mobile_block *block, const char *prefix)
{
    char add[48];
    int64_t in_channels = ys_build_shape(b, in)[1];
    int v = in;
    snprintf(add, sizeof add, "%sadd", prefix);
    if (block->wide != in_channels) {
        v = conv_bn(b, v, block->wide, 1, 1, 1, block, prefix, "_expand");
        v = ys_model_plain(b, block->act, v, prefix, "act_expand");
    }
    v = conv_bn(b, v, block->wide, block->kernel, block->stride, block->wide, block, prefix, "_depthwise");
    v = ys_model_plain(b, block->act, v, prefix, "act_depthwise");
    if (block->squeezed)
        v = weigh(b, v, block, prefix);
    v = conv_bn(b, v, block->channels, 1, 1, 1, block, prefix, "_project");
    return block->stride == 1 && in_channels == block->channels ? ys_build_add(b, in, v, add) : v;
}

/** Howard et al., "Searching for MobileNetV3", ICCV 2019, table 1 (large). */
ys_status ys_model_mobilenet_v3(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const struct {
        int64_t kernel, wide, channels, stride;
        bool weighs, hard;
    } table[] = {{3, 16, 16, 1, 0, 0},   {3, 64, 24, 2, 0, 0},   {3, 72, 24, 1, 0, 0},   {5, 72, 40, 2, 1, 0},
                 {5, 120, 40, 1, 1, 0},  {5, 120, 40, 1, 1, 0},  {3, 240, 80, 2, 0, 1},  {3, 200, 80, 1, 0, 1},
                 {3, 184, 80, 1, 0, 1},  {3, 184, 80, 1, 0, 1},  {3, 480, 112, 1, 1, 1}, {3, 672, 112, 1, 1, 1},
                 {5, 672, 160, 2, 1, 1}, {5, 960, 160, 1, 1, 1}, {5, 960, 160, 1, 1, 1}};
    const double width = ys_model_size(ys_model_keys_mobilenet, input, YS_MODEL_WIDTH);
    struct mobile_block block = {.inner = YS_OP_RELU, .gate = YS_OP_HARDSIGMOID, .epsilon = 1e-3, .momentum = 0.01};
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("mobilenet-v3", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_build_draw(b, YS_DRAW_NORMAL_FAN_OUT(2), YS_DRAW_CONSTANT(0));
    v = ys_build_plain(b, YS_OP_HARDSWISH,
                       conv_bn(b, v, ys_model_round_to_8(16 * width), 3, 2, 1, &block, "", "_first"), "act_first");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "block%zu.", i + 1);
        block.kernel = table[i].kernel;
        block.wide = ys_model_round_to_8((double)table[i].wide * width);
        block.channels = ys_model_round_to_8((double)table[i].channels * width);
        block.stride = table[i].stride;
        block.squeezed = table[i].weighs ? ys_model_round_to_8((double)(block.wide / 4)) : 0;
        block.act = table[i].hard ? YS_OP_HARDSWISH : YS_OP_RELU;
        v = add_block(b, v, &block, prefix);
    }
    v = ys_build_plain(b, YS_OP_HARDSWISH, conv_bn(b, v, 6 * block.channels, 1, 1, 1, &block, "", "_last"), "act_last");
    v = ys_model_pooled(b, v);
    ys_build_draw(b, YS_DRAW_NORMAL(0.01), YS_DRAW_CONSTANT(0));
    v = ys_build_plain(b, YS_OP_HARDSWISH, ys_build_gemm(b, v, ys_model_round_to_8(1280 * width), "fc1"), "act_fc1");
    v = ys_build_gemm(b, ys_build_dropout(b, v, 0.2, "dropout"), input->classes, "fc2");
    return ys_build_finish(b, v, graph);
}

const struct ys_model_key ys_model_keys_efficientnet[YS_MODEL_SIZE_COUNT] = {
    [YS_MODEL_WIDTH] = {"factor on the channels; B1 has 1, B2 1.1, B3 1.2", .standard = 1, .low = 0.1, .high = 4},
    [YS_MODEL_DEPTH] = {"factor on the blocks of each stage; B1 has 1.1, B2 1.2, B3 1.4", .standard = 1, .low = 0.1,
                        .high = 8}};

/** Tan, Le, "EfficientNet: rethinking model scaling for convolutional neural networks", ICML 2019, table 1. */
ys_status ys_model_efficientnet_b0(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const struct {
        int64_t expansion, kernel, stride, channels;
        int blocks;
    } stages[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                  {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
    struct mobile_block block = {
        .act = YS_OP_SWISH, .inner = YS_OP_SWISH, .gate = YS_OP_SIGMOID, .epsilon = 1e-5, .momentum = 0.1};
    const double width = ys_model_size(ys_model_keys_efficientnet, input, YS_MODEL_WIDTH);
    const double depth = ys_model_size(ys_model_keys_efficientnet, input, YS_MODEL_DEPTH);
    struct ys_build *b;
    int v, number = 1;
    YS_TRY(ys_model_begin("efficientnet-b0", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_build_draw(b, YS_DRAW_NORMAL_FAN_OUT(2), YS_DRAW_CONSTANT(0));
    v = ys_build_plain(b, YS_OP_SWISH, conv_bn(b, v, ys_model_round_to_8(32 * width), 3, 2, 1, &block, "", "_first"),
                       "act_first");
    for (size_t stage = 0; stage < sizeof stages / sizeof stages[0]; stage++)
        for (int i = 0; i < (int)ceil(stages[stage].blocks * depth); i++) {
            char prefix[32];
            int64_t channels = ys_build_shape(b, v)[1];
            snprintf(prefix, sizeof prefix, "block%d.", number++);
            block.kernel = stages[stage].kernel;
            block.wide = ys_model_round_to_8((double)(stages[stage].expansion * channels));
            block.channels = ys_model_round_to_8((double)stages[stage].channels * width);
            block.stride = i ? 1 : stages[stage].stride;
            block.squeezed = channels / 4;
            v = add_block(b, v, &block, prefix);
        }
    v = ys_build_plain(b, YS_OP_SWISH, conv_bn(b, v, 4 * block.channels, 1, 1, 1, &block, "", "_last"), "act_last");
    v = ys_build_dropout(b, ys_model_pooled(b, v), 0.2, "dropout");
    ys_build_draw(b, YS_DRAW_UNIFORM(sqrt(1.0 / (double)input->classes)), YS_DRAW_CONSTANT(0));
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc"), graph);
}
