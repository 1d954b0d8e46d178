/* What attacks did to the networks of a trial's runs, as the result shows it. */
#ifndef YS_METRIC_RESULT_ATTACK_RESULTS_H
#define YS_METRIC_RESULT_ATTACK_RESULTS_H

#include "metric/result_document.h"
#include "metric/study_view.h"

/** New, by its record and ys_free(); NULL where nothing was to attack any run. */
struct ys_robustness_block *ys_robustness_block(const struct ys_metric_view_trial *trial);

#endif
