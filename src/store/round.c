/* Which rounds are complete, and where to go on. */
#include "store/store.h"

#include "base/mem.h"
#include "store/database.h"

#include <stdlib.h>
#include <string.h>

enum outcome { OUTCOME_OK, OUTCOME_FAILED, OUTCOME_UNSUPPORTED, OUTCOME_CANCELLED };

struct ran {
    int64_t trial, round;
    int attempt;
    enum outcome outcome;
};

struct study_runs {
    struct ran *runs; /* by round, attempt, trial */
    size_t run_count;
    int64_t *trials; /* those that can run */
    size_t trial_count;
};

/* Trials that can run have no status of their own, or ok. Their documents are large, so the database looks into them.
 */
static ys_status load_trials(struct ys_store *store, int64_t study_id, struct study_runs *study)
{
    sqlite3_stmt *statement;
    size_t capacity = 0;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT id FROM trial WHERE study_id = ? AND coalesce(json_extract(doc, '$.status'), 'ok') = "
                         "'ok' ORDER BY position, id",
                         "i", study_id));
    ys_status status = YS_OK;
    for (;;) {
        bool more = false;
        status = ys_db_step(store, statement, &more);
        if (status != YS_OK || !more)
            break;
        if (study->trial_count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            int64_t *trials = ys_realloc(study->trials, capacity, sizeof *trials);
            if (!trials) {
                status = ys_out_of_memory();
                break;
            }
            study->trials = trials;
        }
        study->trials[study->trial_count++] = sqlite3_column_int64(statement, 0);
    }
    ys_db_finish(statement);
    return status;
}

static enum outcome outcome_of(const char *status)
{
    static const char *const words[] = {"ok", "", "unsupported", "cancelled"};
    for (int i = 0; status && i < 4; i++) {
        if (strcmp(status, words[i]) == 0)
            return (enum outcome)i;
    }
    return OUTCOME_FAILED;
}

static ys_status load_runs(struct ys_store *store, int64_t study_id, struct study_runs *study)
{
    sqlite3_stmt *statement;
    size_t capacity = 0;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT trial_id, round, attempt, run.status FROM run JOIN trial ON trial.id = trial_id "
                         "WHERE study_id = ? ORDER BY round, attempt, trial_id",
                         "i", study_id));
    ys_status status = YS_OK;
    for (;;) {
        bool more = false;
        status = ys_db_step(store, statement, &more);
        if (status != YS_OK || !more)
            break;
        if (study->run_count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct ran *runs = ys_realloc(study->runs, capacity, sizeof *runs);
            if (!runs) {
                status = ys_out_of_memory();
                break;
            }
            study->runs = runs;
        }
        study->runs[study->run_count++] =
            (struct ran){sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
                         sqlite3_column_int(statement, 2), outcome_of((const char *)sqlite3_column_text(statement, 3))};
    }
    ys_db_finish(statement);
    return status;
}

/* What a trial cannot do it will not do next time; nor what failed twice and never went well. */
static bool given_up(const struct study_runs *study, int64_t trial, int64_t round)
{
    int failures = 0, successes = 0;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct ran *run = &study->runs[i];
        if (run->trial != trial || run->round >= round)
            continue;
        if (run->outcome == OUTCOME_UNSUPPORTED)
            return true;
        failures += run->outcome == OUTCOME_FAILED;
        successes += run->outcome == OUTCOME_OK;
    }
    return failures >= 2 && successes == 0;
}

static int by_place(const void *a, const void *b)
{
    const struct ran *x = a, *y = b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    return (x->trial > y->trial) - (x->trial < y->trial);
}

/* A run that was cancelled is one that still has to be made. */
static bool has_run(const struct study_runs *study, int64_t trial, int64_t round, int attempt)
{
    const struct ran wanted = {.trial = trial, .round = round, .attempt = attempt};
    const struct ran *run =
        study->run_count ? bsearch(&wanted, study->runs, study->run_count, sizeof wanted, by_place) : NULL;
    return run && run->outcome != OUTCOME_CANCELLED;
}

static ys_status add_round(const struct study_runs *study, int64_t round, int attempt, ys_json *rounds)
{
    int64_t expected = 0, present = 0;
    bool complete = true;
    for (size_t i = 0; i < study->trial_count; i++) {
        bool ran = has_run(study, study->trials[i], round, attempt);
        bool wanted = ran || !given_up(study, study->trials[i], round);
        expected += wanted;
        present += ran;
        complete = complete && (ran || !wanted);
    }
    ys_json *object = ys_json_object();
    if (!object)
        return ys_out_of_memory();
    ys_status status = ys_json_set_int(object, "round", round);
    if (status == YS_OK)
        status = ys_json_set_int(object, "attempt", attempt);
    if (status == YS_OK)
        status = ys_json_set_int(object, "expected", expected);
    if (status == YS_OK)
        status = ys_json_set_int(object, "present", present);
    if (status == YS_OK)
        status = ys_json_set_bool(object, "complete", complete);
    if (status == YS_OK)
        return ys_json_append(rounds, object);
    ys_json_free(object);
    return status;
}

ys_status ys_store_rounds(struct ys_store *store, int64_t study_id, ys_json **rounds)
{
    struct study_runs study = {0};
    ys_json *result = ys_json_array();
    ys_status status = result ? load_trials(store, study_id, &study) : ys_out_of_memory();
    if (status == YS_OK)
        status = load_runs(store, study_id, &study);
    for (size_t i = 0; status == YS_OK && i < study.run_count; i++) {
        /* The last run of a round is one of its highest attempt. */
        if (i + 1 == study.run_count || study.runs[i + 1].round != study.runs[i].round)
            status = add_round(&study, study.runs[i].round, study.runs[i].attempt, result);
    }
    ys_free(study.runs);
    ys_free(study.trials);
    if (status == YS_OK)
        *rounds = result;
    else
        ys_json_free(result);
    return status;
}

ys_status ys_store_unfinished(struct ys_store *store, int64_t study_id, int64_t repeat, struct ys_store_next *next)
{
    ys_json *rounds;
    YS_TRY(ys_store_rounds(store, study_id, &rounds));
    struct ys_store_next result = {0, 0};
    for (size_t i = 0; i < ys_json_size(rounds) && result.round < repeat; i++) {
        const ys_json *round = ys_json_at(rounds, i);
        if (ys_json_get_int(round, "round", -1) != result.round)
            break; /* a round of which nothing is stored */
        if (!ys_json_get_bool(round, "complete", false)) {
            result.attempt = (int)ys_json_get_int(round, "attempt", 0) + 1;
            break;
        }
        result.round++;
    }
    ys_json_free(rounds);
    *next = result;
    return YS_OK;
}
