/* A trial of several ranks, rank by rank. */
#ifndef YS_METRIC_RESULT_RANK_RESULTS_H
#define YS_METRIC_RESULT_RANK_RESULTS_H

#include "metric/result_document.h"
#include "metric/study_view.h"

/** New: struct ys_result_rank, by their number; empty where no run of it was of several processes. */
struct ys_list ys_ranks_list(const struct ys_metric_view_trial *trial);

#endif
