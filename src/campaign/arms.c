#include "campaign/arms.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "job/settings.h"
#include "metric/metric.h"
#include "store/stored_trial.h"

#include <math.h>
#include <string.h>

ys_status ys_arms_open(const struct ys_arms_wish *wish, struct ys_arms *arms)
{
    struct ys_study_settings keys;
    *arms = (struct ys_arms){.job = *wish->job,
                             .options = {.recipe_dirs = wish->recipe_dirs,
                                         .own_recipe_dirs = wish->own_recipe_dirs,
                                         .command = wish->command,
                                         .unproven = wish->unproven},
                             .count = ys_json_size(wish->job->trials),
                             .store = wish->store,
                             .deadline_ns = wish->deadline_ns};
    *wish->job = (struct ys_job){0};
    ys_study_settings_read(arms->job.study, &keys);
    arms->seed = keys.seed;
    ys_metric_infos(&arms->metrics);
    arms->items = ys_alloc(arms->count + 1, sizeof *arms->items);
    if (arms->store)
        return YS_OK;
    YS_TRY(ys_working_in_cache("arms", &arms->working));
    return ys_store_open(arms->working.path, YS_STORE_WRITE, &arms->store);
}

void ys_arms_close(struct ys_arms *arms)
{
    for (size_t i = 0; arms->items && i < arms->count; i++) {
        ys_free(arms->items[i].reason);
        ys_free(arms->items[i].values);
        ys_free(arms->items[i].again);
    }
    ys_free(arms->items);
    ys_result_fini(&arms->last);
    if (arms->working.path)
        ys_store_close(arms->store);
    ys_working_remove(&arms->working);
    ys_job_fini(&arms->job);
    *arms = (struct ys_arms){0};
}

/* Of a trial that could not begin any run all failed, unless there was only no time for one. */
static void count_runs(const struct ys_arms *arms, const struct ys_result_trial *trial, size_t rounds,
                       struct ys_arm *arm)
{
    const bool none_ran = trial->runs == 0 && !arms->is_late;
    if (!arm->disproved && !arm->failed) {
        ys_free(arm->reason);
        arm->status = trial->status;
        arm->reason = ys_strdup(trial->reason);
    }
    arm->runs += none_ran ? (int64_t)rounds : trial->runs;
    arm->failed += none_ran ? (int64_t)rounds : trial->failed;
    arm->disproved |= ys_stored_verdict(trial->proof) == YS_PROOF_FAIL;
}

/* `count` entries of all metrics of the trial, of rounds or of attempts that were run again, behind the `kept`. */
static void keep_values(const struct ys_arms *arms, const struct ys_result_trial *trial, bool of_again, size_t count,
                        size_t kept, struct ys_arms_value **list)
{
    struct ys_arms_value *values = ys_realloc(*list, (kept + count) * arms->metrics + 1, sizeof *values);
    *list = values;
    values += kept * arms->metrics;
    for (size_t i = 0; i < count * arms->metrics; i++) {
        const struct ys_trial_metric *metric = &trial->values[i % arms->metrics];
        const size_t at = i / arms->metrics, entry = of_again ? metric->rounds + at : at;
        const bool is_there = at < (of_again ? metric->again : metric->rounds);
        values[i] = (struct ys_arms_value){.value = is_there ? metric->by_round[entry] : NAN,
                                           .bias = is_there && metric->bias ? metric->bias[entry] : 0,
                                           .taken = is_there && metric->taken ? metric->taken[entry] : 0};
    }
}

static size_t again_of(const struct ys_arms *arms, const struct ys_result_trial *trial)
{
    size_t most = 0;
    for (size_t m = 0; m < arms->metrics; m++)
        most = trial->values[m].again > most ? trial->values[m].again : most;
    return most;
}

/* How its rounds shared the machine those of the next part do. */
static ys_status read_part(struct ys_arms *arms, size_t rounds)
{
    ys_result_fini(&arms->last);
    YS_TRY(ys_metric_result_load(arms->store, arms->study_id, YS_RESULT_AXES, &arms->last));
    const struct ys_result_trial *trials = arms->last.trials;
    if (arms->last.trial_count != arms->count)
        return ys_fail(YS_EINTERNAL, "a study of %zu arms has %zu trials", arms->count, arms->last.trial_count);
    size_t complete = rounds, again = again_of(arms, trials);
    for (size_t i = 1; i < arms->count; i++)
        again = again_of(arms, &trials[i]) == again ? again : 0;
    for (size_t i = 0; i < arms->count; i++) {
        const size_t run = trials[i].values->rounds;
        complete = arms->is_late && run < complete ? run : complete;
        count_runs(arms, &trials[i], rounds, &arms->items[i]);
        keep_values(arms, &trials[i], false, rounds, arms->rounds, &arms->items[i].values);
        keep_values(arms, &trials[i], true, again, arms->again, &arms->items[i].again);
    }
    arms->rounds += rounds;
    arms->again += again;
    arms->complete += complete;
    const char *interleave = arms->last.study.interleave;
    arms->by_turns = ys_name_find(&ys_interleaves, interleave) == YS_INTERLEAVE_BLOCKS;
    ys_json_set_string(arms->job.study, "interleave", interleave);
    return YS_OK;
}

ys_status ys_arms_measure(struct ys_arms *arms, int rounds)
{
    const double left_s = ((double)arms->deadline_ns - (double)ys_time_ns()) * 1e-9;
    int exit_code = 0;
    arms->is_late = arms->deadline_ns && left_s <= 0;
    if (arms->is_late)
        return YS_OK;
    if (arms->deadline_ns)
        ys_json_set_real(arms->job.study, "time_limit_s", left_s);
    ys_json_set_int(arms->job.study, "repeat", rounds);
    ys_json_set_int(arms->job.study, "seed", arms->seed);
    YS_TRY(ys_study_run(&arms->job, &arms->options, arms->store, &arms->study_id, &exit_code));
    if (ys_stop_signal())
        return ys_stopped();
    arms->seed += rounds;
    arms->is_late = exit_code == YS_EXIT_TIME_LIMIT;
    return read_part(arms, (size_t)rounds);
}

struct ys_arms_value ys_arms_value(const struct ys_arms *arms, size_t arm, size_t metric, size_t round)
{
    return arms->items[arm].values[round * arms->metrics + metric];
}

struct ys_arms_value ys_arms_again(const struct ys_arms *arms, size_t arm, size_t metric, size_t attempt)
{
    return arms->items[arm].again[attempt * arms->metrics + metric];
}

/* ---- the job */

static const char *said_of(const struct ys_job_flag *flags, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(flags[i].key, key) == 0)
            return flags[i].value;
    return NULL;
}

/* Whether the user says it himself, or in another word for how long a run is. */
static bool is_said(const struct ys_job_flag *flags, size_t count, const char *key)
{
    bool has_length = false;
    for (size_t i = 0; i < count; i++)
        has_length |= ys_mode_of_length(flags[i].key) != YS_NAME_NONE;
    return said_of(flags, count, key) || (has_length && strcmp(key, "steps") == 0);
}

static bool is_set(const struct ys_arms_key *keys, const char *key)
{
    for (; keys->key; keys++)
        if (keys->kind == YS_ARMS_SET && strcmp(keys->key, key) == 0)
            return true;
    return false;
}

/* All of them borrowed: the job only reads them. */
static ys_status gather(const struct ys_job_flag *flags, size_t count, const struct ys_arms_key *keys,
                        struct ys_job_flag *all, size_t *all_count)
{
    *all_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_set(keys, flags[i].key))
            all[(*all_count)++] = flags[i];
    for (; keys->key; keys++) {
        if (keys->kind == YS_ARMS_OURS && said_of(flags, count, keys->key))
            return ys_fail(YS_EINVAL, "--%s is not yours to choose here: this measurement sets it to %s", keys->key,
                           keys->value);
        if (keys->kind != YS_ARMS_USUAL || !is_said(flags, count, keys->key))
            all[(*all_count)++] = (struct ys_job_flag){(char *)(uintptr_t)keys->key, (char *)(uintptr_t)keys->value,
                                                       .yields = keys->kind == YS_ARMS_USUAL};
    }
    return YS_OK;
}

ys_status ys_arms_load(const char *path, const struct ys_job_flag *flags, size_t count, const struct ys_arms_key *keys,
                       const char *const *recipe_dirs, size_t arms, struct ys_job *job)
{
    const struct ys_job_hooks hooks = ys_study_job_hooks(recipe_dirs);
    size_t own = 0, all_count;
    while (keys[own].key)
        own++;
    struct ys_job_flag *all = ys_alloc(count + own + 1, sizeof *all);
    ys_status status = gather(flags, count, keys, all, &all_count);
    if (status == YS_OK)
        status = ys_job_load(path, all, all_count, &hooks, job);
    ys_free(all);
    YS_TRY(status);
    const size_t found = ys_json_size(job->trials);
    if (found == arms)
        return YS_OK;
    ys_job_fini(job);
    return ys_fail(YS_EINVAL, "%zu trials where %zu are measured, each of one trial: give each key one value", found,
                   arms);
}
