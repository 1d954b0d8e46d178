/* What of a network is computed in integers, by the rule of docs/quantised.md. No engine is in it: those that compute,
 * and the writer of ONNX files, ask here and so cannot differ.
 *
 * The graph is a folded one (graph/fold.h). Kind static:
 *
 * Products: Conv and Gemm are computed in integers, whatever makes their input, unless `reason` says why not.
 *
 * Those that follow: Relu, Clip, Add of two values of one shape, pools, Concat of channels, Flatten, Reshape and
 * Dropout are where all their inputs are quantised values. Of them MaxPool, GlobalMaxPool, Flatten, Reshape and Dropout
 * pass integers on, so that their result has the scale of their input.
 *
 * Joined: Relu or Clip, the only reader of what a product or an Add makes, is computed with it. The value between them
 * is not quantised, the result of the Relu or Clip is.
 *
 * The rest is in float: a quantised value that it reads is turned into numbers, and what it makes is quantised where a
 * product reads it.
 *
 * A quantised value is so for all of its readers, the graph's output among them. Kind dynamic: products alone, each of
 * which quantises its input and makes numbers; kind weights: products have weights that are stored quantised. */
#ifndef YS_QUANT_QUANT_PLAN_H
#define YS_QUANT_QUANT_PLAN_H

#include "graph/graph.h"
#include "graph/scales.h"

enum ys_quant_way {
    YS_QUANT_IN_FLOAT,   /* `reason` says why */
    YS_QUANT_IN_INTEGER, /* static: integers in and out; dynamic: the product; weights: the weight */
    YS_QUANT_JOINED,     /* with the node that makes its input, which is IN_INTEGER */
    YS_QUANT_PASSED_ON   /* the integers of its input are those of its result, moved or chosen from */
};

struct ys_quant_node {
    enum ys_quant_way way;
    const char *reason; /* static text, a clause: "it has no integer form"; NULL unless IN_FLOAT */
    int joins;          /* of a product or Add: the node that is joined with it; -1: none */
};

struct ys_quant_plan {
    struct ys_quant_node *nodes; /* [node_count] */
    int *scale_of; /* [value_count]: of a quantised value, the value whose scale and zero point it has: itself, or that
                      from which its integers were passed on; -1: it is no quantised value */
};

/** YS_EUNSUPPORTED: LSTM, GRU or attention, whose integers are not defined here, or no product at all. Free with
 * ys_quant_plan_fini(). */
ys_status ys_quant_plan_make(const struct ys_graph *folded, const struct ys_quant_rule *rule,
                             struct ys_quant_plan *plan) YS_MUST_CHECK;
void ys_quant_plan_fini(struct ys_quant_plan *plan); /* a zeroed one is fine */
/** The value that a node makes in integers: that of the node it joins, if there is one. */
int ys_quant_result(const struct ys_graph *folded, const struct ys_quant_plan *plan, const struct ys_node *node);
/** The least and the greatest integer of what a node makes, 0 and 255 but where a Relu or Clip is joined with it or is
 * the node: rounding keeps order, so that what is cut after it is as if it were cut before. */
void ys_quant_ends(const struct ys_graph *folded, const struct ys_quant_plan *plan, const struct ys_node *node,
                   const struct ys_activation_scale *result, int *low, int *high);
/** Whether `scales` has a scale for each value and weight that the plan wants, of the right number of channels.
 * YS_EFORMAT names what it lacks. */
ys_status ys_quant_plan_check(const struct ys_graph *folded, const struct ys_quant_plan *plan,
                              const struct ys_scales *scales) YS_MUST_CHECK;

#endif
