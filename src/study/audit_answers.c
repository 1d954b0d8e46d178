#include "study/audit_answers.h"

#include "base/log.h"
#include "base/mem.h"
#include "study/make_checks.h"
#include "study/run_trial.h"
#include "study/sequence.h"
#include "verify/audits/judge_answers.h"

#include <math.h>

bool ys_answers_are_audited(const struct ys_study *study, const struct ys_trial *trial)
{
    return ys_due_audit(trial->record.keys.mode) == YS_DUE_ANSWERS && !trial->framework->no_work &&
           trial->record.keys.quant == YS_NAME_NONE && study->keys.audit != YS_AUDITS_OFF;
}

/* What breaks off is tried once more, and then is missing. */
static ys_status judge(struct ys_study *study, const struct ys_trial *trial, const struct ys_plan *plan,
                       const struct ys_run_record *record, struct ys_audit *audit)
{
    YS_TRY(ys_study_find_oracle(study));
    const struct ys_answers_evidence evidence = {
        .engine = study->oracle, .plan = plan, .requests = ys_trial_requests(trial), .record = record};
    ys_progress("%s: auditing", trial->record.id);
    ys_status status = ys_answers_judge(&evidence, audit);
    if (status == YS_EPROTOCOL || status == YS_EIO)
        status = ys_answers_judge(&evidence, audit);
    ys_progress_clear();
    if (status != YS_EPROTOCOL && status != YS_EUNSUPPORTED && status != YS_EIO)
        return status;
    ys_audit_settle_broken(audit, status);
    return YS_OK;
}

/* How near its bound, or how far beyond it is. */
static double share_of(const struct ys_audit *audit)
{
    if (!audit->place)
        return -1;
    return isnan(audit->error) ? INFINITY : audit->bound > 0 ? audit->error / audit->bound : 0;
}

/* Of two audits the worse one; answers were judged in both. */
static void take_worse(struct ys_audit *audit, struct ys_audit *earlier)
{
    const int64_t here = audit->answers == YS_FIELD_NONE ? 0 : audit->answers;
    const int64_t before = earlier->answers == YS_FIELD_NONE ? 0 : earlier->answers;
    const bool is_worse = earlier->verdict > audit->verdict ||
                          (earlier->verdict == audit->verdict && share_of(earlier) > share_of(audit));
    if (is_worse) {
        struct ys_audit spare = *audit;
        *audit = *earlier;
        *earlier = spare;
    }
    audit->answers = here + before;
}

static ys_status put_worst(struct ys_study *study, struct ys_trial *trial, struct ys_audit *audit)
{
    const ys_json *said = ys_stored_audit(trial->record.proof);
    if (said) {
        struct ys_audit earlier;
        YS_TRY(ys_record_read(&ys_audit_record, said, YS_STUDY_AUDIT, &earlier));
        take_worse(audit, &earlier);
        ys_record_fini(&ys_audit_record, &earlier);
    }
    return ys_study_note_audit(study, trial, audit);
}

ys_status ys_answers_audit(struct ys_study *study, struct ys_trial *trial, int64_t round, const struct ys_plan *plan,
                           const struct ys_run_record *record)
{
    const enum ys_proof_verdict verdict = ys_stored_verdict(trial->record.proof);
    struct ys_audit audit;
    if (!ys_answers_are_audited(study, trial) || record->facts.status != YS_RUN_OK || verdict == YS_PROOF_NONE ||
        verdict == YS_PROOF_FAIL)
        return YS_OK;
    ys_record_init(&ys_audit_record, &audit);
    audit.round = round;
    ys_status status = judge(study, trial, plan, record, &audit);
    if (status == YS_OK)
        status = put_worst(study, trial, &audit);
    ys_record_fini(&ys_audit_record, &audit);
    return status;
}

static ys_status try_prepared(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                              const char *folder, struct ys_audit *audit)
{
    struct ys_plan plan;
    struct ys_run_record record = {0};
    YS_TRY(ys_work_plan(work, trial, study->seed, folder, &plan));
    ys_status status = ys_study_run_again(study, trial, work, 0, folder, NULL, &plan, &record);
    if (status == YS_OK && record.facts.status == YS_RUN_OK)
        status = judge(study, trial, &plan, &record, audit);
    else if (status == YS_OK)
        ys_audit_settle(audit, YS_AUDIT_FAIL, record.facts.message ? record.facts.message : "its run did not end well");
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
    return status;
}

ys_status ys_answers_try(struct ys_study *study, struct ys_trial *trial, const char *folder, struct ys_audit *audit)
{
    struct ys_work work;
    YS_TRY(ys_study_prepare(study, trial, 0, 0, &work));
    ys_status status = try_prepared(study, trial, &work, folder, audit);
    ys_work_fini(&work);
    return status;
}
