#include "feeder/batches.h"

#include "base/mem.h"
#include "feeder/augment.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct ys_batches {
    struct ys_safetensors *data, *order_file;
    const uint32_t *order;  /* [steps, batch] */
    const uint32_t *epochs; /* [steps] */
    int64_t steps, batch, rows;
    size_t count;
    const struct ys_tensor *from[YS_BATCHES_ARRAYS];
    struct ys_tensor array[YS_BATCHES_ARRAYS];  /* of a batch */
    const struct ys_augmentation *augmentation; /* NULL: none */
    size_t pixels;                              /* which array it changes */
    uint64_t seed;
};

static size_t row_bytes(const struct ys_tensor *array)
{
    return array->size_bytes / (size_t)array->shape[0];
}

static ys_status open_order(const char *path, struct ys_batches *b)
{
    const struct ys_tensor *order, *epochs;
    YS_TRY(ys_safetensors_open(path, &b->order_file));
    YS_TRY(ys_safetensors_need(b->order_file, "order", YS_U32, 2, NULL, &order));
    YS_TRY(ys_safetensors_need(b->order_file, "epoch", YS_U32, 1, &order->shape[0], &epochs));
    b->order = order->data;
    b->epochs = epochs->data;
    b->steps = order->shape[0];
    b->batch = order->shape[1];
    if (b->steps < 1 || b->batch < 1)
        return ys_fail(YS_EFORMAT, "%s holds no batch", path);
    for (int64_t i = 0; i < b->steps * b->batch; i++)
        if (b->order[i] >= b->rows)
            return ys_fail(YS_EFORMAT, "%s names row %u of %lld", path, b->order[i], (long long)b->rows);
    return YS_OK;
}

static ys_status open_data(const char *path, struct ys_batches *b)
{
    YS_TRY(ys_safetensors_open(path, &b->data));
    b->count = ys_safetensors_count(b->data);
    if (b->count < 1 || b->count > YS_BATCHES_ARRAYS)
        return ys_fail(YS_EFORMAT, "%s holds %zu arrays, not 1 to %d", path, b->count, YS_BATCHES_ARRAYS);
    for (size_t i = 0; i < b->count; i++) {
        b->from[i] = ys_safetensors_at(b->data, i);
        if (b->from[i]->rank < 1 || b->from[i]->shape[0] < 1 || b->from[i]->shape[0] != b->from[0]->shape[0])
            return ys_fail(YS_EFORMAT, "%s: array %s has not the rows of the others", path, b->from[i]->name);
    }
    b->rows = b->from[0]->shape[0];
    return YS_OK;
}

/* Values that stay whole pixels stay bytes. */
static bool makes_floats(const struct ys_augmentation *a)
{
    return a->standardises || a->brightness > 0 || a->contrast_low < a->contrast_high;
}

static ys_status find_pixels(const char *path, struct ys_batches *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct ys_tensor *array = b->from[i];
        b->pixels = i;
        if (array->dtype == YS_U8 && array->rank == 4 && (array->shape[1] == 1 || array->shape[1] == 3))
            return YS_OK;
    }
    return ys_fail(YS_EINVAL, "augment = %s: %s holds no images, of which alone something is drawn by lot: write none",
                   b->augmentation->name, path);
}

static void describe(struct ys_batches *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct ys_tensor *array = &b->array[i];
        *array = *b->from[i];
        array->shape[0] = b->batch;
        if (b->augmentation && i == b->pixels && makes_floats(b->augmentation))
            array->dtype = YS_F32;
        array->data = NULL;
        array->size_bytes = ys_tensor_count(array) * ys_dtype_size(array->dtype);
    }
}

static ys_status open_all(const struct ys_batches_asked *asked, struct ys_batches *b)
{
    b->seed = asked->seed;
    YS_TRY(open_data(asked->data, b));
    YS_TRY(open_order(asked->order, b));
    if (asked->augment) {
        b->augmentation = ys_augmentation_find(asked->augment);
        if (!b->augmentation)
            return ys_fail(YS_EINVAL, "there is no augmentation %s", asked->augment);
        YS_TRY(find_pixels(asked->data, b));
    }
    describe(b);
    return YS_OK;
}

ys_status ys_batches_open(const struct ys_batches_asked *asked, struct ys_batches **batches)
{
    struct ys_batches *b = ys_alloc(1, sizeof *b);
    if (!b)
        return ys_out_of_memory();
    ys_status status = open_all(asked, b);
    if (status == YS_OK)
        *batches = b;
    else
        ys_batches_close(b);
    return status;
}

int64_t ys_batches_count(const struct ys_batches *batches)
{
    return batches->steps;
}

const struct ys_tensor *ys_batches_arrays(const struct ys_batches *batches, size_t *count)
{
    *count = batches->count;
    return batches->array;
}

/* One row as an image, whose channels lie together. */
static void gather_pixels(const uint8_t *planes, struct ys_image *image)
{
    const int64_t plane = image->height * image->width;
    for (int64_t i = 0; i < plane; i++)
        for (int c = 0; c < image->channels; c++)
            image->pixels[i * image->channels + c] = planes[c * plane + i];
}

/* What a thread needs to change rows. */
struct bench {
    struct ys_image image;
    float *planes;
};

static ys_status change_row(const struct ys_batches *b, const struct bench *bench, int64_t number, uint32_t row,
                            unsigned char *place)
{
    const struct ys_tensor *to = &b->array[b->pixels];
    const size_t count = row_bytes(to) / ys_dtype_size(to->dtype);
    const struct ys_augment_draw draw = {.seed = b->seed, .epoch = b->epochs[number], .row = row};
    struct ys_image image = bench->image;
    gather_pixels((const uint8_t *)b->from[b->pixels]->data + row * row_bytes(b->from[b->pixels]), &image);
    if (to->dtype == YS_F32)
        return ys_augment(b->augmentation, &image, "a row", &draw, to->shape[2], to->shape[3], (float *)(void *)place);
    YS_TRY(ys_augment(b->augmentation, &image, "a row", &draw, to->shape[2], to->shape[3], bench->planes));
    for (size_t i = 0; i < count; i++)
        place[i] = (uint8_t)bench->planes[i];
    return YS_OK;
}

static ys_status change_rows(const struct ys_batches *b, int64_t number, unsigned char *place)
{
    const struct ys_tensor *from = b->from[b->pixels], *to = &b->array[b->pixels];
    struct bench bench = {
        .image = {.height = from->shape[2], .width = from->shape[3], .channels = (int)from->shape[1]}};
    bench.image.pixels = ys_alloc(row_bytes(from), 1);
    bench.planes = ys_alloc(row_bytes(to) / ys_dtype_size(to->dtype), sizeof *bench.planes);
    ys_status status = bench.image.pixels && bench.planes ? YS_OK : ys_out_of_memory();
    for (int64_t i = 0; status == YS_OK && i < b->batch; i++)
        status = change_row(b, &bench, number, b->order[number * b->batch + i], place + (size_t)i * row_bytes(to));
    ys_free(bench.image.pixels);
    ys_free(bench.planes);
    return status;
}

ys_status ys_batches_make(const struct ys_batches *batches, int64_t number, void *const *places)
{
    const struct ys_batches *b = batches;
    for (size_t a = 0; a < b->count; a++) {
        if (b->augmentation && a == b->pixels) {
            YS_TRY(change_rows(b, number, places[a]));
            continue;
        }
        const size_t bytes = row_bytes(b->from[a]);
        for (int64_t i = 0; i < b->batch; i++)
            memcpy((unsigned char *)places[a] + (size_t)i * bytes,
                   (const unsigned char *)b->from[a]->data + b->order[number * b->batch + i] * bytes, bytes);
    }
    return YS_OK;
}

void ys_batches_close(struct ys_batches *batches)
{
    if (!batches)
        return;
    ys_safetensors_close(batches->data);
    ys_safetensors_close(batches->order_file);
    ys_free(batches);
}

static ys_status make_all(const struct ys_batches *b, const struct ys_safetensors_draft *draft)
{
    for (int64_t step = 0; step < b->steps; step++) {
        void *places[YS_BATCHES_ARRAYS];
        for (size_t i = 0; i < b->count; i++)
            places[i] = (unsigned char *)ys_safetensors_draft_at(draft, i) + (size_t)step * b->array[i].size_bytes;
        YS_TRY(ys_batches_make(b, step, places));
    }
    return YS_OK;
}

ys_status ys_batches_write(const struct ys_batches *batches, const char *path)
{
    struct ys_tensor all[YS_BATCHES_ARRAYS];
    struct ys_safetensors_draft *draft = NULL;
    for (size_t i = 0; i < batches->count; i++) {
        all[i] = batches->array[i];
        all[i].shape[0] *= batches->steps;
        all[i].size_bytes *= (size_t)batches->steps;
    }
    YS_TRY(ys_safetensors_draft_open(path, all, batches->count, &draft));
    ys_status status = make_all(batches, draft);
    if (status == YS_OK)
        return ys_safetensors_draft_commit(draft);
    ys_safetensors_draft_discard(draft);
    return status;
}
