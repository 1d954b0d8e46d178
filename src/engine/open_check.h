/* What an engine is asked for, and cannot be. */
#ifndef YS_ENGINE_OPEN_CHECK_H
#define YS_ENGINE_OPEN_CHECK_H

#include "engine/engine.h"
#include "graph/graph.h"

/** YS_EINVAL: numbers that are none of batches, threads, precisions or optimizers. */
ys_status ys_open_check_config(const struct ys_engine_config *config) YS_MUST_CHECK;
/** YS_EUNSUPPORTED: inputs or an output that the engine does not take. */
ys_status ys_open_check_graph(const struct ys_graph *graph, bool input_gradient) YS_MUST_CHECK;

#endif
