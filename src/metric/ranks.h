/* A trial of several ranks, rank by rank. */
#ifndef YS_METRIC_RANKS_H
#define YS_METRIC_RANKS_H

#include "metric/trial.h"

/** One rank in the member `ranks` of a trial (docs/results.md). Numbers that are not known are NaN or YS_FIELD_NONE. */
struct ys_result_rank {
    int64_t rank;
    int status;   /* enum ys_run_status: ok, or how it ended in the example of failures that the trial tells of */
    int64_t runs; /* that are ok, which the rest is of */
    double rate_per_s, cpu_s, cpu_wait_s, rss_peak_bytes, threads_peak; /* medians */
    double compute_s, communication_s, waiting_s, input_s, rest_s;      /* of a step; means, which add up */
    double sent_bytes;                                                  /* of a step, to other ranks; median */
};
extern const struct ys_record ys_result_rank_record;

/** Array of struct ys_result_rank, by their number; NULL where no run of it was of several processes. */
ys_json *ys_ranks_block(ys_status *status, const struct ys_metric_view_trial *trial);

#endif
