#include "study/shelf.h"

#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two kinds of locks, both of flock(), so that they end with the process. The shelf's own is shared by those who look
 * for folders and make them, and taken alone by who removes some: under it, whatever is half made is left over. That of
 * a folder is shared by its users. Where the file system has no locks nothing is ever removed. */
static const char SHELF_LOCK[] = "lock";

struct entry {
    char *path;
    struct timespec used;
    uint64_t size_bytes;
};

struct entries {
    struct entry *items;
    size_t count;
    uint64_t size_bytes;
};

/* `folder` may be made by another process meanwhile. */
static ys_status make(const char *folder, ys_shelf_fill fill, void *context)
{
    char *making = ys_format("%s.%ld", folder, (long)getpid());
    if (!making)
        return ys_out_of_memory();
    ys_status status = ys_fs_remove_tree(making);
    if (status == YS_OK)
        status = ys_fs_make_dirs(making);
    if (status == YS_OK)
        status = fill(context, making);
    if (status == YS_OK && rename(making, folder) != 0 && !ys_fs_is_dir(folder))
        status = ys_fail(YS_EIO, "cannot rename %s to %s: %m", making, folder);
    char *message = status == YS_OK ? NULL : ys_strdup(ys_error());
    if (ys_fs_remove_tree(making) != YS_OK && status == YS_OK)
        status = YS_EIO;
    if (message)
        ys_fail(status, "%s", message);
    ys_free(message);
    ys_free(making);
    return status;
}

static ys_status open_shelf(const char *shelf, char **folder, int *lock)
{
    YS_TRY(ys_cache_path(shelf, folder));
    char *path = ys_path_join(*folder, SHELF_LOCK);
    *lock = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    ys_status status = !path ? ys_out_of_memory() : *lock < 0 ? ys_fail(YS_EIO, "cannot write %s: %m", path) : YS_OK;
    ys_free(path);
    if (status != YS_OK)
        ys_free(*folder);
    return status;
}

static void lock_shared(int fd)
{
    while (flock(fd, LOCK_SH) != 0 && errno == EINTR) {
    }
}

/* The folder is there, and stays: the shelf's lock is held. */
static ys_status hold(struct ys_shelf_item *item)
{
    item->fd = open(item->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (item->fd < 0)
        return ys_fail(YS_EIO, "cannot open %s: %m", item->folder);
    lock_shared(item->fd);
    futimens(item->fd, NULL); /* its time says when it was last used */
    return YS_OK;
}

ys_status ys_shelf_take(const char *shelf, const char *key, ys_shelf_fill fill, void *context,
                        struct ys_shelf_item *item)
{
    char *folder;
    int lock;
    *item = (struct ys_shelf_item){0};
    YS_TRY(open_shelf(shelf, &folder, &lock));
    lock_shared(lock);
    item->folder = ys_path_join(folder, key);
    ys_status status = item->folder ? YS_OK : ys_out_of_memory();
    item->filled = status == YS_OK && !ys_fs_is_dir(item->folder);
    if (item->filled)
        status = make(item->folder, fill, context);
    if (status == YS_OK)
        status = hold(item);
    if (status != YS_OK) {
        ys_free(item->folder);
        *item = (struct ys_shelf_item){0};
    }
    close(lock);
    ys_free(folder);
    return status;
}

void ys_shelf_release(struct ys_shelf_item *item)
{
    if (!item->folder)
        return;
    close(item->fd);
    ys_free(item->folder);
    *item = (struct ys_shelf_item){0};
}

static ys_status add_entry(struct entries *entries, const char *folder, const char *name)
{
    struct entry *grown = ys_realloc(entries->items, entries->count + 1, sizeof *grown);
    if (!grown)
        return ys_out_of_memory();
    entries->items = grown;
    struct entry *entry = &grown[entries->count];
    struct stat file;
    *entry = (struct entry){.path = ys_path_join(folder, name)};
    if (!entry->path)
        return ys_out_of_memory();
    entries->count++;
    if (stat(entry->path, &file) == 0)
        entry->used = file.st_mtim;
    YS_TRY(ys_fs_tree_size(entry->path, &entry->size_bytes));
    entries->size_bytes += entry->size_bytes;
    return YS_OK;
}

/* What stands in the shelf; what is half made or half removed goes at once. */
static ys_status look_through(const char *folder, struct entries *entries)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return ys_fail(YS_EIO, "cannot read %s: %m", folder);
    ys_status status = YS_OK;
    for (struct dirent *entry; status == YS_OK && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (name[0] == '.' || strcmp(name, SHELF_LOCK) == 0)
            continue;
        if (!strchr(name, '.')) {
            status = add_entry(entries, folder, name);
            continue;
        }
        char *left = ys_path_join(folder, name);
        status = left ? ys_fs_remove_tree(left) : ys_out_of_memory();
        ys_free(left);
    }
    closedir(dir);
    return status;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Removes the folder if nobody holds it. It loses its name first, so that half of it is never taken for all. */
static ys_status remove_entry(const struct entry *entry, bool *removed)
{
    int fd = open(entry->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *removed = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    ys_status status = YS_OK;
    if (*removed) {
        char *gone = ys_format("%s.gone", entry->path);
        if (!gone)
            status = ys_out_of_memory();
        else if (rename(entry->path, gone) != 0)
            status = ys_fail(YS_EIO, "cannot rename %s: %m", entry->path);
        else
            status = ys_fs_remove_tree(gone);
        ys_free(gone);
    }
    if (fd >= 0)
        close(fd);
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
        status = remove_entry(&entries.items[i], &removed);
        entries.size_bytes -= removed ? entries.items[i].size_bytes : 0;
    }
    for (size_t i = 0; i < entries.count; i++)
        ys_free(entries.items[i].path);
    ys_free(entries.items);
    return status;
}

ys_status ys_shelf_trim(const char *shelf, uint64_t limit_bytes)
{
    char *folder;
    int lock;
    YS_TRY(open_shelf(shelf, &folder, &lock));
    ys_status status = flock(lock, LOCK_EX | LOCK_NB) == 0 ? trim(folder, limit_bytes) : YS_OK;
    close(lock);
    ys_free(folder);
    return status;
}
