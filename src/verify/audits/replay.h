/* Some steps of a run gone through once more, by the built-in engine. */
#ifndef YS_VERIFY_AUDITS_REPLAY_H
#define YS_VERIFY_AUDITS_REPLAY_H

#include "base/stored/safetensors.h"
#include "framework/framework.h"
#include "protocol/plan.h"

/** Everything is borrowed. */
struct ys_replay {
    const struct ys_framework *engine; /* the built-in one, ready */
    const struct ys_plan *plan;        /* of the run */
    enum ys_precision precision;       /* to compute in */
    const char *backend;               /* NULL: the engine's own, and "ref" where that lacks something */
    const char *weights;               /* file to start from; NULL: the plan's initial weights */
    const char *state;                 /* file of the optimizer's state, named as `save` does; NULL: zero */
    int64_t first, steps;              /* of the plan's order, at least one */
    int64_t seed;                      /* added to the plan's: other masks of dropout */
    const char *folder;                /* to work in; exists */
};

/** Writes the loss of each step to losses[steps] and opens the weights and buffers after the last in *after (may be
 * NULL), in double where the precision is. YS_EPROTOCOL: the engine broke off, or said no finite loss. */
ys_status ys_replay_run(const struct ys_replay *replay, double *losses, struct ys_safetensors **after) YS_MUST_CHECK;

#endif
