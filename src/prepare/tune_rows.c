#include "prepare/tune_rows.h"

#include "base/mem.h"
#include "data/row_order.h"

#include <math.h>
#include <string.h>

ys_status ys_tune_rows_check(const struct ys_trial_settings *keys, const struct ys_dataset *data, bool carries)
{
    const char *why = NULL;
    if (isnan(keys->tune_rows))
        return YS_OK;
    if (data->is_listed)
        why = "are images that stay in their files";
    else if (carries)
        why = "follow one another, and the network's state goes on from each to the next";
    else if (keys->input && strcmp(keys->input, "own") == 0)
        why = "are read by the framework's own loader (input = own), which takes all of them";
    else if (keys->input_crop != YS_FIELD_NONE || keys->input_dtype == YS_INPUT_FLOAT32 ||
             (keys->augment && strcmp(keys->augment, "cifar") == 0))
        why = "come to the network in another form (input.crop, input.dtype or augment = cifar)";
    return why ? ys_fail(YS_EINVAL, "tune.rows: the training rows of %s %s: write none", data->name, why) : YS_OK;
}

static ys_status gather(const struct ys_safetensors *file, const uint32_t *rows, int64_t n, int64_t kept,
                        struct ys_tensor *tensors)
{
    for (size_t i = 0; i < ys_safetensors_count(file); i++) {
        struct ys_tensor *tensor = &tensors[i];
        *tensor = *ys_safetensors_at(file, i);
        const char *all = tensor->data;
        if (tensor->rank < 1 || tensor->shape[0] != n)
            return ys_fail(YS_EFORMAT, "array %s of the training rows has not %lld rows", tensor->name, (long long)n);
        const size_t row = tensor->size_bytes / (size_t)n;
        char *own = ys_alloc((size_t)kept, row);
        for (int64_t r = 0; r < kept; r++)
            memcpy(own + (size_t)r * row, all + rows[r] * row, row);
        tensor->data = own;
        tensor->shape[0] = kept;
        tensor->size_bytes = (size_t)kept * row;
    }
    return YS_OK;
}

ys_status ys_tune_rows_write(const char *train_path, uint64_t seed, int64_t n, int64_t kept, const char *path)
{
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_open(train_path, &file));
    const size_t count = ys_safetensors_count(file);
    uint32_t *rows = ys_alloc((size_t)n, sizeof *rows);
    struct ys_tensor *tensors = ys_alloc(count + 1, sizeof *tensors);
    ys_order_kept(seed, n, kept, rows);
    ys_status status = gather(file, rows, n, kept, tensors);
    if (status == YS_OK)
        status = ys_safetensors_write(path, tensors, count, NULL);
    for (size_t i = 0; i < count; i++) {
        const struct ys_tensor *whole = ys_safetensors_at(file, i);
        if (tensors[i].data != whole->data)
            ys_free((void *)(uintptr_t)tensors[i].data);
    }
    ys_free(tensors);
    ys_free(rows);
    ys_safetensors_close(file);
    return status;
}
