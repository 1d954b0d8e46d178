/* Where a framework first parts from the oracle, forward and backward. */
#ifndef YS_VERIFY_TRACE_H
#define YS_VERIFY_TRACE_H

#include "base/json.h"
#include "framework/framework.h"

/** Everything is borrowed. */
struct ys_trace_request {
    const struct ys_framework *oracle, *framework; /* ready */
    const ys_json *plan, *env;                     /* as in struct ys_verify_request */
    double patience_s;                             /* for one answer */
    const char *folder;                            /* empty; may be left full */
    bool in_format; /* in the plan's own format, each bound being YS_VERIFY_TWIN_FACTOR times the twins' figure at that
                       place; else in double, within the two bounds that follow */
    double forward_bound, backward_bound;
};

/** The first batch of the proof's work through both, with every value of the graph tapped (graph/tap.h), then its
 * gradients. *trace: {precision, forward, backward}, each half an object {reason, nodes, first}: `nodes` in the order
 * in which a mistake spreads (backward: from the loss back), each {node, op, name, error (null: infinite), bound,
 * pass}, `name` that of the value or of the parameter; `first` the index of the first that does not pass, null without
 * one; `reason` null, or why there is no answer, with no nodes. `backward` is null of inference. An adapter that fails
 * is YS_OK with a reason. */
ys_status ys_trace_make(const struct ys_trace_request *request, ys_json **trace) YS_MUST_CHECK;

#endif
