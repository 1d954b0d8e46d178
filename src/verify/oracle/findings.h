/* How far one session's answers lie from the reference: figures, taken from each file as it comes. */
#ifndef YS_VERIFY_ORACLE_FINDINGS_H
#define YS_VERIFY_ORACLE_FINDINGS_H

#include "verify/oracle/reference.h"
#include "verify/oracle/tensor_error.h"

struct ys_findings {
    struct ys_evidence said;
    int precision;           /* enum ys_precision: that of the session */
    int64_t batch;           /* of which logits, loss and gradients are */
    struct ys_worst start;   /* error: how many tensors differ from the initial weights; name: the first */
    struct ys_worst batches; /* error: how many batches differ from the plan's; name: the first */
    struct ys_worst logits, loss, gradients;
    struct ys_worst matrices;                      /* of gradients, those of tensors with more than one dimension */
    struct ys_worst first, last;                   /* weights after one step and after all */
    struct ys_worst buffers;                       /* at both times */
    bool has_input_gradient, has_ties;             /* it was asked for, and of equal values in pools */
    struct ys_worst input_gradient[YS_INPUT_LOTS]; /* and it and the logits are, of each lot */
    struct ys_worst ties;
    struct ys_worst train_loss; /* of the first step, as `train` said it; infinite where it said none */
};

/** Runs a session of `plan` and measures its answers. `reference` was asked for batch `questions->first`. What was not
 * asked for stays 0. */
ys_status ys_findings_collect(const struct ys_reference *reference, const struct ys_framework *framework,
                              const struct ys_plan *plan, const ys_json *env, double patience_s,
                              const struct ys_questions *questions, struct ys_findings *findings) YS_MUST_CHECK;
void ys_findings_fini(struct ys_findings *findings);

/** The worse of logits and loss. Kept apart from gradients in the numerics half, because one ReLU that rounding flips
 * moves a gradient by a hundredth and the logits hardly: a twin that met one must not excuse coarse logits. */
const struct ys_worst *ys_findings_forward(const struct ys_findings *findings);

/** Takes one answer into the figures (what ys_findings_collect() does with each). */
void ys_findings_add(const struct ys_reference *reference, enum ys_answer answer, int64_t batch,
                     const struct ys_safetensors *file, struct ys_findings *findings);

#endif
