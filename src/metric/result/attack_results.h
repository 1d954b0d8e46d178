/* What attacks did to the networks of a trial's runs, as the result shows it. */
#ifndef YS_METRIC_RESULT_ATTACK_RESULTS_H
#define YS_METRIC_RESULT_ATTACK_RESULTS_H

#include "metric/result_document.h"
#include "metric/study_view.h"

/** New, by its record and ys_free(); NULL where nothing was to attack any run. */
struct ys_robustness_block *ys_robustness_block(const struct ys_metric_view_trial *trial);

/** What a run says of a pair of trials, of which it is the one that was made later. */
struct ys_transfer_told {
    struct ys_facts_transfer told; /* owns its text */
    int64_t round;
    int attempt;
};
struct ys_transfers { /* a zeroed one is empty */
    struct ys_transfer_told *items;
    size_t count, capacity;
};
/** Adds what the runs of `trial`, which is loaded, say of attacks that carry over. */
void ys_transfers_add(const struct ys_metric_view_trial *trial, struct ys_transfers *transfers);
/** Once every trial was loaded: sums over the rounds in which the runs of both trials count and are ok, into `list` of
 * struct ys_result_transfer; ends `transfers`. */
void ys_transfers_sum(const struct ys_metric_view *view, struct ys_transfers *transfers, struct ys_list *list);

#endif
