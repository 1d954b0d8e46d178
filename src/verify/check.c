#include "verify/check.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct sheet {
    ys_json *checks;
    int failed;
};

/* One line of the proof. An infinite error (something missing or NaN) is stored as null: JSON has no infinity. */
static bool note(struct sheet *sheet, const char *half, const char *name, double error, double bound, const char *worst)
{
    bool pass = error <= bound;
    ys_json *check = ys_json_object();
    ys_json_set_string(check, "half", half);
    ys_json_set_string(check, "name", name);
    ys_json_set(check, "error", isfinite(error) ? ys_json_real(error) : ys_json_null());
    ys_json_set_real(check, "bound", bound);
    ys_json_set_bool(check, "pass", pass);
    ys_json_set_string(check, "worst", worst && worst[0] ? worst : NULL);
    ys_json_append(sheet->checks, check);
    sheet->failed += !pass;
    return pass;
}

static double loss_error(const struct ys_safetensors *a, const struct ys_safetensors *ref)
{
    const struct ys_tensor *x = a ? ys_safetensors_find(a, "loss") : NULL, *r = ys_safetensors_find(ref, "loss");
    if (!x || !r || ys_tensor_count(x) != 1 || ys_tensor_count(r) != 1)
        return INFINITY;
    double value = ys_tensor_value(x, 0), expected = ys_tensor_value(r, 0);
    double error = fabs(value - expected) / (expected != 0 ? fabs(expected) : 1);
    return isnan(error) ? INFINITY : error;
}

static double logits_error(const struct ys_safetensors *a, const struct ys_safetensors *ref)
{
    const struct ys_tensor *x = a ? ys_safetensors_find(a, "logits") : NULL, *r = ys_safetensors_find(ref, "logits");
    return x && r ? ys_error_max(x, r) : INFINITY;
}

static void raise(struct ys_worst *worst, double error, const char *name)
{
    if (!(error <= worst->error)) {
        worst->error = error;
        snprintf(worst->name, sizeof worst->name, "%s", name);
    }
}

void ys_check_numerics(const struct ys_evidence *said, const struct ys_evidence *oracle, struct ys_numerics *numerics)
{
    *numerics = (struct ys_numerics){0};
    if (!said->backward || !said->forward[0]) {
        raise(&numerics->forward, INFINITY, "no answer");
        raise(&numerics->gradients, INFINITY, "no answer");
        return;
    }
    raise(&numerics->forward, logits_error(said->forward[0], oracle->forward[0]), "logits");
    raise(&numerics->forward, loss_error(said->backward, oracle->backward), "loss");
    ys_error_gradients(said->backward, oracle->backward, "grad.", &numerics->gradients);
}

/* Rows that differ from the oracle's, over all ten batches; the first such batch is named. */
static double rows_changed(const struct ys_evidence *said, const struct ys_evidence *oracle, char *where, size_t size)
{
    int wrong = 0;
    for (int b = 0; b < YS_VERIFY_BATCHES; b++) {
        bool same = said->forward[b] && oracle->forward[b];
        for (int k = 0; same && k < 2; k++) {
            const char *name = k ? "y" : "x";
            const struct ys_tensor *theirs = ys_safetensors_find(said->forward[b], name);
            const struct ys_tensor *ours = ys_safetensors_find(oracle->forward[b], name);
            same = theirs && ours && ys_tensors_equal(theirs, ours);
        }
        if (!same && !wrong++)
            snprintf(where, size, "batch %d", b);
    }
    return wrong;
}

static double weights_changed(const struct ys_evidence *said, const struct ys_safetensors *initial, char *where,
                              size_t size)
{
    int wrong = 0;
    for (size_t i = 0; i < ys_safetensors_count(initial); i++) {
        const struct ys_tensor *ours = ys_safetensors_at(initial, i);
        const struct ys_tensor *theirs = said->start ? ys_safetensors_find(said->start, ours->name) : NULL;
        if ((!theirs || !ys_tensors_equal(theirs, ours)) && !wrong++)
            snprintf(where, size, "%s", ours->name);
    }
    return wrong;
}

/* `second` is the session in double, NULL without one: what was loaded must be right in both. */
static void check_work(struct sheet *sheet, const struct ys_graph *graph, const struct ys_evidence *first,
                       const struct ys_evidence *second, const struct ys_evidence *oracle,
                       const struct ys_safetensors *initial)
{
    char where[128] = "";
    int64_t parameters = ys_graph_parameter_count(graph), multiply_adds = ys_graph_multiply_adds(graph);
    note(sheet, "work", "parameters", fabs((double)(first->parameters - parameters)), 0, NULL);
    if (first->multiply_adds >= 0)
        note(sheet, "work", "multiply-adds", fabs((double)(first->multiply_adds - multiply_adds)), 0, NULL);
    double changed = weights_changed(first, initial, where, sizeof where);
    if (second)
        changed += weights_changed(second, initial, where, sizeof where);
    note(sheet, "work", "initial weights", changed, 0, where);
    where[0] = 0;
    changed = rows_changed(first, oracle, where, sizeof where);
    if (second)
        changed += rows_changed(second, oracle, where, sizeof where);
    note(sheet, "work", "batches", changed, 0, where);
}

static void check_meaning(struct sheet *sheet, const struct ys_evidence *said, const struct ys_evidence *oracle)
{
    const double bound = YS_VERIFY_MEANING_BOUND;
    struct ys_worst worst;
    note(sheet, "meaning", "logits", logits_error(said->forward[0], oracle->forward[0]), bound, NULL);
    note(sheet, "meaning", "loss", loss_error(said->backward, oracle->backward), bound, NULL);
    ys_error_gradients(said->backward, oracle->backward, "grad.", &worst);
    note(sheet, "meaning", "gradients", worst.error, bound, worst.name);
    ys_error_weights(said->step1, oracle->step1, oracle->start, &worst);
    note(sheet, "meaning", "weights after 1 step", worst.error, bound, worst.name);
    ys_error_weights(said->step10, oracle->step10, oracle->start, &worst);
    note(sheet, "meaning", "weights after 10 steps", worst.error, bound, worst.name);
}

static void check_numerics(struct sheet *sheet, const struct ys_evidence *said, const struct ys_evidence *oracle,
                           const struct ys_numerics *twins)
{
    struct ys_numerics found;
    ys_check_numerics(said, oracle, &found);
    note(sheet, "numerics", "logits and loss", found.forward.error, YS_VERIFY_TWIN_FACTOR * twins->forward.error,
         found.forward.name);
    note(sheet, "numerics", "gradients", found.gradients.error, YS_VERIFY_TWIN_FACTOR * twins->gradients.error,
         found.gradients.name);
}

static bool failed(const ys_json *checks, const char *half, const char *name)
{
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        if (strcmp(ys_json_get_text(check, "half", ""), half) == 0 &&
            strcmp(ys_json_get_text(check, "name", ""), name) == 0)
            return !ys_json_get_bool(check, "pass", true);
    }
    return false;
}

/* The earliest check that failed says where to look: what comes after it follows from it. */
static const char *diagnose(const ys_json *checks)
{
    if (failed(checks, "work", "parameters") || failed(checks, "work", "multiply-adds"))
        return "another network was built than the graph says";
    if (failed(checks, "work", "initial weights"))
        return "the initial weights are not the ones of the plan";
    if (failed(checks, "work", "batches"))
        return "the batches are not the ones of the plan";
    if (failed(checks, "meaning", "logits"))
        return "the forward pass means something else: look at padding, layout, epsilon, pooling";
    if (failed(checks, "meaning", "loss"))
        return "the loss means something else: look at sum or mean";
    if (failed(checks, "meaning", "gradients"))
        return "the gradients mean something else: look at the loss's scale and the backward pass";
    if (failed(checks, "meaning", "weights after 1 step"))
        return "the optimizer means something else from its first step: look at weight decay and which parameters it "
               "reaches";
    if (failed(checks, "meaning", "weights after 10 steps"))
        return "the optimizer means something else after its first step: look at momentum, the change of learning "
               "rate, the "
               "order of batches";
    return "the trial's own format computes with less precision than it says";
}

static const char *verdict_of(const struct sheet *sheet, const struct ys_evidence *meaning)
{
    if (sheet->failed)
        return "fail";
    return meaning->backward ? "pass" : "weak";
}

static ys_status broken(ys_json *proof, const struct ys_evidence *said)
{
    bool lacks = strcmp(said->status, "unsupported") == 0;
    ys_json_set_string(proof, "verdict", lacks ? "none" : "fail");
    ys_json_set_bool(proof, "lasting", false);
    char *reason = ys_format("the adapter ended as %s: %s", said->status, said->message ? said->message : "no message");
    ys_status status = ys_json_set_string(proof, "reason", reason);
    ys_free(reason);
    return status;
}

ys_status ys_check_all(const struct ys_graph *graph, const struct ys_evidence *meaning,
                       const struct ys_evidence *numerics, const struct ys_evidence *oracle,
                       const struct ys_numerics *twins, const char *weights, bool has_double, ys_json *proof)
{
    struct sheet sheet = {.checks = ys_json_array()};
    struct ys_safetensors *initial = NULL;
    ys_json_set(proof, "checks", ys_json_ref(sheet.checks));
    const struct ys_evidence *first = numerics && numerics->status ? numerics : meaning;
    if (!numerics || numerics->status) {
        ys_json_free(sheet.checks);
        return broken(proof, first);
    }
    ys_status status = ys_safetensors_open(weights, &initial);
    if (status == YS_OK) {
        bool both = meaning->backward != NULL;
        check_work(&sheet, graph, numerics, both ? meaning : NULL, oracle, initial);
        if (both)
            check_meaning(&sheet, meaning, oracle);
        check_numerics(&sheet, numerics, oracle, twins);
        ys_json_set_string(proof, "verdict", verdict_of(&sheet, meaning));
        const char *reason = NULL;
        if (sheet.failed)
            reason = diagnose(sheet.checks);
        else if (!both)
            reason = has_double ? "the adapter could not do this work in double, so its meaning is not proven"
                                : "the framework has no double, so its meaning is not proven";
        ys_json_set_string(proof, "reason", reason);
        status = ys_json_set_bool(proof, "lasting", true);
    }
    ys_safetensors_close(initial);
    ys_json_free(sheet.checks);
    return status;
}
