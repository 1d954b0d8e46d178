/* Where a framework first parts from the oracle, forward and backward. */
#ifndef YS_VERIFY_TRACE_H
#define YS_VERIFY_TRACE_H

#include "base/json/json.h"
#include "framework/framework.h"
#include "protocol/plan.h"
#include "verify/proof.h"

/** Everything is borrowed. */
struct ys_trace_request {
    const struct ys_framework *oracle, *framework; /* ready */
    const struct ys_plan *plan;                    /* as in struct ys_verify_request */
    const ys_json *env;
    double patience_s;  /* for one answer */
    const char *folder; /* empty; may be left full */
    bool in_format; /* in the plan's own format, each bound being YS_VERIFY_TWIN_FACTOR times the twins' figure at that
                       place; else in double, within the two bounds that follow */
    double forward_bound, backward_bound;
};

/** The first batch of the proof's work through both, with every value of the graph tapped (graph/expose_values.h), then
 * its gradients, into *trace, which is overwritten and belongs to the caller. An adapter that fails is YS_OK with a
 * reason, and without places. */
ys_status ys_trace_make(const struct ys_trace_request *request, struct ys_proof_trace *trace) YS_MUST_CHECK;

#endif
