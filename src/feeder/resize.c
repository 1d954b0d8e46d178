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
typedef uint8_t bytes_of_lanes __attribute__((vector_size(LANES)));
typedef uint32_t words_of_lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));

/** What one resampling needs. */
struct bench {
    const struct ys_image *image;
    const struct taps *across, *down;
    int64_t height, width, row_size;
    lanes *wide;    /* [columns + across->most, channels] of the rows that are resampled across just now, then 0 */
    lanes *made;    /* [row_size]: those that are, together */
    double *rows;   /* [kept, row_size]: and apart; row y lies at y modulo `kept` */
    double *sums;   /* [row_size] */
    uint8_t *bytes; /* [row_size] */
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

static double *row_at(const struct bench *b, int64_t y)
{
    return b->rows + y % b->kept * b->row_size;
}

/* The same statements for wider registers: only the speed differs. */
#define RESIZE(name) name##_plain
#define RESIZE_TARGET
#include "feeder/resize_lines.inc"

#if defined(__x86_64__)
#define RESIZE(name)  name##_avx2
#define RESIZE_TARGET __attribute__((target("avx2")))
#include "feeder/resize_lines.inc"
#endif

static void resize_lines(const struct bench *b, uint8_t *planes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        resize_avx2(b, planes);
        return;
    }
#endif
    resize_plain(b, planes);
}

static ys_status resize(struct bench *b, uint8_t *planes)
{
    const int64_t columns = last_column(b) - first_column(b) + b->across->most;
    b->row_size = b->width * b->image->channels;
    b->kept = b->down->most + LANES;
    b->wide = ys_alloc((size_t)(columns * b->image->channels), sizeof *b->wide);
    b->made = ys_alloc((size_t)b->row_size, sizeof *b->made);
    b->rows = ys_alloc((size_t)(b->kept * b->row_size), sizeof *b->rows);
    b->sums = ys_alloc((size_t)b->row_size, sizeof *b->sums);
    b->bytes = ys_alloc((size_t)b->row_size, 1);
    const ys_status status = b->wide && b->made && b->rows && b->sums && b->bytes ? YS_OK : ys_out_of_memory();
    if (status == YS_OK)
        resize_lines(b, planes);
    ys_free(b->wide);
    ys_free(b->made);
    ys_free(b->rows);
    ys_free(b->sums);
    ys_free(b->bytes);
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
