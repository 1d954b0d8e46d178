/* The comparisons of a study. Of this room alone. */
#ifndef YS_METRIC_PAIR_H
#define YS_METRIC_PAIR_H

#include "metric/group.h"

/** Adds the comparisons of a study whose trials were all loaded and have their metrics: of the pairs of
 * metric/choice.h, `all` as there. Those of one section hold together, and those with the best of a group hold together
 * with those of each pair of it. */
ys_status ys_pair_comparisons(const struct ys_metric_view *view, const struct ys_groups *groups, bool all,
                              struct ys_result *result) YS_MUST_CHECK;

#endif
