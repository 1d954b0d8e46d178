#include "verify/oracle/proof_checks.h"

#include "base/mem.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void note(struct ys_proof *proof, enum ys_proof_half half, const char *name, const struct ys_worst *found,
                 double bound)
{
    ys_proof_add_check(proof, half, name, found->error, bound, found->name[0] ? found->name : NULL);
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
static void check_work(struct ys_proof *proof, const struct ys_graph *graph, const struct ys_findings *first,
                       const struct ys_findings *second)
{
    struct ys_worst found = apart(first->said.parameters, ys_graph_parameter_count(graph));
    note(proof, YS_PROOF_WORK, "parameters", &found, 0);
    found = apart(first->said.multiply_adds, ys_graph_multiply_adds(graph));
    if (first->said.multiply_adds >= 0)
        note(proof, YS_PROOF_WORK, "multiply-adds", &found, 0);
    found = together(&first->start, second ? &second->start : NULL);
    note(proof, YS_PROOF_WORK, "initial weights", &found, 0);
    found = together(&first->batches, second ? &second->batches : NULL);
    note(proof, YS_PROOF_WORK, "batches", &found, 0);
}

static bool has_buffers(const struct ys_graph *graph)
{
    for (size_t p = 0; p < graph->param_count; p++)
        if (graph->params[p].role == YS_ROLE_BUFFER)
            return true;
    return false;
}

/* `twins` NULL: none were asked. */
static void note_meaning(struct ys_proof *proof, const char *name, const struct ys_worst *found,
                         const struct ys_worst *twins)
{
    double bound = twins ? fmin(YS_VERIFY_DOUBLE_FACTOR * twins->error, YS_VERIFY_MEANING_LIMIT) : 0;
    note(proof, YS_PROOF_MEANING, name, found, fmax(bound, YS_VERIFY_MEANING_BOUND));
}

static void check_training(struct ys_proof *proof, const struct ys_reference *reference,
                           const struct ys_findings *found, const struct ys_findings *twins)
{
    char name[48];
    note_meaning(proof, "gradients", &found->gradients, twins ? &twins->gradients : NULL);
    note_meaning(proof, "weights after 1 step", &found->first, twins ? &twins->first : NULL);
    snprintf(name, sizeof name, "weights after %lld steps", (long long)reference->extent.steps);
    note_meaning(proof, name, &found->last, twins ? &twins->last : NULL);
    if (has_buffers(reference->graph))
        note_meaning(proof, "buffers", &found->buffers, twins ? &twins->buffers : NULL);
    note(proof, YS_PROOF_MEANING, YS_CHECK_TRAIN_LOSS, &found->train_loss, YS_VERIFY_TRAIN_LOSS);
}

static struct ys_worst worst_of_lots(const struct ys_findings *found)
{
    struct ys_worst worst = {0};
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++)
        ys_worst_raise(&worst, found->input_gradient[lot].error, found->input_gradient[lot].name);
    return worst;
}

static void check_meaning(struct ys_proof *proof, const struct ys_reference *reference, const struct ys_findings *found,
                          const struct ys_findings *twins)
{
    note_meaning(proof, "logits", &found->logits, twins ? &twins->logits : NULL);
    note_meaning(proof, "loss", &found->loss, twins ? &twins->loss : NULL);
    if (!reference->evaluation)
        check_training(proof, reference, found, twins);
    if (found->has_input_gradient) {
        const struct ys_worst slopes = worst_of_lots(found), of_twins = worst_of_lots(twins ? twins : found);
        note_meaning(proof, YS_CHECK_INPUT_GRADIENT, &slopes, twins ? &of_twins : NULL);
    }
    if (found->has_ties)
        note(proof, YS_PROOF_MEANING, YS_CHECK_TIES, &found->ties, YS_VERIFY_MEANING_BOUND);
}

/* Twins of a network whose last weights start at zero agree on its loss to the last digit; others may round it. */
static double numerics_bound(const struct ys_worst *twins)
{
    return YS_VERIFY_TWIN_FACTOR * fmax(twins->error, YS_VERIFY_TWIN_LEAST);
}

/* Gradients of a session in the trial's own format. In bf16 those of vectors, where no other tensor's lie beyond
 * `bound`, may have been added up in that format: a check of its own, which makes the proof weak. */
static void note_gradients(struct ys_proof *proof, const struct ys_findings *found, double bound, const char *name,
                           const char *of_vectors)
{
    const bool added_up = ys_format_of((int)found->precision)->adds_up && found->gradients.error > bound &&
                          found->matrices.error <= bound && found->gradients.error <= YS_VERIFY_SUM_IN_BF16;
    note(proof, YS_PROOF_NUMERICS, name, added_up ? &found->matrices : &found->gradients, bound);
    if (added_up)
        note(proof, YS_PROOF_NUMERICS, of_vectors, &found->gradients, YS_VERIFY_SUM_IN_BF16);
}

int ys_check_input_lot(const struct ys_findings *found, const struct ys_findings *twins)
{
    int best = 0;
    for (int lot = 1; lot < YS_INPUT_LOTS; lot++)
        if (found->input_gradient[lot].error * numerics_bound(&twins->input_gradient[best]) <
            found->input_gradient[best].error * numerics_bound(&twins->input_gradient[lot]))
            best = lot;
    return best;
}

static void check_numerics(struct ys_proof *proof, const struct ys_reference *reference,
                           const struct ys_findings *found, const struct ys_findings *twins)
{
    note(proof, YS_PROOF_NUMERICS, "logits and loss", ys_findings_forward(found),
         numerics_bound(ys_findings_forward(twins)));
    if (!reference->evaluation)
        note_gradients(proof, found, numerics_bound(&twins->gradients), "gradients", YS_CHECK_VECTORS);
    if (found->has_input_gradient) {
        const int lot = ys_check_input_lot(found, twins);
        note(proof, YS_PROOF_NUMERICS, YS_CHECK_INPUT_GRADIENT, &found->input_gradient[lot],
             numerics_bound(&twins->input_gradient[lot]));
    }
    if (found->has_ties)
        note(proof, YS_PROOF_NUMERICS, YS_CHECK_TIES, &found->ties, YS_VERIFY_TIES);
}

/* How far the statistics of a batch may be off in single precision: a framework may round a sum of m values at each of
 * them, which walks sqrt(m) half units far, and the walks of several batch norms add in squares. The built-in engine,
 * and so every twin, adds in a tree and does not show it. The layers behind carry it on: the factor of the twins stands
 * for that too. 0 without batch norm: the rows stay apart. */
static double statistics_bound(const struct ys_reference *reference)
{
    const struct ys_graph *graph = reference->graph;
    double values = 0;
    for (size_t n = 0; n < graph->node_count && !reference->evaluation; n++) {
        const struct ys_node *node = &graph->nodes[n];
        const struct ys_value *in = &graph->values[node->in[0]];
        if (node->op == YS_OP_BATCHNORM)
            values += (double)reference->extent.rows * (double)ys_value_row_elements(in) / (double)in->shape[1];
    }
    return YS_VERIFY_TWIN_FACTOR * 0x1p-24 * sqrt(values);
}

static void check_whole(struct ys_proof *proof, const struct ys_check_whole *whole)
{
    const struct ys_findings *found = whole->found, *twins = whole->in_double;
    const bool evaluation = whole->reference->evaluation;
    note(proof, YS_PROOF_WORK, "rows" YS_CHECK_WHOLE, &found->batches, 0);
    if (whole->twins) {
        const double statistics = statistics_bound(whole->reference);
        note(proof, YS_PROOF_NUMERICS, "logits and loss" YS_CHECK_WHOLE, ys_findings_forward(found),
             fmax(numerics_bound(ys_findings_forward(whole->twins)), statistics));
        if (!evaluation)
            note_gradients(proof, found, fmax(numerics_bound(&whole->twins->gradients), statistics),
                           YS_CHECK_WHOLE_GRADIENTS, YS_CHECK_VECTORS YS_CHECK_WHOLE);
        return;
    }
    note_meaning(proof, "logits" YS_CHECK_WHOLE, &found->logits, twins ? &twins->logits : NULL);
    note_meaning(proof, "loss" YS_CHECK_WHOLE, &found->loss, twins ? &twins->loss : NULL);
    if (evaluation)
        return;
    note_meaning(proof, YS_CHECK_WHOLE_GRADIENTS, &found->gradients, twins ? &twins->gradients : NULL);
    note_meaning(proof, "weights after 1 step" YS_CHECK_WHOLE, &found->first, twins ? &twins->first : NULL);
    if (has_buffers(whole->reference->graph))
        note_meaning(proof, "buffers" YS_CHECK_WHOLE, &found->buffers, twins ? &twins->buffers : NULL);
    note(proof, YS_PROOF_MEANING, YS_CHECK_TRAIN_LOSS YS_CHECK_WHOLE, &found->train_loss, YS_VERIFY_TRAIN_LOSS);
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
        {YS_CHECK_INPUT_GRADIENT,
         "input_gradient means something else: look at evaluation mode, the cotangent and the order of rows"},
        {YS_CHECK_TIES, "of equal values in a pool of maxima another than the first has the gradient"},
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
static const char *diagnose(const struct ys_proof *proof)
{
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        if (check->pass)
            continue;
        if (check->half == YS_PROOF_WORK)
            return diagnose_work(check->name);
        if (check->half == YS_PROOF_MEANING)
            return diagnose_meaning(check->name);
        if (strstr(check->name, YS_CHECK_WHOLE))
            return diagnose_whole(check->name);
        if (strcmp(check->name, YS_CHECK_TIES) == 0)
            return diagnose_meaning(check->name);
        return "the trial's own format computes with less precision than it says";
    }
    return NULL;
}

static bool adds_up_in_bf16(const struct ys_proof *proof)
{
    return ys_proof_find(proof, YS_PROOF_NUMERICS, YS_CHECK_VECTORS) ||
           ys_proof_find(proof, YS_PROOF_NUMERICS, YS_CHECK_VECTORS YS_CHECK_WHOLE);
}

/* Where rounding alone may move the logits by all of them, other work would pass too. Of gradients one flipped ReLU may
 * do that, and what they mean is shown in double. */
static bool shows_nothing(const struct ys_proof *proof)
{
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        if (check->half == YS_PROOF_NUMERICS && strncmp(check->name, "logits", strlen("logits")) == 0 &&
            !(check->bound < 1))
            return true;
    }
    return false;
}

enum ys_proof_verdict ys_check_verdict(const struct ys_proof *proof)
{
    bool failed = false, meaning = false;
    for (size_t i = 0; i < proof->checks.count; i++) {
        failed |= !ys_proof_check_at(proof, i)->pass;
        meaning |= ys_proof_check_at(proof, i)->half == YS_PROOF_MEANING;
    }
    const bool is_weak = !meaning || adds_up_in_bf16(proof) || shows_nothing(proof);
    return failed ? YS_PROOF_FAIL : is_weak ? YS_PROOF_WEAK : YS_PROOF_PASS;
}

bool ys_check_may_be_rounding(const struct ys_proof *proof)
{
    int failed = 0;
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        if (check->pass || check->half == YS_PROOF_NUMERICS)
            continue;
        if (check->half != YS_PROOF_MEANING || !(check->error < YS_VERIFY_MEANING_LIMIT))
            return false;
        failed++;
    }
    return failed > 0;
}

enum ys_check_flip ys_check_flip(const struct ys_proof *proof)
{
    int few = 0, whole = 0, others = 0;
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        bool numerics = check->half == YS_PROOF_NUMERICS;
        if (check->pass)
            continue;
        if (numerics && strcmp(check->name, "gradients") == 0)
            few++;
        else if (numerics && strcmp(check->name, YS_CHECK_WHOLE_GRADIENTS) == 0)
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
    return findings->said.status == YS_RUN_UNSUPPORTED;
}

static void broken(struct ys_proof *proof, const struct ys_findings *findings)
{
    const struct ys_evidence *said = &findings->said;
    proof->ended = said->status;
    proof->lasting = false;
    char *reason = ys_format("the adapter ended as %s: %s", ys_run_status_name(said->status),
                             said->message ? said->message : "no message");
    ys_proof_settle(proof, lacks(findings) ? YS_PROOF_NONE : YS_PROOF_FAIL, reason);
    ys_free(reason);
}

void ys_check_all(const struct ys_reference *reference, const struct ys_findings *meaning,
                  const struct ys_findings *numerics, const struct ys_findings *twins,
                  const struct ys_findings *in_double, const struct ys_check_whole *whole, struct ys_proof *proof)
{
    const struct ys_findings *last = numerics ? numerics : meaning;
    ys_proof_drop_checks(proof);
    if (last->said.status) {
        broken(proof, last);
        return;
    }
    if (whole && whole->found->said.status) {
        broken(proof, whole->found);
        return;
    }
    const struct ys_findings *shown = meaning && !lacks(meaning) ? meaning : NULL;
    check_work(proof, reference->graph, last, numerics ? shown : NULL);
    if (shown)
        check_meaning(proof, reference, shown, in_double);
    if (numerics)
        check_numerics(proof, reference, numerics, twins);
    if (whole)
        check_whole(proof, whole);
    const char *reason = diagnose(proof);
    if (!reason && !shown)
        reason = meaning ? "the adapter could not do this work in double, so its meaning is not proven"
                         : "the framework has no double, so its meaning is not proven";
    if (!reason && adds_up_in_bf16(proof))
        reason = "gradients of biases or gains are added up in bfloat16, where much of a sum is lost";
    if (!reason && shows_nothing(proof))
        reason = "rounding alone moves logits in the trial's own format by so much that other work would pass too";
    proof->lasting = true;
    ys_proof_settle(proof, ys_check_verdict(proof), reason);
}
