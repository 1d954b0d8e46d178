#include "verify/plan.h"

#include "base/mem.h"
#include "base/safetensors.h"
#include "data/order.h"
#include "verify/verify.h"

#include <string.h>

struct ys_proof_extent ys_proof_extent(const struct ys_graph *graph, int64_t batch)
{
    struct ys_proof_extent extent = {.rows = YS_VERIFY_ROWS, .steps = YS_VERIFY_STEPS, .rate_change = 5};
    if (ys_graph_multiply_adds(graph) > YS_VERIFY_LARGE)
        extent =
            (struct ys_proof_extent){.rows = YS_VERIFY_LARGE_ROWS, .steps = YS_VERIFY_LARGE_STEPS, .rate_change = 1};
    if (batch < extent.rows)
        extent.rows = batch;
    extent.trained = extent.steps;
    return extent;
}

struct ys_proof_extent ys_proof_extent_whole(const struct ys_graph *graph, int64_t batch)
{
    struct ys_proof_extent extent = {
        .rows = batch, .steps = YS_VERIFY_WHOLE_STEPS, .rate_change = YS_VERIFY_WHOLE_STEPS};
    if (ys_graph_multiply_adds(graph) <= YS_VERIFY_WHOLE_LIMIT / batch)
        extent.trained = 1;
    return extent;
}

/* The first rows of the first batches, and their rates. */
static ys_status write_part(const struct ys_tensor *order, const struct ys_tensor *lr, struct ys_proof_extent extent,
                            const char *path)
{
    uint32_t *rows = ys_alloc((size_t)(extent.steps * extent.rows), sizeof *rows);
    double *rates = ys_alloc((size_t)extent.steps, sizeof *rates);
    ys_status status = rows && rates ? YS_OK : ys_out_of_memory();
    for (int64_t s = 0; status == YS_OK && s < extent.steps; s++) {
        const uint32_t *from = (const uint32_t *)order->data + s * order->shape[1];
        memcpy(rows + s * extent.rows, from, (size_t)extent.rows * sizeof *rows);
        rates[s] = ((const double *)lr->data)[s] * (s < extent.rate_change ? 1.0 : 0.1);
    }
    if (status == YS_OK)
        status = ys_order_save(path, rows, extent.rows, extent.steps, rates);
    ys_free(rows);
    ys_free(rates);
    return status;
}

ys_status ys_proof_order_write(const ys_json *plan, struct ys_proof_extent extent, const char *path)
{
    const char *source = ys_json_get_text(ys_json_get(plan, "input"), "order", "");
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *order, *lr;
    YS_TRY(ys_safetensors_open(source, &file));
    ys_status status = ys_safetensors_need(file, "order", YS_U32, SIZE_MAX, NULL, &order);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "lr", YS_F64, SIZE_MAX, NULL, &lr);
    if (status == YS_OK && (order->rank != 2 || order->shape[0] < extent.steps || order->shape[1] < extent.rows ||
                            ys_tensor_count(lr) < (size_t)extent.steps))
        status = ys_fail(YS_EINTERNAL, "%s holds fewer than %lld batches of %lld rows: a proof needs that many", source,
                         (long long)extent.steps, (long long)extent.rows);
    if (status == YS_OK)
        status = write_part(order, lr, extent, path);
    ys_safetensors_close(file);
    return status;
}

bool ys_proof_drop_dropout(struct ys_graph *graph)
{
    bool dropped = false;
    for (size_t n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].op == YS_OP_DROPOUT) {
            graph->nodes[n].ratio = 0;
            dropped = true;
        }
    return dropped;
}

ys_json *ys_proof_plan(const ys_json *plan, struct ys_proof_extent extent, const char *graph, const char *order,
                       const char *precision, const char *folder)
{
    ys_json *copy = ys_json_copy(plan), *input = ys_json_get(copy, "input");
    ys_json_set_string(copy, "graph", graph);
    ys_json_set_string(input, "order", order);
    ys_json_set_int(copy, "batch", extent.rows);
    ys_json_set_int(copy, "steps", extent.steps);
    ys_json_set_int(copy, "block", 1);
    ys_json_set_string(copy, "precision", precision);
    ys_json_set_string(copy, "folder", folder);
    return copy;
}

ys_json *ys_proof_plan_builtin(const ys_json *proof_plan, const char *backend, const char *folder)
{
    ys_json *copy = ys_json_copy(proof_plan), *options = ys_json_object();
    if (backend)
        ys_json_set_string(options, "backend", backend);
    ys_json_set(copy, "options", options);
    ys_json_set_string(copy, "folder", folder);
    return copy;
}
