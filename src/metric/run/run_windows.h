/* Windows of a run, through which it can be compared with another run. Of this room alone.
 *
 * Where a run's own steady part begins (stat/steady.h) differs from run to run: of two runs that drift alike the one
 * whose part begins later looks faster. Two runs of one round are therefore compared over one window, which begins at
 * the later of the two starts and ends where the runs end. Starts are shares of a run, which are the same steps where
 * both runs have as many, and the same rows of data where they have not.
 *
 * Comparing reads no blocks, of which there may be millions: each run keeps, beside its metrics, what they are in the
 * windows that begin at an eighth of its blocks, from its own start on. A window that two runs share begins at the
 * first eighth that is no earlier than either start; where both parts begin at the same share they are that window
 * themselves. */
#ifndef YS_METRIC_RUN_RUN_WINDOWS_H
#define YS_METRIC_RUN_RUN_WINDOWS_H

#include "stat/steady.h"
#include "store/stored_metric.h"

enum {
    YS_WINDOW_PARTS = 8,
    YS_WINDOW_MARKS = 5,   /* where windows begin: 0 to 4 of those parts, as no part that is used begins later */
    YS_WINDOW_METRICS = 4, /* the first of ys_compared (metric/study_view.h): those of the steady part alone */
};

/** The blocks, or requests, after the first. */
struct ys_window_blocks {
    size_t count;
    const int64_t *span_ns;
    const int64_t *steps;      /* of each block; NULL: one each */
    const int64_t *latency_ns; /* of each request; NULL in training */
};
/** A new value for the store. `steady` is of these blocks. */
ys_json *ys_window_measure(const struct ys_window_blocks *blocks, const struct ys_steady *steady);

/** The same for comparisons. */
struct ys_windows {
    bool is_known;
    double from;                                   /* where that begins, as a share of the blocks after the first */
    double drift;                                  /* of that; NaN where it cannot be told */
    int first;                                     /* mark */
    double at[YS_WINDOW_MARKS][YS_WINDOW_METRICS]; /* over the metric of its own part; 1 before `first` */
    double drift_at[YS_WINDOW_MARKS];
};
/** `steady_from` counts all blocks, `left` is of struct ys_steady; `stored` may be NULL. */
void ys_window_take(const struct ys_run_windows *stored, int64_t steady_from, double left, struct ys_windows *windows);

/** What two runs of a round are compared over. */
struct ys_run_window {
    int mark;    /* -1: each over its own part */
    double from; /* where it begins, as a share of the blocks after the first; NaN where that is not known */
    double
        bias; /* by how much the speed a / b would change were what is left of both warm-ups gone, as a logarithm; both
                 drifts are taken as often, so that runs that drift alike have none. NaN where it cannot be told */
};
struct ys_run_window ys_window_common(const struct ys_windows *a, const struct ys_windows *b);
/** Metric `metric` in that window, given its value `own` in the run's own part. */
double ys_window_value(const struct ys_windows *windows, const struct ys_run_window *window, int metric, double own);

#endif
