/* The comparisons of one metric in one section are a family. Of this room alone. */
#ifndef YS_METRIC_TOGETHER_H
#define YS_METRIC_TOGETHER_H

#include "metric/moments.h"
#include "stat/family.h"

/** As of a moment, for each of `count` pairs of trials of the view, places in the job, the factor by which its interval
 * for metric `metric` (of ys_compared) is stretched, into *stretch[i]: that of all these pairs of its section
 * (stat/family.h). `by_ratio`: by logarithms, else by difference. YS_ENOMEM. */
ys_status ys_together_stretch(const struct ys_metric_view *view, const struct ys_moment *moment,
                              const struct ys_family_pair *pairs, size_t count, int metric, bool by_ratio,
                              double *const *stretch) YS_MUST_CHECK;

#endif
