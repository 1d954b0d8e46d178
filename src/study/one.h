/* One run of one trial: executed, checked, stored. */
#ifndef YS_STUDY_ONE_H
#define YS_STUDY_ONE_H

#include "study/state.h"

/** Runs `trial` in round `round`; the run is in the store when this returns YS_OK, whatever its status. YS_EINTR:
 * stored as cancelled. YS_EIO: a run for which the disk had no room is not stored, and was none of the framework's
 * failures. Nothing but its log is left in its folder in any case. */
ys_status ys_study_run_one(struct ys_study *study, struct ys_trial *trial, int64_t round, int attempt) YS_MUST_CHECK;

#endif
