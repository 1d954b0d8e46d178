/* The data set `chars`: text of a seeded grammar, the same on every machine, in which what was said long ago matters.
 *
 * A row begins with a key of four capital letters. Items follow, apart by spaces: words, whose lexicon depends on how
 * many brackets are open; brackets of three kinds, closed in the order in which they were opened; and the key again,
 * behind a '#'. The state of the grammar follows from what was written, so that the probability of each character is
 * known, and so is what no reader can fall below: the mean of -log2 of it. docs/data.md says more. */
#ifndef YS_DATA_SETS_CHARS_H
#define YS_DATA_SETS_CHARS_H

#include <stdint.h>

#define YS_CHARS_ROW        64 /* positions: characters of x, and of y, which is one further on */
#define YS_CHARS_VOCABULARY 64 /* 0 to 59 are used: a to z, A to Z, ([{)]}# and the space */
#define YS_CHARS_TRAIN      4096
#define YS_CHARS_TEST       512
#define YS_CHARS_FLOOR      "1.4161" /* bits a character of the rows to test on, as ys_chars_draw() returns them */

/** Draws the first `count` rows of `split` ("train" or "test"): x [count, 64] and y [count, 64]. Returns the mean of
 * -log2 of the probability that the grammar gave each character of y, in bits. */
double ys_chars_draw(const char *split, int64_t count, int32_t *x, int64_t *y);

#endif
