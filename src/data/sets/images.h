/* The data set `images`: drawn shapes with textures on a background, in the form that a model is known by. For what
 * needs images of a usual size that a network can learn, without a download; the bytes are the same on every machine.
 * docs/data.md says how each is drawn. */
#ifndef YS_DATA_SETS_IMAGES_H
#define YS_DATA_SETS_IMAGES_H

#include "base/stored/row_form.h"

#define YS_IMAGES_SHAPES    10
#define YS_IMAGES_TEXTURES  10
#define YS_IMAGES_COLORS    10
#define YS_IMAGES_CLASSES   (YS_IMAGES_SHAPES * YS_IMAGES_TEXTURES * YS_IMAGES_COLORS)
#define YS_IMAGES_MAX_BYTES ((int64_t)640 << 20) /* of the rows to train on */
#define YS_IMAGES_EDITION   "1"                  /* raise it when the same form would give other bytes */

/** Draws the first `count` images of a half, "train" or "test", of `form`, as YS_ROWS_OF_IMAGES() has it with 1 or 3
 * channels.
 * @param x  [out] [count, channels, height, width]
 * @param y  [out] [count], 0 to min(form->classes, YS_IMAGES_CLASSES) - 1: shape + 10 texture + 100 colour */
void ys_images_draw(const char *half, const struct ys_rows *form, int64_t count, uint8_t *x, int64_t *y);
/** One of them; its class. */
int64_t ys_images_draw_one(const char *half, const struct ys_rows *form, int64_t row, uint8_t *planes);

#endif
