#include "data/sets/decoded_images.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "data/folders/folder.h"
#include "data/listed_images.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EDITION "1" /* raise it when the same folder would give other bytes */

static const char PROGRAM[] = "yardstick-feeder";

/** A folder, what is to be made of it, and what the feeder said. */
struct decoding {
    const char *path;
    const struct ys_folder *folder;
    struct ys_data_source source;
    bool skips;         /* leave bad rows out */
    bool lists;         /* those to train on stay in their files */
    const char *origin; /* NULL: the folder, of which there is nothing to verify */
    bool verified;

    bool *is_bad; /* of each row */
    size_t bad_count, first_bad;
    char *bad_message; /* of the first one */
    char *failure;     /* why the feeder ended; NULL: it did not say */
    size_t first;      /* row of which the feeder says 0 */
    struct made {
        uint8_t *bytes; /* mapped; NULL: there are none */
        size_t size, first;
    } pixels, sums; /* of the rows from `first` on: decoded; the SHA-256 of their files */
};

static void decoding_fini(struct decoding *d)
{
    if (d->pixels.bytes)
        munmap(d->pixels.bytes, d->pixels.size);
    if (d->sums.bytes)
        munmap(d->sums.bytes, d->sums.size);
    ys_free(d->is_bad);
    ys_free(d->bad_message);
    ys_free(d->failure);
    ys_free((char *)(uintptr_t)d->source.edition);
    ys_free((char *)(uintptr_t)d->source.folder);
}

static size_t row_bytes(const struct decoding *d)
{
    return ys_row_bytes(&d->source.rows.inputs[0]);
}

static ys_status check_form(const char *path, const struct ys_rows *form)
{
    const struct ys_row_array *x = form ? &form->inputs[0] : NULL;
    if (!form)
        return ys_fail(YS_EINVAL,
                       "the images of %s take the form of a model's input: they are prepared when a study "
                       "uses them",
                       path);
    if (form->input_count == 1 && x->dtype == YS_U8 && x->rank == 3 && (x->shape[0] == 1 || x->shape[0] == 3) &&
        form->kind == YS_TARGET_CLASS)
        return YS_OK;
    return ys_fail(YS_EINVAL,
                   "the images of %s can only be given to a network that takes images, grey or in colours, "
                   "and tells classes apart",
                   path);
}

/* What the sum of the rows' files, the size and what is left out make of it: also its folder in the cache. */
static void make_source(struct decoding *d, const struct ys_rows *form)
{
    const int64_t *shape = form->inputs[0].shape;
    char place[YS_SHA256_TEXT];
    char *what = ys_format("%s|%lldx%lldx%lld|%d%s", d->path, (long long)shape[0], (long long)shape[1],
                           (long long)shape[2], d->skips, d->lists ? "|live" : "");
    ys_sha256_text(what, strlen(what), place);
    ys_free(what);
    d->source = (struct ys_data_source){
        .name = d->path,
        .title = "images of a folder",
        .rows = YS_ROWS_OF_IMAGES(shape[0], shape[1], shape[2], d->folder->classes),
        .edition = ys_format("%s|%s|%lldx%lldx%lld|%d%s", EDITION, d->folder->hash, (long long)shape[0],
                             (long long)shape[1], (long long)shape[2], d->skips, d->lists ? "|live" : ""),
        .folder = ys_format("folder-%.16s", place),
        .is_decoded = true,
        .is_listed = d->lists,
    };
}

static ys_status write_list(const struct decoding *d, size_t last, const char *path)
{
    FILE *file = fopen(path, "we");
    bool is_written = file != NULL;
    for (size_t i = d->first; is_written && i < last; i++) {
        const char *row = d->folder->rows[i].path;
        is_written = fwrite(row, 1, strlen(row) + 1, file) == strlen(row) + 1;
    }
    if (file && fclose(file) != 0)
        is_written = false;
    return is_written ? YS_OK : ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
}

/* "ROW MESSAGE", or what the feeder says as it ends. */
static void hear(void *context, const char *line)
{
    struct decoding *d = context;
    char *rest = NULL;
    const unsigned long long row = strtoull(line, &rest, 10) + d->first;
    if (strncmp(line, PROGRAM, sizeof PROGRAM - 1) == 0) {
        ys_free(d->failure);
        d->failure = ys_strdup(line);
    }
    if (rest == line || *rest != ' ' || row >= d->folder->count || d->is_bad[row])
        return;
    d->is_bad[row] = true;
    if (d->bad_count++ == 0 || row < d->first_bad) {
        d->first_bad = row;
        ys_free(d->bad_message);
        d->bad_message = ys_strdup(rest + 1);
    }
}

/* With `checks` it decodes them, and keeps sums of the files. */
static ys_status run_feeder(struct decoding *d, bool checks, const char *list, const char *out)
{
    const int64_t *shape = d->source.rows.inputs[0].shape;
    const struct ys_child_options options = {.is_own = true, .merge_stderr = true, .on_line = hear, .context = d};
    char *program = ys_find_support(PROGRAM);
    char *size = ys_format("%lldx%lldx%lld", (long long)shape[0], (long long)shape[1], (long long)shape[2]);
    const char *const argv[] = {program, checks ? "check" : "prepare", "--list", list, "--out",
                                out,     checks ? NULL : "--size",     size,     NULL};
    int exit_code = 0;
    ys_status status =
        program ? ys_child_run(argv, &options, NULL, &exit_code)
                : ys_fail(YS_ENOTFOUND, "the program %s is missing: build or install yardstick again", PROGRAM);
    if (status == YS_OK && exit_code > 128)
        status = ys_fail(YS_EIO, "%s was ended by signal %d while it decoded the images of %s: run it again", PROGRAM,
                         exit_code - 128, d->path);
    else if (status == YS_OK && exit_code != 0)
        status = ys_fail(YS_EIO, "the images of %s were not decoded: %s", d->path,
                         d->failure ? d->failure : "the feeder did not say why");
    ys_free(program);
    ys_free(size);
    return status;
}

static ys_status map_made(const char *path, size_t size, struct made *made)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat found;
    void *mapped = MAP_FAILED;
    if (file >= 0 && fstat(file, &found) == 0 && (uint64_t)found.st_size == size)
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (mapped == MAP_FAILED)
        return ys_fail(YS_EIO, "cannot map the %zu bytes that the feeder made in %s", size, path);
    made->bytes = mapped;
    made->size = size;
    return YS_OK;
}

/* Whoever adds or changes an image meanwhile has made neither the old set nor the new one. */
static ys_status check_unchanged(const struct decoding *d)
{
    struct ys_folder now;
    YS_TRY(ys_folder_read(d->path, &now));
    const bool is_same = strcmp(now.hash, d->folder->hash) == 0;
    ys_folder_fini(&now);
    return is_same ? YS_OK
                   : ys_fail(YS_EFORMAT,
                             "%s changed while its images were read: run it again when nobody writes "
                             "there",
                             d->path);
}

static ys_status check_bad(struct decoding *d)
{
    const char *message = d->bad_message ? d->bad_message : "";
    if (d->bad_count == 0)
        return YS_OK;
    if (d->origin)
        return ys_fail(YS_EFORMAT, "%s (%zu of %zu images are bad)", message, d->bad_count, d->folder->count);
    if (!d->skips)
        return ys_fail(YS_EFORMAT, "%s (%zu of %zu images are bad; on_bad_row = skip leaves them out)", message,
                       d->bad_count, d->folder->count);
    ys_log_warn("%zu of %zu images of %s are left out; the first: %s", d->bad_count, d->folder->count, d->path,
                message);
    d->source.skipped = (int64_t)d->bad_count;
    return YS_OK;
}

static ys_status check_any_good(const struct decoding *d, size_t first, int64_t count)
{
    return count > 0 ? YS_OK
                     : ys_fail(YS_EFORMAT, "no image of %s to %s is good: %s", d->path,
                               first == 0 ? "train on" : "test on", d->bad_message ? d->bad_message : "");
}

/* A class that lost all its images to train on would still count among the network's. The rows come by class. */
static ys_status check_classes_left(const struct decoding *d)
{
    const struct ys_folder_row *rows = d->folder->rows;
    const size_t count = d->folder->train_count;
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        const bool ends = i + 1 == count || rows[i + 1].label != rows[i].label;
        good += !d->is_bad[i];
        if (ends && good == 0)
            return ys_fail(YS_EFORMAT, "%s: no image to train on of its class is good: bring some, or remove the class",
                           rows[i].path);
        if (ends)
            good = 0;
    }
    return YS_OK;
}

/* The rows from `first` to `last` without the bad ones, whose places the next ones take. */
static ys_status take_half(struct decoding *d, size_t first, size_t last, struct ys_data_rows *rows)
{
    const size_t size = row_bytes(d);
    uint8_t *pixels = d->pixels.bytes + (first - d->pixels.first) * size;
    int64_t *labels = ys_alloc(last - first, sizeof *labels);
    *rows = (struct ys_data_rows){.input_count = 1, .array = {pixels, labels}};
    for (size_t i = first; i < last; i++) {
        if (d->is_bad[i])
            continue;
        if ((size_t)rows->count != i - first)
            memmove(pixels + (size_t)rows->count * size, pixels + (i - first) * size, size);
        labels[rows->count++] = d->folder->rows[i].label;
    }
    ys_status status = check_any_good(d, first, rows->count);
    if (status != YS_OK)
        ys_free(labels);
    return status;
}

/** What a list of files is written from. */
struct image_listing {
    struct ys_buf paths;
    int64_t *starts, *sizes, *times, *labels;
    struct ys_data_files files;
};

static void listing_fini(struct image_listing *listing)
{
    ys_buf_free(&listing->paths);
    ys_free(listing->starts);
    ys_free(listing->sizes);
    ys_free(listing->times);
    ys_free(listing->labels);
}

/* The files of the rows to train on. */
static ys_status list_files(struct decoding *d, struct image_listing *listing, struct ys_data_rows *rows)
{
    const size_t all = d->folder->train_count, sum_bytes = YS_LISTED_SUM_BYTES;
    int64_t **const numbers[] = {&listing->starts, &listing->sizes, &listing->times, &listing->labels};
    size_t count = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = ys_alloc(all, sizeof **numbers[i]);
    for (size_t i = 0; i < all; i++) {
        const struct ys_folder_row *row = &d->folder->rows[i];
        if (d->is_bad[i])
            continue;
        listing->starts[count] = (int64_t)listing->paths.size;
        listing->sizes[count] = row->size_bytes;
        listing->times[count] = row->time_ns;
        listing->labels[count] = row->label;
        memmove(d->sums.bytes + count * sum_bytes, d->sums.bytes + i * sum_bytes, sum_bytes);
        ys_buf_append(&listing->paths, row->path, strlen(row->path) + 1);
        count++;
    }
    listing->files = (struct ys_data_files){.paths = listing->paths.data,
                                            .paths_bytes = listing->paths.size,
                                            .starts = listing->starts,
                                            .sizes = listing->sizes,
                                            .times = listing->times,
                                            .sums = d->sums.bytes};
    *rows = (struct ys_data_rows){
        .count = (int64_t)count, .input_count = 1, .array = {NULL, listing->labels}, .files = &listing->files};
    return check_any_good(d, 0, rows->count);
}

static ys_status write_rows(struct decoding *d)
{
    const struct ys_folder *folder = d->folder;
    struct ys_data_rows train, test;
    struct image_listing listing = {0};
    ys_status status = d->lists ? list_files(d, &listing, &train) : take_half(d, 0, folder->train_count, &train);
    if (status == YS_OK) {
        status = take_half(d, folder->train_count, folder->count, &test);
        if (status == YS_OK) {
            status = ys_prepared_write(&d->source, &train, &test, d->origin ? d->origin : d->path,
                                       d->origin ? d->verified : true);
            ys_free(test.array[1]);
        }
        if (!d->lists)
            ys_free(train.array[1]);
    }
    listing_fini(&listing);
    return status;
}

/* The rows from `first` to `last`, decoded or only checked. */
static ys_status make(struct decoding *d, size_t first, size_t last, bool checks, const char *folder)
{
    struct made *made = checks ? &d->sums : &d->pixels;
    char *list = ys_path_join(folder, "list"), *out = ys_path_join(folder, checks ? "sums" : "pixels");
    d->first = made->first = first;
    ys_status status = write_list(d, last, list);
    if (status == YS_OK)
        status = run_feeder(d, checks, list, out);
    if (status == YS_OK)
        status = map_made(out, (last - first) * (checks ? (size_t)YS_LISTED_SUM_BYTES : row_bytes(d)), made);
    ys_free(list);
    ys_free(out);
    return status;
}

static void say_begin(const struct decoding *d)
{
    const int64_t *shape = d->source.rows.inputs[0].shape;
    const size_t decoded = d->lists ? d->folder->count - d->folder->train_count : d->folder->count;
    if (d->lists)
        ys_log_info("looking once at each of the %zu images of %s to train on", d->folder->train_count, d->path);
    ys_log_info("decoding %zu images of %s to %lldx%lldx%lld, once: %zu MiB in the cache", decoded, d->path,
                (long long)shape[0], (long long)shape[1], (long long)shape[2], (decoded * row_bytes(d) >> 20) + 1);
}

static ys_status decode(struct decoding *d)
{
    const size_t train = d->folder->train_count;
    struct ys_working working;
    d->is_bad = ys_alloc(d->folder->count, sizeof *d->is_bad);
    say_begin(d);
    YS_TRY(ys_working_in_cache("data", &working));
    ys_status status = d->lists ? make(d, 0, train, true, working.path) : YS_OK;
    if (status == YS_OK)
        status = make(d, d->lists ? train : 0, d->folder->count, false, working.path);
    if (status == YS_OK)
        status = check_unchanged(d);
    if (status == YS_OK)
        status = check_bad(d);
    if (status == YS_OK)
        status = check_classes_left(d);
    if (status == YS_OK)
        status = write_rows(d);
    ys_working_remove(&working);
    return status;
}

/* What a folder holds now is what a new study takes; one that began before needs what it began with. */
static ys_status load_or_decode(struct decoding *d, const struct ys_data_wanted *wanted, struct ys_dataset *dataset)
{
    const bool goes_on = wanted && wanted->train_hash;
    ys_status status = ys_prepared_load(&d->source, goes_on ? wanted : NULL, dataset);
    if (status != YS_ENOTFOUND && status != YS_EFORMAT)
        return status;
    if (status == YS_EFORMAT)
        ys_log_warn("%s: made again", ys_error());
    YS_TRY(decode(d));
    status = ys_prepared_load(&d->source, goes_on ? wanted : NULL, dataset);
    if (status == YS_ENOTFOUND && goes_on)
        return ys_fail(status,
                       "the images of %s are not those that this study began with (SHA-256 %s to train, %s to test): "
                       "bring them back, or begin a new study",
                       d->path, wanted->train_hash, wanted->test_hash);
    return status;
}

static void say_what(const struct ys_dataset *dataset)
{
    ys_log_info("%s: %lld classes, %lld images to train on and %lld to test on%s%s", dataset->name,
                (long long)dataset->rows.classes, (long long)dataset->train_count, (long long)dataset->test_count,
                dataset->left_out ? "; left out: " : "", dataset->left_out ? dataset->left_out : "");
}

ys_status ys_decoded_prepare(const char *path, const struct ys_rows *form, const struct ys_data_wanted *wanted,
                             struct ys_dataset *dataset)
{
    struct ys_folder folder;
    YS_TRY(check_form(path, form));
    YS_TRY(ys_folder_read(path, &folder));
    struct decoding d = {
        .path = path, .folder = &folder, .skips = wanted && wanted->skips_bad, .lists = wanted && wanted->lists};
    make_source(&d, form);
    ys_status status = load_or_decode(&d, wanted, dataset);
    if (status == YS_OK) {
        dataset->skips_bad = d.skips;
        dataset->left_out = folder.left_out;
        folder.left_out = NULL;
        say_what(dataset);
    }
    decoding_fini(&d);
    ys_folder_fini(&folder);
    return status;
}

ys_status ys_decoded_import(const struct ys_data_source *source, const char *path, const char *origin, bool verified)
{
    struct ys_folder folder;
    YS_TRY(ys_folder_read(path, &folder));
    struct decoding d = {.path = path, .folder = &folder, .source = *source, .origin = origin, .verified = verified};
    ys_status status = folder.classes == source->rows.classes
                           ? decode(&d)
                           : ys_fail(YS_EFORMAT, "%s has images of %lld classes: %s has %lld", path,
                                     (long long)folder.classes, source->name, (long long)source->rows.classes);
    d.source.edition = d.source.folder = NULL; /* the caller's */
    decoding_fini(&d);
    ys_folder_fini(&folder);
    return status;
}

ys_status ys_decoded_again(const struct ys_dataset *dataset)
{
    struct ys_folder folder;
    YS_TRY(ys_folder_read(dataset->name, &folder));
    struct decoding d = {
        .path = dataset->name, .folder = &folder, .skips = dataset->skips_bad, .lists = dataset->is_listed};
    make_source(&d, &dataset->rows);
    ys_status status = decode(&d);
    decoding_fini(&d);
    ys_folder_fini(&folder);
    return status;
}
