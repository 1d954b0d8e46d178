/* The networks that frameworks came with, and what those of Wu and others differ in besides their layers: pixels,
 * initial values, factors, pools, tables. */
#include "framework/recipe_models.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stored/safetensors.h"
#include "tap.h"
#include "unit/base/scratch.h"
#include <math.h>

static struct ys_graph *usual(const char *name)
{
    ys_models_also(ys_framework_models);
    const struct ys_model *model = ys_model_find(name);
    struct ys_graph *graph = NULL;
    if (!model || ys_model_build(model, &model->usual, &graph) != YS_OK)
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

/* The graphs that functions in C made of them before they were files, byte for byte: the same initial values, the same
 * proofs. */
static void files_hold_the_graphs_that_were_built(void)
{
    static const struct {
        const char *name;
        int64_t shape[3];
        const char *hash; /* of the JSON form as yardstick writes it */
    } cases[] = {
        {"caffe-cifar10", {3, 32, 32}, "bff093ceacf795602bb81d89df318ab6cf87f5814f5a9820bbf89ffebe039e47"},
        {"caffe-cifar10", {1, 28, 28}, "71b000f65632efba2d3e239a0b68a912aab290e9f7253854ba6106d868f0a2eb"},
        {"caffe-mnist", {3, 32, 32}, "769291d418563ca57a4e30e2026e1eeea8adfc814d632ec36ec688d380cc3624"},
        {"caffe-mnist", {1, 28, 28}, "cbc8a5bd656ae8973fb01116217c25e007800e39fcb3bbf08761b3412f5fe27b"},
        {"tf-cifar10", {3, 32, 32}, "14e3870317ec6c961c4f98cd4521c3f7e2fee2586f736968529e2c7d1685e574"},
        {"tf-cifar10", {3, 24, 24}, "78b5c3ee29b4ca5f51b5a6403e63e63ff3ea7674f0f9a1cb88986ecf94ecef61"},
        {"tf-cifar10", {1, 28, 28}, "8ab5fbd9a96efa26a3e878a476e30085560e557e897b815fa307f9a63248d194"},
        {"tf-mnist", {3, 32, 32}, "c9af8f0574019955935fc6f813ac073f5b9760d6e8cc4a380ad55875663ee525"},
        {"tf-mnist", {1, 28, 28}, "7b480feb0e8cc3c8cf923667c866a35eeb4ef4afc7b89ea7eeaa4aa929bb23ce"},
        {"theano-cifar10", {3, 32, 32}, "f6eb2f8e3c776bab24b9d6da16a8423045be92f9f75ff01a74cdf9cb2ed43a3e"},
        {"theano-cifar10", {1, 28, 28}, "5f0fe70325a791538b9a70b247677528b42dca1f1e4a0ac7f83e4e1b6801d9d4"},
        {"theano-mnist", {3, 32, 32}, "3b48962f40c4535825bf04c4ec1eed9d1cce50847318834aa0df857794a96fff"},
        {"theano-mnist", {1, 28, 28}, "117f1ee154a451e19d190c38f797e16a6c685cf9066b9cc6227f919268f2e6ba"},
        {"torch-cifar10", {3, 32, 32}, "88d88459a950e9da3bd02996c912be0073a645a454be950c59d667d9320b537a"},
        {"torch-cifar10", {1, 28, 28}, "c87f4caa27e70366ed82e9cf447d0d82bde3ec2609e50b007c2e503d215ef518"},
        {"torch-mnist", {3, 32, 32}, "58a91737a485ad2b2f11578de81d858797a259380a360bb322e262bf09f4e29d"},
        {"torch-mnist", {1, 32, 32}, "1fe5b32b995729375dd5961ab56e4dae4e0c88ca1ce547a42a5aede5d6be2fc4"},
        {"torch-mnist", {1, 28, 28}, "f6a664bb64b0434dfaad3c90021a4357b820dfa2f47fd0fd4c8536eddcf3f055"},
    };
    ys_models_also(ys_framework_models);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ys_model *model = ys_model_find(cases[i].name);
        REQUIRE(model);
        struct ys_model_input input = model->usual;
        struct ys_graph *graph = NULL;
        char hash[YS_SHA256_TEXT] = "";
        memcpy(input.shape, cases[i].shape, sizeof input.shape);
        REQUIRE(ys_model_build(model, &input, &graph) == YS_OK);
        ys_json *json = ys_graph_to_json(graph);
        const char *path = scratch("graph.json");
        CHECK(ys_json_write(path, json) == YS_OK && ys_sha256_file(path, hash) == YS_OK);
        tap_check(strcmp(hash, cases[i].hash) == 0, __LINE__, "%s on %lldx%lldx%lld: %s", cases[i].name,
                  (long long)input.shape[0], (long long)input.shape[1], (long long)input.shape[2], hash);
        ys_json_free(json);
        ys_graph_free(graph);
    }
}

static void every_file_is_found_and_is_of_its_name(void)
{
    size_t count = 0;
    ys_models_also(ys_framework_models);
    for (const struct ys_model *model = ys_models_more(); model->name; model++, count++) {
        char *name = ys_format("%s.json", model->name);
        CHECK_TEXT(ys_path_base(model->path), name);
        CHECK(*model->title);
        CHECK(ys_model_find(model->name) == model);
        for (const struct ys_model *built = ys_models(); built->name; built++)
            CHECK(strcmp(built->name, model->name) != 0);
        ys_free(name);
    }
    CHECK_INT(count, 8);
}

static void data_without_a_file_are_refused(void)
{
    ys_models_also(ys_framework_models);
    const struct ys_model *model = ys_model_find("caffe-mnist");
    REQUIRE(model);
    struct ys_model_input input = model->usual;
    struct ys_graph *graph = NULL;
    input.shape[1] = 7;
    CHECK(ys_model_build(model, &input, &graph) == YS_EINVAL);
    CHECK_HAS(ys_error(), "model caffe-mnist is not there for data of 1x7x28, 10 classes, U8");
    CHECK_HAS(ys_error(), "caffe-mnist.1x7x28.json");
    input = model->usual;
    input.classes = 100;
    CHECK(ys_model_build(model, &input, &graph) == YS_EINVAL);
    CHECK(!graph);
}

TAP_MAIN(TAP_CASE(pixels_have_the_published_range), TAP_CASE(initial_values_have_the_published_distributions),
         TAP_CASE(factors_are_the_published_ones), TAP_CASE(tensorflows_response_normalisation_is_converted_exactly),
         TAP_CASE(random_connections_are_permutations_cut_in_pieces),
         TAP_CASE(tables_are_the_models_and_weights_the_seeds), TAP_CASE(files_hold_the_graphs_that_were_built),
         TAP_CASE(every_file_is_found_and_is_of_its_name), TAP_CASE(data_without_a_file_are_refused))
