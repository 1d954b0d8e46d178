/* How an adapter keeps to the protocol: what it says of itself, the errors that docs/protocol.md promises, and weights
 * that are saved and loaded again. */
#ifndef YS_VERIFY_CONDUCT_H
#define YS_VERIFY_CONDUCT_H

#include "base/json.h"
#include "framework/framework.h"
#include "protocol/plan.h"

/** Takes one case: {name, verdict ("pass", "unsupported", "fail"), message, error, bound, worst}, the last three null
 * where nothing was measured. */
typedef ys_status (*ys_on_conduct)(void *context, ys_json *taken);

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
/** Provokes each error and looks at its code; then says bye. */
ys_status ys_conduct_errors(const struct ys_conduct *conduct, const ys_json *hello) YS_MUST_CHECK;
/** Weights: those that step gives, those that are saved, those that training gives after a reset, and those of another
 * process that was started from the saved ones, with its logits. */
ys_status ys_conduct_weights(const struct ys_conduct *conduct, const ys_json *hello) YS_MUST_CHECK;

/** Whether the list `key` of `hello` has `word`. */
bool ys_hello_has(const ys_json *hello, const char *key, const char *word);

#endif
