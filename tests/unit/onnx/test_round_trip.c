/* What yardstick exports it reads again: the same graph with the same values. */
#include "base/mem.h"
#include "graph/builder.h"
#include "graph/model.h"
#include "onnx/read/onnx_read.h"
#include "onnx/write/onnx_write.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Without what ONNX has no word for, and without how a pool's last windows are said: an export has padding in place of
 * `ceil_mode`. (How many windows there are same_extents() compares.) */
static ys_json *bare(const struct ys_graph *graph)
{
    ys_json *json = ys_graph_to_json(graph);
    for (size_t i = 0; i < ys_json_size(ys_json_get(json, "params")); i++) {
        ys_json *param = ys_json_at(ys_json_get(json, "params"), i);
        ys_json_remove(param, "init");
        ys_json_remove(param, "lr_mult");
        ys_json_remove(param, "decay_mult");
    }
    for (size_t i = 0; i < ys_json_size(ys_json_get(json, "nodes")); i++) {
        ys_json *node = ys_json_at(ys_json_get(json, "nodes"), i);
        if (strcmp(ys_json_get_text(node, "op", ""), "MaxPool") == 0) {
            ys_json_remove(ys_json_get(node, "attrs"), "ceil_mode");
            ys_json_remove(ys_json_get(node, "attrs"), "pads");
        }
    }
    return json;
}

static bool same_extents(const struct ys_graph *a, const struct ys_graph *b)
{
    bool same = a->value_count == b->value_count;
    for (size_t i = 0; same && i < a->value_count; i++)
        same = a->values[i].rank == b->values[i].rank &&
               memcmp(a->values[i].shape, b->values[i].shape, a->values[i].rank * sizeof *a->values[i].shape) == 0;
    return same;
}

/* The graph is freed. */
static void check_round_trip(const char *folder, struct ys_graph *graph, enum ys_dtype dtype)
{
    char *onnx = ys_path_join(folder, "x.onnx"), *values = ys_path_join(folder, "x.safetensors");
    char *again = ys_path_join(folder, "again.safetensors");
    char hash[65], hash_again[65];
    struct ys_onnx_import *import = NULL;
    CHECK(ys_graph_write_weights(graph, 1, values, hash) == YS_OK);
    struct ys_safetensors *weights = NULL;
    CHECK(ys_safetensors_open(values, &weights) == YS_OK);
    CHECK(ys_onnx_write(graph, weights, dtype, onnx) == YS_OK);
    if (!CHECK(ys_onnx_read(onnx, NULL, &import) == YS_OK))
        printf("# %s: %s\n", graph->name, ys_error());
    else {
        ys_json *before = bare(graph), *after = bare(import->graph);
        if (!CHECK(ys_json_equal(before, after) && same_extents(graph, import->graph)))
            printf("# %s comes back as another graph\n", graph->name);
        CHECK(ys_onnx_write_values(import, again, hash_again) == YS_OK);
        CHECK_TEXT(hash_again, hash);
        ys_json_free(before);
        ys_json_free(after);
    }
    ys_onnx_import_free(import);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
    ys_free(onnx);
    ys_free(values);
    ys_free(again);
}

/* What no published network has: Pad, also before a convolution, transposed convolutions, parameters as operands. */
static struct ys_graph *rare_operators(void)
{
    const struct ys_window twice = {
        .kernel = {3, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad = {1, 0, 1, 1}, .group = 2, .extra = {1, 0}};
    const struct ys_node reflect = {.op = YS_OP_PAD, .pad = {YS_PAD_REFLECT, 0, 4, {0, 0, 1, 2}, {0, 1, 0, 1}}};
    const struct ys_node zeros = {.op = YS_OP_PAD, .pad = {YS_PAD_CONSTANT, 0, 4, {0, 0, 1, 0}, {0, 0, 1, 1}}};
    const struct ys_node value = {.op = YS_OP_PAD, .pad = {YS_PAD_CONSTANT, -1.5, 4, {0, 0, 0, 0}, {0, 2, 0, 0}}};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (!CHECK(ys_build_new("rare", (const int64_t[]){3, 6, 5}, 3, YS_F32, &b) == YS_OK))
        return NULL;
    int v = ys_build_conv(b, ys_build_input(b), 4, 3, 1, 0, "conv1");
    v = ys_build_node(b, &reflect, &v, 1, "reflected");
    v = ys_build_node(b, &value, &v, 1, "more");
    v = ys_build_conv(b, v, 4, 1, 1, 0, "conv2");
    v = ys_build_node(b, &(struct ys_node){.op = YS_OP_GELU, .by_tanh = true}, &v, 1, "gelu");
    v = ys_build_conv_transpose(b, v, 6, &twice, "wider");
    v = ys_build_operand(b, YS_OP_DIV, v, (const int64_t[]){6, 1, 1}, 3, (struct ys_initializer){YS_INIT_UNIFORM, 1, 2},
                         "divided");
    v = ys_build_operand(b, YS_OP_SUB, v, &ys_build_shape(b, v)[3], 1, (struct ys_initializer){YS_INIT_UNIFORM, 1, 2},
                         "less");
    v = ys_build_node(b, &zeros, &v, 1, "around");
    v = ys_build_conv(b, v, 2, 3, 1, 1, "conv3");
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 3, "fc");
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    return graph;
}

/* Places told by turning, in two heads, behind a normalisation without a mean. */
static struct ys_graph *turned(bool interleaved, double base)
{
    const struct ys_node turn = {.op = YS_OP_ROTARY, .rotary = {2, base, interleaved}};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (!CHECK(ys_build_new("turned", (const int64_t[]){5}, 1, YS_I32, &b) == YS_OK))
        return NULL;
    int v = ys_build_rmsnorm(b, ys_build_embedding(b, ys_build_input(b), 7, 12, "embed"), 0.125, "rms");
    v = ys_build_node(b, &turn, &v, 1, "turn");
    ys_build_target(b, YS_TARGET_CLASSES);
    CHECK(ys_build_finish(b, ys_build_gemm(b, v, 7, "head"), &graph) == YS_OK);
    return graph;
}

static void an_export_comes_back_as_the_same_graph_and_values(void)
{
    char *folder = ys_strdup(scratch("trip"));
    CHECK(mkdir(folder, 0700) == 0);
    static const char *const names[] = {"mlp",      "lenet",    "resnet20",        "fcn5",      "gpt-nano", "lstm-char",
                                        "gru-char", "lstm-ptb", "lstm-classifier", "bert-mini", "vit-tiny"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct ys_model *model = ys_model_find(names[i]);
        for (int wide = 0; wide < 2; wide++) {
            struct ys_graph *graph = NULL;
            if (CHECK(model->build(&model->usual, &graph) == YS_OK))
                check_round_trip(folder, graph, wide ? YS_F64 : YS_F32);
        }
    }
    static const char *const wholes[] = {"alexnet",         "squeezenet",   "resnet18",      "resnet50",
                                         "mobilenet-v2",    "densenet121",  "shufflenet-v2", "mobilenet-v3",
                                         "efficientnet-b0", "convnext-tiny"};
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
        const struct ys_model *model = ys_model_find(wholes[i]);
        struct ys_model_input input = model->usual;
        struct ys_graph *graph = NULL;
        input.shape[1] = input.shape[2] = 64; /* their weights are the same of images of any extent */
        if (CHECK(ys_model_build(model, &input, &graph) == YS_OK))
            check_round_trip(folder, graph, YS_F32);
    }
    struct ys_graph *made[] = {rare_operators(), turned(false, 10000), turned(true, 10000), turned(true, 300)};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        if (made[i])
            check_round_trip(folder, made[i], YS_F32);
    ys_free(folder);
}

TAP_MAIN(TAP_CASE(an_export_comes_back_as_the_same_graph_and_values))
