/* Putting things in. */
#include "store/store.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "store/hash_chain.h"
#include "store/stored_rows.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

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

ys_status ys_store_begin(struct ys_store *store)
{
    if (store->depth == 0)
        YS_TRY(ys_db_exec(store, "BEGIN IMMEDIATE"));
    store->depth++;
    return YS_OK;
}

ys_status ys_store_end(struct ys_store *store, ys_status status)
{
    store->spoiled |= status != YS_OK;
    if (--store->depth > 0)
        return status;
    if (status == YS_OK && store->spoiled)
        status = ys_fail(YS_EINTERNAL, "results were to be stored of which a part had failed");
    store->spoiled = false;
    if (status == YS_OK)
        status = ys_db_exec(store, "COMMIT");
    /* Some failures (a full disk) have rolled back already. */
    if (status != YS_OK && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    if (status != YS_OK && store->made_folder)
        rmdir(store->made_folder);
    ys_free(store->made_folder);
    store->made_folder = NULL;
    return status;
}

/* A row of which there is at most one, in place of what was there: the row `id` that it belongs to grows if it is new.
 * `sql` inserts it from `id`, `word` (where it is not NULL) and `doc` as text. */
static ys_status replace(struct ys_store *store, enum ys_row_table table, int64_t id, const char *clear,
                         const char *sql, const char *word, const char *text)
{
    YS_TRY(ys_row_require(store, table, id));
    YS_TRY(ys_db_run(store, clear, "i", id));
    int removed = sqlite3_changes(store->db);
    YS_TRY(word ? ys_db_run(store, sql, "itt", id, word, text) : ys_db_run(store, sql, "it", id, text));
    return ys_row_seal(store, table, id, 1 - removed);
}

static ys_status put_doc(struct ys_store *store, enum ys_row_table table, int64_t id, const char *clear,
                         const char *sql, const char *word, const ys_json *doc)
{
    char *text;
    YS_TRY(ys_db_dump(doc, &text));
    ys_status status = ys_store_begin(store);
    if (status == YS_OK)
        status = ys_store_end(store, replace(store, table, id, clear, sql, word, text));
    ys_free(text);
    return status;
}

/* Whether another study has the folder `name`, or something lies in it. One that is empty was left by a study that
 * ended before it began. */
static ys_status folder_is_taken(struct ys_store *store, const char *name, bool *taken)
{
    sqlite3_stmt *statement;
    int64_t users = 0;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT count(*) FROM study WHERE folder = ?", "t", name));
    ys_status status = first_int(store, statement, 0, &users);
    ys_db_finish(statement);
    YS_TRY(status);
    char *path = ys_path_join(store->folder, name);
    *taken = users || (ys_fs_exists(path) && rmdir(path) != 0);
    ys_free(path);
    return YS_OK;
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
        bool taken = false;
        char *chosen = ys_format("%03lld-%s", (long long)number, clean);
        status = folder_is_taken(store, chosen, &taken);
        if (status == YS_OK && !taken) {
            *folder = chosen;
            return YS_OK;
        }
        ys_free(chosen);
        YS_TRY(status);
    }
}

static ys_status insert_study(struct ys_store *store, const ys_json *doc, const char *text, int64_t *study_id)
{
    const char *folder = ys_json_get_text(doc, "folder", "");
    int64_t started_s = ys_json_get_int(doc, "started_s", ys_date_s());
    sqlite3_stmt *statement;
    int64_t users = 0;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT count(*) FROM study WHERE folder = ?", "t", folder));
    ys_status status = first_int(store, statement, 0, &users);
    ys_db_finish(statement);
    YS_TRY(status);
    if (users)
        return ys_fail(YS_EINVAL, "the folder %s of %s belongs to another study", folder, store->folder);
    store->made_folder = ys_path_join(store->folder, folder);
    YS_TRY(ys_fs_make_dirs(store->made_folder));
    YS_TRY(ys_db_run(store, "INSERT INTO study (name, folder, started_s, status, doc) VALUES (?, ?, ?, 'running', ?)",
                     "ttit", ys_json_get_text(doc, "name", "study"), folder, started_s, text));
    *study_id = sqlite3_last_insert_rowid(store->db);
    return ys_row_seal(store, YS_ROW_STUDY, *study_id, 0);
}

/* `doc` gets its folder. */
static ys_status begin_study(struct ys_store *store, ys_json *doc, int64_t *study_id)
{
    char *text, *folder = NULL;
    if (!*ys_json_get_text(doc, "folder", "")) {
        YS_TRY(choose_folder(store, ys_json_get_text(doc, "name", "study"), &folder));
        ys_json_set_string(doc, "folder", folder);
        ys_free(folder);
    }
    YS_TRY(ys_db_dump(doc, &text));
    ys_status status = insert_study(store, doc, text, study_id);
    ys_free(text);
    return status;
}

ys_status ys_store_study_begin(struct ys_store *store, const ys_json *study_doc, int64_t *study_id)
{
    ys_json *doc = ys_json_copy(study_doc);
    int64_t id = 0;
    ys_status status = ys_store_begin(store);
    if (status == YS_OK)
        status = ys_store_end(store, begin_study(store, doc, &id));
    if (status == YS_OK)
        *study_id = id;
    ys_json_free(doc);
    return status;
}

static ys_status end_study(struct ys_store *store, int64_t study_id, enum ys_study_state state, int exit_code,
                           const char *timing, int64_t ended_s)
{
    YS_TRY(ys_row_require(store, YS_ROW_STUDY, study_id));
    YS_TRY(ys_db_run(store, "UPDATE study SET status = ?, exit_code = ?, ended_s = ?, timing = ? WHERE id = ?", "tiiti",
                     ys_name_of(&ys_study_states, (int)state), (int64_t)exit_code, ended_s, timing, study_id));
    YS_TRY(ys_row_seal(store, YS_ROW_STUDY, study_id, 0));
    return ys_link_end(store, study_id);
}

ys_status ys_store_study_end_at(struct ys_store *store, int64_t study_id, enum ys_study_state state, int exit_code,
                                const ys_json *timing, int64_t ended_s)
{
    char *text = NULL;
    if (timing)
        YS_TRY(ys_db_dump(timing, &text));
    ys_status status = ys_store_begin(store);
    if (status == YS_OK)
        status = ys_store_end(store, end_study(store, study_id, state, exit_code, text, ended_s));
    ys_free(text);
    return status;
}

ys_status ys_store_study_end(struct ys_store *store, int64_t study_id, enum ys_study_state state, int exit_code,
                             const ys_json *timing)
{
    return ys_store_study_end_at(store, study_id, state, exit_code, timing, ys_date_s());
}

static ys_status resume_study(struct ys_store *store, int64_t study_id)
{
    YS_TRY(ys_row_require(store, YS_ROW_STUDY, study_id));
    YS_TRY(ys_db_run(store, "UPDATE study SET status = 'running', exit_code = NULL, ended_s = NULL WHERE id = ?", "i",
                     study_id));
    return ys_row_seal(store, YS_ROW_STUDY, study_id, 0);
}

ys_status ys_store_study_resume(struct ys_store *store, int64_t study_id)
{
    YS_TRY(ys_store_begin(store));
    return ys_store_end(store, resume_study(store, study_id));
}

ys_status ys_store_host_put(struct ys_store *store, int64_t study_id, const ys_json *host)
{
    return put_doc(store, YS_ROW_STUDY, study_id, "DELETE FROM host WHERE study_id = ?",
                   "INSERT INTO host (study_id, doc, sum) VALUES (?1, ?2, row_sum('host', ?1, ?2))", NULL, host);
}

static ys_status put_trial(struct ys_store *store, int64_t study_id, const struct ys_trial_record *trial,
                           const char *text, int64_t *trial_id)
{
    int64_t id = 0;
    sqlite3_stmt *statement;
    YS_TRY(ys_row_require(store, YS_ROW_STUDY, study_id));
    YS_TRY(ys_db_prepare(store, &statement, "SELECT id FROM trial WHERE study_id = ? AND name = ?", "it", study_id,
                         trial->id));
    ys_status status = first_int(store, statement, 0, &id);
    ys_db_finish(statement);
    YS_TRY(status);
    if (id) {
        YS_TRY(ys_row_require(store, YS_ROW_TRIAL, id));
        YS_TRY(ys_db_run(store, "UPDATE trial SET position = ?, doc = ? WHERE id = ?", "iti", trial->index, text, id));
    } else {
        YS_TRY(ys_db_run(store, "INSERT INTO trial (study_id, position, name, doc) VALUES (?, ?, ?, ?)", "iitt",
                         study_id, trial->index, trial->id, text));
        YS_TRY(ys_row_seal(store, YS_ROW_STUDY, study_id, 1));
    }
    *trial_id = id ? id : sqlite3_last_insert_rowid(store->db);
    return ys_row_seal(store, YS_ROW_TRIAL, *trial_id, 0);
}

/* What a table of its own has, or the row itself, is left out. */
static ys_status dump_trial(const struct ys_trial_record *trial, char **text)
{
    struct ys_trial_record plain = *trial; /* borrows */
    plain.trial_id = YS_FIELD_NONE;
    plain.proof = NULL;
    ys_json *doc = ys_record_json(&ys_trial_record, &plain);
    ys_status status = ys_db_dump(doc, text);
    ys_json_free(doc);
    return status;
}

ys_status ys_store_trial_put(struct ys_store *store, int64_t study_id, const struct ys_trial_record *trial,
                             int64_t *trial_id)
{
    char *text;
    int64_t id = 0;
    if (!trial->id)
        return ys_fail(YS_EINTERNAL, "a trial without an id cannot be stored");
    YS_TRY(dump_trial(trial, &text));
    ys_status status = ys_store_begin(store);
    if (status == YS_OK)
        status = ys_store_end(store, put_trial(store, study_id, trial, text, &id));
    if (status == YS_OK)
        *trial_id = id;
    ys_free(text);
    return status;
}

/* The rest of the document stays as it was put. */
static ys_status give_up(struct ys_store *store, int64_t trial_id, int64_t round, const char *reason)
{
    YS_TRY(ys_row_require(store, YS_ROW_TRIAL, trial_id));
    YS_TRY(ys_db_run(store,
                     "UPDATE trial SET doc = json_set(doc, '$.given_up', json_object('round', ?, 'reason', ?)) "
                     "WHERE id = ?",
                     "iti", round, reason, trial_id));
    return ys_row_seal(store, YS_ROW_TRIAL, trial_id, 0);
}

ys_status ys_store_trial_give_up(struct ys_store *store, int64_t trial_id, int64_t round, const char *reason)
{
    YS_TRY(ys_store_begin(store));
    return ys_store_end(store, give_up(store, trial_id, round, reason));
}

ys_status ys_store_proof_put(struct ys_store *store, int64_t trial_id, const ys_json *proof)
{
    return put_doc(store, YS_ROW_TRIAL, trial_id, "DELETE FROM proof WHERE trial_id = ?",
                   "INSERT INTO proof (trial_id, verdict, doc, sum) VALUES (?1, ?2, ?3, row_sum('proof', ?1, ?2, ?3))",
                   ys_json_get_text(proof, "verdict", "none"), proof);
}

static ys_status insert_series(struct ys_store *store, int64_t run_id, const struct ys_series_set *series)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct ys_series *item = &series->items[i];
        unsigned char *data;
        size_t size;
        ys_series_encode(item, &data, &size);
        sqlite3_stmt *statement;
        ys_status status =
            ys_db_prepare(store, &statement,
                          "INSERT INTO series (run_id, position, name, is_real, count, data, sum) VALUES "
                          "(?1, ?2, ?3, ?4, ?5, ?6, row_sum('series', ?1, ?2, ?3, ?4, ?5, ?6))",
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
    YS_TRY(ys_row_require(store, YS_ROW_TRIAL, trial_id));
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
    YS_TRY(insert_series(store, *run_id, series));
    YS_TRY(ys_row_seal(store, YS_ROW_RUN, *run_id, (int64_t)series->count));
    return ys_row_seal(store, YS_ROW_TRIAL, trial_id, 1);
}

ys_status ys_store_run_put(struct ys_store *store, int64_t trial_id, int64_t round, int attempt, const ys_json *facts,
                           const struct ys_series_set *series, int64_t *run_id)
{
    YS_TRY(ys_store_begin(store));
    int64_t id = 0;
    YS_TRY(ys_store_end(store, insert_run(store, trial_id, round, attempt, facts, series, &id)));
    *run_id = id;
    return YS_OK;
}

static ys_status insert_metrics(struct ys_store *store, int64_t run_id, const ys_json *metrics)
{
    YS_TRY(ys_row_require(store, YS_ROW_RUN, run_id));
    YS_TRY(ys_db_run(store, "DELETE FROM metric WHERE run_id = ?", "i", run_id));
    int64_t position = 0, removed = sqlite3_changes(store->db);
    for (void *it = ys_json_iter(metrics); it; it = ys_json_next(metrics, it))
        YS_TRY(ys_row_put_metric(store, run_id, position++, ys_json_iter_key(it), ys_json_iter_value(it)));
    return ys_row_seal(store, YS_ROW_RUN, run_id, position - removed);
}

ys_status ys_store_metric_put(struct ys_store *store, int64_t run_id, const ys_json *metrics)
{
    YS_TRY(ys_store_begin(store));
    return ys_store_end(store, insert_metrics(store, run_id, metrics));
}
