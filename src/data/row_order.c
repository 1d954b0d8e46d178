#include "data/row_order.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void draw_epoch(uint64_t seed, int64_t epoch, uint32_t *rows, size_t n)
{
    char name[32];
    snprintf(name, sizeof name, "order/%lld", (long long)epoch);
    struct ys_rng rng;
    ys_rng_init(&rng, seed, name);
    for (size_t i = 0; i < n; i++)
        rows[i] = (uint32_t)i;
    ys_rng_shuffle(&rng, rows, n);
}

ys_status ys_order_save(const char *path, const uint32_t *order, const uint32_t *epochs, int64_t batch, int64_t steps,
                        const double *lr)
{
    uint32_t *zeros = epochs ? NULL : ys_alloc((size_t)steps, sizeof *zeros);
    struct ys_tensor tensors[] = {
        {.name = "order",
         .dtype = YS_U32,
         .rank = 2,
         .shape = {steps, batch},
         .data = order,
         .size_bytes = (size_t)(steps * batch) * sizeof *order},
        {.name = "lr",
         .dtype = YS_F64,
         .rank = 1,
         .shape = {steps},
         .data = lr,
         .size_bytes = (size_t)steps * sizeof *lr},
        {.name = "epoch",
         .dtype = YS_U32,
         .rank = 1,
         .shape = {steps},
         .data = epochs ? epochs : zeros,
         .size_bytes = (size_t)steps * sizeof *epochs},
    };
    ys_status status = ys_safetensors_write(path, tensors, sizeof tensors / sizeof tensors[0], NULL);
    ys_free(zeros);
    return status;
}

static void hash_order(const uint32_t *order, int64_t count, const double *lr, int64_t steps, char hash[65])
{
    uint8_t digest[32];
    ys_sha256_joined(order, (size_t)count * sizeof *order, lr, (size_t)steps * sizeof *lr, digest);
    ys_hex_text(digest, sizeof digest, hash);
}

static void fill_streams(uint32_t *rows, int64_t batches, int64_t batch)
{
    for (int64_t b = 0; b < batches; b++)
        for (int64_t r = 0; r < batch; r++)
            rows[b * batch + r] = (uint32_t)(r * batches + b);
}

static int by_row(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void ys_order_kept(uint64_t seed, int64_t n, int64_t kept, uint32_t *rows)
{
    struct ys_rng rng;
    ys_rng_init(&rng, seed, "tune.rows");
    for (int64_t i = 0; i < n; i++)
        rows[i] = (uint32_t)i;
    ys_rng_shuffle(&rng, rows, (size_t)n);
    qsort(rows, (size_t)kept, sizeof *rows, by_row);
    qsort(rows + kept, (size_t)(n - kept), sizeof *rows, by_row);
}

/* `among`: the n rows that there are, NULL: 0 to n - 1. */
static ys_status write_order(const char *path, uint64_t seed, bool streams, const uint32_t *among, int64_t n,
                             int64_t batch, int64_t steps, const double *lr, char hash[65])
{
    if (n < 1 || batch < 1 || steps < 1 || n > UINT32_MAX)
        return ys_fail(YS_EINVAL, "%lld rows in batches of %lld for %lld steps: each must be at least 1", (long long)n,
                       (long long)batch, (long long)steps);
    if (batch > n)
        return ys_fail(YS_EINVAL, "a batch of %lld is larger than the data set, which has %lld rows", (long long)batch,
                       (long long)n);
    if (steps > YS_ORDER_MAX_ROWS / batch)
        return ys_fail(YS_EINVAL, "%lld steps of %lld rows are more than %lld rows in one run", (long long)steps,
                       (long long)batch, (long long)YS_ORDER_MAX_ROWS);
    uint32_t *order = ys_alloc((size_t)(steps * batch), sizeof *order);
    uint32_t *rows = ys_alloc((size_t)n, sizeof *rows);
    uint32_t *epochs = ys_alloc((size_t)steps, sizeof *epochs);
    int64_t batches = n / batch; /* of an epoch */
    if (streams)
        fill_streams(rows, batches, batch);
    for (int64_t step = 0; step < steps; step++) {
        if (step % batches == 0 && !streams)
            draw_epoch(seed, step / batches, rows, (size_t)n);
        epochs[step] = (uint32_t)(step / batches);
        memcpy(order + step * batch, rows + step % batches * batch, (size_t)batch * sizeof *order);
    }
    for (int64_t i = 0; among && i < steps * batch; i++)
        order[i] = among[order[i]];
    ys_status status = ys_order_save(path, order, epochs, batch, steps, lr);
    if (status == YS_OK)
        hash_order(order, steps * batch, lr, steps, hash);
    ys_free(epochs);
    ys_free(rows);
    ys_free(order);
    return status;
}

ys_status ys_order_write(const char *path, uint64_t seed, bool streams, int64_t n, int64_t batch, int64_t steps,
                         const double *lr, char hash[65])
{
    return write_order(path, seed, streams, NULL, n, batch, steps, lr, hash);
}

ys_status ys_order_write_kept(const char *path, uint64_t seed, int64_t kept, int64_t n, int64_t batch, int64_t steps,
                              const double *lr, char hash[65])
{
    uint32_t *rows = ys_alloc((size_t)n, sizeof *rows);
    ys_order_kept(seed, n, kept, rows);
    ys_status status = write_order(path, seed, false, rows + kept, n - kept, batch, steps, lr, hash);
    ys_free(rows);
    return status;
}

const uint32_t *ys_order_epochs(const struct ys_safetensors *file, int64_t steps)
{
    const struct ys_tensor *epochs = ys_safetensors_find(file, "epoch");
    return epochs && epochs->dtype == YS_U32 && ys_tensor_count(epochs) == (size_t)steps ? epochs->data : NULL;
}
