/* What a proof gives to `input_gradient`: the files that docs/protocol.md says, drawn for it. */
#ifndef YS_VERIFY_ORACLE_INPUT_GRADIENT_H
#define YS_VERIFY_ORACLE_INPUT_GRADIENT_H

#include "base/stored/safetensors.h"
#include "graph/graph.h"
#include "protocol/plan.h"

/** One input of numbers, and no state that rows carry. */
bool ys_input_gradient_fits(const struct ys_graph *graph);

/** Whether an adapter of these features (may be NULL) can be asked for it by a plan whose graph it fits: one process,
 * of whole rows. */
bool ys_input_gradient_is_due(const struct ys_plan *plan, const ys_json *features);

/** Writes the input to `inputs`: the rows of the first batch of `order` in `data`, each number moved by up to a
 * sixteenth of their range, within it, because between equal values in a pool of maxima rounding chooses, and another
 * choice has another gradient. To `cotangent`, in double, as many numbers as there are logits. */
ys_status ys_input_gradient_write(const struct ys_graph *graph, const struct ys_safetensors *data,
                                  const struct ys_tensor *order, int64_t seed, const char *inputs,
                                  const char *cotangent) YS_MUST_CHECK;

#endif
