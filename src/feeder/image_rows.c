#include "feeder/image_rows.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/listed_images.h"
#include "feeder/resize.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct preparation_work {
    const struct ys_feeder_preparation *preparation;
    unsigned char *rows;
    pthread_mutex_t lock; /* of on_bad() */
    atomic_size_t next;
};

static ys_status make_row(const struct ys_feeder_preparation *p, size_t row, void *planes)
{
    struct ys_image image = {0};
    YS_TRY(ys_image_read(p->paths[row], &image));
    ys_image_set_channels(&image, p->channels);
    ys_status status = YS_OK;
    struct ys_augment_draw draw = p->draw;
    draw.row += row;
    if (p->augmentation) {
        status = ys_augment(p->augmentation, &image, p->paths[row], &draw, p->height, p->width, planes);
    } else {
        const struct ys_box box = ys_box_centre(image.full_height, image.full_width, p->height, p->width);
        ys_image_resize(&image, &box, p->height, p->width, planes);
    }
    ys_image_fini(&image);
    return status;
}

static ys_status check_row(const struct ys_feeder_preparation *p, size_t row, uint8_t *sum)
{
    struct ys_buf bytes = {0};
    struct ys_image image = {0};
    ys_status status = ys_fs_read(p->paths[row], YS_IMAGE_MAX_FILE_BYTES, &bytes);
    if (status == YS_OK)
        status = ys_image_decode(bytes.data, bytes.size, p->paths[row], &image);
    if (status == YS_OK)
        ys_sha256(bytes.data, bytes.size, sum);
    ys_image_fini(&image);
    ys_buf_free(&bytes);
    return status;
}

static size_t row_bytes_of(const struct ys_feeder_preparation *p)
{
    if (p->checks)
        return YS_LISTED_SUM_BYTES;
    return (size_t)p->channels * (size_t)(p->height * p->width) * (p->augmentation ? sizeof(float) : 1);
}

static void *make_rows(void *context)
{
    struct preparation_work *work = context;
    const struct ys_feeder_preparation *p = work->preparation;
    const size_t row_bytes = row_bytes_of(p);
    for (size_t row = work->next++; row < p->count; row = work->next++) {
        unsigned char *place = work->rows + row * row_bytes;
        ys_status status = p->checks ? check_row(p, row, place) : make_row(p, row, place);
        if (status != YS_OK) {
            pthread_mutex_lock(&work->lock);
            p->on_bad(p->context, row, ys_error());
            pthread_mutex_unlock(&work->lock);
        }
    }
    return NULL;
}

ys_status ys_feeder_prepare(const struct ys_feeder_preparation *preparation, void *rows)
{
    struct preparation_work work = {.preparation = preparation, .rows = rows, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t *threads = ys_alloc((size_t)preparation->threads, sizeof *threads);
    int started = 0;
    while (started < preparation->threads && pthread_create(&threads[started], NULL, make_rows, &work) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    ys_free(threads);
    if (started == 0)
        return ys_fail(YS_EIO, "no thread can be made that decodes images");
    return YS_OK;
}
