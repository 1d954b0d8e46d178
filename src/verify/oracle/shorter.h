/* A proof of a network over long rows, which takes the first positions of each. */
#ifndef YS_VERIFY_ORACLE_SHORTER_H
#define YS_VERIFY_ORACLE_SHORTER_H

#include "base/stored/safetensors.h"
#include "graph/graph.h"

/** Makes `graph` that over the first YS_VERIFY_POSITIONS positions of a row, where it has more and each learns of
 * itself and those before it alone; `*row_positions` is how many there were, 0 where the graph stays what it is. On
 * failure `graph` is undefined, but for ys_graph_free(). */
ys_status ys_shorter_graph(struct ys_graph *graph, int64_t *row_positions) YS_MUST_CHECK;

/** Writes to `path` what such a graph needs of the weights in `from`: of parameters with a row for each position the
 * first ones. */
ys_status ys_shorter_weights(const struct ys_graph *graph, const char *from, const char *path) YS_MUST_CHECK;

/** Writes to `path` the first positions of the rows of `data` that the batches of `order` name, in that order, and to
 * `order_path` an order that counts them, with the epochs and rates of `order`. YS_EFORMAT: a row is not there. */
ys_status ys_shorter_rows(const struct ys_graph *graph, const char *data, const struct ys_safetensors *order,
                          const char *path, const char *order_path) YS_MUST_CHECK;

#endif
