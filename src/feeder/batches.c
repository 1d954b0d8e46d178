#include "feeder/batches.h"

#include "base/mem.h"
#include "base/stored/row_form.h"
#include "feeder/augment.h"
#include "feeder/listed_files.h"

#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

enum { PAST_CACHES_BYTES = 4 << 20 }; /* of a batch, of which the ring has four */

struct ys_batches {
    struct ys_batches_asked asked;
    struct ys_safetensors *data, *order_file;
    uint32_t *own_order, *own_epochs; /* where no file says them */
    const uint32_t *order;            /* [steps, batch] */
    const uint32_t *epochs;           /* [steps] */
    int64_t steps, batch, rows;
    size_t count;
    const struct ys_tensor *from[YS_BATCHES_ARRAYS];
    struct ys_tensor array[YS_BATCHES_ARRAYS]; /* of a batch */

    /* Of the array of images that are decoded or changed: */
    const struct ys_augmentation *augmentation; /* NULL: there is none */
    size_t pixels;                              /* which array it is */
    bool evaluates;                             /* nothing is drawn by lot */
    bool is_plain;                              /* rows are as the source has them, perhaps as floats */
    bool is_listed;
    struct ys_image_files files;
    struct ys_tensor listed; /* the array that they would be */
};

static size_t row_bytes(const struct ys_tensor *array)
{
    return array->size_bytes / (size_t)array->shape[0];
}

/* Each row once, alone. */
static void make_order(struct ys_batches *b)
{
    b->steps = b->rows;
    b->batch = 1;
    b->own_order = ys_alloc((size_t)b->rows, sizeof *b->own_order);
    b->own_epochs = ys_alloc((size_t)b->rows, sizeof *b->own_epochs);
    for (int64_t i = 0; i < b->rows; i++) {
        b->own_order[i] = (uint32_t)i;
        b->own_epochs[i] = 0;
    }
    b->order = b->own_order;
    b->epochs = b->own_epochs;
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

/* The images, as if they had been decoded, and their classes. */
static ys_status open_listed(const char *path, struct ys_batches *b)
{
    const struct ys_tensor *y;
    YS_TRY(ys_image_files_open(b->data, path, &b->files));
    YS_TRY(ys_safetensors_need(b->data, YS_TARGET_NAME, YS_I64, 1, &b->files.count, &y));
    b->is_listed = true;
    b->listed = (struct ys_tensor){
        .name = "x",
        .dtype = YS_U8,
        .rank = 4,
        .shape = {b->files.count, b->files.channels, b->files.height, b->files.width},
        .size_bytes = (size_t)(b->files.count * b->files.channels * b->files.height * b->files.width),
    };
    b->from[0] = &b->listed;
    b->from[1] = y;
    b->count = 2;
    b->rows = b->files.count;
    return b->rows > 0 ? YS_OK : ys_fail(YS_EFORMAT, "%s lists no image", path);
}

static ys_status open_data(const char *path, struct ys_batches *b)
{
    YS_TRY(ys_safetensors_open(path, &b->data));
    if (ys_image_files_are(b->data))
        return open_listed(path, b);
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

static ys_status find_pixels(const char *path, struct ys_batches *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct ys_tensor *array = b->from[i];
        b->pixels = i;
        if (array->dtype == YS_U8 && array->rank == 4 && (array->shape[1] == 1 || array->shape[1] == 3))
            return YS_OK;
    }
    return ys_fail(YS_EINVAL, "%s holds no images, which alone are cut, made floats or changed by lot", path);
}

static ys_status find_change(struct ys_batches *b)
{
    const struct ys_batches_asked *asked = &b->asked;
    b->augmentation = ys_augmentation_find(asked->augment ? asked->augment : "none");
    if (!b->augmentation)
        return ys_fail(YS_EINVAL, "there is no augmentation %s", asked->augment);
    YS_TRY(find_pixels(asked->data, b));
    b->evaluates = asked->evaluates || !asked->augment;
    b->is_plain = !asked->augment && !asked->crop;
    const int64_t *shape = b->from[b->pixels]->shape;
    const bool cuts = b->augmentation->crop == YS_CROP_PLACE || b->augmentation->crop == YS_CROP_PAD;
    if (cuts && (asked->crop > shape[2] || asked->crop > shape[3]))
        return ys_fail(YS_EINVAL,
                       "input.crop = %lld: the images of %s have %lldx%lld pixels: write at most the smaller",
                       (long long)asked->crop, asked->data, (long long)shape[3], (long long)shape[2]);
    return YS_OK;
}

static void describe(struct ys_batches *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct ys_tensor *array = &b->array[i];
        *array = *b->from[i];
        array->shape[0] = b->batch;
        if (b->augmentation && i == b->pixels) {
            if (b->asked.floats || ys_augmentation_makes_floats(b->augmentation))
                array->dtype = YS_F32;
            if (b->asked.crop)
                array->shape[2] = array->shape[3] = b->asked.crop;
        }
        array->data = NULL;
        array->size_bytes = ys_tensor_count(array) * ys_dtype_size(array->dtype);
    }
}

static ys_status open_all(const struct ys_batches_asked *asked, struct ys_batches *b)
{
    b->asked = *asked;
    YS_TRY(open_data(asked->data, b));
    if (asked->order)
        YS_TRY(open_order(asked->order, b));
    else
        make_order(b);
    if (asked->augment || asked->crop || asked->floats || b->is_listed)
        YS_TRY(find_change(b));
    describe(b);
    b->asked.data = b->asked.order = b->asked.augment = NULL; /* the caller's */
    return YS_OK;
}

ys_status ys_batches_open(const struct ys_batches_asked *asked, struct ys_batches **batches)
{
    struct ys_batches *b = ys_alloc(1, sizeof *b);
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
struct thread_room {
    uint8_t *planes, *pixels; /* of the source: decoded, and with the channels of a pixel together */
    uint8_t *bytes;           /* of the result */
};

/** How a row is looked at while it is decoded. */
struct row_decoding {
    const struct ys_augmentation *augmentation;
    struct ys_augment_draw draw;
    int64_t height, width;
    bool reduces;
};

static struct ys_image_part choose(const void *context, int64_t full_height, int64_t full_width)
{
    const struct row_decoding *look = context;
    return ys_augment_part(look->augmentation, &look->draw, full_height, full_width, look->height, look->width,
                           look->reduces);
}

/* Nothing is to be done where they were made in their place. */
static void put_bytes(const struct ys_tensor *to, const uint8_t *bytes, void *place)
{
    const size_t count = row_bytes(to) / ys_dtype_size(to->dtype);
    if (to->dtype == YS_U8 && bytes != place)
        memcpy(place, bytes, count);
    for (size_t i = 0; to->dtype == YS_F32 && i < count; i++)
        ((float *)place)[i] = bytes[i];
}

/* The row that is made of an image, of that name. */
static ys_status make_row(const struct ys_batches *b, const struct thread_room *bench, const struct row_decoding *look,
                          const struct ys_image *image, const char *name, void *place)
{
    const struct ys_tensor *to = &b->array[b->pixels];
    uint8_t *bytes = to->dtype == YS_U8 ? place : bench->bytes;
    if (ys_augmentation_makes_floats(look->augmentation))
        return ys_augment(look->augmentation, image, name, &look->draw, look->height, look->width, place);
    YS_TRY(ys_augment_bytes(look->augmentation, image, name, &look->draw, look->height, look->width, bytes));
    put_bytes(to, bytes, place);
    return YS_OK;
}

/* Of its file no more is decoded than is looked at. */
static ys_status decode(const struct ys_batches *b, const struct row_decoding *look, uint32_t row,
                        struct ys_image *image)
{
    const struct ys_image_chooser chooser = {choose, look};
    YS_TRY(ys_image_files_decode(&b->files, row, &chooser, image));
    ys_image_set_channels(image, (int)b->files.channels);
    return YS_OK;
}

static ys_status make_row_of_file(const struct ys_batches *b, const struct thread_room *bench,
                                  const struct row_decoding *look, uint32_t row, void *place)
{
    struct ys_image image = {0};
    YS_TRY(decode(b, look, row, &image));
    const ys_status status = make_row(b, bench, look, &image, ys_image_files_path(&b->files, row), place);
    ys_image_fini(&image);
    return status;
}

/* A row of the source: of a list of images the one that a prepared file would have, which is made in `room`. */
static ys_status source_row(const struct ys_batches *b, uint32_t row, uint8_t *room, const uint8_t **planes)
{
    const struct ys_tensor *from = b->from[b->pixels];
    const struct row_decoding look = {.augmentation = ys_augmentation_find("centre"),
                                      .draw = {.evaluates = true},
                                      .height = from->shape[2],
                                      .width = from->shape[3],
                                      .reduces = b->asked.reduces};
    struct ys_image image = {0};
    if (!b->is_listed) {
        *planes = (const uint8_t *)from->data + row * row_bytes(from);
        return YS_OK;
    }
    *planes = room;
    YS_TRY(decode(b, &look, row, &image));
    const ys_status status = ys_augment_bytes(look.augmentation, &image, ys_image_files_path(&b->files, row),
                                              &look.draw, look.height, look.width, room);
    ys_image_fini(&image);
    return status;
}

/* Where there is a file, boxes by lot are some of its pixels, and places are cut out of it with the bytes that they
 * have in the prepared row. A box in the middle is one of that row, which is resampled again. */
static bool looks_at_file(const struct ys_batches *b)
{
    const enum ys_crop crop = b->augmentation->crop;
    return b->is_listed && (crop == YS_CROP_PLACE || crop == YS_CROP_PAD || (crop == YS_CROP_AREA && !b->evaluates));
}

static ys_status change_row(const struct ys_batches *b, const struct thread_room *bench, int64_t number, uint32_t row,
                            void *place)
{
    const struct ys_tensor *from = b->from[b->pixels], *to = &b->array[b->pixels];
    const uint8_t *planes = NULL;
    struct row_decoding look = {
        .augmentation = b->augmentation,
        .draw = {.seed = b->asked.seed, .epoch = b->epochs[number], .row = row, .evaluates = b->evaluates},
        .height = to->shape[2],
        .width = to->shape[3],
        .reduces = b->asked.reduces};
    if (looks_at_file(b)) {
        look.draw.prepared_height = from->shape[2];
        look.draw.prepared_width = from->shape[3];
        return make_row_of_file(b, bench, &look, row, place);
    }
    YS_TRY(source_row(b, row, bench->planes, &planes));
    if (b->is_plain) {
        put_bytes(to, planes, place);
        return YS_OK;
    }
    struct ys_image image = {.height = from->shape[2],
                             .width = from->shape[3],
                             .channels = (int)from->shape[1],
                             .pixels = bench->pixels,
                             .full_height = from->shape[2],
                             .full_width = from->shape[3],
                             .reduction = 1};
    gather_pixels(planes, &image);
    return make_row(b, bench, &look, &image, "a row", place);
}

static ys_status change_rows(const struct ys_batches *b, int64_t number, unsigned char *place)
{
    const struct ys_tensor *from = b->from[b->pixels], *to = &b->array[b->pixels];
    const struct thread_room bench = {
        .planes = ys_alloc(row_bytes(from), 1),
        .pixels = ys_alloc(row_bytes(from), 1),
        .bytes = ys_alloc(row_bytes(to) / ys_dtype_size(to->dtype), 1),
    };
    ys_status status = YS_OK;
    for (int64_t i = 0; status == YS_OK && i < b->batch; i++)
        status = change_row(b, &bench, number, b->order[number * b->batch + i], place + (size_t)i * row_bytes(to));
    ys_free(bench.planes);
    ys_free(bench.pixels);
    ys_free(bench.bytes);
    return status;
}

/** A row of a batch that no cache holds is written past them: nobody reads it here, and what is written whole need not
 * be fetched first. */
static void copy_row(void *to, const void *from, size_t bytes, bool past_caches)
{
#ifdef __SSE2__
    const __m128i *source = from;
    __m128i *place = to;
    if (past_caches && (uintptr_t)to % sizeof *place == 0 && bytes % sizeof *place == 0) {
        for (size_t i = 0; i < bytes / sizeof *place; i++)
            _mm_stream_si128(place + i, _mm_loadu_si128(source + i));
        _mm_sfence();
        return;
    }
#else
    (void)past_caches;
#endif
    memcpy(to, from, bytes);
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
        const bool past_caches = bytes * (size_t)b->batch >= PAST_CACHES_BYTES;
        for (int64_t i = 0; i < b->batch; i++)
            copy_row((unsigned char *)places[a] + (size_t)i * bytes,
                     (const unsigned char *)b->from[a]->data + b->order[number * b->batch + i] * bytes, bytes,
                     past_caches);
    }
    return YS_OK;
}

void ys_batches_close(struct ys_batches *batches)
{
    if (!batches)
        return;
    ys_safetensors_close(batches->data);
    ys_safetensors_close(batches->order_file);
    ys_free(batches->own_order);
    ys_free(batches->own_epochs);
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
