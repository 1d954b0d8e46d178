#include "cli/builtin_rows.h"

#include <string.h>

static ys_status check_rows(const char *path, struct ys_graph *graph, struct ys_builtin_rows *rows)
{
    struct ys_value *input = &graph->values[graph->input];
    const struct ys_tensor *x = ys_safetensors_find(rows->file, "x");
    if (x && x->dtype == YS_F32)
        input->dtype =
            YS_F32; /* pixels may come as floats whatever the graph was made for: normalisation is the same */
    YS_TRY(ys_safetensors_need(rows->file, "x", input->dtype, SIZE_MAX, NULL, &rows->x));
    if (rows->x->rank != input->rank || rows->x->shape[0] < 1 ||
        memcmp(rows->x->shape + 1, input->shape + 1, (input->rank - 1) * sizeof *input->shape) != 0)
        return ys_fail(YS_EINVAL, "tensor x of %s has not the shape of the graph's input %s", path, input->name);
    rows->count = (size_t)rows->x->shape[0];
    rows->row_bytes = rows->x->size_bytes / rows->count;
    return ys_safetensors_need(rows->file, "y", YS_I64, 1, rows->x->shape, &rows->y);
}

ys_status ys_builtin_rows_open(const char *path, struct ys_graph *graph, struct ys_builtin_rows *rows)
{
    YS_TRY(ys_safetensors_open(path, &rows->file));
    ys_status status = check_rows(path, graph, rows);
    if (status != YS_OK)
        ys_builtin_rows_close(rows);
    return status;
}

void ys_builtin_rows_close(struct ys_builtin_rows *rows)
{
    ys_safetensors_close(rows->file);
    *rows = (struct ys_builtin_rows){0};
}

void ys_builtin_rows_copy(const struct ys_builtin_rows *rows, size_t row, size_t to, void *x, int64_t *y)
{
    memcpy((unsigned char *)x + to * rows->row_bytes, (const unsigned char *)rows->x->data + row * rows->row_bytes,
           rows->row_bytes);
    y[to] = ((const int64_t *)rows->y->data)[row];
}
