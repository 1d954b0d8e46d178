/* A study as it is stored, loaded once; and what its runs say about each trial. Of this room alone. */
#ifndef YS_METRIC_TRIAL_H
#define YS_METRIC_TRIAL_H

#include "metric/metric.h"

struct ys_metric_view_run {
    const ys_json *json; /* as ys_store_runs_get gives it; borrowed from the trial's `runs` */
    const ys_json *facts;
    const ys_json *metrics;
    int64_t id, round;
    int attempt;
    bool ok;
    bool counted; /* of the highest attempt in its round that was not cancelled: what the trial's own figures are made
                     of */
    bool matched; /* ok, as is a run of another trial of the same round and attempt: what comparisons are made of */
};

struct ys_metric_view_trial {
    const ys_json *json; /* borrowed from the view's `trials` */
    const char *id, *verdict;
    ys_json *runs_json;
    struct ys_metric_view_run *runs;          /* by round, then attempt */
    size_t run_count, counted, failed;        /* runs that count, and those of them that are not ok */
    const char *status;                       /* of the trial */
    const struct ys_metric_view_run *failure; /* an example of it; NULL */
    bool no_work;
};

struct ys_view {
    ys_json *study, *host, *trials_json, *rounds;
    struct ys_metric_view_trial *trials;
    size_t trial_count;
};

ys_status ys_metric_view_load(struct ys_store *store, int64_t study_id, struct ys_view *view) YS_MUST_CHECK;
void ys_metric_view_fini(struct ys_view *view);

/** `trial` with what the study knows of its model added as `work`, so that a run's metrics can be computed. */
ys_status ys_metric_view_with_work(const ys_json *study, const ys_json *trial, ys_json **with_work) YS_MUST_CHECK;

/** The value of metric `name` in a run; NaN when it has none. */
double ys_metric_view_value(const struct ys_metric_view_run *run, const char *name);

/** {rate_per_s: {value, unit, n, ci, level, …, values: [one a round, or null]} | {value: null, reason}, …} */
ys_status ys_trial_metrics(const struct ys_metric_view_trial *trial, ys_json **metrics) YS_MUST_CHECK;

#endif
