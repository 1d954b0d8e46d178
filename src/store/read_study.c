/* Getting things out. */
#include "store/store.h"

#include "base/mem.h"
#include "store/hash_chain.h"
#include "store/stored_rows.h"

#include <string.h>

static const char *text_at(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

static void set_int_or_null(ys_json *object, const char *key, sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        ys_json_set(object, key, ys_json_null());
        return;
    }
    ys_json_set_int(object, key, sqlite3_column_int64(statement, column));
}

static ys_status set_doc(const struct ys_store *store, ys_json *object, const char *key, sqlite3_stmt *statement,
                         int column)
{
    ys_json *doc;
    YS_TRY(ys_db_json(store, statement, column, &doc));
    ys_json_set(object, key, doc);
    return YS_OK;
}

/* The members of the object in `column`, which are large: shared, not copied. */
static ys_status set_members(struct ys_store *store, ys_json *object, sqlite3_stmt *statement, int column)
{
    ys_json *doc;
    YS_TRY(ys_db_json(store, statement, column, &doc));
    for (void *it = ys_json_iter(doc); it; it = ys_json_next(doc, it))
        ys_json_set(object, ys_json_iter_key(it), ys_json_ref(ys_json_iter_value(it)));
    ys_json_free(doc);
    return YS_OK;
}

static ys_status read_study_line(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    int64_t id = sqlite3_column_int64(row, 0);
    if (!sqlite3_column_int(row, 8)) {
        ys_row_note(store, YS_ROW_STUDY, id, "study %lld is damaged: left out", (long long)id);
        return YS_OK;
    }
    ys_json_set_int(object, "id", id);
    ys_json_set_string(object, "name", text_at(row, 1));
    ys_json_set_string(object, "folder", text_at(row, 2));
    ys_json_set_string(object, "status", text_at(row, 3));
    set_int_or_null(object, "started_s", row, 4);
    set_int_or_null(object, "ended_s", row, 5);
    ys_json_set_int(object, "trials", sqlite3_column_int64(row, 6));
    ys_json_set_int(object, "runs", sqlite3_column_int64(row, 7));
    return YS_OK;
}

ys_status ys_store_studies(struct ys_store *store, ys_json **studies)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(
        store, &statement,
        "SELECT id, name, folder, status, started_s, ended_s, (SELECT count(*) FROM trial WHERE study_id = study.id), "
        "(SELECT count(*) FROM run JOIN trial ON trial.id = trial_id WHERE study_id = study.id), " YS_STUDY_INTACT
        " FROM study ORDER BY id",
        ""));
    return ys_db_collect(store, statement, read_study_line, studies);
}

static ys_status read_study(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    int64_t id = sqlite3_column_int64(row, 1);
    if (!sqlite3_column_int(row, 8))
        return ys_row_fail(store, YS_ROW_STUDY, id);
    ys_row_note_lost(store, YS_ROW_STUDY, id, sqlite3_column_int64(row, 9));
    YS_TRY(set_members(store, object, row, 0));
    ys_json_set_int(object, "id", id);
    ys_json_set_string(object, "folder", text_at(row, 2));
    set_int_or_null(object, "started_s", row, 3);
    set_int_or_null(object, "ended_s", row, 4);
    ys_json_set_string(object, "status", text_at(row, 5));
    set_int_or_null(object, "exit_code", row, 6);
    return set_doc(store, object, "timing", row, 7);
}

/* The only row of `statement`, or YS_ENOTFOUND. */
static ys_status collect_one(struct ys_store *store, sqlite3_stmt *statement, ys_db_reader read, const char *what,
                             int64_t id, ys_json **object)
{
    ys_json *rows;
    YS_TRY(ys_db_collect(store, statement, read, &rows));
    ys_status status = YS_OK;
    if (ys_json_size(rows) == 0)
        status = ys_fail(YS_ENOTFOUND, "%s has no %s %lld", store->path, what, (long long)id);
    else
        *object = ys_json_ref(ys_json_at(rows, 0));
    ys_json_free(rows);
    return status;
}

ys_status ys_store_study_get(struct ys_store *store, int64_t study_id, ys_json **study)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT doc, id, folder, started_s, ended_s, status, exit_code, timing, " YS_STUDY_INTACT
                         ", parts - (" YS_PARTS_OF_STUDY ") FROM study WHERE id = ?",
                         "i", study_id));
    return collect_one(store, statement, read_study, "study", study_id, study);
}

ys_status ys_store_chain_get(struct ys_store *store, int64_t study_id, ys_json **chain)
{
    ys_status status = ys_link_last(store, study_id, chain);
    if (status != YS_EFORMAT)
        return status;
    *chain = ys_json_null(); /* ys_store_verify() says what is the matter */
    return YS_OK;
}

static ys_status read_host(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    int64_t id = sqlite3_column_int64(row, 1);
    if (sqlite3_column_type(row, 0) != SQLITE_NULL && !sqlite3_column_int(row, 2)) {
        ys_row_note(store, YS_ROW_HOST, id, "what study %lld found of its machine is damaged: left out", (long long)id);
        ys_json_set(object, "host", ys_json_null());
        return YS_OK;
    }
    return set_doc(store, object, "host", row, 0);
}

ys_status ys_store_host_get(struct ys_store *store, int64_t study_id, ys_json **host)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT host.doc, study.id, " YS_HOST_INTACT
                         " FROM study LEFT JOIN host ON study_id = study.id WHERE study.id = ?",
                         "i", study_id));
    ys_json *row;
    YS_TRY(collect_one(store, statement, read_host, "study", study_id, &row));
    *host = ys_json_ref(ys_json_get(row, "host"));
    ys_json_free(row);
    return YS_OK;
}

static ys_status read_proof(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    if (sqlite3_column_type(row, 2) == SQLITE_NULL || sqlite3_column_int(row, 5))
        return set_doc(store, object, "proof", row, 2);
    ys_row_note(store, YS_ROW_PROOF, sqlite3_column_int64(row, 1), "the proof of %s is damaged: it counts as none",
                ys_json_get_text(object, "id", "a trial"));
    ys_json_set(object, "proof", ys_json_null());
    return YS_OK;
}

static ys_status read_trial(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    int64_t id = sqlite3_column_int64(row, 1);
    if (!sqlite3_column_int(row, 3))
        return ys_row_fail(store, YS_ROW_TRIAL, id);
    ys_row_note_lost(store, YS_ROW_TRIAL, id, sqlite3_column_int64(row, 4));
    YS_TRY(set_members(store, object, row, 0));
    ys_json_set_int(object, "trial_id", id);
    return read_proof(store, row, object);
}

ys_status ys_store_trials_get(struct ys_store *store, int64_t study_id, ys_json **trials)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT trial.doc, trial.id, proof.doc, " YS_TRIAL_INTACT ", trial.parts - (" YS_PARTS_OF_TRIAL
                         "), " YS_PROOF_INTACT " FROM trial LEFT JOIN proof ON trial_id = trial.id WHERE study_id = ? "
                         "ORDER BY position, trial.id",
                         "i", study_id));
    return ys_db_collect(store, statement, read_trial, trials);
}

ys_status ys_store_trials_load(struct ys_store *store, int64_t study_id, struct ys_trial_records *trials)
{
    ys_json *stored;
    YS_TRY(ys_store_trials_get(store, study_id, &stored));
    ys_status status = ys_trial_records_read(stored, store->path, trials);
    ys_json_free(stored);
    return status;
}

/* Losses are reals, times and counts are whole numbers: readers rely on it. */
static bool has_its_type(const char *name, int64_t is_real)
{
    static const char *const whole[] = {"block_", "sample_", "latency_"};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (strncmp(name, whole[i], strlen(whole[i])) == 0)
            return is_real == 0;
    return strcmp(name, "step_loss") == 0 ? is_real == 1 : is_real == 0 || is_real == 1;
}

static ys_status read_one_series(struct ys_store *store, sqlite3_stmt *row, int64_t run_id,
                                 struct ys_series_set *series)
{
    const char *name = text_at(row, 0);
    const unsigned char *data = sqlite3_column_blob(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 3);
    int64_t is_real = sqlite3_column_int64(row, 1), count = sqlite3_column_int64(row, 2);
    bool intact = sqlite3_column_int(row, 4) && name && count >= 0 && sqlite3_column_type(row, 3) == SQLITE_BLOB &&
                  has_its_type(name, is_real);
    if (!intact)
        return ys_fail(YS_EFORMAT, "%s is damaged: the series %s of run %lld is not as it was stored", store->path,
                       name ? name : "?", (long long)run_id);
    return ys_series_decode(name, (int)is_real, data, size, (size_t)count, series);
}

static ys_status read_series(struct ys_store *store, sqlite3_stmt *statement, int64_t run_id,
                             struct ys_series_set *series)
{
    for (;;) {
        bool more;
        YS_TRY(ys_db_step(store, statement, &more));
        if (!more)
            return YS_OK;
        YS_TRY(read_one_series(store, statement, run_id, series));
    }
}

ys_status ys_store_series_get(struct ys_store *store, int64_t run_id, struct ys_series_set *series)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT name, is_real, count, data, " YS_SERIES_INTACT
                         " FROM series WHERE run_id = ? ORDER BY position",
                         "i", run_id));
    ys_status status = read_series(store, statement, run_id, series);
    ys_db_finish(statement);
    if (status != YS_OK)
        ys_series_set_free(series);
    if (status == YS_EFORMAT)
        ys_row_note(store, YS_ROW_SERIES, run_id, "a series of run %lld is damaged: what is made of it is left out",
                    (long long)run_id);
    return status;
}
