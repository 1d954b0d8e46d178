/* What the optimizer begins with, where a plan names it, and what batches carry on. */
#ifndef YS_BUILTIN_PLAN_STATE_H
#define YS_BUILTIN_PLAN_STATE_H

#include "engine/engine.h"
#include "graph/graph.h"

#define YS_BUILTIN_STATE_STEPS "state.steps" /* the number of steps so far, F64, one element */

/** Borrows all of it. */
struct ys_builtin_state {
    struct ys_engine *engine;
    const struct ys_graph *graph;
    const struct ys_engine_optimizer *optimizer;
    int64_t batch;
    const char *path; /* a file that is named as `save` names what it writes */
};

/** Puts it into the engine. YS_EFORMAT: the file has not what the optimizer keeps. */
ys_status ys_builtin_state_load(const struct ys_builtin_state *state) YS_MUST_CHECK;

#endif
