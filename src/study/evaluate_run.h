/* What the weights of a run are worth: asked of `yardstick-builtin evaluate`, for every framework alike. */
#ifndef YS_STUDY_EVALUATE_RUN_H
#define YS_STUDY_EVALUATE_RUN_H

#include "crew/facts.h"
#include "study/state.h"

/** Evaluates the file `name` in `folder` (NULL: nothing is done), which a run of `trial` with `work` has saved, and
 * removes it. *evaluation is NULL where that failed, which is no failure of the study: the trial's checks have it.
 * YS_EINTR. */
ys_status ys_weights_evaluate(const struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                              const char *folder, const char *name, int64_t *weights_bytes,
                              struct ys_facts_evaluation **evaluation) YS_MUST_CHECK;

#endif
