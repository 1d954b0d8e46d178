/* An engine of a quantised network, from the files of a plan. */
#ifndef YS_BUILTIN_QUANTISED_ENGINE_H
#define YS_BUILTIN_QUANTISED_ENGINE_H

#include "engine/engine.h"
#include "graph/fold.h"
#include "graph/scales.h"

struct ys_builtin_quantised { /* outlives its engine */
    struct ys_folded folded;
    struct ys_scales scales;
};

/** Folds `graph` with the weights of that file, and opens it with those scales. Failures as of
 * ys_engine_open_quantised(); then there is nothing to close. */
ys_status ys_builtin_quantised_open(const struct ys_graph *graph, const char *weights, const char *scales,
                                    const struct ys_engine_config *config, struct ys_builtin_quantised *quantised,
                                    struct ys_engine **engine) YS_MUST_CHECK;
/** After its engine; a zeroed one is fine. */
void ys_builtin_quantised_close(struct ys_builtin_quantised *quantised);

#endif
