#include "base/files/working_folder.h"

#include "base/files/atomic_file.h"
#include "base/files/fs.h"
#include "base/files/temporary.h"
#include "base/log.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_PART "XXXXXX"
#define RANDOM_SIZE 6
static const char TEMPORARY[] = YS_ATOMIC_FILE_END;

ys_status ys_working_make(const char *parent, const char *prefix, struct ys_working *working)
{
    *working = (struct ys_working){.lock = YS_LOCK_NONE};
    for (;;) {
        char *path = ys_format("%s/%s" RANDOM_PART, parent, prefix);
        if (!mkdtemp(path)) {
            ys_status status = ys_fail(YS_EIO, "cannot make a folder %s: %s", path, strerror(errno));
            ys_free(path);
            return status;
        }
        ys_status status = ys_lock_take_folder(path, YS_LOCK_SHARED, YS_LOCK_FOREVER_S, &working->lock);
        if (status == YS_OK) {
            working->path = path;
            return YS_OK;
        }
        bool swept = status == YS_ENOTFOUND; /* before it was locked, by somebody who took it for a leftover */
        rmdir(path);
        ys_free(path);
        if (!swept)
            return status;
    }
}

void ys_working_keep(struct ys_working *working)
{
    ys_lock_release(&working->lock);
    ys_free(working->path);
    working->path = NULL;
}

void ys_working_remove(struct ys_working *working)
{
    if (!working->path)
        return;
    char *message = ys_strdup(ys_error()); /* what ended the work, perhaps: removing must not take its place */
    if (ys_fs_remove_tree(working->path) != YS_OK)
        ys_log_warn("%s", ys_error());
    if (message)
        ys_fail(YS_EIO, "%s", message);
    ys_free(message);
    ys_working_keep(working);
}

/* Holds what may be a leftover alone; false where somebody has it. A file is not a lock's own: nothing is written. */
static bool hold(const char *path, bool is_folder, struct ys_lock *lock)
{
    if (is_folder)
        return ys_lock_take_folder(path, YS_LOCK_ALONE, 0, lock) == YS_OK;
    lock->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (lock->fd >= 0 && !ys_lock_file(lock->fd, YS_LOCK_ALONE))
        ys_lock_release(lock);
    return lock->fd >= 0;
}

/* Removes `path`, a leftover if nobody holds it. */
static void sweep_one(const char *path, bool is_folder, const struct ys_sweep *sweep)
{
    struct stat file;
    struct ys_lock lock;
    uint64_t size_bytes = 0;
    if (lstat(path, &file) != 0 || file.st_uid != geteuid())
        return;
    if (is_folder ? !S_ISDIR(file.st_mode) : !S_ISREG(file.st_mode))
        return;
    if (!hold(path, is_folder, &lock))
        return;
    if (sweep && sweep->on_leftover && ys_fs_tree_size(path, &size_bytes) == YS_OK)
        sweep->on_leftover(sweep->context, path, size_bytes);
    if ((!sweep || !sweep->dry) && ys_fs_remove_tree(path) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_lock_release(&lock);
}

static bool is_working_name(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strlen(name) == length + RANDOM_SIZE;
}

/* NAME.XXXXXX.tmp */
static bool is_temporary_name(const char *name)
{
    size_t length = strlen(name), end = strlen(TEMPORARY);
    return length > end + RANDOM_SIZE + 1 && strcmp(name + length - end, TEMPORARY) == 0 &&
           name[length - end - RANDOM_SIZE - 1] == '.';
}

/* `prefix` NULL: the temporary files of ys_atomic_file_open(). */
static void sweep_folder(const char *folder, const char *prefix, const struct ys_sweep *sweep)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        if (prefix ? !is_working_name(entry->d_name, prefix) : !is_temporary_name(entry->d_name))
            continue;
        char *path = ys_path_join(folder, entry->d_name);
        if (path)
            sweep_one(path, prefix != NULL, sweep);
        ys_free(path);
    }
    if (entries)
        closedir(entries);
}

void ys_working_sweep_one(const char *path, const struct ys_sweep *sweep)
{
    sweep_one(path, true, sweep);
}

void ys_working_sweep(const char *parent, const char *prefix, const struct ys_sweep *sweep)
{
    sweep_folder(parent, prefix, sweep);
}

void ys_atomic_file_sweep(const char *folder, const struct ys_sweep *sweep)
{
    sweep_folder(folder, NULL, sweep);
}

static void sweep_both(const char *folder, const struct ys_sweep *sweep)
{
    ys_working_sweep(folder, YS_WORKING_IN_CACHE, sweep);
    ys_atomic_file_sweep(folder, sweep);
}

void ys_working_sweep_cache(const char *sub, const struct ys_sweep *sweep)
{
    char *cache = ys_cache_dir(), *folder = cache ? ys_path_join(cache, sub) : NULL;
    if (folder)
        sweep_both(folder, sweep);
    ys_free(folder);
    ys_free(cache);
}

bool ys_working_cache_is_read_only(void)
{
    char *cache = ys_cache_dir();
    const bool is = cache && access(cache, X_OK) == 0 && access(cache, W_OK) != 0;
    ys_free(cache);
    return is;
}

ys_status ys_working_in_cache(const char *sub, struct ys_working *working)
{
    char *folder = NULL;
    *working = (struct ys_working){.lock = YS_LOCK_NONE};
    if (ys_working_cache_is_read_only())
        return ys_temporary_make(working);
    YS_TRY(ys_cache_path(sub, &folder));
    sweep_both(folder, NULL);
    ys_status status = ys_working_make(folder, YS_WORKING_IN_CACHE, working);
    ys_free(folder);
    return status;
}
