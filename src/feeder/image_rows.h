/* Many images of files as rows of one size: what `yardstick-feeder prepare`, `check` and `rows` do. Each is cut
 * to the largest box in its middle that has the proportions of a row, and resampled (feeder/resize.h), or changed by
 * lot (feeder/augment.h). */
#ifndef YS_FEEDER_IMAGE_ROWS_H
#define YS_FEEDER_IMAGE_ROWS_H

#include "feeder/augment.h"

struct ys_feeder_preparation {
    const char *const *paths; /* of `count` files */
    size_t count;
    int channels; /* 1 or 3 */
    int64_t height, width;
    int threads;                                /* at least 1 */
    const struct ys_augmentation *augmentation; /* NULL: none */
    struct ys_augment_draw draw;                /* of the first row; the others count on from its row */
    bool checks;                                /* each image is decoded, and of it no more kept than a sum */

    /** Called with every row whose image cannot be had, in the order in which that is found, by one thread at a time.
     */
    void (*on_bad)(void *context, size_t row, const char *message);
    void *context;
};

/** @param rows  [out] [count, channels, height, width]: bytes, or floats with an augmentation; or [count, 32]: SHA-256
 * of each file; a bad row is left as it is YS_EIO when no thread can be made. Bad rows are no failure. */
ys_status ys_feeder_prepare(const struct ys_feeder_preparation *preparation, void *rows) YS_MUST_CHECK;

#endif
