#include "verify/oracle/twin.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stored/moved_numbers.h"
#include "base/stored/row_form.h"
#include "base/stored/safetensors.h"
#include "crew/feeder.h"
#include "data/row_order.h"
#include "verify/verify.h"

#include <string.h>

#define WEIGHTS "twin-weights.safetensors"

struct mover {
    struct ys_mover lots;
    enum ys_dtype dtype; /* of what it writes: F32 or F64 */
};

/* A copy of `tensor`, each value moved; the caller frees *values. */
static void move_values(struct mover *mover, const struct ys_tensor *tensor, void **values, struct ys_tensor *copy)
{
    size_t n = ys_tensor_count(tensor), size = ys_dtype_size(mover->dtype);
    *values = ys_alloc(n, size);
    if (mover->dtype == YS_F64)
        for (size_t k = 0; k < n; k++)
            ((double *)*values)[k] = ys_move_double(&mover->lots, ys_tensor_value(tensor, k));
    else
        for (size_t k = 0; k < n; k++)
            ((float *)*values)[k] = ys_move_float(&mover->lots, (float)ys_tensor_value(tensor, k));
    *copy = *tensor;
    copy->data = *values;
    copy->dtype = mover->dtype;
    copy->size_bytes = n * size;
}

/* The same, but an optimizer's state is no operand of products and is float32 in any format; its count of steps is
 * none of what rounds. */
static void move_tensor(struct mover *mover, const struct ys_tensor *tensor, void **values, struct ys_tensor *copy)
{
    static const char state[] = "state.";
    const uint32_t unit = mover->lots.unit;
    if (strcmp(tensor->name, "state.steps") == 0) {
        *values = NULL;
        *copy = *tensor;
        return;
    }
    if (strncmp(tensor->name, state, sizeof state - 1) == 0)
        mover->lots.unit = 1;
    move_values(mover, tensor, values, copy);
    mover->lots.unit = unit;
}

static ys_status move_weights(struct mover *mover, const char *from, const char *to)
{
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_open(from, &file));
    size_t count = ys_safetensors_count(file);
    struct ys_tensor *tensors = ys_alloc(count, sizeof *tensors);
    void **values = ys_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        move_tensor(mover, ys_safetensors_at(file, i), &values[i], &tensors[i]);
    ys_status status = ys_safetensors_pass(to, tensors, count);
    for (size_t i = 0; i < count; i++)
        ys_free(values[i]);
    ys_free(values);
    ys_free(tensors);
    ys_safetensors_close(file);
    return status;
}

/* Tokens and targets stay what they are; pixels and numbers are moved, as F32. */
static bool is_moved(const struct ys_tensor *array)
{
    return strcmp(array->name, YS_TARGET_NAME) != 0 && (array->dtype == YS_U8 || array->dtype == YS_F32);
}

/* The rows of a batch of one array of the data; the caller frees *values. */
static void move_array(struct mover *mover, const struct ys_tensor *array, const uint32_t *rows, int64_t count,
                       void **values, struct ys_tensor *copy)
{
    size_t row = array->shape[0] > 0 ? ys_tensor_count(array) / (size_t)array->shape[0] : 0;
    *copy = *array;
    copy->shape[0] = count;
    copy->dtype = is_moved(array) ? YS_F32 : array->dtype;
    size_t row_bytes = row * ys_dtype_size(copy->dtype);
    copy->size_bytes = (size_t)count * row_bytes;
    copy->data = *values = ys_alloc((size_t)count, row_bytes);
    for (int64_t r = 0; r < count; r++)
        if (is_moved(array))
            for (size_t k = 0; k < row; k++)
                ((float *)*values)[(size_t)r * row + k] =
                    ys_move_float(&mover->lots, (float)ys_tensor_value(array, rows[r] * row + k));
        else
            memcpy((char *)*values + (size_t)r * row_bytes, (const char *)array->data + rows[r] * row_bytes, row_bytes);
}

/* The rows of a batch: every array of the data. */
static ys_status move_batch(struct mover *mover, const char *data, const uint32_t *rows, int64_t count, const char *to)
{
    struct ys_safetensors *file = NULL;
    struct ys_tensor tensors[YS_ROWS_MAX_INPUTS + 1];
    void *values[YS_ROWS_MAX_INPUTS + 1] = {NULL};
    YS_TRY(ys_safetensors_open(data, &file));
    size_t arrays = ys_safetensors_count(file);
    ys_status status =
        arrays <= YS_ROWS_MAX_INPUTS + 1
            ? YS_OK
            : ys_fail(YS_EFORMAT, "%s holds %zu arrays: a row has at most %d", data, arrays, YS_ROWS_MAX_INPUTS + 1);
    for (size_t i = 0; status == YS_OK && i < arrays; i++)
        move_array(mover, ys_safetensors_at(file, i), rows, count, &values[i], &tensors[i]);
    if (status == YS_OK)
        status = ys_safetensors_pass(to, tensors, arrays);
    for (size_t i = 0; i < YS_ROWS_MAX_INPUTS + 1; i++)
        ys_free(values[i]);
    ys_safetensors_close(file);
    return status;
}

/* Some of the batches of a plan, by number. */
struct batch_range {
    int64_t first, batches, rows; /* rows of each */
};

static ys_status read_rows(const char *path, const struct batch_range *part, uint32_t *rows)
{
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *order;
    YS_TRY(ys_safetensors_open(path, &file));
    ys_status status = ys_safetensors_need(file, "order", YS_U32, 2, NULL, &order);
    if (status == YS_OK && (order->shape[0] < part->first + part->batches || order->shape[1] != part->rows))
        status = ys_fail(YS_EINTERNAL, "%s has no batch %lld of %lld rows", path,
                         (long long)(part->first + part->batches - 1), (long long)part->rows);
    if (status == YS_OK)
        memcpy(rows, (const uint32_t *)order->data + part->first * part->rows,
               (size_t)(part->batches * part->rows) * sizeof *rows);
    ys_safetensors_close(file);
    return status;
}

/* The rows of the part in turn, up to its last batch. */
static ys_status write_order(const struct batch_range *part, const char *path)
{
    const int64_t batches = part->first + part->batches, count = part->batches * part->rows;
    uint32_t *turn = ys_alloc((size_t)(batches * part->rows), sizeof *turn);
    double *rates = ys_alloc((size_t)batches, sizeof *rates);
    for (int64_t i = 0; i < batches * part->rows; i++)
        turn[i] = (uint32_t)(i % count);
    ys_status status = ys_order_save(path, turn, NULL, part->rows, batches, rates);
    ys_free(turn);
    ys_free(rates);
    return status;
}

static ys_status write_all(struct mover *mover, const struct ys_plan *plan, const struct batch_range *part,
                           const char *weights, const char *data, const char *order)
{
    const int64_t count = part->batches * part->rows;
    uint32_t *rows = ys_alloc((size_t)count, sizeof *rows);
    ys_status status = read_rows(plan->input.order, part, rows);
    if (status == YS_OK)
        status = move_weights(mover, plan->weights, weights);
    if (status == YS_OK)
        status = move_batch(mover, plan->input.path, rows, count, data);
    ys_free(rows);
    return status == YS_OK ? write_order(part, order) : status;
}

static struct mover mover_of(int64_t seed, enum ys_precision precision, int twin)
{
    struct mover mover = {.dtype = YS_F32};
    ys_mover_init(&mover.lots, (uint64_t)seed, twin, ys_format_of((int)precision)->unit);
    return mover;
}

static struct mover make_mover(const struct ys_plan *plan, int twin)
{
    return mover_of(plan->seed, (enum ys_precision)plan->precision, twin);
}

ys_status ys_twin_write_weights(int64_t seed, int twin, int units, enum ys_precision precision, const char *from,
                                const char *to)
{
    struct mover mover = mover_of(seed, precision, twin);
    mover.lots.unit *= (uint32_t)units;
    mover.dtype = ys_format_of((int)precision)->dtype;
    return move_weights(&mover, from, to);
}

ys_status ys_twin_write_images(const struct ys_plan *twin_plan, int twin, const char *from, const char *to)
{
    struct mover mover = make_mover(twin_plan, twin);
    return move_weights(&mover, from, to);
}

static ys_status write_twin(struct ys_plan *twin_plan, int twin, int64_t first, int64_t batches, const char *folder)
{
    const struct batch_range part = {first, batches, twin_plan->batch};
    struct mover mover = make_mover(twin_plan, twin);
    char *weights = ys_path_join(folder, WEIGHTS);
    char *data = ys_path_join(folder, "twin-data.safetensors");
    char *order = ys_path_join(folder, "twin-order.safetensors");
    ys_status status = ys_feeder_settle(twin_plan, folder);
    if (status == YS_OK)
        status = write_all(&mover, twin_plan, &part, weights, data, order);
    if (status == YS_OK) {
        twin_plan->steps = first + batches;
        ys_set_text(&twin_plan->weights, weights);
        ys_set_text(&twin_plan->input.path, data);
        ys_set_text(&twin_plan->input.order, order);
    }
    ys_free(weights);
    ys_free(data);
    ys_free(order);
    return status;
}

ys_status ys_twin_write(struct ys_plan *twin_plan, int twin, int64_t batch, const char *folder)
{
    return write_twin(twin_plan, twin, batch, 1, folder);
}

ys_status ys_twin_write_all(struct ys_plan *twin_plan, int twin, int64_t batches, const char *folder)
{
    return write_twin(twin_plan, twin, 0, batches, folder);
}

ys_status ys_twin_write_double(struct ys_plan *twin_plan, int twin, const char *folder)
{
    struct mover mover = make_mover(twin_plan, twin);
    mover.dtype = YS_F64;
    char *weights = ys_path_join(folder, WEIGHTS);
    ys_status status = move_weights(&mover, twin_plan->weights, weights);
    if (status == YS_OK)
        ys_set_text(&twin_plan->weights, weights);
    ys_free(weights);
    return status;
}
