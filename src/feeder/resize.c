#include "feeder/resize.h"
#include "base/mem.h"
#include <math.h>

/* The weights of one direction: result i is the sum of weight[i * most + j] times value first[i] + j, j < count[i]. */
struct taps {
    int64_t most;
    int64_t *first, *count;
    double *weight;
};

static void taps_fini(struct taps *taps)
{
    ys_free(taps->first);
    ys_free(taps->count);
    ys_free(taps->weight);
}

static double triangle(double x)
{
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

static void fill_tap(struct taps *taps, int64_t i, double centre, double support, int64_t size)
{
    int64_t first = (int64_t)floor(centre - support), last = (int64_t)ceil(centre + support);
    double *weight = taps->weight + i * taps->most, sum = 0;
    first = first < 0 ? 0 : first;
    last = last > size ? size : last;
    for (int64_t j = first; j < last; j++)
        sum += weight[j - first] = triangle(((double)j + 0.5 - centre) / support);
    for (int64_t j = first; j < last; j++)
        weight[j - first] /= sum;
    taps->first[i] = first;
    taps->count[i] = last - first;
}

/* `made` results from the `length` pixels that begin at `start`, of `size` that there are. */
static ys_status taps_init(struct taps *taps, double start, double length, int64_t made, int64_t size)
{
    const double step = length / (double)made, support = step > 1 ? step : 1;
    *taps = (struct taps){.most = (int64_t)ceil(2 * support) + 2};
    taps->first = ys_alloc((size_t)made, sizeof *taps->first);
    taps->count = ys_alloc((size_t)made, sizeof *taps->count);
    taps->weight = ys_alloc((size_t)made * (size_t)taps->most, sizeof *taps->weight);
    if (!taps->first || !taps->count || !taps->weight) {
        taps_fini(taps);
        return ys_out_of_memory();
    }
    for (int64_t i = 0; i < made; i++)
        fill_tap(taps, i, start + ((double)i + 0.5) * step, support, size);
    return YS_OK;
}

/* One row of the image: [width, channels] in double. */
static void resize_row(const struct taps *taps, const uint8_t *pixels, int channels, int64_t width, double *row)
{
    for (int64_t x = 0; x < width; x++) {
        const double *weight = taps->weight + x * taps->most;
        const uint8_t *from = pixels + taps->first[x] * channels;
        for (int c = 0; c < channels; c++) {
            double sum = 0;
            for (int64_t j = 0; j < taps->count[x]; j++)
                sum += weight[j] * from[j * channels + c];
            row[x * channels + c] = sum;
        }
    }
}

static uint8_t rounded(double value)
{
    const double whole = floor(value + 0.5);
    return whole <= 0 ? 0 : whole >= 255 ? 255 : (uint8_t)whole;
}

/* `rows` holds those of the image from `first` on. */
static void resize_columns(const struct taps *taps, const double *rows, int64_t first, const struct ys_image *image,
                           int64_t height, int64_t width, uint8_t *planes)
{
    const int channels = image->channels;
    const int64_t row_size = width * channels;
    for (int64_t y = 0; y < height; y++) {
        const double *weight = taps->weight + y * taps->most, *from = rows + (taps->first[y] - first) * row_size;
        for (int64_t i = 0; i < row_size; i++) {
            double sum = 0;
            for (int64_t j = 0; j < taps->count[y]; j++)
                sum += weight[j] * from[j * row_size + i];
            planes[(i % channels * height + y) * width + i / channels] = rounded(sum);
        }
    }
}

static ys_status resize(const struct ys_image *image, const struct taps *across, const struct taps *down,
                        int64_t height, int64_t width, uint8_t *planes)
{
    const int64_t first = down->first[0], last = down->first[height - 1] + down->count[height - 1];
    const int64_t row_size = width * image->channels;
    double *rows = ys_alloc((size_t)(last - first) * (size_t)row_size, sizeof *rows);
    if (!rows)
        return ys_out_of_memory();
    for (int64_t y = first; y < last; y++)
        resize_row(across, image->pixels + y * image->width * image->channels, image->channels, width,
                   rows + (y - first) * row_size);
    resize_columns(down, rows, first, image, height, width, planes);
    ys_free(rows);
    return YS_OK;
}

ys_status ys_image_resize(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width,
                          uint8_t *planes)
{
    struct taps across, down;
    YS_TRY(taps_init(&across, box->left, box->width, width, image->width));
    ys_status status = taps_init(&down, box->top, box->height, height, image->height);
    if (status == YS_OK) {
        status = resize(image, &across, &down, height, width, planes);
        taps_fini(&down);
    }
    taps_fini(&across);
    return status;
}

struct ys_box ys_box_centre(const struct ys_image *image, int64_t height, int64_t width)
{
    struct ys_box box = {.height = (double)image->height, .width = (double)image->width};
    if (image->width * height > image->height * width)
        box.width = box.height * (double)width / (double)height;
    else
        box.height = box.width * (double)height / (double)width;
    box.top = ((double)image->height - box.height) / 2;
    box.left = ((double)image->width - box.width) / 2;
    return box;
}
