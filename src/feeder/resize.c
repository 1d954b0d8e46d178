#include "feeder/resize.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

/* The weights of one direction: result i is the sum of weight[i * room + j] times value first[i] + j, j < count[i];
 * those that follow, up to `most`, the largest of the counts, are 0. */
struct taps {
    int64_t room, most;
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
    double *weight = taps->weight + i * taps->room, sum = 0;
    first = first < 0 ? 0 : first;
    last = last > size ? size : last;
    /* A pixel whose centre is on the edge or beyond it weighs nothing. */
    while (first < last - 1 && triangle(((double)first + 0.5 - centre) / support) == 0)
        first++;
    while (first < last - 1 && triangle(((double)last - 0.5 - centre) / support) == 0)
        last--;
    for (int64_t j = first; j < last; j++)
        sum += weight[j - first] = triangle(((double)j + 0.5 - centre) / support);
    for (int64_t j = first; j < last; j++)
        weight[j - first] /= sum;
    taps->first[i] = first;
    taps->count[i] = last - first;
    if (taps->count[i] > taps->most)
        taps->most = taps->count[i];
}

/* `made` results from the `length` pixels that begin at `start`, of `size` that there are. */
static ys_status taps_init(struct taps *taps, double start, double length, int64_t made, int64_t size)
{
    const double step = length / (double)made, support = step > 1 ? step : 1;
    *taps = (struct taps){.room = (int64_t)ceil(2 * support) + 2};
    taps->first = ys_alloc((size_t)made, sizeof *taps->first);
    taps->count = ys_alloc((size_t)made, sizeof *taps->count);
    taps->weight = ys_alloc((size_t)made * (size_t)taps->room, sizeof *taps->weight);
    if (!taps->first || !taps->count || !taps->weight) {
        taps_fini(taps);
        return ys_out_of_memory();
    }
    for (int64_t i = 0; i < made; i++)
        fill_tap(taps, i, start + ((double)i + 0.5) * step, support, size);
    return YS_OK;
}

/* The three colours of a pixel lie together, so that one tap is one operation of the processor for all of them, and for
 * a fourth value that is thrown away. Each is the sum of the same terms in the same order as by itself. */
enum { LANES = 4, PART = 4 * LANES };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef uint8_t bytes_of_part __attribute__((vector_size(PART), aligned(1), may_alias));

/** What one resampling needs. */
struct bench {
    const struct ys_image *image;
    const struct taps *across, *down;
    int64_t height, width, row_size;
    double *wide;        /* [columns + across->most, channels] of the row that is resampled across just now, then 0 */
    double *rows;        /* [kept, row_size + PART]: those that are; row y lies at y modulo `kept` */
    const double **from; /* [kept]: those that the next result looks at */
    uint8_t *bytes;      /* [row_size + PART] */
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
    return b->rows + y % b->kept * (b->row_size + PART);
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
    b->kept = b->down->most;
    b->wide = ys_alloc((size_t)(columns * b->image->channels + LANES), sizeof *b->wide);
    b->rows = ys_alloc((size_t)(b->kept * (b->row_size + PART)), sizeof *b->rows);
    b->from = ys_alloc((size_t)b->kept, sizeof *b->from);
    b->bytes = ys_alloc((size_t)(b->row_size + PART), 1);
    const ys_status status = b->wide && b->rows && b->from && b->bytes ? YS_OK : ys_out_of_memory();
    if (status == YS_OK)
        resize_lines(b, planes);
    ys_free(b->wide);
    ys_free(b->rows);
    ys_free(b->from);
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
