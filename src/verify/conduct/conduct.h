/* How an adapter keeps to the protocol: what it says of itself, the errors that docs/protocol.md promises, and weights
 * that are saved and loaded again. */
#ifndef YS_VERIFY_CONDUCT_CONDUCT_H
#define YS_VERIFY_CONDUCT_CONDUCT_H

#include "base/json/json.h"
#include "framework/framework.h"
#include "protocol/plan.h"
#include "session/checked_message.h"

enum ys_conduct_verdict { YS_CONDUCT_PASS, YS_CONDUCT_UNSUPPORTED, YS_CONDUCT_FAIL };

/** One case; texts are borrowed, NULL where there is nothing to say. */
struct ys_conduct_case {
    const char *name;
    enum ys_conduct_verdict verdict;
    const char *message;
    double error, bound; /* error NaN: not finite; both NaN: nothing was measured */
    const char *worst;   /* where the error is largest */
};
typedef ys_status (*ys_on_conduct)(void *context, const struct ys_conduct_case *found);

struct ys_conduct {
    const struct ys_framework *framework; /* ready */
    const struct ys_plan *plan; /* of a small network, in a format and a mode that the adapter has; at least 4 steps */
    const ys_json *env;         /* variables to start it with, {NAME: "value"}; may be NULL */
    const char *folder;         /* empty; may be left full */
    ys_on_conduct on_case;
    void *context;
};

/** What the adapter answers to hello, in *hello, and ends: a new value, NULL with a reason in *message (new string)
 * when there was none. */
ys_status ys_conduct_hello(const struct ys_conduct *conduct, ys_json **hello, char **message) YS_MUST_CHECK;
/** `hello` is what it said. Provokes each error and looks at its code; then says bye. */
ys_status ys_conduct_errors(const struct ys_conduct *conduct, const struct ys_message *hello) YS_MUST_CHECK;
/** Weights: those that step gives, those that are saved, those that training gives after a reset, and those of another
 * process that was started from the saved ones, with its logits. */
ys_status ys_conduct_weights(const struct ys_conduct *conduct, const struct ys_message *hello) YS_MUST_CHECK;

#endif
