#include "data/cifar.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/gzip.h"
#include "data/tar.h"
#include <string.h>

#define ARCHIVE "cifar-10-binary.tar.gz"
#define MD5     "c32a1d4ab5d03f1284b67883e8d87530"

#define INNER "cifar-10-batches-bin"

#define CLASSES      10
#define RECORD_BYTES (1 + YS_CIFAR_IMAGE_BYTES)
#define BATCHES      (YS_CIFAR_TRAIN_BATCHES + 1)

static const char *const batch_names[BATCHES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                                 "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

/** What is read so far. */
struct reading {
    int64_t batch_rows;
    struct ys_data_rows train, test;
    bool seen[BATCHES];
};

static ys_status begin(struct reading *reading, int64_t batch_rows)
{
    *reading = (struct reading){.batch_rows = batch_rows};
    const struct ys_rows form = YS_ROWS_OF_IMAGES(1, 1, YS_CIFAR_IMAGE_BYTES, CLASSES);
    YS_TRY(ys_data_rows_init(&reading->train, &form, YS_CIFAR_TRAIN_BATCHES * batch_rows));
    ys_status status = ys_data_rows_init(&reading->test, &form, batch_rows);
    if (status != YS_OK)
        ys_data_rows_fini(&reading->train);
    return status;
}

/** Moves the rows out when all is well. */
static ys_status finish(struct reading *reading, ys_status status, struct ys_data_rows *train,
                        struct ys_data_rows *test)
{
    if (status == YS_OK) {
        *train = reading->train;
        *test = reading->test;
        return YS_OK;
    }
    ys_data_rows_fini(&reading->train);
    ys_data_rows_fini(&reading->test);
    return status;
}

/** One batch file; `name` and `inside` begin messages. */
static ys_status add_batch(struct reading *reading, size_t batch, const uint8_t *bytes, size_t size, const char *name,
                           const char *inside)
{
    int64_t rows = reading->batch_rows;
    if (size != (size_t)rows * RECORD_BYTES)
        return ys_fail(YS_EFORMAT, "%s%s: %zu bytes, not %lld (%lld records of %d)", name, inside, size,
                       (long long)rows * RECORD_BYTES, (long long)rows, RECORD_BYTES);
    bool is_test = batch == YS_CIFAR_TRAIN_BATCHES;
    struct ys_data_rows *half = is_test ? &reading->test : &reading->train;
    int64_t first = is_test ? 0 : (int64_t)batch * rows;
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *record = bytes + i * RECORD_BYTES;
        if (record[0] >= CLASSES)
            return ys_fail(YS_EFORMAT, "%s%s: label %d of record %lld, at byte %lld, is above %d", name, inside,
                           record[0], (long long)i, (long long)i * RECORD_BYTES, CLASSES - 1);
        ys_data_labels(half)[first + i] = record[0];
        memcpy(ys_data_pixels(half) + (first + i) * YS_CIFAR_IMAGE_BYTES, record + 1, YS_CIFAR_IMAGE_BYTES);
    }
    reading->seen[batch] = true;
    return YS_OK;
}

/** The number of the batch that `path` names, BATCHES when it is none. */
static size_t batch_of(const char *path)
{
    size_t batch = 0;
    while (batch < BATCHES && strcmp(ys_path_base(path), batch_names[batch]) != 0)
        batch++;
    return batch;
}

static ys_status add_member(struct reading *reading, const struct ys_tar_member *member, const char *name)
{
    size_t batch = member->is_file ? batch_of(member->name) : BATCHES;
    if (batch == BATCHES)
        return YS_OK;
    if (reading->seen[batch])
        return ys_fail(YS_EFORMAT, "%s holds %s twice", name, batch_names[batch]);
    char inside[YS_TAR_NAME_BYTES + 3] = ": ";
    strcpy(inside + 2, member->name);
    return add_batch(reading, batch, member->data, member->size, name, inside);
}

static ys_status add_members(struct reading *reading, const uint8_t *tar, size_t size, const char *name)
{
    struct ys_tar_member member;
    bool ended = false;
    for (size_t place = 0; !ended;) {
        YS_TRY(ys_tar_next(tar, size, name, &place, &member, &ended));
        if (!ended)
            YS_TRY(add_member(reading, &member, name));
    }
    for (size_t batch = 0; batch < BATCHES; batch++)
        if (!reading->seen[batch])
            return ys_fail(YS_EFORMAT, "%s holds no %s", name, batch_names[batch]);
    return YS_OK;
}

ys_status ys_cifar_parse(const void *bytes, size_t size, const char *name, int64_t batch_rows,
                         struct ys_data_rows *train, struct ys_data_rows *test)
{
    size_t batches = (size_t)(BATCHES * batch_rows * RECORD_BYTES), got = 0;
    size_t room = batches + batches / 4 + ((size_t)64 << 10); /* for headers and whatever else is in the archive */
    struct reading reading;
    bool more = false;
    uint8_t *tar = ys_alloc(room, 1);
    if (!tar)
        return ys_out_of_memory();
    ys_status status = ys_gzip_expand(bytes, size, name, tar, room, &got, &more);
    if (status == YS_OK && more)
        status = ys_fail(YS_EFORMAT, "%s expands to more than %zu bytes", name, room);
    if (status == YS_OK)
        status = begin(&reading, batch_rows);
    if (status == YS_OK)
        status = finish(&reading, add_members(&reading, tar, got, name), train, test);
    ys_free(tar);
    return status;
}

static ys_status read_archive(const char *path, int64_t batch_rows, bool unverified, struct ys_data_rows *train,
                              struct ys_data_rows *test, bool *verified)
{
    struct ys_buf bytes = {0};
    char md5[YS_MD5_TEXT] = "";
    ys_status status = ys_fs_read(path, YS_DATA_MAX_FILE_BYTES, &bytes);
    if (status == YS_OK)
        ys_md5_text(ys_buf_text(&bytes), bytes.size, md5);
    bool is_known = strcmp(md5, MD5) == 0;
    if (status == YS_OK && !is_known && !unverified)
        status = ys_fail(YS_EFORMAT,
                         "%s is not CIFAR-10 as published: its MD5 is %s, not %s (--unverified takes it, and marks it)",
                         path, md5, MD5);
    if (status == YS_OK)
        status = ys_cifar_parse(ys_buf_text(&bytes), bytes.size, path, batch_rows, train, test);
    ys_buf_free(&bytes);
    if (status == YS_OK)
        *verified = is_known;
    return status;
}

static ys_status read_batch(struct reading *reading, const char *folder, size_t batch)
{
    struct ys_buf bytes = {0};
    char *path = ys_path_join(folder, batch_names[batch]);
    ys_status status = path ? ys_fs_read(path, YS_DATA_MAX_FILE_BYTES, &bytes) : ys_out_of_memory();
    if (status == YS_OK)
        status = add_batch(reading, batch, (const uint8_t *)ys_buf_text(&bytes), bytes.size, path, "");
    ys_buf_free(&bytes);
    ys_free(path);
    return status;
}

static ys_status read_batches(const char *folder, int64_t batch_rows, bool unverified, struct ys_data_rows *train,
                              struct ys_data_rows *test, bool *verified)
{
    if (!unverified)
        return ys_fail(YS_EFORMAT,
                       "%s holds unpacked batches, of which no sums were published: give the archive %s (MD5 %s), or "
                       "take them with --unverified, which marks them",
                       folder, ARCHIVE, MD5);
    struct reading reading;
    YS_TRY(begin(&reading, batch_rows));
    ys_status status = YS_OK;
    for (size_t batch = 0; batch < BATCHES && status == YS_OK; batch++)
        status = read_batch(&reading, folder, batch);
    YS_TRY(finish(&reading, status, train, test));
    *verified = false;
    return YS_OK;
}

ys_status ys_cifar_read(const char *path, int64_t batch_rows, bool unverified, struct ys_data_rows *train,
                        struct ys_data_rows *test, bool *verified)
{
    if (!ys_fs_is_dir(path))
        return read_archive(path, batch_rows, unverified, train, test, verified);
    char *archive = ys_path_join(path, ARCHIVE), *inner = ys_path_join(path, INNER);
    char *outer_batch = ys_path_join(path, batch_names[0]),
         *inner_batch = ys_path_join(path, INNER "/data_batch_1.bin");
    ys_status status;
    if (!archive || !inner || !outer_batch || !inner_batch)
        status = ys_out_of_memory();
    else if (ys_fs_exists(archive))
        status = read_archive(archive, batch_rows, unverified, train, test, verified);
    else if (ys_fs_exists(outer_batch) || ys_fs_exists(inner_batch))
        status = read_batches(ys_fs_exists(outer_batch) ? path : inner, batch_rows, unverified, train, test, verified);
    else
        status = ys_fail(YS_ENOTFOUND, "%s has neither %s nor %s", path, ARCHIVE, batch_names[0]);
    ys_free(archive);
    ys_free(inner);
    ys_free(outer_batch);
    ys_free(inner_batch);
    return status;
}

static ys_status read_cifar10(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                              bool *verified)
{
    return ys_cifar_read(path, YS_CIFAR_BATCH_ROWS, unverified, train, test, verified);
}

const struct ys_data_published ys_cifar10_published = {
    .mirrors = (const char *const[]){"https://www.cs.toronto.edu/~kriz/", NULL},
    .files = (const char *const[]){ARCHIVE, NULL},
    .from_file = true,
    .read = read_cifar10,
};
