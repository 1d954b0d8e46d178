/* The plans of a proof, made from a trial's plan: fewer rows, ten steps, a change of learning rate, another format. */
#ifndef YS_VERIFY_PLAN_H
#define YS_VERIFY_PLAN_H

#include "base/json.h"

/** Writes the proof's own order file (the first rows of the first ten batches; the trial's learning rates, a tenth of
 * them from the sixth step on) to `path`. `rows` receives the rows of a batch: at most YS_VERIFY_ROWS. */
ys_status ys_proof_order_write(const ys_json *plan, const char *path, int64_t *rows) YS_MUST_CHECK;

/** The trial's plan, changed to `rows` rows and ten steps from `order`, in `precision`, with `folder`. New value. */
ys_json *ys_proof_plan(const ys_json *plan, const char *order, int64_t rows, const char *precision, const char *folder);

/** The same work for the built-in engine: `backend` is "ref" or NULL for its default, on every CPU it may use. */
ys_json *ys_proof_plan_builtin(const ys_json *proof_plan, const char *backend, const char *folder);

/** Writes the initial weights, and the first batch's pixels as F32 with its labels, each moved by one unit in the last
 * place up, down or not at all, drawn from (seed, twin), to folder/twin-weights.safetensors and
 * folder/twin-data.safetensors, and points `twin_plan` at them (its order becomes the rows in turn). */
ys_status ys_proof_move(ys_json *twin_plan, uint64_t seed, int twin, const char *folder) YS_MUST_CHECK;

#endif
