/* The checks of a proof, and what a failure most likely means. */
#ifndef YS_VERIFY_CHECK_H
#define YS_VERIFY_CHECK_H

#include "graph/graph.h"
#include "verify/error.h"
#include "verify/evidence.h"

/** The worst of logits, loss and gradients of the first batch, against the oracle. */
void ys_check_numerics(const struct ys_evidence *said, const struct ys_evidence *oracle, struct ys_worst *worst);

/** Fills verdict, reason, checks, diagnosis and lasting of `proof`. `meaning` may hold nothing (a framework without
 * double), `numerics` may be NULL (its session was never begun). `weights` is the file of initial values. */
ys_status ys_check_all(const struct ys_graph *graph, const struct ys_evidence *meaning,
                       const struct ys_evidence *numerics, const struct ys_evidence *oracle, double twins_worst,
                       const char *weights, bool has_double, ys_json *proof) YS_MUST_CHECK;

#endif
