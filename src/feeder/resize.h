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

/** Which pixels resampling the box to height x width looks at, among others. `reduces`: at the largest reduction of
 * which the box still has as many pixels each way as are made. */
struct ys_image_part ys_box_part(const struct ys_box *box, int64_t height, int64_t width, bool reduces);

/** Resamples the box to `height` x `width` pixels. Of a reduced image it is the same box of its pixels, each edge
 * divided by the reduction. The pixels of ys_box_part() must be there.
 * @param planes  [out] [channels, height, width], rounded half up to 0 .. 255
 * YS_ENOMEM. */
ys_status ys_image_resize(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width,
                          uint8_t *planes) YS_MUST_CHECK;

#endif
