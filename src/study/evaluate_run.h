/* What the weights of a run are worth: asked of `yardstick-builtin evaluate`, for every framework alike. */
#ifndef YS_STUDY_EVALUATE_RUN_H
#define YS_STUDY_EVALUATE_RUN_H

#include "crew/run_spec.h"
#include "job/goal.h"
#include "study/state.h"

/** Evaluates the file `name` in `folder` (NULL: nothing is done), which a run of `trial` with `work` has saved, and
 * removes it. *evaluation is NULL where that failed, which is no failure of the study: the trial's checks have it.
 * YS_EINTR. */
ys_status ys_weights_evaluate(const struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                              const char *folder, const char *name, int64_t *weights_bytes,
                              struct ys_facts_evaluation **evaluation) YS_MUST_CHECK;

/** The target of one run (key `until`), and what its checkpoints are worth, which is asked while it stands still. */
struct ys_until;
/** *until is NULL where the trial has no target. Borrows the others until ys_until_close(). */
ys_status ys_until_open(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                        struct ys_until **until) YS_MUST_CHECK;
/** What a run is to be told (crew/run_spec.h). NULL of NULL. */
const struct ys_run_until *ys_until_asks(const struct ys_until *until);
/** Whether the weights before the first step meet the target already: *reason (new) is then why there is nothing to
 * measure; else it stays. Weights that cannot be evaluated are warned of. YS_EINTR. */
ys_status ys_until_check_start(struct ys_until *until, char **reason) YS_MUST_CHECK;
/** Makes what was found facts of the run, however it ended. NULL is fine. */
void ys_until_tell(struct ys_until *until, struct ys_facts *facts);
/** Of a run that went well: removes its checkpoints, which lie in `folder`, and makes it wrong_output where one is not
 * what was evaluated. */
void ys_until_look_again(const char *folder, struct ys_facts *facts);
/** Once the final weights are evaluated, which are its last checkpoint: a run that went well and did not meet the
 * target becomes not_converged; cancelled where it was interrupted before that was known (not `is_checked`). */
void ys_until_conclude(const struct ys_until *until, bool is_checked, struct ys_facts *facts);
void ys_until_close(struct ys_until *until);

#endif
