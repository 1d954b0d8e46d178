/* compare = same-weights: what a framework predicts with the common weights, against what the built-in engine does.
 *
 * Predictions: the first `rows` rows of the test set in their order, in batches of the trial; reference is the built-in
 * engine in f32 on the same batches. Layers: every value that a node makes, on the first few of these rows
 * (graph/expose_values.h), against the oracle in double. Both references are made once and kept in the cache. */
#ifndef YS_PREPARE_AGREEMENT_H
#define YS_PREPARE_AGREEMENT_H

#include "prepare/common_weights.h"
#include "prepare/kept_scales.h"

struct ys_agreement {
    struct ys_common_weights taught;
    struct ys_kept_scales scales; /* of a quantised trial, whose references are those of f32 all the same */
    int64_t rows, batches;        /* test rows; batches of the trial's size that hold them, the last one filled up */
    struct ys_shelf_item files;   /* both references and what was asked for them */
    char *order_path;             /* of the batches */
    char *tap_path, *tap_order_path;
    char *logits_path, *layers_path; /* `logits` F64 [rows, classes]; `layers` F64 [tap rows, all values of a row] */
};

/** Trains the weights and asks the references, where the cache has them not. Where the built-in engine failed in either
 * as a run can, `taught.failure` says so and nothing else is to be used. */
ys_status ys_agreement_open(const struct ys_teacher *teacher, const struct ys_trial *trial, const struct ys_work *work,
                            uint64_t seed, struct ys_agreement *agreement) YS_MUST_CHECK;
void ys_agreement_fini(struct ys_agreement *agreement); /* a zeroed one is fine */

/** Asks `framework` for the logits of the first `rows` rows of `plan`'s batches, evaluated, with the variables `env`
 * (may be NULL): `values` [rows, width]. An adapter that fails is YS_OK with *reason, new, which begins with its
 * status. */
ys_status ys_logits_ask(const struct ys_framework *framework, const struct ys_plan *plan, const ys_json *env,
                        int64_t rows, int64_t width, double *values, char **reason) YS_MUST_CHECK;

/** Makes of a trial's plan that of the prediction: the common weights, the test rows. */
void ys_agreement_plan(const struct ys_agreement *agreement, const struct ys_trial *trial, struct ys_plan *plan);

/** Asks the trial's framework, in `folder`, and compares. `plan` is that of its run (after ys_agreement_plan()).
 * What could not be had is unknown with its reason. On failure `found` owns nothing. */
ys_status ys_agreement_find(const struct ys_agreement *agreement, const struct ys_trial *trial,
                            const struct ys_work *work, const struct ys_plan *plan, const char *folder,
                            struct ys_facts_agreement *found) YS_MUST_CHECK;

#endif
