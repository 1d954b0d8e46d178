#include "store/sweep_results.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/store.h"
#include "store/store_lock.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end);
    return length > wanted && strcmp(name + length - wanted, end) == 0;
}

static void remove_one(const char *path, const struct ys_sweep *sweep)
{
    uint64_t size_bytes = 0;
    if (sweep && sweep->on_leftover && ys_fs_tree_size(path, &size_bytes) == YS_OK)
        sweep->on_leftover(sweep->context, path, size_bytes);
    if ((!sweep || !sweep->dry) && ys_fs_remove_tree(path) != YS_OK)
        ys_log_warn("%s", ys_error());
}

/* Calls `visit` with every entry of `folder`, which need not be there. */
static void each_entry(const char *folder, void (*visit)(const char *path, const char *name, const struct ys_sweep *),
                       const struct ys_sweep *sweep)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        char *path = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0
                         ? ys_path_join(folder, entry->d_name)
                         : NULL;
        if (path)
            visit(path, entry->d_name, sweep);
        ys_free(path);
    }
    if (entries)
        closedir(entries);
}

static bool is_real_folder(const char *path)
{
    struct stat file;
    return lstat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

/* Arrays that an adapter read or wrote: weights, checkpoints, predictions, those in the folder in which it was
 * asked for more, and those of other ranks. Nothing that is stored refers to them. */
static void sweep_saved(const char *path, const char *name, const struct ys_sweep *sweep)
{
    if (strcmp(name, "adapter.log") != 0)
        remove_one(path, sweep);
}

static void sweep_array(const char *path, const char *name, const struct ys_sweep *sweep)
{
    if (ends_in(name, ".safetensors") || ends_in(name, ".onnx") || ends_in(name, ".converted"))
        remove_one(path, sweep);
    else if ((strcmp(name, "agreement") == 0 || strncmp(name, "rank-", 5) == 0) && is_real_folder(path))
        each_entry(path, sweep_array, sweep);
    else if (strcmp(name, "saving") == 0 && is_real_folder(path))
        each_entry(path, sweep_saved, sweep);
}

void ys_store_sweep_run(const char *folder, const struct ys_sweep *sweep)
{
    each_entry(folder, sweep_array, sweep);
    ys_atomic_file_sweep(folder, sweep);
}

/* r0-t1-a0 */
static void sweep_run(const char *path, const char *name, const struct ys_sweep *sweep)
{
    if (name[0] == 'r' && strstr(name, "-t") && strstr(name, "-a") && is_real_folder(path))
        ys_store_sweep_run(path, sweep);
}

static void sweep_study(const char *path, const char *name, const struct ys_sweep *sweep)
{
    (void)name;
    char *runs = is_real_folder(path) ? ys_path_join(path, "runs") : NULL;
    if (runs && is_real_folder(runs)) {
        each_entry(runs, sweep_run, sweep);
        ys_atomic_file_sweep(path, sweep);
    }
    ys_free(runs);
    char *kept = is_real_folder(path) ? ys_path_join(path, "kept") : NULL; /* prepare/kept_round.h */
    if (kept && is_real_folder(kept))
        remove_one(kept, sweep);
    ys_free(kept);
}

void ys_sweep_unended(struct ys_store *store)
{
    sqlite3_stmt *statement;
    bool more = true;
    ys_atomic_file_sweep(store->folder, NULL);
    ys_status status = ys_db_prepare(store, &statement, "SELECT folder FROM study WHERE status = 'running'", "");
    while (status == YS_OK && more) {
        status = ys_db_step(store, statement, &more);
        const char *folder = status == YS_OK && more ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        char *path = folder && !strchr(folder, '/') ? ys_path_join(store->folder, folder) : NULL;
        if (path)
            sweep_study(path, folder, NULL);
        ys_free(path);
    }
    ys_db_finish(statement);
}

ys_status ys_store_sweep(const char *folder, const struct ys_sweep *sweep)
{
    struct ys_lock lock;
    char *path = ys_path_join(folder, "results.db");
    bool is_ours = ys_fs_exists(path);
    ys_free(path);
    if (!is_ours)
        return YS_OK;
    YS_TRY(ys_store_lock_take(folder, &lock));
    ys_atomic_file_sweep(folder, sweep);
    each_entry(folder, sweep_study, sweep);
    ys_lock_release(&lock);
    return YS_OK;
}
