/* The data set `synthetic`: pixels and labels drawn at random, in the form that a model is known by. It is for
 * measuring speed without a download; there is nothing to learn in it, so accuracy on it means nothing. */
#ifndef YS_DATA_SYNTHETIC_H
#define YS_DATA_SYNTHETIC_H

#include <stdint.h>

#define YS_SYNTHETIC_MAX_ROWS  4096
#define YS_SYNTHETIC_MAX_BYTES ((int64_t)40 << 20) /* of the images to train on */
#define YS_SYNTHETIC_EDITION   "1"                 /* raise it when the same form would give other bytes */

/** Rows to train on: the largest power of two that keeps within both limits, at least 1. */
int64_t ys_synthetic_train_count(int64_t image_bytes);
/** Rows to test on: one for 16 of those to train on, at least 1. */
int64_t ys_synthetic_test_count(int64_t image_bytes);

/** Draws `count` images of `image_bytes` uniform bytes, x, and their labels, y, uniform in 0 to classes - 1 (at most
 * 2^31 classes). The halves ("train" and "test") have streams of their own. */
void ys_synthetic_draw(const char *half, int64_t image_bytes, int64_t classes, int64_t count, uint8_t *x, int64_t *y);

#endif
