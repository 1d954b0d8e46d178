/* After the last round: each trial that trained runs once more, and a stretch of that run is gone through again. */
#include "verify/audit.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "run/message.h"
#include "study/inputs.h"
#include "study/one.h"
#include "study/sequence.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

/* One audit of one trial under way. */
struct auditing {
    struct ys_study *study;
    struct ys_trial *trial;
    struct ys_work work;
    int64_t round;
    char *folder;
    struct ys_plan plan;
    struct ys_run_record record;
    struct ys_series_set timed; /* of the run of that round that was timed; empty: there is none */
    struct ys_audit *audit;
};

static ys_status settle_none(struct auditing *a)
{
    return ys_audit_settle(a->audit, YS_AUDIT_NONE, ys_error());
}

static ys_status judge_run(struct auditing *a, const struct ys_audit_manner *manner)
{
    const struct ys_series *losses = ys_series_find(&a->record.series, "step_loss");
    const struct ys_series *timed = ys_series_find(&a->timed, "step_loss");
    const struct ys_facts *facts = &a->record.facts;
    const char *message = facts->message ? facts->message : "no message";
    if (facts->status == YS_RUN_WRONG_OUTPUT)
        return ys_audit_settle(a->audit, YS_AUDIT_FAIL, message);
    if (facts->status != YS_RUN_OK || !losses) {
        ys_fail(YS_EPROTOCOL, "the run to be audited ended as %s: %s", ys_run_status_name(facts->status), message);
        return settle_none(a);
    }
    const struct ys_audit_evidence evidence = {.engine = a->study->oracle,
                                               .plan = &a->plan,
                                               .folder = a->folder,
                                               .losses = losses->reals,
                                               .loss_count = losses->count,
                                               .timed = timed ? timed->reals : NULL,
                                               .timed_count = timed ? timed->count : 0,
                                               .saves_state = ys_message_has_feature(facts->hello, "state"),
                                               .is_builtin = strcmp(a->trial->framework->name, "builtin") == 0};
    ys_progress("%s: auditing", a->trial->record.id);
    ys_status judged = ys_audit_judge(manner, &evidence, a->audit);
    if (judged == YS_EFORMAT)
        return ys_audit_settle(a->audit, YS_AUDIT_FAIL, ys_error());
    return judged == YS_EPROTOCOL || judged == YS_EUNSUPPORTED || judged == YS_EIO ? settle_none(a) : judged;
}

/* A round that was left out, or went badly, has no losses to compare. */
static ys_status find_timed(struct auditing *a)
{
    int64_t run_id = 0;
    ys_status status = ys_store_run_find(a->study->store, a->trial->record.trial_id, a->round, &run_id);
    if (status == YS_OK)
        status = ys_store_series_get(a->study->store, run_id, &a->timed);
    return status == YS_ENOTFOUND ? YS_OK : status;
}

static ys_status audit_prepared(struct auditing *a)
{
    struct ys_audit_manner manner;
    YS_TRY(ys_work_plan(&a->work, a->trial, a->study->seed + (uint64_t)a->round, a->folder, &a->plan));
    ys_status status = ys_audit_plan(&a->plan, &manner);
    if (status == YS_ENOTFOUND)
        return settle_none(a);
    YS_TRY(status);
    YS_TRY(find_timed(a));
    YS_TRY(ys_study_find_oracle(a->study));
    const uint64_t start_ns = ys_time_ns();
    YS_TRY(ys_study_run_again(a->study, a->trial, &a->work, a->round, a->folder, &manner.run, &a->plan, &a->record));
    const uint64_t ran_ns = ys_time_ns();
    status = judge_run(a, &manner);
    a->audit->run_s = (double)(ran_ns - start_ns) * 1e-9;
    a->audit->judge_s = (double)(ys_time_ns() - ran_ns) * 1e-9;
    return status;
}

static ys_status audit_round(struct ys_study *study, struct ys_trial *trial, int64_t round, struct ys_audit *audit)
{
    struct auditing a = {.study = study, .trial = trial, .round = round, .audit = audit};
    ys_record_init(&ys_audit_record, audit);
    audit->round = round;
    YS_TRY(ys_study_prepare(study, trial, round, 0, &a.work));
    ys_status status = ys_study_make_run_folder(study, trial, round, 0, &a.folder);
    if (status == YS_OK)
        status = audit_prepared(&a);
    if (a.folder && ys_fs_remove_tree(a.folder) != YS_OK)
        ys_log_warn("what an audit left stays in %s: %s", a.folder, ys_error());
    ys_series_set_free(&a.timed);
    ys_run_record_fini(&a.record);
    ys_plan_fini(&a.plan);
    ys_free(a.folder);
    ys_work_fini(&a.work);
    return status;
}

/* The place is drawn anew each time. */
struct placing {
    struct ys_study *study;
    struct ys_trial *trial;
    int64_t round;
};

static ys_status audit_place(void *context, struct ys_audit *audit)
{
    const struct placing *at = context;
    return audit_round(at->study, at->trial, at->round, audit);
}

/* The worst of the rounds that are audited. */
static ys_status audit_rounds(struct ys_study *study, struct ys_trial *trial, struct ys_audit *worst)
{
    const bool all = study->keys.audit == YS_AUDITS_ALL;
    uint64_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        return ys_fail(YS_EIO, "the kernel gives no random numbers");
    const int64_t rounds = all ? study->rounds : 1, first = all ? 0 : (int64_t)(drawn % (uint64_t)study->rounds);
    for (int64_t i = 0; i < rounds; i++) {
        struct ys_audit audit;
        struct placing at = {study, trial, first + i};
        ys_status status = ys_audit_try_places(audit_place, &at, &audit);
        bool worse = status == YS_OK && (i == 0 || audit.verdict > worst->verdict);
        if (worse && i > 0)
            ys_record_fini(&ys_audit_record, worst);
        if (worse)
            *worst = audit;
        else
            ys_record_fini(&ys_audit_record, &audit);
        if (status != YS_OK) {
            if (i > 0)
                ys_record_fini(&ys_audit_record, worst);
            return status;
        }
    }
    return YS_OK;
}

/* A proof that covers other work than the runs do is none of theirs. */
static ys_status put_audit(struct ys_study *study, const struct ys_audit *audit, ys_json *proof)
{
    ys_json *said = ys_record_json(&ys_audit_record, audit);
    YS_TRY(said ? ys_json_set(proof, YS_STUDY_AUDIT, said) : ys_out_of_memory());
    if (audit->verdict != YS_AUDIT_FAIL)
        return YS_OK;
    study->proof_failed = true;
    ys_json_set_string(proof, "verdict", ys_name_of(&ys_proof_verdicts, YS_PROOF_FAIL));
    return ys_json_set_string(proof, "reason", audit->reason);
}

ys_status ys_study_keep_audit(struct ys_study *study, const ys_json *earlier, ys_json *proof)
{
    struct ys_audit audit;
    const ys_json *said = ys_stored_audit(earlier);
    if (!said)
        return YS_OK;
    YS_TRY(ys_record_read(&ys_audit_record, said, YS_STUDY_AUDIT, &audit));
    ys_status status = put_audit(study, &audit, proof);
    ys_record_fini(&ys_audit_record, &audit);
    return status;
}

ys_status ys_study_note_audit(struct ys_study *study, struct ys_trial *trial, const struct ys_audit *audit)
{
    ys_status status = put_audit(study, audit, trial->record.proof);
    if (audit->verdict == YS_AUDIT_FAIL) {
        ys_log_warn("%s fails its audit: %s%s%s", trial->record.id, audit->reason, audit->place ? "; " : "",
                    audit->place ? audit->place : "");
    }
    return status == YS_OK ? ys_store_proof_put(study->store, trial->record.trial_id, trial->record.proof) : status;
}

static bool is_due(const struct ys_trial *trial)
{
    enum ys_proof_verdict verdict = ys_trial_record_verdict(&trial->record);
    return !ys_stored_audit(trial->record.proof) && ys_trial_can_run(trial) && !trial->given_up &&
           trial->successes > 0 && !trial->framework->no_work && verdict != YS_PROOF_NONE && verdict != YS_PROOF_FAIL &&
           trial->record.keys.mode == YS_MODE_TRAIN;
}

static bool is_wanted(const struct ys_study *study)
{
    return study->keys.audit != YS_AUDITS_OFF;
}

bool ys_study_lacks_audit(const struct ys_study *study)
{
    for (size_t i = 0; is_wanted(study) && i < study->set.count; i++)
        if (is_due(&study->set.items[i]))
            return true;
    return false;
}

ys_status ys_study_audit_all(struct ys_study *study)
{
    uint64_t start_ns = ys_time_ns();
    double prepared_s = study->prepare_s;
    ys_status status = YS_OK;
    if (!is_wanted(study))
        return YS_OK;
    for (size_t i = 0; status == YS_OK && i < study->set.count; i++) {
        struct ys_trial *trial = &study->set.items[i];
        struct ys_audit audit;
        if (ys_stop_signal())
            study->stopped_by = ys_stop_signal();
        if (!is_due(trial) || study->stopped_by || (study->deadline_ns && ys_time_ns() >= study->deadline_ns))
            continue;
        status = audit_rounds(study, trial, &audit);
        if (status == YS_OK) {
            status = ys_study_note_audit(study, trial, &audit);
            ys_record_fini(&ys_audit_record, &audit);
        }
    }
    ys_progress_clear();
    study->audit_s += (double)(ys_time_ns() - start_ns) * 1e-9 - (study->prepare_s - prepared_s);
    return status;
}
