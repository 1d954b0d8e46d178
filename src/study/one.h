/* One run of one trial: executed, checked, stored. */
#ifndef YS_STUDY_ONE_H
#define YS_STUDY_ONE_H

#include "run/run.h"
#include "study/state.h"

/** Runs `trial` in round `round`; the run is in the store when this returns YS_OK, whatever its status. YS_EINTR:
 * stored as cancelled. YS_EIO: a run for which the disk had no room is not stored, and was none of the framework's
 * failures. Nothing but its log is left in its folder in any case. */
ys_status ys_study_run_one(struct ys_study *study, struct ys_trial *trial, int64_t round, int attempt) YS_MUST_CHECK;

/** Runs `trial` once more as in round `round`, whose work is `work`, up to the end of `audit`'s stretch. Nothing of it
 * is counted or stored; the plan it had comes in *plan (new value), `record` must be freed with ys_run_record_fini().
 */
ys_status ys_study_run_again(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work, int64_t round,
                             const char *folder, const struct ys_run_audit *audit, ys_json **plan,
                             struct ys_run_record *record) YS_MUST_CHECK;

#endif
