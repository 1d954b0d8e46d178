#include "data/sets/cifar.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/archives/gzip.h"
#include "data/archives/tar.h"
#include <string.h>

const struct ys_cifar_form ys_cifar10 = {
    .title = "CIFAR-10",
    .archive = "cifar-10-binary.tar.gz",
    .md5 = "c32a1d4ab5d03f1284b67883e8d87530",
    .inner = "cifar-10-batches-bin",
    .batch_count = 6,
    .batches = {{"data_batch_1.bin", 0, 1},
                {"data_batch_2.bin", 1, 1},
                {"data_batch_3.bin", 2, 1},
                {"data_batch_4.bin", 3, 1},
                {"data_batch_5.bin", 4, 1},
                {"test_batch.bin", 0, 1}},
    .other_inners = {"cifar-10-batches-py", "cifar-10-batches-mat"},
    .other_archives = {"cifar-10-python.tar.gz", "cifar-10-batches-py.tar.gz", "cifar-10-matlab.tar.gz"},
    .classes = 10,
};
const struct ys_cifar_form ys_cifar100 = {
    .title = "CIFAR-100",
    .archive = "cifar-100-binary.tar.gz",
    .md5 = "03b5dce01913d631647c71ecec9e9cb8",
    .inner = "cifar-100-binary",
    .batch_count = 2,
    .batches = {{"train.bin", 0, YS_CIFAR_TRAIN_BATCHES}, {"test.bin", 0, 1}},
    .other_inners = {"cifar-100-python", "cifar-100-matlab"},
    .other_archives = {"cifar-100-python.tar.gz", "cifar-100-matlab.tar.gz"},
    .groups = 20,
    .classes = 100,
};

/** What is read so far. */
struct cifar_reading {
    const struct ys_cifar_form *form;
    int64_t batch_rows;
    struct ys_data_rows train, test;
    bool seen[YS_CIFAR_MAX_BATCHES];
};

static void begin(struct cifar_reading *reading, const struct ys_cifar_form *form, int64_t batch_rows)
{
    *reading = (struct cifar_reading){.form = form, .batch_rows = batch_rows};
    const struct ys_rows rows = YS_ROWS_OF_IMAGES(1, 1, YS_CIFAR_IMAGE_BYTES, form->classes);
    ys_data_rows_init(&reading->train, &rows, YS_CIFAR_TRAIN_BATCHES * batch_rows);
    ys_data_rows_init(&reading->test, &rows, batch_rows);
}

/** Moves the rows out when all is well. */
static ys_status finish(struct cifar_reading *reading, ys_status status, struct ys_data_rows *train,
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

static int64_t record_bytes(const struct ys_cifar_form *form)
{
    return (form->groups ? 2 : 1) + YS_CIFAR_IMAGE_BYTES;
}

/* A byte that says one of `count`; `what` it says, and the others begin messages. */
static ys_status check_byte(int value, int count, const char *what, int64_t record, int64_t at, const char *name,
                            const char *inside)
{
    if (value < count)
        return YS_OK;
    return ys_fail(YS_EFORMAT, "%s%s: %s %d of record %lld, at byte %lld, is above %d", name, inside, what, value,
                   (long long)record, (long long)at, count - 1);
}

/** One batch file; `name` and `inside` begin messages. */
static ys_status add_batch(struct cifar_reading *reading, size_t batch, const uint8_t *bytes, size_t size,
                           const char *name, const char *inside)
{
    const struct ys_cifar_form *form = reading->form;
    const int64_t rows = form->batches[batch].rows * reading->batch_rows, record_size = record_bytes(form);
    if (size != (size_t)(rows * record_size))
        return ys_fail(YS_EFORMAT, "%s%s: %zu bytes, not %lld (%lld records of %lld)", name, inside, size,
                       (long long)(rows * record_size), (long long)rows, (long long)record_size);
    struct ys_data_rows *half = batch == form->batch_count - 1 ? &reading->test : &reading->train;
    const int64_t first = form->batches[batch].first * reading->batch_rows;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t at = i * record_size;
        const uint8_t *record = bytes + at;
        if (form->groups)
            YS_TRY(check_byte(*record++, form->groups, "group", i, at, name, inside));
        YS_TRY(check_byte(*record, form->classes, "label", i, record - bytes, name, inside));
        ys_data_labels(half)[first + i] = *record;
        memcpy(ys_data_pixels(half) + (first + i) * YS_CIFAR_IMAGE_BYTES, record + 1, YS_CIFAR_IMAGE_BYTES);
    }
    reading->seen[batch] = true;
    return YS_OK;
}

/** The number of the batch that `path` names, batch_count when it is none. */
static size_t batch_of(const struct ys_cifar_form *form, const char *path)
{
    size_t batch = 0;
    while (batch < form->batch_count && strcmp(ys_path_base(path), form->batches[batch].name) != 0)
        batch++;
    return batch;
}

static ys_status add_member(struct cifar_reading *reading, const struct ys_tar_member *member, const char *name)
{
    const struct ys_cifar_form *form = reading->form;
    size_t batch = member->is_file ? batch_of(form, member->name) : form->batch_count;
    if (batch == form->batch_count)
        return YS_OK;
    if (reading->seen[batch])
        return ys_fail(YS_EFORMAT, "%s holds %s twice", name, form->batches[batch].name);
    char inside[YS_TAR_NAME_BYTES + 3] = ": ";
    strcpy(inside + 2, member->name);
    return add_batch(reading, batch, member->data, member->size, name, inside);
}

static ys_status add_members(struct cifar_reading *reading, const uint8_t *tar, size_t size, const char *name)
{
    struct ys_tar_member member;
    bool ended = false;
    for (size_t place = 0; !ended;) {
        YS_TRY(ys_tar_next(tar, size, name, &place, &member, &ended));
        if (!ended)
            YS_TRY(add_member(reading, &member, name));
    }
    for (size_t batch = 0; batch < reading->form->batch_count; batch++)
        if (!reading->seen[batch])
            return ys_fail(YS_EFORMAT, "%s holds no %s", name, reading->form->batches[batch].name);
    return YS_OK;
}

ys_status ys_cifar_parse(const struct ys_cifar_form *form, const void *bytes, size_t size, const char *name,
                         int64_t batch_rows, struct ys_data_rows *train, struct ys_data_rows *test)
{
    size_t batches = (size_t)((YS_CIFAR_TRAIN_BATCHES + 1) * batch_rows * record_bytes(form)), got = 0;
    size_t room = batches + batches / 4 + ((size_t)64 << 10); /* for headers and whatever else is in the archive */
    struct cifar_reading reading;
    bool more = false;
    uint8_t *tar = ys_alloc(room, 1);
    ys_status status = ys_gzip_expand(bytes, size, name, tar, room, &got, &more);
    if (status == YS_OK && more)
        status = ys_fail(YS_EFORMAT, "%s expands to more than %zu bytes", name, room);
    if (status == YS_OK) {
        begin(&reading, form, batch_rows);
        status = finish(&reading, add_members(&reading, tar, got, name), train, test);
    }
    ys_free(tar);
    return status;
}

/* With --unverified too: there is nothing in it that could be taken. */
static ys_status is_other(const struct ys_cifar_form *form, const char *path)
{
    return ys_fail(
        YS_EFORMAT,
        "%s is %s in another version, of Python as Keras and torchvision keep it or of Matlab, and the binary "
        "version is read: give %s (MD5 %s), which `yardstick data fetch` without --from gets",
        path, form->title, form->archive, form->md5);
}

/* By the name that an archive begins with. */
static bool begins_as_other(const struct ys_cifar_form *form, const void *bytes, size_t size)
{
    uint8_t begin[YS_TAR_BLOCK_BYTES] = {0};
    size_t got = 0;
    bool more;
    bool is = false;
    if (ys_gzip_expand(bytes, size, "", begin, sizeof begin, &got, &more) != YS_OK)
        return false;
    for (size_t i = 0; i < 2; i++)
        is = is || strncmp((const char *)begin, form->other_inners[i], strlen(form->other_inners[i])) == 0;
    return is;
}

static ys_status read_archive(const struct ys_cifar_form *form, const char *path, int64_t batch_rows, bool unverified,
                              struct ys_data_rows *train, struct ys_data_rows *test, bool *verified)
{
    struct ys_buf bytes = {0};
    char md5[YS_MD5_TEXT] = "";
    ys_status status = ys_fs_read(path, YS_DATA_MAX_FILE_BYTES, &bytes);
    if (status == YS_OK)
        ys_md5_text(ys_buf_text(&bytes), bytes.size, md5);
    bool is_known = strcmp(md5, form->md5) == 0;
    if (status == YS_OK && !is_known && begins_as_other(form, ys_buf_text(&bytes), bytes.size))
        status = is_other(form, path);
    if (status == YS_OK)
        status = ys_cifar_parse(form, ys_buf_text(&bytes), bytes.size, path, batch_rows, train, test);
    ys_buf_free(&bytes);
    if (status == YS_OK && !is_known && !unverified) { /* said of what could be taken alone */
        ys_data_rows_fini(train);
        ys_data_rows_fini(test);
        return ys_fail(YS_EFORMAT,
                       "%s is not %s as published: its MD5 is %s, not %s (--unverified takes it, and marks it)", path,
                       form->title, md5, form->md5);
    }
    if (status == YS_OK)
        *verified = is_known;
    return status;
}

static ys_status read_batch(struct cifar_reading *reading, const char *folder, size_t batch)
{
    struct ys_buf bytes = {0};
    char *path = ys_path_join(folder, reading->form->batches[batch].name);
    ys_status status = ys_fs_read(path, YS_DATA_MAX_FILE_BYTES, &bytes);
    if (status == YS_OK)
        status = add_batch(reading, batch, (const uint8_t *)ys_buf_text(&bytes), bytes.size, path, "");
    ys_buf_free(&bytes);
    ys_free(path);
    return status;
}

static ys_status read_batches(const struct ys_cifar_form *form, const char *folder, int64_t batch_rows, bool unverified,
                              struct ys_data_rows *train, struct ys_data_rows *test, bool *verified)
{
    if (!unverified)
        return ys_fail(YS_EFORMAT,
                       "%s holds unpacked batches, of which no sums were published: give the archive %s (MD5 %s), or "
                       "take them with --unverified, which marks them",
                       folder, form->archive, form->md5);
    struct cifar_reading reading;
    begin(&reading, form, batch_rows);
    ys_status status = YS_OK;
    for (size_t batch = 0; batch < form->batch_count && status == YS_OK; batch++)
        status = read_batch(&reading, folder, batch);
    YS_TRY(finish(&reading, status, train, test));
    *verified = false;
    return YS_OK;
}

static bool holds(const char *folder, const char *name)
{
    char *path = name ? ys_path_join(folder, name) : NULL;
    const bool there = path && ys_fs_exists(path);
    ys_free(path);
    return there;
}

/* What there is in the place of the archive and its batches. */
static ys_status nothing_in(const struct ys_cifar_form *form, const char *path)
{
    const char *first = form->batches[0].name;
    char *bare = ys_strndup(first, strlen(first) - strlen(".bin"));
    bool other = holds(path, bare);
    ys_free(bare);
    for (size_t i = 0; i < 2; i++)
        other = other || holds(path, form->other_inners[i]);
    for (size_t i = 0; i < 4; i++)
        other = other || holds(path, form->other_archives[i]);
    return other ? is_other(form, path) : ys_fail(YS_ENOTFOUND, "%s has neither %s nor %s", path, form->archive, first);
}

ys_status ys_cifar_read(const struct ys_cifar_form *form, const char *path, int64_t batch_rows, bool unverified,
                        struct ys_data_rows *train, struct ys_data_rows *test, bool *verified)
{
    if (!ys_fs_is_dir(path))
        return read_archive(form, path, batch_rows, unverified, train, test, verified);
    char *archive = ys_path_join(path, form->archive), *inner = ys_path_join(path, form->inner);
    const char *first = form->batches[0].name;
    char *outer_batch = ys_path_join(path, first), *inner_batch = ys_path_join(inner, first);
    ys_status status;
    if (ys_fs_exists(archive))
        status = read_archive(form, archive, batch_rows, unverified, train, test, verified);
    else if (ys_fs_exists(outer_batch) || ys_fs_exists(inner_batch))
        status =
            read_batches(form, ys_fs_exists(outer_batch) ? path : inner, batch_rows, unverified, train, test, verified);
    else
        status = nothing_in(form, path);
    ys_free(archive);
    ys_free(inner);
    ys_free(outer_batch);
    ys_free(inner_batch);
    return status;
}

static ys_status read_cifar10(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                              bool *verified)
{
    return ys_cifar_read(&ys_cifar10, path, YS_CIFAR_BATCH_ROWS, unverified, train, test, verified);
}

static ys_status read_cifar100(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                               bool *verified)
{
    return ys_cifar_read(&ys_cifar100, path, YS_CIFAR_BATCH_ROWS, unverified, train, test, verified);
}

const struct ys_data_published ys_cifar100_published = {
    .mirrors = (const char *const[]){"https://www.cs.toronto.edu/~kriz/", NULL},
    .files = (const char *const[]){"cifar-100-binary.tar.gz", NULL},
    .from_file = true,
    .read = read_cifar100,
};

const struct ys_data_published ys_cifar10_published = {
    .mirrors = (const char *const[]){"https://www.cs.toronto.edu/~kriz/", NULL},
    .files = (const char *const[]){"cifar-10-binary.tar.gz", NULL},
    .from_file = true,
    .read = read_cifar10,
};
