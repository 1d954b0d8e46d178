/* A run of a trial, alone or with those that it takes turns with: executed, checked, stored. */
#ifndef YS_STUDY_RUN_TRIAL_H
#define YS_STUDY_RUN_TRIAL_H

#include "crew/run_spec.h"
#include "study/state.h"

/** Makes the folder of a run: runs/rROUND-tTRIAL-aATTEMPT-XXXXXXXX below the study's, X random, so that no other run
 * can lie in wait there, and an audited one has no name of its own. *folder: new string. */
ys_status ys_study_make_run_folder(const struct ys_study *study, const struct ys_trial *trial, int64_t round,
                                   int attempt, char **folder) YS_MUST_CHECK;

/** Runs `count` trials in round `round`: one, or several that take turns (study/turn_group.h) and are started in this
 * order. The runs are in the store when this returns YS_OK, whatever their statuses. YS_EINTR: stored as cancelled.
 * YS_EIO: a run for which the disk had no room is not stored, and was none of the framework's failures. Nothing but
 * its log is left in the folder of any. */
ys_status ys_study_run_group(struct ys_study *study, struct ys_trial *const *trials, size_t count, int64_t round,
                             int attempt) YS_MUST_CHECK;

/** Runs `trial` once more with `plan`, which is that of round `round`, whose work is `work`, up to the end of `audit`'s
 * stretch. The plan is made that of the run, as of any. Nothing of it is counted or stored; `record` must be freed with
 * ys_run_record_fini(). */
ys_status ys_study_run_again(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work, int64_t round,
                             const char *folder, const struct ys_run_audit *audit, struct ys_plan *plan,
                             struct ys_run_record *record) YS_MUST_CHECK;

#endif
