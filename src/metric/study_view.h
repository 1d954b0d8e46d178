/* A study as it is stored, trial by trial; and what its runs say about each trial. Of this room alone. */
#ifndef YS_METRIC_STUDY_VIEW_H
#define YS_METRIC_STUDY_VIEW_H

#include "metric/metric.h"
#include "metric/outside_speed.h"
#include "metric/result_document.h"
#include "metric/run/run_windows.h"
#include "store/stored_metric.h"
#include "store/stored_study.h"

/* Place of time_to_target_s in ys_compared, which steps_to_target follows. */
enum { YS_TARGET_TIME = 9 };

struct ys_metric_view_run {
    struct ys_run_metric *metrics; /* owned, by ys_metric_infos(); NULL while the trial is not loaded */
    struct ys_facts facts;         /* owned; all unknown while the trial is not loaded */
    int64_t id, round;
    int attempt;
    enum ys_run_status status;
    bool ok;
    bool disturbed;              /* the machine did much else meanwhile: its fact `disturbed` says what */
    struct ys_facts_taken taken; /* what that took from it; all NaN where it was disturbed and nobody knows, else 0 */
    bool counted; /* of the highest attempt in its round that was not cancelled: what the trial's own figures are made
                     of */
    bool matched; /* ok, as is a run of another trial of the same round and attempt: what comparisons are made of. Known
                     once ys_metric_view_match() was called */
    bool detailed;                 /* it is in the trial's `runs_detail` */
    double compared[YS_COMPARED];  /* values of ys_compared; NaN where it has none */
    double target_grain[2];        /* of time_to_target_s and steps_to_target: behind the look before the last; NaN */
    double target_limit[2];        /* likewise what a run spent that did not meet its target; NaN */
    double steady_s;               /* seconds of the part that its speed is of; NaN */
    struct ys_windows windows;     /* what of them they are in parts of the run that another run shares */
    struct ys_run_outside outside; /* what they may be as seen from outside */
};

struct ys_metric_view_trial {
    const struct ys_trial_record *record; /* borrowed from the view's `records` */
    const char *id;
    enum ys_proof_verdict verdict;
    char *fault; /* owned; why nothing may be concluded from its runs (store/due_checks.h), in words that follow its
                  * name; NULL
                  */
    struct ys_metric_view_run *runs;          /* by round, then attempt */
    size_t run_count, counted, failed;        /* runs that count, and those of them that are not ok */
    size_t lost;                              /* of those that are not ok those that did not meet their target */
    size_t disturbed;                         /* likewise, and that were disturbed */
    enum ys_run_status status;                /* of the trial */
    const struct ys_metric_view_run *failure; /* an example of it; NULL */
    bool no_work;
    char *software; /* owned; what stands for its graphics processor; NULL: it has one, or wants none */
    const struct ys_trial_metric *metrics; /* of ys_trial_metrics(), borrowed; NULL before they were made */
};

/** What is stored of a study; borrowed from the view's `study`. NULL and "nothing" where it has no such member. */
struct ys_metric_study {
    struct ys_study_record stored;
    struct ys_metric_job {
        int64_t repeat, repeat_most; /* YS_FIELD_NONE: until comparisons are decided, of at most so many rounds */
        const char *decide;          /* by what: "rate_per_s"; "auto"; NULL */
        double margin;               /* what counts as the same; 0.02 where it does not say */
        const char *comparisons;     /* "axes" or "all"; NULL */
        const char *interleave;      /* "auto", "runs" or "blocks"; NULL */
        const char *on_disturbance;  /* "repeat", "mark" or "ignore"; NULL */
    } job;
    struct ys_study_timing took;
};

struct ys_metric_view {
    ys_json *study, *chain, *host;
    struct ys_store_rounds rounds;
    struct ys_metric_study told;
    struct ys_trial_records records;
    struct ys_metric_view_trial *trials;
    size_t trial_count;
    const struct ys_metric_info *only; /* the one metric that is wanted of runs; NULL: all */
};

/** The study and its trials, without runs. */
ys_status ys_metric_view_load(struct ys_store *store, int64_t study_id, struct ys_metric_view *view) YS_MUST_CHECK;
/** Leaves all trials out but that one, before any is loaded. */
void ys_metric_view_keep(struct ys_metric_view *view, const char *trial);
void ys_metric_view_fini(struct ys_metric_view *view);

/** Reads all runs of one trial. Facts and metrics of a thousand runs take tens of megabytes, so only one trial is
 * loaded at a time: ys_metric_view_trial_unload() keeps what comparisons need and lets go of the rest. */
ys_status ys_metric_view_trial_load(struct ys_store *store, const struct ys_metric_view *view,
                                    struct ys_metric_view_trial *trial) YS_MUST_CHECK;
void ys_metric_view_trial_unload(struct ys_metric_view_trial *trial);
/** Fills `matched` of all runs, once every trial was loaded. */
void ys_metric_view_match(struct ys_metric_view *view);

/** `trial` with what the study knows of its model added as `work`, so that a run's metrics can be computed. */
ys_json *ys_metric_view_with_work(const ys_json *study, const struct ys_trial_record *trial);

/** What a run has of metric `name`, which must be one of ys_metric_infos(); NULL while its trial is not loaded. */
const struct ys_run_metric *ys_metric_view_metric(const struct ys_metric_view_run *run, const char *name);
/** The value of metric `name` in a run; NaN when it has none. */
double ys_metric_view_value(const struct ys_metric_view_run *run, const char *name);

/** The median of metric `name` of a trial that has its metrics; NaN when it has none. */
double ys_trial_median(const struct ys_metric_view_trial *trial, const char *name);
enum { YS_TRIAL_FAULT_SIZE = 400 };
/** Why nothing may be concluded from this trial beside `other` (NULL: any that works); false when something may. What
 * does no work is compared with its like alone: a difference that is known is how the measuring itself is measured. */
bool ys_trial_has_fault(const struct ys_metric_view_trial *trial, const struct ys_metric_view_trial *other,
                        char *reason, size_t size);

/** The metrics of a trial whose runs are loaded: new, one for each of ys_metric_infos(). */
struct ys_trial_metric *ys_trial_metrics(const struct ys_metric_view_trial *trial);

#endif
