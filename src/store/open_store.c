/* Opening and closing. */
#include "store/store.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/database.h"
#include "store/hash_chain.h"
#include "store/readable_copy.h"
#include "store/store_lock.h"
#include "store/store_tables.h"
#include "store/sweep_results.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_TIMEOUT_MS 10000

/* "file:" URI of the database, read as it lies, without the files that WAL mode wants beside it. */
static char *immutable_uri(const char *path)
{
    struct ys_buf uri = {0};
    ys_buf_puts(&uri, "file:");
    for (const char *c = path; *c; c++) {
        if (isalnum((unsigned char)*c) || strchr("/._-", *c))
            ys_buf_append(&uri, c, 1);
        else
            ys_buf_printf(&uri, "%%%02X", (unsigned char)*c);
    }
    ys_buf_puts(&uri, "?immutable=1");
    return ys_buf_take(&uri);
}

static ys_status open_database(struct ys_store *store, const char *name, int flags)
{
    sqlite3_close(store->db);
    store->db = NULL;
    int code = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return ys_db_fail(store, code, "open results");
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    return ys_db_exec(store, "PRAGMA cell_size_check = ON"); /* a page is looked at before it is believed */
}

static ys_status open_for_writing(struct ys_store *store)
{
    ys_status made = ys_path_check_text(store->folder);
    if (made == YS_OK)
        made = ys_fs_make_dirs(store->folder);
    if (made != YS_OK)
        return ys_fail(made, "no results can be kept in %s: %s; give another folder with --results DIR", store->folder,
                       ys_error());
    YS_TRY(ys_store_lock_take(store->folder, &store->lock));
    YS_TRY(ys_store_lock_probe(store->folder));
    YS_TRY(open_database(store, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    YS_TRY(ys_schema_ensure(store, true));
    /* WAL: readers never wait for a run to be stored, nor it for them. Where the file system cannot do it SQLite stays
     * with its rollback journal, which is as safe. FULL: a commit is on the disk before it returns, in either mode. */
    YS_TRY(ys_db_exec(store, "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
    /* Says the version once more: a write that is one in earnest. */
    YS_TRY(ys_store_begin(store));
    YS_TRY(ys_store_end(store, ys_db_exec(store, "PRAGMA user_version = " YS_STORE_VERSION_TEXT)));
    YS_TRY(ys_link_ensure(store));
    ys_sweep_unended(store);
    return YS_OK;
}

/* Whether what was stored last lies in the journal beside the database and not yet in it. */
static bool has_journal(const struct ys_store *store)
{
    struct stat file;
    char *path = ys_format("%s-wal", store->path);
    bool found = !path || (stat(path, &file) == 0 && file.st_size > 0);
    ys_free(path);
    return found;
}

static ys_status open_immutable(struct ys_store *store)
{
    char *uri = immutable_uri(store->path);
    ys_status status = open_database(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    ys_free(uri);
    return status;
}

static ys_status open_copy(struct ys_store *store)
{
    char *path = NULL;
    YS_TRY(ys_store_copy(store->path, &store->copy, &path));
    ys_log_info("%s cannot be written, and what was stored last lies in a journal there: read from a copy in %s",
                store->folder, store->copy.path);
    ys_status status = open_database(store, path, SQLITE_OPEN_READONLY);
    ys_free(path);
    return status;
}

bool ys_store_last_folder(const struct ys_store *store, char *name, size_t size)
{
    DIR *entries = opendir(store->folder);
    long long last = -1;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        const size_t digits = strspn(entry->d_name, "0123456789");
        const long long number = digits >= 3 && entry->d_name[digits] == '-' ? strtoll(entry->d_name, NULL, 10) : -1;
        char *runs = ys_format("%s/%s/runs", store->folder, entry->d_name);
        if (number > last && (store->version == 0 || ys_fs_exists(runs))) {
            snprintf(name, size, "%s", entry->d_name);
            last = number;
        }
        ys_free(runs);
    }
    if (entries)
        closedir(entries);
    return last >= 0;
}

ys_status ys_store_no_results(const struct ys_store *store)
{
    char name[256];
    return ys_store_last_folder(store, name, sizeof name)
               ? ys_fail(YS_EFORMAT,
                         "no results in %s, where the folder %s of a study is: results.db was lost or "
                         "emptied; restore a copy of it",
                         store->folder, name)
               : ys_fail(YS_ENOTFOUND, "no results in %s: `yardstick run` makes some, --results DIR looks elsewhere",
                         store->folder);
}

static ys_status open_for_reading(struct ys_store *store)
{
    if (!ys_fs_exists(store->path))
        return ys_store_no_results(store);
    YS_TRY(open_database(store, store->path, SQLITE_OPEN_READONLY));
    ys_status status = ys_schema_ensure(store, false);
    if (status == YS_OK || status == YS_ENOTFOUND || access(store->folder, W_OK) == 0)
        return status;
    /* A folder that we may not write: WAL mode cannot make its index there. Nobody else writes it either, or we would
     * see the index. */
    YS_TRY(has_journal(store) ? open_copy(store) : open_immutable(store));
    return ys_schema_ensure(store, false);
}

ys_status ys_store_open(const char *folder, enum ys_store_mode mode, struct ys_store **store)
{
    struct ys_store *opened = ys_alloc(1, sizeof *opened);
    opened->lock = YS_LOCK_NONE;
    opened->copy.lock = YS_LOCK_NONE;
    opened->folder = ys_path_absolute(folder);
    opened->path = opened->folder ? ys_path_join(opened->folder, "results.db") : NULL;
    ys_status status = mode == YS_STORE_WRITE ? open_for_writing(opened) : open_for_reading(opened);
    if (status == YS_OK)
        *store = opened;
    else
        ys_store_close(opened);
    return status;
}

/* Leaves one ordinary file, readable from a folder that cannot be written. Readers may be at it: then WAL stays. What
 * is in the journal is safe there, too; but who copies the file alone has to know. */
static void leave_one_file(struct ys_store *store)
{
    sqlite3_busy_timeout(store->db, 0);
    int code = sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED)
        ys_log_warn("%s could not be made one file (%s): results.db-wal beside it belongs to it, keep both",
                    store->path, sqlite3_errstr(code));
}

void ys_store_close(struct ys_store *store)
{
    if (!store)
        return;
    for (int i = 0; i < YS_KEPT; i++)
        sqlite3_finalize(store->kept[i]);
    if (store->lock.fd >= 0 && store->version > 0)
        leave_one_file(store);
    sqlite3_close(store->db);
    ys_working_remove(&store->copy);
    ys_lock_release(&store->lock);
    ys_json_free(store->told);
    ys_free(store->made_folder);
    ys_free(store->folder);
    ys_free(store->path);
    ys_free(store);
}

bool ys_store_is_written(const struct ys_store *store)
{
    return ys_store_lock_is_taken(store->folder);
}

const char *ys_store_folder(const struct ys_store *store)
{
    return store->folder;
}
