#include "graph/model.h"
#include "graph/build.h"
#include <string.h>

static ys_status check_input(const char *model, const struct ys_model_input *input, int64_t least_extent)
{
    for (size_t i = 0; i < 3; i++)
        if (input->shape[i] < (i ? least_extent : 1) || input->shape[i] > 65536)
            return ys_fail(YS_EINVAL, "model %s: %s %lld of the data: must be %lld to 65536", model,
                           (const char *const[]){"channels", "height", "width"}[i], (long long)input->shape[i],
                           (long long)(i ? least_extent : 1));
    if (input->classes < 2 || input->classes > 65536)
        return ys_fail(YS_EINVAL, "model %s: %lld classes in the data: must be 2 to 65536", model,
                       (long long)input->classes);
    return YS_OK;
}

/** The usual perceptron of the MNIST examples: pixels-512-256-classes, ReLU between. */
static ys_status build_mlp(const struct ys_model_input *input, struct ys_graph **graph)
{
    YS_TRY(check_input("mlp", input, 1));
    struct ys_build *b;
    YS_TRY(ys_build_new("mlp", input->shape, 3, input->dtype, &b));
    int v = ys_build_normalize(b, ys_build_input(b), input->scale, 0, 1, "normalize");
    v = ys_build_flatten(b, v, "flatten");
    v = ys_build_relu(b, ys_build_gemm(b, v, 512, "fc1"), "relu1");
    v = ys_build_relu(b, ys_build_gemm(b, v, 256, "fc2"), "relu2");
    ys_build_gain(b, 3);
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc3"), graph);
}

/** The network that framework tutorials call LeNet: LeCun et al. 1998 in outline, with ReLU, max pooling and wider
 * layers. */
static ys_status build_lenet(const struct ys_model_input *input, struct ys_graph **graph)
{
    YS_TRY(check_input("lenet", input, 4)); /* two poolings by 2 must leave a pixel */
    struct ys_build *b;
    YS_TRY(ys_build_new("lenet", input->shape, 3, input->dtype, &b));
    int v = ys_build_normalize(b, ys_build_input(b), input->scale, 0, 1, "normalize");
    v = ys_build_relu(b, ys_build_conv(b, v, 32, 5, 1, 2, "conv1"), "relu1");
    v = ys_build_maxpool(b, v, 2, 2, 0, "pool1");
    v = ys_build_relu(b, ys_build_conv(b, v, 64, 5, 1, 2, "conv2"), "relu2");
    v = ys_build_maxpool(b, v, 2, 2, 0, "pool2");
    v = ys_build_flatten(b, v, "flatten");
    v = ys_build_relu(b, ys_build_gemm(b, v, 1024, "fc1"), "relu3");
    ys_build_gain(b, 3);
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "fc2"), graph);
}

#define MNIST_INPUT                                                                                                    \
    {                                                                                                                  \
        .shape = {1, 28, 28}, .dtype = YS_U8, .scale = 1.0 / 255, .classes = 10                                        \
    }

static const struct ys_model models[] = {
    {"lenet", "two 5x5 convolutions with pooling, two dense layers", MNIST_INPUT, build_lenet},
    {"mlp", "three dense layers, 512 and 256 hidden units", MNIST_INPUT, build_mlp},
    {NULL},
};

const struct ys_model *ys_models(void)
{
    return models;
}

const struct ys_model *ys_model_find(const char *name)
{
    for (const struct ys_model *model = models; model->name; model++)
        if (strcmp(model->name, name) == 0)
            return model;
    return NULL;
}
