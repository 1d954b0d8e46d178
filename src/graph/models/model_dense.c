/* Networks that join channels: DenseNet, ShuffleNet v2. Drawn as torchvision does. */
#include "graph/models/model_list.h"
#include <stdio.h>

static int bn_relu(struct ys_build *b, int v, const char *prefix, const char *suffix)
{
    char bn[48], relu[48];
    snprintf(bn, sizeof bn, "%sbn%s", prefix, suffix);
    snprintf(relu, sizeof relu, "%srelu%s", prefix, suffix);
    return ys_build_relu(b, ys_build_batchnorm(b, v, bn), relu);
}

/** Its `growth` channels behind those that it reads. */
static int dense_layer(struct ys_build *b, int in, int64_t growth, const char *prefix)
{
    char narrow[48], wide[48], join[48];
    snprintf(narrow, sizeof narrow, "%sconv1", prefix);
    snprintf(wide, sizeof wide, "%sconv2", prefix);
    snprintf(join, sizeof join, "%sconcat", prefix);
    int v = ys_build_conv_plain(b, bn_relu(b, in, prefix, "1"), 4 * growth, 1, 1, 0, 1, narrow);
    v = ys_build_conv_plain(b, bn_relu(b, v, prefix, "2"), growth, 3, 1, 1, 1, wide);
    return ys_build_concat(b, in, v, join);
}

static int transition(struct ys_build *b, int v, const char *prefix)
{
    char conv[48], pool[48];
    const struct ys_window halves = ys_build_window(2, 2, 0);
    snprintf(conv, sizeof conv, "%sconv", prefix);
    snprintf(pool, sizeof pool, "%spool", prefix);
    v = bn_relu(b, v, prefix, "");
    v = ys_build_conv_plain(b, v, ys_build_shape(b, v)[1] / 2, 1, 1, 0, 1, conv);
    return ys_build_pool(b, YS_OP_AVERAGEPOOL, v, &halves, pool);
}

const struct ys_model_key ys_model_keys_densenet[YS_MODEL_SIZE_COUNT] = {
    [YS_MODEL_DEPTH] = {"layers with weights", .standard = 121, .allowed = {121, 169, 201}}};

/** Huang, Liu, van der Maaten, Weinberger, "Densely connected convolutional networks", CVPR 2017, table 1: 1x1
 * convolutions before the 3x3 ones, and halved channels between the blocks (DenseNet-BC). */
ys_status ys_model_densenet121(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const int of_121[] = {6, 12, 24, 16}, of_169[] = {6, 12, 32, 32}, of_201[] = {6, 12, 48, 32};
    const double depth = ys_model_size(ys_model_keys_densenet, input, YS_MODEL_DEPTH);
    const int *layers = depth == 201 ? of_201 : depth == 169 ? of_169 : of_121;
    struct ys_build *b;
    char prefix[32];
    int v;
    YS_TRY(ys_model_begin("densenet121", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_build_draw(b, (struct ys_draw){YS_INIT_NORMAL, YS_SPREAD_FAN_IN, 2}, YS_DRAW_CONSTANT(0));
    v = bn_relu(b, ys_build_conv_plain(b, v, 64, 7, 2, 3, 1, "conv0"), "", "0");
    v = ys_build_maxpool(b, v, 3, 2, 1, "maxpool");
    for (int block = 0; block < 4; block++) {
        for (int layer = 0; layer < layers[block]; layer++) {
            snprintf(prefix, sizeof prefix, "block%d.%d.", block + 1, layer + 1);
            v = dense_layer(b, v, 32, prefix);
        }
        snprintf(prefix, sizeof prefix, "transition%d.", block + 1);
        v = block < 3 ? transition(b, v, prefix) : v;
    }
    v = ys_model_pooled(b, bn_relu(b, v, "", "5"));
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(1), YS_DRAW_CONSTANT(0));
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc"), graph);
}

static int conv_bn_relu(struct ys_build *b, int v, int64_t channels, int64_t kernel, int64_t stride, const char *prefix,
                        const char *suffix)
{
    char relu[48];
    snprintf(relu, sizeof relu, "%srelu%s", prefix, suffix);
    return ys_build_relu(b, ys_model_conv_bn(b, v, channels, kernel, stride, 1, prefix, suffix), relu);
}

static int depthwise(struct ys_build *b, int v, int64_t stride, const char *prefix, const char *suffix)
{
    int64_t channels = ys_build_shape(b, v)[1];
    return ys_model_conv_bn(b, v, channels, 3, stride, channels, prefix, suffix);
}

/** The channels of two halves by turns. */
static int shuffle(struct ys_build *b, int v, const char *prefix)
{
    char apart[48], turned[48], together[48];
    const int64_t *shape = ys_build_shape(b, v);
    const struct ys_node split = {
        .op = YS_OP_RESHAPE, .shape_rank = 5, .shape = {YS_BATCH, 2, shape[1] / 2, shape[2], shape[3]}};
    const struct ys_node turn = {.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 1, 3, 4}};
    const struct ys_node join = {
        .op = YS_OP_RESHAPE, .shape_rank = 4, .shape = {YS_BATCH, shape[1], shape[2], shape[3]}};
    snprintf(apart, sizeof apart, "%sapart", prefix);
    snprintf(turned, sizeof turned, "%sturned", prefix);
    snprintf(together, sizeof together, "%stogether", prefix);
    v = ys_build_node(b, &split, &v, 1, apart);
    v = ys_build_node(b, &turn, &v, 1, turned);
    return ys_build_node(b, &join, &v, 1, together);
}

/** Half of the channels as they are, half through three convolutions; with a stride all through both ways. */
static int shuffle_unit(struct ys_build *b, int in, int64_t channels, int64_t stride, const char *prefix)
{
    char name[48];
    int kept = in, v = in;
    if (stride == 1) {
        const int64_t half = ys_build_shape(b, in)[1] / 2;
        const struct ys_node as = {.op = YS_OP_SPLIT, .axis = 1, .out_count = 2, .split = {half, half}};
        snprintf(name, sizeof name, "%ssplit", prefix);
        kept = ys_build_node(b, &as, &in, 1, name);
        v = kept < 0 ? kept : kept + 1; /* the second output is the value behind the first */
    } else {
        kept = conv_bn_relu(b, depthwise(b, in, stride, prefix, "_kept1"), channels / 2, 1, 1, prefix, "_kept2");
    }
    v = depthwise(b, conv_bn_relu(b, v, channels / 2, 1, 1, prefix, "1"), stride, prefix, "2");
    v = conv_bn_relu(b, v, channels / 2, 1, 1, prefix, "3");
    snprintf(name, sizeof name, "%sconcat", prefix);
    return shuffle(b, ys_build_concat(b, kept, v, name), prefix);
}

const struct ys_model_key ys_model_keys_shufflenet[YS_MODEL_SIZE_COUNT] = {
    [YS_MODEL_WIDTH] = {"which column of the paper's table", .standard = 1, .allowed = {0.5, 1, 1.5, 2}}};

/** Ma, Zhang, Zheng, Sun, "ShuffleNet V2: practical guidelines for efficient CNN architecture design", ECCV 2018, table
 * 5. */
ys_status ys_model_shufflenet_v2(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const int units[] = {4, 8, 4}, channels[] = {48, 116, 176, 244}; /* of the first stage, by half widths */
    const double width = ys_model_size(ys_model_keys_shufflenet, input, YS_MODEL_WIDTH);
    const int first = channels[(int)(2 * width) - 1];
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("shufflenet-v2", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_model_draw_as_torch(b);
    v = ys_build_maxpool(b, conv_bn_relu(b, v, 24, 3, 2, "", "1"), 3, 2, 1, "maxpool");
    for (int stage = 0; stage < 3; stage++)
        for (int unit = 0; unit < units[stage]; unit++) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "stage%d.%d.", stage + 2, unit);
            v = shuffle_unit(b, v, first << stage, unit ? 1 : 2, prefix);
        }
    v = ys_model_pooled(b, conv_bn_relu(b, v, width == 2 ? 2048 : 1024, 1, 1, "", "5"));
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc"), graph);
}
