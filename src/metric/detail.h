/* runs_detail: what plots and tables of single runs need. Of this room alone. */
#ifndef YS_METRIC_DETAIL_H
#define YS_METRIC_DETAIL_H

#include "metric/trial.h"

/* Longer curves are thinned to about this many points; `every` says to which. The store keeps all. */
#define YS_DETAIL_MAX_POINTS 2000

/** One entry a stored run, superseded attempts included. */
ys_status ys_detail_runs(struct ys_store *store, const struct ys_metric_view_trial *trial,
                         ys_json **runs) YS_MUST_CHECK;

#endif
