#include "builtin/rows.h"

#include <math.h>
#include <string.h>

/** Bytes are always numbers; floats may be anything. */
static ys_status check_pixels(const char *path, const struct ys_tensor *x)
{
    size_t count = x->dtype == YS_F32 ? ys_tensor_count(x) : 0;
    size_t row_size = ys_tensor_count(x) / (size_t)x->shape[0];
    for (size_t i = 0; i < count; i++)
        if (!isfinite(((const float *)x->data)[i]))
            return ys_fail(YS_EFORMAT, "%s: number %zu of row %zu of tensor x is %g", path, i % row_size, i / row_size,
                           (double)((const float *)x->data)[i]);
    return YS_OK;
}

static ys_status check_labels(const char *path, const struct ys_tensor *y, int64_t classes)
{
    for (int64_t i = 0; i < y->shape[0]; i++) {
        int64_t label = ((const int64_t *)y->data)[i];
        if (label < 0 || label >= classes)
            return ys_fail(YS_EFORMAT, "%s: label %lld of row %lld is not one of %lld classes", path, (long long)label,
                           (long long)i, (long long)classes);
    }
    return YS_OK;
}

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
    YS_TRY(ys_safetensors_need(rows->file, "y", YS_I64, 1, rows->x->shape, &rows->y));
    YS_TRY(check_pixels(path, rows->x));
    return check_labels(path, rows->y, graph->values[graph->output].shape[1]);
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
