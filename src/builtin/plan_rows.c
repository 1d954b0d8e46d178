#include "builtin/plan_rows.h"

#include <math.h>
#include <string.h>

/** Integers are always numbers; floats may be anything. */
static ys_status check_numbers(const char *path, const struct ys_tensor *x)
{
    size_t count = x->dtype == YS_F32 ? ys_tensor_count(x) : 0;
    size_t row_size = ys_tensor_count(x) / (size_t)x->shape[0];
    for (size_t i = 0; i < count; i++)
        if (!isfinite(((const float *)x->data)[i]))
            return ys_fail(YS_EFORMAT, "%s: number %zu of row %zu of tensor %s is %g", path, i % row_size, i / row_size,
                           x->name, (double)((const float *)x->data)[i]);
    return YS_OK;
}

static ys_status check_labels(const char *path, const struct ys_tensor *y, int64_t classes)
{
    const int64_t least = y->rank > 1 ? YS_ROWS_HIDDEN : 0;
    size_t count = y->dtype == YS_I64 ? ys_tensor_count(y) : 0, row_size = count / (size_t)y->shape[0];
    for (size_t i = 0; i < count; i++) {
        int64_t label = ((const int64_t *)y->data)[i];
        if (label < least || label >= classes)
            return ys_fail(YS_EFORMAT, "%s: label %lld of row %lld is not one of %lld classes", path, (long long)label,
                           (long long)(i / row_size), (long long)classes);
    }
    return YS_OK;
}

static ys_status need_fed(const struct ys_feed *feed, const struct ys_row_array *wanted, const struct ys_tensor **found)
{
    *found = ys_feed_array(feed, wanted->name);
    if (*found && (*found)->dtype == wanted->dtype)
        return YS_OK;
    return ys_fail(YS_EFORMAT, "the ring of batches has no array %s of type %s", wanted->name,
                   ys_dtype_name(wanted->dtype));
}

static ys_status open_array(const char *path, const struct ys_row_array *wanted, size_t index,
                            struct ys_builtin_rows *rows)
{
    const struct ys_tensor *found = NULL;
    if (rows->feed)
        YS_TRY(need_fed(rows->feed, wanted, &found));
    else
        YS_TRY(ys_safetensors_need(rows->file, wanted->name, wanted->dtype, SIZE_MAX, NULL, &found));
    bool fits = found->rank == wanted->rank + 1 && found->shape[0] >= 1 &&
                memcmp(found->shape + 1, wanted->shape, wanted->rank * sizeof *wanted->shape) == 0;
    if (!fits)
        return ys_fail(YS_EINVAL, "tensor %s of %s has not the shape that the graph wants of each row", wanted->name,
                       path);
    if (index > 0 && (size_t)found->shape[0] != rows->count)
        return ys_fail(YS_EFORMAT, "%s: tensor %s has %lld rows, the one before it %zu", path, wanted->name,
                       (long long)found->shape[0], rows->count);
    rows->count = (size_t)found->shape[0];
    rows->array[index] = found;
    rows->row_bytes[index] = ys_row_bytes(wanted);
    return rows->feed ? YS_OK : check_numbers(path, found); /* a ring has nothing in it yet */
}

static ys_status check_rows(const char *path, struct ys_graph *graph, struct ys_builtin_rows *rows)
{
    for (size_t i = 0; i < graph->input_count; i++) {
        struct ys_value *input = &graph->values[graph->inputs[i]];
        const struct ys_tensor *x =
            rows->feed ? ys_feed_array(rows->feed, input->name) : ys_safetensors_find(rows->file, input->name);
        if (x && x->dtype == YS_F32 && input->dtype == YS_U8)
            input->dtype = YS_F32; /* pixels may come as floats: normalisation is the same */
    }
    const struct ys_rows wanted = ys_graph_rows(graph);
    rows->input_count = wanted.input_count;
    rows->classes = wanted.classes;
    for (size_t i = 0; i <= wanted.input_count; i++)
        YS_TRY(open_array(path, ys_rows_array(&wanted, i), i, rows));
    return rows->feed ? YS_OK : check_labels(path, rows->array[wanted.input_count], wanted.classes);
}

ys_status ys_builtin_rows_open(const char *path, struct ys_graph *graph, struct ys_builtin_rows *rows)
{
    YS_TRY(ys_safetensors_open(path, &rows->file));
    ys_status status = check_rows(path, graph, rows);
    if (status != YS_OK)
        ys_builtin_rows_close(rows);
    return status;
}

ys_status ys_builtin_rows_feed(int channel, int memory, struct ys_graph *graph, struct ys_builtin_rows *rows)
{
    YS_TRY(ys_feed_open(channel, memory, &rows->feed));
    ys_status status = check_rows("the ring of batches", graph, rows);
    if (status != YS_OK)
        ys_builtin_rows_close(rows);
    return status;
}

void ys_builtin_rows_close(struct ys_builtin_rows *rows)
{
    ys_safetensors_close(rows->file);
    ys_feed_close(rows->feed);
    *rows = (struct ys_builtin_rows){0};
}

void ys_builtin_rows_copy(const struct ys_builtin_rows *rows, size_t row, size_t to, struct ys_engine *engine)
{
    for (size_t i = 0; i <= rows->input_count; i++) {
        unsigned char *place = i < rows->input_count ? ys_engine_place(engine, i) : ys_engine_target(engine);
        memcpy(place + to * rows->row_bytes[i], (const unsigned char *)rows->array[i]->data + row * rows->row_bytes[i],
               rows->row_bytes[i]);
    }
}

/* A label that is no class would be an index beyond the logits. */
static ys_status check_fed(const struct ys_builtin_rows *rows, int64_t batch)
{
    const struct ys_tensor *y = rows->array[rows->input_count];
    return check_labels("the ring of batches", y, rows->classes) == YS_OK
               ? YS_OK
               : ys_fail(YS_EFORMAT, "batch %lld: a label is not one of %lld classes", (long long)batch,
                         (long long)rows->classes);
}

ys_status ys_builtin_rows_take(const struct ys_builtin_rows *rows, int64_t batch, struct ys_engine *engine)
{
    YS_TRY(ys_feed_take(rows->feed, batch));
    YS_TRY(check_fed(rows, batch));
    for (size_t i = 0; i <= rows->input_count; i++) {
        unsigned char *place = i < rows->input_count ? ys_engine_place(engine, i) : ys_engine_target(engine);
        memcpy(place, rows->array[i]->data, rows->array[i]->size_bytes);
    }
    return ys_feed_free(rows->feed);
}

int64_t ys_builtin_batch(const struct ys_graph *graph, int64_t most)
{
    const int64_t budget_bytes = INT64_C(64) << 20;
    int64_t largest = 1;
    for (size_t v = 0; v < graph->value_count; v++) {
        int64_t elements = ys_value_row_elements(&graph->values[v]);
        largest = elements > largest ? elements : largest;
    }
    int64_t rows = budget_bytes / (int64_t)sizeof(float) / largest;
    return rows < 1 ? 1 : rows < most ? rows : most;
}
