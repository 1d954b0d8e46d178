/* The checks of a proof, and what a failure most likely means. */
#ifndef YS_VERIFY_CHECK_H
#define YS_VERIFY_CHECK_H

#include "graph/graph.h"
#include "verify/error.h"
#include "verify/evidence.h"

/** How far a framework in the trial's own format lies from the oracle, or a twin does. Kept apart, because one ReLU
 * that rounding flips moves a gradient by a hundredth and the logits hardly: a twin that met one must not excuse coarse
 * logits. */
struct ys_numerics {
    struct ys_worst forward;   /* the worse of logits and loss of the first batch */
    struct ys_worst gradients; /* the worst of its gradients */
};

void ys_check_numerics(const struct ys_evidence *said, const struct ys_evidence *oracle, struct ys_numerics *numerics);

/** Fills verdict, reason, checks and lasting (may it be cached?) of `proof`. `meaning` may hold nothing (a framework
 * without double), `numerics` may be NULL (its session was never begun). `weights` is the file of initial values. */
ys_status ys_check_all(const struct ys_graph *graph, const struct ys_evidence *meaning,
                       const struct ys_evidence *numerics, const struct ys_evidence *oracle,
                       const struct ys_numerics *twins, const char *weights, bool has_double,
                       ys_json *proof) YS_MUST_CHECK;

#endif
