#include "verify/plan.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/safetensors.h"
#include "data/order.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int RATE_CHANGE = 5; /* the step from which the proof's learning rate is a tenth */

ys_status ys_proof_order_write(const ys_json *plan, const char *path, int64_t *rows)
{
    const char *source = ys_json_get_text(ys_json_get(plan, "input"), "order", "");
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *order, *lr;
    YS_TRY(ys_safetensors_open(source, &file));
    ys_status status = ys_safetensors_need(file, "order", YS_U32, SIZE_MAX, NULL, &order);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "lr", YS_F64, SIZE_MAX, NULL, &lr);
    if (status == YS_OK &&
        (order->rank != 2 || order->shape[0] < YS_VERIFY_BATCHES || ys_tensor_count(lr) < YS_VERIFY_BATCHES))
        status =
            ys_fail(YS_EINTERNAL, "%s holds fewer than %d batches: a proof needs that many", source, YS_VERIFY_BATCHES);
    if (status == YS_OK) {
        int64_t batch = order->shape[1], taken = batch < YS_VERIFY_ROWS ? batch : YS_VERIFY_ROWS;
        uint32_t rows_of[YS_VERIFY_BATCHES * YS_VERIFY_ROWS];
        double rates[YS_VERIFY_BATCHES];
        for (int b = 0; b < YS_VERIFY_BATCHES; b++) {
            const uint32_t *from = (const uint32_t *)order->data + b * batch;
            memcpy(rows_of + b * taken, from, (size_t)taken * sizeof *rows_of);
            rates[b] = ((const double *)lr->data)[b] * (b < RATE_CHANGE ? 1.0 : 0.1);
        }
        status = ys_order_save(path, rows_of, taken, YS_VERIFY_BATCHES, rates);
        *rows = taken;
    }
    ys_safetensors_close(file);
    return status;
}

ys_json *ys_proof_plan(const ys_json *plan, const char *order, int64_t rows, const char *precision, const char *folder)
{
    ys_json *copy = ys_json_copy(plan), *input = ys_json_get(copy, "input");
    ys_json_set_string(input, "order", order);
    ys_json_set_int(copy, "batch", rows);
    ys_json_set_int(copy, "steps", YS_VERIFY_BATCHES);
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

static float moved(float value, struct ys_rng *rng)
{
    uint32_t way = ys_rng_below(rng, 3);
    if (value == 0 || way == 0)
        return value;
    return nextafterf(value, way == 1 ? INFINITY : -INFINITY);
}

/* A copy of `tensor` as F32, each value moved; the caller frees *values. */
static ys_status move_tensor(const struct ys_tensor *tensor, struct ys_rng *rng, float **values, struct ys_tensor *copy)
{
    size_t n = ys_tensor_count(tensor);
    *values = ys_alloc(n, sizeof **values);
    if (!*values)
        return ys_out_of_memory();
    for (size_t k = 0; k < n; k++)
        (*values)[k] = moved((float)ys_tensor_value(tensor, k), rng);
    *copy = *tensor;
    copy->data = *values;
    copy->dtype = YS_F32;
    copy->size_bytes = n * sizeof **values;
    return YS_OK;
}

static ys_status move_weights(const char *from, const char *to, struct ys_rng *rng)
{
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_open(from, &file));
    size_t count = ys_safetensors_count(file);
    struct ys_tensor *tensors = ys_alloc(count, sizeof *tensors);
    float **values = ys_alloc(count, sizeof *values);
    ys_status status = tensors && values ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < count; i++)
        status = move_tensor(ys_safetensors_at(file, i), rng, &values[i], &tensors[i]);
    if (status == YS_OK)
        status = ys_safetensors_write(to, tensors, count, NULL);
    for (size_t i = 0; values && i < count; i++)
        ys_free(values[i]);
    ys_free(values);
    ys_free(tensors);
    ys_safetensors_close(file);
    return status;
}

/* The rows of the first batch, pixels as F32 moved, labels as they are. */
static ys_status move_batch(const char *data, const uint32_t *rows, int64_t count, const char *to, struct ys_rng *rng)
{
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *y;
    YS_TRY(ys_safetensors_open(data, &file));
    const struct ys_tensor *x = ys_safetensors_find(file, "x");
    ys_status status = ys_safetensors_need(file, "y", YS_I64, 1, (int64_t[]){x ? x->shape[0] : 0}, &y);
    size_t row = x && x->shape[0] > 0 ? ys_tensor_count(x) / (size_t)x->shape[0] : 0;
    float *pixels = ys_alloc((size_t)count * row, sizeof *pixels);
    int64_t *labels = ys_alloc((size_t)count, sizeof *labels);
    if (status == YS_OK && (!pixels || !labels))
        status = ys_out_of_memory();
    for (int64_t r = 0; status == YS_OK && r < count; r++) {
        for (size_t k = 0; k < row; k++)
            pixels[(size_t)r * row + k] = moved((float)ys_tensor_value(x, rows[r] * row + k), rng);
        labels[r] = ((const int64_t *)y->data)[rows[r]];
    }
    if (status == YS_OK) {
        struct ys_tensor tensors[2] = {*x, *y};
        tensors[0].dtype = YS_F32;
        tensors[0].data = pixels;
        tensors[0].size_bytes = (size_t)count * row * sizeof *pixels;
        tensors[1].data = labels;
        tensors[1].size_bytes = (size_t)count * sizeof *labels;
        tensors[0].shape[0] = tensors[1].shape[0] = count;
        status = ys_safetensors_write(to, tensors, 2, NULL);
    }
    ys_free(pixels);
    ys_free(labels);
    ys_safetensors_close(file);
    return status;
}

static ys_status move_all(ys_json *twin_plan, struct ys_rng *rng, const char *weights, const char *data,
                          const char *order)
{
    ys_json *input = ys_json_get(twin_plan, "input");
    int64_t rows = ys_json_get_int(twin_plan, "batch", 0);
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *tensor;
    uint32_t picked[YS_VERIFY_ROWS], turn[YS_VERIFY_ROWS];
    YS_TRY(ys_safetensors_open(ys_json_get_text(input, "order", ""), &file));
    ys_status status = ys_safetensors_need(file, "order", YS_U32, 2, (int64_t[]){YS_VERIFY_BATCHES, rows}, &tensor);
    if (status == YS_OK)
        memcpy(picked, tensor->data, (size_t)rows * sizeof *picked);
    ys_safetensors_close(file);
    for (uint32_t r = 0; r < (uint32_t)rows; r++)
        turn[r] = r;
    if (status == YS_OK)
        status = move_weights(ys_json_get_text(twin_plan, "weights", ""), weights, rng);
    if (status == YS_OK)
        status = move_batch(ys_json_get_text(input, "path", ""), picked, rows, data, rng);
    if (status == YS_OK)
        status = ys_order_save(order, turn, rows, 1, (double[]){0});
    return status;
}

ys_status ys_proof_move(ys_json *twin_plan, uint64_t seed, int twin, const char *folder)
{
    char name[32];
    struct ys_rng rng;
    snprintf(name, sizeof name, "twin/%d", twin);
    ys_rng_init(&rng, seed, name);
    char *weights = ys_path_join(folder, "twin-weights.safetensors");
    char *data = ys_path_join(folder, "twin-data.safetensors");
    char *order = ys_path_join(folder, "twin-order.safetensors");
    ys_status status = weights && data && order ? move_all(twin_plan, &rng, weights, data, order) : ys_out_of_memory();
    if (status == YS_OK) {
        ys_json_set_string(twin_plan, "weights", weights);
        ys_json_set_string(ys_json_get(twin_plan, "input"), "path", data);
        ys_json_set_string(ys_json_get(twin_plan, "input"), "order", order);
        ys_json_set_int(twin_plan, "steps", 1);
    }
    ys_free(weights);
    ys_free(data);
    ys_free(order);
    return status;
}
