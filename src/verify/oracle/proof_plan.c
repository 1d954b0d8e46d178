#include "verify/oracle/proof_plan.h"

#include "base/mem.h"
#include "base/stored/safetensors.h"
#include "data/row_order.h"
#include "verify/verify.h"

#include <string.h>

static struct ys_proof_extent extent_of(const struct ys_graph *graph, int64_t batch, bool shorter)
{
    bool large = ys_graph_multiply_adds(graph) > YS_VERIFY_LARGE;
    struct ys_proof_extent extent = {.rows = YS_VERIFY_ROWS, .steps = YS_VERIFY_STEPS, .rate_change = 5};
    if (large && shorter)
        extent = (struct ys_proof_extent){.steps = YS_VERIFY_LARGE_STEPS, .rate_change = 1};
    if (large)
        extent.rows = YS_VERIFY_LARGE_ROWS;
    if (batch < extent.rows)
        extent.rows = batch;
    extent.trained = extent.steps;
    return extent;
}

struct ys_proof_extent ys_proof_extent(const struct ys_graph *graph, int64_t batch)
{
    return extent_of(graph, batch, true);
}

struct ys_proof_extent ys_proof_extent_long(const struct ys_graph *graph, int64_t batch)
{
    return extent_of(graph, batch, false);
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
static ys_status write_part(const struct ys_tensor *order, const uint32_t *epochs, const struct ys_tensor *lr,
                            struct ys_proof_extent extent, const char *path)
{
    uint32_t *rows = ys_alloc((size_t)(extent.steps * extent.rows), sizeof *rows);
    double *rates = ys_alloc((size_t)extent.steps, sizeof *rates);
    for (int64_t s = 0; s < extent.steps; s++) {
        const uint32_t *from = (const uint32_t *)order->data + s * order->shape[1];
        memcpy(rows + s * extent.rows, from, (size_t)extent.rows * sizeof *rows);
        rates[s] = ((const double *)lr->data)[s] * (s < extent.rate_change ? 1.0 : 0.1);
    }
    ys_status status = ys_order_save(path, rows, epochs, extent.rows, extent.steps, rates);
    ys_free(rows);
    ys_free(rates);
    return status;
}

ys_status ys_proof_order_write(const struct ys_plan *plan, struct ys_proof_extent extent, const char *path)
{
    const char *source = plan->input.order;
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
        status = write_part(order, ys_order_epochs(file, order->shape[0]), lr, extent, path);
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

ys_status ys_proof_plan(const struct ys_plan *plan, struct ys_proof_extent extent, const char *graph, const char *order,
                        enum ys_precision precision, const char *folder, struct ys_plan *made)
{
    YS_TRY(ys_plan_copy(plan, made));
    made->batch = extent.rows;
    made->steps = extent.steps;
    made->block = 1;
    made->precision = precision;
    ys_set_text(&made->graph, graph);
    ys_set_text(&made->input.order, order);
    ys_set_text(&made->folder, folder);
    return YS_OK;
}

void ys_proof_plan_backend(struct ys_plan *plan, const char *backend)
{
    ys_json *options = ys_json_object();
    if (backend)
        ys_json_set_string(options, "backend", backend);
    ys_json_free(plan->options);
    plan->options = options;
}

/* Whether one process with whole batches does what the plan's ranks do together: not where each has statistics of its
 * own rows. */
static ys_status find_alone(const struct ys_plan *plan, bool *is_alone)
{
    struct ys_graph *graph = NULL;
    if (plan->dist.world == 1)
        return YS_OK;
    YS_TRY(ys_graph_read(plan->graph, &graph));
    *is_alone = !ys_plan_is_apart(plan, ys_graph_has(graph, YS_OP_BATCHNORM));
    ys_graph_free(graph);
    return YS_OK;
}

ys_status ys_proof_plan_builtin(const struct ys_plan *proof_plan, const char *backend, const char *folder,
                                struct ys_plan *made)
{
    bool is_alone = true;
    YS_TRY(find_alone(proof_plan, &is_alone));
    YS_TRY(ys_plan_copy(proof_plan, made));
    if (is_alone)
        made->dist.world = 1;
    made->prompt = made->tokens = YS_FIELD_NONE; /* that pieces make what the whole makes is to be proven */
    ys_proof_plan_backend(made, backend);
    ys_set_text(&made->folder, folder);
    return YS_OK;
}
