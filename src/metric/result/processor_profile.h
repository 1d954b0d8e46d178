/* Where the processor time of a trial went, over its runs. */
#ifndef YS_METRIC_RESULT_PROCESSOR_PROFILE_H
#define YS_METRIC_RESULT_PROCESSOR_PROFILE_H

#include "metric/study_view.h"

/** The mean of the runs that count, are ok and were sampled; only the reason where none was; NULL where it was
 * not asked for. Free with ys_record_free(). */
struct ys_facts_perf *ys_perf_mean(const struct ys_metric_view_trial *trial);

#endif
