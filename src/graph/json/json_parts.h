/* The JSON form of a graph: what its reader, its writer and the attributes share. Nothing outside this room needs it.
 */
#ifndef YS_GRAPH_JSON_JSON_PARTS_H
#define YS_GRAPH_JSON_JSON_PARTS_H

#include "graph/compose.h"

struct ys_place { /* what a message is about */
    const char *label;
    char where[YS_GRAPH_MAX_NAME + 64]; /* "node conv1 (Conv)" */
};

/* Arguments: the code, then a format that goes on after "graph.json: node conv1 (Conv): ". */
#define YS_FAIL_AT(place, format, ...)                                                                                 \
    ys_fail(YS_EFORMAT, "%s: %s: " format, (place)->label, (place)->where, __VA_ARGS__)

/** "an integer", "missing" for NULL: what a message says that a member is. */
const char *ys_parts_type_text(const ys_json *value);
bool ys_parts_is_number(const ys_json *value);

/** Fails at a member of `object` that is not among `known` (NULL-ended). */
ys_status ys_parts_members(const struct ys_place *at, const ys_json *object, const char *what,
                           const char *const *known) YS_MUST_CHECK;
ys_status ys_parts_array(const struct ys_place *at, const ys_json *value, const char *what, size_t low, size_t high,
                         size_t *size) YS_MUST_CHECK;
/** One integer from `low` to `high`. */
ys_status ys_parts_integer(const struct ys_place *at, const ys_json *value, const char *what, int64_t low, int64_t high,
                           int64_t *number) YS_MUST_CHECK;
/** An array of `count_low` to `count_high` integers, each from `low` to `high`. */
ys_status ys_parts_integers(const struct ys_place *at, const ys_json *value, const char *what, size_t count_low,
                            size_t count_high, int64_t low, int64_t high, int64_t *numbers,
                            size_t *count) YS_MUST_CHECK;
/** A shape; a `batched` one begins with "N". */
ys_status ys_parts_shape(const struct ys_place *at, const ys_json *value, const char *what, bool batched,
                         int64_t *shape, size_t *rank) YS_MUST_CHECK;

/** `object`.`key` becomes the array of `numbers`, YS_BATCH as "N". */
ys_status ys_parts_set_integers(ys_json *object, const char *key, const int64_t *numbers, size_t count) YS_MUST_CHECK;

/** A node's attributes, each checked by type and range; what must fit to shapes is left to ys_compose_infer(). The node
 * already has its parameters and outputs. `attrs` may be NULL. */
ys_status ys_attrs_read(const struct ys_place *at, const ys_json *attrs, const struct ys_graph *graph,
                        struct ys_node *node) YS_MUST_CHECK;
/** Every attribute of the node into `object`. */
ys_status ys_attrs_write(ys_json *object, const struct ys_graph *graph, const struct ys_node *node) YS_MUST_CHECK;

#endif
