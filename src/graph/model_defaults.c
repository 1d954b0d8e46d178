/* The networks that four frameworks came with for MNIST and CIFAR-10, as Wu and others, "A comparative measurement
 * study of deep learning as a service framework", IEEE Transactions on Services Computing, 2019, compared them: after
 * their code and the tutorials it was taken from. docs/graph.md says what is left out around them. */
#include "base/mem.h"
#include "base/rng.h"
#include "graph/model_list.h"
#include <math.h>

/** TensorFlow's padding SAME: ceil(extent / stride) windows, the odd pixel of padding at the end. */
static int same_maxpool(struct ys_build *b, int v, int64_t kernel, int64_t stride, const char *name)
{
    struct ys_window window = ys_build_window(kernel, stride, 0);
    for (size_t d = 0; d < 2; d++) {
        int64_t extent = ys_build_shape(b, v)[d + 2], count = (extent + stride - 1) / stride;
        int64_t padding = (count - 1) * stride + kernel - extent;
        if (padding <= 0)
            continue;
        window.pad[d] = padding / 2;
        window.pad[d + 2] = padding - padding / 2;
    }
    return ys_build_pool(b, YS_OP_MAXPOOL, v, &window, name);
}

/** mnist_deep.py. */
ys_status ys_model_tf_mnist(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("tf-mnist", input, YS_PIXELS_SHARE, &b, &v));
    ys_build_draw(b, YS_DRAW_TRUNCATED(0.1), YS_DRAW_CONSTANT(0.1));
    v = same_maxpool(b, ys_model_conv_relu(b, v, 32, 5, 1, 2, "1"), 2, 2, "pool1");
    v = same_maxpool(b, ys_model_conv_relu(b, v, 64, 5, 1, 2, "2"), 2, 2, "pool2");
    v = ys_build_flatten(b, v, "flatten");
    v = ys_build_relu(b, ys_build_gemm(b, v, 1024, "fc1"), "relu3");
    v = ys_build_dropout(b, v, 0.5, "dropout");
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc2"), graph);
}

/** cifar10.py. Its LRN does not divide alpha, 0.001 / 9, by the size, 9. Only the two hidden dense layers decay. */
ys_status ys_model_tf_cifar10(const struct ys_model_input *input, struct ys_graph **graph)
{
    const struct ys_lrn lrn = {.size = 9, .alpha = 0.001, .beta = 0.75, .bias = 1};
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("tf-cifar10", input, YS_PIXELS_CIFAR, &b, &v));
    ys_build_factors(b, 1, 0, 1, 0);
    ys_build_draw(b, YS_DRAW_TRUNCATED(0.05), YS_DRAW_CONSTANT(0));
    v = same_maxpool(b, ys_model_conv_relu(b, v, 64, 5, 1, 2, "1"), 3, 2, "pool1");
    v = ys_build_lrn(b, v, lrn, "norm1");
    ys_build_draw(b, YS_DRAW_TRUNCATED(0.05), YS_DRAW_CONSTANT(0.1));
    v = ys_build_lrn(b, ys_model_conv_relu(b, v, 64, 5, 1, 2, "2"), lrn, "norm2");
    v = ys_build_flatten(b, same_maxpool(b, v, 3, 2, "pool2"), "flatten");
    ys_build_factors(b, 1, 1, 1, 0);
    ys_build_draw(b, YS_DRAW_TRUNCATED(0.04), YS_DRAW_CONSTANT(0.1));
    v = ys_build_relu(b, ys_build_gemm(b, v, 384, "local3"), "relu3");
    v = ys_build_relu(b, ys_build_gemm(b, v, 192, "local4"), "relu4");
    ys_build_factors(b, 1, 0, 1, 0);
    ys_build_draw(b, YS_DRAW_TRUNCATED(1 / 192.0), YS_DRAW_CONSTANT(0));
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "softmax_linear"), graph);
}

/** Caffe counts the windows of its pools up. */
static int caffe_pool(struct ys_build *b, enum ys_op op, int v, int64_t kernel, const char *name)
{
    struct ys_window window = ys_build_window(kernel, 2, 0);
    window.ceil = true;
    return ys_build_pool(b, op, v, &window, name);
}

/** lenet_train_test.prototxt: Xavier's filler, which draws by fan_in alone; biases learn twice as fast. */
ys_status ys_model_caffe_mnist(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("caffe-mnist", input, YS_PIXELS_256TH, &b, &v));
    ys_build_factors(b, 1, 1, 2, 1);
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_CONSTANT(0));
    v = caffe_pool(b, YS_OP_MAXPOOL, ys_build_conv(b, v, 20, 5, 1, 0, "conv1"), 2, "pool1");
    v = caffe_pool(b, YS_OP_MAXPOOL, ys_build_conv(b, v, 50, 5, 1, 0, "conv2"), 2, "pool2");
    v = ys_build_flatten(b, v, "flatten");
    v = ys_build_relu(b, ys_build_gemm(b, v, 500, "ip1"), "relu1");
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "ip2"), graph);
}

/** cifar10_quick_train_test.prototxt. */
ys_status ys_model_caffe_cifar10(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("caffe-cifar10", input, YS_PIXELS_CIFAR_BYTES, &b, &v));
    ys_build_factors(b, 1, 1, 2, 1);
    ys_build_draw(b, YS_DRAW_NORMAL(0.0001), YS_DRAW_CONSTANT(0));
    v = caffe_pool(b, YS_OP_MAXPOOL, ys_build_conv(b, v, 32, 5, 1, 2, "conv1"), 3, "pool1");
    v = ys_build_relu(b, v, "relu1");
    ys_build_draw(b, YS_DRAW_NORMAL(0.01), YS_DRAW_CONSTANT(0));
    v = caffe_pool(b, YS_OP_AVERAGEPOOL, ys_model_conv_relu(b, v, 32, 5, 1, 2, "2"), 3, "pool2");
    v = caffe_pool(b, YS_OP_AVERAGEPOOL, ys_model_conv_relu(b, v, 64, 5, 1, 2, "3"), 3, "pool3");
    v = ys_build_flatten(b, v, "flatten");
    ys_build_draw(b, YS_DRAW_NORMAL(0.1), YS_DRAW_CONSTANT(0));
    v = ys_build_gemm(b, v, 64, "ip1");
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "ip2"), graph);
}

static ys_status finish_torch(struct ys_build *b, int v, int64_t classes, struct ys_graph **graph)
{
    ys_build_loss(b, YS_LOSS_NLL);
    return ys_build_finish(b, ys_build_log_softmax(b, ys_build_gemm(b, v, classes, "fc2"), "log_softmax"), graph);
}

/** train-on-mnist.lua. Its images are MNIST's in a black frame, 32x32; smaller ones get a frame of two pixels from the
 * first convolution, which makes the same network of them. */
ys_status ys_model_torch_mnist(const struct ys_model_input *input, struct ys_graph **graph)
{
    bool framed = input->shape[1] >= 32 && input->shape[2] >= 32;
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("torch-mnist", input, YS_PIXELS_MNIST, &b, &v));
    ys_model_draw_as_torch(b);
    v = ys_build_plain(b, YS_OP_TANH, ys_build_conv(b, v, 32, 5, 1, framed ? 0 : 2, "conv1"), "tanh1");
    v = ys_build_maxpool(b, v, 3, 3, 1, "pool1");
    v = ys_build_plain(b, YS_OP_TANH, ys_build_conv(b, v, 64, 5, 1, 0, "conv2"), "tanh2");
    v = ys_build_flatten(b, ys_build_maxpool(b, v, 2, 2, 0, "pool2"), "flatten");
    v = ys_build_plain(b, YS_OP_TANH, ys_build_gemm(b, v, 200, "fc1"), "tanh3");
    return finish_torch(b, v, input->classes, graph);
}

/** nn.tables.random(in, out, seen): permutations of the input channels, cut into pieces of `seen`, one piece for each
 * output channel. The table is the model's, the same for every seed of a study. NULL without memory. */
static unsigned char *random_table(uint32_t in, uint32_t out, uint32_t seen, const char *key)
{
    uint32_t *permutation = ys_alloc(in, sizeof *permutation), pieces = in / seen;
    unsigned char *connected = ys_alloc((size_t)out * in, 1);
    struct ys_rng rng;
    ys_rng_init(&rng, 0, key);
    for (uint32_t o = 0; o < out && permutation && connected; o++) {
        for (uint32_t i = 0; i < in && o % pieces == 0; i++)
            permutation[i] = i;
        if (o % pieces == 0)
            ys_rng_shuffle(&rng, permutation, in);
        for (uint32_t i = 0; i < seen; i++)
            connected[(size_t)o * in + permutation[o % pieces * seen + i]] = 1;
    }
    if (!permutation) {
        ys_free(connected);
        connected = NULL;
    }
    ys_free(permutation);
    return connected;
}

/** SpatialConvolutionMap of 5x5. */
static int random_conv(struct ys_build *b, int v, int64_t in, int64_t out, int64_t seen, const char *name)
{
    unsigned char *connected = random_table((uint32_t)in, (uint32_t)out, (uint32_t)seen, name);
    v = ys_build_conv_table(b, v, out, 5, connected, name);
    ys_free(connected);
    return v;
}

/** train-on-cifar-10.lua. */
ys_status ys_model_torch_cifar10(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("torch-cifar10", input, YS_PIXELS_CIFAR, &b, &v));
    ys_model_draw_as_torch(b);
    v = ys_build_plain(b, YS_OP_TANH, random_conv(b, v, input->shape[0], 16, 1, "conv1"), "tanh1");
    v = ys_build_maxpool(b, v, 2, 2, 0, "pool1");
    v = ys_build_plain(b, YS_OP_TANH, random_conv(b, v, 16, 256, 4, "conv2"), "tanh2");
    v = ys_build_flatten(b, ys_build_maxpool(b, v, 2, 2, 0, "pool2"), "flatten");
    v = ys_build_plain(b, YS_OP_TANH, ys_build_gemm(b, v, 128, "fc1"), "tanh3");
    return finish_torch(b, v, input->classes, graph);
}

/** Uniform, with the limit sqrt(6 / (fan_in + fan_out)). */
static void draw_as_glorot(struct ys_build *b, int64_t fan_in, int64_t fan_out)
{
    ys_build_draw(b, YS_DRAW_UNIFORM(sqrt(6 / (double)(fan_in + fan_out))), YS_DRAW_CONSTANT(0));
}

/** convolutional_mlp.py: fan_out of a convolution is counted behind its pool, rounded down; the last layer starts at
 * zero. Its biases are added behind the pool, which is the same. */
ys_status ys_model_theano_mnist(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("theano-mnist", input, YS_PIXELS_256TH, &b, &v));
    draw_as_glorot(b, input->shape[0] * 25, 20 * 25 / 4);
    v = ys_build_maxpool(b, ys_build_conv(b, v, 20, 5, 1, 0, "conv1"), 2, 2, 0, "pool1");
    v = ys_build_plain(b, YS_OP_TANH, v, "tanh1");
    draw_as_glorot(b, 20 * 25, 50 * 25 / 4);
    v = ys_build_maxpool(b, ys_build_conv(b, v, 50, 5, 1, 0, "conv2"), 2, 2, 0, "pool2");
    v = ys_build_flatten(b, ys_build_plain(b, YS_OP_TANH, v, "tanh2"), "flatten");
    draw_as_glorot(b, ys_build_shape(b, v)[1], 500);
    v = ys_build_plain(b, YS_OP_TANH, ys_build_gemm(b, v, 500, "fc1"), "tanh3");
    ys_build_draw(b, YS_DRAW_CONSTANT(0), YS_DRAW_CONSTANT(0));
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc2"), graph);
}

/** Known from the study's description alone; how its weights were drawn is not published. */
ys_status ys_model_theano_cifar10(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("theano-cifar10", input, YS_PIXELS_SHARE, &b, &v));
    v = ys_build_maxpool(b, ys_model_conv_relu(b, v, 4, 3, 1, 0, "1"), 3, 3, 0, "pool1");
    v = ys_build_maxpool(b, ys_model_conv_relu(b, v, 8, 3, 1, 0, "2"), 2, 2, 0, "pool2");
    v = ys_build_flatten(b, v, "flatten");
    v = ys_build_relu(b, ys_build_gemm(b, v, 100, "fc1"), "relu3");
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc2"), graph);
}
