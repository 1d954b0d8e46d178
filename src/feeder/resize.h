/* A rectangle of an image, resampled: the antialiased triangle filter with pixel centres. docs/data.md has the formula.
 *
 * Source: Turkowski, "Filters for common resampling tasks", Graphics Gems, 1990; Pillow's resize(BILINEAR, box) is the
 * same filter, of which it rounds the weights and the rows between both passes. */
#ifndef YS_FEEDER_RESIZE_H
#define YS_FEEDER_RESIZE_H

#include "feeder/image.h"
#include <stdbool.h>

/** Edges in pixels of the whole image, not always whole: pixel i covers i to i + 1. Inside of it, and not empty. */
struct ys_box {
    double top, left, height, width;
};

/** The largest box in the middle of an image of that size that has the proportions of height x width. */
struct ys_box ys_box_centre(int64_t full_height, int64_t full_width, int64_t height, int64_t width);

/** Some of the pixels that a row of height x width has: not empty. */
struct ys_pixel_window {
    int64_t top, left, height, width;
};

/** A box resampled to `height` x `width` pixels, of which those of the window are made. Of a reduced image it is the
 * same box of its pixels, each edge divided by the reduction. */
struct ys_resampling {
    struct ys_box box;
    int64_t height, width;
    struct ys_pixel_window window;
};

/** All that the box gives. */
struct ys_resampling ys_resampling_whole(const struct ys_box *box, int64_t height, int64_t width);

/** Which pixels it looks at, among others; where it moves none between pixels, those of the window alone. `reduces`: at
 * the largest reduction of which the box still has as many pixels each way as all that it gives. */
struct ys_image_part ys_resampling_part(const struct ys_resampling *resampling, bool reduces);

/** Where results are put: [channels, rows, columns]. */
struct ys_planes {
    uint8_t *first;
    int64_t row, plane; /* bytes from one to the next */
};

/** Makes the pixels of the window, each as it is among all that the box gives, rounded half up to 0 .. 255. Those of
 * ys_resampling_part() must be there. */
void ys_image_resample(const struct ys_image *image, const struct ys_resampling *resampling,
                       const struct ys_planes *planes);

/** All that the box gives: planes is [channels, height, width]. */
void ys_image_resize(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width,
                     uint8_t *planes);

#endif
