/* The models that are built here, and the two that framework tutorials begin with. */
#include "base/json/shared_words.h"
#include "graph/models/model_list.h"
#include <stdio.h>
#include <string.h>

ys_status ys_model_need(const char *name, const struct ys_model_input *input, bool tokens)
{
    static const char *const rows[] = {"channels, height and width", "tokens"};
    const bool has_tokens = input->dtype == YS_I32;
    if (tokens != has_tokens)
        return ys_fail(YS_EINVAL, "model %s takes rows of %s, and those of the data are of %s", name, rows[tokens],
                       rows[has_tokens]);
    return YS_OK;
}

static ys_status check_input(const char *model, const struct ys_model_input *input)
{
    static const char *const extents[] = {"channels", "height", "width"};
    YS_TRY(ys_model_need(model, input, false));
    for (size_t i = 0; i < 3; i++)
        if (input->shape[i] < 1 || input->shape[i] > 65536)
            return ys_fail(YS_EINVAL, "model %s: %s %lld of the data: must be 1 to 65536", model, extents[i],
                           (long long)input->shape[i]);
    if (input->classes < 2 || input->classes > 65536)
        return ys_fail(YS_EINVAL, "model %s: %lld classes in the data: must be 2 to 65536", model,
                       (long long)input->classes);
    return YS_OK;
}

ys_status ys_model_begin(const char *name, const struct ys_model_input *input, struct ys_pixels pixels,
                         struct ys_build **build, int *value)
{
    YS_TRY(check_input(name, input));
    YS_TRY(ys_build_new(name, input->shape, 3, input->dtype, build));
    *value = ys_build_normalize(*build, ys_build_input(*build), input->scale * pixels.range, pixels.mean, pixels.std,
                                "normalize");
    return YS_OK;
}

int ys_model_conv_relu(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride,
                       int64_t pad, const char *suffix)
{
    char conv[32], relu[32];
    snprintf(conv, sizeof conv, "conv%s", suffix);
    snprintf(relu, sizeof relu, "relu%s", suffix);
    return ys_build_relu(build, ys_build_conv(build, in, out_channels, kernel, stride, pad, conv), relu);
}

void ys_model_draw_as_torch(struct ys_build *build)
{
    ys_build_draw(build, YS_DRAW_UNIFORM_FAN_IN(1), YS_DRAW_UNIFORM_FAN_IN(1));
}

int ys_model_conv_bn(struct ys_build *build, int in, int64_t channels, int64_t kernel, int64_t stride, int64_t group,
                     const char *prefix, const char *suffix)
{
    char conv[48], bn[48];
    snprintf(conv, sizeof conv, "%sconv%s", prefix, suffix);
    snprintf(bn, sizeof bn, "%sbn%s", prefix, suffix);
    int v = ys_build_conv_plain(build, in, channels, kernel, stride, kernel / 2, group, conv);
    return ys_build_batchnorm(build, v, bn);
}

int ys_model_plain(struct ys_build *build, enum ys_op op, int in, const char *prefix, const char *what)
{
    char name[48];
    snprintf(name, sizeof name, "%s%s", prefix, what);
    return ys_build_plain(build, op, in, name);
}

int64_t ys_model_round_to_8(double channels)
{
    int64_t rounded = (int64_t)(channels + 4) / 8 * 8;
    rounded = rounded < 8 ? 8 : rounded;
    return (double)rounded < 0.9 * channels ? rounded + 8 : rounded;
}

int ys_model_pooled(struct ys_build *build, int in)
{
    return ys_build_flatten(build, ys_build_plain(build, YS_OP_GLOBAL_AVERAGEPOOL, in, "avgpool"), "flatten");
}

/** The last layer, which no ReLU follows: weights that keep the variance. */
static int add_logits(struct ys_build *b, int v, int64_t classes, const char *name)
{
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_CONSTANT(0));
    return ys_build_gemm(b, v, classes, name);
}

/** The usual perceptron of the MNIST examples: pixels-512-256-classes, ReLU between. */
static ys_status build_mlp(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("mlp", input, YS_PIXELS_SHARE, &b, &v));
    v = ys_build_flatten(b, v, "flatten");
    v = ys_build_relu(b, ys_build_gemm(b, v, 512, "fc1"), "relu1");
    v = ys_build_relu(b, ys_build_gemm(b, v, 256, "fc2"), "relu2");
    return ys_build_finish(b, add_logits(b, v, input->classes, "fc3"), graph);
}

/** The network that framework tutorials call LeNet: LeCun et al. 1998 in outline, with ReLU, max pooling and wider
 * layers. */
static ys_status build_lenet(const struct ys_model_input *input, struct ys_graph **graph)
{
    struct ys_build *b;
    int v;
    YS_TRY(ys_model_begin("lenet", input, YS_PIXELS_SHARE, &b, &v));
    v = ys_model_conv_relu(b, v, 32, 5, 1, 2, "1");
    v = ys_build_maxpool(b, v, 2, 2, 0, "pool1");
    v = ys_model_conv_relu(b, v, 64, 5, 1, 2, "2");
    v = ys_build_maxpool(b, v, 2, 2, 0, "pool2");
    v = ys_build_flatten(b, v, "flatten");
    v = ys_build_relu(b, ys_build_gemm(b, v, 1024, "fc1"), "relu3");
    return ys_build_finish(b, add_logits(b, v, input->classes, "fc2"), graph);
}

#define BYTES(channels, extent, count)                                                                                 \
    {                                                                                                                  \
        .shape = {channels, extent, extent}, .dtype = YS_U8, .scale = 1.0 / 255, .classes = count                      \
    }
#define MNIST    BYTES(1, 28, 10)
#define CIFAR10  BYTES(3, 32, 10)
#define IMAGENET BYTES(3, 224, 1000)

/* Sequences of `positions` tokens of a vocabulary, with the token that follows each. */
#define TOKENS(positions, words)                                                                                       \
    {                                                                                                                  \
        .shape = {positions}, .dtype = YS_I32, .classes = words, .vocabulary = words                                   \
    }
#define SEQUENCES(positions, vocabulary)                                                                               \
    (&(const struct ys_rows){                                                                                          \
        .unit = "sequences",                                                                                           \
        .input_count = 1,                                                                                              \
        .inputs = {{.name = "x", .dtype = YS_I32, .rank = 1, .shape = {positions}, .below = vocabulary}},              \
        .kind = YS_TARGET_CLASSES,                                                                                     \
        .target = {.name = YS_TARGET_NAME, .dtype = YS_I64, .rank = 1, .shape = {positions}},                          \
        .classes = vocabulary})

/* The same with one of `count` classes each. */
#define TEXT(positions, words, count)                                                                                  \
    {                                                                                                                  \
        .shape = {positions}, .dtype = YS_I32, .classes = count, .vocabulary = words                                   \
    }
#define TEXTS(positions, words, count)                                                                                 \
    (&(const struct ys_rows){                                                                                          \
        .unit = "sequences",                                                                                           \
        .input_count = 1,                                                                                              \
        .inputs = {{.name = "x", .dtype = YS_I32, .rank = 1, .shape = {positions}, .below = words, .padded = true}},   \
        .kind = YS_TARGET_CLASS,                                                                                       \
        .target = {.name = YS_TARGET_NAME, .dtype = YS_I64},                                                           \
        .classes = count})

static const struct ys_model models[] = {
    {"lenet", "LeNet of the tutorials", MNIST, build_lenet},
    {"mlp", "784-512-256-10, ReLU", MNIST, build_mlp},
    {"fcn5", "784-2048-4096-1024-10", MNIST, ys_model_fcn5},
    {"alexnet", "one tower", IMAGENET, ys_model_alexnet},
    {"alexnet-cifar", "three 5x5 convolutions", CIFAR10, ys_model_alexnet_cifar},
    {"vgg16", "configuration D", IMAGENET, ys_model_vgg16},
    {"squeezenet", "version 1.1", IMAGENET, ys_model_squeezenet},
    {"resnet20", "1x1 projections", CIFAR10, ys_model_resnet20, .keys = ys_model_keys_cifar_resnet20},
    {"resnet56", "1x1 projections", CIFAR10, ys_model_resnet56, .keys = ys_model_keys_cifar_resnet56},
    {"resnet50", "v1.5: stride on the 3x3", IMAGENET, ys_model_resnet50, .keys = ys_model_keys_resnet50},
    {"resnet50-v1", "stride on the first 1x1", IMAGENET, ys_model_resnet50_v1, .keys = ys_model_keys_resnet50},
    {"mobilenet-v2", "width 1.0", IMAGENET, ys_model_mobilenet_v2, .keys = ys_model_keys_mobilenet},
    {"resnet18", "basic blocks", IMAGENET, ys_model_resnet18, .keys = ys_model_keys_resnet18},
    {"densenet121", "growth 32", IMAGENET, ys_model_densenet121, .keys = ys_model_keys_densenet},
    {"shufflenet-v2", "width 1.0", IMAGENET, ys_model_shufflenet_v2, .keys = ys_model_keys_shufflenet},
    {"mobilenet-v3", "large, width 1.0", IMAGENET, ys_model_mobilenet_v3, .keys = ys_model_keys_mobilenet},
    {"efficientnet-b0", "no stochastic depth", IMAGENET, ys_model_efficientnet_b0, .keys = ys_model_keys_efficientnet},
    {"convnext-tiny", "no stochastic depth", IMAGENET, ys_model_convnext_tiny},
    {"vit-tiny", "patches of 16, no dropout", IMAGENET, ys_model_vit_tiny, .keys = ys_model_keys_vit_tiny},
    {"gpt-nano", "3 blocks of width 48, tied", TOKENS(64, 64), ys_model_gpt_nano, .rows = SEQUENCES(64, 64),
     .keys = ys_model_keys_gpt_nano},
    {"gpt2", "12 blocks, width 768, tied", TOKENS(1024, 50257), ys_model_gpt2, .rows = SEQUENCES(1024, 50257),
     .keys = ys_model_keys_gpt2},
    {"lstm-char", "2 layers of 128", TOKENS(50, 64), ys_model_lstm_char, .rows = SEQUENCES(50, 64),
     .keys = ys_model_keys_lstm_char},
    {"gru-char", "2 layers of 128", TOKENS(50, 64), ys_model_gru_char, .rows = SEQUENCES(50, 64),
     .keys = ys_model_keys_lstm_char},
    {"lstm-ptb", "2 layers of 200", TOKENS(20, 10000), ys_model_lstm_ptb, .rows = SEQUENCES(20, 10000),
     .keys = ys_model_keys_lstm_ptb},
    {"bert-mini", "4 blocks of width 256", TEXT(128, 30522, 2), ys_model_bert_mini, .rows = TEXTS(128, 30522, 2),
     .keys = ys_model_keys_bert_mini},
    {"lstm-classifier", "width 128, last token", TEXT(80, 20000, 2), ys_model_lstm_classifier,
     .rows = TEXTS(80, 20000, 2), .keys = ys_model_keys_lstm_classifier},
    {NULL},
};

struct ys_rows ys_model_rows(const struct ys_model *model)
{
    const struct ys_model_input *usual = &model->usual;
    struct ys_rows images = YS_ROWS_OF_IMAGES(usual->shape[0], usual->shape[1], usual->shape[2], usual->classes);
    return model->rows ? *model->rows : images;
}

const struct ys_model *ys_models(void)
{
    return models;
}

static const struct ys_model *(*list_more)(void);
static const struct ys_model *(*find_more)(const char *name);

void ys_models_also(const struct ys_model *(*list)(void))
{
    list_more = list;
}

void ys_model_find_also(const struct ys_model *(*find)(const char *name))
{
    find_more = find;
}

const struct ys_model *ys_models_more(void)
{
    static const struct ys_model none = {0};
    return list_more ? list_more() : &none;
}

static bool is_called(const char *name, const char *called)
{
    return strcmp(name, called) == 0;
}

static bool is_spelled(const char *name, const char *called)
{
    return ys_is_spelled(called, strlen(called), name);
}

static const struct ys_model *find_in(const struct ys_model *model, const char *name,
                                      bool (*is)(const char *name, const char *called))
{
    while (model->name && !is(model->name, name))
        model++;
    return model->name ? model : NULL;
}

const struct ys_model *ys_model_find(const char *name)
{
    const struct ys_model *found = find_in(models, name, is_called);
    if (!found)
        found = find_in(ys_models_more(), name, is_called);
    if (!found && find_more)
        found = find_more(name);
    if (!found)
        found = find_in(models, name, is_spelled);
    return found ? found : find_in(ys_models_more(), name, is_spelled);
}
