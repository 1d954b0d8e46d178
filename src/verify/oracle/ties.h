/* Of equal values in a pool of maxima the first has the gradient (docs/protocol.md, "input_gradient"). Whether an
 * adapter has it so is asked of a network of its own: the pools of the trial's network, one behind the other, straight
 * on the pixels, so that what is equal there is equal in every arithmetic. */
#ifndef YS_VERIFY_ORACLE_TIES_H
#define YS_VERIFY_ORACLE_TIES_H

#include "verify/oracle/findings.h"

struct ys_ties_request {
    const struct ys_framework *oracle, *framework;
    const struct ys_plan *plan;   /* the trial's */
    const struct ys_graph *graph; /* whose pools are meant */
    const ys_json *env;           /* the trial's own variables, {NAME: text}; NULL for none */
    double patience_s;
    const char *folder; /* exists, and is this request's own */
};

/** Writes such a network with weights and rows into `folder`: each kind of pool of maxima of `graph` (another window or
 * stride is another kind), then a dense layer, on images of which each pixel is one of three values by lot. `made` is a
 * plan of mode attack over it, else as `plan`; where `graph` has no such pool *has_pools is false and `made` owns
 * nothing, as after a failure. */
ys_status ys_ties_plan(const struct ys_plan *plan, const struct ys_graph *graph, const char *folder,
                       struct ys_plan *made, bool *has_pools) YS_MUST_CHECK;

/** Asks the framework in double, where `meaning` is not NULL, and in the plan's format, and sets has_ties and ties of
 * either; not where the graph has no such pool, nor of an adapter for which that network is unsupported. Failures are
 * those of ys_reference_ask() and ys_findings_collect(). */
ys_status ys_ties_ask(const struct ys_ties_request *request, struct ys_findings *meaning,
                      struct ys_findings *numerics) YS_MUST_CHECK;

#endif
