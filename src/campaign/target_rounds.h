/* Rounds of two arms that train to a target (key `until`), the one against the other: in time_to_target_s or
 * steps_to_target a round that did not arrive counts as longer than any that did, and each met its target somewhere
 * behind the checkpoint before the one that says so. */
#ifndef YS_CAMPAIGN_TARGET_ROUNDS_H
#define YS_CAMPAIGN_TARGET_ROUNDS_H

#include "campaign/arms.h"
#include "metric/metric.h"
#include "stat/compare.h"

bool ys_target_is_of(const struct ys_metric_info *info);
/** Arm 1 against arm 0, in the rounds that are complete. `eval_every`: steps between two checkpoints. met[i]: rounds of
 * arm i that arrived. */
struct ys_comparison ys_target_compare(const struct ys_arms *arms, const struct ys_metric_info *info,
                                       int64_t eval_every, double margin, int64_t met[2]);
/** Runs of an arm that failed, without those that only did not meet their target, which have a place in a metric of
 * meeting it. Of arms that were measured in one part. */
int64_t ys_target_failed(const struct ys_arms *arms, size_t arm, const struct ys_metric_info *info);

#endif
