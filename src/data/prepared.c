#include "data/prepared.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ys_status ys_data_rows_init(struct ys_data_rows *rows, int64_t count, int64_t image_size)
{
    *rows = (struct ys_data_rows){.count = count};
    rows->x = ys_alloc((size_t)count, (size_t)image_size);
    rows->y = ys_alloc((size_t)count, sizeof *rows->y);
    if (rows->x && rows->y)
        return YS_OK;
    ys_data_rows_fini(rows);
    return ys_out_of_memory();
}

void ys_data_rows_fini(struct ys_data_rows *rows)
{
    ys_free(rows->x);
    ys_free(rows->y);
    *rows = (struct ys_data_rows){0};
}

static const char *folder_of(const struct ys_data_source *source)
{
    return source->folder ? source->folder : source->name;
}

static ys_status make_meta(const struct ys_data_source *source, const char *hash, const char *origin, bool verified,
                           ys_json *meta)
{
    char classes[32], scale[32];
    snprintf(classes, sizeof classes, "%lld", (long long)source->classes);
    snprintf(scale, sizeof scale, "%.17g", 1.0 / 255);
    YS_TRY(ys_json_set_string(meta, "name", source->name));
    YS_TRY(ys_json_set_string(meta, "edition", source->edition));
    YS_TRY(ys_json_set_string(meta, "classes", classes));
    YS_TRY(ys_json_set_string(meta, "scale", scale));
    YS_TRY(ys_json_set_string(meta, "sha256", hash));
    YS_TRY(ys_json_set_string(meta, "source", origin));
    return ys_json_set_string(meta, "verified", verified ? "true" : "false");
}

static void hash_rows(const struct ys_data_rows *rows, int64_t image_size, char hash[YS_SHA256_TEXT])
{
    uint8_t digest[32];
    ys_sha256_joined(rows->x, (size_t)(rows->count * image_size), rows->y, (size_t)rows->count * sizeof *rows->y,
                     digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hash + 2 * i, 3, "%02x", digest[i]);
}

static ys_status write_half(const struct ys_data_source *source, const struct ys_data_rows *rows, const char *folder,
                            const char *file, const char *origin, bool verified)
{
    const int64_t *shape = source->shape;
    int64_t image_size = shape[0] * shape[1] * shape[2];
    struct ys_tensor tensors[2] = {
        {.name = "x",
         .dtype = YS_U8,
         .rank = 4,
         .shape = {rows->count, shape[0], shape[1], shape[2]},
         .data = rows->x,
         .size_bytes = (size_t)(rows->count * image_size)},
        {.name = "y",
         .dtype = YS_I64,
         .rank = 1,
         .shape = {rows->count},
         .data = rows->y,
         .size_bytes = (size_t)rows->count * sizeof *rows->y},
    };
    char hash[YS_SHA256_TEXT];
    hash_rows(rows, image_size, hash);
    char *path = ys_path_join(folder, file);
    ys_json *meta = ys_json_object();
    ys_status status = path && meta ? make_meta(source, hash, origin, verified, meta) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_safetensors_write(path, tensors, 2, meta);
    ys_json_free(meta);
    ys_free(path);
    return status;
}

/** Puts the folder `fresh` in the place of `final`, whatever is there; `fresh` is gone afterwards, also on failure.
 * Readers find the old files or the new ones, except on file systems that cannot exchange two names. */
static ys_status publish(const char *fresh, const char *final)
{
    int error = 0;
    for (int attempt = 0; attempt < 100; attempt++) { /* others may come and go between two calls */
        if (rename(fresh, final) == 0)
            return YS_OK;
        error = errno;
        if (error != ENOTEMPTY && error != EEXIST && error != ENOTDIR)
            break;
        if (renameat2(AT_FDCWD, fresh, AT_FDCWD, final, RENAME_EXCHANGE) == 0)
            return ys_fs_remove_tree(fresh);
        if (errno != ENOENT && ys_fs_remove_tree(final) != YS_OK)
            break;
    }
    (void)!ys_fs_remove_tree(fresh);
    return ys_fail(YS_EIO, "cannot put the prepared data at %s: %s", final, strerror(error));
}

ys_status ys_prepared_write(const struct ys_data_source *source, const struct ys_data_rows *train,
                            const struct ys_data_rows *test, const char *origin, bool verified)
{
    char *cache = NULL;
    YS_TRY(ys_cache_path("data", &cache));
    char *final = ys_path_join(cache, folder_of(source));
    char *fresh =
        ys_format("%s/.%s.%ld.%llu", cache, folder_of(source), (long)getpid(), (unsigned long long)ys_time_ns());
    ys_status status = final && fresh ? ys_fs_make_dirs(fresh) : ys_out_of_memory();
    if (status == YS_OK) {
        status = write_half(source, train, fresh, "train.safetensors", origin, verified);
        if (status == YS_OK)
            status = write_half(source, test, fresh, "test.safetensors", origin, verified);
        if (status == YS_OK)
            status = publish(fresh, final);
        else
            (void)!ys_fs_remove_tree(fresh);
    }
    ys_free(fresh);
    ys_free(final);
    ys_free(cache);
    return status;
}

/** What one file says of itself. */
struct half {
    char *path;
    char hash[YS_SHA256_TEXT];
    int64_t count;
    double scale;
    bool verified;
    char *origin;
};

static void half_fini(struct half *half)
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
    for (int64_t i = 0; i < y->shape[0]; i++)
        if (labels[i] < 0 || labels[i] >= source->classes)
            return ys_fail(YS_EFORMAT, "%s: label %lld of row %lld is not one of %lld classes", path,
                           (long long)labels[i], (long long)i, (long long)source->classes);
    return YS_OK;
}

static ys_status check_half(const struct ys_data_source *source, const struct ys_safetensors *file, struct half *half)
{
    const struct ys_tensor *x, *y;
    if (strcmp(meta_text(file, "name"), source->name) != 0 || strcmp(meta_text(file, "edition"), source->edition) != 0)
        return ys_fail(YS_ENOTFOUND, "%s holds another edition", half->path);
    YS_TRY(ys_safetensors_need(file, "x", YS_U8, SIZE_MAX, NULL, &x));
    YS_TRY(ys_safetensors_need(file, "y", YS_I64, 1, (const int64_t[]){x->shape[0]}, &y));
    const char *hash = meta_text(file, "sha256");
    half->scale = strtod(meta_text(file, "scale"), NULL);
    if (x->rank != 4 || memcmp(&x->shape[1], source->shape, sizeof source->shape) != 0 || x->shape[0] < 1 ||
        strlen(hash) != 64 || !(half->scale > 0 && isfinite(half->scale)))
        return ys_fail(YS_EFORMAT, "%s is not a prepared file of %s", half->path, source->name);
    YS_TRY(check_labels(source, y, half->path));
    memcpy(half->hash, hash, sizeof half->hash);
    half->count = x->shape[0];
    half->verified = strcmp(meta_text(file, "verified"), "true") == 0;
    half->origin = ys_strdup(meta_text(file, "source"));
    return half->origin ? YS_OK : ys_out_of_memory();
}

static ys_status load_half(const struct ys_data_source *source, const char *folder, const char *name, struct half *half)
{
    half->path = ys_path_join(folder, name);
    if (!half->path)
        return ys_out_of_memory();
    if (!ys_fs_exists(half->path))
        return ys_fail(YS_ENOTFOUND, "there is no %s", half->path);
    struct ys_safetensors *file;
    YS_TRY(ys_safetensors_open(half->path, &file));
    ys_status status = check_half(source, file, half);
    ys_safetensors_close(file);
    return status;
}

/** Takes what `train` and `test` own. */
static ys_status fill(const struct ys_data_source *source, struct half *train, struct half *test,
                      struct ys_dataset *dataset)
{
    char *name = ys_strdup(source->name);
    if (!name)
        return ys_out_of_memory();
    *dataset = (struct ys_dataset){
        .name = name,
        .train_path = train->path,
        .test_path = test->path,
        .train_count = train->count,
        .test_count = test->count,
        .shape = {source->shape[0], source->shape[1], source->shape[2]},
        .classes = source->classes,
        .dtype = YS_U8,
        .scale = train->scale,
        .verified = train->verified && test->verified,
        .source = train->origin,
    };
    memcpy(dataset->train_hash, train->hash, sizeof dataset->train_hash);
    memcpy(dataset->test_hash, test->hash, sizeof dataset->test_hash);
    train->path = train->origin = test->path = NULL;
    return YS_OK;
}

ys_status ys_prepared_load(const struct ys_data_source *source, struct ys_dataset *dataset)
{
    char *cache = NULL;
    YS_TRY(ys_cache_path("data", &cache));
    char *folder = ys_path_join(cache, folder_of(source));
    ys_free(cache);
    if (!folder)
        return ys_out_of_memory();
    struct half train = {0}, test = {0};
    ys_status status = load_half(source, folder, "train.safetensors", &train);
    if (status == YS_OK)
        status = load_half(source, folder, "test.safetensors", &test);
    if (status == YS_OK)
        status = fill(source, &train, &test, dataset);
    half_fini(&train);
    half_fini(&test);
    ys_free(folder);
    return status;
}

void ys_dataset_fini(struct ys_dataset *dataset)
{
    ys_free(dataset->name);
    ys_free(dataset->train_path);
    ys_free(dataset->test_path);
    ys_free(dataset->source);
    *dataset = (struct ys_dataset){0};
}
