/* The ONNX file of a plan, for frameworks that read one. */
#include "framework/network_file.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "graph/model.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <stdlib.h>

static char spec[] = "reader";

/* A plan of `model` in the scratch folder, its graph and weights on disk. */
static struct ys_plan make_plan(const char *model, enum ys_precision precision)
{
    const struct ys_model *found = ys_model_find(model);
    struct ys_graph *graph = NULL;
    struct ys_plan plan;
    char hash[65];
    const char *graph_path = scratch("graph.json"), *weights_path = scratch("weights.safetensors");
    ys_json *json = NULL;
    ys_status status = found->build(&found->usual, &graph);
    if (status == YS_OK)
        status = ys_graph_write_weights(graph, 1, weights_path, hash);
    if (status == YS_OK && (json = ys_graph_to_json(graph)))
        status = ys_json_write(graph_path, json);
    ys_json_free(json);
    ys_graph_free(graph);
    CHECK(status == YS_OK);
    ys_plan_init(&plan);
    ys_set_text(&plan.graph, graph_path);
    ys_set_text(&plan.weights, weights_path);
    ys_set_text(&plan.folder, scratch(""));
    plan.precision = precision;
    return plan;
}

static uint64_t size_of(const char *path)
{
    struct ys_buf content = {0};
    CHECK(ys_fs_read(path, (size_t)1 << 26, &content) == YS_OK);
    uint64_t size = content.size;
    ys_buf_free(&content);
    return size;
}

static void a_framework_that_reads_onnx_is_named_a_file(void)
{
    const struct ys_framework framework = {.spec = spec, .reads_onnx = true};
    static const enum ys_precision precisions[] = {YS_PRECISION_F32, YS_PRECISION_BF16, YS_PRECISION_F64};
    for (int i = 0; i < 3; i++) {
        struct ys_plan plan = make_plan("mlp", precisions[i]);
        REQUIRE(ys_framework_model_file(&framework, &plan) == YS_OK);
        const char *path = plan.onnx;
        REQUIRE(path);
        uint64_t weights = 535818 * (i == 2 ? 8 : 4), size = size_of(path);
        CHECK(size > weights && size < weights + 4096);
        ys_framework_model_file_remove(&plan);
        CHECK(!ys_fs_exists(path));
        ys_plan_fini(&plan);
    }
}

static void others_are_not(void)
{
    const struct ys_framework framework = {.spec = spec};
    struct ys_plan plan = make_plan("mlp", YS_PRECISION_F32);
    CHECK(ys_framework_model_file(&framework, &plan) == YS_OK);
    CHECK(!plan.onnx);
    ys_framework_model_file_remove(&plan);
    ys_plan_fini(&plan);
}

static void a_network_that_onnx_cannot_hold_leaves_the_plan_without(void)
{
    static const char text[] =
        "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"huge\",\"inputs\":[{\"name\":\"x\",\"shape\":[\"N\","
        "67108864],\"dtype\":\"F32\"}],\"nodes\":[{\"op\":\"Gemm\",\"name\":\"g\",\"in\":[\"x\"],\"out\":[\"v\"],"
        "\"params\":{\"weight\":\"w\"}}],\"params\":[{\"name\":\"w\",\"shape\":[8,67108864],\"role\":\"weight\","
        "\"init\":{\"dist\":\"constant\",\"value\":0}}],\"output\":\"v\",\"loss\":\"softmax_cross_entropy\"}";
    const struct ys_framework framework = {.spec = spec, .reads_onnx = true};
    struct ys_plan plan = make_plan("mlp", YS_PRECISION_F32);
    ys_set_text(&plan.graph, scratch_text("huge.json", text));
    CHECK(ys_framework_model_file(&framework, &plan) == YS_OK);
    CHECK(!plan.onnx);
    ys_plan_fini(&plan);
}

static void a_folder_that_is_missing_is_an_error(void)
{
    const struct ys_framework framework = {.spec = spec, .reads_onnx = true};
    struct ys_plan plan = make_plan("mlp", YS_PRECISION_F32);
    ys_set_text(&plan.folder, scratch("no/such/folder"));
    CHECK(ys_framework_model_file(&framework, &plan) == YS_EIO);
    CHECK_HAS(ys_error(), "no/such/folder");
    ys_plan_fini(&plan);
}

TAP_MAIN(TAP_CASE(a_framework_that_reads_onnx_is_named_a_file), TAP_CASE(others_are_not),
         TAP_CASE(a_network_that_onnx_cannot_hold_leaves_the_plan_without),
         TAP_CASE(a_folder_that_is_missing_is_an_error))
