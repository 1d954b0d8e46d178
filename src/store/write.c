/* Putting things in. */
#include "store/store.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "store/database.h"

#include <ctype.h>
#include <string.h>

#define FOLDER_NAME_MAX 60

/* The first column of the first row; `absent` when there is no row. */
static ys_status first_int(struct ys_store *store, sqlite3_stmt *statement, int64_t absent, int64_t *value)
{
    bool more = false;
    ys_status status = ys_db_step(store, statement, &more);
    if (status == YS_OK)
        *value = more ? sqlite3_column_int64(statement, 0) : absent;
    return status;
}

static ys_status require(struct ys_store *store, const char *sql, const char *what, int64_t id)
{
    sqlite3_stmt *statement;
    int64_t found = 0;
    YS_TRY(ys_db_prepare(store, &statement, sql, "i", id));
    ys_status status = first_int(store, statement, 0, &found);
    ys_db_finish(statement);
    if (status == YS_OK && !found)
        status = ys_fail(YS_ENOTFOUND, "%s has no %s %lld", store->path, what, (long long)id);
    return status;
}

static ys_status require_study(struct ys_store *store, int64_t id)
{
    return require(store, "SELECT 1 FROM study WHERE id = ?", "study", id);
}

static ys_status require_trial(struct ys_store *store, int64_t id)
{
    return require(store, "SELECT 1 FROM trial WHERE id = ?", "trial", id);
}

/* `doc` as text in *text, then `sql` with it; every putter but two is this. */
static ys_status put_doc(struct ys_store *store, const char *sql, int64_t id, const char *word, const ys_json *doc)
{
    char *text;
    YS_TRY(ys_db_dump(doc, &text));
    ys_status status = ys_db_begin(store);
    if (status == YS_OK)
        status = ys_db_end(store,
                           word ? ys_db_run(store, sql, "itt", id, word, text) : ys_db_run(store, sql, "it", id, text));
    ys_free(text);
    return status;
}

/* "003-first", for a folder that does not exist yet. Characters that need quoting in a shell become '-'. */
static ys_status choose_folder(struct ys_store *store, const char *name, char **folder)
{
    sqlite3_stmt *statement;
    int64_t number = 1;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT coalesce(max(id), 0) + 1 FROM study", ""));
    ys_status status = first_int(store, statement, 1, &number);
    ys_db_finish(statement);
    YS_TRY(status);
    char clean[FOLDER_NAME_MAX + 1];
    size_t length = 0;
    for (const char *c = name; *c && length < FOLDER_NAME_MAX; c++)
        clean[length++] = isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '-';
    clean[length] = 0;
    for (;; number++) {
        char *chosen = ys_format("%03lld-%s", (long long)number, clean);
        char *path = chosen ? ys_path_join(store->folder, chosen) : NULL;
        bool taken = path && ys_fs_exists(path);
        if (path && !taken)
            *folder = chosen;
        else
            ys_free(chosen);
        bool failed = !path;
        ys_free(path);
        if (failed)
            return ys_out_of_memory();
        if (!taken)
            return YS_OK;
    }
}

static ys_status insert_study(struct ys_store *store, ys_json *doc, int64_t *study_id)
{
    const char *folder = ys_json_get_text(doc, "folder", "");
    int64_t started_s = ys_json_get_int(doc, "started_s", ys_date_s());
    char *path = ys_path_join(store->folder, folder);
    char *text = NULL;
    ys_status status = path ? ys_fs_make_dirs(path) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_db_dump(doc, &text);
    sqlite3_stmt *statement = NULL;
    int64_t users = 0;
    if (status == YS_OK)
        status = ys_db_prepare(store, &statement, "SELECT count(*) FROM study WHERE folder = ?", "t", folder);
    if (status == YS_OK)
        status = first_int(store, statement, 0, &users);
    ys_db_finish(statement);
    if (status == YS_OK && users)
        status = ys_fail(YS_EINVAL, "the folder %s of %s belongs to another study", folder, store->folder);
    if (status == YS_OK)
        status =
            ys_db_run(store, "INSERT INTO study (name, folder, started_s, status, doc) VALUES (?, ?, ?, 'running', ?)",
                      "ttit", ys_json_get_text(doc, "name", "study"), folder, started_s, text);
    if (status == YS_OK)
        *study_id = sqlite3_last_insert_rowid(store->db);
    ys_free(path);
    ys_free(text);
    return status;
}

ys_status ys_store_study_begin(struct ys_store *store, const ys_json *study_doc, int64_t *study_id)
{
    ys_json *doc = ys_json_copy(study_doc);
    if (!doc)
        return ys_out_of_memory();
    ys_status status = ys_db_begin(store);
    if (status != YS_OK) {
        ys_json_free(doc);
        return status;
    }
    if (!*ys_json_get_text(doc, "folder", "")) {
        char *folder = NULL;
        status = choose_folder(store, ys_json_get_text(doc, "name", "study"), &folder);
        if (status == YS_OK)
            status = ys_json_set_string(doc, "folder", folder);
        ys_free(folder);
    }
    int64_t id = 0;
    if (status == YS_OK)
        status = insert_study(store, doc, &id);
    status = ys_db_end(store, status);
    if (status == YS_OK)
        *study_id = id;
    ys_json_free(doc);
    return status;
}

ys_status ys_store_study_end(struct ys_store *store, int64_t study_id, const char *status_word, int exit_code,
                             const ys_json *timing)
{
    YS_TRY(require_study(store, study_id));
    char *text = NULL;
    if (timing)
        YS_TRY(ys_db_dump(timing, &text));
    ys_status status = ys_db_begin(store);
    if (status == YS_OK)
        status = ys_db_end(
            store, ys_db_run(store, "UPDATE study SET status = ?, exit_code = ?, ended_s = ?, timing = ? WHERE id = ?",
                             "tiiti", status_word, (int64_t)exit_code, ys_date_s(), text, study_id));
    ys_free(text);
    return status;
}

ys_status ys_store_study_resume(struct ys_store *store, int64_t study_id)
{
    YS_TRY(require_study(store, study_id));
    YS_TRY(ys_db_begin(store));
    return ys_db_end(
        store, ys_db_run(store, "UPDATE study SET status = 'running', exit_code = NULL, ended_s = NULL WHERE id = ?",
                         "i", study_id));
}

ys_status ys_store_host_put(struct ys_store *store, int64_t study_id, const ys_json *host)
{
    YS_TRY(require_study(store, study_id));
    return put_doc(store, "INSERT OR REPLACE INTO host (study_id, doc) VALUES (?, ?)", study_id, NULL, host);
}

ys_status ys_store_trial_put(struct ys_store *store, int64_t study_id, const ys_json *trial, int64_t *trial_id)
{
    YS_TRY(require_study(store, study_id));
    const char *name = ys_json_get_text(trial, "id", NULL);
    if (!name)
        return ys_fail(YS_EINTERNAL, "a trial without an id cannot be stored");
    char *text;
    YS_TRY(ys_db_dump(trial, &text));
    sqlite3_stmt *statement = NULL;
    int64_t id = 0;
    ys_status status = ys_db_begin(store);
    if (status == YS_OK) {
        status = ys_db_prepare(
            store, &statement,
            "INSERT INTO trial (study_id, position, name, doc) VALUES (?, ?, ?, ?) ON CONFLICT (study_id, name) "
            "DO UPDATE SET position = excluded.position, doc = excluded.doc RETURNING id",
            "iitt", study_id, ys_json_get_int(trial, "index", 0), name, text);
        if (status == YS_OK)
            status = first_int(store, statement, 0, &id);
        ys_db_finish(statement);
        status = ys_db_end(store, status);
    }
    if (status == YS_OK)
        *trial_id = id;
    ys_free(text);
    return status;
}

ys_status ys_store_proof_put(struct ys_store *store, int64_t trial_id, const ys_json *proof)
{
    YS_TRY(require_trial(store, trial_id));
    return put_doc(store, "INSERT OR REPLACE INTO proof (trial_id, verdict, doc) VALUES (?, ?, ?)", trial_id,
                   ys_json_get_text(proof, "verdict", "none"), proof);
}

static ys_status insert_series(struct ys_store *store, int64_t run_id, const struct ys_series_set *series)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct ys_series *item = &series->items[i];
        unsigned char *data;
        size_t size;
        YS_TRY(ys_series_encode(item, &data, &size));
        sqlite3_stmt *statement;
        ys_status status =
            ys_db_prepare(store, &statement,
                          "INSERT INTO series (run_id, position, name, is_real, count, data) VALUES (?, ?, ?, ?, ?, ?)",
                          "iitii", run_id, (int64_t)i, item->name, (int64_t)item->is_real, (int64_t)item->count);
        bool more;
        if (status == YS_OK && sqlite3_bind_blob64(statement, 6, data, size, SQLITE_STATIC) != SQLITE_OK)
            status = ys_db_fail(store, sqlite3_extended_errcode(store->db), "write results");
        if (status == YS_OK)
            status = ys_db_step(store, statement, &more);
        ys_db_finish(statement);
        ys_free(data);
        YS_TRY(status);
    }
    return YS_OK;
}

static ys_status insert_run(struct ys_store *store, int64_t trial_id, int64_t round, int attempt, const ys_json *facts,
                            const struct ys_series_set *series, int64_t *run_id)
{
    sqlite3_stmt *statement;
    int64_t stored = 0;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT count(*) FROM run WHERE trial_id = ? AND round = ? AND attempt = ?",
                         "iii", trial_id, round, (int64_t)attempt));
    ys_status status = first_int(store, statement, 0, &stored);
    ys_db_finish(statement);
    YS_TRY(status);
    if (stored)
        return ys_fail(YS_EINVAL, "round %lld, attempt %d of trial %lld is stored already", (long long)round, attempt,
                       (long long)trial_id);
    char *text;
    YS_TRY(ys_db_dump(facts, &text));
    status = ys_db_run(store,
                       "INSERT INTO run (trial_id, round, attempt, status, stored_s, facts) VALUES (?, ?, ?, ?, ?, ?)",
                       "iiitit", trial_id, round, (int64_t)attempt, ys_json_get_text(facts, "status", "protocol_error"),
                       ys_date_s(), text);
    ys_free(text);
    YS_TRY(status);
    *run_id = sqlite3_last_insert_rowid(store->db);
    return insert_series(store, *run_id, series);
}

ys_status ys_store_run_put(struct ys_store *store, int64_t trial_id, int64_t round, int attempt, const ys_json *facts,
                           const struct ys_series_set *series, int64_t *run_id)
{
    YS_TRY(require_trial(store, trial_id));
    YS_TRY(ys_db_begin(store));
    int64_t id = 0;
    YS_TRY(ys_db_end(store, insert_run(store, trial_id, round, attempt, facts, series, &id)));
    *run_id = id;
    return YS_OK;
}

static ys_status insert_metrics(struct ys_store *store, int64_t run_id, const ys_json *metrics)
{
    YS_TRY(ys_db_run(store, "DELETE FROM metric WHERE run_id = ?", "i", run_id));
    int64_t position = 0;
    for (void *it = ys_json_iter(metrics); it; it = ys_json_next(metrics, it)) {
        const ys_json *value = ys_json_get(ys_json_iter_value(it), "value");
        enum ys_json_type type = ys_json_type_of(value);
        char *text;
        YS_TRY(ys_db_dump(ys_json_iter_value(it), &text));
        bool known = type == YS_JSON_INT || type == YS_JSON_REAL;
        ys_status status = ys_db_run(
            store, "INSERT INTO metric (run_id, position, name, doc, value) VALUES (?, ?, ?, ?, ?)",
            known ? "iittd" : "iittn", run_id, position++, ys_json_iter_key(it), text, ys_json_number(value, 0));
        ys_free(text);
        YS_TRY(status);
    }
    return YS_OK;
}

ys_status ys_store_metric_put(struct ys_store *store, int64_t run_id, const ys_json *metrics)
{
    YS_TRY(require(store, "SELECT 1 FROM run WHERE id = ?", "run", run_id));
    YS_TRY(ys_db_begin(store));
    return ys_db_end(store, insert_metrics(store, run_id, metrics));
}
