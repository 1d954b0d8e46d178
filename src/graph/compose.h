/* Putting a graph together: what the JSON reader and the builder share. Nothing outside this room needs it.
 *
 * Order of use: new, then values, parameters and nodes in any order, then ys_compose_infer() for each node in an order
 * in which every input is made before it is used, then ys_compose_finish(). `label` begins every message: a path or a
 * name. Pointers into the graph's arrays are invalid after the next value, parameter or node. */
#ifndef YS_GRAPH_COMPOSE_H
#define YS_GRAPH_COMPOSE_H

#include "graph/op.h"

#define YS_GRAPH_MAX_NODES    65536
#define YS_GRAPH_MAX_ELEMENTS ((int64_t)1 << 40) /* of one parameter, and of one row of a value */
#define YS_GRAPH_MAX_WINDOW   ((int64_t)1 << 20) /* largest kernel, stride, dilation, padding, group count */
#define YS_GRAPH_MAX_PAIRS    ((int64_t)1 << 20) /* of channels, in a table of connections */

const char *ys_role_name(enum ys_role role); /* "weight", "buffer" */

ys_status ys_compose_new(const char *name, struct ys_graph **graph) YS_MUST_CHECK;
/** A value without shape or producer, of type F32. */
ys_status ys_compose_value(struct ys_graph *graph, const char *name, int *index) YS_MUST_CHECK;
/** Copies `param`, its name included. */
ys_status ys_compose_param(struct ys_graph *graph, const struct ys_param *param, int *index) YS_MUST_CHECK;
/** A node without values and parameters (each -1), with a window of 1, stride 1, dilation 1, padding 0, group 1. */
ys_status ys_compose_node(struct ys_graph *graph, enum ys_op op, const char *name, int *index) YS_MUST_CHECK;

/** Checks a shape whose dimensions from `first` on are numbers: each at least 1, the product within the limit. */
ys_status ys_compose_check_shape(const char *label, const char *what, const int64_t *shape, size_t rank,
                                 size_t first) YS_MUST_CHECK;
/** Checks one node against its inputs and parameters and gives its output a shape. */
ys_status ys_compose_infer(struct ys_graph *graph, int node, const char *label) YS_MUST_CHECK;
/** Checks the whole: every value and parameter used, the output fit for the loss, the counts within 63 bits. Counts
 * uses. */
ys_status ys_compose_finish(struct ys_graph *graph, const char *label) YS_MUST_CHECK;
/** Multiply-adds of one row of a convolution or matrix product, and of a transposed convolution. */
int64_t ys_compose_count_product(const struct ys_graph *graph, const struct ys_node *node);
int64_t ys_compose_count_recurrent(const struct ys_graph *graph, const struct ys_node *node);
int64_t ys_compose_count_matmul(const struct ys_graph *graph, const struct ys_node *node);
int64_t ys_compose_count_attention(const struct ys_graph *graph, const struct ys_node *node);
int64_t ys_compose_count_transposed(const struct ys_graph *graph, const struct ys_node *node);

#define YS_SHAPE_TEXT 192
/** "[N,1,28,28]" into `text`; returns it. */
const char *ys_shape_text(const int64_t *shape, size_t rank, char text[YS_SHAPE_TEXT]);

#endif
