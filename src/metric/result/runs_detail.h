/* runs_detail: what plots and tables of single runs need. Of this room alone. */
#ifndef YS_METRIC_RESULT_RUNS_DETAIL_H
#define YS_METRIC_RESULT_RUNS_DETAIL_H

#include "metric/study_view.h"

/* Longer curves are thinned to about this many points; `every` says to which. The store keeps all. */
#define YS_DETAIL_MAX_POINTS 2000

/* Of which runs. A run without curves has empty ones. */
struct ys_detail_choice {
    bool all;      /* every run with its curves; the rest says nothing then */
    size_t trials; /* so many more trials have curves, */
    size_t runs;   /* of their first so many runs */
    size_t failed; /* so many more runs without curves that were not ok */
};
/** One entry a stored run, superseded attempts included; `matched` is false in all of them. The trial is loaded. */
ys_status ys_detail_runs(struct ys_store *store, struct ys_metric_view_trial *trial, struct ys_detail_choice *choice,
                         ys_json **runs) YS_MUST_CHECK;
/** Fills in `matched`, once ys_metric_view_match() was called. */
void ys_detail_match(const struct ys_metric_view_trial *trial, ys_json *runs);

#endif
