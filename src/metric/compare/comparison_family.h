/* Comparisons of one metric that hold together: a family. Of this room alone. */
#ifndef YS_METRIC_COMPARE_COMPARISON_FAMILY_H
#define YS_METRIC_COMPARE_COMPARISON_FAMILY_H

#include "metric/compare/decision_looks.h"
#include "stat/family.h"

/** As of a moment, the factor by which the intervals of `count` pairs of trials of the view, places in the job, are
 * stretched for metric `metric` (of ys_compared), so that they hold together (stat/family.h). `by_ratio`: by
 * logarithms, else by difference. */
double ys_together_stretch(const struct ys_metric_view *view, const struct ys_moment *moment,
                           const struct ys_family_pair *pairs, size_t count, int metric, bool by_ratio);

#endif
