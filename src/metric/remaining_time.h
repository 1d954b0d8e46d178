/* How long what a study still lacks will take. */
#ifndef YS_METRIC_REMAINING_TIME_H
#define YS_METRIC_REMAINING_TIME_H

#include "metric/result_document.h"

/** Seconds that the runs take which trials plan and lack: each as long as the median of its trial's so far, one of a
 * trial without any as the mean of the other trials' medians, and `pause_s` (the job's cooldown) before each. What
 * passed between runs counts for nothing: a study that was interrupted for a night has not become slower. Preparing,
 * proving and auditing are not in it. NaN where runs are lacking and no run tells. */
double ys_result_left_s(const struct ys_result *result, double pause_s);

#endif
