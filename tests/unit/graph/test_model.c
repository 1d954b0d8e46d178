#include "graph/model.h"
#include "base/mem.h"
#include "tap.h"
#include <math.h>

/* Layers with weights, worked out by hand: so many layers of one shape, each output channel of which sees `in` channels
 * through a square kernel and is computed at extent * extent places; `per_channel` parameters besides the weights: 1 a
 * bias, 2 the scale and shift of a batch normalisation. Dense layers have kernel and extent 1. */
struct layer {
    int64_t in, out, kernel, extent, times, per_channel;
};
#define END                                                                                                            \
    {                                                                                                                  \
        0, 0, 0, 0, 0, 0                                                                                               \
    }
#define DENSE(in, out)                                                                                                 \
    {                                                                                                                  \
        in, out, 1, 1, 1, 1                                                                                            \
    }

static const struct layer lenet[] = {
    {1, 32, 5, 28, 1, 1}, {32, 64, 5, 14, 1, 1}, DENSE(3136, 1024), DENSE(1024, 10), END};
static const struct layer mlp[] = {DENSE(784, 512), DENSE(512, 256), DENSE(256, 10), END};
static const struct layer fcn5[] = {DENSE(784, 2048), DENSE(2048, 4096), DENSE(4096, 1024), DENSE(1024, 10), END};
static const struct layer alexnet[] = {{3, 64, 11, 55, 1, 1},   {64, 192, 5, 27, 1, 1},  {192, 384, 3, 13, 1, 1},
                                       {384, 256, 3, 13, 1, 1}, {256, 256, 3, 13, 1, 1}, DENSE(9216, 4096),
                                       DENSE(4096, 4096),       DENSE(4096, 1000),       END};
static const struct layer alexnet_cifar[] = {
    {3, 32, 5, 32, 1, 1}, {32, 32, 5, 16, 1, 1}, {32, 64, 5, 8, 1, 1}, DENSE(1024, 10), END};
static const struct layer vgg16[] = {{3, 64, 3, 224, 1, 1},
                                     {64, 64, 3, 224, 1, 1},
                                     {64, 128, 3, 112, 1, 1},
                                     {128, 128, 3, 112, 1, 1},
                                     {128, 256, 3, 56, 1, 1},
                                     {256, 256, 3, 56, 2, 1},
                                     {256, 512, 3, 28, 1, 1},
                                     {512, 512, 3, 28, 2, 1},
                                     {512, 512, 3, 14, 3, 1},
                                     DENSE(25088, 4096),
                                     DENSE(4096, 4096),
                                     DENSE(4096, 1000),
                                     END};
static const struct layer squeezenet[] = {{3, 64, 3, 111, 1, 1},
                                          {64, 16, 1, 55, 1, 1},
                                          {128, 16, 1, 55, 1, 1},
                                          {16, 64, 1, 55, 2, 1},
                                          {16, 64, 3, 55, 2, 1},
                                          {128, 32, 1, 27, 1, 1},
                                          {256, 32, 1, 27, 1, 1},
                                          {32, 128, 1, 27, 2, 1},
                                          {32, 128, 3, 27, 2, 1},
                                          {256, 48, 1, 13, 1, 1},
                                          {384, 48, 1, 13, 1, 1},
                                          {48, 192, 1, 13, 2, 1},
                                          {48, 192, 3, 13, 2, 1},
                                          {384, 64, 1, 13, 1, 1},
                                          {512, 64, 1, 13, 1, 1},
                                          {64, 256, 1, 13, 2, 1},
                                          {64, 256, 3, 13, 2, 1},
                                          {512, 1000, 1, 13, 1, 1},
                                          END};
static const struct layer resnet20[] = {
    {3, 16, 3, 32, 1, 2}, {16, 16, 3, 32, 6, 2}, {16, 32, 3, 16, 1, 2}, {32, 32, 3, 16, 5, 2}, {16, 32, 1, 16, 1, 2},
    {32, 64, 3, 8, 1, 2}, {64, 64, 3, 8, 5, 2},  {32, 64, 1, 8, 1, 2},  DENSE(64, 10),         END};
static const struct layer resnet56[] = {
    {3, 16, 3, 32, 1, 2}, {16, 16, 3, 32, 18, 2}, {16, 32, 3, 16, 1, 2}, {32, 32, 3, 16, 17, 2}, {16, 32, 1, 16, 1, 2},
    {32, 64, 3, 8, 1, 2}, {64, 64, 3, 8, 17, 2},  {32, 64, 1, 8, 1, 2},  DENSE(64, 10),          END};
#define RESNET50(e2, e3, e4)                                                                                           \
    {                                                                                                                  \
        {3, 64, 7, 112, 1, 2}, {64, 64, 1, 56, 1, 2}, {256, 64, 1, 56, 2, 2}, {64, 64, 3, 56, 3, 2},                   \
            {64, 256, 1, 56, 4, 2}, {256, 128, 1, e2, 1, 2}, {512, 128, 1, 28, 3, 2}, {128, 128, 3, 28, 4, 2},         \
            {128, 512, 1, 28, 4, 2}, {256, 512, 1, 28, 1, 2}, {512, 256, 1, e3, 1, 2}, {1024, 256, 1, 14, 5, 2},       \
            {256, 256, 3, 14, 6, 2}, {256, 1024, 1, 14, 6, 2}, {512, 1024, 1, 14, 1, 2}, {1024, 512, 1, e4, 1, 2},     \
            {2048, 512, 1, 7, 2, 2}, {512, 512, 3, 7, 3, 2}, {512, 2048, 1, 7, 3, 2}, {1024, 2048, 1, 7, 1, 2},        \
            DENSE(2048, 1000), END                                                                                     \
    }
static const struct layer resnet50[] = RESNET50(56, 28, 14), resnet50_v1[] = RESNET50(28, 14, 7);
static const struct layer mobilenet_v2[] = {
    {3, 32, 3, 112, 1, 2},  {1, 32, 3, 112, 1, 2},   {32, 16, 1, 112, 1, 2}, {16, 96, 1, 112, 1, 2},
    {1, 96, 3, 56, 1, 2},   {96, 24, 1, 56, 1, 2},   {24, 144, 1, 56, 2, 2}, {1, 144, 3, 56, 1, 2},
    {144, 24, 1, 56, 1, 2}, {1, 144, 3, 28, 1, 2},   {144, 32, 1, 28, 1, 2}, {32, 192, 1, 28, 3, 2},
    {1, 192, 3, 28, 2, 2},  {192, 32, 1, 28, 2, 2},  {1, 192, 3, 14, 1, 2},  {192, 64, 1, 14, 1, 2},
    {64, 384, 1, 14, 4, 2}, {1, 384, 3, 14, 4, 2},   {384, 64, 1, 14, 3, 2}, {384, 96, 1, 14, 1, 2},
    {96, 576, 1, 14, 3, 2}, {1, 576, 3, 14, 2, 2},   {576, 96, 1, 14, 2, 2}, {1, 576, 3, 7, 1, 2},
    {576, 160, 1, 7, 1, 2}, {160, 960, 1, 7, 3, 2},  {1, 960, 3, 7, 3, 2},   {960, 160, 1, 7, 2, 2},
    {960, 320, 1, 7, 1, 2}, {320, 1280, 1, 7, 1, 2}, DENSE(1280, 1000),      END};

/* Published: parameters, and multiply-adds in 10^9 to two decimals as torchvision's tables have them; 0 where no exact
 * figure is. */
static const struct {
    const char *name;
    const struct layer *layers;
    int64_t parameters;
    double giga;
} counts[] = {
    {"lenet", lenet, 0, 0},
    {"mlp", mlp, 0, 0},
    {"fcn5", fcn5, 0, 0},
    {"alexnet", alexnet, 61100840, 0.71},
    {"alexnet-cifar", alexnet_cifar, 0, 0},
    {"vgg16", vgg16, 138357544, 15.47},
    {"squeezenet", squeezenet, 1235496, 0.35},
    {"resnet20", resnet20, 272474, 0},
    {"resnet56", resnet56, 0, 0},
    {"resnet50", resnet50, 25557032, 4.09},
    {"resnet50-v1", resnet50_v1, 25557032, 0},
    {"mobilenet-v2", mobilenet_v2, 3504872, 0.30},
};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static struct ys_graph *usual(const char *name)
{
    const struct ys_model *model = ys_model_find(name);
    struct ys_graph *graph = NULL;
    if (!model || model->build(&model->usual, &graph) != YS_OK)
        tap_check(false, __LINE__, "%s: %s", name, model ? ys_error() : "no such model");
    return graph;
}

static void counts_are_the_published_ones_and_those_of_the_layers(void)
{
    for (size_t i = 0; i < COUNTS; i++) {
        struct ys_graph *graph = usual(counts[i].name);
        REQUIRE(graph);
        int64_t parameters = 0, multiply_adds = 0;
        for (const struct layer *l = counts[i].layers; l->times; l++) {
            int64_t weights = l->in * l->out * l->kernel * l->kernel;
            parameters += l->times * (weights + l->per_channel * l->out);
            multiply_adds += l->times * weights * l->extent * l->extent;
        }
        int64_t counted = ys_graph_parameter_count(graph), work = ys_graph_multiply_adds(graph);
        tap_check(counted == parameters, __LINE__, "%s: %lld parameters, its layers have %lld", counts[i].name,
                  (long long)counted, (long long)parameters);
        tap_check(work == multiply_adds, __LINE__, "%s: %lld multiply-adds, its layers have %lld", counts[i].name,
                  (long long)work, (long long)multiply_adds);
        tap_check(!counts[i].parameters || counted == counts[i].parameters, __LINE__, "%s: %lld parameters published",
                  counts[i].name, (long long)counts[i].parameters);
        tap_check(counts[i].giga == 0 || fabs((double)work * 1e-9 - counts[i].giga) <= 0.005, __LINE__,
                  "%s: %.2f * 10^9 multiply-adds published", counts[i].name, counts[i].giga);
        ys_graph_free(graph);
    }
}

static void every_model_is_in_the_table_once(void)
{
    size_t models = 0;
    for (const struct ys_model *model = ys_models(); model->name; model++, models++) {
        int found = 0;
        for (size_t i = 0; i < COUNTS; i++)
            found += strcmp(counts[i].name, model->name) == 0;
        tap_check(found == 1, __LINE__, "%s is in the table %d times", model->name, found);
        CHECK(ys_model_find(model->name) == model);
    }
    CHECK_INT(models, COUNTS);
    CHECK(ys_model_find("resnet999") == NULL);
    CHECK(ys_model_find("") == NULL);
}

static void every_model_begins_with_pixels_and_ends_in_its_classes(void)
{
    for (const struct ys_model *model = ys_models(); model->name; model++) {
        struct ys_graph *graph = usual(model->name);
        REQUIRE(graph);
        CHECK_TEXT(graph->name, model->name);
        CHECK_INT(graph->nodes[0].op, YS_OP_NORMALIZE);
        CHECK_INT(graph->values[graph->output].shape[1], model->usual.classes);
        CHECK_INT(graph->loss, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
        CHECK(graph->label_smoothing == 0);
        ys_graph_free(graph);
    }
}

/** Builds `name` for another input; its message is to hold `message`, or, with NULL, it is to have the parameters. */
static void build_for(const char *name, int64_t channels, int64_t height, int64_t width, int64_t classes,
                      int64_t parameters, const char *message)
{
    const struct ys_model_input input = {
        .shape = {channels, height, width}, .dtype = YS_F32, .scale = 1, .classes = classes};
    struct ys_graph *graph = NULL;
    ys_status status = ys_model_find(name)->build(&input, &graph);
    if (message) {
        tap_check(status == YS_EINVAL && !graph, __LINE__, "%s: %s", name, ys_status_name(status));
        CHECK_HAS(ys_error(), message);
    } else if (CHECK(status == YS_OK)) {
        tap_check(ys_graph_parameter_count(graph) == parameters, __LINE__, "%s on %lldx%lldx%lld has %lld parameters",
                  name, (long long)channels, (long long)height, (long long)width,
                  (long long)ys_graph_parameter_count(graph));
        CHECK_INT(graph->values[graph->inputs[0]].dtype, YS_F32);
        CHECK_INT(graph->values[graph->output].shape[1], classes);
    }
    ys_graph_free(graph);
}

static void models_adapt_to_the_data(void)
{
    build_for("lenet", 3, 32, 32, 100, 3 * 32 * 25 + 32 + 51264 + 64 * 64 * 1024 + 1024 + 1024 * 100 + 100, NULL);
    build_for("mlp", 3, 32, 32, 100, 3072 * 512 + 512 + 512 * 256 + 256 + 256 * 100 + 100, NULL);
    /* Global pooling: one channel in place of three, and another last layer, are all that changes, on any extent. */
    build_for("resnet50", 1, 28, 28, 10, 25557032 - 2 * 64 * 49 - 990 * 2049, NULL);
    build_for("resnet50", 1, 1, 1, 10, 25557032 - 2 * 64 * 49 - 990 * 2049, NULL);
    build_for("mobilenet-v2", 3, 32, 32, 10, 3504872 - 990 * 1281, NULL);
    build_for("squeezenet", 3, 32, 32, 10, 1235496 - 990 * 513, NULL);
    build_for("resnet20", 1, 28, 28, 10, 272474 - 2 * 16 * 9, NULL);
    /* Behind five halvings 32x32 is one pixel: 512 features in place of 512 * 49. */
    build_for("vgg16", 3, 32, 32, 10, 138357544 - 512 * 48 * 4096 - 990 * 4097, NULL);
}

static void data_that_do_not_fit_are_refused(void)
{
    build_for("lenet", 1, 3, 28, 10, 0,
              "model lenet on [N,1,3,28]: node pool2 (MaxPool): a window of height 2 does not");
    build_for("vgg16", 1, 28, 28, 10, 0, "model vgg16 on [N,1,28,28]: node pool5 (MaxPool): a window of height 2");
    build_for("alexnet", 3, 32, 32, 10, 0, "model alexnet on [N,3,32,32]: node pool5 (MaxPool): a window of height 3");
    build_for("mlp", 1, 28, 28, 1, 0, "model mlp: 1 classes in the data: must be 2 to 65536");
    build_for("mlp", 0, 28, 28, 10, 0, "model mlp: channels 0 of the data: must be 1 to 65536");
    build_for("mlp", 1, 28, 65537, 10, 0, "model mlp: width 65537 of the data");
    build_for("mlp", 65536, 65536, 65536, 10, 0, "more than 2^40 elements");
    struct ys_model_input input = {.shape = {1, 28, 28}, .dtype = YS_I64, .scale = 1, .classes = 10};
    struct ys_graph *graph = NULL;
    CHECK(ys_model_find("mlp")->build(&input, &graph) == YS_EINVAL);
    CHECK(!graph);
}

/** What consumes each convolution of the model, and whether it has a bias. */
static void biases_are_left_out_where_batch_normalisation_follows(void)
{
    for (const struct ys_model *model = ys_models(); model->name; model++) {
        struct ys_graph *graph = usual(model->name);
        REQUIRE(graph);
        for (size_t i = 0; i < graph->node_count; i++) {
            const struct ys_node *node = &graph->nodes[i];
            const struct ys_node *before =
                node->op == YS_OP_BATCHNORM ? &graph->nodes[graph->values[node->in[0]].producer] : node;
            if (node->op == YS_OP_BATCHNORM)
                tap_check(before->op == YS_OP_CONV && before->bias < 0, __LINE__, "%s: %s", model->name, node->name);
            bool normalised = node->op == YS_OP_CONV && graph->nodes[i + 1].op == YS_OP_BATCHNORM;
            if (node->op == YS_OP_CONV || node->op == YS_OP_GEMM)
                tap_check((node->bias >= 0) == !normalised, __LINE__, "%s: %s", model->name, node->name);
        }
        ys_graph_free(graph);
    }
}

static void dropout_is_where_it_was_published(void)
{
    static const struct {
        const char *name;
        int count;
        double ratio;
    } cases[] = {
        {"alexnet", 2, 0.5},      {"vgg16", 2, 0.5},  {"squeezenet", 1, 0.5},
        {"mobilenet-v2", 1, 0.2}, {"resnet50", 0, 0}, {"alexnet-cifar", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_graph *graph = usual(cases[i].name);
        REQUIRE(graph);
        int count = 0;
        for (size_t n = 0; n < graph->node_count; n++)
            if (graph->nodes[n].op == YS_OP_DROPOUT) {
                CHECK(graph->nodes[n].ratio == cases[i].ratio);
                count++;
            }
        tap_check(count == cases[i].count, __LINE__, "%s has %d", cases[i].name, count);
        ys_graph_free(graph);
    }
}

static const struct ys_node *node_of(const struct ys_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0)
            return &graph->nodes[i];
    tap_check(false, __LINE__, "%s has no node %s", graph->name, name);
    return &graph->nodes[0];
}

static void depthwise_weights_count_fan_out_over_all_channels(void)
{
    struct ys_graph *graph = usual("mobilenet-v2");
    REQUIRE(graph);
    const struct ys_node *node = node_of(graph, "block1.conv_depthwise");
    CHECK_INT(node->window.group, 32);
    CHECK(graph->params[node->weight].init.b == sqrt(2.0 / (32 * 9)));
    const struct ys_node *bn = node_of(graph, "block1.bn_depthwise");
    CHECK(bn->batchnorm.epsilon == 1e-5 && bn->batchnorm.momentum == 0.1);
    CHECK(graph->params[bn->weight].init.a == 1 && graph->params[bn->bias].init.a == 0);
    CHECK(graph->params[bn->running_mean].role == YS_ROLE_BUFFER && graph->params[bn->running_mean].init.a == 0);
    CHECK(graph->params[bn->running_var].role == YS_ROLE_BUFFER && graph->params[bn->running_var].init.a == 1);
    CHECK_TEXT(graph->params[bn->running_var].name, "block1.bn_depthwise.running_var");
    ys_graph_free(graph);
}

static void strides_stand_where_the_versions_have_them(void)
{
    struct ys_graph *later = usual("resnet50"), *first = usual("resnet50-v1");
    REQUIRE(later && first);
    CHECK_INT(node_of(later, "layer2.0.conv1")->window.stride[0], 1);
    CHECK_INT(node_of(later, "layer2.0.conv2")->window.stride[0], 2);
    CHECK_INT(node_of(first, "layer2.0.conv1")->window.stride[0], 2);
    CHECK_INT(node_of(first, "layer2.0.conv2")->window.stride[0], 1);
    CHECK_INT(node_of(later, "layer2.0.conv_projection")->window.stride[0], 2);
    CHECK_INT(node_of(later, "layer1.0.conv_projection")->window.stride[0], 1);
    /* A block's input is read by its first convolution and by its shortcut. */
    CHECK_INT(later->values[node_of(later, "layer1.1.conv1")->in[0]].uses, 2);
    ys_graph_free(later);
    ys_graph_free(first);
}

static void every_failing_allocation_of_a_model_is_reported(void)
{
    static const char *const names[] = {"lenet", "mobilenet-v2", "resnet20"};
    for (size_t i = 0; i < 3; i++) {
        const struct ys_model *model = ys_model_find(names[i]);
        long n = 1;
        for (; n < 9000; n++) {
            struct ys_graph *graph = NULL;
            ys_mem_fail_at(n);
            ys_status status = model->build(&model->usual, &graph);
            ys_mem_fail_at(0);
            ys_graph_free(graph);
            if (status == YS_OK)
                break;
            CHECK(status == YS_ENOMEM);
        }
        CHECK(n > 20 && n < 9000);
    }
}

TAP_MAIN(TAP_CASE(counts_are_the_published_ones_and_those_of_the_layers), TAP_CASE(every_model_is_in_the_table_once),
         TAP_CASE(every_model_begins_with_pixels_and_ends_in_its_classes), TAP_CASE(models_adapt_to_the_data),
         TAP_CASE(data_that_do_not_fit_are_refused), TAP_CASE(biases_are_left_out_where_batch_normalisation_follows),
         TAP_CASE(dropout_is_where_it_was_published), TAP_CASE(depthwise_weights_count_fan_out_over_all_channels),
         TAP_CASE(strides_stand_where_the_versions_have_them),
         TAP_CASE(every_failing_allocation_of_a_model_is_reported))
