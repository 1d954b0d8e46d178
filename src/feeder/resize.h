/* A rectangle of an image, resampled: the antialiased triangle filter with pixel centres. docs/data.md has the formula.
 *
 * Source: Turkowski, "Filters for common resampling tasks", Graphics Gems, 1990; Pillow's resize(BILINEAR, box) is the
 * same filter, of which it rounds the weights and the rows between both passes. */
#ifndef YS_FEEDER_RESIZE_H
#define YS_FEEDER_RESIZE_H

#include "feeder/image.h"

/** Edges in pixels, not always whole: pixel i covers i to i + 1. Inside of the image, and not empty. */
struct ys_box {
    double top, left, height, width;
};

/** The largest box in the middle of an image that has the proportions of height x width. */
struct ys_box ys_box_centre(const struct ys_image *image, int64_t height, int64_t width);

/** Resamples the box to `height` x `width` pixels.
 * @param planes  [out] [channels, height, width], rounded half up to 0 .. 255
 * YS_ENOMEM. */
ys_status ys_image_resize(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width,
                          uint8_t *planes) YS_MUST_CHECK;

#endif
