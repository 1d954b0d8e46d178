#include "data/dataset_version.h"

#include "base/files/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stored/sealed.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CURRENT     "current"
#define LOCK        "lock"
#define NAME_LENGTH (YS_SHA256_TEXT - 1)

static bool is_name(const char *text, size_t length)
{
    return length == NAME_LENGTH && strspn(text, "0123456789abcdef") == NAME_LENGTH;
}

static int is_version(const struct dirent *entry)
{
    return is_name(entry->d_name, strlen(entry->d_name));
}

void ys_versions_fini(struct ys_versions *versions)
{
    for (size_t i = 0; i < versions->count; i++)
        ys_free(versions->paths[i]);
    ys_free(versions->paths);
    *versions = (struct ys_versions){0};
}

static struct timespec made_at(const char *path)
{
    struct stat folder = {.st_size = 0};
    (void)!stat(path, &folder);
    return folder.st_mtim;
}

static int last_made_first(const void *a, const void *b)
{
    struct timespec x = made_at(*(char *const *)a), y = made_at(*(char *const *)b);
    if (x.tv_sec != y.tv_sec)
        return x.tv_sec < y.tv_sec ? 1 : -1;
    return (x.tv_nsec < y.tv_nsec) - (x.tv_nsec > y.tv_nsec);
}

void ys_versions_list(const char *folder, struct ys_versions *versions)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_version, NULL);
    size_t found = count > 0 ? (size_t)count : 0;
    *versions = (struct ys_versions){.paths = ys_alloc(found, sizeof *versions->paths)};
    for (size_t i = 0; i < found; i++) {
        char *path = ys_path_join(folder, entries[i]->d_name);
        free(entries[i]);
        if (ys_fs_is_dir(path))
            versions->paths[versions->count++] = path;
        else
            ys_free(path);
    }
    free(entries);
    if (versions->count)
        qsort(versions->paths, versions->count, sizeof *versions->paths, last_made_first);
}

/* What the file says, as a path; NULL where it names nothing that is there. */
static char *read_current(const char *folder)
{
    struct ys_buf text = {0};
    char *file = ys_path_join(folder, CURRENT), *path = NULL;
    if (ys_fs_read(file, NAME_LENGTH + 1, &text) == YS_OK && text.size &&
        is_name(ys_buf_text(&text), strcspn(ys_buf_text(&text), "\n"))) {
        text.data[NAME_LENGTH] = 0;
        path = ys_path_join(folder, ys_buf_text(&text));
        if (!ys_fs_is_dir(path)) {
            ys_free(path);
            path = NULL;
        }
    }
    ys_buf_free(&text);
    ys_free(file);
    return path;
}

ys_status ys_version_current(const char *folder, char **path)
{
    *path = read_current(folder);
    if (*path)
        return YS_OK;
    struct ys_versions versions;
    ys_versions_list(folder, &versions);
    if (versions.count) {
        *path = versions.paths[0];
        versions.paths[0] = NULL;
    }
    ys_versions_fini(&versions);
    return *path ? YS_OK : ys_fail(YS_ENOTFOUND, "nothing is prepared in %s", folder);
}

/* `folder` is locked. */
static ys_status remove_others(const char *folder, const struct ys_sweep *sweep)
{
    char *current = NULL;
    struct ys_versions versions;
    ys_status status = ys_version_current(folder, &current);
    if (status != YS_OK)
        return status == YS_ENOTFOUND ? YS_OK : status;
    ys_versions_list(folder, &versions);
    for (size_t i = 0; i < versions.count; i++)
        if (strcmp(versions.paths[i], current) != 0)
            ys_working_sweep_one(versions.paths[i], sweep);
    ys_versions_fini(&versions);
    ys_free(current);
    return YS_OK;
}

static ys_status lock_folder(const char *folder, double patience_s, struct ys_lock *lock)
{
    char *path = ys_path_join(folder, LOCK);
    *lock = YS_LOCK_NONE;
    ys_status status = ys_lock_take(path, YS_LOCK_ALONE, patience_s, lock);
    ys_free(path);
    return status;
}

static ys_status write_current(const char *folder, const char *hash)
{
    char *path = ys_path_join(folder, CURRENT), *line = ys_format("%s\n", hash);
    ys_status status = ys_fs_write(path, line, strlen(line));
    ys_free(path);
    ys_free(line);
    return status;
}

bool ys_version_is_named_right(const char *path)
{
    char hash[YS_SHA256_TEXT] = "", *manifest = ys_path_join(path, YS_SEALED_MANIFEST);
    bool right = ys_sha256_file(manifest, hash) == YS_OK && strcmp(hash, ys_path_base(path)) == 0;
    ys_free(manifest);
    return right;
}

/* A manifest that was written later must not make what is there look whole. */
static void remove_wrong_manifest(const char *version)
{
    char *manifest = ys_version_is_named_right(version) ? NULL : ys_path_join(version, YS_SEALED_MANIFEST);
    if (manifest)
        unlink(manifest);
    ys_free(manifest);
}

static ys_status put(const char *folder, const char *made, const char *hash)
{
    char *version = ys_path_join(folder, hash);
    remove_wrong_manifest(version);
    ys_status status = ys_sealed_put(made, version);
    ys_free(version);
    return status == YS_OK ? write_current(folder, hash) : status;
}

ys_status ys_version_put(const char *folder, const char *made, const char *hash)
{
    struct ys_lock lock;
    YS_TRY(ys_fs_make_dirs(folder));
    ys_status status = lock_folder(folder, YS_LOCK_FOREVER_S, &lock);
    if (status == YS_EIO) /* a file system without locks does without, and nothing is removed from it */
        return put(folder, made, hash);
    if (status == YS_OK)
        status = remove_others(folder, NULL);
    if (status == YS_OK)
        status = put(folder, made, hash);
    ys_lock_release(&lock);
    return status;
}

void ys_versions_sweep(const char *folder, const struct ys_sweep *sweep)
{
    struct ys_lock lock;
    struct ys_versions versions = {0};
    ys_versions_list(folder, &versions);
    const bool any = versions.count > 1;
    ys_versions_fini(&versions);
    if (!any || lock_folder(folder, YS_LOCK_PATIENCE_S, &lock) != YS_OK)
        return;
    if (remove_others(folder, sweep) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_lock_release(&lock);
}
