/* What an operator in integers gives, exactly: before it is rounded, in steps of its result's scale. Plain loops, one
 * row at a time; against it whoever computes is held (quant/layer_network.h). The formulas are those of
 * docs/quantised.md. */
#ifndef YS_QUANT_EXACT_OPERATOR_H
#define YS_QUANT_EXACT_OPERATOR_H

#include "graph/graph.h"
#include "graph/scales.h"

struct ys_exact_operator {
    const struct ys_graph *graph;
    const struct ys_node *node;
    const float *weight, *bias;                           /* of Conv and Gemm, in C order; the bias may be NULL */
    const struct ys_weight_scale *of_weight;              /* likewise */
    int limit;                                            /* of the weight's integers: 127 or 63 */
    const struct ys_activation_scale *const *in, *result; /* one for each value that it reads */
    const int *const *steps;                              /* of each such value q - zero point of one row, in C order */
};

/** Whether there are loops for it: Conv, Gemm of (N, features), Relu, Clip, Add of one shape, Concat, the pools. */
bool ys_exact_has(const struct ys_node *node);
/** One row. `exact` [out, elements of the result]: sums in steps of the result's scale, without its zero point, of Relu
 * and Clip not yet cut. `size` [out, likewise]: the sum of what is added up at the end, without signs, which what
 * rounds in float is in proportion to. */
void ys_exact_row(const struct ys_exact_operator *op, double *exact, double *size);

#endif
