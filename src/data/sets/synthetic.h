/* The data set `synthetic`: rows drawn at random, in the form that a model is known by. It is for
 * measuring speed without a download; there is nothing to learn in it, so accuracy on it means nothing. */
#ifndef YS_DATA_SETS_SYNTHETIC_H
#define YS_DATA_SETS_SYNTHETIC_H

#include "base/stored/row_form.h"

#define YS_SYNTHETIC_MAX_ROWS  4096
#define YS_SYNTHETIC_MAX_BYTES ((int64_t)40 << 20) /* of the inputs to train on */
#define YS_SYNTHETIC_EDITION   "1"                 /* raise it when the same form would give other bytes */

/** Rows to train on of a set that follows the model: the largest power of two, at least 1, that is no more than
 * YS_SYNTHETIC_MAX_ROWS and whose inputs take at most `max_bytes`. */
int64_t ys_synthetic_train_count(int64_t row_bytes, int64_t max_bytes);
/** Rows to test on: one for 16 of those to train on, at least 1. */
int64_t ys_synthetic_test_count(int64_t row_bytes, int64_t max_bytes);

/** Draws `count` rows into `arrays`, those of the inputs and the target (at most 2^31 classes), as ys_rows_draw() does;
 * int32 inputs are uniform in 0 to 255. Each array has a stream of its own in each half ("train" and "test"). */
void ys_synthetic_draw(const char *half, const struct ys_rows *form, int64_t count, void *const *arrays);

#endif
