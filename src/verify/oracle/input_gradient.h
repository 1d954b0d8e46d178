/* What a proof gives to `input_gradient`: the files that docs/protocol.md says, drawn for it. */
#ifndef YS_VERIFY_ORACLE_INPUT_GRADIENT_H
#define YS_VERIFY_ORACLE_INPUT_GRADIENT_H

#include "base/stored/safetensors.h"
#include "graph/graph.h"
#include "protocol/plan.h"

/** A proof asks so many times, each time by lots of its own: what one hides the other shows, and a ReLU that rounding
 * flips in one flips in no other. */
#define YS_INPUT_LOTS 2

/** One input of numbers, and no state that rows carry. */
bool ys_input_gradient_fits(const struct ys_graph *graph);

/** Whether an adapter of these features (may be NULL) can be asked for it by a plan whose graph it fits: one process,
 * of whole rows. */
bool ys_input_gradient_is_due(const struct ys_plan *plan, const ys_json *features);

/** The files of a question, paths: the input in F32, and as many numbers as there are logits in F64, and in F32 the
 * same. */
struct ys_input_files {
    char *inputs, *cotangent, *single_cotangent;
};
void ys_input_files_fini(struct ys_input_files *files);
/** Which cotangent a plan of that format is asked with; borrowed. */
const char *ys_input_files_cotangent(const struct ys_input_files *files, enum ys_precision precision);

/** Writes what is asked in lot number `lot` to the paths of `files`. Inputs are the rows of the first batch of `order`
 * in `data`, each number moved by up to a sixteenth of their range, within it, because between equal values in a pool
 * of maxima rounding chooses, and another choice has another gradient. */
ys_status ys_input_gradient_write(const struct ys_graph *graph, const struct ys_safetensors *data,
                                  const struct ys_tensor *order, int64_t seed, int lot,
                                  const struct ys_input_files *files) YS_MUST_CHECK;
/** Of those the cotangents alone, [rows, as the output]. */
ys_status ys_input_cotangent_write(const struct ys_graph *graph, int64_t rows, int64_t seed, int lot,
                                   const struct ys_input_files *files) YS_MUST_CHECK;

#endif
