/* Attributes of a node, decoded where they are asked for. Each function leaves the fallback that the caller put into
 * its result where the node has no such attribute, and fails, naming node and attribute, where it has another type. */
#ifndef YS_ONNX_FILE_NODE_ATTRIBUTES_H
#define YS_ONNX_FILE_NODE_ATTRIBUTES_H

#include "onnx/file/proto.h"

/** Arguments: a format that goes on after "node conv1 (Conv): ". */
#define YS_FAIL_NODE(node, status, format, ...)                                                                        \
    ys_fail(status, "node %.100s (%.40s): " format, (node)->name, (node)->op, __VA_ARGS__)

bool ys_onnx_has(const struct ys_onnx_node_in *node, const char *name);
ys_status ys_onnx_integer(const struct ys_onnx_node_in *node, const char *name, int64_t *value) YS_MUST_CHECK;
/** The number whose shortest decimal form the 32 bits of the file have: 0.1 where the file holds the float nearest to
 * it. It is within half a unit in the last place of what stands there, and is what the exporter was told. */
ys_status ys_onnx_real(const struct ys_onnx_node_in *node, const char *name, double *value) YS_MUST_CHECK;
/** At most `room` integers; *count is set only where the node has the attribute. */
ys_status ys_onnx_integers(const struct ys_onnx_node_in *node, const char *name, int64_t *values, size_t room,
                           size_t *count) YS_MUST_CHECK;
/** Text of at most 31 bytes. */
ys_status ys_onnx_word(const struct ys_onnx_node_in *node, const char *name, char value[32]) YS_MUST_CHECK;
/** The message of a tensor; without bytes where the node has none. */
ys_status ys_onnx_message(const struct ys_onnx_node_in *node, const char *name, struct ys_span *message) YS_MUST_CHECK;
/** The same of a graph. */
ys_status ys_onnx_subgraph(const struct ys_onnx_node_in *node, const char *name, struct ys_span *message) YS_MUST_CHECK;
/** The floats of the list `name`, as many as there are into `values` unless that is NULL; returns how many. */
size_t ys_onnx_listed_reals(const struct ys_onnx_node_in *node, const char *name, double *values);

/** The double that the shortest decimal form of a float names. */
double ys_onnx_short_real(float value);

#endif
