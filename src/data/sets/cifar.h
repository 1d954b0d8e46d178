/* CIFAR-10 and CIFAR-100 in their binary form: files of records, 50000 to train and 10000 to test.
 *
 *   one byte     of CIFAR-100 alone: the class's group, 0 to 19
 *   one byte     class, 0 to 9 or to 99
 *   3072 bytes   pixels: 32 rows of 32 red ones, then green, then blue
 *
 * Source: Krizhevsky, "Learning multiple layers of features from tiny images", 2009, and
 * https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version". What is published, with a sum, are the archives
 * cifar-10-binary.tar.gz and cifar-100-binary.tar.gz; the files in them have no sums of their own. */
#ifndef YS_DATA_SETS_CIFAR_H
#define YS_DATA_SETS_CIFAR_H

#include "data/published.h"

#define YS_CIFAR_IMAGE_BYTES   3072
#define YS_CIFAR_TRAIN_BATCHES 5 /* as many rows to train on as that many test batches */
#define YS_CIFAR_BATCH_ROWS    10000
#define YS_CIFAR_MAX_BATCHES   6

/** One of the two sets. */
struct ys_cifar_form {
    const char *title, *archive, *md5, *inner; /* inner: the folder in the archive */
    size_t batch_count;                        /* files, the last one to test on */
    struct {
        const char *name;
        int64_t first, rows; /* among those to train on, both in test batches */
    } batches[YS_CIFAR_MAX_BATCHES];
    /* The folders in the archives of its other versions, of Python (which Keras and torchvision keep) and of Matlab,
     * and what these archives are called; they are not read. */
    const char *other_inners[2], *other_archives[4];
    int groups; /* 0: records do not say the group */
    int classes;
};
extern const struct ys_cifar_form ys_cifar10, ys_cifar100;

/** From the archive in memory, compressed or not, whose test batch has `batch_rows` records. `name` begins messages,
 * which say which batch, which record and which value. YS_EFORMAT. */
ys_status ys_cifar_parse(const struct ys_cifar_form *form, const void *bytes, size_t size, const char *name,
                         int64_t batch_rows, struct ys_data_rows *train, struct ys_data_rows *test) YS_MUST_CHECK;

/** As ys_data_published.read, for a test batch of `batch_rows` records. `path`: the archive, or a folder that holds it,
 * or one that holds the batches, or the archive's folder with them. */
ys_status ys_cifar_read(const struct ys_cifar_form *form, const char *path, int64_t batch_rows, bool unverified,
                        struct ys_data_rows *train, struct ys_data_rows *test, bool *verified) YS_MUST_CHECK;

extern const struct ys_data_published ys_cifar10_published, ys_cifar100_published;

#endif
