#include "data/sets/mnist.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "data/archives/idx.h"
#include <string.h>

#define SIDE    28
#define CLASSES 10

enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, FILE_COUNT };

static const struct {
    const char *name;  /* as on the mirrors, without .gz */
    const char *other; /* as some archives unpack it */
} files[FILE_COUNT] = {
    {"train-images-idx3-ubyte", "train-images.idx3-ubyte"},
    {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte"},
    {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"},
    {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"},
};

struct family {
    const char *title;
    bool sums_are_compressed; /* the sums are those of the files as they were compressed by the publisher */
    const char *md5[FILE_COUNT];
};

static const struct family mnist = {
    .title = "MNIST",
    .md5 = {"6bbc9ace898e44ae57da46a324031adb", "a25bea736e30d166cdddb491f175f624", "2646ac647ad5339dbf082846283269ea",
            "27ae3e4e09519cfbb04c329615203637"},
};

static const struct family fashion_mnist = {
    .title = "Fashion-MNIST",
    .sums_are_compressed = true,
    .md5 = {"8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe", "bef4ecab320f06d8554ea6380940ec79",
            "bb300cfdad3c16e7a12a480ee83cd310"},
};

static ys_status find_file(const char *folder, size_t file, char **path)
{
    const char *const names[2] = {files[file].name, files[file].other};
    for (size_t i = 0; i < 4; i++) {
        char *candidate = ys_format("%s/%s%s", folder, names[i / 2], i % 2 ? "" : ".gz");
        if (ys_fs_exists(candidate)) {
            *path = candidate;
            return YS_OK;
        }
        ys_free(candidate);
    }
    return ys_fail(YS_ENOTFOUND, "%s has neither %s nor %s, with or without .gz", folder, names[0], names[1]);
}

static ys_status check_form(const char *path, size_t file, const struct ys_idx *idx)
{
    bool wants_images = file == TRAIN_IMAGES || file == TEST_IMAGES;
    if (wants_images && idx->rank == 1)
        return ys_fail(YS_EFORMAT, "%s holds labels, not images: are two files swapped?", path);
    if (!wants_images && idx->rank == 3)
        return ys_fail(YS_EFORMAT, "%s holds images, not labels: are two files swapped?", path);
    if (idx->rank != (wants_images ? 3 : 1))
        return ys_fail(YS_EFORMAT, "%s has %zu dimensions, not %d", path, idx->rank, wants_images ? 3 : 1);
    if (wants_images && (idx->shape[1] != SIDE || idx->shape[2] != SIDE))
        return ys_fail(YS_EFORMAT, "%s holds images of %lldx%lld pixels, not %dx%d", path, (long long)idx->shape[1],
                       (long long)idx->shape[2], SIDE, SIDE);
    for (int64_t i = 0; !wants_images && i < idx->shape[0]; i++)
        if (idx->data[i] >= CLASSES)
            return ys_fail(YS_EFORMAT, "%s: label %d of row %lld is above %d", path, idx->data[i], (long long)i,
                           CLASSES - 1);
    return YS_OK;
}

/** Whether the file is the published one; when it is not, that is a failure unless `unverified`. */
static ys_status check_sum(const struct family *family, const char *path, size_t file, const struct ys_idx *idx,
                           bool unverified, bool *verified)
{
    const char *md5 = family->sums_are_compressed ? idx->file_md5 : idx->md5;
    if (strcmp(md5, family->md5[file]) == 0)
        return YS_OK;
    *verified = false;
    if (unverified)
        return YS_OK;
    return ys_fail(
        YS_EFORMAT, "%s is not %s as published: its MD5 is %s, not %s%s (--unverified takes it, and marks it)", path,
        family->title, md5, family->md5[file], family->sums_are_compressed ? ", the sum of the compressed file" : "");
}

static ys_status read_file(const struct family *family, const char *folder, size_t file, bool unverified,
                           struct ys_idx *idx, bool *verified)
{
    char *path = NULL;
    YS_TRY(find_file(folder, file, &path));
    ys_status status = ys_idx_read(path, idx);
    if (status == YS_OK)
        status = check_form(path, file, idx);
    if (status == YS_OK)
        status = check_sum(family, path, file, idx, unverified, verified);
    ys_free(path);
    return status;
}

static ys_status join(const char *folder, const struct ys_idx *images, const struct ys_idx *labels,
                      struct ys_data_rows *rows)
{
    if (images->shape[0] != labels->shape[0])
        return ys_fail(YS_EFORMAT, "%s: %lld images, but %lld labels", folder, (long long)images->shape[0],
                       (long long)labels->shape[0]);
    const struct ys_rows form = YS_ROWS_OF_IMAGES(1, SIDE, SIDE, 10);
    ys_data_rows_init(rows, &form, images->shape[0]);
    memcpy(ys_data_pixels(rows), images->data, (size_t)rows->count * SIDE * SIDE);
    for (int64_t i = 0; i < rows->count; i++)
        ys_data_labels(rows)[i] = labels->data[i];
    return YS_OK;
}

static ys_status read_family(const struct family *family, const char *folder, bool unverified,
                             struct ys_data_rows *train, struct ys_data_rows *test, bool *verified)
{
    struct ys_idx idx[FILE_COUNT] = {0};
    struct ys_data_rows train_rows = {0}, test_rows = {0};
    bool all_verified = true;
    ys_status status = YS_OK;
    for (size_t i = 0; i < FILE_COUNT && status == YS_OK; i++)
        status = read_file(family, folder, i, unverified, &idx[i], &all_verified);
    if (status == YS_OK)
        status = join(folder, &idx[TRAIN_IMAGES], &idx[TRAIN_LABELS], &train_rows);
    if (status == YS_OK)
        status = join(folder, &idx[TEST_IMAGES], &idx[TEST_LABELS], &test_rows);
    for (size_t i = 0; i < FILE_COUNT; i++)
        ys_idx_fini(&idx[i]);
    if (status != YS_OK) {
        ys_data_rows_fini(&train_rows);
        ys_data_rows_fini(&test_rows);
        return status;
    }
    *train = train_rows;
    *test = test_rows;
    *verified = all_verified;
    return YS_OK;
}

static ys_status read_mnist(const char *folder, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                            bool *verified)
{
    return read_family(&mnist, folder, unverified, train, test, verified);
}

static ys_status read_fashion_mnist(const char *folder, bool unverified, struct ys_data_rows *train,
                                    struct ys_data_rows *test, bool *verified)
{
    return read_family(&fashion_mnist, folder, unverified, train, test, verified);
}

static const char *const published_files[] = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                              "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz", NULL};

const struct ys_data_published ys_mnist_published = {
    .mirrors = (const char *const[]){"https://ossci-datasets.s3.amazonaws.com/mnist/",
                                     "https://storage.googleapis.com/cvdf-datasets/mnist/", NULL},
    .files = published_files,
    .passed_on = true,
    .read = read_mnist,
};

const struct ys_data_published ys_fashion_mnist_published = {
    .mirrors =
        (const char *const[]){"https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
                              "https://storage.googleapis.com/tensorflow/tf-keras-datasets/", NULL},
    .files = published_files,
    .read = read_fashion_mnist,
};
