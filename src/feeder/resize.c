#include "feeder/resize.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

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

/* Rows of an image that are resampled across at once: their values lie together, so that one tap is one operation of
 * the processor for all of them. Each value is the sum of the same terms in the same order as by itself. */
enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));

/** What one resampling needs. */
struct bench {
    const struct ys_image *image;
    const struct taps *across, *down;
    int64_t height, width, row_size;
    lanes *wide;  /* [columns, channels] of the rows that are resampled across just now */
    double *rows; /* [kept, row_size]: those that are; row y lies at y modulo `kept` */
    double *sums; /* [row_size] */
    int64_t kept;
};

/* The columns that are looked at. */
static int64_t first_column(const struct bench *b)
{
    return b->across->first[0];
}

static int64_t last_column(const struct bench *b)
{
    return b->across->first[b->width - 1] + b->across->count[b->width - 1];
}

/* Rows `first` to `last` - 1 of the whole image, at most LANES, each value as a double. */
static void widen(const struct bench *b, int64_t first, int64_t last)
{
    const struct ys_image *image = b->image;
    const int64_t begin = first_column(b) * image->channels, count = last_column(b) * image->channels - begin;
    for (int64_t r = 0; r < LANES; r++) {
        const int64_t y = first + r < last ? first + r : last - 1;
        const uint8_t *from = image->pixels + ((y - image->top) * image->width - image->left) * image->channels + begin;
        double *to = (double *)b->wide + r;
        for (int64_t i = 0; i < count; i++)
            to[i * LANES] = from[i];
    }
}

static void resize_across(const struct bench *b, int64_t first, int64_t last)
{
    const int channels = b->image->channels;
    widen(b, first, last);
    for (int64_t x = 0; x < b->width; x++) {
        const double *weight = b->across->weight + x * b->across->most;
        const lanes *from = b->wide + (b->across->first[x] - first_column(b)) * channels;
        for (int c = 0; c < channels; c++) {
            lanes sum = {0};
            for (int64_t j = 0; j < b->across->count[x]; j++)
                sum += weight[j] * from[j * channels + c];
            for (int64_t r = 0; first + r < last; r++)
                b->rows[(first + r) % b->kept * b->row_size + x * channels + c] = sum[r];
        }
    }
}

/* Weights are no negative numbers, so neither is the value: cutting rounds it down. */
static uint8_t rounded(double value)
{
    const int whole = (int)(value + 0.5);
    return whole >= 255 ? 255 : (uint8_t)whole;
}

static void resize_down(const struct bench *b, int64_t y, uint8_t *planes)
{
    const double *weight = b->down->weight + y * b->down->most;
    const int channels = b->image->channels;
    memset(b->sums, 0, (size_t)b->row_size * sizeof *b->sums);
    for (int64_t j = 0; j < b->down->count[y]; j++) {
        const double *from = b->rows + (b->down->first[y] + j) % b->kept * b->row_size;
        for (int64_t i = 0; i < b->row_size; i++)
            b->sums[i] += weight[j] * from[i];
    }
    for (int c = 0; c < channels; c++) {
        uint8_t *row = planes + (c * b->height + y) * b->width;
        for (int64_t x = 0; x < b->width; x++)
            row[x] = rounded(b->sums[x * channels + c]);
    }
}

static ys_status resize(struct bench *b, uint8_t *planes)
{
    const struct taps *down = b->down;
    const int64_t last = down->first[b->height - 1] + down->count[b->height - 1];
    int64_t made = down->first[0];
    b->row_size = b->width * b->image->channels;
    b->kept = down->most + LANES;
    b->wide = ys_alloc((size_t)((last_column(b) - first_column(b)) * b->image->channels), sizeof *b->wide);
    b->rows = ys_alloc((size_t)(b->kept * b->row_size), sizeof *b->rows);
    b->sums = ys_alloc((size_t)b->row_size, sizeof *b->sums);
    const ys_status status = b->wide && b->rows && b->sums ? YS_OK : ys_out_of_memory();
    for (int64_t y = 0; status == YS_OK && y < b->height; y++) {
        while (made < down->first[y] + down->count[y]) {
            const int64_t next = made + LANES < last ? made + LANES : last;
            resize_across(b, made, next);
            made = next;
        }
        resize_down(b, y, planes);
    }
    ys_free(b->wide);
    ys_free(b->rows);
    ys_free(b->sums);
    return status;
}

ys_status ys_image_resize(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width,
                          uint8_t *planes)
{
    struct taps across, down;
    const double d = image->reduction;
    YS_TRY(taps_init(&across, box->left / d, box->width / d, width,
                     ys_image_reduced(image->full_width, image->reduction)));
    ys_status status =
        taps_init(&down, box->top / d, box->height / d, height, ys_image_reduced(image->full_height, image->reduction));
    if (status == YS_OK) {
        struct bench bench = {.image = image, .across = &across, .down = &down, .height = height, .width = width};
        status = resize(&bench, planes);
        taps_fini(&down);
    }
    taps_fini(&across);
    return status;
}

struct ys_box ys_box_centre(int64_t full_height, int64_t full_width, int64_t height, int64_t width)
{
    struct ys_box box = {.height = (double)full_height, .width = (double)full_width};
    if (full_width * height > full_height * width)
        box.width = box.height * (double)width / (double)height;
    else
        box.height = box.width * (double)height / (double)width;
    box.top = ((double)full_height - box.height) / 2;
    box.left = ((double)full_width - box.width) / 2;
    return box;
}

/* Pixels of which the taps of a direction are some: one more each way, for edges here are not rounded as they are
 * there.
 */
static void find_part(double start, double length, int64_t made, int64_t *first, int64_t *count)
{
    const double step = length / (double)made, support = step > 1 ? step : 1;
    *first = (int64_t)floor(start + 0.5 * step - support) - 1;
    *count = (int64_t)ceil(start + length - 0.5 * step + support) + 1 - *first;
}

struct ys_image_part ys_box_part(const struct ys_box *box, int64_t height, int64_t width, bool reduces)
{
    struct ys_image_part part = {.reduction = 1};
    while (reduces && part.reduction < 8 && box->height >= (double)(2 * part.reduction * height) &&
           box->width >= (double)(2 * part.reduction * width))
        part.reduction *= 2;
    const double d = part.reduction;
    find_part(box->top / d, box->height / d, height, &part.top, &part.height);
    find_part(box->left / d, box->width / d, width, &part.left, &part.width);
    return part;
}
