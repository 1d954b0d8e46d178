/* The data set `digits`: drawn digits, the same bytes on every machine.
 *
 * Each image is drawn from its own random stream: a way to write its digit, its points moved a little, the whole bent,
 * turned, sheared, scaled and shifted, a pen of changing width, now and then stray strokes, blur, a background and
 * noise. Only IEEE additions, multiplications, divisions and square roots are used, without contraction. docs/data.md
 * says more. */
#ifndef YS_DATA_SETS_DIGITS_H
#define YS_DATA_SETS_DIGITS_H

#include <stdint.h>

#define YS_DIGITS_SIDE  28
#define YS_DIGITS_TRAIN 3840
#define YS_DIGITS_TEST  1000

/* SHA-256 of the pixels followed by the labels (int64, little-endian). */
#define YS_DIGITS_TRAIN_HASH "e15aa6628e675ff7f79357b8b59b5693c16578ef44d873483d8f4d897bb3277e"
#define YS_DIGITS_TEST_HASH  "75d3b66879e888a73a2d912e76be2b1e396550eec5912605fd8de648a9639d04"

/** Draws the first `count` images of `split` ("train" or "test"): x, uint8 [count, 28, 28], and y [count], 0 to 9, in
 * turn. The two splits share no image and no stream. */
void ys_digits_draw(const char *split, int64_t count, uint8_t *x, int64_t *y);

#endif
