#include "campaign/tune_over.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "campaign/ask_optuna.h"
#include "campaign/search.h"
#include "campaign/search_space.h"
#include "campaign/target_rounds.h"
#include "campaign/tune.h"
#include "campaign/tune_rungs.h"
#include "metric/metric.h"
#include "study/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TUNE_ROWS "tune.rows = 10%\n"
enum { FRESH_SEEDS = 1000000 }; /* farther than any search goes */

struct over {
    const struct ys_tune_wish *wish;
    struct ys_wish aim;
    struct ys_job job;
    struct ys_trial_records trials;
    struct ys_grid grid;
    struct ys_optuna optuna; /* of search = tpe */
    int way;                 /* enum ys_search_way */
    size_t metric, steps;    /* places in ys_metric_infos() */
    struct ys_store *store;
    struct ys_tuned *out;
};

/* One trial. */
struct over_trial {
    const struct over *all;
    struct ys_tuning tuning;
    struct ys_search search;
};

/* ---- what is asked for */

static ys_status read_aim(struct over *over)
{
    static const char lowest[] = "lowest ";
    const char *name = over->wish->wanted;
    size_t count;
    name += strncmp(name, lowest, sizeof lowest - 1) == 0 ? sizeof lowest - 1 : 0;
    if (strcmp(name, "time_to_target_s") != 0 && strcmp(name, "steps_to_target") != 0)
        return ys_fail(YS_EINVAL,
                       "--for=%s: with --over the best is what meets a target soonest: write \"lowest "
                       "time_to_target_s\", or steps_to_target",
                       over->wish->wanted);
    over->aim = (struct ys_wish){.metric = ys_metric_find(name)};
    over->metric = (size_t)(over->aim.metric - ys_metric_infos(&count));
    over->steps = (size_t)(ys_metric_find("steps_to_target") - ys_metric_infos(&count));
    return YS_OK;
}

static ys_status check_trial(const struct ys_trial_record *trial)
{
    if (!trial->keys.until)
        return ys_fail(YS_EINVAL,
                       "%s has no target, and --over asks what meets one soonest: write until = accuracy >= 98 %% and "
                       "eval_every = STEPS in its section",
                       trial->id);
    if (trial->keys.steps == YS_FIELD_NONE)
        return ys_fail(
            YS_EINVAL,
            "%s has epochs, and a search counts steps: write steps = NUMBER, the limit of a run, in the place "
            "of epochs",
            trial->id);
    return YS_OK;
}

static ys_status check_trials(const struct over *over)
{
    int64_t least = 0;
    const int64_t count = (int64_t)over->trials.count;
    if (over->trials.count > YS_TUNE_TRIALS)
        return ys_fail(YS_EINVAL, "%zu trials: at most %d are tuned at a time, each in an equal share of the budget",
                       over->trials.count, YS_TUNE_TRIALS);
    for (size_t i = 0; i < over->trials.count; i++) {
        const struct ys_trial_record *trial = &over->trials.items[i];
        YS_TRY(check_trial(trial));
        least = trial->keys.steps > least ? trial->keys.steps : least;
    }
    if (least * YS_SEARCH_SEEDS * count <= over->wish->budget_steps)
        return YS_OK;
    return ys_fail(YS_EINVAL,
                   "--budget: %" PRId64 " steps are too few: one point on %d seeds of at most %" PRId64
                   " steps, in each of %" PRId64 " equal shares, need %" PRId64,
                   over->wish->budget_steps, YS_SEARCH_SEEDS, least, count, least * YS_SEARCH_SEEDS * count);
}

static ys_status load(struct over *over)
{
    const struct ys_tune_wish *wish = over->wish;
    const struct ys_job_hooks hooks = ys_study_job_hooks(wish->recipe_dirs);
    struct ys_study_settings keys;
    over->way = wish->search ? ys_name_find(&ys_search_ways, wish->search) : YS_SEARCH_HALVING;
    if (over->way == YS_NAME_NONE)
        return ys_fail(YS_EINVAL, "--search=%s: write random, halving or tpe", wish->search);
    YS_TRY(read_aim(over));
    YS_TRY(ys_grid_read(wish->over, &over->grid));
    YS_TRY(ys_job_load(wish->path, wish->flags, wish->flag_count, &hooks, &over->job));
    ys_study_settings_read(over->job.study, &keys);
    YS_TRY(ys_trial_records_read(over->job.trials, "the study", &over->trials));
    if (over->way == YS_SEARCH_TPE)
        YS_TRY(ys_optuna_find(wish->recipe_dirs, &over->optuna));
    over->out->study = ys_strdup(keys.name);
    over->out->metric = ys_strdup(over->aim.metric->name);
    over->out->search = ys_strdup(ys_name_of(&ys_search_ways, over->way));
    return check_trials(over);
}

/* ---- the search */

static struct ys_tuned_point *point_of(const struct over_trial *one, size_t place)
{
    struct ys_list *points = &one->tuning.out->points;
    struct ys_tuned_point *known = points->items;
    char *name = ys_grid_name(&one->all->grid, place);
    for (size_t i = 0; i < points->count; i++)
        if (strcmp(known[i].settings, name) == 0) {
            ys_free(name);
            return &known[i];
        }
    struct ys_tuned_point *added = ys_list_add(&ys_tuned_point_record, points);
    added->settings = name;
    added->rung = added->rounds = added->steps = 0;
    return added;
}

static ys_status refuse(struct ys_tuned_point *point, const char *out, const char *reason)
{
    point->out = ys_strdup(out);
    point->reason = reason ? ys_strdup(reason) : NULL;
    return ys_fail(YS_EUNSUPPORTED, "%s", reason ? reason : out);
}

/* A round without a value did not get there; of a run that broke off nobody knows the steps: the limit counts. */
static void take(const struct over_trial *one, const struct ys_arms *arms, int count, double *values, int64_t *steps)
{
    const int64_t limit = one->tuning.trial.keys.steps;
    *steps = 0;
    for (int r = 0; r < count; r++) {
        const double value = ys_arms_value(arms, 0, one->all->metric, (size_t)r).value,
                     done = ys_arms_value(arms, 0, one->all->steps, (size_t)r).value;
        values[r] = isfinite(value) ? value : INFINITY;
        *steps += isfinite(done) ? (int64_t)done : limit;
    }
}

static ys_status run(void *context, size_t place, int first, int count, double *values, int64_t *steps)
{
    struct over_trial *one = context;
    struct ys_tuned_point *point = point_of(one, place);
    struct ys_buf section = {0};
    struct ys_arms arms = {0};
    ys_buf_puts(&section, "[point]\n");
    ys_grid_put_lines(&one->all->grid, place, &section);
    if (isnan(one->tuning.trial.keys.tune_rows))
        ys_buf_puts(&section, TUNE_ROWS);
    ys_log_info("%s: %s, %d seed%s; %" PRId64 " steps so far", one->tuning.out->trial, point->settings, count,
                count == 1 ? "" : "s", one->search.steps);
    ys_status status =
        ys_tuning_open_sections(&one->tuning, ys_buf_text(&section), one->tuning.seed + first, true, NULL, &arms);
    ys_buf_free(&section);
    if (status == YS_EINVAL)
        status = refuse(point, "unsupported", ys_error());
    else if (status == YS_OK)
        status = ys_arms_measure(&arms, count);
    const bool is_over = status == YS_OK && arms.rounds;
    const struct ys_arm *arm = arms.items;
    if (is_over && arms.last.trials[0].runs == 0)
        status = refuse(point, ys_run_status_name((enum ys_run_status)arm->status), arm->reason);
    else if (is_over) {
        take(one, &arms, count, values, steps);
        if (arm->failed && !point->out) {
            point->out = ys_strdup(ys_run_status_name((enum ys_run_status)arm->status));
            point->reason = arm->reason ? ys_strdup(arm->reason) : NULL;
        }
    }
    ys_arms_close(&arms);
    return status;
}

static ys_status ask(void *context, const struct ys_search *search, size_t *place)
{
    const struct over_trial *one = context;
    return ys_optuna_ask(&one->all->optuna, &one->all->grid, (uint64_t)one->tuning.seed, search, place);
}

static void tell_search(struct over_trial *one)
{
    struct ys_tuned_trial *told = one->tuning.out;
    const struct ys_search *search = &one->search;
    int64_t runs = 0;
    told->steps = search->steps;
    told->skipped = (int64_t)search->skipped;
    told->judged = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct ys_search_point *point = &search->points[i];
        struct ys_tuned_point *out = point_of(one, point->place);
        const double worth = ys_search_worth(point);
        out->rung = 1;
        out->rounds = point->seeds;
        out->steps = point->steps;
        out->value = isfinite(worth) ? worth : NAN;
        told->judged += point->seeds == YS_SEARCH_SEEDS;
        runs += point->seeds;
    }
    if (search->best < search->count) {
        told->settings = ys_grid_name(&one->all->grid, search->points[search->best].place);
        told->during = ys_search_worth(&search->points[search->best]);
    }
    ys_tuning_note(&one->tuning, "search", runs);
    told->search_s = one->tuning.spent_s;
}

/* ---- fresh rounds */

static double median_of(const struct ys_result_trial *trial, size_t metric)
{
    const double median = trial->values[metric].n ? trial->values[metric].summary.median : (double)NAN;
    return isfinite(median) ? median : (double)NAN;
}

static void take_comparison(const struct over_trial *one, const struct ys_arms *arms, struct ys_tuned_trial *told)
{
    struct ys_study_settings keys;
    int64_t met[2];
    ys_study_settings_read(one->all->job.study, &keys);
    const struct ys_comparison found =
        ys_target_compare(arms, one->all->aim.metric, one->tuning.trial.keys.eval_every, keys.margin, met);
    told->met = met[1];
    told->ratio = found.value;
    told->verdict = (int)found.verdict;
    told->doubt = found.reason ? ys_strdup(found.reason) : NULL;
    ys_tuning_set_ends(&found.interval, &told->ci);
}

static char *value_text(const struct over *over, double value)
{
    const bool is_time = over->metric != over->steps;
    return isnan(value) ? ys_strdup("more than its limit, as most runs did not arrive")
                        : ys_format(is_time ? "%.4g s" : "%.0f steps", value);
}

static void conclude(const struct over_trial *one)
{
    struct ys_tuned_trial *told = one->tuning.out;
    const struct over *over = one->all;
    char *value = value_text(over, told->value), *before = value_text(over, told->as_it_is), *beside = NULL;
    told->answer = told->verdict == YS_VERDICT_BETTER ? YS_TUNE_BETTER : YS_TUNE_NONE_BETTER;
    if (over->metric != over->steps && !isnan(told->value))
        beside = ys_format(" (%.4g s with the search)", told->value + told->search_s);
    told->sentence = ys_format(
        "%s: %s%s meets its target in %s%s, on the test rows and %" PRId64 " fresh seeds, of which %" PRId64
        " arrived; as it is in %s. The search took %" PRId64 " steps and %.1f s.",
        told->trial, told->answer == YS_TUNE_BETTER ? "" : "no setting was shown to be better than what it has; ",
        told->settings, value, beside ? beside : "", told->rounds, told->met, before, told->steps, told->search_s);
    ys_free(value);
    ys_free(before);
    ys_free(beside);
}

static void leave(struct ys_tuned_trial *told, const char *why)
{
    ys_free(told->sentence);
    told->sentence = ys_format("%s: nothing is confirmed: %s.", told->trial, why);
}

static ys_status confirm(struct over_trial *one)
{
    const struct over *over = one->all;
    struct ys_tuned_trial *told = one->tuning.out;
    struct ys_buf sections = {0};
    struct ys_arms arms = {0};
    ys_buf_puts(&sections, "[default]\ntune.rows = none\n\n[tuned]\ntune.rows = none\n");
    ys_grid_put_lines(&over->grid, one->search.points[one->search.best].place, &sections);
    ys_log_info("%s: %d fresh rounds of %s and of what it has", told->trial, YS_OVER_ROUNDS, told->settings);
    ys_status status = ys_tuning_open_sections(&one->tuning, ys_buf_text(&sections), one->tuning.seed + FRESH_SEEDS,
                                               false, over->store, &arms);
    ys_buf_free(&sections);
    if (status == YS_OK)
        status = ys_arms_measure(&arms, YS_OVER_ROUNDS);
    if (arms.study_id)
        told->study = arms.study_id;
    if (status == YS_OK) {
        told->rounds = (int64_t)arms.complete;
        told->value = median_of(&arms.last.trials[1], over->metric);
        told->as_it_is = median_of(&arms.last.trials[0], over->metric);
        take_comparison(one, &arms, told);
        if (arms.items[0].disproved || arms.items[1].disproved)
            leave(told, "the proof of a fresh round failed");
        else
            conclude(one);
    }
    ys_tuning_note(&one->tuning, "fresh rounds", 2 * (int64_t)arms.complete);
    ys_arms_close(&arms);
    return status;
}

/* ---- one trial */

/* Where no point was run it cannot; the last reason is as good as any. */
static void tell_none(const struct over_trial *one)
{
    struct ys_tuned_trial *told = one->tuning.out;
    const struct ys_tuned_point *points = told->points.items;
    const char *reason = told->points.count ? points[told->points.count - 1].reason : NULL;
    if (one->search.count)
        leave(told, "no point met the target on most of its seeds; a larger limit of steps may");
    else {
        told->answer = YS_TUNE_CANNOT_RUN;
        told->sentence = ys_format("%s cannot be tuned: no point could be run: %s.", told->trial,
                                   reason ? reason : "no reason is known");
    }
}

static ys_status tune_one(struct over_trial *one)
{
    const struct over *over = one->all;
    const struct ys_search_ops ops = {one, run, ask};
    const struct ys_search_wish wish = {.points = over->grid.points,
                                        .budget = over->wish->budget_steps / (int64_t)over->trials.count,
                                        .limit = one->tuning.trial.keys.steps,
                                        .seed = (uint64_t)one->tuning.seed,
                                        .way = (enum ys_search_way)over->way};
    one->tuning.began_ns = ys_time_ns();
    ys_status status = ys_search_run(&wish, &ops, &one->search);
    tell_search(one);
    if (status == YS_OK && one->search.best == one->search.count)
        tell_none(one);
    else if (status == YS_OK)
        status = confirm(one);
    if (status != YS_OK || !one->tuning.made_count)
        return status;
    const bool is_better = one->tuning.out->answer == YS_TUNE_BETTER;
    return ys_tuning_tell(&one->tuning, is_better ? 1 : 0, &one->tuning.out->lines, NULL);
}

static ys_status tune_all(struct over *over)
{
    struct ys_tuned *out = over->out;
    out->schema = ys_strdup(YS_TUNE_SCHEMA);
    out->wanted = ys_strdup(over->wish->wanted);
    out->over = ys_strdup(over->wish->over);
    out->budget_steps = over->wish->budget_steps;
    YS_TRY(load(over));
    for (size_t i = 0; i < over->trials.count; i++) {
        struct ys_tuned_trial *told = ys_list_add(&ys_tuned_trial_record, &out->trials);
        told->trial = ys_strdup(over->trials.items[i].id);
        told->framework = ys_strdup(over->trials.items[i].keys.framework);
        told->answer = YS_TUNE_UNCONFIRMED;
        told->rounds = 0;
    }
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < over->trials.count; i++) {
        struct over_trial one = {.all = over};
        status = ys_tuning_open(over->wish, &over->aim, &over->job, &over->trials.items[i], &one.tuning);
        one.tuning.out = (struct ys_tuned_trial *)out->trials.items + i;
        if (status == YS_OK)
            status = tune_one(&one);
        ys_search_fini(&one.search);
        ys_tuning_close(&one.tuning);
    }
    out->interrupted = status == YS_EINTR;
    struct ys_tuned_trial *trials = out->trials.items;
    const char *why = out->interrupted ? "it was interrupted" : ys_error();
    const bool is_told = out->interrupted || (status != YS_OK && trials[0].points.count > 0);
    for (size_t i = 0; is_told && i < out->trials.count; i++)
        if (!trials[i].sentence)
            leave(&trials[i], why);
    return out->interrupted ? YS_OK : status;
}

ys_status ys_tune_over(const struct ys_tune_wish *wish, struct ys_store *store, struct ys_tuned *tuned)
{
    struct over over = {.wish = wish, .store = store, .out = tuned};
    ys_record_init(&ys_tuned_record, tuned);
    ys_status status = tune_all(&over);
    ys_grid_fini(&over.grid);
    ys_optuna_fini(&over.optuna);
    ys_trial_records_fini(&over.trials);
    ys_job_fini(&over.job);
    return status;
}
