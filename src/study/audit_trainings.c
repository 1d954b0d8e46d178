/* After the last round: each trial that trained runs once more, and a stretch of that run is gone through again. */
#include "verify/audit.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/forked_task.h"
#include "base/stop.h"
#include "prepare/inputs.h"
#include "probe/host.h"
#include "session/checked_message.h"
#include "study/make_checks.h"
#include "study/run_trial.h"
#include "study/sequence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* The processor time of the last save of that timed run in which it used most, and of the steps of that run. */
struct saves {
    double most_s, steps_s;
};

/* One audit of one place under way. */
struct auditing {
    struct ys_study *study;
    struct ys_trial *trial;
    struct ys_work work;
    int64_t round;
    char *folder;
    struct ys_plan plan;
    struct ys_audit_manner manner;
    struct ys_run_record record;
    struct ys_series_set timed; /* of the run of that round that was timed; empty: there is none */
    struct saves saves;
    struct ys_audit audit;
    bool is_settled;       /* it needs no run */
    struct ys_aside aside; /* runs and judges it; none: nobody does yet */
    uint64_t begun_ns;
};

static ys_status look_at_saves(void *context, const struct ys_run_row *row)
{
    struct saves *saves = context;
    struct ys_facts facts;
    YS_TRY(ys_facts_parse(row->facts, row->facts_size, "a run", &facts));
    const struct ys_facts_phase_cpu *cpu = facts.phase_cpu;
    if (facts.status == YS_RUN_OK && cpu && cpu->save_s > saves->most_s)
        *saves = (struct saves){cpu->save_s, isnan(cpu->steps_s) ? 0 : cpu->steps_s};
    ys_facts_fini(&facts);
    return YS_OK;
}

/* Writing the same weights takes what it took in the audited run: whatever is more is steps that nobody asked for, or
 * that are done where nobody times them. */
static void judge_saves(struct auditing *a)
{
    static const double FACTOR = 2, OF_STEPS = 0.05, LEAST_S = 0.05;
    const struct ys_facts_phase_cpu *cpu = a->record.facts.phase_cpu;
    const double audited_s = cpu ? cpu->pauses_s : (double)NAN;
    const struct saves *saves = &a->saves;
    char text[300];
    if (isnan(audited_s) || a->audit.verdict > YS_AUDIT_WEAK ||
        saves->most_s <= FACTOR * audited_s + OF_STEPS * saves->steps_s + LEAST_S)
        return;
    snprintf(
        text, sizeof text,
        "saving its weights used %.3g s of processor time at the end of a run that was timed, and all saves of the "
        "audited one %.3g s: other work was done there",
        saves->most_s, audited_s);
    ys_audit_settle(&a->audit, YS_AUDIT_FAIL, text);
}

static ys_status judge_run(struct auditing *a)
{
    const struct ys_series *losses = ys_series_find(&a->record.series, "step_loss");
    const struct ys_series *timed = ys_series_find(&a->timed, "step_loss");
    const struct ys_facts *facts = &a->record.facts;
    const char *message = facts->message ? facts->message : "no message";
    if (facts->status == YS_RUN_WRONG_OUTPUT) {
        ys_audit_settle(&a->audit, YS_AUDIT_FAIL, message);
        return YS_OK;
    }
    if (facts->status != YS_RUN_OK || !losses) {
        ys_status ended =
            ys_fail(YS_EPROTOCOL, "the run to be audited ended as %s: %s", ys_run_status_name(facts->status), message);
        ys_audit_settle_broken(&a->audit, ended);
        return YS_OK;
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
    ys_status judged = ys_audit_judge(&a->manner, &evidence, &a->audit);
    if (judged == YS_OK)
        judge_saves(a);
    if (judged == YS_EFORMAT) {
        ys_audit_settle(&a->audit, YS_AUDIT_FAIL, ys_error());
        return YS_OK;
    }
    if (!(judged == YS_EPROTOCOL || judged == YS_EUNSUPPORTED || judged == YS_EIO))
        return judged;
    ys_audit_settle_broken(&a->audit, judged);
    return YS_OK;
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

static ys_status find_saves(struct auditing *a)
{
    const struct ys_run_reader reader = {.context = &a->saves, .run = look_at_saves};
    return ys_store_runs_each(a->study->store, a->trial->record.trial_id, &reader);
}

/* The engine goes where there is room: a trial on one processor is judged beside the next one on the same. */
static ys_status run_and_judge(struct auditing *a)
{
    if (a->is_settled)
        return YS_OK;
    const uint64_t start_ns = ys_time_ns();
    ys_status status =
        ys_study_run_again(a->study, a->trial, &a->work, a->round, a->folder, &a->manner.run, &a->plan, &a->record);
    const uint64_t ran_ns = ys_time_ns();
    a->plan.cpus.count = 0;
    if (status == YS_OK)
        status = judge_run(a);
    a->audit.run_s = (double)(ran_ns - start_ns) * 1e-9;
    a->audit.judge_s = (double)(ys_time_ns() - ran_ns) * 1e-9;
    return status;
}

/* Where the stretch lies: before the target's step, where the run of that round ended there. */
static ys_status find_stretch(struct auditing *a)
{
    const struct ys_series *losses = ys_series_find(&a->timed, "step_loss");
    struct ys_plan done = a->plan; /* borrows */
    if (a->trial->record.keys.until && losses && losses->count > 0 && (int64_t)losses->count < done.steps)
        done.steps = (int64_t)losses->count;
    return ys_audit_plan(&done, &a->manner);
}

static ys_status prepare_plan(struct auditing *a)
{
    YS_TRY(ys_work_plan(&a->work, a->trial, a->study->seed + (uint64_t)a->round, a->folder, &a->plan));
    ys_work_plan_here(a->trial, &a->plan);
    YS_TRY(find_timed(a));
    ys_status status = find_stretch(a);
    if (status == YS_ENOTFOUND) {
        a->is_settled = true;
        ys_audit_settle(&a->audit, YS_AUDIT_NONE, ys_error());
        return YS_OK;
    }
    YS_TRY(status);
    YS_TRY(find_saves(a));
    return ys_study_find_oracle(a->study);
}

static void free_auditing(struct auditing *a)
{
    if (a->folder && ys_fs_remove_tree(a->folder) != YS_OK)
        ys_log_warn("what an audit left stays in %s: %s", a->folder, ys_error());
    ys_record_fini(&ys_audit_record, &a->audit);
    ys_series_set_free(&a->timed);
    ys_run_record_fini(&a->record);
    ys_plan_fini(&a->plan);
    ys_free(a->folder);
    ys_work_fini(&a->work);
    ys_free(a);
}

/* What a copy of this process says that has judged. */
struct verdict {
    struct ys_audit audit;
    bool may_be_flip; /* which the record of an audit lacks */
};
static const struct ys_field verdict_fields[] = {
    YS_FIELD_OF(struct verdict, audit, YS_FIELD_OBJECT, &ys_audit_record, 0, "what it came to"),
    YS_FIELD(struct verdict, may_be_flip, YS_FIELD_FLAG, NULL, 0, "whether a flipped ReLU may be why it fails"),
};
static const struct ys_record verdict_record = YS_RECORD("verdict", struct verdict, verdict_fields);

/* In that copy. */
static ys_status audit_aside(void *context, struct ys_buf *told)
{
    struct auditing *a = context;
    YS_TRY(run_and_judge(a));
    const struct verdict verdict = {a->audit, a->audit.may_be_flip};
    ys_json *said = ys_record_json(&verdict_record, &verdict);
    char *text = ys_json_dump(said, YS_JSON_COMPACT);
    ys_json_free(said);
    ys_buf_puts(told, text);
    ys_free(text);
    return YS_OK;
}

static ys_status read_verdict(const struct ys_buf *told, struct ys_audit *audit)
{
    static const char label[] = "what an audit came to";
    ys_json *said = NULL;
    struct verdict verdict;
    YS_TRY(ys_json_parse(ys_buf_text(told), told->size, label, &said));
    ys_status status = ys_record_read(&verdict_record, said, label, &verdict);
    ys_json_free(said);
    YS_TRY(status);
    ys_record_fini(&ys_audit_record, audit);
    *audit = verdict.audit;
    audit->may_be_flip = verdict.may_be_flip;
    return YS_OK;
}

/* Begins to run `trial` with the work of `round` up to the end of a stretch, and to judge that. */
static ys_status begin_auditing(struct ys_study *study, struct ys_trial *trial, int64_t round, bool is_alone,
                                struct auditing **begun)
{
    struct auditing *a = ys_alloc(1, sizeof *a);
    *a = (struct auditing){.study = study, .trial = trial, .round = round, .aside = YS_ASIDE_NONE};
    ys_record_init(&ys_audit_record, &a->audit);
    a->audit.round = round;
    ys_status status = ys_study_prepare(study, trial, round, 0, &a->work);
    if (status == YS_OK)
        status = ys_study_make_run_folder(study, trial, round, 0, &a->folder);
    if (status == YS_OK)
        status = prepare_plan(a);
    if (status != YS_OK) {
        free_auditing(a);
        return status;
    }
    a->begun_ns = ys_time_ns();
    if (!a->is_settled && !is_alone && ys_aside_begin(audit_aside, a, &a->aside) != YS_OK)
        a->aside = YS_ASIDE_NONE; /* then end_auditing() does it */
    *begun = a;
    return YS_OK;
}

/* Hears what it came to. *audit is the caller's also after a failure. */
static ys_status end_auditing(struct auditing *a, struct ys_audit *audit)
{
    struct ys_buf told = {0};
    ys_status status = YS_OK;
    ys_progress("%s: auditing", a->trial->record.id);
    if (a->aside.pid) {
        status = ys_aside_end(&a->aside, &told);
        if (status == YS_OK)
            status = read_verdict(&told, &a->audit);
        else if (status != YS_EINTR) { /* the copy, or its launcher, was killed, by whomever */
            ys_audit_settle_broken(&a->audit, status);
            status = YS_OK;
        }
    } else {
        status = run_and_judge(a);
    }
    ys_buf_free(&told);
    *audit = a->audit;
    ys_record_init(&ys_audit_record, &a->audit);
    free_auditing(a);
    return status;
}

/* The place is drawn anew each time. */
struct placing {
    struct ys_study *study;
    struct ys_trial *trial;
    int64_t round;
    bool is_alone;
    struct auditing *begun; /* at the first place; NULL after that */
};

static ys_status audit_place(void *context, struct ys_audit *audit)
{
    struct placing *at = context;
    struct auditing *a = at->begun;
    at->begun = NULL;
    if (!a) {
        ys_record_init(&ys_audit_record, audit);
        YS_TRY(begin_auditing(at->study, at->trial, at->round, at->is_alone, &a));
    }
    return end_auditing(a, audit);
}

/* All audits, one after the other; each starts while the one before it trains, and that is judged while it trains. */
struct audit_queue {
    struct ys_study *study;
    bool is_alone;          /* or after the one before it has ended, with nothing beside it */
    struct auditing *begun; /* the last, of which nothing has been heard; NULL */
    struct ys_audit worst;  /* of the rounds of its trial before that */
    bool has_worst;
};

static void keep_worse(struct audit_queue *line, struct ys_audit *audit)
{
    const bool worse = !line->has_worst || audit->verdict > line->worst.verdict;
    struct ys_audit other = worse ? line->worst : *audit;
    if (worse)
        line->worst = *audit;
    if (!worse || line->has_worst)
        ys_record_fini(&ys_audit_record, &other);
    line->has_worst = true;
}

static ys_status hear(struct audit_queue *line)
{
    struct auditing *a = line->begun;
    struct ys_audit audit;
    if (!a)
        return YS_OK;
    struct placing at = {line->study, a->trial, a->round, line->is_alone, a};
    line->begun = NULL;
    ys_status status = ys_audit_try_places(audit_place, &at, &audit);
    if (status == YS_OK)
        keep_worse(line, &audit);
    else
        ys_record_fini(&ys_audit_record, &audit);
    return status;
}

/* What the rounds of a trial come to. */
static ys_status note_worst(struct audit_queue *line, struct ys_trial *trial)
{
    ys_status status = hear(line);
    if (!line->has_worst)
        return status;
    if (status == YS_OK)
        status = ys_study_note_audit(line->study, trial, &line->worst);
    ys_record_fini(&ys_audit_record, &line->worst);
    line->has_worst = false;
    return status;
}

/* Whether two may run at once. A run and the engine that judges it take about the same: two of both only where they are
 * certain to fit. And what one did to the inputs of both would be laid at the other's door: so neither may be able to.
 */
static bool may_be_together(const struct ys_trial *one, const struct ys_trial *other)
{
    const struct ys_trial_seen *a = &one->seen, *b = &other->seen;
    const int64_t peak = a->peak_bytes > b->peak_bytes ? a->peak_bytes : b->peak_bytes;
    return a->is_known && b->is_known && peak < ys_host_memory_room() / 8;
}

/* Waits until the run that is audited now will have ended, by what the timed ones took, once the next one has started:
 * two that train at once on the same processors take longer together than one after the other. Nothing that is said to
 * an adapter depends on it. */
static ys_status wait_for_turn(struct audit_queue *line, const struct ys_trial *next)
{
    const struct auditing *a = line->begun;
    if (!a || line->is_alone || !a->aside.pid || !may_be_together(a->trial, next))
        return hear(line);
    const struct ys_run_audit *run = &a->manner.run;
    const double share = (double)(run->at + run->steps + run->lead + run->follow) / (double)a->plan.steps;
    const double wait_s = a->trial->seen.start_s + share * a->trial->seen.train_s - next->seen.start_s;
    if (wait_s > 0)
        ys_aside_wait(&a->aside, a->begun_ns + (uint64_t)(wait_s * 1e9));
    return YS_OK;
}

/* `noted`: the trial of the audit before it, once all of its rounds have begun. */
static ys_status audit_round(struct audit_queue *line, struct ys_trial *trial, int64_t round, struct ys_trial *noted)
{
    struct auditing *a = NULL;
    ys_progress("%s: auditing", (line->begun ? line->begun->trial : trial)->record.id);
    YS_TRY(wait_for_turn(line, trial));
    YS_TRY(begin_auditing(line->study, trial, round, line->is_alone, &a));
    ys_status status = noted ? note_worst(line, noted) : hear(line);
    line->begun = a;
    return status;
}

static ys_status audit_rounds(struct audit_queue *line, struct ys_trial *trial, struct ys_trial *before)
{
    const struct ys_study *study = line->study;
    const bool all = study->keys.audit == YS_AUDITS_ALL;
    uint64_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        return ys_fail(YS_EIO, "the kernel gives no random numbers");
    const int64_t reached = trial->reached < study->rounds ? trial->reached : study->rounds;
    const int64_t rounds = all ? reached : 1, first = all ? 0 : (int64_t)(drawn % (uint64_t)reached);
    for (int64_t i = 0; i < rounds; i++)
        YS_TRY(audit_round(line, trial, first + i, i == 0 ? before : NULL));
    return YS_OK;
}

/* A proof that covers other work than the runs do is none of theirs. */
static void put_audit(struct ys_study *study, const struct ys_audit *audit, ys_json *proof)
{
    ys_json *said = ys_record_json(&ys_audit_record, audit);
    ys_json_set(proof, YS_STUDY_AUDIT, said);
    if (audit->verdict != YS_AUDIT_FAIL)
        return;
    study->proof_failed = true;
    ys_json_set_string(proof, "verdict", ys_name_of(&ys_proof_verdicts, YS_PROOF_FAIL));
    ys_json_set_string(proof, "reason", audit->reason);
}

ys_status ys_study_keep_audit(struct ys_study *study, const ys_json *earlier, ys_json *proof)
{
    struct ys_audit audit;
    const ys_json *said = ys_stored_audit(earlier);
    if (!said)
        return YS_OK;
    YS_TRY(ys_record_read(&ys_audit_record, said, YS_STUDY_AUDIT, &audit));
    put_audit(study, &audit, proof);
    ys_record_fini(&ys_audit_record, &audit);
    return YS_OK;
}

static enum ys_due_state state_of(const struct ys_audit *audit)
{
    static const enum ys_due_state states[] = {[YS_AUDIT_PASS] = YS_DUE_PASS,
                                               [YS_AUDIT_WEAK] = YS_DUE_WEAK,
                                               [YS_AUDIT_NONE] = YS_DUE_NOT,
                                               [YS_AUDIT_MISSING] = YS_DUE_MISSING,
                                               [YS_AUDIT_FAIL] = YS_DUE_FAIL};
    return states[audit->verdict];
}

ys_status ys_study_note_audit(struct ys_study *study, struct ys_trial *trial, const struct ys_audit *audit)
{
    const enum ys_due_check check = ys_due_audit(trial->record.keys.mode);
    const bool says_why = audit->verdict >= YS_AUDIT_NONE;
    put_audit(study, audit, trial->record.proof);
    ys_due_settle(trial, check, state_of(audit), says_why ? audit->reason : NULL);
    if (audit->verdict == YS_AUDIT_FAIL)
        ys_log_warn("%s fails its audit: %s%s%s", trial->record.id, audit->reason, audit->place ? "; " : "",
                    audit->place ? audit->place : "");
    return ys_store_proof_put(study->store, trial->record.trial_id, trial->record.proof);
}

/* One that an earlier session lacks at its end is tried again. */
static bool is_due(const struct ys_trial *trial)
{
    const enum ys_due_state state = ys_due_state(trial, YS_DUE_AUDIT);
    return (state == YS_DUE_YET || state == YS_DUE_MISSING) && ys_trial_can_run(trial) && !trial->given_up &&
           trial->successes > 0;
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

static bool must_end(struct ys_study *study)
{
    if (ys_stop_signal())
        study->stopped_by = ys_stop_signal();
    return study->stopped_by || (study->deadline_ns && ys_time_ns() >= study->deadline_ns);
}

static ys_status audit_trials(struct audit_queue *line)
{
    struct ys_study *study = line->study;
    struct ys_trial *before = NULL;
    for (size_t i = 0; i < study->set.count; i++) {
        struct ys_trial *trial = &study->set.items[i];
        if (!is_due(trial) || must_end(study) ||
            (line->is_alone && ys_due_state(trial, YS_DUE_AUDIT) != YS_DUE_MISSING))
            continue;
        YS_TRY(audit_rounds(line, trial, before));
        before = trial;
    }
    return before ? note_worst(line, before) : YS_OK;
}

/* Of a line that broke off: what is still under way is nobody's concern any more. */
static void drop_line(struct audit_queue *line)
{
    struct ys_buf told = {0};
    if (line->has_worst)
        ys_record_fini(&ys_audit_record, &line->worst);
    if (!line->begun)
        return;
    char *message = ys_strdup(ys_error());
    (void)!ys_aside_end(&line->begun->aside, &told);
    ys_buf_free(&told);
    free_auditing(line->begun);
    ys_fail(YS_EIO, "%s", message); /* why it broke off */
    ys_free(message);
}

static void warn_of_missing(const struct ys_study *study)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_due *due = ys_due_find(&study->set.items[i].due, YS_DUE_AUDIT);
        if (due && due->state == YS_DUE_MISSING)
            ys_log_warn("%s gets no verdict: it was to be audited, and was not, twice: %s",
                        study->set.items[i].record.id, due->reason);
    }
}

ys_status ys_study_audit_all(struct ys_study *study)
{
    uint64_t start_ns = ys_time_ns();
    double prepared_s = study->prepare_s;
    struct audit_queue line = {.study = study};
    if (!is_wanted(study))
        return YS_OK;
    ys_status status = audit_trials(&line);
    line.is_alone = true; /* what was not made is tried once more: machines fail too */
    if (status == YS_OK)
        status = audit_trials(&line);
    if (status != YS_OK)
        drop_line(&line);
    ys_progress_clear();
    warn_of_missing(study);
    study->audit_s += (double)(ys_time_ns() - start_ns) * 1e-9 - (study->prepare_s - prepared_s);
    return status;
}
