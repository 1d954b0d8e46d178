#include "data/prepared.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stored/sealed.h"
#include "data/dataset_version.h"
#include "data/listed_images.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char TRAIN[] = "train.safetensors", TEST[] = "test.safetensors";

/* Earlier versions of yardstick made hidden folders; one that is so old is nobody's. */
static const time_t OLD_LEFTOVER_S = 3600;

void ys_data_rows_init(struct ys_data_rows *rows, const struct ys_rows *form, int64_t count)
{
    *rows = (struct ys_data_rows){.count = count, .input_count = form->input_count};
    for (size_t i = 0; i <= form->input_count; i++)
        rows->array[i] = ys_alloc((size_t)count, ys_row_bytes(ys_rows_array(form, i)));
}

void ys_data_rows_fini(struct ys_data_rows *rows)
{
    for (size_t i = 0; i <= YS_ROWS_MAX_INPUTS; i++)
        ys_free(rows->array[i]);
    *rows = (struct ys_data_rows){0};
}

static ys_json *make_meta(const struct ys_data_source *source, const char *hash, const char *origin, bool verified)
{
    ys_json *meta = ys_json_object();
    char classes[32], scale[32];
    snprintf(classes, sizeof classes, "%lld", (long long)source->rows.classes);
    snprintf(scale, sizeof scale, "%.17g", 1.0 / 255);
    ys_json_set_string(meta, "name", source->name);
    ys_json_set_string(meta, "edition", source->edition);
    ys_json_set_string(meta, "classes", classes);
    ys_json_set_string(meta, "scale", scale);
    ys_json_set_string(meta, "sha256", hash);
    ys_json_set_string(meta, "source", origin);
    if (source->is_listed) {
        char *form = ys_data_form(&source->rows, false);
        ys_json_set_string(meta, YS_LISTED_ROWS, form);
        ys_free(form);
    }
    if (source->is_decoded) {
        char skipped[32];
        snprintf(skipped, sizeof skipped, "%lld", (long long)source->skipped);
        ys_json_set_string(meta, "skipped", skipped);
    }
    ys_json_set_string(meta, "verified", verified ? "true" : "false");
    return meta;
}

/* Of the first array (of listed images: of the sums of their files) followed by the next; where there are more, of that
 * sum followed by the next, and so on. */
static void hash_rows(const struct ys_data_source *source, const struct ys_data_rows *rows, char hash[YS_SHA256_TEXT])
{
    uint8_t digest[32];
    const void *before = rows->files ? rows->files->sums : rows->array[0];
    size_t before_bytes = (size_t)rows->count *
                          (rows->files ? (size_t)YS_LISTED_SUM_BYTES : ys_row_bytes(ys_rows_array(&source->rows, 0)));
    for (size_t i = 1; i <= source->rows.input_count; i++) {
        ys_sha256_joined(before, before_bytes, rows->array[i],
                         (size_t)rows->count * ys_row_bytes(ys_rows_array(&source->rows, i)), digest);
        before = digest;
        before_bytes = sizeof digest;
    }
    ys_hex_text(digest, sizeof digest, hash);
}

enum { LISTED_ARRAYS = 5 };

static void describe_files(const struct ys_data_rows *rows, struct ys_tensor tensors[LISTED_ARRAYS])
{
    const struct ys_data_files *files = rows->files;
    const size_t numbers_bytes = (size_t)rows->count * sizeof(int64_t);
    const struct ys_tensor all[LISTED_ARRAYS] = {
        {YS_LISTED_PATHS, YS_U8, 1, {(int64_t)files->paths_bytes}, files->paths, files->paths_bytes},
        {YS_LISTED_STARTS, YS_I64, 1, {rows->count}, files->starts, numbers_bytes},
        {YS_LISTED_SIZES, YS_I64, 1, {rows->count}, files->sizes, numbers_bytes},
        {YS_LISTED_TIMES, YS_I64, 1, {rows->count}, files->times, numbers_bytes},
        {YS_LISTED_SUMS,
         YS_U8,
         2,
         {rows->count, YS_LISTED_SUM_BYTES},
         files->sums,
         (size_t)rows->count * YS_LISTED_SUM_BYTES},
    };
    memcpy(tensors, all, sizeof all);
}

static ys_status write_half(const struct ys_data_source *source, const struct ys_data_rows *rows, const char *folder,
                            const char *file, const char *origin, bool verified)
{
    struct ys_tensor tensors[YS_ROWS_MAX_INPUTS + 1 + LISTED_ARRAYS];
    size_t count = 0;
    if (rows->files) {
        describe_files(rows, tensors);
        count = LISTED_ARRAYS;
    }
    for (size_t i = rows->files ? 1 : 0; i <= source->rows.input_count; i++, count++) {
        const struct ys_row_array *array = ys_rows_array(&source->rows, i);
        tensors[count] = (struct ys_tensor){.name = array->name,
                                            .dtype = array->dtype,
                                            .rank = array->rank + 1,
                                            .shape = {rows->count},
                                            .data = rows->array[i],
                                            .size_bytes = (size_t)rows->count * ys_row_bytes(array)};
        memcpy(tensors[count].shape + 1, array->shape, array->rank * sizeof *array->shape);
    }
    char hash[YS_SHA256_TEXT];
    hash_rows(source, rows, hash);
    char *path = ys_path_join(folder, file);
    ys_json *meta = make_meta(source, hash, origin, verified);
    ys_status status = ys_safetensors_write(path, tensors, count, meta);
    ys_json_free(meta);
    ys_free(path);
    return status;
}

/* data/NAME in the cache, which need not be there; new string. */
static ys_status folder_of_set(const struct ys_data_source *source, char **folder)
{
    char *data = NULL;
    YS_TRY(ys_cache_path("data", &data));
    *folder = ys_path_join(data, source->folder ? source->folder : source->name);
    ys_free(data);
    return YS_OK;
}

static void remove_old_files(const char *folder)
{
    const char *const names[] = {TRAIN, TEST};
    for (size_t i = 0; i < 2; i++) {
        char *path = ys_path_join(folder, names[i]);
        unlink(path);
        ys_free(path);
    }
}

ys_status ys_prepared_write(const struct ys_data_source *source, const struct ys_data_rows *train,
                            const struct ys_data_rows *test, const char *origin, bool verified)
{
    char *folder = NULL, hash[YS_SHA256_TEXT];
    struct ys_working working;
    YS_TRY(ys_working_in_cache("data", &working));
    char *made = ys_path_join(working.path, "version");
    ys_status status = ys_fs_make_dirs(made);
    if (status == YS_OK)
        status = write_half(source, train, made, TRAIN, origin, verified);
    if (status == YS_OK)
        status = write_half(source, test, made, TEST, origin, verified);
    if (status == YS_OK)
        status = ys_sealed_seal(made, hash);
    if (status == YS_OK)
        status = folder_of_set(source, &folder);
    if (status == YS_OK)
        status = ys_version_put(folder, made, hash);
    if (status == YS_OK)
        remove_old_files(folder);
    ys_working_remove(&working);
    ys_free(made);
    ys_free(folder);
    return status;
}

/** What one file says of itself. */
struct prepared_half {
    char *path;
    char hash[YS_SHA256_TEXT];
    int64_t count;
    double scale;
    bool verified;
    int64_t skipped;
    char *origin;
};

static void half_fini(struct prepared_half *half)
{
    ys_free(half->path);
    ys_free(half->origin);
}

static const char *meta_text(const struct ys_safetensors *file, const char *key)
{
    const char *text = ys_safetensors_meta(file, key);
    return text ? text : "";
}

static ys_status check_labels(const struct ys_data_source *source, const struct ys_tensor *y, const char *path)
{
    const int64_t *labels = y->data;
    size_t count = y->dtype == YS_I64 ? ys_tensor_count(y) : 0, of_row = count / (size_t)y->shape[0];
    for (size_t i = 0; i < count; i++)
        if (labels[i] < (source->rows.kind == YS_TARGET_CLASSES ? YS_ROWS_HIDDEN : 0) ||
            labels[i] >= source->rows.classes)
            return ys_fail(YS_EFORMAT, "%s: label %lld of row %zu is not one of %lld classes", path,
                           (long long)labels[i], i / of_row, (long long)source->rows.classes);
    return YS_OK;
}

/* An array of the file, with `count` rows; the first one says how many (*count is 0). */
static ys_status check_array(const struct ys_data_source *source, const struct ys_safetensors *file,
                             const struct ys_row_array *array, const char *path, int64_t *count,
                             const struct ys_tensor **tensor)
{
    YS_TRY(ys_safetensors_need(file, array->name, array->dtype, SIZE_MAX, NULL, tensor));
    const int64_t *shape = (*tensor)->shape;
    if ((*tensor)->rank != array->rank + 1 || shape[0] < 1 || (*count > 0 && shape[0] != *count) ||
        memcmp(shape + 1, array->shape, array->rank * sizeof *shape) != 0)
        return ys_fail(YS_EFORMAT, "%s is not a prepared file of %s", path, source->name);
    *count = shape[0];
    return YS_OK;
}

/* `lists`: it names the files of its images. */
static ys_status check_half(const struct ys_data_source *source, const struct ys_safetensors *file, bool lists,
                            struct prepared_half *half)
{
    const struct ys_tensor *array = NULL, *sums = NULL;
    if (strcmp(meta_text(file, "name"), source->name) != 0 || strcmp(meta_text(file, "edition"), source->edition) != 0)
        return ys_fail(YS_ENOTFOUND, "%s holds another edition", half->path);
    for (size_t i = lists ? 1 : 0; i <= source->rows.input_count; i++)
        YS_TRY(check_array(source, file, ys_rows_array(&source->rows, i), half->path, &half->count, &array));
    if (lists)
        YS_TRY(
            ys_safetensors_need(file, YS_LISTED_SUMS, YS_U8, 2, (int64_t[]){half->count, YS_LISTED_SUM_BYTES}, &sums));
    const char *hash = meta_text(file, "sha256");
    half->scale = strtod(meta_text(file, "scale"), NULL);
    if (strlen(hash) != 64 || !(half->scale > 0 && isfinite(half->scale)))
        return ys_fail(YS_EFORMAT, "%s is not a prepared file of %s", half->path, source->name);
    YS_TRY(check_labels(source, array, half->path)); /* the last one: the target */
    memcpy(half->hash, hash, sizeof half->hash);
    half->verified = strcmp(meta_text(file, "verified"), "true") == 0;
    half->skipped = strtoll(meta_text(file, "skipped"), NULL, 10);
    half->origin = ys_strdup(meta_text(file, "source"));
    return YS_OK;
}

static ys_status load_half(const struct ys_data_source *source, const char *folder, const char *name,
                           struct prepared_half *half)
{
    half->path = ys_path_join(folder, name);
    if (!ys_fs_exists(half->path))
        return ys_fail(YS_ENOTFOUND, "there is no %s", half->path);
    struct ys_safetensors *file;
    YS_TRY(ys_safetensors_open(half->path, &file));
    ys_status status = check_half(source, file, source->is_listed && strcmp(name, TRAIN) == 0, half);
    ys_safetensors_close(file);
    return status;
}

/** Takes what `train` and `test` own. */
static void fill(const struct ys_data_source *source, struct prepared_half *train, struct prepared_half *test,
                 struct ys_dataset *dataset)
{
    *dataset = (struct ys_dataset){
        .name = ys_strdup(source->name),
        .train_path = train->path,
        .test_path = test->path,
        .train_count = train->count,
        .test_count = test->count,
        .rows = source->rows,
        .scale = train->scale,
        .verified = train->verified && test->verified,
        .generated = !source->published,
        .is_decoded = source->is_decoded,
        .is_listed = source->is_listed,
        .skipped = train->skipped,
        .source = train->origin,
        .lock = YS_LOCK_NONE,
    };
    memcpy(dataset->train_hash, train->hash, sizeof dataset->train_hash);
    memcpy(dataset->test_hash, test->hash, sizeof dataset->test_hash);
    train->path = train->origin = test->path = NULL;
}

static ys_status load_files(const struct ys_data_source *source, const char *folder, struct ys_dataset *dataset)
{
    struct prepared_half train = {0}, test = {0};
    ys_status status = load_half(source, folder, TRAIN, &train);
    if (status == YS_OK)
        status = load_half(source, folder, TEST, &test);
    if (status == YS_OK)
        fill(source, &train, &test, dataset);
    half_fini(&train);
    half_fini(&test);
    return status;
}

static bool has_files(const char *folder)
{
    char *train = ys_path_join(folder, TRAIN), *test = ys_path_join(folder, TEST);
    bool has = ys_fs_exists(train) && ys_fs_exists(test);
    ys_free(train);
    ys_free(test);
    return has;
}

/* Holds the version at `path`. YS_EBUSY: it was removed just now. */
static ys_status load_version(const struct ys_data_source *source, const char *path, struct ys_dataset *dataset)
{
    struct ys_lock lock;
    ys_status status = ys_lock_take_folder(path, YS_LOCK_SHARED, YS_LOCK_FOREVER_S, &lock);
    if (status == YS_ENOTFOUND)
        return YS_EBUSY;
    YS_TRY(status);
    if (!has_files(path))
        status = ys_fail(YS_EFORMAT, "of the prepared files in %s one is missing", path);
    else if (!ys_version_is_named_right(path))
        status = ys_fail(YS_EFORMAT, "the manifest in %s was damaged (the folder is named by its SHA-256)", path);
    else
        status = load_files(source, path, dataset);
    if (status == YS_OK) {
        dataset->lock = lock;
        dataset->folder = ys_strdup(path);
        return YS_OK;
    }
    ys_lock_release(&lock);
    return status;
}

/* Without a version, the files of an earlier yardstick are shown as they are; they are held by nobody. */
static ys_status load_current(const struct ys_data_source *source, const char *folder, struct ys_dataset *dataset)
{
    ys_status status = YS_EBUSY;
    while (status == YS_EBUSY) {
        char *path = NULL;
        status = ys_version_current(folder, &path);
        if (status == YS_ENOTFOUND)
            return load_files(source, folder, dataset);
        if (status == YS_OK)
            status = load_version(source, path, dataset);
        ys_free(path);
    }
    return status;
}

static bool has_rows(const struct ys_dataset *dataset, const struct ys_data_wanted *wanted)
{
    return strcmp(dataset->train_hash, wanted->train_hash) == 0 && strcmp(dataset->test_hash, wanted->test_hash) == 0;
}

static ys_status load_wanted(const struct ys_data_source *source, const char *folder,
                             const struct ys_data_wanted *wanted, struct ys_dataset *dataset)
{
    struct ys_versions versions;
    bool found = false;
    ys_versions_list(folder, &versions);
    for (size_t i = 0; !found && i < versions.count; i++) {
        ys_status status = load_version(source, versions.paths[i], dataset);
        found = status == YS_OK && has_rows(dataset, wanted);
        if (status == YS_OK && !found)
            ys_dataset_fini(dataset);
    }
    ys_versions_fini(&versions);
    return found ? YS_OK : ys_fail(YS_ENOTFOUND, "no version in %s has these rows", folder);
}

ys_status ys_prepared_load(const struct ys_data_source *source, const struct ys_data_wanted *wanted,
                           struct ys_dataset *dataset)
{
    char *folder = NULL;
    YS_TRY(folder_of_set(source, &folder));
    ys_status status = wanted ? load_wanted(source, folder, wanted, dataset) : load_current(source, folder, dataset);
    ys_free(folder);
    return status;
}

/* The rows of one file, into the mapping; their sum must be the one that the file says. */
static ys_status borrow_rows(const struct ys_data_source *source, const struct ys_safetensors *file, const char *said,
                             struct ys_data_rows *rows)
{
    char hash[YS_SHA256_TEXT];
    *rows = (struct ys_data_rows){.input_count = source->rows.input_count};
    for (size_t i = 0; i <= source->rows.input_count; i++) {
        const struct ys_tensor *tensor = ys_safetensors_find(file, ys_rows_array(&source->rows, i)->name);
        rows->count = tensor->shape[0];
        rows->array[i] = (void *)(uintptr_t)tensor->data;
    }
    hash_rows(source, rows, hash);
    return strcmp(hash, said) == 0 ? YS_OK : ys_fail(YS_EFORMAT, "SHA-256 of its rows differs");
}

static ys_status write_again(const struct ys_data_source *source, const struct ys_dataset *old)
{
    struct ys_safetensors *train_file = NULL, *test_file = NULL;
    struct ys_data_rows train, test;
    ys_status status = ys_safetensors_open(old->train_path, &train_file);
    if (status == YS_OK)
        status = ys_safetensors_open(old->test_path, &test_file);
    if (status == YS_OK)
        status = borrow_rows(source, train_file, old->train_hash, &train);
    if (status == YS_OK)
        status = borrow_rows(source, test_file, old->test_hash, &test);
    if (status == YS_OK)
        status = ys_prepared_write(source, &train, &test, old->source, old->verified);
    ys_safetensors_close(train_file);
    ys_safetensors_close(test_file);
    return status;
}

ys_status ys_prepared_adopt(const struct ys_data_source *source)
{
    char *folder = NULL, *current = NULL;
    struct ys_dataset old = {0};
    YS_TRY(folder_of_set(source, &folder));
    bool has_old = has_files(folder);
    ys_status status = has_old ? ys_version_current(folder, &current) : YS_OK;
    if (has_old && status == YS_OK) { /* a process that was killed did not get so far */
        remove_old_files(folder);
    } else if (status == YS_ENOTFOUND) {
        status = load_files(source, folder, &old);
        if (status == YS_OK)
            status = write_again(source, &old);
        if (status == YS_OK)
            ys_log_info("the data set %s was prepared by an earlier version of yardstick: it is now in %s",
                        source->name, folder);
        if (status == YS_ENOTFOUND) /* of another edition, or another process was faster */
            status = YS_OK;
        ys_dataset_fini(&old);
    }
    ys_free(current);
    ys_free(folder);
    return status;
}

static void sweep_hidden(const char *path, const struct ys_sweep *sweep)
{
    struct stat folder;
    if (stat(path, &folder) == 0 && time(NULL) - folder.st_mtime > OLD_LEFTOVER_S)
        ys_working_sweep_one(path, sweep);
}

void ys_prepared_sweep(const struct ys_sweep *sweep, bool versions)
{
    char *cache = ys_cache_dir(), *data = cache ? ys_path_join(cache, "data") : NULL;
    DIR *entries = data ? opendir(data) : NULL;
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        char *path = ys_path_join(data, entry->d_name);
        if (entry->d_name[0] == '.' && strchr(entry->d_name + 1, '.') && strcmp(entry->d_name, "..") != 0)
            sweep_hidden(path, sweep);
        if (entry->d_name[0] != '.') {
            ys_atomic_file_sweep(path, sweep);
            if (versions)
                ys_versions_sweep(path, sweep);
        }
        ys_free(path);
    }
    if (entries)
        closedir(entries);
    ys_working_sweep_cache("data", sweep);
    ys_free(data);
    ys_free(cache);
}

void ys_dataset_fini(struct ys_dataset *dataset)
{
    if (dataset->folder)
        ys_lock_release(&dataset->lock);
    ys_free(dataset->name);
    ys_free(dataset->folder);
    ys_free(dataset->train_path);
    ys_free(dataset->test_path);
    ys_free(dataset->left_out);
    ys_free(dataset->source);
    ys_free(dataset->form);
    *dataset = (struct ys_dataset){0};
}
