#include "study/make_checks.h"

#include "base/log.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "graph/scales.h"
#include "job/quant.h"
#include "prepare/layer_proof.h"
#include "verify/audit.h"
#include "verify/oracle/proof_plan.h"

/* What of a trial decides. */
struct due_facts {
    const struct ys_trial *trial;
    enum ys_audits audit;
    enum ys_proof_verdict verdict; /* of its proof */
    bool is_proven;                /* there is one */
    bool is_random, is_apart;      /* dropout; each of several ranks normalises by rows of its own */
};

/* Why it is not due, as docs/proof.md lists it; NULL: it is. */
static const char *no_first_loss(const struct due_facts *w)
{
    return w->is_random  ? "no two programs draw the same masks of dropout"
           : w->is_apart ? "each of its ranks normalises by rows of its own"
                         : NULL;
}

static const char *no_weights(const struct due_facts *w)
{
    return ys_trial_same_weights(w->trial) ? "they are the built-in engine's (compare = same-weights)" : NULL;
}

static const char *no_answers(const struct due_facts *w)
{
    if (w->trial->record.keys.quant != YS_NAME_NONE)
        return "no bound holds for the answers of a quantised network from end to end";
    if (w->audit == YS_AUDITS_OFF)
        return "audit = off";
    return w->is_proven && (w->verdict == YS_PROOF_NONE || w->verdict == YS_PROOF_FAIL)
               ? "there is no proof that holds, which it would go by"
               : NULL;
}

static const char *no_outcomes(const struct due_facts *w)
{
    return w->audit == YS_AUDITS_OFF ? "audit = off" : NULL;
}

static const char *no_integers(const struct due_facts *w)
{
    if (ys_settings_quant_own(&w->trial->record.keys))
        return "the framework's own quantiser chose the integers (quant.by = own), and no rule says them";
    return w->trial->record.keys.quant == YS_QUANT_STATIC
               ? NULL
               : "operators are proven one by one where activations have scales (quant = static)";
}

static const char *always(const struct due_facts *w)
{
    (void)w;
    return NULL;
}

static const char *no_audit(const struct due_facts *w)
{
    const char *reason = no_answers(w);
    if (reason)
        return reason;
    return w->trial->steps < YS_AUDIT_LEAST_STEPS ? YS_AUDIT_TOO_SHORT
           : w->is_apart                          ? "each of its ranks normalises by rows of its own"
                                                  : NULL;
}

static const struct {
    enum ys_mode mode;
    const char *(*why_not)(const struct due_facts *w);
} checks[YS_DUE_CHECKS] = {[YS_DUE_FIRST_LOSS] = {YS_MODE_TRAIN, no_first_loss},
                           [YS_DUE_WEIGHTS] = {YS_MODE_TRAIN, no_weights},
                           [YS_DUE_ANSWERS] = {YS_MODE_INFER, no_answers},
                           [YS_DUE_OUTCOMES] = {YS_MODE_ATTACK, no_outcomes},
                           [YS_DUE_STORED] = {YS_MODE_SIZE, always},
                           [YS_DUE_INTEGERS] = {YS_MODE_INFER, no_integers},
                           [YS_DUE_AUDIT] = {YS_MODE_TRAIN, no_audit}};

enum ys_due_check ys_due_audit(int mode)
{
    switch ((enum ys_mode)mode) {
    case YS_MODE_INFER:
        return YS_DUE_ANSWERS;
    case YS_MODE_ATTACK:
        return YS_DUE_OUTCOMES;
    case YS_MODE_SIZE:
        return YS_DUE_STORED;
    case YS_MODE_TRAIN:
        break;
    }
    return YS_DUE_AUDIT;
}

static ys_status look_at_graph(struct due_facts *w)
{
    const struct ys_trial_settings *keys = &w->trial->record.keys;
    struct ys_graph *graph = NULL;
    YS_TRY(ys_work_graph(w->trial, &graph));
    w->is_apart = ys_settings_ranks(keys) > 1 && keys->bn != YS_STATISTICS_SYNC && ys_graph_has(graph, YS_OP_BATCHNORM);
    w->is_random = ys_proof_drop_dropout(graph);
    ys_graph_free(graph);
    return YS_OK;
}

static void put(struct ys_due *due, enum ys_due_state state, const char *reason)
{
    char *kept = reason ? ys_strdup(reason) : NULL;
    ys_free(due->reason);
    due->state = state;
    due->reason = kept;
}

static void list(const struct due_facts *w, struct ys_list *due)
{
    *due = (struct ys_list){0};
    for (int check = 0; check < YS_DUE_CHECKS; check++) {
        if ((int)checks[check].mode != w->trial->record.keys.mode ||
            (check == YS_DUE_INTEGERS && w->trial->record.keys.quant == YS_NAME_NONE))
            continue;
        struct ys_due *item = ys_list_add(&ys_due_record, due);
        const char *reason = checks[check].why_not(w);
        item->check = check;
        put(item, reason ? YS_DUE_NOT : YS_DUE_YET, reason);
    }
}

ys_status ys_due_plan(const struct ys_trial *trial, enum ys_audits audit, struct ys_list *due)
{
    const ys_json *proof = trial->record.proof;
    struct due_facts w = {
        .trial = trial, .audit = audit, .is_proven = proof != NULL, .verdict = ys_stored_verdict(trial->record.proof)};
    *due = (struct ys_list){0};
    if (trial->framework->no_work)
        return YS_OK;
    YS_TRY(look_at_graph(&w));
    list(&w, due);
    return YS_OK;
}

/* Into the proof, which is stored with it. */
static void show(struct ys_trial *trial)
{
    trial->due_changed = true;
    if (!trial->record.proof)
        return;
    ys_json *said = ys_list_json(&ys_due_record, &trial->due);
    ys_json_set(trial->record.proof, "due", said);
}

ys_status ys_due_begin(const struct ys_study *study, struct ys_trial *trial)
{
    struct ys_list earlier = trial->due;
    ys_status status = ys_due_plan(trial, (enum ys_audits)study->keys.audit, &trial->due);
    for (size_t i = 0; status == YS_OK && i < earlier.count; i++) {
        const struct ys_due *was = &((const struct ys_due *)earlier.items)[i];
        struct ys_due *due = ys_due_find(&trial->due, (enum ys_due_check)was->check);
        if (due && was->state != YS_DUE_YET && was->state != YS_DUE_NOT)
            put(due, (enum ys_due_state)was->state, was->reason);
    }
    ys_list_fini(&ys_due_record, &earlier);
    if (status != YS_OK)
        return status;
    show(trial);
    return YS_OK;
}

void ys_due_settle(struct ys_trial *trial, enum ys_due_check check, enum ys_due_state state, const char *reason)
{
    struct ys_due *due = ys_due_find(&trial->due, check);
    if (!due)
        return;
    put(due, state, reason);
    show(trial);
}

void ys_due_note(struct ys_trial *trial, enum ys_due_check check, enum ys_due_state state, const char *reason)
{
    const struct ys_due *due = ys_due_find(&trial->due, check);
    if (due && (due->state == YS_DUE_YET || due->state < (int)state))
        ys_due_settle(trial, check, state, reason);
}

/* What came of a check that fails as a proof does; `reason` NULL: it passed. */
static void note_proven(struct ys_study *study, struct ys_trial *trial, enum ys_due_check check, const char *reason)
{
    ys_due_note(trial, check, reason ? YS_DUE_FAIL : YS_DUE_PASS, reason);
    if (!reason)
        return;
    ys_log_warn("%s does not give the %s that were asked for: %s", trial->record.id,
                check == YS_DUE_OUTCOMES ? "gradients" : "integers", reason);
    study->proof_failed = true;
    if (!trial->record.proof)
        return;
    ys_json_set_string(trial->record.proof, "verdict", ys_name_of(&ys_proof_verdicts, YS_PROOF_FAIL));
    ys_json_set_string(trial->record.proof, "reason", reason);
}

void ys_outcomes_keep(struct ys_attacked_framework *attacked, struct ys_facts *facts)
{
    if (facts->robustness || attacked->found.attacks.count + attacked->found.corruptions.count == 0)
        return;
    struct ys_facts_robustness *made = facts->robustness = ys_alloc(1, sizeof *made);
    *made = (struct ys_facts_robustness){.reason = ys_strdup("they were not finished"),
                                         .found = ys_alloc(1, sizeof *made->found)};
    ys_attacked_framework_take(attacked, made);
}

ys_status ys_outcomes_check(struct ys_study *study, struct ys_trial *trial, struct ys_attacked_framework *attacked,
                            const char *weights_key, struct ys_facts *facts)
{
    struct ys_facts_robustness *made = ys_alloc(1, sizeof *made);
    char *reason = NULL;
    *made = (struct ys_facts_robustness){.found = ys_alloc(1, sizeof *made->found)};
    facts->robustness = made;
    ys_status status = YS_OK;
    if (study->keys.audit != YS_AUDITS_OFF)
        status = ys_attacked_framework_compare(attacked, weights_key, &reason);
    if (status == YS_OK && study->keys.audit != YS_AUDITS_OFF)
        note_proven(study, trial, YS_DUE_OUTCOMES, reason);
    ys_free(reason);
    ys_attacked_framework_take(attacked, made);
    if (status == YS_OK || status == YS_EINTR)
        return status;
    ys_log_warn("what attacks did to %s could not be compared: %s", trial->record.id, ys_error());
    ys_due_note(trial, YS_DUE_OUTCOMES, YS_DUE_MISSING, ys_error());
    return YS_OK;
}

ys_status ys_integers_check(struct ys_study *study, struct ys_trial *trial, const struct ys_agreement *agreement,
                            const struct ys_work *work, const struct ys_plan *plan, const char *folder,
                            struct ys_facts *facts)
{
    struct ys_layer_proof found;
    if (ys_due_state(trial, YS_DUE_INTEGERS) != YS_DUE_YET)
        return YS_OK;
    ys_progress("%s: proving its integers", trial->record.id);
    const ys_status status = ys_layer_proof_ask(agreement, trial, work, plan, folder, &found);
    ys_progress_clear();
    if (status == YS_EINTR)
        return status;
    if (status != YS_OK || found.unasked) {
        const char *reason = status == YS_OK ? found.unasked : ys_error();
        ys_log_warn("the integers of %s could not be proven: %s", trial->record.id, reason);
        ys_due_note(trial, YS_DUE_INTEGERS, YS_DUE_MISSING, reason);
    } else {
        note_proven(study, trial, YS_DUE_INTEGERS, found.wrong);
    }
    if (status == YS_OK && found.is_float)
        ys_facts_add_deviation(facts, "sums of integers are added up in float and rounded");
    if (status == YS_OK)
        ys_layer_proof_fini(&found);
    return YS_OK;
}

ys_status ys_stored_check(struct ys_trial *trial, const struct ys_stored_run *stored, struct ys_facts *facts)
{
    const ys_status status = ys_stored_run_judge(stored, facts);
    if (status == YS_OK) {
        const bool is_right = facts->status == YS_RUN_OK;
        ys_due_note(trial, YS_DUE_STORED, is_right ? YS_DUE_PASS : YS_DUE_FAIL, is_right ? NULL : facts->message);
        return YS_OK;
    }
    if (status == YS_EINTR)
        return status;
    ys_log_warn("what %s loaded could not be judged: %s", trial->record.id, ys_error());
    ys_due_note(trial, YS_DUE_STORED, YS_DUE_MISSING, ys_error());
    return YS_OK;
}

enum ys_due_state ys_due_state(const struct ys_trial *trial, enum ys_due_check check)
{
    const struct ys_due *due = ys_due_find(&trial->due, check);
    return due ? (enum ys_due_state)due->state : YS_DUE_NOT;
}
