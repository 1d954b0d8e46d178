/* Plain stacks: AlexNet, VGG, SqueezeNet, and the perceptron that benchmarks use. */
#include "graph/models/model_list.h"
#include <stdio.h>

/** Two layers of 4096 behind Flatten, each with its ReLU and Dropout of a half, which AlexNet has before the layer and
 * VGG behind its ReLU; then the classes. */
static int add_classifier(struct ys_build *b, int v, bool dropout_first, int64_t classes)
{
    v = ys_build_flatten(b, v, "flatten");
    for (int layer = 6; layer <= 7; layer++) {
        char dropout[32], fc[32], relu[32];
        snprintf(dropout, sizeof dropout, "dropout%d", layer);
        snprintf(fc, sizeof fc, "fc%d", layer);
        snprintf(relu, sizeof relu, "relu%d", layer);
        if (dropout_first)
            v = ys_build_dropout(b, v, 0.5, dropout);
        v = ys_build_relu(b, ys_build_gemm(b, v, 4096, fc), relu);
        if (!dropout_first)
            v = ys_build_dropout(b, v, 0.5, dropout);
    }
    return ys_build_gemm(b, v, classes, "fc8");
}

/** Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014, as torchvision has it. */
ys_status ys_model_alexnet(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("alexnet", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_model_draw_as_torch(b);
    v = ys_build_maxpool(b, ys_model_conv_relu(b, v, 64, 11, 4, 2, "1"), 3, 2, 0, "pool1");
    v = ys_build_maxpool(b, ys_model_conv_relu(b, v, 192, 5, 1, 2, "2"), 3, 2, 0, "pool2");
    v = ys_model_conv_relu(b, v, 384, 3, 1, 1, "3");
    v = ys_model_conv_relu(b, v, 256, 3, 1, 1, "4");
    v = ys_build_maxpool(b, ys_model_conv_relu(b, v, 256, 3, 1, 1, "5"), 3, 2, 0, "pool5");
    return ys_build_finish(b, add_classifier(b, v, true, input->classes), graph);
}

/** Krizhevsky's cuda-convnet, layers-18pct, without its response normalisation: the "AlexNet" of dlbench. Pools count
 * up, as cuda-convnet does. Biases learn twice as fast and do not decay, the last layer decays 250 times as much. */
ys_status ys_model_alexnet_cifar(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_window pool = ys_build_window(3, 2, 0);
    pool.ceil = true;
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("alexnet-cifar", input, YS_PIXELS_CIFAR_BYTES, &b, &v));
    ys_build_factors(b, 1, 1, 2, 0);
    ys_build_draw(b, YS_DRAW_NORMAL(0.0001), YS_DRAW_CONSTANT(0));
    v = ys_build_pool(b, YS_OP_MAXPOOL, ys_build_conv(b, v, 32, 5, 1, 2, "conv1"), &pool, "pool1");
    v = ys_build_relu(b, v, "relu1");
    ys_build_draw(b, YS_DRAW_NORMAL(0.01), YS_DRAW_CONSTANT(0));
    v = ys_build_pool(b, YS_OP_AVERAGEPOOL, ys_model_conv_relu(b, v, 32, 5, 1, 2, "2"), &pool, "pool2");
    v = ys_build_pool(b, YS_OP_AVERAGEPOOL, ys_model_conv_relu(b, v, 64, 5, 1, 2, "3"), &pool, "pool3");
    v = ys_build_flatten(b, v, "flatten");
    ys_build_factors(b, 1, 250, 2, 0);
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc4"), graph);
}

/** Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition", ICLR 2015,
 * configuration D, drawn as torchvision does. */
ys_status ys_model_vgg16(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const struct {
        int64_t channels;
        int convolutions;
    } blocks[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("vgg16", input, YS_PIXELS_IMAGENET, &b, &v));
    ys_build_draw(b, YS_DRAW_NORMAL_FAN_OUT(2), YS_DRAW_CONSTANT(0));
    for (int block = 0; block < 5; block++) {
        char name[32];
        for (int i = 0; i < blocks[block].convolutions; i++) {
            snprintf(name, sizeof name, "%d_%d", block + 1, i + 1);
            v = ys_model_conv_relu(b, v, blocks[block].channels, 3, 1, 1, name);
        }
        snprintf(name, sizeof name, "pool%d", block + 1);
        v = ys_build_maxpool(b, v, 2, 2, 0, name);
    }
    ys_build_draw(b, YS_DRAW_NORMAL(0.01), YS_DRAW_CONSTANT(0));
    return ys_build_finish(b, add_classifier(b, v, false, input->classes), graph);
}

/** A narrow 1x1 convolution, read by a 1x1 and a 3x3 one of `expand` channels each. */
static int add_fire(struct ys_build *b, int v, int64_t squeeze, int64_t expand, int number)
{
    char name[32];
    snprintf(name, sizeof name, "%d.squeeze", number);
    v = ys_model_conv_relu(b, v, squeeze, 1, 1, 0, name);
    snprintf(name, sizeof name, "%d.expand1x1", number);
    int narrow = ys_model_conv_relu(b, v, expand, 1, 1, 0, name);
    snprintf(name, sizeof name, "%d.expand3x3", number);
    int wide = ys_model_conv_relu(b, v, expand, 3, 1, 1, name);
    snprintf(name, sizeof name, "concat%d", number);
    return ys_build_concat(b, narrow, wide, name);
}

/** Iandola et al., "SqueezeNet", 2016, version 1.1, drawn as torchvision does. */
ys_status ys_model_squeezenet(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const int64_t squeezes[] = {16, 16, 32, 32, 48, 48, 64, 64};
    struct ys_window pool = ys_build_window(3, 2, 0);
    pool.ceil = true;
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("squeezenet", input, YS_PIXELS_IMAGENET, &b, &v));
    v = ys_model_conv_relu(b, v, 64, 3, 2, 0, "1");
    for (int fire = 2; fire <= 9; fire++) {
        char name[32];
        snprintf(name, sizeof name, "pool%d", fire - 1);
        if (fire == 2 || fire == 4 || fire == 6)
            v = ys_build_pool(b, YS_OP_MAXPOOL, v, &pool, name);
        v = add_fire(b, v, squeezes[fire - 2], 4 * squeezes[fire - 2], fire);
    }
    v = ys_build_dropout(b, v, 0.5, "dropout");
    ys_build_draw(b, YS_DRAW_NORMAL(0.01), YS_DRAW_CONSTANT(0));
    v = ys_model_conv_relu(b, v, input->classes, 1, 1, 0, "10");
    v = ys_build_plain(b, YS_OP_GLOBAL_AVERAGEPOOL, v, "pool10");
    return ys_build_finish(b, ys_build_flatten(b, v, "flatten"), graph);
}

/** The "FCN-5" of dlbench (Shi, Wang, Xu and Chu, "Benchmarking state-of-the-art deep learning software tools", 2016):
 * sigmoids between, Caffe's Xavier. */
ys_status ys_model_fcn5(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const int64_t widths[] = {2048, 4096, 1024};
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("fcn5", input, YS_PIXELS_256TH, &b, &v));
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_CONSTANT(0));
    v = ys_build_flatten(b, v, "flatten");
    for (int layer = 1; layer <= 3; layer++) {
        char fc[32], sigmoid[32];
        snprintf(fc, sizeof fc, "fc%d", layer);
        snprintf(sigmoid, sizeof sigmoid, "sigmoid%d", layer);
        v = ys_build_plain(b, YS_OP_SIGMOID, ys_build_gemm(b, v, widths[layer - 1], fc), sigmoid);
    }
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc4"), graph);
}
