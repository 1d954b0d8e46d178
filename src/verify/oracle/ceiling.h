/* How far twins in a trial's format may lie from the oracle at the most: a judge of the judges, which computes in
 * double alone. The same moves as a twin's, gone through by the oracle, are what one unit of each weight and number
 * of a row comes to; roundings on the way are so many times that (docs/proof.md, "The ceiling"). */
#ifndef YS_VERIFY_ORACLE_CEILING_H
#define YS_VERIFY_ORACLE_CEILING_H

#include "verify/oracle/findings.h"

/** So many times what moved weights and rows come to is all that rounding a step of `rows` rows can. */
double ys_ceiling_factor(const struct ys_graph *graph, int64_t rows, enum ys_precision precision);

/** Of the bounds of logits and loss, and of gradients. `moved`: the worst figures of the oracle's twins whose weights
 * and rows were moved by units of `precision`, the trial's format. */
double ys_ceiling_forward(const struct ys_reference *reference, enum ys_precision precision,
                          const struct ys_findings *moved);
double ys_ceiling_gradients(const struct ys_reference *reference, enum ys_precision precision,
                            const struct ys_findings *moved);
double ys_ceiling_input_gradient(const struct ys_reference *reference, enum ys_precision precision,
                                 const struct ys_findings *moved, int lot);

/** YS_EPROTOCOL: the bounds of `twins`, those in the trial's format, lie above: they or the oracle failed. */
ys_status ys_ceiling_check(const struct ys_reference *reference, enum ys_precision precision,
                           const struct ys_findings *moved, const struct ys_findings *twins) YS_MUST_CHECK;

#endif
