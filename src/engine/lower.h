/* From a graph to a planned program, through a back end. */
#ifndef YS_ENGINE_LOWER_H
#define YS_ENGINE_LOWER_H

#include "engine/backend.h"

/** The back end of that name (NULL or "auto": the first) that can run the graph in that precision; `in_integers`: also
 * those of its nodes that are quantised. */
ys_status ys_lower_choose(const struct ys_graph *graph, const struct ys_engine_config *config, bool in_integers,
                          const struct ys_backend **backend) YS_MUST_CHECK;

/** Lowers low->graph with low->config into low->program (both set by the caller, the program empty) and plans it. On
 * failure ys_lower_fini() still has to be called. */
ys_status ys_lower_graph(struct ys_lowering *low, const struct ys_backend *backend) YS_MUST_CHECK;
/** Frees what the lowering owns, the back end's state included; not the program, which must go first. */
void ys_lower_fini(struct ys_lowering *low, const struct ys_backend *backend);

/** Elements of one array of the state that a node carries. */
size_t ys_lower_carried_elements(const struct ys_lowering *low, const struct ys_node *node);

#endif
