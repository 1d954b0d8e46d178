#include "study/again.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/working.h"
#include "metric/metric.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of one metric of one run, as of struct ys_trial_metric. */
struct fresh {
    double value, bias, taken;
};

struct side {
    const struct ys_result_trial *trial;
    struct ys_job job;
    const char **recipe_dirs; /* owned; ended by NULL */
    char *folder;             /* owned: of its own recipe; NULL */
    struct fresh *values;     /* [round * metrics + metric] */
    size_t rounds;
};

struct ys_again {
    struct side sides[2];
    struct ys_working working;
    struct ys_store *store;
    int64_t seed;
    uint64_t deadline_ns;
    size_t metrics;
};

/* Keys of a study of one run, of which nobody sees more than the numbers. */
static const char frame[] =
    "version = 1\nname = again\nrepeat = 1\naudit = off\nanchor = off\nmax_runs = 1\n\n[again]\n"
    "framework = builtin\nmodel = mlp\ndata = digits\n";

static ys_status make_job(const struct ys_result_trial *trial, const char *on_disturbance, struct ys_job *job)
{
    struct ys_trial_record record;
    YS_TRY(ys_job_parse("again", frame, sizeof frame - 1, NULL, 0, NULL, job));
    ys_status status = on_disturbance ? ys_json_set_string(job->study, "on_disturbance", on_disturbance) : YS_OK;
    ys_record_init(&ys_trial_record, &record); /* borrows everything below */
    record.id = trial->id;
    record.index = 0;
    record.section = trial->section;
    record.factors = trial->factors;
    record.keys = trial->keys;
    record.options = trial->options;
    record.env = trial->env;
    ys_json_free(job->trials);
    job->trials = ys_json_array();
    if (status == YS_OK)
        status = job->trials ? ys_json_append(job->trials, ys_trial_record_job_json(&record)) : ys_out_of_memory();
    if (status != YS_OK)
        ys_job_fini(job);
    return status;
}

static size_t count_of(const char *const *texts)
{
    size_t count = 0;
    while (texts && texts[count])
        count++;
    return count;
}

/* The folder of the trial's own recipe first. *reason: it is not there any more. */
static ys_status open_side(const struct ys_again_wish *wish, size_t at, struct side *side, char **reason)
{
    const struct ys_result_trial *trial = side->trial = wish->trials[at];
    const char *recipe = trial->framework ? trial->framework->recipe : NULL;
    const size_t count = count_of(wish->recipe_dirs);
    size_t taken = 0;
    side->recipe_dirs = ys_alloc(count + 2, sizeof *side->recipe_dirs);
    if (!side->recipe_dirs)
        return ys_out_of_memory();
    if (recipe && !ys_fs_exists(recipe)) {
        *reason = ys_format("%s cannot be run here: its recipe %s is not there", trial->id, recipe);
        return *reason ? YS_OK : ys_out_of_memory();
    }
    if (recipe) {
        side->folder = ys_strndup(recipe, (size_t)(ys_path_base(recipe) - recipe));
        if (!side->folder)
            return ys_out_of_memory();
        side->recipe_dirs[taken++] = side->folder;
    }
    for (size_t i = 0; i < count; i++)
        side->recipe_dirs[taken++] = wish->recipe_dirs[i];
    return make_job(trial, wish->on_disturbance, &side->job);
}

ys_status ys_again_open(const struct ys_again_wish *wish, struct ys_again **again, char **reason)
{
    struct ys_again *made = ys_alloc(1, sizeof *made);
    *again = NULL;
    *reason = NULL;
    if (!made)
        return ys_out_of_memory();
    made->seed = wish->seed;
    made->deadline_ns = wish->deadline_ns;
    ys_metric_infos(&made->metrics);
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && !*reason && i < 2; i++)
        status = open_side(wish, i, &made->sides[i], reason);
    if (status == YS_OK && !*reason)
        status = ys_working_in_cache("judge", &made->working);
    if (status == YS_OK && !*reason)
        status = ys_store_open(made->working.path, YS_STORE_WRITE, &made->store);
    if (status != YS_OK || *reason) {
        ys_again_close(made);
        return status;
    }
    *again = made;
    return YS_OK;
}

void ys_again_close(struct ys_again *again)
{
    if (!again)
        return;
    ys_store_close(again->store);
    if (again->working.path)
        ys_working_remove(&again->working);
    for (size_t i = 0; i < 2; i++) {
        struct side *side = &again->sides[i];
        if (side->job.study)
            ys_job_fini(&side->job);
        ys_free(side->recipe_dirs);
        ys_free(side->folder);
        ys_free(side->values);
    }
    ys_free(again);
}

/* What ran now is what ran then: the same recipe, adapter and packages. */
static char *change_of(const struct ys_result_trial *then, const struct ys_result_trial *now)
{
    const char *was = then->framework ? then->framework->closure : NULL,
               *is = now->framework ? now->framework->closure : NULL;
    if (!was || !is || strcmp(was, is) == 0)
        return NULL;
    return ys_format("%s cannot be run again as it was: its recipe, adapter or packages have changed since", then->id);
}

static char *failure_of(const struct ys_result_trial *then, const struct ys_result_trial *now)
{
    if (now->runs > now->failed)
        return NULL;
    return ys_format("a fresh run of %s did not succeed: %s", then->id,
                     now->reason ? now->reason : ys_name_of(&ys_run_statuses, now->status));
}

static ys_status keep_values(struct ys_again *again, struct side *side, const struct ys_result *result, char **reason)
{
    const struct ys_result_trial *now = result->trials;
    struct fresh *values = ys_realloc(side->values, (side->rounds + 1) * again->metrics, sizeof *values);
    if (!values)
        return ys_out_of_memory();
    side->values = values;
    values += side->rounds * again->metrics;
    for (size_t m = 0; m < again->metrics; m++) {
        const struct ys_trial_metric *of = &now->values[m];
        values[m] = (struct fresh){of->n ? of->by_round[0] : NAN, of->n && of->bias ? of->bias[0] : 0,
                                   of->n && of->taken ? of->taken[0] : 0};
    }
    side->rounds++;
    *reason = change_of(side->trial, now);
    if (!*reason)
        *reason = failure_of(side->trial, now);
    return YS_OK;
}

static ys_status run_side(struct ys_again *again, struct side *side, int64_t round, char **reason)
{
    const struct ys_study_options options = {.recipe_dirs = side->recipe_dirs, .command = "yardstick --confirm"};
    struct ys_result result = {0};
    int64_t study_id = 0;
    int exit_code = 0;
    YS_TRY(ys_json_set_int(side->job.study, "seed", again->seed + round));
    YS_TRY(ys_study_run(&side->job, &options, again->store, &study_id, &exit_code));
    if (ys_stop_signal())
        return ys_stopped();
    YS_TRY(ys_metric_result_load(again->store, study_id, YS_RESULT_AXES, &result));
    ys_status status = keep_values(again, side, &result, reason);
    ys_result_fini(&result);
    return status;
}

ys_status ys_again_measure(struct ys_again *again, size_t rounds, char **reason)
{
    ys_status status = YS_OK;
    *reason = NULL;
    while (status == YS_OK && !*reason && ys_again_rounds(again) < rounds) {
        const size_t round = ys_again_rounds(again), first = round % 4 == 1 || round % 4 == 2; /* A B, B A, B A, A B */
        if (again->deadline_ns && ys_time_ns() >= again->deadline_ns)
            break;
        status = run_side(again, &again->sides[first], (int64_t)round, reason);
        if (status == YS_OK && !*reason)
            status = run_side(again, &again->sides[!first], (int64_t)round, reason);
    }
    return status;
}

size_t ys_again_rounds(const struct ys_again *again)
{
    const size_t a = again->sides[0].rounds, b = again->sides[1].rounds;
    return a < b ? a : b;
}

void ys_again_values(const struct ys_again *again, const char *metric, struct ys_compare_rounds *rounds)
{
    size_t count, n = 0;
    const struct ys_metric_info *info = ys_metric_find(metric);
    const size_t place = (size_t)(info - ys_metric_infos(&count));
    for (size_t r = 0; r < ys_again_rounds(again); r++) {
        const struct fresh *one = &again->sides[0].values[r * again->metrics + place],
                           *other = &again->sides[1].values[r * again->metrics + place];
        if (!isfinite(one->value) || !isfinite(other->value))
            continue;
        rounds->a[n] = other->value;
        rounds->b[n] = one->value;
        rounds->bias[n] = other->bias - one->bias;
        rounds->of_a[n] = other->taken;
        rounds->of_b[n++] = one->taken;
    }
    rounds->n = n;
    if (!info->of_steady)
        rounds->bias = NULL;
}
