#include "study/past_runs.h"

#include "base/mem.h"

#include <string.h>

#define MOST_ATTEMPTS 1000000 /* a number above it is none that yardstick gave */

void ys_past_runs_count(struct ys_trial *trial, int64_t round, enum ys_run_status status)
{
    /* One that did not meet its target did all that it was asked for. */
    bool lacks = status == YS_RUN_UNSUPPORTED, ok = status == YS_RUN_OK || status == YS_RUN_NOT_CONVERGED;
    trial->successes += ok;
    trial->failures += !ok && status != YS_RUN_CANCELLED;
    trial->last_round = round;
    trial->reached = round >= trial->reached ? round + 1 : trial->reached;
    trial->given_up = NULL;
    /* What an adapter cannot do it will not do next time either; two failures and no success are enough evidence too.
     */
    if (lacks)
        trial->given_up = "said that it cannot do this";
    else if (trial->failures >= 2 && !trial->successes)
        trial->given_up = "failed twice and never ended well";
}

static struct ys_trial *find_trial(struct ys_study *study, int64_t id, size_t *index)
{
    for (*index = 0; *index < study->set.count; ++*index)
        if (study->set.items[*index].record.trial_id == id)
            return &study->set.items[*index];
    return NULL;
}

struct tried {
    int64_t trial_id, round, attempt;
    int status; /* enum ys_run_status */
};
#define TRIED(member, what) YS_FIELD(struct tried, member, YS_FIELD_INT, NULL, YS_FIELD_NULL, what)
static const struct ys_field tried_fields[] = {
    TRIED(trial_id, "whose it is"),
    TRIED(round, "from 0"),
    TRIED(attempt, "at that round, from 0"),
    YS_FIELD_NAMED(struct tried, status, &ys_run_statuses, YS_FIELD_NULL, "how it ended"),
};
static const struct ys_record tried_record = YS_RECORD("run", struct tried, tried_fields);

/* One stored run, in the order in which they were made. One that is damaged only keeps its number taken. */
static void count_run(struct ys_study *study, struct ys_past_runs *past, const ys_json *json)
{
    struct tried tried;
    size_t index;
    ys_record_glance(&tried_record, json, &tried);
    const int found = tried.status;
    const int64_t round = tried.round, attempt = tried.attempt;
    struct ys_trial *trial = find_trial(study, tried.trial_id, &index);
    bool placed = round >= 0 && round < past->rounds && attempt >= 0 && attempt < MOST_ATTEMPTS;
    if (placed && attempt >= past->attempts[round]) {
        past->attempts[round] = (int)attempt + 1;
        memset(past->present + (size_t)round * past->trials, 0, past->trials * sizeof *past->present);
    }
    if (found == YS_NAME_NONE || !trial)
        return;
    enum ys_run_status status = (enum ys_run_status)found;
    if (placed && attempt == past->attempts[round] - 1 && status != YS_RUN_CANCELLED)
        past->present[(size_t)round * past->trials + index] = true;
    study->runs_before += status != YS_RUN_UNSUPPORTED;
    study->run_failed |= ys_run_status_is_failure(status);
    ys_past_runs_count(trial, round, status);
}

ys_status ys_past_runs_load(struct ys_study *study, struct ys_past_runs *past)
{
    ys_json *tries = NULL;
    size_t trials = study->set.count, rounds = study->rounds > 0 ? (size_t)study->rounds : 0;
    *past = (struct ys_past_runs){.trials = trials, .rounds = (int64_t)rounds};
    past->attempts = ys_alloc(rounds, sizeof *past->attempts);
    past->present = ys_alloc(rounds, trials * sizeof *past->present);
    ys_status status = ys_store_tries(study->store, study->id, &tries);
    for (size_t i = 0; status == YS_OK && i < ys_json_size(tries); i++)
        count_run(study, past, ys_json_at(tries, i));
    ys_json_free(tries);
    if (status != YS_OK)
        ys_past_runs_free(past);
    return status;
}

void ys_past_runs_free(struct ys_past_runs *past)
{
    ys_free(past->attempts);
    ys_free(past->present);
    *past = (struct ys_past_runs){0};
}

bool ys_past_runs_want(const struct ys_past_runs *past, const struct ys_study *study, int64_t round)
{
    for (size_t i = 0; i < past->trials; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        if (ys_trial_can_run(trial) && !trial->given_up && !past->present[(size_t)round * past->trials + i])
            return true;
    }
    return false;
}

int64_t ys_past_runs_lack(const struct ys_past_runs *past, size_t index)
{
    int64_t lacking = 0;
    for (int64_t round = 0; round < past->rounds; round++)
        lacking += !past->present[(size_t)round * past->trials + index];
    return lacking;
}
