#include "data/mnist.h"
#include "base/child.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "data/idx.h"
#include <stdio.h>
#include <string.h>

#define SIDE    28
#define CLASSES 10

enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, FILE_COUNT };

static const struct {
    const char *name;  /* as on the mirrors, without .gz */
    const char *other; /* as some archives unpack it */
    const char *md5;   /* of the uncompressed bytes */
} files[FILE_COUNT] = {
    {"train-images-idx3-ubyte", "train-images.idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"},
    {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte", "a25bea736e30d166cdddb491f175f624"},
    {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte", "2646ac647ad5339dbf082846283269ea"},
    {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"},
};

static const char *const mirrors[] = {
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
};

const char *ys_mnist_mirror(size_t mirror)
{
    return mirror < sizeof mirrors / sizeof mirrors[0] ? mirrors[mirror] : NULL;
}

static ys_status find_file(const char *folder, size_t file, char **path)
{
    const char *const names[2] = {files[file].name, files[file].other};
    for (size_t i = 0; i < 4; i++) {
        char *candidate = ys_format("%s/%s%s", folder, names[i / 2], i % 2 ? "" : ".gz");
        if (!candidate)
            return ys_out_of_memory();
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

static ys_status read_file(const char *folder, size_t file, bool unverified, struct ys_idx *idx, bool *verified)
{
    char *path = NULL;
    YS_TRY(find_file(folder, file, &path));
    ys_status status = ys_idx_read(path, idx);
    if (status == YS_OK)
        status = check_form(path, file, idx);
    if (status == YS_OK && strcmp(idx->md5, files[file].md5) != 0) {
        *verified = false;
        if (!unverified)
            status = ys_fail(
                YS_EFORMAT, "%s is not MNIST as published: its MD5 is %s, not %s (--unverified takes it, and marks it)",
                path, idx->md5, files[file].md5);
    }
    ys_free(path);
    return status;
}

static ys_status join(const char *folder, const struct ys_idx *images, const struct ys_idx *labels,
                      struct ys_data_rows *rows)
{
    if (images->shape[0] != labels->shape[0])
        return ys_fail(YS_EFORMAT, "%s: %lld images, but %lld labels", folder, (long long)images->shape[0],
                       (long long)labels->shape[0]);
    YS_TRY(ys_data_rows_init(rows, images->shape[0], SIDE * SIDE));
    memcpy(rows->x, images->data, (size_t)rows->count * SIDE * SIDE);
    for (int64_t i = 0; i < rows->count; i++)
        rows->y[i] = labels->data[i];
    return YS_OK;
}

ys_status ys_mnist_read(const char *folder, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                        bool *verified)
{
    struct ys_idx idx[FILE_COUNT] = {0};
    struct ys_data_rows train_rows = {0}, test_rows = {0};
    bool all_verified = true;
    ys_status status = YS_OK;
    for (size_t i = 0; i < FILE_COUNT && status == YS_OK; i++)
        status = read_file(folder, i, unverified, &idx[i], &all_verified);
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

static ys_status download_file(const char *url, const char *path)
{
    char limit[32];
    snprintf(limit, sizeof limit, "%zu", YS_IDX_MAX_BYTES);
    const char *const argv[] = {
        "curl", "--fail",  "--location", "--silent",       "--show-error", "--proto",  "=https", "--connect-timeout",
        "20",   "--retry", "2",          "--max-filesize", limit,          "--output", path,     url,
        NULL};
    const struct ys_child_options options = {.timeout_s = 1800};
    int exit_code = 0;
    ys_log_info("downloading %s", url);
    ys_status status = ys_child_run(argv, &options, NULL, &exit_code);
    if (status == YS_ENOTFOUND)
        return ys_fail(status, "downloading needs the program curl, which is not installed");
    if (status == YS_OK && exit_code != 0)
        return ys_fail(YS_EIO, "cannot download %s: curl ended with exit code %d", url, exit_code);
    return status;
}

ys_status ys_mnist_download(size_t mirror, const char *folder)
{
    ys_status status = YS_OK;
    for (size_t i = 0; i < FILE_COUNT && status == YS_OK; i++) {
        char *url = ys_format("%s%s.gz", mirrors[mirror], files[i].name);
        char *path = ys_format("%s/%s.gz", folder, files[i].name);
        status = url && path ? download_file(url, path) : ys_out_of_memory();
        ys_free(url);
        ys_free(path);
    }
    return status;
}
