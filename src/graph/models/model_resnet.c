/* Networks with shortcuts: ResNet and MobileNet v2, drawn as torchvision does. */
#include "graph/models/model_list.h"
#include <stdio.h>

static int conv_bn(struct ys_build *b, int v, int64_t channels, int64_t kernel, int64_t stride, const char *prefix,
                   const char *suffix)
{
    return ys_model_conv_bn(b, v, channels, kernel, stride, 1, prefix, suffix);
}

static int conv_bn_relu(struct ys_build *b, int v, int64_t channels, int64_t kernel, int64_t stride, const char *prefix,
                        const char *suffix)
{
    char relu[48];
    snprintf(relu, sizeof relu, "%srelu%s", prefix, suffix);
    return ys_build_relu(b, conv_bn(b, v, channels, kernel, stride, prefix, suffix), relu);
}

/** `shortcut` goes through a 1x1 convolution where its shape is not that of `v`. */
static int add_shortcut(struct ys_build *b, int v, int shortcut, int64_t stride, const char *prefix)
{
    char add[48], relu[48];
    snprintf(add, sizeof add, "%sadd", prefix);
    snprintf(relu, sizeof relu, "%srelu", prefix);
    int64_t channels = ys_build_shape(b, v)[1];
    if (stride != 1 || ys_build_shape(b, shortcut)[1] != channels)
        shortcut = conv_bn(b, shortcut, channels, 1, stride, prefix, "_projection");
    return ys_build_relu(b, ys_build_add(b, v, shortcut, add), relu);
}

static int basic_block(struct ys_build *b, int in, int64_t channels, int64_t stride, const char *prefix)
{
    int v = conv_bn_relu(b, in, channels, 3, stride, prefix, "1");
    return add_shortcut(b, conv_bn(b, v, channels, 3, 1, prefix, "2"), in, stride, prefix);
}

static int bottleneck(struct ys_build *b, int in, int64_t channels, int64_t stride, bool stride_first,
                      const char *prefix)
{
    int v = conv_bn_relu(b, in, channels, 1, stride_first ? stride : 1, prefix, "1");
    v = conv_bn_relu(b, v, channels, 3, stride_first ? 1 : stride, prefix, "2");
    return add_shortcut(b, conv_bn(b, v, 4 * channels, 1, 1, prefix, "3"), in, stride, prefix);
}

static ys_status finish_resnet(struct ys_build *b, int v, int64_t classes, struct ys_graph **graph)
{
    v = ys_model_pooled(b, v);
    ys_model_draw_as_torch(b);
    return ys_build_finish(b, ys_build_gemm(b, v, classes, "fc"), graph);
}

/** He, Zhang, Ren, Sun, "Deep residual learning for image recognition", CVPR 2016, section 4.2: three stages of
 * `blocks` blocks; shortcuts of another shape are 1x1 convolutions with batch normalisation (option B). */
static ys_status build_cifar_resnet(const char *name, int blocks, const struct ys_model_input *input,
                                    struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin(name, input, YS_PIXELS_CIFAR, &b, &v));
    ys_build_draw(b, YS_DRAW_NORMAL_FAN_OUT(2), YS_DRAW_CONSTANT(0));
    v = conv_bn_relu(b, v, 16, 3, 1, "", "1");
    for (int stage = 0; stage < 3; stage++)
        for (int block = 0; block < blocks; block++) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "layer%d.%d.", stage + 1, block);
            v = basic_block(b, v, 16 << stage, stage && !block ? 2 : 1, prefix);
        }
    return finish_resnet(b, v, input->classes, graph);
}

#define CIFAR_DEPTH(published)                                                                                         \
    [YS_MODEL_DEPTH] = {"layers with weights, 6 n + 2", .standard = published, .low = 8, .high = 1202, .step = 6}
const struct ys_model_key ys_model_keys_cifar_resnet20[YS_MODEL_SIZE_COUNT] = {CIFAR_DEPTH(20)};
const struct ys_model_key ys_model_keys_cifar_resnet56[YS_MODEL_SIZE_COUNT] = {CIFAR_DEPTH(56)};

static int cifar_blocks(const struct ys_model_key *keys, const struct ys_model_input *input)
{
    return ((int)ys_model_size(keys, input, YS_MODEL_DEPTH) - 2) / 6;
}

ys_status ys_model_resnet20(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_cifar_resnet("resnet20", cifar_blocks(ys_model_keys_cifar_resnet20, input), input, graph);
}

ys_status ys_model_resnet56(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_cifar_resnet("resnet56", cifar_blocks(ys_model_keys_cifar_resnet56, input), input, graph);
}

/** How the networks of the same paper's section 4.1 begin. */
static int stem(struct ys_build *b, int v)
{
    ys_build_draw(b, YS_DRAW_NORMAL_FAN_OUT(2), YS_DRAW_CONSTANT(0));
    return ys_build_maxpool(b, conv_bn_relu(b, v, 64, 7, 2, "", "1"), 3, 2, 1, "maxpool");
}

/* Table 1 of the paper. */
const struct ys_model_key ys_model_keys_resnet18[YS_MODEL_SIZE_COUNT] = {
    [YS_MODEL_DEPTH] = {"layers with weights", .standard = 18, .allowed = {18, 34}}};
const struct ys_model_key ys_model_keys_resnet50[YS_MODEL_SIZE_COUNT] = {
    [YS_MODEL_DEPTH] = {"layers with weights", .standard = 50, .allowed = {50, 101, 152}}};

ys_status ys_model_resnet18(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const int of_18[] = {2, 2, 2, 2}, of_34[] = {3, 4, 6, 3};
    const int *blocks = ys_model_size(ys_model_keys_resnet18, input, YS_MODEL_DEPTH) == 34 ? of_34 : of_18;
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("resnet18", input, YS_PIXELS_IMAGENET, &b, &v));
    v = stem(b, v);
    for (int stage = 0; stage < 4; stage++)
        for (int block = 0; block < blocks[stage]; block++) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "layer%d.%d.", stage + 1, block);
            v = basic_block(b, v, 64 << stage, stage && !block ? 2 : 1, prefix);
        }
    return finish_resnet(b, v, input->classes, graph);
}

/** `stride_first`: as printed there, on the first 1x1 convolution of a block; else on its 3x3 convolution, which later
 * implementations call v1.5. */
static ys_status build_resnet50(const char *name, bool stride_first, const struct ys_model_input *input,
                                struct ys_graph **graph)
{
    static const int of_50[] = {3, 4, 6, 3}, of_101[] = {3, 4, 23, 3}, of_152[] = {3, 8, 36, 3};
    const double depth = ys_model_size(ys_model_keys_resnet50, input, YS_MODEL_DEPTH);
    const int *blocks = depth == 152 ? of_152 : depth == 101 ? of_101 : of_50;
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin(name, input, YS_PIXELS_IMAGENET, &b, &v));
    v = stem(b, v);
    for (int stage = 0; stage < 4; stage++)
        for (int block = 0; block < blocks[stage]; block++) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "layer%d.%d.", stage + 1, block);
            v = bottleneck(b, v, 64 << stage, stage && !block ? 2 : 1, stride_first, prefix);
        }
    return finish_resnet(b, v, input->classes, graph);
}

ys_status ys_model_resnet50(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_resnet50("resnet50", false, input, graph);
}

ys_status ys_model_resnet50_v1(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_resnet50("resnet50-v1", true, input, graph);
}

static int relu6(struct ys_build *b, int v, const char *prefix, const char *suffix)
{
    char name[48];
    snprintf(name, sizeof name, "%srelu6%s", prefix, suffix);
    return ys_build_clip(b, v, 0, 6, name);
}

/** A wide 1x1 convolution, unless `expansion` is 1, a depthwise 3x3 one, a narrow 1x1 one without activation. */
static int inverted_residual(struct ys_build *b, int in, int64_t channels, int64_t stride, int64_t expansion,
                             const char *prefix)
{
    char add[48];
    int64_t in_channels = ys_build_shape(b, in)[1], wide = expansion * in_channels;
    snprintf(add, sizeof add, "%sadd", prefix);
    int v = in;
    if (expansion != 1)
        v = relu6(b, conv_bn(b, v, wide, 1, 1, prefix, "_expand"), prefix, "_expand");
    v = ys_model_conv_bn(b, v, wide, 3, stride, wide, prefix, "_depthwise");
    v = conv_bn(b, relu6(b, v, prefix, "_depthwise"), channels, 1, 1, prefix, "_project");
    return stride == 1 && in_channels == channels ? ys_build_add(b, in, v, add) : v;
}

/* Sandler et al. have widths from 0.35 to 1.4, as torchvision rounds them. */
const struct ys_model_key ys_model_keys_mobilenet[YS_MODEL_SIZE_COUNT] = {
    [YS_MODEL_WIDTH] = {"factor on the channels", .standard = 1, .low = 0.1, .high = 4}};

/** Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", CVPR 2018, table 2; the last layer is
 * never narrower than with width 1. */
ys_status ys_model_mobilenet_v2(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const struct {
        int64_t expansion, channels, stride;
        int blocks;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 2, 3}, {6, 64, 2, 4},
                  {6, 96, 1, 3}, {6, 160, 2, 3}, {6, 320, 1, 1}};
    const double width = ys_model_size(ys_model_keys_mobilenet, input, YS_MODEL_WIDTH);
    struct ys_build *b;
    int v, number = 1;
    YS_TRY(ys_model_begin("mobilenet-v2", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_build_draw(b, YS_DRAW_NORMAL_FAN_OUT(2), YS_DRAW_CONSTANT(0));
    v = relu6(b, conv_bn(b, v, ys_model_round_to_8(32 * width), 3, 2, "", "_first"), "", "_first");
    for (size_t stage = 0; stage < sizeof stages / sizeof stages[0]; stage++)
        for (int block = 0; block < stages[stage].blocks; block++) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "block%d.", number++);
            const int64_t channels = ys_model_round_to_8((double)stages[stage].channels * width);
            v = inverted_residual(b, v, channels, block ? 1 : stages[stage].stride, stages[stage].expansion, prefix);
        }
    v = relu6(b, conv_bn(b, v, ys_model_round_to_8(1280 * (width > 1 ? width : 1)), 1, 1, "", "_last"), "", "_last");
    v = ys_model_pooled(b, v);
    ys_build_draw(b, YS_DRAW_NORMAL(0.01), YS_DRAW_CONSTANT(0));
    v = ys_build_gemm(b, ys_build_dropout(b, v, 0.2, "dropout"), input->classes, "fc");
    return ys_build_finish(b, v, graph);
}
