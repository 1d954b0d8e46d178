#include "verify/oracle/findings.h"

#include <stdio.h>

void ys_findings_fini(struct ys_findings *findings)
{
    ys_evidence_fini(&findings->said);
    *findings = (struct ys_findings){0};
}

const struct ys_worst *ys_findings_forward(const struct ys_findings *findings)
{
    return findings->loss.error > findings->logits.error ? &findings->loss : &findings->logits;
}

/* One difference more; the first is named. */
static void count(struct ys_worst *differences, const char *name)
{
    if (differences->error++ == 0)
        snprintf(differences->name, sizeof differences->name, "%s", name);
}

/* Row `row` of a tensor, as a tensor of one row. */
static struct ys_tensor row_of(const struct ys_tensor *tensor, size_t row)
{
    struct ys_tensor one = *tensor;
    one.size_bytes = tensor->size_bytes / (size_t)tensor->shape[0];
    one.data = (const char *)tensor->data + row * one.size_bytes;
    one.shape[0] = 1;
    return one;
}

static bool rows_equal(const struct ys_reference *reference, const char *name, int64_t batch,
                       const struct ys_safetensors *file)
{
    const struct ys_tensor *theirs = ys_safetensors_find(file, name);
    const struct ys_tensor *ours = ys_safetensors_find(reference->data, name);
    const struct ys_tensor *order = ys_safetensors_find(reference->order, "order");
    const uint32_t *rows = (const uint32_t *)order->data + batch * order->shape[1];
    if (!theirs || theirs->rank < 1 || theirs->shape[0] != order->shape[1])
        return false;
    for (size_t r = 0; r < (size_t)order->shape[1]; r++) {
        struct ys_tensor a = row_of(theirs, r), b = row_of(ours, rows[r]);
        if (!ys_tensors_equal(&a, &b))
            return false;
    }
    return true;
}

static void add_forward(const struct ys_reference *reference, int64_t batch, const struct ys_safetensors *file,
                        struct ys_findings *findings)
{
    char name[32];
    snprintf(name, sizeof name, "batch %lld", (long long)batch);
    const struct ys_rows form = ys_graph_rows(reference->graph);
    bool equal = true;
    for (size_t a = 0; equal && a <= form.input_count; a++)
        equal = rows_equal(reference, ys_rows_array(&form, a)->name, batch, file);
    if (!equal)
        count(&findings->batches, name);
    if (batch != findings->batch)
        return;
    const struct ys_safetensors *ref = reference->batch[batch].forward;
    ys_worst_raise(&findings->logits,
                   ys_error_max(ys_safetensors_find(file, "logits"), ys_safetensors_find(ref, "logits")), "logits");
    ys_worst_raise(&findings->loss,
                   ys_error_scalar(ys_safetensors_find(file, "loss"), ys_safetensors_find(ref, "loss")), "loss");
}

static void add_backward(const struct ys_reference *reference, const struct ys_safetensors *file,
                         struct ys_findings *findings)
{
    const struct ys_safetensors *ref = reference->batch[findings->batch].backward;
    ys_worst_raise(&findings->loss,
                   ys_error_scalar(ys_safetensors_find(file, "loss"), ys_safetensors_find(ref, "loss")), "loss");
    ys_error_gradients(reference->graph, file, ref, &findings->gradients, &findings->matrices);
}

static void add_start(const struct ys_reference *reference, const struct ys_safetensors *file,
                      struct ys_findings *findings)
{
    for (size_t i = 0; i < ys_safetensors_count(reference->weights); i++) {
        const struct ys_tensor *ours = ys_safetensors_at(reference->weights, i);
        const struct ys_tensor *theirs = ys_safetensors_find(file, ours->name);
        if (!theirs || !ys_tensors_equal(theirs, ours))
            count(&findings->start, ours->name);
    }
}

static void add_step(const struct ys_reference *reference, const struct ys_safetensors *ref,
                     const struct ys_safetensors *file, struct ys_worst *weights, struct ys_worst *buffers)
{
    struct ys_worst worst;
    ys_error_saved(reference->graph, YS_ROLE_WEIGHT, file, ref, reference->weights, weights);
    ys_error_saved(reference->graph, YS_ROLE_BUFFER, file, ref, NULL, &worst);
    ys_worst_raise(buffers, worst.error, worst.name);
}

static void add_input_gradient(const struct ys_reference *reference, int64_t lot, const struct ys_safetensors *file,
                               struct ys_findings *findings)
{
    const struct ys_safetensors *ref = reference->input_gradient[lot];
    char name[YS_GRAPH_MAX_NAME + sizeof "grad."];
    snprintf(name, sizeof name, "grad.%s", reference->graph->values[reference->graph->inputs[0]].name);
    const char *const names[] = {"logits", name};
    findings->has_input_gradient = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ys_worst_raise(&findings->input_gradient[lot],
                       ys_error_max(ys_safetensors_find(file, names[i]), ys_safetensors_find(ref, names[i])), names[i]);
}

void ys_findings_add(const struct ys_reference *reference, enum ys_answer answer, int64_t batch,
                     const struct ys_safetensors *file, struct ys_findings *findings)
{
    switch (answer) {
    case YS_ANSWER_BACKWARD:
        add_backward(reference, file, findings);
        break;
    case YS_ANSWER_FORWARD:
        add_forward(reference, batch, file, findings);
        break;
    case YS_ANSWER_START:
        add_start(reference, file, findings);
        break;
    case YS_ANSWER_FIRST_STEP:
        add_step(reference, reference->first, file, &findings->first, &findings->buffers);
        break;
    case YS_ANSWER_LAST_STEP:
        add_step(reference, reference->last, file, &findings->last, &findings->buffers);
        break;
    case YS_ANSWER_INPUT_GRADIENT:
        add_input_gradient(reference, batch, file, findings);
        break;
    }
}

struct findings_taker {
    const struct ys_reference *reference;
    struct ys_findings *findings;
};

static ys_status take(void *context, enum ys_answer answer, int64_t batch, struct ys_safetensors **file)
{
    const struct findings_taker *taker = context;
    ys_findings_add(taker->reference, answer, batch, *file, taker->findings);
    return YS_OK;
}

/* The step begins with the first batch's loss. */
static void compare_train_loss(const struct ys_reference *reference, struct ys_findings *findings)
{
    struct ys_tensor said = {
        .dtype = YS_F64, .data = &findings->said.train_loss, .size_bytes = sizeof findings->said.train_loss};
    const struct ys_tensor *ref = ys_safetensors_find(reference->batch[0].forward, "loss");
    ys_worst_raise(&findings->train_loss, ys_error_scalar(&said, ref), "loss");
}

ys_status ys_findings_collect(const struct ys_reference *reference, const struct ys_framework *framework,
                              const struct ys_plan *plan, const ys_json *env, double patience_s,
                              const struct ys_questions *questions, struct ys_findings *findings)
{
    struct findings_taker taker = {.reference = reference, .findings = findings};
    *findings = (struct ys_findings){.precision = plan->precision, .batch = questions->first};
    YS_TRY(ys_evidence_collect(framework, plan, env, patience_s, questions, take, &taker, &findings->said));
    if (questions->trained && !findings->said.status)
        compare_train_loss(reference, findings);
    return YS_OK;
}
