/* Comparisons between trials that differ in one factor. Of this room alone. */
#ifndef YS_METRIC_PAIR_H
#define YS_METRIC_PAIR_H

#include "metric/trial.h"

/** The factor in which two trials of one section differ; NULL when they differ in none, in several, or are of two
 * sections. An option of one framework alone ("opt.pytorch.compile") does not count where the frameworks differ. */
const char *ys_pair_varies(const ys_json *a, const ys_json *b);

/** All comparisons: pairs that differ in `framework` first, then the other factors; a is the later trial of the job, b
 * the earlier. */
ys_status ys_pair_comparisons(const struct ys_view *view, ys_json **comparisons) YS_MUST_CHECK;

#endif
