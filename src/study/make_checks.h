/* Which checks of a trial's runs are due, and what comes of them: the trial's list (store/due_checks.h), kept with its
 * proof.
 */
#ifndef YS_STUDY_MAKE_CHECKS_H
#define YS_STUDY_MAKE_CHECKS_H

#include "prepare/agreement.h"
#include "prepare/attacked_framework.h"
#include "prepare/stored_run.h"
#include "store/due_checks.h"
#include "study/state.h"

/** The list of a trial by its job alone, before anybody is asked: what is due is "not yet". *due is overwritten, and to
 * be freed with ys_list_fini(). `audit`: which rounds are to be audited. */
ys_status ys_due_plan(const struct ys_trial *trial, enum ys_audits audit, struct ys_list *due) YS_MUST_CHECK;
/** The check that is the audit of runs of that mode. */
enum ys_due_check ys_due_audit(int mode);
/** Begins the list of a trial that has its proof, into which it goes; what an earlier session found of a check
 * stays. */
ys_status ys_due_begin(const struct ys_study *study, struct ys_trial *trial) YS_MUST_CHECK;
/** What came of a check of one run: the worst of all holds. `reason` is copied; NULL for pass and weak. */
void ys_due_note(struct ys_trial *trial, enum ys_due_check check, enum ys_due_state state, const char *reason);
/** The same of one that is made of the trial as a whole: it takes the place of what was there. */
void ys_due_settle(struct ys_trial *trial, enum ys_due_check check, enum ys_due_state state, const char *reason);
/** Of a run of mode attack: what attacks did to its answers becomes a fact of it, and unless nothing is audited it is
 * held against what they do to the built-in engine. `weights_key`: of the common weights. YS_EINTR. */
ys_status ys_outcomes_check(struct ys_study *study, struct ys_trial *trial, struct ys_attacked_framework *attacked,
                            const char *weights_key, struct ys_facts *facts) YS_MUST_CHECK;
/** Of one that did not come so far: the attacks that were finished become a fact of it. */
void ys_outcomes_keep(struct ys_attacked_framework *attacked, struct ys_facts *facts);
/** Of a run of mode size that went well: what it loaded is judged, which may make it wrong_output. YS_EINTR. */
ys_status ys_stored_check(struct ys_trial *trial, const struct ys_stored_run *stored,
                          struct ys_facts *facts) YS_MUST_CHECK;
/** Of the first run of a quantised trial that went well: whether its operators give the integers of the rule
 * (prepare/layer_proof.h). Where they do not, its proof fails. `plan` is that of the run; YS_EINTR. */
ys_status ys_integers_check(struct ys_study *study, struct ys_trial *trial, const struct ys_agreement *agreement,
                            const struct ys_work *work, const struct ys_plan *plan, const char *folder,
                            struct ys_facts *facts) YS_MUST_CHECK;
/** The state of a check; YS_DUE_NOT of one that is none of this trial's. */
enum ys_due_state ys_due_state(const struct ys_trial *trial, enum ys_due_check check);

#endif
