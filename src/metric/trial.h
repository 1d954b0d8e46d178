/* A study as it is stored, trial by trial; and what its runs say about each trial. Of this room alone. */
#ifndef YS_METRIC_TRIAL_H
#define YS_METRIC_TRIAL_H

#include "metric/metric.h"

/* The metrics that are compared (metric/pair.c has their names). */
enum { YS_COMPARED = 9 };
extern const char *const ys_compared[YS_COMPARED];

struct ys_metric_view_run {
    const ys_json *json;    /* as ys_store_runs_get gives it; NULL while the trial is not loaded, as the next two */
    const ys_json *metrics; /* borrowed from the trial's `runs_json` */
    struct ys_facts facts;  /* owned; all unknown while the trial is not loaded */
    int64_t id, round;
    int attempt;
    enum ys_run_status status;
    bool ok;
    bool disturbed; /* the machine did much else meanwhile: its fact `disturbed` says what */
    bool counted;   /* of the highest attempt in its round that was not cancelled: what the trial's own figures are made
                       of */
    bool matched; /* ok, as is a run of another trial of the same round and attempt: what comparisons are made of. Known
                     once ys_metric_view_match() was called */
    double compared[YS_COMPARED]; /* values of ys_compared; NaN where it has none */
    double left;                  /* of warm-up in the steady part (stat/steady.h); NaN where that cannot be told */
};

struct ys_metric_view_trial {
    const struct ys_trial_record *record; /* borrowed from the view's `records` */
    const char *id;
    enum ys_proof_verdict verdict;
    ys_json *runs_json;                       /* NULL while the trial is not loaded */
    struct ys_metric_view_run *runs;          /* by round, then attempt */
    size_t run_count, counted, failed;        /* runs that count, and those of them that are not ok */
    size_t disturbed;                         /* likewise, and that were disturbed */
    enum ys_run_status status;                /* of the trial */
    const struct ys_metric_view_run *failure; /* an example of it; NULL */
    bool no_work;
    ys_json *metrics; /* of ys_trial_metrics(); NULL before it was computed */
};

struct ys_view {
    ys_json *study, *host, *rounds;
    struct ys_trial_records records;
    ys_json *texts; /* of ys_metric_infos(): {name: {name, unit, method, scope, source, better}}, to be shared by the
                       thousands of objects that have them */
    struct ys_metric_view_trial *trials;
    size_t trial_count;
};

/** The study and its trials, without runs. */
ys_status ys_metric_view_load(struct ys_store *store, int64_t study_id, struct ys_view *view) YS_MUST_CHECK;
void ys_metric_view_fini(struct ys_view *view);

/** Reads all runs of one trial. Facts and metrics of a thousand runs take tens of megabytes, so only one trial is
 * loaded at a time: ys_metric_view_trial_unload() keeps what comparisons need and lets go of the rest. */
ys_status ys_metric_view_trial_load(struct ys_store *store, const struct ys_view *view,
                                    struct ys_metric_view_trial *trial) YS_MUST_CHECK;
void ys_metric_view_trial_unload(struct ys_metric_view_trial *trial);
/** Fills `matched` of all runs, once every trial was loaded. */
ys_status ys_metric_view_match(struct ys_view *view) YS_MUST_CHECK;

/** `trial` with what the study knows of its model added as `work`, so that a run's metrics can be computed. */
ys_status ys_metric_view_with_work(const ys_json *study, const struct ys_trial_record *trial,
                                   ys_json **with_work) YS_MUST_CHECK;

/** The value of metric `name` in a run; NaN when it has none. */
double ys_metric_view_value(const struct ys_metric_view_run *run, const char *name);

/** {rate_per_s: {value, unit, n, ci, level, …, values: [one a round, or null]} | {value: null, reason}, …} */
ys_status ys_trial_metrics(const struct ys_view *view, const struct ys_metric_view_trial *trial,
                           ys_json **metrics) YS_MUST_CHECK;

#endif
