#include "campaign/confirm_rounds.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "campaign/arms.h"
#include "metric/metric.h"

#include <math.h>
#include <string.h>

struct side {
    const struct ys_result_trial *trial;
    const char **recipe_dirs; /* owned; ended by NULL */
    char *folder;             /* owned: of its own recipe; NULL */
};

struct ys_again {
    struct side sides[2];
    const char *const *dirs[2]; /* of both */
    struct ys_arms arms;
};

/* Keys of the studies, of which nobody sees more than the numbers. */
static const char frame[] =
    "version = 1\nname = again\nrepeat = 1\naudit = off\nanchor = off\nmax_runs = 2\ninterleave = auto\n\n"
    "[again]\nframework = builtin\nmodel = mlp\ndata = digits\n";

/* Both may have had one name. */
static void add_trial(const struct ys_result_trial *trial, int64_t index, ys_json *trials)
{
    struct ys_trial_record record;
    ys_record_init(&ys_trial_record, &record); /* borrows everything below */
    record.id = ys_format("%s %s", index ? "candidate" : "base", trial->id);
    record.index = index;
    record.section = trial->section;
    record.factors = trial->factors;
    record.keys = trial->keys;
    record.options = trial->options;
    record.env = trial->env;
    ys_json_append(trials, ys_trial_record_job_json(&record));
    ys_free(record.id);
}

static ys_status make_job(const struct ys_again *again, const struct ys_again_wish *wish, struct ys_job *job)
{
    YS_TRY(ys_job_parse("again", frame, sizeof frame - 1, NULL, 0, NULL, job));
    ys_json_free(job->trials);
    job->trials = ys_json_array();
    ys_json_set_int(job->study, "seed", wish->seed);
    if (wish->on_disturbance)
        ys_json_set_string(job->study, "on_disturbance", wish->on_disturbance);
    for (int64_t i = 0; i < 2; i++)
        add_trial(again->sides[i].trial, i, job->trials);
    return YS_OK;
}

static size_t count_of(const char *const *texts)
{
    size_t count = 0;
    while (texts && texts[count])
        count++;
    return count;
}

/* The folder of the trial's own recipe first. *reason: it is not there any more. */
static void open_side(const struct ys_again_wish *wish, size_t at, struct side *side, char **reason)
{
    const struct ys_result_trial *trial = side->trial = wish->trials[at];
    const char *recipe = trial->framework ? trial->framework->recipe : NULL;
    const size_t count = count_of(wish->recipe_dirs);
    size_t taken = 0;
    side->recipe_dirs = ys_alloc(count + 2, sizeof *side->recipe_dirs);
    if (recipe && !ys_fs_exists(recipe)) {
        *reason = ys_format("%s cannot be run here: its recipe %s is not there", trial->id, recipe);
        return;
    }
    if (recipe) {
        side->folder = ys_strndup(recipe, (size_t)(ys_path_base(recipe) - recipe));
        side->recipe_dirs[taken++] = side->folder;
    }
    for (size_t i = 0; i < count; i++)
        side->recipe_dirs[taken++] = wish->recipe_dirs[i];
}

static ys_status open_arms(const struct ys_again_wish *wish, struct ys_again *again)
{
    struct ys_job job;
    for (size_t i = 0; i < 2; i++)
        again->dirs[i] = again->sides[i].recipe_dirs;
    YS_TRY(make_job(again, wish, &job));
    const struct ys_arms_wish arms = {.job = &job,
                                      .own_recipe_dirs = again->dirs,
                                      .command = "yardstick --confirm",
                                      .deadline_ns = wish->deadline_ns};
    return ys_arms_open(&arms, &again->arms);
}

ys_status ys_again_open(const struct ys_again_wish *wish, struct ys_again **again, char **reason)
{
    struct ys_again *made = ys_alloc(1, sizeof *made);
    *again = NULL;
    *reason = NULL;
    ys_status status = YS_OK;
    for (size_t i = 0; !*reason && i < 2; i++)
        open_side(wish, i, &made->sides[i], reason);
    if (!*reason)
        status = open_arms(wish, made);
    if (status != YS_OK || *reason)
        ys_again_close(made);
    else
        *again = made;
    return status;
}

void ys_again_close(struct ys_again *again)
{
    if (!again)
        return;
    ys_arms_close(&again->arms);
    for (size_t i = 0; i < 2; i++) {
        ys_free(again->sides[i].recipe_dirs);
        ys_free(again->sides[i].folder);
    }
    ys_free(again);
}

/* What ran now is what ran then, the same recipe, adapter and packages, and no run of it failed. */
static void judge_side(const struct ys_again *again, size_t i, char **reason)
{
    const struct ys_result_trial *then = again->sides[i].trial, *now = &again->arms.last.trials[i];
    const struct ys_arm *arm = &again->arms.items[i];
    const char *was = then->framework ? then->framework->closure : NULL,
               *is = now->framework ? now->framework->closure : NULL;
    if (was && is && strcmp(was, is) != 0)
        *reason =
            ys_format("%s cannot be run again as it was: its recipe, adapter or packages have changed since", then->id);
    else if (arm->failed)
        *reason = ys_format("a fresh run of %s did not succeed: %s", then->id,
                            arm->reason ? arm->reason : ys_run_status_name((enum ys_run_status)arm->status));
}

ys_status ys_again_measure(struct ys_again *again, size_t rounds, char **reason)
{
    struct ys_arms *arms = &again->arms;
    *reason = NULL;
    YS_TRY(ys_arms_measure(arms, (int)(rounds - arms->rounds)));
    for (size_t i = 0; !*reason && i < arms->last.trial_count; i++)
        judge_side(again, i, reason);
    if (*reason || !arms->is_late)
        return YS_OK;
    *reason = ys_format("the budget ended after %zu rounds", arms->complete);
    return YS_OK;
}

/* Where both have a value. */
static void add_round(struct ys_arms_value base, struct ys_arms_value candidate, struct ys_compare_rounds *rounds)
{
    const size_t n = rounds->n;
    if (!isfinite(base.value) || !isfinite(candidate.value))
        return;
    rounds->a[n] = candidate.value;
    rounds->b[n] = base.value;
    rounds->bias[n] = candidate.bias - base.bias;
    rounds->of_a[n] = candidate.taken;
    rounds->of_b[n] = base.taken;
    rounds->n++;
}

void ys_again_values(const struct ys_again *again, const char *metric, struct ys_compare_rounds *rounds)
{
    size_t count;
    const struct ys_metric_info *info = ys_metric_find(metric);
    const size_t place = (size_t)(info - ys_metric_infos(&count));
    const struct ys_arms *arms = &again->arms;
    rounds->n = 0;
    for (size_t r = 0; r < arms->rounds; r++)
        add_round(ys_arms_value(arms, 0, place, r), ys_arms_value(arms, 1, place, r), rounds);
    const size_t made = rounds->n;
    for (size_t i = 0; i < arms->again; i++) {
        const struct ys_arms_value base = ys_arms_again(arms, 0, place, i), other = ys_arms_again(arms, 1, place, i);
        if (isnan(base.taken) || isnan(other.taken))
            add_round(base, other, rounds);
    }
    rounds->again = rounds->n - made;
    if (!info->of_steady)
        rounds->bias = NULL;
}
