/* Some steps of a run gone through once more, by the built-in engine. */
#ifndef YS_VERIFY_REPLAY_H
#define YS_VERIFY_REPLAY_H

#include "base/json.h"
#include "base/safetensors.h"
#include "framework/framework.h"

/** Everything is borrowed. */
struct ys_replay {
    const struct ys_framework *engine; /* the built-in one, ready */
    const ys_json *plan;               /* of the run */
    const char *precision;             /* to compute in; NULL: the plan's own */
    const char *backend;               /* NULL: the engine's own, and "ref" where that lacks something */
    const char *weights;               /* file to start from; NULL: the plan's initial weights */
    const char *velocity;              /* file of the velocity of SGD, named as the weights; NULL: zero */
    int64_t first, steps;              /* of the plan's order, at least one */
    int64_t seed;                      /* added to the plan's: other masks of dropout */
    const char *folder;                /* to work in; exists */
};

/** Writes the loss of each step to losses[steps] and opens the weights and buffers after the last in *after (may be
 * NULL), in double where the precision is. YS_EPROTOCOL: the engine broke off, or said no finite loss. */
ys_status ys_replay_run(const struct ys_replay *replay, double *losses, struct ys_safetensors **after) YS_MUST_CHECK;

#endif
