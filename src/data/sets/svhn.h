/* SVHN, cropped digits: Netzer, Wang, Coates, Bissacco, Wu, Ng, "Reading Digits in Natural Images with Unsupervised
 * Feature Learning", 2011. Two MAT-files, train_32x32.mat and test_32x32.mat, each with X, bytes [32, 32, 3, n], and y,
 * [n, 1]: 1 to 9, and 10 for the digit 0. */
#ifndef YS_DATA_SETS_SVHN_H
#define YS_DATA_SETS_SVHN_H

#include "data/prepared.h"
#include "data/published.h"

extern const struct ys_data_published ys_svhn_published;

#define YS_SVHN_SIDE 32

/** The rows of one file; `name` begins messages. YS_EFORMAT; `rows` is untouched on failure. */
ys_status ys_svhn_parse(const void *bytes, size_t size, const char *name, struct ys_data_rows *rows) YS_MUST_CHECK;

#endif
