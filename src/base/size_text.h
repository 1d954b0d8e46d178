/* Sizes for people. */
#ifndef YS_BASE_SIZE_TEXT_H
#define YS_BASE_SIZE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define YS_SIZE_TEXT 32 /* holds any size */

/** "512 B", "4.2 kB", "1.25 GB" (powers of 1000, three digits) into `text`, which holds YS_SIZE_TEXT bytes; returns
 * `text`. */
char *ys_size_text(uint64_t size_bytes, char *text);
/** The texts of two sizes, with as many digits as it takes to tell them apart when they differ. */
void ys_size_texts(uint64_t a_bytes, uint64_t b_bytes, char *a_text, char *b_text);

#endif
