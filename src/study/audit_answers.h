/* The audit of inference: each run's answers are judged once it is over (verify/audits/judge_answers.h). */
#ifndef YS_STUDY_AUDIT_ANSWERS_H
#define YS_STUDY_AUDIT_ANSWERS_H

#include "crew/run_spec.h"
#include "study/state.h"
#include "verify/audit.h"

/** Whether the answers of the trial's runs are to be shown: it infers, and the job's key `audit` is not off. */
bool ys_answers_are_audited(const struct ys_study *study, const struct ys_trial *trial);

/** Judges a run that went well, `plan` being what it was given, and stores the worst verdict of the trial's runs so far
 * with its proof; nothing where its answers were not to be shown, or the proof itself does not hold. */
ys_status ys_answers_audit(struct ys_study *study, struct ys_trial *trial, int64_t round, const struct ys_plan *plan,
                           const struct ys_run_record *record) YS_MUST_CHECK;

/** One run of the trial in `folder`, which is empty, of which nothing is kept but what its answers were worth; `audit`
 * was set up by ys_record_init(). A run that ends badly fails it. */
ys_status ys_answers_try(struct ys_study *study, struct ys_trial *trial, const char *folder,
                         struct ys_audit *audit) YS_MUST_CHECK;

#endif
