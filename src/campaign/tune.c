#include "campaign/tune.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/nearest_name.h"
#include "base/stop.h"
#include "campaign/target_rounds.h"
#include "campaign/tune_rungs.h"
#include "metric/metric.h"
#include "prepare/noted_noise.h"
#include "stat/compare.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How much longer than its runs the confirmation may take: what surrounds them, and an audit. */
static const double confirm_stretch = 1.5;

struct tuning_all {
    const struct ys_tune_wish *wish;
    struct ys_wish aim;
    struct ys_job job;
    struct ys_trial_records trials;
    struct ys_tuning *tunings;
    size_t count;
    double margin;
    struct ys_store *store;
    struct ys_tuned *out;
};

/* ---- what is asked for */

static bool is_compared(const struct ys_metric_info *info)
{
    return strcmp(ys_compared[ys_compared_place(info->name)], info->name) == 0;
}

static ys_status read_aim(const char *wanted, struct ys_wish *aim)
{
    const struct ys_metric_info *info = ys_metric_find(wanted);
    *aim = (struct ys_wish){.metric = info, .highest = info && info->better == YS_BETTER_HIGHER};
    if (info)
        aim->text = ys_strdup(wanted);
    else if (ys_wish_read(wanted, aim) != YS_OK)
        return strchr(wanted, ' ') ? ys_fail_in(YS_EINVAL, "--for")
                                   : ys_fail_in(ys_metric_named(wanted, &info), "--for=%s", wanted);
    if (aim->key_count)
        return ys_fail(YS_EINVAL, "--for=\"%s\": %s is the study's to say: write it there", wanted, aim->keys[0].text);
    if (!is_compared(aim->metric) || aim->metric->better == YS_BETTER_NEITHER)
        return ys_fail(YS_EINVAL,
                       "--for=%s: it is no metric by which trials are compared: rate_per_s or rss_peak_bytes are",
                       aim->metric->name);
    return YS_OK;
}

/* Whether some trial's framework has a knob of that name, and if none which is meant. */
static ys_status check_knob(const struct tuning_all *all, const char *name)
{
    const char *names[YS_TUNE_TRIALS * YS_HALVING_KNOBS + 1] = {NULL};
    struct ys_list lists[YS_TUNE_TRIALS];
    size_t known = 0, taken = 0;
    bool found = false;
    ys_status status = YS_OK;
    for (; status == YS_OK && taken < all->count; taken++) {
        status = ys_knobs_of(all->trials.items[taken].keys.framework, all->wish->recipe_dirs, &lists[taken]);
        const struct ys_knob *knobs = lists[taken].items;
        for (size_t i = 0; i < lists[taken].count && known < YS_TUNE_TRIALS * YS_HALVING_KNOBS; i++) {
            names[known++] = knobs[i].name;
            found |= strcmp(knobs[i].name, name) == 0;
        }
    }
    const char *near = ys_nearest(name, names);
    if (status == YS_OK && !found)
        status =
            ys_fail(YS_EINVAL, "--knobs=%s: no framework of this study has such a knob%s%s%s (`yardstick list knobs`)",
                    name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    for (size_t i = 0; i < taken; i++)
        ys_list_fini(&ys_knob_record, &lists[i]);
    return status;
}

static ys_status check_knobs(const struct tuning_all *all)
{
    for (const char *at = all->wish->knobs; at && *at; at += strspn(at, ", ")) {
        const size_t size = strcspn(at, ", ");
        char *name = ys_strndup(at, size);
        ys_status status = check_knob(all, name);
        ys_free(name);
        YS_TRY(status);
        at += size;
    }
    return YS_OK;
}

static ys_status load(struct tuning_all *all)
{
    const struct ys_tune_wish *wish = all->wish;
    const struct ys_job_hooks hooks = ys_study_job_hooks(wish->recipe_dirs);
    struct ys_study_settings keys;
    YS_TRY(ys_job_load(wish->path, wish->flags, wish->flag_count, &hooks, &all->job));
    ys_study_settings_read(all->job.study, &keys);
    all->margin = keys.margin;
    YS_TRY(ys_trial_records_read(all->job.trials, "the study", &all->trials));
    all->count = all->trials.count;
    all->out->study = ys_strdup(keys.name);
    if (all->count > YS_TUNE_TRIALS)
        return ys_fail(YS_EINVAL, "%zu trials: at most %d are tuned at a time, each in an equal share of the budget",
                       all->count, YS_TUNE_TRIALS);
    return check_knobs(all);
}

static ys_status open_all(struct tuning_all *all)
{
    size_t values = 0;
    all->tunings = ys_alloc(all->count, sizeof *all->tunings);
    for (size_t i = 0; i < all->count; i++) {
        struct ys_tuned_trial *told = ys_list_add(&ys_tuned_trial_record, &all->out->trials);
        const struct ys_trial_record *trial = &all->trials.items[i];
        told->trial = ys_strdup(trial->id);
        told->framework = ys_strdup(trial->keys.framework);
        told->answer = YS_TUNE_UNCONFIRMED;
        told->rounds = 0;
    }
    for (size_t i = 0; i < all->count; i++) {
        struct ys_tuning *tuning = &all->tunings[i];
        YS_TRY(ys_tuning_open(all->wish, &all->aim, &all->job, &all->trials.items[i], tuning));
        tuning->out = (struct ys_tuned_trial *)all->out->trials.items + i;
        tuning->budget_s = all->wish->budget_s / (double)all->count;
        values += tuning->space.knobs.count;
    }
    if (values)
        return YS_OK;
    return ys_fail(YS_EINVAL, "there is nothing to choose: no knob%s%s has a value here (`yardstick list knobs`)",
                   all->wish->knobs ? " of --knobs=" : "", all->wish->knobs ? all->wish->knobs : "");
}

/* ---- the budget */

static double confirm_s(const struct ys_tuning *tuning)
{
    const double proofs = tuning->aim->metric->learning ? 2 : 0; /* of other seeds */
    return confirm_stretch * 2 * YS_TUNE_ROUNDS * tuning->run_s + proofs * tuning->proof_s;
}

static size_t values_of(const struct ys_tuning *tuning, uint8_t *values)
{
    const struct ys_knob *knobs = tuning->space.knobs.items;
    for (size_t k = 0; k < tuning->space.knobs.count; k++)
        values[k] = (uint8_t)knobs[k].values.count;
    return tuning->space.knobs.count;
}

static struct ys_halving_wish halving_wish(const struct ys_tuning *tuning, uint8_t *values)
{
    return (struct ys_halving_wish){.values = values,
                                    .knobs = values_of(tuning, values),
                                    .budget_s = tuning->budget_s - confirm_s(tuning),
                                    .run_s = tuning->run_s,
                                    .proof_s = tuning->proof_s};
}

/* Each has the same share, so the one that needs most decides. */
static ys_status check_budget(const struct tuning_all *all)
{
    double needed_s = 0;
    const char *whose = "";
    char span[2][32];
    for (size_t i = 0; i < all->count; i++) {
        const struct ys_tuning *tuning = &all->tunings[i];
        uint8_t values[YS_HALVING_KNOBS];
        const struct ys_halving_wish wish = halving_wish(tuning, values);
        const double own_s = tuning->spent_s + ys_halving_least_s(&wish) + confirm_s(tuning);
        if (tuning->cannot_run || own_s <= needed_s)
            continue;
        needed_s = own_s;
        whose = tuning->out->trial;
    }
    needed_s *= 1.1 * (double)all->count; /* what a run takes is known from one */
    if (needed_s <= all->wish->budget_s)
        return YS_OK;
    return ys_fail(
        YS_EINVAL,
        "--budget: %s is too short: one rung and %d fresh rounds of %s, in one of %zu equal shares, need %s in all; "
        "shorter runs or fewer --knobs need less",
        ys_span_text(all->wish->budget_s, span[0], sizeof span[0]), YS_TUNE_ROUNDS, whose, all->count,
        ys_span_text(needed_s, span[1], sizeof span[1]));
}

/* ---- the confirmation */

static void add_round(struct ys_arms_value base, struct ys_arms_value tuned, struct ys_compare_rounds *rounds)
{
    const size_t n = rounds->n;
    if (!isfinite(base.value) || !isfinite(tuned.value))
        return;
    rounds->a[n] = tuned.value;
    rounds->b[n] = base.value;
    rounds->bias[n] = tuned.bias - base.bias;
    rounds->of_a[n] = tuned.taken;
    rounds->of_b[n] = base.taken;
    rounds->n++;
}

/* The winner against the trial as it is, in the rounds in which both have a value. */
static struct ys_comparison compare(const struct tuning_all *all, const struct ys_arms *arms, const char *metric)
{
    size_t count;
    const struct ys_metric_info *info = ys_metric_find(metric);
    const size_t place = (size_t)(info - ys_metric_infos(&count)), room = arms->rounds + arms->again + 1;
    double *values = ys_alloc(5 * room, sizeof *values);
    struct ys_compare_rounds rounds = {.a = values,
                                       .b = values + room,
                                       .bias = values + 2 * room,
                                       .of_a = values + 3 * room,
                                       .of_b = values + 4 * room};
    const bool is_share = info->kind == YS_KIND_SHARE;
    const struct ys_compare_rule rule = {.better = info->better,
                                         .difference = is_share,
                                         .margin = is_share ? YS_METRIC_ACCURACY_MARGIN : all->margin,
                                         .stretch = 1};
    struct ys_comparison found;
    for (size_t r = 0; r < arms->rounds; r++)
        add_round(ys_arms_value(arms, 0, place, r), ys_arms_value(arms, 1, place, r), &rounds);
    const size_t made = rounds.n;
    for (size_t i = 0; i < arms->again; i++) {
        const struct ys_arms_value base = ys_arms_again(arms, 0, place, i), tuned = ys_arms_again(arms, 1, place, i);
        if (isnan(base.taken) || isnan(tuned.taken))
            add_round(base, tuned, &rounds);
    }
    rounds.again = rounds.n - made;
    if (!info->of_steady)
        rounds.bias = NULL;
    ys_compare_rounds(&rounds, rule, info->kind == YS_KIND_RATE, &found);
    ys_free(values);
    return found;
}

/* "speed 1.24x (1.18 to 1.30 in 10 fresh rounds), peak memory 1.05x (1.04 to 1.06)" */
static void put_change(const struct tuning_all *all, const struct ys_tuning *tuning, struct ys_buf *text)
{
    const struct ys_tuned_trial *told = tuning->out;
    const double *ci = told->ci.items, *memory = told->memory_ci.items;
    const struct ys_metric_info *info = all->aim.metric;
    if (isfinite(told->ratio))
        ys_buf_printf(text, info->kind == YS_KIND_SHARE ? "%s by %+.4g" : "%s %.3gx", info->title, told->ratio);
    else
        ys_buf_printf(text, "%s without a ratio%s", info->title,
                      ys_target_is_of(info) ? ", as one of the two mostly did not arrive" : "");
    if (told->ci.count == 2)
        ys_buf_printf(text, " (%.3g to %.3g in %lld fresh rounds)", ci[0], ci[1], (long long)told->rounds);
    if (ys_target_is_of(info))
        ys_buf_printf(text, ", of which %lld met the target, %lld as it is", (long long)tuning->met[1],
                      (long long)tuning->met[0]);
    if (isfinite(told->memory))
        ys_buf_printf(text, ", peak memory %.3gx", told->memory);
    if (told->memory_ci.count == 2)
        ys_buf_printf(text, " (%.3g to %.3g)", memory[0], memory[1]);
}

static void conclude(const struct tuning_all *all, const struct ys_tuning *tuning)
{
    struct ys_tuned_trial *told = tuning->out;
    struct ys_buf text = {0};
    const uint8_t *values = tuning->halving.items[tuning->halving.best].values;
    const bool is_better = told->verdict == YS_VERDICT_BETTER;
    told->answer = is_better ? YS_TUNE_BETTER : YS_TUNE_NONE_BETTER;
    ys_buf_printf(&text, "%s: ", told->trial);
    if (is_better)
        ys_buf_printf(&text, "%s is better than what it has: ", told->settings);
    else
        ys_buf_printf(
            &text, "no setting was shown to be better than what it has; %s, the best of the search: ", told->settings);
    put_change(all, tuning, &text);
    if (is_better && ys_space_has(&tuning->space, values, "isa"))
        ys_buf_puts(&text, "; other instructions compute other numbers, and it was proven with them");
    ys_buf_puts(&text, ".");
    told->sentence = ys_buf_take(&text);
}

static void leave(const struct ys_tuning *tuning, const char *why)
{
    struct ys_tuned_trial *told = tuning->out;
    ys_free(told->sentence);
    told->answer = YS_TUNE_UNCONFIRMED;
    told->sentence = told->settings ? ys_format("%s: nothing is confirmed: %s. During the search %s was ahead.",
                                                told->trial, why, told->settings)
                                    : ys_format("%s: nothing is confirmed: %s.", told->trial, why);
}

static int rounds_of(const struct tuning_all *all, const struct ys_tuning *tuning)
{
    const double gain = tuning->halving.items[tuning->halving.best].gain,
                 able = (tuning->budget_s - ys_tuning_spent_s(tuning)) / (confirm_stretch * 2 * tuning->halving.run_s);
    const size_t asked = ys_noise_rounds(fabs(expm1(gain)), all->margin);
    double rounds = asked > YS_TUNE_ROUNDS ? (double)asked : YS_TUNE_ROUNDS;
    rounds = fmin(fmin(rounds, YS_TUNE_ROUNDS_MOST), able);
    return rounds > YS_TUNE_ROUNDS ? (int)rounds : YS_TUNE_ROUNDS;
}

/* What is wrong with the fresh rounds; new, NULL: nothing. */
static char *fault_of(const struct ys_arms *arms, const struct ys_metric_info *info)
{
    static const char *const names[] = {"as it is", "with the winner"};
    for (size_t i = 0; i < 2; i++) {
        const struct ys_arm *arm = &arms->items[i];
        if (arm->disproved)
            return ys_format("%s its proof failed", names[i]);
        if (ys_target_failed(arms, i, info) > 0)
            return ys_format("a fresh run %s %s: %s", names[i], ys_run_status_name((enum ys_run_status)arm->status),
                             arm->reason ? arm->reason : "no reason is known");
    }
    if (arms->complete < YS_TUNE_ROUNDS)
        return ys_format("the budget ended after %zu of %d fresh rounds", arms->complete, YS_TUNE_ROUNDS);
    return NULL;
}

static void take_fresh(const struct tuning_all *all, struct ys_tuning *tuning, const struct ys_arms *arms)
{
    struct ys_tuned_trial *told = tuning->out;
    const struct ys_metric_info *info = all->aim.metric;
    const struct ys_comparison found = ys_target_is_of(info)
                                           ? ys_target_compare(arms, info, tuning->trial.keys.eval_every, all->margin,
                                                               tuning->met)
                                           : compare(all, arms, info->name),
                               memory = compare(all, arms, "rss_peak_bytes");
    told->rounds = (int64_t)arms->complete;
    told->ratio = found.value;
    told->met = ys_target_is_of(info) ? tuning->met[1] : YS_FIELD_NONE;
    ys_tuning_set_ends(&found.interval, &told->ci);
    told->verdict = (int)found.verdict;
    told->doubt = found.reason ? ys_strdup(found.reason) : NULL;
    told->memory = memory.value;
    ys_tuning_set_ends(&memory.interval, &told->memory_ci);
}

static ys_status confirm(const struct tuning_all *all, struct ys_tuning *tuning)
{
    struct ys_arms arms;
    const int rounds = rounds_of(all, tuning);
    ys_log_info("%s: %d fresh rounds of %s and of what it has", tuning->out->trial, rounds, tuning->out->settings);
    ys_status status = ys_tuning_open_pair(tuning, tuning->halving.best, all->store, tuning->budget_s, &arms);
    if (status == YS_OK)
        status = ys_arms_measure(&arms, rounds);
    if (arms.study_id)
        tuning->out->study = arms.study_id;
    if (status == YS_OK) {
        char *fault = fault_of(&arms, all->aim.metric);
        if (!fault)
            take_fresh(all, tuning, &arms);
        if (fault)
            leave(tuning, fault);
        else
            conclude(all, tuning);
        ys_free(fault);
    }
    ys_tuning_note(tuning, "confirmation", 2 * (int64_t)arms.complete);
    ys_arms_close(&arms);
    return status;
}

/* ---- one trial */

/* What the search saw of a candidate; NaN also where it, or the trial as it is, mostly did not get there. */
static double ratio_of(const struct ys_tuning *tuning, const struct ys_halving_candidate *candidate)
{
    const double gain = tuning->aim->highest ? candidate->gain : -candidate->gain;
    if (fabs(gain) > YS_COMPARE_BEYOND / 2)
        return NAN;
    return tuning->aim->metric->kind == YS_KIND_SHARE ? gain : exp(gain);
}

/* Of each candidate what the search saw; behind them what could not be tried. */
static void tell_points(const struct ys_tuning *tuning)
{
    struct ys_tuned_trial *told = tuning->out;
    const struct ys_halving *halving = &tuning->halving;
    struct ys_tuned_point *points = told->points.items;
    for (size_t i = 0; i < told->points.count && i < halving->count; i++) {
        const struct ys_halving_candidate *candidate = &halving->items[i];
        points[i].rung = candidate->rung;
        points[i].rounds = candidate->rounds;
        points[i].ratio = ratio_of(tuning, candidate);
    }
    const struct ys_space_lacking *lacking = tuning->space.lacking.items;
    for (size_t i = 0; i < tuning->space.lacking.count; i++) {
        struct ys_tuned_point *point = ys_list_add(&ys_tuned_point_record, &told->points);
        *point = (struct ys_tuned_point){.settings = ys_strdup(lacking[i].name),
                                         .ratio = NAN,
                                         .value = NAN,
                                         .steps = YS_FIELD_NONE,
                                         .out = ys_strdup("unsupported"),
                                         .reason = ys_strdup(lacking[i].reason)};
    }
    if (!halving->best)
        return;
    told->during = ratio_of(tuning, &halving->items[halving->best]);
    told->settings = ys_space_name(&tuning->space, halving->items[halving->best].values);
}

static ys_status search(struct ys_tuning *tuning)
{
    uint8_t values[YS_HALVING_KNOBS];
    const struct ys_halving_wish wish = halving_wish(tuning, values);
    struct ys_halving_ops ops = ys_tuning_ops;
    ops.context = tuning;
    tuning->search_s = wish.budget_s;
    tuning->began_ns = ys_time_ns();
    ys_status status = ys_halving_search(&wish, &ops, &tuning->halving);
    tell_points(tuning);
    return status;
}

static ys_status tune_one(const struct tuning_all *all, struct ys_tuning *tuning)
{
    ys_status status = search(tuning);
    if (status == YS_EUNSUPPORTED)
        leave(tuning, ys_error());
    else if (status == YS_EINTR)
        leave(tuning, "it was interrupted");
    else if (status == YS_OK && !tuning->halving.best)
        leave(tuning, tuning->halving.count > 1 && ys_target_is_of(all->aim.metric)
                          ? "none of the other settings was measured to the end and met the target in most rounds"
                      : tuning->halving.count > 1 ? "none of the other settings could be measured to the end"
                                                  : "it has no other setting to choose");
    else if (status == YS_OK)
        status = confirm(all, tuning);
    if (status == YS_EINTR)
        leave(tuning, "it was interrupted");
    if (status != YS_OK && status != YS_EUNSUPPORTED)
        return status;
    const bool is_better = tuning->out->answer == YS_TUNE_BETTER;
    return ys_tuning_tell(tuning, is_better ? tuning->halving.best : 0, &tuning->out->lines, &tuning->out->outside);
}

static ys_status probe_all(const struct tuning_all *all)
{
    for (size_t i = 0; i < all->count; i++) {
        struct ys_tuning *tuning = &all->tunings[i];
        ys_log_info("%s: what a run of it takes", tuning->out->trial);
        YS_TRY(ys_tuning_probe(tuning));
        if (tuning->cannot_run)
            tuning->out->answer = YS_TUNE_CANNOT_RUN;
    }
    return check_budget(all);
}

/* Those that nothing is told of yet. */
static void leave_rest(const struct tuning_all *all, const char *why)
{
    for (size_t i = 0; why && i < all->count; i++)
        if (!all->tunings[i].out->sentence)
            leave(&all->tunings[i], why);
}

static ys_status tune_all(struct tuning_all *all)
{
    struct ys_tuned *out = all->out;
    out->schema = ys_strdup(YS_TUNE_SCHEMA);
    out->wanted = ys_strdup(all->wish->wanted);
    out->budget_s = all->wish->budget_s;
    YS_TRY(read_aim(all->wish->wanted, &all->aim));
    out->metric = ys_strdup(all->aim.metric->name);
    YS_TRY(load(all));
    YS_TRY(open_all(all));
    ys_status status = probe_all(all);
    const bool is_probed = status == YS_OK;
    for (size_t i = 0; status == YS_OK && i < all->count; i++)
        if (!all->tunings[i].cannot_run)
            status = tune_one(all, &all->tunings[i]);
    out->interrupted = status == YS_EINTR;
    if (is_probed || out->interrupted)
        leave_rest(all, out->interrupted ? "it was interrupted" : ys_error());
    return out->interrupted ? YS_OK : status;
}

ys_status ys_tune(const struct ys_tune_wish *wish, struct ys_store *store, struct ys_tuned *tuned)
{
    struct tuning_all all = {.wish = wish, .store = store, .out = tuned};
    ys_record_init(&ys_tuned_record, tuned);
    ys_status status = tune_all(&all);
    for (size_t i = 0; all.tunings && i < all.count; i++)
        ys_tuning_close(&all.tunings[i]);
    ys_free(all.tunings);
    ys_trial_records_fini(&all.trials);
    ys_job_fini(&all.job);
    ys_wish_fini(&all.aim);
    return status;
}
