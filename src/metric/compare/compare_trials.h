/* The comparisons of a study. Of this room alone. */
#ifndef YS_METRIC_COMPARE_COMPARE_TRIALS_H
#define YS_METRIC_COMPARE_COMPARE_TRIALS_H

#include "metric/compare/same_work.h"

/** Adds the comparisons of a study whose trials were all loaded and have their metrics: of the pairs of
 * metric/compare/compared_trials.h, `all` as there. Those of one section hold together, and those with the best of a
 * group hold together with those of each pair of it. */
void ys_pair_comparisons(const struct ys_metric_view *view, const struct ys_groups *groups, bool all,
                         struct ys_result *result);

#endif
