/* A trial without its disturbed runs. */
#ifndef YS_METRIC_UNDISTURBED_H
#define YS_METRIC_UNDISTURBED_H

#include "metric/result_document.h"
#include "metric/study_view.h"

/** Medians of its ok runs that count and were not disturbed, unknown where there is none: new (ys_free), NULL where no
 * run of it was disturbed. */
struct ys_result_quiet *ys_quiet_find(const struct ys_metric_view_trial *trial);

#endif
