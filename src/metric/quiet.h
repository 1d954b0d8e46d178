/* A trial without its disturbed runs. */
#ifndef YS_METRIC_QUIET_H
#define YS_METRIC_QUIET_H

#include "metric/document.h"
#include "metric/trial.h"

/** Medians of its ok runs that count and were not disturbed, unknown where there is none. *quiet is new (ys_free), NULL
 * where no run of it was disturbed. YS_ENOMEM. */
ys_status ys_quiet_find(const struct ys_metric_view_trial *trial, struct ys_result_quiet **quiet) YS_MUST_CHECK;

#endif
