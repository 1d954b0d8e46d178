/* From the metrics of runs to those of their trial: medians over rounds. */
#include "metric/study_view.h"

#include "base/mem.h"
#include "metric/compare/disturbance_bias.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Room for an entry for each round that a run of the trial is of. */
static double *new_rounds(const struct ys_metric_view_trial *trial)
{
    int64_t last = trial->run_count ? trial->runs[trial->run_count - 1].round : 0;
    return ys_alloc((size_t)last + trial->run_count + 1, sizeof(double));
}

/* What is left of warm-up makes steps longer: rates are lower by it, times higher. */
static double bias_of(const struct ys_metric_view_run *run, const struct ys_metric_info *info)
{
    const double left = ys_metric_view_metric(run, "rate_per_s")->left;
    return info->better == YS_BETTER_HIGHER ? left : -left;
}

static void add_value(struct ys_trial_metric *metric, size_t at, double value, double bias, double whole, double taken)
{
    metric->by_round[at] = value;
    if (metric->bias)
        metric->bias[at] = bias;
    if (metric->whole)
        metric->whole[at] = isnan(whole) ? value : whole;
    if (metric->taken)
        metric->taken[at] = taken;
}

/* Of a run, at that place of the lists. */
static void add_run(const struct ys_metric_view_run *run, size_t place, int of_whole, double value, size_t at,
                    struct ys_trial_metric *metric)
{
    size_t count;
    add_value(metric, at, value, metric->bias ? bias_of(run, &ys_metric_infos(&count)[place]) : NAN,
              of_whole >= 0 ? run->outside.whole[of_whole] : (double)NAN,
              metric->taken && isfinite(value) ? ys_taken_part_of(run, place) : (double)NAN);
}

/* Attempts of which nobody knows what was taken from them, and that were run again: each has its place. */
static void add_again(const struct ys_metric_view_trial *trial, size_t place, int of_whole,
                      struct ys_trial_metric *metric)
{
    for (size_t i = 0; metric->taken && i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        if (run->counted || run->status == YS_RUN_CANCELLED)
            continue;
        add_run(run, place, of_whole, run->ok ? run->metrics[place].value : (double)NAN,
                metric->rounds + metric->again++, metric);
    }
}

/* The place of a metric of which a whole run may say otherwise; -1: none. */
static int place_of_whole(const struct ys_metric_view_trial *trial, const char *metric)
{
    const int place = ys_compared_place(metric);
    if (place >= YS_WINDOW_METRICS)
        return -1;
    for (size_t i = 0; i < trial->run_count; i++)
        if (trial->runs[i].counted && trial->runs[i].ok && !isnan(trial->runs[i].outside.whole[place]))
            return place;
    return -1;
}

/* What a run that did not meet its target spent, in a metric of meeting it; NaN: it met it, or the metric is another.
 */
static double limit_of(const struct ys_metric_view_run *run, const struct ys_metric_info *info)
{
    const int m = ys_compared_place(info->name);
    return ys_compared_of_target(m) ? run->target_limit[m - YS_TARGET_TIME] : (double)NAN;
}

/* A run that did not meet its target takes longer to than any that did. */
static double value_of(const struct ys_metric_view_run *run, const struct ys_metric_info *info, double value,
                       struct ys_trial_metric *metric)
{
    const double limit = limit_of(run, info);
    if (isnan(limit))
        return run->ok ? value : (double)NAN;
    metric->lost++;
    metric->limit = fmin(metric->limit, limit); /* which passes over NaN */
    return INFINITY;
}

/* The values of the runs that are ok and have one, of metric number `place`; why there is none. */
static void gather(const struct ys_metric_view_trial *trial, size_t place, double *values,
                   struct ys_trial_metric *metric, const char **reason)
{
    size_t count;
    const struct ys_metric_info *info = &ys_metric_infos(&count)[place];
    const int of_whole = place_of_whole(trial, info->name);
    metric->by_round = new_rounds(trial);
    const bool is_time = info->kind == YS_KIND_SPAN || info->kind == YS_KIND_RATE;
    metric->bias = info->of_steady ? new_rounds(trial) : NULL;
    metric->whole = of_whole >= 0 ? new_rounds(trial) : NULL;
    metric->taken = is_time ? new_rounds(trial) : NULL;
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        if (!run->counted)
            continue;
        const struct ys_run_metric *found = &run->metrics[place];
        const double value = value_of(run, info, found->value, metric);
        while ((int64_t)metric->rounds < run->round)
            add_value(metric, metric->rounds++, NAN, NAN, NAN, NAN);
        add_run(run, place, of_whole, value, metric->rounds++, metric);
        if (isnan(value)) {
            if (found->reason && (run->ok || !*reason))
                *reason = found->reason;
            continue;
        }
        values[metric->n++] = value;
        metric->judged += found->steady != YS_NAME_NONE;
        metric->steady += found->steady == 1;
    }
    add_again(trial, place, of_whole, metric);
}

static void say_why(const struct ys_metric_view_trial *trial, const char *reason, struct ys_trial_metric *metric)
{
    char text[200];
    if (trial->counted == 0) {
        snprintf(text, sizeof text, "no run: %s", ys_run_status_name(trial->status));
        reason = text;
    } else if (trial->counted == trial->failed) {
        snprintf(text, sizeof text, "no run succeeded: %s", ys_run_status_name(trial->status));
        reason = text;
    }
    metric->reason = ys_strdup(reason ? reason : "no run has it");
}

static void make_metric(const struct ys_metric_view_trial *trial, size_t place, double *values,
                        struct ys_trial_metric *metric)
{
    metric->limit = NAN;
    const char *reason = NULL; /* why the last run without a value had none */
    gather(trial, place, values, metric, &reason);
    if (metric->n == 0)
        say_why(trial, reason, metric);
    else
        metric->summary = ys_stat_summarize(values, metric->n);
}

void ys_trial_metrics_free(struct ys_trial_metric *metrics)
{
    size_t count;
    ys_metric_infos(&count);
    for (size_t i = 0; metrics && i < count; i++) {
        ys_free(metrics[i].by_round);
        ys_free(metrics[i].bias);
        ys_free(metrics[i].whole);
        ys_free(metrics[i].taken);
        ys_free(metrics[i].reason);
    }
    ys_free(metrics);
}

struct ys_trial_metric *ys_trial_metrics(const struct ys_metric_view_trial *trial)
{
    size_t count;
    ys_metric_infos(&count);
    struct ys_trial_metric *made = ys_alloc(count, sizeof *made);
    double *values = ys_alloc(trial->run_count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        make_metric(trial, i, values, &made[i]);
    ys_free(values);
    return made;
}

double ys_trial_median(const struct ys_metric_view_trial *trial, const char *name)
{
    size_t count;
    const struct ys_trial_metric *metric = &trial->metrics[ys_metric_find(name) - ys_metric_infos(&count)];
    return metric->n ? metric->summary.median : NAN;
}

bool ys_trial_has_fault(const struct ys_metric_view_trial *trial, const struct ys_metric_view_trial *other,
                        char *reason, size_t size)
{
    if (trial->no_work && !(other && other->no_work))
        snprintf(reason, size, "%s does no work", trial->id);
    else if (trial->failed == trial->counted)
        snprintf(reason, size, "no run of %s succeeded: %s", trial->id, ys_run_status_name(trial->status));
    else if (trial->verdict == YS_PROOF_NONE && !trial->no_work)
        snprintf(reason, size, "there is no proof that %s does the same work", trial->id);
    else if (trial->verdict == YS_PROOF_FAIL)
        snprintf(reason, size, "the proof that %s does the same work failed", trial->id);
    else if (trial->fault)
        snprintf(reason, size, "%s: %s", trial->id, trial->fault);
    else
        return false;
    return true;
}
