#include "feeder/resize.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

/* The weights of one direction: result i is the sum of weight[i * room + j] times value first[i] + j, j < count[i];
 * those that follow, up to `most`, the largest of the counts, are 0. */
struct filter_taps {
    int64_t room, most;
    int64_t *first, *count;
    double *weight;
    float *rough;  /* the same, rounded */
    bool is_plain; /* each is a whole number of 256ths */
};

/** One direction of a resampling: of the `all` results from the `length` pixels that begin at `start`, of `size` that
 * there are, `made` from number `from` on. */
struct sample_positions {
    double start, length;
    int64_t all, from, made, size;
};

static double step_of(const struct sample_positions *way)
{
    return way->length / (double)way->all;
}

/* How far a result's pixels lie from it. */
static double support_of(const struct sample_positions *way)
{
    const double step = step_of(way);
    return step > 1 ? step : 1;
}

static double centre_of(const struct sample_positions *way, int64_t i)
{
    return way->start + ((double)(way->from + i) + 0.5) * step_of(way);
}

/* Whether each result is one pixel. */
static bool is_copy(const struct sample_positions *way)
{
    return step_of(way) == 1 && way->start == floor(way->start);
}

static void taps_fini(struct filter_taps *taps)
{
    ys_free(taps->first);
    ys_free(taps->count);
    ys_free(taps->weight);
    ys_free(taps->rough);
}

static double triangle(double x)
{
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

static void fill_tap(struct filter_taps *taps, int64_t i, double centre, double support, int64_t size)
{
    int64_t first = (int64_t)floor(centre - support), last = (int64_t)ceil(centre + support);
    double *weight = taps->weight + i * taps->room, sum = 0;
    float *rough = taps->rough + i * taps->room;
    first = first < 0 ? 0 : first;
    last = last > size ? size : last;
    /* A pixel whose centre is on the edge or beyond it weighs nothing. */
    while (first < last - 1 && triangle(((double)first + 0.5 - centre) / support) == 0)
        first++;
    while (first < last - 1 && triangle(((double)last - 0.5 - centre) / support) == 0)
        last--;
    for (int64_t j = first; j < last; j++)
        sum += weight[j - first] = triangle(((double)j + 0.5 - centre) / support);
    for (int64_t j = first; j < last; j++) {
        rough[j - first] = (float)(weight[j - first] /= sum);
        taps->is_plain &= weight[j - first] * 256 == floor(weight[j - first] * 256);
    }
    taps->first[i] = first;
    taps->count[i] = last - first;
    if (taps->count[i] > taps->most)
        taps->most = taps->count[i];
}

static void taps_init(struct filter_taps *taps, const struct sample_positions *way)
{
    const double support = support_of(way);
    const size_t made = (size_t)way->made;
    *taps = (struct filter_taps){.room = (int64_t)ceil(2 * support) + 2, .is_plain = true};
    taps->first = ys_alloc(made, sizeof *taps->first);
    taps->count = ys_alloc(made, sizeof *taps->count);
    taps->weight = ys_alloc(made * (size_t)taps->room, sizeof *taps->weight);
    taps->rough = ys_alloc(made * (size_t)taps->room, sizeof *taps->rough);
    for (int64_t i = 0; i < way->made; i++)
        fill_tap(taps, i, centre_of(way, i), support, way->size);
}

/* Each result is computed twice at most: first roughly, in float and, since that is less work, down before across; and
 * where what comes out is so near to the edge between two bytes that the sum in double may be on its other side, as the
 * formula has it. The bytes are always those of the formula.
 *
 * How far off is the rough one? All terms are positive, so that errors are relative: of u = 2^-24 each, the rounding of
 * a weight, of a product and of every sum, in both directions taps + 1 at most. Of 255 and in 65536ths, in which
 * results are looked at, that is less than one of those for each. One more for the sum with one half, and two to spare.
 * Where all weights are whole numbers of 256ths it is off by nothing: a sum of bytes is a whole number of 65536ths
 * then, below 2^24 of them, of which a float has every one. */
enum { ONE = 65536, HALF = ONE / 2, SPARE = 5 };

/* The three colours of a pixel lie together, so that one tap is one operation of the processor for all of them, and for
 * a fourth value that is thrown away. */
enum { LANES = 4, EIGHT = 8, SIXTEEN = 16, PART = 32 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef float eight_floats __attribute__((vector_size(EIGHT * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef uint8_t sixteen_bytes __attribute__((vector_size(SIXTEEN), aligned(1), may_alias));

/** What one resampling needs. */
struct resampling {
    const struct ys_image *image;
    const struct ys_planes *planes;
    int64_t height, width; /* of what is made */
    const struct filter_taps *across, *down;
    int64_t line_size, row_size; /* values of what is looked at of a row, and of a row of results */
    int32_t margin;              /* in 65536ths: how far a rough result may be off */
    int64_t kept;
    float *rows;        /* [kept, line_size + PART]: those taken, row y at y modulo `kept`; the end of each is 0 */
    const float **from; /* [kept]: those that the next result looks at */
    float *line;        /* [line_size + PART + across->most * channels]: weighed down; the end is 0 */
    float *row;         /* [row_size + PART]: weighed across; what the end holds does not matter */
    uint8_t *bytes;     /* [row_size + PART] */
};

/* The columns that are looked at. */
static int64_t first_column(const struct resampling *b)
{
    return b->across->first[0];
}

static int64_t last_column(const struct resampling *b)
{
    return b->across->first[b->width - 1] + b->across->count[b->width - 1];
}

/* Row y and column x of the whole image. */
static const uint8_t *pixel_at(const struct ys_image *image, int64_t y, int64_t x)
{
    return image->pixels + ((y - image->top) * image->width + x - image->left) * image->channels;
}

static float *row_at(const struct resampling *b, int64_t y)
{
    return b->rows + y % b->kept * (b->line_size + PART);
}

/* Value i of row y, by the formula. A mean of bytes is neither negative nor 255.5: cutting rounds down, and to a byte.
 */
static uint8_t exact_byte(const struct resampling *b, int64_t y, int64_t i)
{
    const int channels = b->image->channels;
    const int64_t x = i / channels;
    const double *down = b->down->weight + y * b->down->room, *across = b->across->weight + x * b->across->room;
    double sum = 0;
    for (int64_t j = 0; j < b->down->count[y]; j++) {
        const uint8_t *from = pixel_at(b->image, b->down->first[y] + j, b->across->first[x]) + i % channels;
        double value = 0;
        for (int64_t k = 0; k < b->across->count[x]; k++)
            value += across[k] * from[k * channels];
        sum += down[j] * value;
    }
    return (uint8_t)(int)(sum + 0.5);
}

static int32_t in_65536ths(float value)
{
    return (int32_t)(value * ONE + HALF);
}

/* Whether the byte that it is cut to may be another than the exact one. */
static bool is_doubtful(int32_t fixed, int32_t margin)
{
    return ((fixed + margin) & (ONE - 1)) < 2 * margin;
}

/* Those of the PART values from `first` on that are doubtful. */
static void mend(const struct resampling *b, int64_t y, int64_t first)
{
    for (int64_t i = first; i < first + PART && i < b->row_size; i++)
        if (is_doubtful(in_65536ths(b->row[i]), b->margin))
            b->bytes[i] = exact_byte(b, y, i);
}

/* The same statements for wider registers: only the speed differs. */
#define RESIZE(name) name##_plain
#define RESIZE_TARGET
#include "feeder/resize_lines.inc"

#if defined(__x86_64__)
#define RESIZE(name)  name##_avx2
#define RESIZE_TARGET __attribute__((target("avx2")))
#include "feeder/resize_lines.inc"

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

static void resize_lines(const struct resampling *b)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        resize_avx2(b);
        return;
    }
#endif
    resize_plain(b);
}

static void copy_lines(const struct resampling *b, int64_t top, int64_t left)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        copy_avx2(b, top, left);
        return;
    }
#endif
    copy_plain(b, top, left);
}

static void resize(struct resampling *b)
{
    const int64_t channels = b->image->channels;
    b->line_size = (last_column(b) - first_column(b)) * channels;
    b->row_size = b->width * channels;
    if (!b->across->is_plain || !b->down->is_plain)
        b->margin = (int32_t)(b->across->most + b->down->most + SPARE);
    b->kept = b->down->most;
    b->rows = ys_alloc((size_t)(b->kept * (b->line_size + PART)), sizeof *b->rows);
    b->from = ys_alloc((size_t)b->kept, sizeof *b->from);
    b->line = ys_alloc((size_t)(b->line_size + PART + b->across->most * channels), sizeof *b->line);
    b->row = ys_alloc((size_t)(b->row_size + PART), sizeof *b->row);
    b->bytes = ys_alloc((size_t)(b->row_size + PART), 1);
    resize_lines(b);
    ys_free(b->rows);
    ys_free(b->from);
    ys_free(b->line);
    ys_free(b->row);
    ys_free(b->bytes);
}

static struct sample_positions way_down(const struct ys_resampling *r, int reduction)
{
    return (struct sample_positions){.start = r->box.top / reduction,
                                     .length = r->box.height / reduction,
                                     .all = r->height,
                                     .from = r->window.top,
                                     .made = r->window.height};
}

static struct sample_positions way_across(const struct ys_resampling *r, int reduction)
{
    return (struct sample_positions){.start = r->box.left / reduction,
                                     .length = r->box.width / reduction,
                                     .all = r->width,
                                     .from = r->window.left,
                                     .made = r->window.width};
}

static void resize_by(struct resampling *b, const struct sample_positions *down, const struct sample_positions *across)
{
    struct filter_taps taps_down, taps_across;
    taps_init(&taps_across, across);
    taps_init(&taps_down, down);
    b->across = &taps_across;
    b->down = &taps_down;
    resize(b);
    taps_fini(&taps_down);
    taps_fini(&taps_across);
}

void ys_image_resample(const struct ys_image *image, const struct ys_resampling *resampling,
                       const struct ys_planes *planes)
{
    struct sample_positions down = way_down(resampling, image->reduction),
                            across = way_across(resampling, image->reduction);
    struct resampling bench = {.image = image, .planes = planes, .height = down.made, .width = across.made};
    down.size = ys_image_reduced(image->full_height, image->reduction);
    across.size = ys_image_reduced(image->full_width, image->reduction);
    if (is_copy(&down) && is_copy(&across))
        copy_lines(&bench, (int64_t)down.start + down.from, (int64_t)across.start + across.from);
    else
        resize_by(&bench, &down, &across);
}

struct ys_resampling ys_resampling_whole(const struct ys_box *box, int64_t height, int64_t width)
{
    return (struct ys_resampling){*box, height, width, {0, 0, height, width}};
}

void ys_image_resize(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width,
                     uint8_t *planes)
{
    const struct ys_resampling whole = ys_resampling_whole(box, height, width);
    ys_image_resample(image, &whole, &(struct ys_planes){planes, width, height * width});
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

/* Pixels of which the taps of a direction are some: where there are weights, one more each way than has one. */
static void find_part(const struct sample_positions *way, int64_t *first, int64_t *count)
{
    if (is_copy(way)) {
        *first = (int64_t)way->start + way->from;
        *count = way->made;
        return;
    }
    *first = (int64_t)floor(centre_of(way, 0) - support_of(way)) - 1;
    *count = (int64_t)ceil(centre_of(way, way->made - 1) + support_of(way)) + 1 - *first;
}

struct ys_image_part ys_resampling_part(const struct ys_resampling *resampling, bool reduces)
{
    const struct ys_resampling *r = resampling;
    struct ys_image_part part = {.reduction = 1};
    while (reduces && part.reduction < 8 && r->box.height >= (double)(2 * part.reduction * r->height) &&
           r->box.width >= (double)(2 * part.reduction * r->width))
        part.reduction *= 2;
    const struct sample_positions down = way_down(r, part.reduction), across = way_across(r, part.reduction);
    find_part(&down, &part.top, &part.height);
    find_part(&across, &part.left, &part.width);
    return part;
}
