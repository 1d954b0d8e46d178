/* A network of sequences over a few positions at a time, those before them being remembered, or over its first ones. */
#ifndef YS_GRAPH_SEQUENCE_PART_H
#define YS_GRAPH_SEQUENCE_PART_H

#include "graph/graph.h"

/** Whether a position of the network learns of others by attention to itself and those before it alone, so that keys
 * and values of these are all that has to be remembered of them. YS_EUNSUPPORTED names the node for which it is not so,
 * or says what else of the network is in the way. */
ys_status ys_graph_window_check(const struct ys_graph *graph) YS_MUST_CHECK;
/** Makes of such a network of p positions that over `positions` of them that follow one another, 1 to p: of parameters
 * with a row for each position, which it reads first to last, it keeps so many rows. Order and names of values, nodes
 * and parameters stay. On failure `graph` is undefined, but for ys_graph_free(). */
ys_status ys_graph_window(struct ys_graph *graph, int64_t positions) YS_MUST_CHECK;

/** Whether a position learns of itself and those before it alone, by attention or by the state of LSTM and GRU, so that
 * the first ones are a network by themselves. */
ys_status ys_graph_prefix_check(const struct ys_graph *graph) YS_MUST_CHECK;
/** Makes of such a network that over its first `positions`, as ys_graph_window() does. */
ys_status ys_graph_prefix(struct ys_graph *graph, int64_t positions) YS_MUST_CHECK;

#endif
