/* ConvNeXt, drawn as torchvision does. */
#include "graph/models/model_list.h"
#include <stdio.h>

static int turn(struct ys_build *b, int v, bool to_last, const char *name)
{
    const struct ys_node last = {.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 3, 1}};
    const struct ys_node first = {.op = YS_OP_TRANSPOSE, .permutation = {0, 3, 1, 2}};
    return ys_build_node(b, to_last ? &last : &first, &v, 1, name);
}

/** Layer normalisation over the channels of images: `prefix`norm, and before and behind it the channels moved. */
static int norm(struct ys_build *b, int v, const char *prefix)
{
    char name[48];
    snprintf(name, sizeof name, "%sto_last", prefix);
    v = turn(b, v, true, name);
    snprintf(name, sizeof name, "%snorm", prefix);
    v = ys_build_layernorm(b, v, 1e-6, name);
    snprintf(name, sizeof name, "%sto_first", prefix);
    return turn(b, v, false, name);
}

/** Without padding, stride and kernel alike. */
static int patches(struct ys_build *b, int v, int64_t channels, int64_t extent, const char *name)
{
    return ys_build_conv(b, v, channels, extent, extent, 0, name);
}

/** A depthwise 7x7 convolution, two dense layers of each pixel, and a factor for each channel. */
static int block(struct ys_build *b, int in, const char *prefix)
{
    char name[48];
    const int64_t channels = ys_build_shape(b, in)[1];
    struct ys_window window = ys_build_window(7, 1, 3);
    window.group = channels;
    snprintf(name, sizeof name, "%sconv", prefix);
    int v = norm(b, ys_build_conv_window(b, in, channels, &window, NULL, true, name), prefix);
    snprintf(name, sizeof name, "%swiden", prefix);
    v = ys_model_plain(b, YS_OP_GELU, ys_build_conv(b, v, 4 * channels, 1, 1, 0, name), prefix, "gelu");
    snprintf(name, sizeof name, "%snarrow", prefix);
    v = ys_build_conv(b, v, channels, 1, 1, 0, name);
    snprintf(name, sizeof name, "%sscale", prefix);
    v = ys_build_operand(b, YS_OP_MUL, v, (const int64_t[]){channels, 1, 1}, 3,
                         (struct ys_initializer){YS_INIT_CONSTANT, 1e-6, 0}, name);
    snprintf(name, sizeof name, "%sadd", prefix);
    return ys_build_add(b, in, v, name);
}

/** Liu, Mao, Wu, Feichtenhofer, Darrell, Xie, "A ConvNet for the 2020s", CVPR 2022, section 2 (tiny). */
ys_status ys_model_convnext_tiny(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const int blocks[] = {3, 3, 9, 3};
    struct ys_build *b;
    char prefix[32];
    int v;
    YS_TRY(ys_model_begin("convnext-tiny", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_build_draw(b, YS_DRAW_TRUNCATED(0.02), YS_DRAW_CONSTANT(0));
    v = norm(b, patches(b, v, 96, 4, "stem"), "stem.");
    for (int stage = 0; stage < 4; stage++) {
        snprintf(prefix, sizeof prefix, "stage%d.", stage + 1);
        if (stage > 0) {
            char name[48];
            snprintf(name, sizeof name, "%shalve", prefix);
            v = patches(b, norm(b, v, prefix), 96 << stage, 2, name);
        }
        for (int i = 0; i < blocks[stage]; i++) {
            snprintf(prefix, sizeof prefix, "stage%d.%d.", stage + 1, i);
            v = block(b, v, prefix);
        }
    }
    v = ys_build_layernorm(b, ys_model_pooled(b, v), 1e-6, "norm");
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc"), graph);
}
