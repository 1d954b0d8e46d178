/* Whether the first loss of a run is that of the batch it was to begin with: the check "first loss" of the trial's list
 * (study/make_checks.h). */
#ifndef YS_STUDY_CHECK_FIRST_LOSS_H
#define YS_STUDY_CHECK_FIRST_LOSS_H

#include "crew/run_spec.h"
#include "study/state.h"

/** Where a run that is ok has another loss at its first step than the oracle says of `plan`'s first batch, its facts
 * get the status wrong_output. What the oracle says is kept with the works in the cache. Nothing is judged of
 * inference, of an adapter that does no work, and of a network with dropout. An oracle that breaks off is asked
 * twice; the check is then missing. YS_EINTR, YS_EIO. */
ys_status ys_losses_check(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                          const struct ys_plan *plan, struct ys_run_record *record) YS_MUST_CHECK;

/** The same of the step behind each checkpoint, whose weights still lie in `folder`. Where one has another loss than
 * the oracle says of those weights and that batch, the facts get the status wrong_output. */
ys_status ys_losses_check_checkpoints(struct ys_study *study, struct ys_trial *trial, const struct ys_plan *plan,
                                      const char *folder, struct ys_run_record *record) YS_MUST_CHECK;

#endif
