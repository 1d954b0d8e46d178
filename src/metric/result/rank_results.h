/* A trial of several ranks, rank by rank. */
#ifndef YS_METRIC_RESULT_RANK_RESULTS_H
#define YS_METRIC_RESULT_RANK_RESULTS_H

#include "metric/study_view.h"

/** One rank in the member `ranks` of a trial (docs/results.md). Numbers that are not known are NaN or YS_FIELD_NONE. */
struct ys_result_rank {
    int64_t rank;
    char *host;           /* NULL: all are on one */
    double clock_error_s; /* of its clock against that of the study's host, the largest; NaN: all are on one */
    int status;   /* enum ys_run_status: ok, or how it ended in the example of failures that the trial tells of */
    int64_t runs; /* that are ok, which the rest is of */
    double rate_per_s, cpu_s, cpu_wait_s, rss_peak_bytes, threads_peak; /* medians */
    /* Of a step: medians of what the runs have, each of which add up within its run; and both ends of their intervals,
     * of that level, or NULL of fewer than YS_STAT_INTERVAL_MIN runs. */
    double compute_s, communication_s, waiting_s, optimizer_s, framework_s, input_s, rest_s;
    ys_json *compute_ci, *communication_ci, *waiting_ci, *optimizer_ci, *framework_ci, *input_ci, *rest_ci;
    double level;
    int late_part;     /* enum ys_rank_part; YS_NAME_NONE where parts are not known */
    double late_s;     /* median of how much longer than the others it takes for that part of a step */
    ys_json *late_ci;  /* as the intervals above */
    double sent_bytes; /* of a step, to other ranks; median */
    char *untimed;     /* why the parts of its step are not known; NULL: they are, or nothing ended well */
    /* Of its host's network interface (metric/result/wire_traffic.h), which it shares with the other ranks there: what
     * passed in a step, and what has to leave it; medians. */
    char *interface;
    double wire_sent_bytes, wire_received_bytes, wire_needed_bytes;
    /* In collectives (struct ys_facts_collectives): whose they are and why something of it is not known, as the last
     * run has it, or NULL; of a step, medians: calls, bytes that were handed over, at least one was under way, and of
     * that while the rank did not wait for its gradients. */
    char *collective_library, *collective_reason;
    double collective_calls, collective_bytes, collective_s, hidden_s;
};
extern const struct ys_record ys_result_rank_record;

/* What of a step can make a rank late: the rest of it depends on others. */
enum ys_rank_part { YS_RANK_COMPUTE, YS_RANK_OPTIMIZER, YS_RANK_FRAMEWORK, YS_RANK_INPUT, YS_RANK_REST };
extern const struct ys_names ys_rank_parts; /* "compute", "optimizer" and so on */

/** Array of struct ys_result_rank, by their number; NULL where no run of it was of several processes. */
ys_json *ys_ranks_block(const struct ys_metric_view_trial *trial);

#endif
