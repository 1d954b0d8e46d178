/* What the networks of Wu and others differ in besides their layers: pixels, initial values, factors, pools, tables. */
#include "base/mem.h"
#include "base/safetensors.h"
#include "graph/model.h"
#include "tap.h"
#include "unit/base/scratch.h"
#include <math.h>

static struct ys_graph *usual(const char *name)
{
    const struct ys_model *model = ys_model_find(name);
    struct ys_graph *graph = NULL;
    if (!model || model->build(&model->usual, &graph) != YS_OK)
        tap_check(false, __LINE__, "%s: %s", name, model ? ys_error() : "no such model");
    return graph;
}

static const struct ys_node *node_of(const struct ys_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0)
            return &graph->nodes[i];
    tap_check(false, __LINE__, "%s has no node %s", graph->name, name);
    return &graph->nodes[0];
}

static void pixels_have_the_published_range(void)
{
    static const struct {
        const char *name;
        double scale, mean, std;
    } cases[] = {
        {"lenet", 1.0 / 255, 0, 1},         {"tf-mnist", 1.0 / 255, 0, 1},  {"caffe-mnist", 0.00390625, 0, 1},
        {"theano-mnist", 0.00390625, 0, 1}, {"fcn5", 0.00390625, 0, 1},     {"torch-mnist", 1.0 / 255, 0.1307, 0.3081},
        {"caffe-cifar10", 1, 120.7, 1},     {"alexnet-cifar", 1, 120.7, 1}, {"tf-cifar10", 1.0 / 255, 0.4734, 0.2516}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_graph *graph = usual(cases[i].name);
        REQUIRE(graph);
        const struct ys_normalize *n = &graph->nodes[0].normalize;
        tap_check(n->scale == cases[i].scale && n->mean[0] == cases[i].mean && n->std[0] == cases[i].std, __LINE__,
                  "%s: scale %.17g, mean %g, std %g", cases[i].name, n->scale, n->mean[0], n->std[0]);
        ys_graph_free(graph);
    }
}

static void initial_values_have_the_published_distributions(void)
{
    static const struct {
        const char *model, *node;
        enum ys_init kind;
        double spread; /* limit of a uniform distribution, else the deviation */
        enum ys_init bias_kind;
        double bias; /* its value or limit */
    } cases[] = {
        {"lenet", "conv2", YS_INIT_UNIFORM, 0.08660254037844387, YS_INIT_CONSTANT, 0},  /* sqrt(6 / 800) */
        {"lenet", "fc2", YS_INIT_UNIFORM, 0.05412658773652741, YS_INIT_CONSTANT, 0},    /* sqrt(3 / 1024) */
        {"alexnet", "conv2", YS_INIT_UNIFORM, 0.025, YS_INIT_UNIFORM, 0.025},           /* 1 / sqrt(1600) */
        {"vgg16", "conv1_2", YS_INIT_NORMAL, 0.05892556509887896, YS_INIT_CONSTANT, 0}, /* sqrt(2 / (64 9)) */
        {"vgg16", "fc6", YS_INIT_NORMAL, 0.01, YS_INIT_CONSTANT, 0},
        {"squeezenet", "conv10", YS_INIT_NORMAL, 0.01, YS_INIT_CONSTANT, 0},
        {"resnet50", "fc", YS_INIT_UNIFORM, 0.022097086912079608, YS_INIT_UNIFORM, 0.022097086912079608},
        {"tf-mnist", "fc1", YS_INIT_TRUNCATED_NORMAL, 0.1, YS_INIT_CONSTANT, 0.1},
        {"tf-cifar10", "conv1", YS_INIT_TRUNCATED_NORMAL, 0.05, YS_INIT_CONSTANT, 0},
        {"tf-cifar10", "conv2", YS_INIT_TRUNCATED_NORMAL, 0.05, YS_INIT_CONSTANT, 0.1},
        {"tf-cifar10", "local4", YS_INIT_TRUNCATED_NORMAL, 0.04, YS_INIT_CONSTANT, 0.1},
        {"tf-cifar10", "softmax_linear", YS_INIT_TRUNCATED_NORMAL, 1 / 192.0, YS_INIT_CONSTANT, 0},
        {"caffe-mnist", "conv1", YS_INIT_UNIFORM, 0.34641016151377546, YS_INIT_CONSTANT, 0}, /* sqrt(3 / 25) */
        {"caffe-cifar10", "conv1", YS_INIT_NORMAL, 0.0001, YS_INIT_CONSTANT, 0},
        {"caffe-cifar10", "conv3", YS_INIT_NORMAL, 0.01, YS_INIT_CONSTANT, 0},
        {"caffe-cifar10", "ip2", YS_INIT_NORMAL, 0.1, YS_INIT_CONSTANT, 0},
        {"torch-mnist", "conv1", YS_INIT_UNIFORM, 0.2, YS_INIT_UNIFORM, 0.2},
        {"torch-mnist", "fc1", YS_INIT_UNIFORM, 1 / 24.0, YS_INIT_UNIFORM, 1 / 24.0},
        {"torch-cifar10", "conv1", YS_INIT_UNIFORM, 0.2, YS_INIT_UNIFORM, 0.2}, /* one input channel seen */
        {"torch-cifar10", "conv2", YS_INIT_UNIFORM, 0.1, YS_INIT_UNIFORM, 0.1}, /* four */
        {"theano-mnist", "conv1", YS_INIT_UNIFORM, 0.2, YS_INIT_CONSTANT, 0},   /* sqrt(6 / (25 + 125)) */
        {"theano-mnist", "conv2", YS_INIT_UNIFORM, 0.08596023825918792, YS_INIT_CONSTANT,
         0}, /* sqrt(6 / (500 + 312)) */
        {"theano-mnist", "fc2", YS_INIT_CONSTANT, 0, YS_INIT_CONSTANT, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_graph *graph = usual(cases[i].model);
        REQUIRE(graph);
        const struct ys_node *node = node_of(graph, cases[i].node);
        const struct ys_initializer *weight = &graph->params[node->weight].init,
                                    *bias = &graph->params[node->bias].init;
        double spread = weight->kind == YS_INIT_CONSTANT ? weight->a : weight->b;
        double bias_spread = bias->kind == YS_INIT_CONSTANT ? bias->a : bias->b;
        /* One division and one square root away from the literal: two roundings. */
        tap_check(weight->kind == cases[i].kind && fabs(spread - cases[i].spread) <= 4e-16 * cases[i].spread, __LINE__,
                  "%s %s: kind %d, %.17g", cases[i].model, cases[i].node, (int)weight->kind, spread);
        tap_check(bias->kind == cases[i].bias_kind && fabs(bias_spread - cases[i].bias) <= 4e-16 * cases[i].bias,
                  __LINE__, "%s %s: bias of kind %d, %.17g", cases[i].model, cases[i].node, (int)bias->kind,
                  bias_spread);
        CHECK(weight->kind != YS_INIT_UNIFORM || weight->a == -weight->b);
        ys_graph_free(graph);
    }
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

static void factors_are_the_published_ones(void)
{
    static const struct {
        const char *model, *node;
        double weight_lr, weight_decay, bias_lr, bias_decay;
    } cases[] = {{"lenet", "conv1", 1, 1, 1, 1},         {"caffe-mnist", "conv1", 1, 1, 2, 1},
                 {"caffe-mnist", "ip2", 1, 1, 2, 1},     {"caffe-cifar10", "ip1", 1, 1, 2, 1},
                 {"tf-cifar10", "conv2", 1, 0, 1, 0},    {"tf-cifar10", "local3", 1, 1, 1, 0},
                 {"tf-cifar10", "local4", 1, 1, 1, 0},   {"tf-cifar10", "softmax_linear", 1, 0, 1, 0},
                 {"alexnet-cifar", "conv1", 1, 1, 2, 0}, {"alexnet-cifar", "fc4", 1, 250, 2, 0},
                 {"torch-cifar10", "conv2", 1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_graph *graph = usual(cases[i].model);
        REQUIRE(graph);
        const struct ys_node *node = node_of(graph, cases[i].node);
        const struct ys_param *weight = &graph->params[node->weight], *bias = &graph->params[node->bias];
        tap_check(weight->lr_mult == cases[i].weight_lr && weight->decay_mult == cases[i].weight_decay &&
                      bias->lr_mult == cases[i].bias_lr && bias->decay_mult == cases[i].bias_decay,
                  __LINE__, "%s %s: %g %g %g %g", cases[i].model, cases[i].node, weight->lr_mult, weight->decay_mult,
                  bias->lr_mult, bias->decay_mult);
        ys_graph_free(graph);
    }
}

static void tensorflows_response_normalisation_is_converted_exactly(void)
{
    struct ys_graph *graph = usual("tf-cifar10");
    REQUIRE(graph);
    const struct ys_lrn *lrn = &node_of(graph, "norm1")->lrn;
    CHECK_INT(lrn->size, 2 * 4 + 1);
    CHECK(lrn->alpha / (double)lrn->size == 0.001 / 9.0);
    CHECK(lrn->bias == 1 && lrn->beta == 0.75);
    /* Pooled, then normalised, in the first stage; the other way round in the second. */
    CHECK(node_of(graph, "norm1") > node_of(graph, "pool1"));
    CHECK(node_of(graph, "norm2") < node_of(graph, "pool2"));
    const struct ys_window *pool = &node_of(graph, "pool1")->window;
    CHECK(pool->pad[0] == 0 && pool->pad[1] == 0 && pool->pad[2] == 1 && pool->pad[3] == 1 && !pool->ceil);
    ys_graph_free(graph);
}

static void random_connections_are_permutations_cut_in_pieces(void)
{
    struct ys_graph *graph = usual("torch-cifar10");
    REQUIRE(graph);
    static const struct {
        const char *node;
        int in, out, seen;
    } cases[] = {{"conv1", 3, 16, 1}, {"conv2", 16, 256, 4}};
    for (size_t i = 0; i < 2; i++) {
        const unsigned char *row = node_of(graph, cases[i].node)->connected;
        REQUIRE(row);
        int pieces = cases[i].in / cases[i].seen, taken[16] = {0};
        for (int o = 0; o < cases[i].out; o++, row += cases[i].in) {
            int seen = 0;
            for (int c = 0; c < cases[i].in; c++) {
                seen += row[c];
                taken[c] += row[c];
            }
            CHECK_INT(seen, cases[i].seen);
            if (o % pieces == pieces - 1) /* every channel once in each permutation */
                for (int c = 0; c < cases[i].in; c++)
                    CHECK_INT(taken[c], o / pieces + 1);
        }
    }
    ys_graph_free(graph);
}

static void tables_are_the_models_and_weights_the_seeds(void)
{
    struct ys_graph *graph = usual("torch-cifar10"), *again = usual("torch-cifar10");
    REQUIRE(graph && again);
    const struct ys_node *node = node_of(graph, "conv2");
    CHECK(memcmp(node->connected, node_of(again, "conv2")->connected, 256 * 16) == 0);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        char hash[65];
        struct ys_safetensors *file;
        const char *path = scratch("torch.safetensors");
        REQUIRE(ys_graph_write_weights(graph, seed, path, hash) == YS_OK);
        REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
        const struct ys_tensor *weight = ys_safetensors_find(file, "conv2.weight");
        int wrong = 0;
        for (size_t i = 0; i < ys_tensor_count(weight); i++)
            wrong += (ys_tensor_value(weight, i) == 0) != !node->connected[i / 25];
        CHECK_INT(wrong, 0); /* a draw of exactly 0 is one in 2^32 of 25600 */
        ys_safetensors_close(file);
    }
    ys_graph_free(graph);
    ys_graph_free(again);
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

TAP_MAIN(TAP_CASE(pixels_have_the_published_range), TAP_CASE(initial_values_have_the_published_distributions),
         TAP_CASE(depthwise_weights_count_fan_out_over_all_channels), TAP_CASE(factors_are_the_published_ones),
         TAP_CASE(tensorflows_response_normalisation_is_converted_exactly),
         TAP_CASE(random_connections_are_permutations_cut_in_pieces),
         TAP_CASE(tables_are_the_models_and_weights_the_seeds), TAP_CASE(strides_stand_where_the_versions_have_them))
