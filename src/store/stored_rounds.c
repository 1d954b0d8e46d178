/* Which runs there are of each round, and which rounds are complete. */
#include "store/store.h"

#include "base/mem.h"
#include "protocol/run_status.h"
#include "store/stored_rows.h"

#include <string.h>

struct expected {
    int64_t trial_id, until; /* the last round in which it is waited for */
    bool present;            /* in the round that is being looked at */
};

struct study_trials {
    struct expected *items;
    size_t count;
};

static ys_status read_expected(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    (void)store;
    bool until = sqlite3_column_type(row, 1) == SQLITE_INTEGER;
    ys_json_set_int(object, "trial_id", sqlite3_column_int64(row, 0));
    ys_json_set_int(object, "until", until ? sqlite3_column_int64(row, 1) : INT64_MAX);
    return YS_OK;
}

/* Trials that can run have no status of their own, or ok. Their documents are large, so the database looks into them;
 * who reads them (ys_store_trials_get) is told where one is damaged. */
static ys_status load_trials(struct ys_store *store, int64_t study_id, struct study_trials *trials)
{
    sqlite3_stmt *statement;
    ys_json *rows;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT id, json_extract(doc, '$.given_up.round') FROM trial WHERE study_id = ? AND "
                         "json_valid(doc) AND coalesce(json_extract(doc, '$.status'), 'ok') = 'ok' "
                         "ORDER BY position, id",
                         "i", study_id));
    YS_TRY(ys_db_collect(store, statement, read_expected, &rows));
    trials->items = ys_alloc(ys_json_size(rows), sizeof *trials->items);
    for (size_t i = 0; i < ys_json_size(rows); i++) {
        const ys_json *row = ys_json_at(rows, i);
        trials->items[trials->count++] = (struct expected){.trial_id = ys_json_get_int(row, "trial_id", 0),
                                                           .until = ys_json_get_int(row, "until", INT64_MAX)};
    }
    ys_json_free(rows);
    return YS_OK;
}

static ys_status read_try(struct ys_store *store, sqlite3_stmt *row, ys_json *object)
{
    int64_t id = sqlite3_column_int64(row, 4), round = sqlite3_column_int64(row, 1);
    bool intact = sqlite3_column_int(row, 5) != 0;
    if (!intact)
        ys_row_note_run(store, id, round, (const char *)sqlite3_column_text(row, 6));
    ys_json_set_int(object, "trial_id", sqlite3_column_int64(row, 0));
    ys_json_set_int(object, "round", round);
    ys_json_set_int(object, "attempt", sqlite3_column_int64(row, 2));
    ys_json_set_string(object, "status", intact ? (const char *)sqlite3_column_text(row, 3) : NULL);
    return YS_OK;
}

ys_status ys_store_tries(struct ys_store *store, int64_t study_id, ys_json **tries)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT trial_id, round, attempt, run.status, run.id, " YS_RUN_INTACT
                         ", trial.name FROM run JOIN trial ON trial.id = trial_id WHERE study_id = ? "
                         "ORDER BY round, attempt, run.id",
                         "i", study_id));
    return ys_db_collect(store, statement, read_try, tries);
}

ys_status ys_store_run_find(struct ys_store *store, int64_t trial_id, int64_t round, int64_t *run_id)
{
    sqlite3_stmt *statement;
    bool more = false;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT id FROM run WHERE trial_id = ? AND round = ? AND status = 'ok' AND " YS_RUN_INTACT
                         " ORDER BY attempt DESC LIMIT 1",
                         "ii", trial_id, round));
    ys_status status = ys_db_step(store, statement, &more);
    if (status == YS_OK && more)
        *run_id = sqlite3_column_int64(statement, 0);
    ys_db_finish(statement);
    if (status == YS_OK && !more)
        status = ys_fail(YS_ENOTFOUND, "round %lld of this trial has no run that ended well", (long long)round + 1);
    return status;
}

/* Marks the trials with a run in tries `from` to `to`, all of one round and attempt. One that was cancelled still has
 * to be made, and one that is damaged is none. */
static void mark_present(struct study_trials *trials, const ys_json *tries, size_t from, size_t to)
{
    for (size_t t = 0; t < trials->count; t++)
        trials->items[t].present = false;
    for (size_t i = from; i < to; i++) {
        const ys_json *tried = ys_json_at(tries, i);
        const char *status = ys_json_get_text(tried, "status", NULL);
        int64_t trial_id = ys_json_get_int(tried, "trial_id", 0);
        for (size_t t = 0; status && strcmp(status, ys_run_status_name(YS_RUN_CANCELLED)) != 0 && t < trials->count;
             t++)
            trials->items[t].present |= trials->items[t].trial_id == trial_id;
    }
}

static void add_round(const struct study_trials *trials, const ys_json *last, bool done, struct ys_store_rounds *rounds)
{
    struct ys_store_round *made = &rounds->items[rounds->count++];
    *made = (struct ys_store_round){.round = ys_json_get_int(last, "round", 0),
                                    .attempt = ys_json_get_int(last, "attempt", 0)};
    for (size_t t = 0; t < trials->count; t++) {
        const struct expected *trial = &trials->items[t];
        made->present += trial->present;
        made->expected += trial->present || (!done && made->round <= trial->until);
    }
    made->complete = made->present == made->expected;
}

static void make_rounds(struct study_trials *trials, const ys_json *tries, bool done, struct ys_store_rounds *rounds)
{
    size_t begin = 0, count = ys_json_size(tries);
    rounds->items = ys_alloc(count, sizeof *rounds->items);
    for (size_t i = 0; i < count; i++) {
        const ys_json *here = ys_json_at(tries, i), *next = ys_json_at(tries, i + 1);
        bool same_round = next && ys_json_get_int(next, "round", 0) == ys_json_get_int(here, "round", 0);
        bool same_attempt = same_round && ys_json_get_int(next, "attempt", 0) == ys_json_get_int(here, "attempt", 0);
        if (!same_round) { /* the last run of a round is one of its highest attempt */
            mark_present(trials, tries, begin, i + 1);
            add_round(trials, here, done, rounds);
        }
        if (!same_attempt)
            begin = i + 1;
    }
}

ys_status ys_store_rounds(struct ys_store *store, int64_t study_id, struct ys_store_rounds *rounds)
{
    struct study_trials trials = {0};
    ys_json *study = NULL, *tries = NULL;
    *rounds = (struct ys_store_rounds){0};
    ys_status status = ys_store_study_get(store, study_id, &study);
    if (status == YS_OK)
        status = load_trials(store, study_id, &trials);
    if (status == YS_OK)
        status = ys_store_tries(store, study_id, &tries);
    /* Of a study that is done nothing is waited for, also where it is of a time when giving up was not recorded. */
    bool done = strcmp(ys_json_get_text(study, "status", ""), ys_name_of(&ys_study_states, YS_STUDY_DONE)) == 0;
    if (status == YS_OK)
        make_rounds(&trials, tries, done, rounds);
    ys_free(trials.items);
    ys_json_free(tries);
    ys_json_free(study);
    return status;
}

ys_status ys_store_wall_s(struct ys_store *store, int64_t study_id, double *seconds, int64_t *runs)
{
    sqlite3_stmt *statement;
    bool more = false;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT total(metric.value), count(*) FROM metric JOIN run ON run.id = run_id JOIN trial ON "
                         "trial.id = trial_id WHERE study_id = ? AND metric.name = 'wall_s' AND " YS_METRIC_INTACT,
                         "i", study_id));
    ys_status status = ys_db_step(store, statement, &more);
    if (status == YS_OK)
        *seconds = more ? sqlite3_column_double(statement, 0) : 0;
    if (status == YS_OK && runs)
        *runs = more ? sqlite3_column_int64(statement, 1) : 0;
    ys_db_finish(statement);
    return status;
}
