#include "feeder/draw_photos.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "data/sets/images.h"
#include "feeder/codec.h"

enum { QUALITY = 90 };

static void gather(const uint8_t *planes, struct ys_image *image)
{
    const int64_t plane = image->height * image->width;
    for (int64_t i = 0; i < plane; i++)
        for (int c = 0; c < image->channels; c++)
            image->pixels[i * image->channels + c] = planes[c * plane + i];
}

static ys_status draw_one(const struct ys_feeder_drawing *d, const char *half, int64_t row, uint8_t *planes,
                          struct ys_image *image)
{
    const struct ys_rows form = YS_ROWS_OF_IMAGES(d->channels, d->height, d->width, d->classes);
    const int64_t class = ys_images_draw_one(half, &form, row, planes);
    char *folder = ys_format("%s/%s/%03lld", d->folder, half, (long long)class);
    char *path = ys_format("%s/%06lld.jpg", folder, (long long)row);
    gather(planes, image);
    ys_status status = row < d->classes ? ys_fs_make_dirs(folder) : YS_OK;
    if (status == YS_OK)
        status = ys_jpeg_write(path, image, QUALITY);
    ys_free(folder);
    ys_free(path);
    return status;
}

ys_status ys_feeder_draw(const struct ys_feeder_drawing *drawing)
{
    const struct ys_feeder_drawing *d = drawing;
    const int64_t tests = d->count / 10 > d->classes ? d->count / 10 : d->classes;
    struct ys_image image = {0};
    if (d->classes < 2 || d->classes > YS_IMAGES_CLASSES || d->count < d->classes)
        return ys_fail(YS_EINVAL, "%lld images of %lld classes: write 2 to %d classes, and an image of each at least",
                       (long long)d->count, (long long)d->classes, YS_IMAGES_CLASSES);
    YS_TRY(ys_image_init(&image, d->folder, d->height, d->width, d->channels));
    uint8_t *planes = ys_alloc((size_t)(d->height * d->width), (size_t)d->channels);
    ys_status status = YS_OK;
    for (int64_t row = 0; status == YS_OK && row < d->count; row++)
        status = draw_one(d, "train", row, planes, &image);
    for (int64_t row = 0; status == YS_OK && row < tests; row++)
        status = draw_one(d, "test", row, planes, &image);
    ys_image_fini(&image);
    ys_free(planes);
    return status;
}
