#include "base/stored/sealed.h"

#include "base/files/fs.h"
#include "base/files/lock.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FORMAT      "yardstick-manifest"
#define VERSION     1
#define SHOWN_BYTES (64 << 20) /* hashing more than this takes so long that a line shows it */
#define TICK_S      0.02       /* of the clock of a file system, at most */

struct sealed_file {
    char *name;
    char hash[YS_SHA256_TEXT];
    struct stat seen; /* when its bytes were last compared */
    bool settled;     /* `seen` tells of every change since */
};

struct sealed_folder {
    char *folder;
    bool used;
    struct sealed_file *files;
    size_t count;
    struct sealed_folder *next;
};

static struct sealed_folder *known; /* what this process has compared byte for byte */

static void free_sealed(struct sealed_folder *sealed)
{
    for (size_t i = 0; i < sealed->count; i++)
        ys_free(sealed->files[i].name);
    ys_free(sealed->files);
    ys_free(sealed->folder);
    ys_free(sealed);
}

static struct sealed_folder **find(const char *folder)
{
    struct sealed_folder **place = &known;
    while (*place && strcmp((*place)->folder, folder) != 0)
        place = &(*place)->next;
    return place;
}

static void forget(const char *folder)
{
    struct sealed_folder **place = find(folder), *sealed = *place;
    if (!sealed)
        return;
    *place = sealed->next;
    free_sealed(sealed);
}

/* Takes `sealed`. */
static void remember(struct sealed_folder *sealed)
{
    forget(sealed->folder);
    sealed->next = known;
    known = sealed;
}

static struct sealed_folder *new_sealed(const char *folder)
{
    struct sealed_folder *sealed = ys_alloc(1, sizeof *sealed);
    sealed->folder = ys_strdup(folder);
    return sealed;
}

static ys_status damaged(const char *folder, const char *file, const char *how)
{
    return ys_fail(YS_EFORMAT, "the prepared %s in %s was damaged (%s)", file, folder, how);
}

static bool equal_times(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_as_seen(const struct stat *now, const struct stat *seen)
{
    return now->st_size == seen->st_size && now->st_ino == seen->st_ino && now->st_dev == seen->st_dev &&
           equal_times(&now->st_mtim, &seen->st_mtim) && equal_times(&now->st_ctim, &seen->st_ctim);
}

/* Two changes within one tick of the clock leave the same times: of a file that has just changed they tell nothing. */
static bool is_settled(const struct stat *file)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double age_s = (double)(now.tv_sec - file->st_ctim.tv_sec) + 1e-9 * (double)(now.tv_nsec - file->st_ctim.tv_nsec);
    return age_s < 0 || age_s > TICK_S;
}

static ys_status hash_file(const char *path, const struct stat *file, char hash[YS_SHA256_TEXT])
{
    bool is_long = file->st_size > SHOWN_BYTES;
    if (is_long)
        ys_progress("checking %s: %.0f MB", path, (double)file->st_size * 1e-6);
    ys_status status = ys_sha256_file(path, hash);
    if (is_long)
        ys_progress_clear();
    return status;
}

static void note_seen(struct sealed_file *file, const struct stat *seen)
{
    file->seen = *seen;
    file->settled = is_settled(seen);
}

/* `file` as it lies in `folder` now. What is noted is from before it was read, so that what changes while it is read is
 * found the next time. */
static ys_status compare(const char *folder, struct sealed_file *file)
{
    struct stat now;
    char hash[YS_SHA256_TEXT], *path = ys_path_join(folder, file->name);
    ys_status status = YS_OK;
    if (stat(path, &now) != 0)
        status = damaged(folder, file->name, errno == ENOENT ? "it is missing" : strerror(errno));
    else if (!S_ISREG(now.st_mode))
        status = damaged(folder, file->name, "it is no file");
    else if (now.st_size != file->seen.st_size)
        status = damaged(folder, file->name, "its size differs");
    else if (!file->settled || !is_as_seen(&now, &file->seen)) {
        struct sealed_file fresh = *file;
        note_seen(&fresh, &now);
        status = hash_file(path, &now, hash);
        if (status == YS_OK && strcmp(hash, file->hash) != 0)
            status = damaged(folder, file->name, "SHA-256 differs");
        else if (status == YS_ENOTFOUND || status == YS_EIO)
            status = damaged(folder, file->name, "it cannot be read");
        if (status == YS_OK)
            *file = fresh;
    }
    ys_free(path);
    return status;
}

static ys_status compare_all(struct sealed_folder *sealed)
{
    for (size_t i = 0; i < sealed->count; i++)
        YS_TRY(compare(sealed->folder, &sealed->files[i]));
    return YS_OK;
}

static bool is_hash(const char *text)
{
    return strlen(text) == YS_SHA256_TEXT - 1 && strspn(text, "0123456789abcdef") == YS_SHA256_TEXT - 1;
}

/* Its bytes are not compared yet. */
static void add_file(struct sealed_folder *sealed, const char *name, const char *hash, int64_t size_bytes)
{
    sealed->files = ys_realloc(sealed->files, sealed->count + 1, sizeof *sealed->files);
    struct sealed_file *file = &sealed->files[sealed->count++];
    *file = (struct sealed_file){.name = ys_strdup(name), .seen.st_size = (off_t)size_bytes};
    snprintf(file->hash, sizeof file->hash, "%s", hash);
}

static ys_status read_files(const ys_json *manifest, struct sealed_folder *sealed)
{
    const ys_json *files = ys_json_get(manifest, "files");
    bool good = strcmp(ys_json_get_text(manifest, "format", ""), FORMAT) == 0 &&
                ys_json_get_int(manifest, "version", 0) == VERSION && ys_json_size(files) > 0;
    for (size_t i = 0; good && i < ys_json_size(files); i++) {
        const ys_json *file = ys_json_at(files, i);
        const char *name = ys_json_get_text(file, "name", ""), *hash = ys_json_get_text(file, "sha256", "");
        int64_t size_bytes = ys_json_get_int(file, "size", -1);
        good = name[0] && !strchr(name, '/') && is_hash(hash) && size_bytes >= 0;
        if (good)
            add_file(sealed, name, hash, size_bytes);
    }
    return good ? YS_OK : damaged(sealed->folder, YS_SEALED_MANIFEST, "it is no manifest");
}

static ys_status read_manifest(struct sealed_folder *sealed)
{
    ys_json *manifest = NULL;
    char *path = ys_path_join(sealed->folder, YS_SEALED_MANIFEST);
    ys_status status = ys_json_read(path, &manifest);
    if (status == YS_ENOTFOUND)
        status = damaged(sealed->folder, YS_SEALED_MANIFEST, "it is missing");
    else if (status != YS_OK)
        status = damaged(sealed->folder, YS_SEALED_MANIFEST, "it cannot be read");
    if (status == YS_OK)
        status = read_files(manifest, sealed);
    ys_json_free(manifest);
    ys_free(path);
    return status;
}

/* As the manifest in `folder` says; remembered when it holds. */
static ys_status check_in_full(const char *folder)
{
    struct sealed_folder *sealed = new_sealed(folder);
    ys_status status = read_manifest(sealed);
    if (status == YS_OK)
        status = compare_all(sealed);
    if (status == YS_OK)
        remember(sealed);
    else
        free_sealed(sealed);
    return status;
}

ys_status ys_sealed_check(const char *folder)
{
    struct sealed_folder *sealed = *find(folder);
    return sealed ? compare_all(sealed) : check_in_full(folder);
}

void ys_sealed_use(const char *folder)
{
    struct sealed_folder *sealed = *find(folder);
    if (sealed)
        sealed->used = true;
}

bool ys_sealed_is_used(const char *folder)
{
    const struct sealed_folder *sealed = *find(folder);
    return sealed && sealed->used;
}

static bool may_be_written(const char *folder, const char *name)
{
    struct stat file;
    char *path = ys_path_join(folder, name);
    bool may = stat(path, &file) != 0 || file.st_uid == geteuid() || access(path, W_OK) == 0;
    ys_free(path);
    return may;
}

void ys_sealed_doubt(const char *folder)
{
    struct sealed_folder *sealed = *find(folder);
    for (size_t i = 0; sealed && i < sealed->count; i++)
        if (may_be_written(folder, sealed->files[i].name))
            sealed->files[i].settled = false;
}

ys_status ys_sealed_discard(const char *folder)
{
    char *path = ys_path_join(folder, YS_SEALED_MANIFEST);
    ys_status status = unlink(path) == 0 || errno == ENOENT
                           ? YS_OK
                           : ys_fail(YS_EIO, "cannot remove the damaged %s: %s", path, strerror(errno));
    ys_free(path);
    forget(folder);
    return status;
}

/* `name` of the folder that is being sealed; what is no regular file is left out. */
static ys_status seal_file(struct sealed_folder *sealed, const char *name)
{
    struct stat file;
    char hash[YS_SHA256_TEXT], *path = ys_path_join(sealed->folder, name);
    ys_status status = YS_OK;
    if (lstat(path, &file) == 0 && S_ISREG(file.st_mode)) {
        status = hash_file(path, &file, hash);
        if (status == YS_OK) {
            add_file(sealed, name, hash, file.st_size);
            note_seen(&sealed->files[sealed->count - 1], &file);
        }
    }
    ys_free(path);
    return status;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static ys_status seal_files(struct sealed_folder *sealed)
{
    struct dirent **entries = NULL;
    int count = scandir(sealed->folder, &entries, NULL, by_name);
    if (count < 0)
        return ys_fail(YS_EIO, "cannot list the folder %s: %s", sealed->folder, strerror(errno));
    ys_status status = YS_OK;
    for (int i = 0; i < count; i++) {
        if (status == YS_OK && strcmp(entries[i]->d_name, YS_SEALED_MANIFEST) != 0)
            status = seal_file(sealed, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return status == YS_OK && sealed->count == 0 ? ys_fail(YS_EINTERNAL, "%s holds no file", sealed->folder) : status;
}

static ys_status write_manifest(const struct sealed_folder *sealed, char hash[YS_SHA256_TEXT])
{
    ys_json *manifest = ys_json_object(), *files = ys_json_array();
    char *path = ys_path_join(sealed->folder, YS_SEALED_MANIFEST);
    for (size_t i = 0; i < sealed->count; i++) {
        ys_json *file = ys_json_object();
        ys_json_set_string(file, "name", sealed->files[i].name);
        ys_json_set_int(file, "size", sealed->files[i].seen.st_size);
        ys_json_set_string(file, "sha256", sealed->files[i].hash);
        ys_json_append(files, file);
    }
    ys_json_set_string(manifest, "format", FORMAT);
    ys_json_set_int(manifest, "version", VERSION);
    ys_json_set(manifest, "files", files);
    ys_status status = ys_json_write(path, manifest);
    if (status == YS_OK)
        status = ys_sha256_file(path, hash);
    ys_json_free(manifest);
    ys_free(path);
    return status;
}

ys_status ys_sealed_seal(const char *folder, char hash[YS_SHA256_TEXT])
{
    struct sealed_folder *sealed = new_sealed(folder);
    ys_status status = seal_files(sealed);
    if (status == YS_OK)
        status = write_manifest(sealed, hash);
    if (status == YS_OK)
        remember(sealed);
    else
        free_sealed(sealed);
    return status;
}

/* What is known of `made` is known of `folder` from now on. */
static void move_knowledge(const char *made, const char *folder)
{
    forget(folder);
    struct sealed_folder *sealed = *find(made);
    YS_ASSERT(sealed);
    ys_free(sealed->folder);
    sealed->folder = ys_strdup(folder);
}

/* File systems that cannot exchange two names put the damaged folder aside first. */
static ys_status change_places(const char *made, const char *folder)
{
    if (renameat2(AT_FDCWD, made, AT_FDCWD, folder, RENAME_EXCHANGE) == 0)
        return YS_OK;
    char *aside = ys_format("%s.damaged", made);
    ys_status status = YS_OK;
    if (rename(folder, aside) != 0 || rename(made, folder) != 0)
        status = ys_fail(YS_EIO, "cannot rename %s to %s: %s", made, folder, strerror(errno));
    ys_free(aside);
    return status;
}

/* One process at a time, so that none replaces what another has just put there. */
static ys_status replace(const char *made, const char *folder)
{
    struct ys_lock lock;
    char *parent = ys_path_dir(folder);
    ys_status status = ys_lock_take_folder(parent, YS_LOCK_ALONE, YS_LOCK_FOREVER_S, &lock);
    ys_free(parent);
    if (status != YS_OK && status != YS_EIO) /* a file system without locks does without */
        return status;
    status = check_in_full(folder);
    if (status == YS_OK) {
        forget(made);
    } else if (status == YS_EFORMAT) {
        status = change_places(made, folder);
        if (status == YS_OK)
            move_knowledge(made, folder);
    }
    ys_lock_release(&lock);
    return status;
}

ys_status ys_sealed_put(const char *made, const char *folder)
{
    if (rename(made, folder) == 0) {
        move_knowledge(made, folder);
        return YS_OK;
    }
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        return replace(made, folder);
    return ys_fail(YS_EIO, "cannot rename %s to %s: %s", made, folder, strerror(errno));
}
