/* Getting things out. */
#include "store/store.h"

#include "base/mem.h"
#include "store/database.h"

#include <string.h>

static const char *text_at(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

static ys_status set_int_or_null(ys_json *object, const char *key, sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return ys_json_set(object, key, ys_json_null());
    return ys_json_set_int(object, key, sqlite3_column_int64(statement, column));
}

static ys_status set_doc(const struct ys_store *store, ys_json *object, const char *key, sqlite3_stmt *statement,
                         int column)
{
    ys_json *doc;
    YS_TRY(ys_db_json(store, statement, column, &doc));
    return ys_json_set(object, key, doc);
}

/* The members of the object in `column`, which are large: shared, not copied. */
static ys_status set_members(struct ys_store *store, ys_json *object, sqlite3_stmt *statement, int column)
{
    ys_json *doc;
    YS_TRY(ys_db_json(store, statement, column, &doc));
    ys_status status = YS_OK;
    for (void *it = ys_json_iter(doc); status == YS_OK && it; it = ys_json_next(doc, it))
        status = ys_json_set(object, ys_json_iter_key(it), ys_json_ref(ys_json_iter_value(it)));
    ys_json_free(doc);
    return status;
}

typedef ys_status (*row_reader)(struct ys_store *store, sqlite3_stmt *row, ys_json *object);

/* An array with one object a row of `statement`, which is finished here. */
static ys_status collect(struct ys_store *store, sqlite3_stmt *statement, row_reader read, ys_json **array)
{
    ys_json *rows = ys_json_array();
    ys_status status = rows ? YS_OK : ys_out_of_memory();
    bool more = true;
    while (status == YS_OK) {
        status = ys_db_step(store, statement, &more);
        if (status != YS_OK || !more)
            break;
        ys_json *object = ys_json_object();
        status = object ? read(store, statement, object) : ys_out_of_memory();
        if (status == YS_OK)
            status = ys_json_append(rows, object);
        else
            ys_json_free(object);
    }
    ys_db_finish(statement);
    if (status == YS_OK)
        *array = rows;
    else
        ys_json_free(rows);
    return status;
}

static ys_status read_study_line(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    (void)store;
    YS_TRY(ys_json_set_int(object, "id", sqlite3_column_int64(row, 0)));
    YS_TRY(ys_json_set_string(object, "name", text_at(row, 1)));
    YS_TRY(ys_json_set_string(object, "folder", text_at(row, 2)));
    YS_TRY(ys_json_set_string(object, "status", text_at(row, 3)));
    YS_TRY(set_int_or_null(object, "started_s", row, 4));
    YS_TRY(set_int_or_null(object, "ended_s", row, 5));
    YS_TRY(ys_json_set_int(object, "trials", sqlite3_column_int64(row, 6)));
    return ys_json_set_int(object, "runs", sqlite3_column_int64(row, 7));
}

ys_status ys_store_studies(struct ys_store *store, ys_json **studies)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(
        store, &statement,
        "SELECT id, name, folder, status, started_s, ended_s, (SELECT count(*) FROM trial WHERE study_id = study.id), "
        "(SELECT count(*) FROM run JOIN trial ON trial.id = trial_id WHERE study_id = study.id) "
        "FROM study ORDER BY id",
        ""));
    return collect(store, statement, read_study_line, studies);
}

static ys_status read_study(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    YS_TRY(set_members(store, object, row, 0));
    YS_TRY(ys_json_set_int(object, "id", sqlite3_column_int64(row, 1)));
    YS_TRY(ys_json_set_string(object, "folder", text_at(row, 2)));
    YS_TRY(set_int_or_null(object, "started_s", row, 3));
    YS_TRY(set_int_or_null(object, "ended_s", row, 4));
    YS_TRY(ys_json_set_string(object, "status", text_at(row, 5)));
    YS_TRY(set_int_or_null(object, "exit_code", row, 6));
    return set_doc(store, object, "timing", row, 7);
}

/* The only row of `statement`, or YS_ENOTFOUND. */
static ys_status collect_one(struct ys_store *store, sqlite3_stmt *statement, row_reader read, const char *what,
                             int64_t id, ys_json **object)
{
    ys_json *rows;
    YS_TRY(collect(store, statement, read, &rows));
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
    YS_TRY(
        ys_db_prepare(store, &statement,
                      "SELECT doc, id, folder, started_s, ended_s, status, exit_code, timing FROM study WHERE id = ?",
                      "i", study_id));
    return collect_one(store, statement, read_study, "study", study_id, study);
}

static ys_status read_host(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    return set_doc(store, object, "host", row, 0);
}

ys_status ys_store_host_get(struct ys_store *store, int64_t study_id, ys_json **host)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT host.doc FROM study LEFT JOIN host ON study_id = study.id WHERE study.id = ?", "i",
                         study_id));
    ys_json *row;
    YS_TRY(collect_one(store, statement, read_host, "study", study_id, &row));
    *host = ys_json_ref(ys_json_get(row, "host"));
    ys_json_free(row);
    return YS_OK;
}

static ys_status read_trial(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    YS_TRY(set_members(store, object, row, 0));
    YS_TRY(ys_json_set_int(object, "trial_id", sqlite3_column_int64(row, 1)));
    return set_doc(store, object, "proof", row, 2);
}

ys_status ys_store_trials_get(struct ys_store *store, int64_t study_id, ys_json **trials)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT trial.doc, trial.id, proof.doc FROM trial LEFT JOIN proof ON trial_id = trial.id "
                         "WHERE study_id = ? ORDER BY position, trial.id",
                         "i", study_id));
    return collect(store, statement, read_trial, trials);
}

static ys_status read_metrics(struct ys_store *store, sqlite3_stmt *statement, ys_json *metrics)
{
    for (;;) {
        bool more;
        YS_TRY(ys_db_step(store, statement, &more));
        if (!more)
            return YS_OK;
        const char *name = text_at(statement, 0);
        YS_TRY(set_doc(store, metrics, name ? name : "", statement, 1));
    }
}

static ys_status read_metrics_of(struct ys_store *store, int64_t run_id, ys_json *metrics)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT name, doc FROM metric WHERE run_id = ? ORDER BY position", "i",
                         run_id));
    ys_status status = read_metrics(store, statement, metrics);
    ys_db_finish(statement);
    return status;
}

static ys_status read_run(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    YS_TRY(ys_json_set_int(object, "run_id", sqlite3_column_int64(row, 0)));
    YS_TRY(ys_json_set_int(object, "round", sqlite3_column_int64(row, 1)));
    YS_TRY(ys_json_set_int(object, "attempt", sqlite3_column_int64(row, 2)));
    YS_TRY(ys_json_set_string(object, "status", text_at(row, 3)));
    YS_TRY(set_doc(store, object, "facts", row, 4));
    ys_json *metrics = ys_json_object();
    if (!metrics)
        return ys_out_of_memory();
    YS_TRY(ys_json_set(object, "metrics", metrics));
    return read_metrics_of(store, sqlite3_column_int64(row, 0), metrics);
}

ys_status ys_store_runs_get(struct ys_store *store, int64_t trial_id, ys_json **runs)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT id, round, attempt, status, facts FROM run WHERE trial_id = ? ORDER BY round, attempt",
                         "i", trial_id));
    return collect(store, statement, read_run, runs);
}

static ys_status read_series(struct ys_store *store, sqlite3_stmt *statement, struct ys_series_set *series)
{
    for (;;) {
        bool more;
        YS_TRY(ys_db_step(store, statement, &more));
        if (!more)
            return YS_OK;
        const char *name = text_at(statement, 0);
        const unsigned char *data = sqlite3_column_blob(statement, 3);
        YS_TRY(ys_series_decode(name ? name : "", sqlite3_column_int(statement, 1), data,
                                (size_t)sqlite3_column_bytes(statement, 3), (size_t)sqlite3_column_int64(statement, 2),
                                series));
    }
}

ys_status ys_store_series_get(struct ys_store *store, int64_t run_id, struct ys_series_set *series)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT name, is_real, count, data FROM series WHERE run_id = ? ORDER BY position", "i",
                         run_id));
    ys_status status = read_series(store, statement, series);
    ys_db_finish(statement);
    if (status != YS_OK)
        ys_series_set_free(series);
    return status;
}
