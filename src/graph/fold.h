/* A network as it is computed once it has learnt: batch normalisation folded into the convolution or dense layer in
 * front of it.
 *
 *     weight' = weight * g, bias' = (bias - running_mean) * g + shift, g = scale / sqrt(running_var + epsilon)
 *
 * in double, rounded to float32 once. A normalisation is folded where the product's result has no other reader and its
 * parameters belong to it alone; others stay. The folded product makes the value that the normalisation made; its
 * weight keeps its name, its bias too, and where it had none it takes that of the normalisation. Nodes keep their
 * order. */
#ifndef YS_GRAPH_FOLD_H
#define YS_GRAPH_FOLD_H

#include "graph/graph.h"

struct ys_folded {
    struct ys_graph *graph;
    float **values; /* [param_count] of graph, each in C order */
};

/** `weights` has those of `graph`. YS_ENOTFOUND, YS_EFORMAT: it has not, or one of them is no number. Free with
 * ys_folded_fini(). */
ys_status ys_graph_fold(const struct ys_graph *graph, const struct ys_safetensors *weights,
                        struct ys_folded *folded) YS_MUST_CHECK;
void ys_folded_fini(struct ys_folded *folded); /* a zeroed one is fine */

#endif
