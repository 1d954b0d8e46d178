#include "base/stored/shelf.h"

#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stored/sealed.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two kinds of locks (base/files/lock.h). The shelf's own is shared by those who look for folders and make them, and
 * taken alone by who removes some. That of a folder is shared by its users. Where the file system has no locks nothing
 * is ever removed. */
static const char SHELF_LOCK[] = "lock";

/* Damage that comes back at once will come back again. */
static const int TRIES = 3;

struct shelf_entry {
    char *path;
    struct timespec used;
    uint64_t size_bytes;
};

struct entries {
    struct shelf_entry *items;
    size_t count;
    uint64_t size_bytes;
};

/* `content` is below the working folder, so that it gets the mode that any folder of the cache has. */
static ys_status fill_and_put(const char *content, const char *folder, ys_shelf_fill fill, void *context)
{
    char hash[YS_SHA256_TEXT];
    YS_TRY(ys_fs_make_dirs(content));
    YS_TRY(fill(context, content));
    YS_TRY(ys_sealed_seal(content, hash));
    return ys_sealed_put(content, folder);
}

/* `folder` may be made by another process meanwhile. */
static ys_status make(const char *shelf, const char *folder, ys_shelf_fill fill, void *context)
{
    struct ys_working working;
    if (ys_working_cache_is_read_only())
        return ys_fail(YS_EIO,
                       "%s is not prepared, and this cache can only be read: YARDSTICK_CACHE names another folder",
                       folder);
    YS_TRY(ys_working_make(shelf, YS_WORKING_IN_CACHE, &working));
    char *content = ys_path_join(working.path, "content");
    ys_status status = fill_and_put(content, folder, fill, context);
    ys_working_remove(&working);
    ys_free(content);
    return status;
}

static ys_status open_shelf(const char *shelf, enum ys_lock_kind kind, double patience_s, char **folder,
                            struct ys_lock *lock)
{
    YS_TRY(ys_cache_path(shelf, folder));
    char *path = ys_path_join(*folder, SHELF_LOCK);
    ys_status status = ys_lock_take(path, kind, patience_s, lock);
    ys_free(path);
    if (status != YS_OK)
        ys_free(*folder);
    return status;
}

/* Holds the folder: YS_ENOTFOUND when it is not there. */
static ys_status hold(struct ys_shelf_item *item)
{
    ys_status status = ys_lock_take_folder(item->folder, YS_LOCK_SHARED, YS_LOCK_FOREVER_S, &item->lock);
    if (status == YS_OK)
        futimens(item->lock.fd, NULL); /* its time says when it was last used */
    return status;
}

/* YS_EFORMAT: it is to be made again. */
static ys_status check(const struct ys_shelf_item *item)
{
    ys_status status = ys_sealed_check(item->folder);
    if (status == YS_EFORMAT && ys_sealed_is_used(item->folder))
        return ys_fail(YS_EIO,
                       "%s after this study had measured with it: what was measured is kept, and `yardstick resume` "
                       "makes it again and goes on",
                       ys_error());
    if (status == YS_EFORMAT)
        ys_log_warn("%s: made again", ys_error());
    return status;
}

static ys_status take(const char *shelf, ys_shelf_fill fill, void *context, struct ys_shelf_item *item)
{
    for (int tries = 0;; tries++) {
        ys_status status = hold(item);
        if (status == YS_OK) {
            status = check(item);
            if (status == YS_OK)
                return YS_OK;
            ys_lock_release(&item->lock);
        }
        if (status != YS_ENOTFOUND && status != YS_EFORMAT)
            return status;
        if (tries == TRIES)
            return ys_fail(YS_EIO, "%s cannot be made: something removes or changes it at once", item->folder);
        YS_TRY(make(shelf, item->folder, fill, context));
        item->filled = true;
    }
}

ys_status ys_shelf_take(const char *shelf, const char *key, ys_shelf_fill fill, void *context,
                        struct ys_shelf_item *item)
{
    char *folder;
    struct ys_lock lock;
    *item = (struct ys_shelf_item){.lock = YS_LOCK_NONE};
    YS_TRY(open_shelf(shelf, YS_LOCK_SHARED, YS_LOCK_FOREVER_S, &folder, &lock));
    item->folder = ys_path_join(folder, key);
    ys_status status = take(folder, fill, context, item);
    if (status != YS_OK) {
        ys_free(item->folder);
        *item = (struct ys_shelf_item){.lock = YS_LOCK_NONE};
    }
    ys_lock_release(&lock);
    ys_free(folder);
    return status;
}

void ys_shelf_release(struct ys_shelf_item *item)
{
    if (!item->folder)
        return;
    ys_lock_release(&item->lock);
    ys_free(item->folder);
    *item = (struct ys_shelf_item){.lock = YS_LOCK_NONE};
}

static ys_status add_entry(struct entries *entries, const char *folder, const char *name)
{
    struct shelf_entry *grown = ys_realloc(entries->items, entries->count + 1, sizeof *grown);
    entries->items = grown;
    struct shelf_entry *entry = &grown[entries->count];
    struct stat file;
    *entry = (struct shelf_entry){.path = ys_path_join(folder, name)};
    entries->count++;
    if (stat(entry->path, &file) == 0)
        entry->used = file.st_mtim;
    YS_TRY(ys_fs_tree_size(entry->path, &entry->size_bytes));
    entries->size_bytes += entry->size_bytes;
    return YS_OK;
}

/* Earlier versions of yardstick named what they were making and removing KEY.NUMBER and KEY.gone. */
static bool is_old_leftover(const char *name)
{
    return name[0] != '.' && strchr(name, '.');
}

static bool is_item(const char *name)
{
    return !strchr(name, '.') && strcmp(name, SHELF_LOCK) != 0 &&
           strncmp(name, YS_WORKING_IN_CACHE, strlen(YS_WORKING_IN_CACHE)) != 0;
}

/* What stands in the shelf. Nobody else makes anything: old leftovers are nobody's. */
static ys_status look_through(const char *folder, struct entries *entries)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return ys_fail(YS_EIO, "cannot read %s: %m", folder);
    ys_status status = YS_OK;
    for (struct dirent *entry; status == YS_OK && (entry = readdir(dir));) {
        if (is_item(entry->d_name))
            status = add_entry(entries, folder, entry->d_name);
        if (!is_old_leftover(entry->d_name))
            continue;
        char *left = ys_path_join(folder, entry->d_name);
        status = ys_fs_remove_tree(left);
        ys_free(left);
    }
    closedir(dir);
    return status;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct shelf_entry *)a)->used, *y = &((const struct shelf_entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Removes the folder if nobody holds it. It loses its name first, so that half of it is never taken for damage. */
static ys_status remove_entry(const char *shelf, const struct shelf_entry *entry, bool *removed)
{
    struct ys_lock lock;
    struct ys_working working;
    *removed = ys_lock_take_folder(entry->path, YS_LOCK_ALONE, 0, &lock) == YS_OK;
    if (!*removed)
        return YS_OK;
    ys_status status = ys_working_make(shelf, YS_WORKING_IN_CACHE, &working);
    char *gone = status == YS_OK ? ys_path_join(working.path, "gone") : NULL;
    if (status == YS_OK && rename(entry->path, gone) != 0)
        status = ys_fail(YS_EIO, "cannot rename %s: %m", entry->path);
    ys_working_remove(&working);
    ys_free(gone);
    ys_lock_release(&lock);
    return status;
}

static ys_status trim(const char *folder, uint64_t limit_bytes)
{
    struct entries entries = {0};
    ys_status status = look_through(folder, &entries);
    if (entries.count)
        qsort(entries.items, entries.count, sizeof *entries.items, by_use);
    for (size_t i = 0; status == YS_OK && i < entries.count && entries.size_bytes > limit_bytes; i++) {
        bool removed;
        status = remove_entry(folder, &entries.items[i], &removed);
        entries.size_bytes -= removed ? entries.items[i].size_bytes : 0;
    }
    for (size_t i = 0; i < entries.count; i++)
        ys_free(entries.items[i].path);
    ys_free(entries.items);
    return status;
}

ys_status ys_shelf_trim(const char *shelf, uint64_t limit_bytes)
{
    char *folder = NULL;
    struct ys_lock lock;
    YS_TRY(ys_cache_path(shelf, &folder));
    ys_free(folder);
    ys_working_sweep_cache(shelf, NULL);
    if (open_shelf(shelf, YS_LOCK_ALONE, 0, &folder, &lock) != YS_OK)
        return YS_OK;
    ys_status status = trim(folder, limit_bytes);
    ys_lock_release(&lock);
    ys_free(folder);
    return status;
}

ys_status ys_shelf_read_record(const char *folder, const char *name, const struct ys_record *record, void *made)
{
    char *path = ys_path_join(folder, name);
    ys_json *json = NULL;
    ys_status status = ys_json_read(path, &json);
    if (status == YS_OK)
        status = ys_record_read(record, json, path, made);
    ys_json_free(json);
    ys_free(path);
    return status;
}
