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

static int64_t between(int64_t low, int64_t value, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Row `y` of one channel, from column `left` on. What lies outside of the image is 0. */
static void cut_row(const struct ys_image *image, int64_t y, int64_t left, int c, int64_t width, uint8_t *row)
{
    const int64_t begin = between(0, -left, width), end = between(begin, image->width - left, width);
    memset(row, 0, (size_t)width);
    if (y < 0 || y >= image->height)
        return;
    const uint8_t *from = image->pixels + (y * image->width + left) * image->channels + c;
    for (int64_t x = begin; x < end; x++)
        row[x] = from[x * image->channels];
}

static ys_status draw_place(struct ys_rng *rng, const struct ys_image *image, const char *name, int64_t pad,
                            bool evaluates, int64_t height, int64_t width, uint8_t *planes)
{
    const int64_t down = image->height + 2 * pad - height, across = image->width + 2 * pad - width;
    if (down < 0 || across < 0)
        return ys_fail(YS_EFORMAT, "%s: an image of %lldx%lld pixels is too small for a crop of %lldx%lld", name,
                       (long long)image->width, (long long)image->height, (long long)width, (long long)height);
    const int64_t top = (evaluates ? down / 2 : ys_rng_below(rng, (uint32_t)down + 1)) - pad;
    const int64_t left = (evaluates ? across / 2 : ys_rng_below(rng, (uint32_t)across + 1)) - pad;
    for (int c = 0; c < image->channels; c++)
        for (int64_t y = 0; y < height; y++, planes += width)
            cut_row(image, top + y, left, c, width, planes);
    return YS_OK;
}

static struct ys_box find_box(const struct ys_augmentation *a, struct ys_rng *rng, bool evaluates, int64_t full_height,
                              int64_t full_width, int64_t height, int64_t width)
{
    return a->crop == YS_CROP_AREA && !evaluates ? draw_area(rng, full_height, full_width, height, width)
                                                 : ys_box_centre(full_height, full_width, height, width);
}

static ys_status draw_crop(const struct ys_augmentation *a, struct ys_rng *rng, const struct ys_image *image,
                           const char *name, bool evaluates, int64_t height, int64_t width, uint8_t *planes)
{
    if (a->crop == YS_CROP_PLACE || a->crop == YS_CROP_PAD)
        return draw_place(rng, image, name, a->crop == YS_CROP_PAD ? YS_AUGMENT_PAD : 0, evaluates, height, width,
                          planes);
    const struct ys_box box = find_box(a, rng, evaluates, image->full_height, image->full_width, height, width);
    return ys_image_resize(image, &box, height, width, planes);
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
static ys_status change_bytes(const struct lot *lot, int channels, int64_t plane, uint8_t *bytes)
{
    const int64_t count = channels * plane;
    double *values = ys_alloc((size_t)count, sizeof *values);
    if (!values)
        return ys_out_of_memory();
    change(lot, channels, plane, bytes, values);
    for (int64_t i = 0; i < count; i++) {
        const double value = values[i] < 0 ? 0 : values[i] > 255 ? 255 : values[i];
        bytes[i] = (uint8_t)(int)(value + 0.5);
    }
    ys_free(values);
    return YS_OK;
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
    *lot = begin_row(a, draw, &rng);
    YS_TRY(draw_crop(a, &rng, image, name, draw->evaluates, height, width, bytes));
    for (int64_t y = 0; lot->flip && !draw->evaluates && y < image->channels * height; y++)
        turn_row(bytes + y * width, width);
    return changes_colours(a) && !a->standardises && !draw->evaluates
               ? change_bytes(lot, image->channels, height * width, bytes)
               : YS_OK;
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
    ys_status status = bytes && values ? YS_OK : ys_out_of_memory();
    if (status == YS_OK)
        status = cut_out(augmentation, image, name, draw, height, width, &lot, bytes);
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
    if (augmentation->crop == YS_CROP_PLACE || augmentation->crop == YS_CROP_PAD)
        return (struct ys_image_part){0, 0, full_height, full_width, 1};
    (void)begin_row(augmentation, draw, &rng);
    const struct ys_box box = find_box(augmentation, &rng, draw->evaluates, full_height, full_width, height, width);
    return ys_box_part(&box, height, width, reduces);
}
