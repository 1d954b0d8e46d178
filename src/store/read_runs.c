/* Getting runs out, with their facts and metrics. */
#include "store/store.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/stored_rows.h"

#include <math.h>
#include <stdlib.h>

static const char *text_at(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

static ys_status query_runs(struct ys_store *store, int64_t trial_id, sqlite3_stmt **statement)
{
    return ys_db_prepare_kept(store, YS_KEPT_RUNS, statement,
                              "SELECT run.id, round, attempt, facts, " YS_RUN_INTACT
                              ", status, (SELECT name FROM trial WHERE trial.id = run.trial_id)"
                              " FROM run WHERE trial_id = ? ORDER BY round, attempt",
                              "i", trial_id);
}

/* Whether the run is as it was stored; warned of otherwise. Facts without a checksum are parsed to see it. */
static ys_status check_run(struct ys_store *store, sqlite3_stmt *row, bool *intact)
{
    ys_status status = YS_OK;
    ys_json *facts = NULL;
    *intact = sqlite3_column_int(row, 4) && text_at(row, 3);
    if (*intact && store->version < 2)
        status = ys_db_json(store, row, 3, &facts);
    ys_json_free(facts);
    *intact = *intact && status == YS_OK;
    if (!*intact && (status == YS_OK || status == YS_EFORMAT)) {
        ys_row_note_run(store, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), text_at(row, 6));
        return YS_OK;
    }
    return status;
}

static ys_status read_metrics(struct ys_store *store, sqlite3_stmt *row, const struct ys_run_reader *reader,
                              bool *damaged)
{
    for (;;) {
        bool more;
        YS_TRY(ys_db_step(store, row, &more));
        if (!more)
            return YS_OK;
        const bool has_value = sqlite3_column_type(row, 0) != SQLITE_NULL;
        const struct ys_metric_row metric = {.position = sqlite3_column_int64(row, YS_METRIC_COLUMN_COUNT),
                                             .name = text_at(row, YS_METRIC_COLUMN_COUNT + 1),
                                             .value = has_value ? sqlite3_column_double(row, 0) : (double)NAN,
                                             .store = store,
                                             .row = row};
        *damaged = !sqlite3_column_int(row, YS_METRIC_COLUMN_COUNT + 2) || !metric.name;
        YS_TRY(reader->metric(reader->context, *damaged ? NULL : &metric));
        if (*damaged)
            return YS_OK;
    }
}

/* Metrics are a cache of what facts and series say: where one is damaged there are none, and readers make them. */
static ys_status read_metrics_of(struct ys_store *store, int64_t run_id, const struct ys_run_reader *reader)
{
    sqlite3_stmt *statement;
    bool damaged = false;
    YS_TRY(ys_db_prepare_kept(store, YS_KEPT_METRICS, &statement,
                              "SELECT " YS_METRIC_COLUMNS ", position, name, " YS_METRIC_INTACT
                              " FROM metric WHERE run_id = ?1 AND (?2 IS NULL OR name IN (?2, ?3))",
                              "itt", run_id, reader->names[0], reader->names[1]));
    ys_status status = read_metrics(store, statement, reader, &damaged);
    ys_db_keep(statement);
    if (damaged)
        ys_row_note(store, YS_ROW_METRIC, run_id, "a metric of run %lld is damaged: all of them are computed again",
                    (long long)run_id);
    return status;
}

static ys_status read_run(struct ys_store *store, sqlite3_stmt *row, const struct ys_run_reader *reader)
{
    bool intact;
    YS_TRY(check_run(store, row, &intact));
    if (!intact)
        return YS_OK;
    const struct ys_run_row run = {.run_id = sqlite3_column_int64(row, 0),
                                   .round = sqlite3_column_int64(row, 1),
                                   .attempt = sqlite3_column_int64(row, 2),
                                   .status = text_at(row, 5),
                                   .facts = text_at(row, 3),
                                   .facts_size = (size_t)sqlite3_column_bytes(row, 3)};
    YS_TRY(reader->run(reader->context, &run));
    return reader->metric ? read_metrics_of(store, run.run_id, reader) : YS_OK;
}

ys_status ys_store_runs_each(struct ys_store *store, int64_t trial_id, const struct ys_run_reader *reader)
{
    sqlite3_stmt *statement;
    YS_TRY(query_runs(store, trial_id, &statement));
    ys_status status = YS_OK;
    for (bool more = true; status == YS_OK && more;) {
        status = ys_db_step(store, statement, &more);
        if (status == YS_OK && more)
            status = read_run(store, statement, reader);
    }
    ys_db_keep(statement);
    return status;
}

/* Runs as JSON: one is put together when it has all of its metrics, which is when the next one comes. */
struct run_reader {
    struct ys_store *store;
    ys_json *runs, *run; /* `run`: the last one, not in `runs` yet; NULL */
    struct member {
        int64_t position;
        char *name;
        ys_json *metric;
    } * members; /* of its metrics */
    size_t count, capacity;
};

static void forget_metrics(struct run_reader *all)
{
    for (size_t i = 0; i < all->count; i++) {
        ys_free(all->members[i].name);
        ys_json_free(all->members[i].metric);
    }
    all->count = 0;
}

static int by_position(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

static void end_run(struct run_reader *all)
{
    if (!all->run)
        return;
    ys_json *metrics = ys_json_object();
    if (all->count > 1)
        qsort(all->members, all->count, sizeof *all->members, by_position);
    for (size_t i = 0; i < all->count; i++)
        ys_json_set(metrics, all->members[i].name, ys_json_ref(all->members[i].metric));
    forget_metrics(all);
    ys_json_set(all->run, "metrics", metrics);
    ys_json_append(all->runs, all->run);
    all->run = NULL;
}

static ys_status gather_run(void *context, const struct ys_run_row *row)
{
    struct run_reader *all = context;
    ys_json *facts = NULL;
    end_run(all);
    YS_TRY(ys_json_parse(row->facts, row->facts_size, all->store->path, &facts));
    all->run = ys_json_object();
    ys_json_set_int(all->run, "run_id", row->run_id);
    ys_json_set_int(all->run, "round", row->round);
    ys_json_set_int(all->run, "attempt", row->attempt);
    ys_json_set_string(all->run, "status", row->status);
    ys_json_set(all->run, "facts", facts);
    return YS_OK;
}

static ys_status gather_metric(void *context, const struct ys_metric_row *row)
{
    struct run_reader *all = context;
    if (!row) {
        forget_metrics(all);
        return YS_OK;
    }
    ys_json *metric = NULL;
    YS_TRY(ys_metric_row_json(row, &metric));
    all->members = ys_grown(all->members, all->count, &all->capacity, sizeof *all->members);
    all->members[all->count++] = (struct member){row->position, ys_strdup(row->name), metric};
    return YS_OK;
}

ys_status ys_store_runs_get(struct ys_store *store, int64_t trial_id, ys_json **runs)
{
    struct run_reader all = {.store = store, .runs = ys_json_array()};
    const struct ys_run_reader reader = {&all, {NULL}, gather_run, gather_metric};
    ys_status status = ys_store_runs_each(store, trial_id, &reader);
    if (status == YS_OK)
        end_run(&all);
    forget_metrics(&all);
    ys_free(all.members);
    ys_json_free(all.run);
    if (status == YS_OK)
        *runs = all.runs;
    else
        ys_json_free(all.runs);
    return status;
}
