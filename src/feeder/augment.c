#include "feeder/augment.h"
#include "base/mem.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRIES 10 /* of a box that must fit into the image */

static const struct ys_augmentation augmentations[] = {
    {.name = "none", .crop = YS_CROP_PLACE, .contrast_low = 1, .contrast_high = 1},
    {.name = "centre", .crop = YS_CROP_CENTRE, .contrast_low = 1, .contrast_high = 1},
    {.name = "flip", .crop = YS_CROP_PLACE, .flips = true, .contrast_low = 1, .contrast_high = 1},
    {.name = "crop+flip", .crop = YS_CROP_PAD, .flips = true, .contrast_low = 1, .contrast_high = 1},
    {.name = "place", .crop = YS_CROP_PLACE, .flips = true, .contrast_low = 1, .contrast_high = 1},
    {.name = "area", .crop = YS_CROP_AREA, .flips = true, .contrast_low = 1, .contrast_high = 1},
    {.name = "area+colour",
     .crop = YS_CROP_AREA,
     .flips = true,
     .brightness = 51,
     .contrast_low = 0.6,
     .contrast_high = 1.4},
    {.name = "cifar",
     .crop = YS_CROP_PLACE,
     .flips = true,
     .brightness = 63,
     .contrast_low = 0.2,
     .contrast_high = 1.8,
     .standardises = true},
};
enum { COUNT = sizeof augmentations / sizeof augmentations[0] };

const struct ys_augmentation *ys_augmentation_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(augmentations[i].name, name) == 0)
            return &augmentations[i];
    return NULL;
}

bool ys_augmentation_makes_floats(const struct ys_augmentation *augmentation)
{
    return augmentation->standardises;
}

static bool changes_colours(const struct ys_augmentation *a)
{
    return a->brightness > 0 || a->contrast_low < a->contrast_high;
}

/** What was drawn for one row, but for its crop. */
struct lot {
    bool flip;
    double brightness, contrast; /* added, and multiplied */
};

/* Always all three, so that an augmentation that lacks one draws the others as the rest do. */
static struct lot draw_lot(const struct ys_augmentation *a, struct ys_rng *rng)
{
    struct lot lot;
    lot.flip = ys_rng_uniform(rng) < 0.5 && a->flips;
    lot.brightness = (2 * ys_rng_uniform(rng) - 1) * a->brightness;
    lot.contrast = a->contrast_low + (a->contrast_high - a->contrast_low) * ys_rng_uniform(rng);
    return lot;
}

/* Proportions are 1 to 4/3 one way or the other. */
static struct ys_box draw_area(struct ys_rng *rng, int64_t full_height, int64_t full_width, int64_t height,
                               int64_t width)
{
    const double all_height = (double)full_height, all_width = (double)full_width;
    for (int i = 0; i < TRIES; i++) {
        struct ys_box box;
        const double area = all_height * all_width * (0.08 + 0.92 * ys_rng_uniform(rng));
        const double longer = 1 + ys_rng_uniform(rng) / 3, ratio = ys_rng_uniform(rng) < 0.5 ? longer : 1 / longer;
        box.width = sqrt(area * ratio);
        box.height = sqrt(area / ratio);
        box.top = (all_height - box.height) * ys_rng_uniform(rng);
        box.left = (all_width - box.width) * ys_rng_uniform(rng);
        if (box.width <= all_width && box.height <= all_height)
            return box;
    }
    return ys_box_centre(full_height, full_width, height, width);
}

/** What is cut out of an image. */
struct cut {
    struct ys_resampling of;       /* its window may be empty */
    int64_t row_height, row_width; /* of a place: of what it is cut out of */
    int64_t above, before;         /* rows and columns of 0, outside of that */
};

/* Of `size` pixels those from `start` on that there are, and how many of `made` come before them. */
static void clip(int64_t start, int64_t made, int64_t size, int64_t *first, int64_t *count, int64_t *before)
{
    const int64_t end = start + made < size ? start + made : size;
    *first = start > 0 ? start : 0;
    *count = end - *first;
    *before = *first - start;
}

/* The row that a place is cut out of is the middle of the image, resampled; where it is the image itself, that changes
 * nothing. False: it is too small. */
static bool draw_place(const struct ys_augmentation *a, const struct ys_augment_draw *draw, struct ys_rng *rng,
                       int64_t full_height, int64_t full_width, int64_t height, int64_t width, struct cut *cut)
{
    const int64_t pad = a->crop == YS_CROP_PAD ? YS_AUGMENT_PAD : 0;
    cut->row_height = draw->prepared_height ? draw->prepared_height : full_height;
    cut->row_width = draw->prepared_width ? draw->prepared_width : full_width;
    const int64_t down = cut->row_height + 2 * pad - height, across = cut->row_width + 2 * pad - width;
    if (down < 0 || across < 0)
        return false;
    const int64_t top = (draw->evaluates ? down / 2 : ys_rng_below(rng, (uint32_t)down + 1)) - pad;
    const int64_t left = (draw->evaluates ? across / 2 : ys_rng_below(rng, (uint32_t)across + 1)) - pad;
    const struct ys_box box = ys_box_centre(full_height, full_width, cut->row_height, cut->row_width);
    cut->of = ys_resampling_whole(&box, cut->row_height, cut->row_width);
    clip(top, height, cut->row_height, &cut->of.window.top, &cut->of.window.height, &cut->above);
    clip(left, width, cut->row_width, &cut->of.window.left, &cut->of.window.width, &cut->before);
    return true;
}

/* Of an image of that size. False: it is too small. */
static bool draw_cut(const struct ys_augmentation *a, const struct ys_augment_draw *draw, struct ys_rng *rng,
                     int64_t full_height, int64_t full_width, int64_t height, int64_t width, struct cut *cut)
{
    *cut = (struct cut){0};
    if (a->crop == YS_CROP_PLACE || a->crop == YS_CROP_PAD)
        return draw_place(a, draw, rng, full_height, full_width, height, width, cut);
    const struct ys_box box = a->crop == YS_CROP_AREA && !draw->evaluates
                                  ? draw_area(rng, full_height, full_width, height, width)
                                  : ys_box_centre(full_height, full_width, height, width);
    cut->of = ys_resampling_whole(&box, height, width);
    return true;
}

static bool is_empty(const struct ys_pixel_window *window)
{
    return window->height < 1 || window->width < 1;
}

/* Into [channels, height, width]. */
static void make_cut(const struct ys_image *image, const struct cut *cut, int64_t height, int64_t width,
                     uint8_t *planes)
{
    const struct ys_pixel_window *window = &cut->of.window;
    if (window->height < height || window->width < width)
        memset(planes, 0, (size_t)(image->channels * height * width));
    const struct ys_planes inside = {planes + cut->above * width + cut->before, width, height * width};
    if (!is_empty(window))
        ys_image_resample(image, &cut->of, &inside);
}

static double mean_of(const double *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static void change_contrast(double *plane, int64_t count, double factor)
{
    const double mean = mean_of(plane, count);
    for (int64_t i = 0; i < count; i++)
        plane[i] = (plane[i] - mean) * factor + mean;
}

/* By at least 1 / sqrt(count), so that a row of one colour is 0 and not a division by it. */
static void standardise(double *values, int64_t count)
{
    const double mean = mean_of(values, count), least = 1 / sqrt((double)count);
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    const double deviation = sqrt(squares / (double)count);
    for (int64_t i = 0; i < count; i++)
        values[i] = (values[i] - mean) / (deviation > least ? deviation : least);
}

/* Channel by channel: brighter or darker, then the contrast about its mean. */
static void change(const struct lot *lot, int channels, int64_t plane, const uint8_t *bytes, double *values)
{
    for (int64_t i = 0; i < channels * plane; i++)
        values[i] = bytes[i] + lot->brightness;
    for (int c = 0; c < channels; c++)
        change_contrast(values + c * plane, plane, lot->contrast);
}

/* Rounds once, at the end. */
static void finish(const struct ys_augmentation *a, const struct lot *lot, bool evaluates, int channels, int64_t plane,
                   const uint8_t *bytes, double *values, float *planes)
{
    const int64_t count = channels * plane;
    if (a->standardises && changes_colours(a) && !evaluates)
        change(lot, channels, plane, bytes, values);
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = bytes[i];
    if (a->standardises)
        standardise(values, count);
    for (int64_t i = 0; i < count; i++)
        planes[i] = (float)values[i];
}

/* Of pixels that stay bytes. */
static void change_bytes(const struct lot *lot, int channels, int64_t plane, uint8_t *bytes)
{
    const int64_t count = channels * plane;
    double *values = ys_alloc((size_t)count, sizeof *values);
    change(lot, channels, plane, bytes, values);
    for (int64_t i = 0; i < count; i++) {
        const double value = values[i] < 0 ? 0 : values[i] > 255 ? 255 : values[i];
        bytes[i] = (uint8_t)(int)(value + 0.5);
    }
    ys_free(values);
}

/* Eight pixels from each end at a time, then those that are left in the middle. */
static void turn_row(uint8_t *bytes, int64_t width)
{
    uint64_t from_left, from_right;
    const int64_t step = sizeof from_left;
    int64_t left = 0, end = width;
    for (; end - left >= 2 * step; left += step, end -= step) {
        memcpy(&from_left, bytes + left, sizeof from_left);
        memcpy(&from_right, bytes + end - step, sizeof from_right);
        from_left = __builtin_bswap64(from_left);
        from_right = __builtin_bswap64(from_right);
        memcpy(bytes + left, &from_right, sizeof from_right);
        memcpy(bytes + end - step, &from_left, sizeof from_left);
    }
    for (; left < end - 1; left++, end--) {
        const uint8_t kept = bytes[left];
        bytes[left] = bytes[end - 1];
        bytes[end - 1] = kept;
    }
}

static struct lot begin_row(const struct ys_augmentation *a, const struct ys_augment_draw *draw, struct ys_rng *rng)
{
    char stream[64];
    snprintf(stream, sizeof stream, "augment/%llu/%llu", (unsigned long long)draw->epoch,
             (unsigned long long)draw->row);
    ys_rng_init(rng, draw->seed, stream);
    return draw_lot(a, rng);
}

/* The pixels, cut out and turned, with the colours that they have as bytes; what is still to be done with those that
 * become other numbers is in `lot`. */
static ys_status cut_out(const struct ys_augmentation *a, const struct ys_image *image, const char *name,
                         const struct ys_augment_draw *draw, int64_t height, int64_t width, struct lot *lot,
                         uint8_t *bytes)
{
    struct ys_rng rng;
    struct cut cut;
    *lot = begin_row(a, draw, &rng);
    if (!draw_cut(a, draw, &rng, image->full_height, image->full_width, height, width, &cut))
        return ys_fail(YS_EFORMAT, "%s: an image of %lldx%lld pixels is too small for a crop of %lldx%lld", name,
                       (long long)cut.row_width, (long long)cut.row_height, (long long)width, (long long)height);
    make_cut(image, &cut, height, width, bytes);
    for (int64_t y = 0; lot->flip && !draw->evaluates && y < image->channels * height; y++)
        turn_row(bytes + y * width, width);
    if (changes_colours(a) && !a->standardises && !draw->evaluates)
        change_bytes(lot, image->channels, height * width, bytes);
    return YS_OK;
}

ys_status ys_augment_bytes(const struct ys_augmentation *augmentation, const struct ys_image *image, const char *name,
                           const struct ys_augment_draw *draw, int64_t height, int64_t width, uint8_t *planes)
{
    struct lot lot;
    YS_ASSERT(!ys_augmentation_makes_floats(augmentation));
    return cut_out(augmentation, image, name, draw, height, width, &lot, planes);
}

ys_status ys_augment(const struct ys_augmentation *augmentation, const struct ys_image *image, const char *name,
                     const struct ys_augment_draw *draw, int64_t height, int64_t width, float *planes)
{
    struct lot lot;
    const int64_t count = image->channels * height * width;
    uint8_t *bytes = ys_alloc((size_t)count, sizeof *bytes);
    double *values = ys_alloc((size_t)count, sizeof *values);
    ys_status status = cut_out(augmentation, image, name, draw, height, width, &lot, bytes);
    if (status == YS_OK)
        finish(augmentation, &lot, draw->evaluates, image->channels, height * width, bytes, values, planes);
    ys_free(bytes);
    ys_free(values);
    return status;
}

struct ys_image_part ys_augment_part(const struct ys_augmentation *augmentation, const struct ys_augment_draw *draw,
                                     int64_t full_height, int64_t full_width, int64_t height, int64_t width,
                                     bool reduces)
{
    struct ys_rng rng;
    struct cut cut;
    (void)begin_row(augmentation, draw, &rng);
    if (!draw_cut(augmentation, draw, &rng, full_height, full_width, height, width, &cut) || is_empty(&cut.of.window))
        return (struct ys_image_part){0, 0, 1, 1, 1}; /* of an image that is refused, or of which nothing is seen */
    return ys_resampling_part(&cut.of, reduces);
}
