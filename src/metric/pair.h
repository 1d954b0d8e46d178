/* Comparisons between trials that differ in one factor. Of this room alone. */
#ifndef YS_METRIC_PAIR_H
#define YS_METRIC_PAIR_H

#include "metric/trial.h"

/** The factor in which two trials of one section differ; NULL when they differ in none, in several, or are of two
 * sections. An option of one framework alone ("opt.pytorch.compile") does not count where the frameworks differ. */
const char *ys_pair_varies(const struct ys_trial_record *a, const struct ys_trial_record *b);

/** Adds the comparisons of a study whose trials were all loaded and have their metrics: pairs that differ in
 * `framework` first, then the other factors; a is the later trial of the job, b the earlier, but of a pair that differs
 * in `ranks` b is that of one process. Trials that differ in one factor alone form a group. With `all` each is compared
 * with each. Without, each with the first of its group, so that there are about as many comparisons as trials times
 * factors: the first in the order of the job with which comparing can say something, that is one that has a successful
 * run and a speed, does work, and whose proof did not fail; along `ranks` that of one process, where it can. */
ys_status ys_pair_comparisons(const struct ys_metric_view *view, bool all, struct ys_result *result) YS_MUST_CHECK;

#endif
