/* CIFAR-10 in its binary form: five batches to train and one to test, each of 10000 records.
 *
 *   byte 0           class, 0 to 9
 *   byte 1 to 3072   pixels: 32 rows of 32 red ones, then green, then blue
 *
 * Source: Krizhevsky, "Learning multiple layers of features from tiny images", 2009, and
 * https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version". What is published, with a sum, is the archive
 * cifar-10-binary.tar.gz; the batches in it have no sums of their own. */
#ifndef YS_DATA_CIFAR_H
#define YS_DATA_CIFAR_H

#include "data/published.h"

#define YS_CIFAR_IMAGE_BYTES   3072
#define YS_CIFAR_TRAIN_BATCHES 5
#define YS_CIFAR_BATCH_ROWS    10000

/** From the archive in memory, compressed or not, whose batches have `batch_rows` records each. `name` begins messages,
 * which say which batch, which record and which value. YS_EFORMAT. */
ys_status ys_cifar_parse(const void *bytes, size_t size, const char *name, int64_t batch_rows,
                         struct ys_data_rows *train, struct ys_data_rows *test) YS_MUST_CHECK;

/** As ys_data_published.read, for batches of `batch_rows` records. `path`: the archive, or a folder that holds it, or
 * one that holds the batches, data_batch_1.bin to data_batch_5.bin and test_batch.bin, or cifar-10-batches-bin with
 * them. */
ys_status ys_cifar_read(const char *path, int64_t batch_rows, bool unverified, struct ys_data_rows *train,
                        struct ys_data_rows *test, bool *verified) YS_MUST_CHECK;

extern const struct ys_data_published ys_cifar10_published;

#endif
