/* What is stored of a metric of a run. Its row has a column for each field of the record here. What else its object
 * holds is the same in run after run (unit, method, scope, source, which direction is better) and is stored once, as
 * the metric's form: the object with blanks where the columns are. docs/store.md, "Tables". */
#ifndef YS_STORE_STORED_METRIC_H
#define YS_STORE_STORED_METRIC_H

#include "base/json/record.h"

/** What a metric is in windows of its run (metric/run/run_windows.h). Lists hold an entry for each mark from `first`
 * on, in units of 1e-9. */
struct ys_run_windows {
    int64_t blocks, first;                                           /* of the blocks after the first; a mark */
    struct ys_list rate_per_s, step_s, latency_p50_s, latency_p99_s; /* int64_t: over the metric of the own part; of
                                                                        metrics that the run has not: empty */
    struct ys_list drift; /* int64_t: ys_steady_drift(); empty where it cannot be told */
};
extern const struct ys_record ys_run_windows_record;

struct ys_run_metric {
    bool known;                     /* the run has this metric, as a value or as a reason */
    double value;                   /* NaN: none */
    char *reason, *note;            /* owned; why not; what is to be known of the value; NULL */
    double cpu_s;                   /* of warmup_s alone: its processor time at most; NaN */
    int steady;                     /* 0 or 1: whether it is of a steady part; YS_NAME_NONE where that was not judged */
    int64_t steady_from;            /* block or request; YS_FIELD_NONE */
    double left;                    /* of warm-up in it (stat/steady.h); NaN */
    struct ys_run_windows *windows; /* owned; of rate_per_s alone; NULL */
};
/** The fields but `known`, by the names and in the order of the columns. */
extern const struct ys_record ys_run_metric_record;

#endif
