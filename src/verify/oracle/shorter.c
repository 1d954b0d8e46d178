#include "verify/oracle/shorter.h"

#include "base/mem.h"
#include "base/stored/row_form.h"
#include "data/row_order.h"
#include "graph/sequence_part.h"
#include "verify/verify.h"

#include <string.h>

ys_status ys_shorter_graph(struct ys_graph *graph, int64_t *row_positions)
{
    const int64_t positions = ys_graph_positions(graph);
    *row_positions = 0;
    if (positions <= YS_VERIFY_POSITIONS || ys_graph_prefix_check(graph) != YS_OK)
        return YS_OK;
    *row_positions = positions;
    return ys_graph_prefix(graph, YS_VERIFY_POSITIONS);
}

/* Rows of a table come first in it. */
static ys_status take_first(const struct ys_param *param, const struct ys_safetensors *file, struct ys_tensor *taken)
{
    const struct ys_tensor *whole;
    YS_TRY(ys_safetensors_need(file, param->name, YS_F32, param->rank, NULL, &whole));
    *taken = *whole;
    memcpy(taken->shape, param->shape, sizeof param->shape);
    taken->size_bytes = ys_tensor_count(taken) * ys_dtype_size(taken->dtype);
    return taken->size_bytes <= whole->size_bytes
               ? YS_OK
               : ys_fail(YS_EFORMAT, "the file of weights has a %s that is too small", param->name);
}

ys_status ys_shorter_weights(const struct ys_graph *graph, const char *from, const char *path)
{
    struct ys_safetensors *file = NULL;
    struct ys_tensor *taken = ys_alloc(graph->param_count, sizeof *taken);
    ys_status status = ys_safetensors_open(from, &file);
    for (size_t p = 0; status == YS_OK && p < graph->param_count; p++)
        status = take_first(&graph->params[p], file, &taken[p]);
    if (status == YS_OK)
        status = ys_safetensors_pass(path, taken, graph->param_count);
    ys_safetensors_close(file);
    ys_free(taken);
    return status;
}

/* Of one array the first numbers of `count` rows; the caller frees *values. */
static ys_status take_rows(const struct ys_row_array *form, const struct ys_safetensors *file, const uint32_t *rows,
                           int64_t count, void **values, struct ys_tensor *taken)
{
    const struct ys_tensor *whole;
    YS_TRY(ys_safetensors_need(file, form->name, form->dtype, 2, NULL, &whole));
    const size_t each = ys_dtype_size(whole->dtype), from = (size_t)whole->shape[1] * each,
                 size = (size_t)form->shape[0] * each;
    *taken = *whole;
    taken->shape[0] = count;
    taken->shape[1] = form->shape[0];
    taken->size_bytes = (size_t)count * size;
    taken->data = *values = ys_alloc((size_t)count, size);
    for (int64_t r = 0; r < count; r++) {
        if (rows[r] >= whole->shape[0] || whole->shape[1] < form->shape[0])
            return ys_fail(YS_EFORMAT, "the plan's order names row %u of %lld", rows[r], (long long)whole->shape[0]);
        memcpy((char *)*values + (size_t)r * size, (const char *)whole->data + rows[r] * from, size);
    }
    return YS_OK;
}

static ys_status write_rows(const struct ys_graph *graph, const struct ys_safetensors *file,
                            const struct ys_tensor *order, const char *path)
{
    const struct ys_rows form = ys_graph_rows(graph);
    struct ys_tensor taken[YS_ROWS_MAX_INPUTS + 1];
    void *values[YS_ROWS_MAX_INPUTS + 1] = {NULL};
    ys_status status = YS_OK;
    for (size_t a = 0; status == YS_OK && a <= form.input_count; a++)
        status = take_rows(ys_rows_array(&form, a), file, order->data, (int64_t)ys_tensor_count(order), &values[a],
                           &taken[a]);
    if (status == YS_OK)
        status = ys_safetensors_pass(path, taken, form.input_count + 1);
    for (size_t a = 0; a <= form.input_count; a++)
        ys_free(values[a]);
    return status;
}

static ys_status write_order(const struct ys_safetensors *file, const struct ys_tensor *order, const char *path)
{
    const struct ys_tensor *lr;
    YS_TRY(ys_safetensors_need(file, "lr", YS_F64, 1, NULL, &lr));
    const size_t count = ys_tensor_count(order);
    uint32_t *rows = ys_alloc(count, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (uint32_t)i;
    ys_status status =
        ys_order_save(path, rows, ys_order_epochs(file, order->shape[0]), order->shape[1], order->shape[0], lr->data);
    ys_free(rows);
    return status;
}

ys_status ys_shorter_rows(const struct ys_graph *graph, const char *data, const struct ys_safetensors *order,
                          const char *path, const char *order_path)
{
    const struct ys_tensor *named;
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_need(order, "order", YS_U32, 2, NULL, &named));
    YS_TRY(ys_safetensors_open(data, &file));
    ys_status status = write_rows(graph, file, named, path);
    ys_safetensors_close(file);
    return status == YS_OK ? write_order(order, named, order_path) : status;
}
