#include "verify/check.h"

#include "base/mem.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct sheet {
    ys_json *checks;
    int failed;
};

/* One line of the proof. An infinite error (something missing or NaN) is stored as null: JSON has no infinity. */
static void note(struct sheet *sheet, const char *half, const char *name, const struct ys_worst *found, double bound)
{
    bool pass = found->error <= bound;
    ys_json *check = ys_json_object();
    ys_json_set_string(check, "half", half);
    ys_json_set_string(check, "name", name);
    ys_json_set(check, "error", isfinite(found->error) ? ys_json_real(found->error) : ys_json_null());
    ys_json_set_real(check, "bound", bound);
    ys_json_set_bool(check, "pass", pass);
    ys_json_set_string(check, "worst", found->name[0] ? found->name : NULL);
    ys_json_append(sheet->checks, check);
    sheet->failed += !pass;
}

static struct ys_worst apart(int64_t said, int64_t right)
{
    return (struct ys_worst){.error = fabs((double)(said - right))};
}

/* Counts of two sessions; `second` may be NULL. */
static struct ys_worst together(const struct ys_worst *first, const struct ys_worst *second)
{
    struct ys_worst sum = first->error > 0 || !second ? *first : *second;
    sum.error = first->error + (second ? second->error : 0);
    return sum;
}

/* `second` is the session in double, NULL without one: what was loaded must be right in both. */
static void check_work(struct sheet *sheet, const struct ys_graph *graph, const struct ys_findings *first,
                       const struct ys_findings *second)
{
    struct ys_worst found = apart(first->said.parameters, ys_graph_parameter_count(graph));
    note(sheet, "work", "parameters", &found, 0);
    found = apart(first->said.multiply_adds, ys_graph_multiply_adds(graph));
    if (first->said.multiply_adds >= 0)
        note(sheet, "work", "multiply-adds", &found, 0);
    found = together(&first->start, second ? &second->start : NULL);
    note(sheet, "work", "initial weights", &found, 0);
    found = together(&first->batches, second ? &second->batches : NULL);
    note(sheet, "work", "batches", &found, 0);
}

static bool has_buffers(const struct ys_graph *graph)
{
    for (size_t p = 0; p < graph->param_count; p++)
        if (graph->params[p].role == YS_ROLE_BUFFER)
            return true;
    return false;
}

/* `twins` NULL: none were asked. */
static void note_meaning(struct sheet *sheet, const char *name, const struct ys_worst *found,
                         const struct ys_worst *twins)
{
    double bound = twins ? fmin(YS_VERIFY_DOUBLE_FACTOR * twins->error, YS_VERIFY_MEANING_LIMIT) : 0;
    note(sheet, "meaning", name, found, fmax(bound, YS_VERIFY_MEANING_BOUND));
}

static void check_meaning(struct sheet *sheet, const struct ys_reference *reference, const struct ys_findings *found,
                          const struct ys_findings *twins)
{
    char name[48];
    note_meaning(sheet, "logits", &found->logits, twins ? &twins->logits : NULL);
    note_meaning(sheet, "loss", &found->loss, twins ? &twins->loss : NULL);
    if (reference->evaluation)
        return;
    note_meaning(sheet, "gradients", &found->gradients, twins ? &twins->gradients : NULL);
    note_meaning(sheet, "weights after 1 step", &found->first, twins ? &twins->first : NULL);
    snprintf(name, sizeof name, "weights after %lld steps", (long long)reference->extent.steps);
    note_meaning(sheet, name, &found->last, twins ? &twins->last : NULL);
    if (has_buffers(reference->graph))
        note_meaning(sheet, "buffers", &found->buffers, twins ? &twins->buffers : NULL);
    note(sheet, "meaning", YS_CHECK_TRAIN_LOSS, &found->train_loss, YS_VERIFY_TRAIN_LOSS);
}

/* Twins of a network whose last weights start at zero agree on its loss to the last digit; others may round it. */
static double numerics_bound(const struct ys_worst *twins)
{
    return YS_VERIFY_TWIN_FACTOR * fmax(twins->error, YS_VERIFY_TWIN_LEAST);
}

static void check_numerics(struct sheet *sheet, const struct ys_reference *reference, const struct ys_findings *found,
                           const struct ys_findings *twins)
{
    note(sheet, "numerics", "logits and loss", ys_findings_forward(found), numerics_bound(ys_findings_forward(twins)));
    if (!reference->evaluation)
        note(sheet, "numerics", "gradients", &found->gradients, numerics_bound(&twins->gradients));
}

static void check_whole(struct sheet *sheet, const struct ys_check_whole *whole)
{
    const struct ys_findings *found = whole->found, *twins = whole->in_double;
    const bool evaluation = whole->reference->evaluation;
    note(sheet, "work", "rows" YS_CHECK_WHOLE, &found->batches, 0);
    if (whole->twins) {
        note(sheet, "numerics", "logits and loss" YS_CHECK_WHOLE, ys_findings_forward(found),
             numerics_bound(ys_findings_forward(whole->twins)));
        if (!evaluation)
            note(sheet, "numerics", YS_CHECK_WHOLE_GRADIENTS, &found->gradients,
                 numerics_bound(&whole->twins->gradients));
        return;
    }
    note_meaning(sheet, "logits" YS_CHECK_WHOLE, &found->logits, twins ? &twins->logits : NULL);
    note_meaning(sheet, "loss" YS_CHECK_WHOLE, &found->loss, twins ? &twins->loss : NULL);
    if (evaluation)
        return;
    note_meaning(sheet, YS_CHECK_WHOLE_GRADIENTS, &found->gradients, twins ? &twins->gradients : NULL);
    note_meaning(sheet, "weights after 1 step" YS_CHECK_WHOLE, &found->first, twins ? &twins->first : NULL);
    if (has_buffers(whole->reference->graph))
        note_meaning(sheet, "buffers" YS_CHECK_WHOLE, &found->buffers, twins ? &twins->buffers : NULL);
    note(sheet, "meaning", YS_CHECK_TRAIN_LOSS YS_CHECK_WHOLE, &found->train_loss, YS_VERIFY_TRAIN_LOSS);
}

static const char *diagnose_work(const char *name)
{
    if (strcmp(name, "rows" YS_CHECK_WHOLE) == 0)
        return "the rows of a whole batch are not the ones of the plan";
    if (strcmp(name, "initial weights") == 0)
        return "the initial weights are not the ones of the plan";
    if (strcmp(name, "batches") == 0)
        return "the batches are not the ones of the plan";
    return "another network was built than the graph says";
}

/* Where a few rows hold and the whole batch does not. */
static const char *diagnose_whole(const char *name)
{
    if (strncmp(name, "logits", strlen("logits")) == 0)
        return "the forward pass of a whole batch means something else than that of a few rows: look at what depends "
               "on "
               "the number of rows";
    if (strncmp(name, "weights", strlen("weights")) == 0)
        return "a step with a whole batch, through train and save, means something else than with a few rows: look at "
               "what depends on the number of rows";
    return "the loss or the gradients of a whole batch mean something else than those of a few rows: look at what they "
           "are divided by";
}

static const char *diagnose_meaning(const char *name)
{
    static const struct {
        const char *name, *diagnosis;
    } known[] = {
        {"logits", "the forward pass means something else: look at padding, layout, epsilon, pooling"},
        {"loss", "the loss means something else: look at sum or mean"},
        {"gradients", "the gradients mean something else: look at the loss's scale and the backward pass"},
        {"weights after 1 step", "the optimizer means something else from its first step: look at weight decay and "
                                 "which parameters it reaches"},
        {YS_CHECK_TRAIN_LOSS, "the loss that training says of a step is not the loss of its batch"},
        {"buffers", "the running statistics mean something else: look at n or n - 1 in the variance, and at whether "
                    "momentum is the share of the old or of the new"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].diagnosis;
    if (strstr(name, YS_CHECK_WHOLE))
        return diagnose_whole(name);
    return "the optimizer means something else after its first step: look at momentum, the change of learning rate, "
           "the order of batches";
}

/* The earliest check that failed says where to look: what comes after it follows from it. */
static const char *diagnose(const ys_json *checks)
{
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        const char *half = ys_json_get_text(check, "half", ""), *name = ys_json_get_text(check, "name", "");
        if (ys_json_get_bool(check, "pass", true))
            continue;
        if (strcmp(half, "work") == 0)
            return diagnose_work(name);
        if (strcmp(half, "meaning") == 0)
            return diagnose_meaning(name);
        if (strstr(name, YS_CHECK_WHOLE))
            return diagnose_whole(name);
        return "the trial's own format computes with less precision than it says";
    }
    return NULL;
}

const char *ys_check_verdict(const ys_json *checks)
{
    bool failed = false, meaning = false;
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        failed |= !ys_json_get_bool(check, "pass", false);
        meaning |= strcmp(ys_json_get_text(check, "half", ""), "meaning") == 0;
    }
    return failed ? "fail" : meaning ? "pass" : "weak";
}

bool ys_check_may_be_rounding(const ys_json *proof)
{
    const ys_json *checks = ys_json_get(proof, "checks");
    int failed = 0;
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        const char *half = ys_json_get_text(check, "half", "");
        if (ys_json_get_bool(check, "pass", true) || strcmp(half, "numerics") == 0)
            continue;
        if (strcmp(half, "meaning") != 0 || !(ys_json_get_number(check, "error", INFINITY) < YS_VERIFY_MEANING_LIMIT))
            return false;
        failed++;
    }
    return failed > 0;
}

enum ys_check_flip ys_check_flip(const ys_json *proof)
{
    const ys_json *checks = ys_json_get(proof, "checks");
    int few = 0, whole = 0, others = 0;
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        const char *name = ys_json_get_text(check, "name", "");
        bool numerics = strcmp(ys_json_get_text(check, "half", ""), "numerics") == 0;
        if (ys_json_get_bool(check, "pass", true))
            continue;
        if (numerics && strcmp(name, "gradients") == 0)
            few++;
        else if (numerics && strcmp(name, YS_CHECK_WHOLE_GRADIENTS) == 0)
            whole++;
        else
            others++;
    }
    if (others > 0)
        return YS_CHECK_FLIP_NONE;
    return few > 0 ? YS_CHECK_FLIP_FEW : whole > 0 ? YS_CHECK_FLIP_WHOLE : YS_CHECK_FLIP_NONE;
}

static bool lacks(const struct ys_findings *findings)
{
    return findings->said.status && strcmp(findings->said.status, "unsupported") == 0;
}

static ys_status broken(ys_json *proof, const struct ys_findings *findings)
{
    const struct ys_evidence *said = &findings->said;
    ys_json_set_string(proof, "ended", said->status);
    ys_json_set_string(proof, "verdict", lacks(findings) ? "none" : "fail");
    ys_json_set_bool(proof, "lasting", false);
    char *reason = ys_format("the adapter ended as %s: %s", said->status, said->message ? said->message : "no message");
    ys_status status = ys_json_set_string(proof, "reason", reason);
    ys_free(reason);
    return status;
}

ys_status ys_check_all(const struct ys_reference *reference, const struct ys_findings *meaning,
                       const struct ys_findings *numerics, const struct ys_findings *twins,
                       const struct ys_findings *in_double, const struct ys_check_whole *whole, ys_json *proof)
{
    ys_json_set(proof, "checks", ys_json_array());
    struct sheet sheet = {.checks = ys_json_get(proof, "checks")};
    const struct ys_findings *last = numerics ? numerics : meaning;
    if (last->said.status)
        return broken(proof, last);
    if (whole && whole->found->said.status)
        return broken(proof, whole->found);
    const struct ys_findings *shown = meaning && !lacks(meaning) ? meaning : NULL;
    check_work(&sheet, reference->graph, last, numerics ? shown : NULL);
    if (shown)
        check_meaning(&sheet, reference, shown, in_double);
    if (numerics)
        check_numerics(&sheet, reference, numerics, twins);
    if (whole)
        check_whole(&sheet, whole);
    const char *reason = diagnose(sheet.checks);
    if (!sheet.failed && !shown)
        reason = meaning ? "the adapter could not do this work in double, so its meaning is not proven"
                         : "the framework has no double, so its meaning is not proven";
    ys_json_set_string(proof, "verdict", ys_check_verdict(sheet.checks));
    ys_json_set_string(proof, "reason", reason);
    return ys_json_set_bool(proof, "lasting", true);
}

const ys_json *ys_check_of_proof(const ys_json *checks, const char *half, const char *name)
{
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        if (strcmp(ys_json_get_text(check, "half", ""), half) == 0 &&
            strcmp(ys_json_get_text(check, "name", ""), name) == 0)
            return check;
    }
    return NULL;
}
