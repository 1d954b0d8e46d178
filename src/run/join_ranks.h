/* The records of several ranks as that of their run. Of this room alone. */
#ifndef YS_RUN_JOIN_RANKS_H
#define YS_RUN_JOIN_RANKS_H

#include "crew/run_spec.h"

/** `own`, `count` of them, all with facts, become `record` (zeroed): facts as struct ys_facts_rank says, series with
 * the rank of each block, question and sample, and as the loss of a step the mean of those of the ranks, whose shares
 * are equal. What the ranks saved must be the same weights to the bit: the files of all but rank 0 are then removed,
 * and a run that was ok is `wrong_output` where they are not. `culprit`: whose end is the run's. `plans`: of each rank.
 * `hosts` (struct ys_facts_node; empty: one) are those of the run, each with as many ranks, in their order. `own` and
 * `hosts` keep nothing that `record` has. Failures: yardstick's own trouble to read what was saved. */
ys_status ys_run_join(const struct ys_plan *plan, const struct ys_plan *plans, struct ys_run_record *const *own,
                      size_t count, size_t culprit, struct ys_list *hosts, struct ys_run_record *record) YS_MUST_CHECK;

#endif
