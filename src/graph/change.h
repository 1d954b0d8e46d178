/* What a job changes of a network: which parameters are trained and which are one, and how its pixels are normalised.
 */
#ifndef YS_GRAPH_CHANGE_H
#define YS_GRAPH_CHANGE_H

#include "graph/graph.h"

/** Lists of name patterns (`*` any text, `?` any character), or of numbers, apart by spaces or commas; NULL changes
 * nothing. */
struct ys_graph_changes {
    const char *freeze;     /* parameters that keep their initial values: lr_mult and decay_mult 0 */
    const char *train;      /* parameters that are trained after all, with the factors 1 */
    const char *tie;        /* parameters of one shape that become one, called as the first of them */
    const char *untie;      /* shared parameters of which each node gets its own: the second NAME.copy2, and so on */
    const char *mean, *std; /* of the normalize node, in its scaled pixels: 1 number, or one for each channel */
};

/** Applies them in the order freeze, train, tie, untie, mean, std. YS_EINVAL: a pattern that no parameter has, what
 * cannot be tied, numbers that do not fit, nothing left to train; the message begins with the key, "model.tie". */
ys_status ys_graph_change(struct ys_graph *graph, const struct ys_graph_changes *changes) YS_MUST_CHECK;
/** The length of the name that a parameter had before it was untied: of "fc.weight.copy2" that of "fc.weight". */
size_t ys_graph_untied_length(const char *name);

#endif
