/* The steps that a study which begins and one that is gone on with have in common. */
#ifndef YS_STUDY_SEQUENCE_H
#define YS_STUDY_SEQUENCE_H

#include "study/past_runs.h"
#include "study/state.h"

/** Proves each trial that will run and stores the proofs; trials that share everything share the cached proof. */
ys_status ys_study_prove_all(struct ys_study *study) YS_MUST_CHECK;
/** Runs every round that `past` lacks, until the study's time limit or a signal. */
ys_status ys_study_run_rounds(struct ys_study *study, const struct ys_past_runs *past) YS_MUST_CHECK;
/** Audits the trials that ran (study/audit.h), as the job's key `audit` says, and stores what is found with their
 * proofs.
 */
ys_status ys_study_audit_all(struct ys_study *study) YS_MUST_CHECK;
/** Puts what an audit found into the trial's proof, and stores that. */
ys_status ys_study_note_audit(struct ys_study *study, struct ys_trial *trial,
                              const struct ys_audit *audit) YS_MUST_CHECK;
#define YS_STUDY_AUDIT "audit" /* the member of a proof */
/** Whether a trial that ran lacks an audit that the job asks for. */
bool ys_study_lacks_audit(const struct ys_study *study);
/** What an audit found in an earlier session holds for `proof`, which takes the place of the stored one, `earlier` (may
 * be NULL). */
ys_status ys_study_keep_audit(struct ys_study *study, const ys_json *earlier, ys_json *proof) YS_MUST_CHECK;
/** Stores how the study ended, `status` being what ended it; gives that back, or why it could not be stored. */
ys_status ys_study_end(struct ys_study *study, ys_status status, int *exit_code) YS_MUST_CHECK;
/** Once a job is resolved, whatever ends a study but the user's wish is results that could not be kept. */
ys_status ys_study_not_kept(ys_status status);

#endif
