/* A twin of the built-in engine's run: the same but for the last place of every number that goes in. */
#ifndef YS_VERIFY_ORACLE_TWIN_H
#define YS_VERIFY_ORACLE_TWIN_H

#include "verify/oracle/proof_plan.h"

/** Writes the initial weights, and the pixels of `batch` as F32 with its labels, each value moved by one unit in the
 * last place of the plan's precision (bf16: of bfloat16, though the file is F32) away from zero, towards it or not at
 * all, drawn from (the plan's seed, twin), to folder/twin-weights.safetensors and folder/twin-data.safetensors, and
 * points `twin_plan` at them; its batches, up to that one, become these rows in turn. Zero stays zero. Batches of a
 * ring are first made in that folder. */
ys_status ys_twin_write(struct ys_plan *twin_plan, int twin, int64_t batch, const char *folder) YS_MUST_CHECK;

/** The same of the first `batches` batches, each of which stays what it is. */
ys_status ys_twin_write_all(struct ys_plan *twin_plan, int twin, int64_t batches, const char *folder) YS_MUST_CHECK;

/** Writes the weights of file `from` to `to`, moved as those of `twin` are, in `precision`, but each by so many `units`
 * (of f64: 1). */
ys_status ys_twin_write_weights(int64_t seed, int twin, int units, enum ys_precision precision, const char *from,
                                const char *to) YS_MUST_CHECK;

/** Images that are asked for beside the data, F32, moved as the data of `twin` are. */
ys_status ys_twin_write_images(const struct ys_plan *twin_plan, int twin, const char *from,
                               const char *to) YS_MUST_CHECK;

/** The same for the oracle: only the weights, each moved by one unit in the last place of a double, in a file of F64.
 */
ys_status ys_twin_write_double(struct ys_plan *twin_plan, int twin, const char *folder) YS_MUST_CHECK;

#endif
