#include "data/sets/svhn.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/archives/mat.h"
#include <string.h>

#define IMAGE_BYTES (3 * YS_SVHN_SIDE * YS_SVHN_SIDE)
#define CLASSES     10

/* The publishers give no sums; these are passed on by others since, as by torchvision. */
static const struct file {
    const char *name, *md5;
} files[2] = {
    {"train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"},
    {"test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"},
};

static ys_status check_shapes(const char *name, const struct ys_mat_array *x, const struct ys_mat_array *y)
{
    const int64_t *s = x->shape;
    if (x->rank != 4 || s[0] != YS_SVHN_SIDE || s[1] != YS_SVHN_SIDE || s[2] != 3)
        return ys_fail(YS_EFORMAT, "%s: array X is no images of 32x32 pixels in three colours: [32, 32, 3, n]", name);
    if (y->count != (size_t)s[3])
        return ys_fail(YS_EFORMAT, "%s: %lld images, but %zu labels", name, (long long)s[3], y->count);
    for (size_t i = 0; i < y->count; i++)
        if (y->values[i] < 1 || y->values[i] > CLASSES)
            return ys_fail(YS_EFORMAT, "%s: label %d of image %zu is not 1 to %d", name, y->values[i], i, CLASSES);
    return YS_OK;
}

/* An image has its columns one after the other; rows here have its lines. */
static void turn(const uint8_t *columns, uint8_t *lines)
{
    for (int c = 0; c < 3; c++, columns += YS_SVHN_SIDE * YS_SVHN_SIDE)
        for (int y = 0; y < YS_SVHN_SIDE; y++)
            for (int x = 0; x < YS_SVHN_SIDE; x++)
                *lines++ = columns[x * YS_SVHN_SIDE + y];
}

static ys_status take_rows(const char *name, const struct ys_mat_array *x, const struct ys_mat_array *y,
                           struct ys_data_rows *rows)
{
    const struct ys_rows form = YS_ROWS_OF_IMAGES(3, YS_SVHN_SIDE, YS_SVHN_SIDE, CLASSES);
    YS_TRY(check_shapes(name, x, y));
    ys_data_rows_init(rows, &form, (int64_t)y->count);
    for (int64_t i = 0; i < rows->count; i++) {
        turn(x->values + i * IMAGE_BYTES, ys_data_pixels(rows) + i * IMAGE_BYTES);
        ys_data_labels(rows)[i] = y->values[i] % CLASSES;
    }
    return YS_OK;
}

ys_status ys_svhn_parse(const void *bytes, size_t size, const char *name, struct ys_data_rows *rows)
{
    struct ys_mat_array arrays[2] = {{.name = "X"}, {.name = "y"}};
    YS_TRY(ys_mat_read(bytes, size, name, arrays, 2));
    ys_status status = take_rows(name, &arrays[0], &arrays[1], rows);
    ys_mat_fini(&arrays[0]);
    ys_mat_fini(&arrays[1]);
    return status;
}

static ys_status read_file(const char *path, const struct file *file, bool unverified, struct ys_data_rows *rows,
                           bool *verified)
{
    struct ys_buf bytes = {0};
    char md5[YS_MD5_TEXT] = "";
    ys_status status = ys_fs_read(path, YS_DATA_MAX_FILE_BYTES, &bytes);
    if (status == YS_OK)
        ys_md5_text(ys_buf_text(&bytes), bytes.size, md5);
    const bool is_known = strcmp(md5, file->md5) == 0;
    if (status == YS_OK && !is_known && !unverified)
        status = ys_fail(YS_EFORMAT,
                         "%s is not the file that is known: its MD5 is %s, not %s (--unverified takes it, and marks "
                         "it)",
                         path, md5, file->md5);
    if (status == YS_OK)
        status = ys_svhn_parse(ys_buf_text(&bytes), bytes.size, path, rows);
    ys_buf_free(&bytes);
    *verified = *verified && is_known;
    return status;
}

static ys_status read_svhn(const char *folder, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                           bool *verified)
{
    struct ys_data_rows halves[2] = {0};
    bool is_known = true;
    ys_status status = YS_OK;
    for (size_t i = 0; i < 2 && status == YS_OK; i++) {
        char *path = ys_path_join(folder, files[i].name);
        if (!ys_fs_exists(path))
            status = ys_fail(YS_ENOTFOUND, "%s has no %s", folder, files[i].name);
        else
            status = read_file(path, &files[i], unverified, &halves[i], &is_known);
        ys_free(path);
    }
    if (status != YS_OK) {
        ys_data_rows_fini(&halves[0]);
        ys_data_rows_fini(&halves[1]);
        return status;
    }
    *train = halves[0];
    *test = halves[1];
    *verified = is_known;
    return YS_OK;
}

const struct ys_data_published ys_svhn_published = {
    .mirrors = (const char *const[]){"http://ufldl.stanford.edu/housenumbers/", NULL},
    .files = (const char *const[]){"train_32x32.mat", "test_32x32.mat", NULL},
    .passed_on = true,
    .read = read_svhn,
};
