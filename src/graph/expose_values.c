/* Made in the JSON form, whose reader then checks the whole and counts anew who reads what. */
#include "graph/expose_values.h"
#include "base/json/record.h"
#include "base/mem.h"
#include "graph/compose.h"
#include <stdio.h>
#include <string.h>

void ys_tap_fini(struct ys_tap *tap)
{
    ys_graph_free(tap->graph);
    ys_free(tap->slices);
    *tap = (struct ys_tap){0};
}

/* The names of the values that are still to be joined, in order. */
struct joined_values {
    char **names;
    size_t count;
};

static void free_parts(struct joined_values *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        ys_free(parts->names[i]);
    ys_free(parts->names);
}

static ys_status set_texts(ys_json *object, const char *key, char *const *texts, size_t count)
{
    ys_json *array = ys_json_array();
    YS_TRY(ys_json_set(object, key, array));
    for (size_t i = 0; i < count; i++)
        YS_TRY(ys_json_append(array, ys_json_string(texts[i])));
    return YS_OK;
}

/* One output, called as the node is; the only attribute is axis = 1. */
static ys_status fill_node(ys_json *node, enum ys_op op, char *name, char *const *in, size_t in_count)
{
    ys_json *attrs = ys_json_object();
    YS_TRY(ys_json_set(node, "attrs", attrs));
    YS_TRY(ys_json_set_int(attrs, "axis", 1));
    YS_TRY(ys_json_set_string(node, "op", ys_op_name(op)));
    YS_TRY(ys_json_set_string(node, "name", name));
    YS_TRY(set_texts(node, "in", in, in_count));
    return set_texts(node, "out", &name, 1);
}

static ys_status append_node(ys_json *nodes, enum ys_op op, char *name, char *const *in, size_t in_count)
{
    ys_json *node = ys_json_object();
    YS_TRY(ys_json_append(nodes, node));
    return fill_node(node, op, name, in, in_count);
}

/* One slice a value that a node makes; its name, flattened where it is no matrix, joins `parts`. */
static ys_status slice(const struct ys_graph *graph, ys_json *nodes, struct ys_tap *tap, struct joined_values *parts)
{
    int64_t offset = 0;
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct ys_node *node = &graph->nodes[n];
        for (size_t k = 0; k < node->out_count; k++) {
            struct ys_value *value = &graph->values[node->out[k]];
            char *name = value->rank == 2 ? ys_strdup(value->name) : ys_format("tap_%zu", parts->count);
            if (!name)
                return ys_out_of_memory();
            parts->names[parts->count++] = name;
            if (value->rank != 2)
                YS_TRY(append_node(nodes, YS_OP_FLATTEN, name, &value->name, 1));
            int64_t length = ys_value_row_elements(value);
            tap->slices[tap->count++] =
                (struct ys_tap_slice){.node = (int)n, .value = node->out[k], .offset = offset, .length = length};
            offset += length;
        }
    }
    return YS_OK;
}

/* Joins neighbours, as many as a Concat takes, until one is left: order stays. */
static ys_status join(ys_json *nodes, struct joined_values *parts)
{
    for (size_t level = 0; parts->count > 1; level++) {
        size_t joined = 0;
        for (size_t first = 0; first < parts->count; first += YS_NODE_MAX_IN) {
            size_t left = parts->count - first, count = left < YS_NODE_MAX_IN ? left : YS_NODE_MAX_IN;
            char *name = count > 1 ? ys_format("tap_%zu_%zu", level, joined) : ys_strdup(parts->names[first]);
            ys_status status = name ? YS_OK : ys_out_of_memory();
            if (status == YS_OK && count > 1)
                status = append_node(nodes, YS_OP_CONCAT, name, &parts->names[first], count);
            for (size_t i = first; i < first + count; i++) {
                ys_free(parts->names[i]);
                parts->names[i] = NULL;
            }
            parts->names[joined++] = name;
            YS_TRY(status);
        }
        parts->count = joined;
    }
    return YS_OK;
}

struct exposed_graph {
    ys_json *nodes;
};
static const struct ys_field made_fields[] = {
    YS_FIELD(struct exposed_graph, nodes, YS_FIELD_JSON, NULL, 0, "to which others are added"),
};
static const struct ys_record made_record = YS_RECORD("graph", struct exposed_graph, made_fields);

static ys_status make(const struct ys_graph *graph, ys_json *json, struct ys_tap *tap, struct joined_values *parts)
{
    struct exposed_graph made;
    ys_record_glance(&made_record, json, &made);
    YS_TRY(slice(graph, made.nodes, tap, parts));
    YS_TRY(join(made.nodes, parts));
    YS_TRY(ys_json_set_string(json, "output", parts->names[0]));
    return ys_graph_from_json(json, graph->name, &tap->graph);
}

ys_status ys_tap_make(const struct ys_graph *graph, struct ys_tap *tap)
{
    *tap = (struct ys_tap){0};
    if (graph->target != YS_TARGET_CLASS)
        return ys_fail(YS_EUNSUPPORTED, "%s: the insides are shown of networks with a class for each row alone",
                       graph->name);
    struct joined_values parts = {.names = ys_alloc(graph->value_count, sizeof *parts.names)};
    ys_json *json = ys_graph_to_json(graph);
    *tap = (struct ys_tap){.slices = ys_alloc(graph->value_count, sizeof *tap->slices)};
    ys_status status = json && parts.names && tap->slices ? make(graph, json, tap, &parts) : ys_out_of_memory();
    ys_json_free(json);
    free_parts(&parts);
    if (status != YS_OK)
        ys_tap_fini(tap);
    return status;
}
