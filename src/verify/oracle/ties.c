#include "verify/oracle/ties.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/row_order.h"
#include "graph/builder.h"
#include "graph/model.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHANNELS = 2, SIDE = 32, PIXELS = CHANNELS * SIDE * SIDE, ROWS = 4, CLASSES = 10, VALUES = 3 };

static bool is_known(const struct ys_window *window, const struct ys_graph *graph, size_t count)
{
    for (size_t n = 0; n < count; n++)
        if (graph->nodes[n].op == YS_OP_MAXPOOL && memcmp(&graph->nodes[n].window, window, sizeof *window) == 0)
            return true;
    return false;
}

/* Windows that do not fit any more, for what the pools before left is too small, are left out. */
static bool fits(const int64_t *shape, const struct ys_window *window)
{
    for (int d = 0; d < 2; d++)
        if (shape[2 + d] + window->pad[d] + window->pad[2 + d] < (window->kernel[d] - 1) * window->dilation[d] + 1)
            return false;
    return true;
}

static ys_status build(const struct ys_graph *like, struct ys_graph **graph, bool *has_pools)
{
    static const int64_t row[] = {CHANNELS, SIDE, SIDE};
    struct ys_build *b;
    char name[32];
    int pools = 0;
    YS_TRY(ys_build_new("ties", row, 3, YS_F32, &b));
    int v = ys_build_input(b);
    for (size_t n = 0; n < like->node_count; n++) {
        const struct ys_node *node = &like->nodes[n];
        if (node->op != YS_OP_MAXPOOL || is_known(&node->window, like, n) || !fits(ys_build_shape(b, v), &node->window))
            continue;
        snprintf(name, sizeof name, "pool%d", ++pools);
        v = ys_build_pool(b, YS_OP_MAXPOOL, v, &node->window, name);
    }
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), CLASSES, "fc");
    *has_pools = pools > 0;
    return ys_build_finish(b, v, graph);
}

static ys_status write_data(int64_t seed, const char *path)
{
    static const int64_t labels[ROWS];
    float *pixels = ys_alloc((size_t)ROWS * PIXELS, sizeof *pixels);
    struct ys_rng rng;
    ys_rng_init(&rng, (uint64_t)seed, "ties");
    for (size_t i = 0; i < (size_t)ROWS * PIXELS; i++)
        pixels[i] = (float)ys_rng_below(&rng, VALUES);
    const struct ys_tensor tensors[] = {{.name = "x",
                                         .dtype = YS_F32,
                                         .rank = 4,
                                         .shape = {ROWS, CHANNELS, SIDE, SIDE},
                                         .data = pixels,
                                         .size_bytes = (size_t)ROWS * PIXELS * sizeof *pixels},
                                        {.name = YS_TARGET_NAME,
                                         .dtype = YS_I64,
                                         .rank = 1,
                                         .shape = {ROWS},
                                         .data = labels,
                                         .size_bytes = sizeof labels}};
    const ys_status status = ys_safetensors_pass(path, tensors, 2);
    ys_free(pixels);
    return status;
}

/* Each batch of the proof is these rows. */
static ys_status write_order(const char *path)
{
    uint32_t rows[YS_VERIFY_STEPS * ROWS];
    double rates[YS_VERIFY_STEPS] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        rows[i] = (uint32_t)(i % ROWS);
    return ys_order_save(path, rows, NULL, ROWS, YS_VERIFY_STEPS, rates);
}

static ys_status write_all(const struct ys_graph *graph, const struct ys_plan *made)
{
    char hash[YS_SHA256_TEXT];
    ys_json *json = ys_graph_to_json(graph);
    ys_status status = ys_json_write(made->graph, json);
    ys_json_free(json);
    if (status == YS_OK)
        status = ys_graph_write_weights(graph, (uint64_t)made->seed, made->weights, hash);
    if (status == YS_OK)
        status = write_data(made->seed, made->input.path);
    return status == YS_OK ? write_order(made->input.order) : status;
}

static void point_at(struct ys_plan *made, const char *folder)
{
    char **const texts[] = {&made->graph, &made->weights, &made->input.path, &made->input.order};
    static const char *const names[] = {"graph.json", "weights.safetensors", "data.safetensors", "rows.safetensors"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *path = ys_path_join(folder, names[i]);
        ys_set_text(texts[i], path);
        ys_free(path);
    }
    ys_set_text(&made->input.kind, "file");
    ys_set_text(&made->onnx, NULL);
    ys_record_free(&ys_plan_converted_record, made->converted);
    made->converted = NULL;
    ys_set_text(&made->loss, "softmax_cross_entropy");
    made->mode = YS_MODE_ATTACK;
    made->batch = ROWS;
}

ys_status ys_ties_plan(const struct ys_plan *plan, const struct ys_graph *graph, const char *folder,
                       struct ys_plan *made, bool *has_pools)
{
    struct ys_graph *pools = NULL;
    YS_TRY(build(graph, &pools, has_pools));
    ys_status status = *has_pools ? ys_plan_copy(plan, made) : YS_OK;
    if (status == YS_OK && *has_pools) {
        point_at(made, folder);
        status = write_all(pools, made);
        if (status != YS_OK)
            ys_plan_fini(made);
    }
    ys_graph_free(pools);
    return status;
}

/* Images are asked for as they are. */
static ys_status open_reference(const struct ys_plan *plan, const char *folder, struct ys_reference *reference)
{
    YS_TRY(ys_reference_open_whole(plan, folder, reference));
    struct ys_input_files *files = &reference->asked_with[0];
    files->inputs = ys_strdup(plan->input.path);
    files->cotangent = ys_path_join(folder, "cotangent.safetensors");
    files->single_cotangent = ys_path_join(folder, "cotangent-f32.safetensors");
    const ys_status status = ys_input_cotangent_write(reference->graph, ROWS, plan->seed, 0, files);
    if (status != YS_OK)
        ys_reference_close(reference);
    return status;
}

static ys_status ask_framework(const struct ys_ties_request *request, const struct ys_reference *reference,
                               const struct ys_plan *tied, enum ys_precision precision, struct ys_findings *into)
{
    struct ys_questions questions = {.evaluation = true};
    struct ys_findings found = {0};
    struct ys_plan plan;
    ys_reference_put_inputs(reference, precision, &questions);
    YS_TRY(ys_reference_plan(reference, tied, precision, request->folder, &plan));
    ys_status status = ys_findings_collect(reference, request->framework, &plan, request->env, request->patience_s,
                                           &questions, &found);
    into->has_ties = found.has_input_gradient || (found.said.status && found.said.status != YS_RUN_UNSUPPORTED);
    into->ties = found.input_gradient[0];
    if (!found.has_input_gradient)
        ys_worst_raise(&into->ties, INFINITY, "logits");
    ys_findings_fini(&found);
    ys_plan_fini(&plan);
    return status;
}

static ys_status ask_all(const struct ys_ties_request *request, const struct ys_plan *tied, struct ys_findings *meaning,
                         struct ys_findings *numerics)
{
    struct ys_reference reference;
    YS_TRY(open_reference(tied, request->folder, &reference));
    ys_status status = ys_reference_ask(&reference, request->oracle, tied, 0, request->folder);
    if (status == YS_OK && meaning)
        status = ask_framework(request, &reference, tied, YS_PRECISION_F64, meaning);
    if (status == YS_OK)
        status = ask_framework(request, &reference, tied, (enum ys_precision)tied->precision, numerics);
    ys_reference_close(&reference);
    return status;
}

ys_status ys_ties_ask(const struct ys_ties_request *request, struct ys_findings *meaning, struct ys_findings *numerics)
{
    struct ys_plan tied;
    bool has_pools;
    YS_TRY(ys_ties_plan(request->plan, request->graph, request->folder, &tied, &has_pools));
    if (!has_pools)
        return YS_OK;
    const ys_status status = ask_all(request, &tied, meaning, numerics);
    ys_plan_fini(&tied);
    return status;
}
