/* The JSON form, in. Strict: what is not understood is refused, because an adapter would read past it differently.
 * Nothing here recurses, so that the depth of a hostile graph costs memory, not stack. */
#include "base/mem.h"
#include "graph/json/json_parts.h"
#include "graph/op.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct graph_reader {
    struct ys_place at;
    struct ys_graph *graph;
    ys_json *values, *params, *node_names; /* name to index */
    const ys_json *nodes;                  /* borrowed, in the order of the file */
};

#define FAIL(reader, ...) YS_FAIL_AT(&(reader)->at, __VA_ARGS__)

/** A name: 1 to YS_GRAPH_MAX_NAME bytes, nothing below the space, and not the one that safetensors files reserve. */
static ys_status read_name(const struct graph_reader *r, const ys_json *value, const char *what, const char **name)
{
    const char *text = ys_json_text(value, NULL);
    if (!text)
        return FAIL(r, "%s must be a string, is %s", what, ys_parts_type_text(value));
    size_t length = strlen(text);
    if (length == 0 || length > YS_GRAPH_MAX_NAME)
        return FAIL(r, "%s \"%.100s\" must have 1 to %d bytes, has %zu", what, text, YS_GRAPH_MAX_NAME, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return FAIL(r, "%s holds the control character 0x%02x", what, (unsigned char)text[i]);
    if (strcmp(text, "__metadata__") == 0)
        return FAIL(r, "%s must not be \"__metadata__\"", what);
    *name = text;
    return YS_OK;
}

/** Remembers that `name` is number `index`; a second one of that name is a failure. */
static ys_status remember(const struct graph_reader *r, ys_json *names, const char *what, const char *name, int index)
{
    if (ys_json_get(names, name))
        return FAIL(r, "%s \"%.100s\" exists already", what, name);
    return ys_json_set_int(names, name, index);
}

/** An input's name is that of its array in the data file, where the target is "y", and in an adapter's answer, where
 * two more arrays stand beside them. */
static ys_status read_input_name(const struct graph_reader *r, const ys_json *input, const char *what,
                                 const char **name)
{
    static const char *const taken[] = {YS_TARGET_NAME, "logits", "loss"};
    YS_TRY(read_name(r, ys_json_get(input, "name"), what, name));
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(*name, taken[i]) == 0)
            return FAIL(r, "%s must not be \"%s\": a data file or an answer has another array of that name", what,
                        taken[i]);
    if (strlen(*name) > YS_ROWS_MAX_NAME)
        return FAIL(r, "%s \"%.100s\" must have at most %d bytes", what, *name, YS_ROWS_MAX_NAME);
    return YS_OK;
}

static ys_status read_input(struct graph_reader *r, const ys_json *input, size_t index)
{
    static const char *const known[] = {"name", "shape", "dtype", NULL};
    char what[64], shape[YS_ROWS_MAX_NAME + 32];
    snprintf(what, sizeof what, "inputs[%zu]", index);
    YS_TRY(ys_parts_members(&r->at, input, what, known));
    const char *name;
    snprintf(what, sizeof what, "the name of inputs[%zu]", index);
    YS_TRY(read_input_name(r, input, what, &name));
    enum ys_dtype dtype;
    const char *dtype_text = ys_json_get_text(input, "dtype", "");
    if (ys_dtype_parse(dtype_text, &dtype) != YS_OK || (dtype != YS_U8 && dtype != YS_I32 && dtype != YS_F32))
        return FAIL(r, "the dtype of input %s must be \"U8\", \"I32\" or \"F32\", is \"%.100s\"", name, dtype_text);
    int made;
    YS_TRY(ys_compose_value(r->graph, name, &made));
    struct ys_value *value = &r->graph->values[made];
    value->dtype = dtype;
    snprintf(shape, sizeof shape, "the shape of input %s", name);
    YS_TRY(ys_parts_shape(&r->at, ys_json_get(input, "shape"), shape, true, value->shape, &value->rank));
    r->graph->inputs[r->graph->input_count++] = made;
    return remember(r, r->values, "value", name, made);
}

static ys_status read_inputs(struct graph_reader *r, const ys_json *inputs)
{
    size_t size;
    YS_TRY(ys_parts_array(&r->at, inputs, "inputs", 1, YS_ROWS_MAX_INPUTS, &size));
    for (size_t i = 0; i < size; i++)
        YS_TRY(read_input(r, ys_json_at(inputs, i), i));
    return YS_OK;
}

static const struct {
    const char *name, *a, *b; /* as in "dist", and the members that give its two numbers */
} dists[] = {
    [YS_INIT_CONSTANT] = {"constant", "value", NULL},
    [YS_INIT_UNIFORM] = {"uniform", "low", "high"},
    [YS_INIT_NORMAL] = {"normal", "mean", "std"},
    [YS_INIT_TRUNCATED_NORMAL] = {"truncated_normal", "mean", "std"},
};

static ys_status read_init(const struct graph_reader *r, const ys_json *json, struct ys_initializer *init)
{
    const char *dist = ys_json_get_text(json, "dist", "");
    size_t kind = 0, kinds = sizeof dists / sizeof dists[0];
    while (kind < kinds && strcmp(dist, dists[kind].name) != 0)
        kind++;
    if (kind == kinds)
        return FAIL(r, "init must have a dist of constant, uniform, normal or truncated_normal, not \"%.100s\"", dist);
    const char *const known[] = {"dist", dists[kind].a, dists[kind].b, NULL};
    YS_TRY(ys_parts_members(&r->at, json, "init", known));
    const ys_json *a = ys_json_get(json, dists[kind].a);
    const ys_json *b = dists[kind].b ? ys_json_get(json, dists[kind].b) : NULL;
    if (!ys_parts_is_number(a) || (dists[kind].b && !ys_parts_is_number(b)))
        return FAIL(r, "init %s needs the number%s %s%s%s", dist, b ? "s" : "", dists[kind].a,
                    dists[kind].b ? " and " : "", dists[kind].b ? dists[kind].b : "");
    *init = (struct ys_initializer){(enum ys_init)kind, ys_json_number(a, 0), ys_json_number(b, 0)};
    if (kind == YS_INIT_UNIFORM && !(init->a <= init->b))
        return FAIL(r, "init uniform: low %g is above high %g", init->a, init->b);
    if ((kind == YS_INIT_NORMAL || kind == YS_INIT_TRUNCATED_NORMAL) && !(init->b >= 0))
        return FAIL(r, "init %s: std %g is negative", dist, init->b);
    if (!(fabs(init->a) <= 1e30 && fabs(init->b) <= 1e30))
        return FAIL(r, "init %s: %g, %g: beyond 1e30, which no 32-bit float can take part in", dist, init->a, init->b);
    return YS_OK;
}

static ys_status read_factor(const struct graph_reader *r, const ys_json *param, const char *key, double *factor)
{
    const ys_json *value = ys_json_get(param, key);
    *factor = ys_json_number(value, 1);
    if ((value && !ys_parts_is_number(value)) || !(*factor >= 0 && *factor <= 1e6))
        return FAIL(r, "%s must be a number from 0 to 1e6", key);
    return YS_OK;
}

static ys_status read_param(struct graph_reader *r, const ys_json *json)
{
    static const char *const known[] = {"name", "shape", "role", "init", "lr_mult", "decay_mult", NULL};
    YS_TRY(ys_parts_members(&r->at, json, "a parameter", known));
    const char *name;
    YS_TRY(read_name(r, ys_json_get(json, "name"), "the name of a parameter", &name));
    snprintf(r->at.where, sizeof r->at.where, "parameter %s", name);
    char copy[YS_GRAPH_MAX_NAME + 1];
    snprintf(copy, sizeof copy, "%s", name);
    struct ys_param param = {.name = copy};
    YS_TRY(ys_parts_shape(&r->at, ys_json_get(json, "shape"), "shape", false, param.shape, &param.rank));
    const char *role = ys_json_get_text(json, "role", "");
    if (strcmp(role, "weight") != 0 && strcmp(role, "buffer") != 0)
        return FAIL(r, "role must be \"weight\" or \"buffer\", is \"%.100s\"", role);
    param.role = strcmp(role, "weight") == 0 ? YS_ROLE_WEIGHT : YS_ROLE_BUFFER;
    YS_TRY(read_init(r, ys_json_get(json, "init"), &param.init));
    YS_TRY(read_factor(r, json, "lr_mult", &param.lr_mult));
    YS_TRY(read_factor(r, json, "decay_mult", &param.decay_mult));
    int index;
    YS_TRY(ys_compose_param(r->graph, &param, &index));
    return remember(r, r->params, "parameter", name, index);
}

static ys_status read_params(struct graph_reader *r, const ys_json *params)
{
    size_t size;
    YS_TRY(ys_parts_array(&r->at, params, "params", 0, YS_NODE_PARAM_COUNT * YS_GRAPH_MAX_NODES, &size));
    for (size_t i = 0; i < size; i++) {
        snprintf(r->at.where, sizeof r->at.where, "params[%zu]", i);
        YS_TRY(read_param(r, ys_json_at(params, i)));
    }
    return YS_OK;
}

/** The parameter that `params` names under `key`, -1 without one. */
static ys_status read_param_use(const struct graph_reader *r, const ys_json *params, const char *key, int *index)
{
    *index = -1;
    const ys_json *value = ys_json_get(params, key);
    if (!value)
        return YS_OK;
    const char *name = ys_json_text(value, NULL);
    if (!name)
        return FAIL(r, "params.%s must be the name of a parameter, is %s", key, ys_parts_type_text(value));
    const ys_json *found = ys_json_get(r->params, name);
    if (!found)
        return FAIL(r, "params.%s: there is no parameter \"%.100s\"", key, name);
    *index = (int)ys_json_integer(found, -1);
    return YS_OK;
}

static ys_status read_param_uses(const struct graph_reader *r, const ys_json *params, struct ys_node *node)
{
    const char *keys[YS_NODE_PARAM_COUNT + 1] = {NULL};
    size_t count = 0;
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++)
        if (ys_op_takes(node->op, (enum ys_node_param)which))
            keys[count++] = ys_node_param_key((enum ys_node_param)which);
    if (params)
        YS_TRY(ys_parts_members(&r->at, params, "params", keys));
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
        const char *key = ys_node_param_key((enum ys_node_param)which);
        int *place = ys_node_param_place(node, (enum ys_node_param)which);
        if (!ys_op_takes(node->op, (enum ys_node_param)which))
            continue;
        YS_TRY(read_param_use(r, params, key, place));
        if (*place < 0 && ys_op_needs(node->op, (enum ys_node_param)which))
            return FAIL(r, "params.%s is missing", key);
    }
    return YS_OK;
}

static ys_status read_outputs(struct graph_reader *r, const ys_json *outputs, int node)
{
    const struct ys_op_rule *rule = ys_op_rule(r->graph->nodes[node].op);
    size_t count;
    YS_TRY(ys_parts_array(&r->at, outputs, "out", rule->out_low, rule->out_high, &count));
    for (size_t i = 0; i < count; i++) {
        const char *name;
        int value;
        YS_TRY(read_name(r, ys_json_at(outputs, i), "an entry of out", &name));
        YS_TRY(ys_compose_value(r->graph, name, &value));
        YS_TRY(remember(r, r->values, "value", name, value));
        r->graph->values[value].producer = node;
        r->graph->nodes[node].out[i] = value;
    }
    r->graph->nodes[node].out_count = count;
    return YS_OK;
}

/** Sets `where` to the node's name, also before the op is known. */
static ys_status read_node_head(struct graph_reader *r, const ys_json *json, int *index)
{
    static const char *const known[] = {"op", "name", "in", "out", "attrs", "params", NULL};
    YS_TRY(ys_parts_members(&r->at, json, "a node", known));
    const char *name;
    YS_TRY(read_name(r, ys_json_get(json, "name"), "the name of a node", &name));
    snprintf(r->at.where, sizeof r->at.where, "node %s", name);
    const char *op_text = ys_json_text(ys_json_get(json, "op"), NULL);
    if (!op_text)
        return FAIL(r, "op must be a string, is %s", ys_parts_type_text(ys_json_get(json, "op")));
    int op = 0;
    while (op < YS_OP_COUNT && strcmp(op_text, ys_op_name((enum ys_op)op)) != 0)
        op++;
    if (op == YS_OP_COUNT)
        return FAIL(r, "unknown op \"%.100s\": docs/graph.md has those that are known", op_text);
    snprintf(r->at.where, sizeof r->at.where, "node %s (%s)", name, op_text);
    YS_TRY(ys_compose_node(r->graph, (enum ys_op)op, name, index));
    return remember(r, r->node_names, "node", name, *index);
}

static ys_status read_node(struct graph_reader *r, const ys_json *json)
{
    int index;
    YS_TRY(read_node_head(r, json, &index));
    YS_TRY(read_param_uses(r, ys_json_get(json, "params"), &r->graph->nodes[index]));
    YS_TRY(read_outputs(r, ys_json_get(json, "out"), index));
    return ys_attrs_read(&r->at, ys_json_get(json, "attrs"), r->graph, &r->graph->nodes[index]);
}

/** Inputs are looked up once all values are known: a node may stand before the one that feeds it. */
static ys_status read_node_inputs(struct graph_reader *r, int index)
{
    struct ys_node *node = &r->graph->nodes[index];
    const ys_json *inputs = ys_json_get(ys_json_at(r->nodes, (size_t)index), "in");
    snprintf(r->at.where, sizeof r->at.where, "node %s (%s)", node->name, ys_op_name(node->op));
    const struct ys_op_rule *rule = ys_op_rule(node->op);
    size_t count;
    YS_TRY(ys_parts_array(&r->at, inputs, "in", rule->in_low, rule->in_high, &count));
    for (size_t i = 0; i < count; i++) {
        const char *name = ys_json_text(ys_json_at(inputs, i), NULL);
        if (!name)
            return FAIL(r, "in[%zu] must be the name of a value, is %s", i, ys_parts_type_text(ys_json_at(inputs, i)));
        const ys_json *value = ys_json_get(r->values, name);
        if (!value)
            return FAIL(r, "in[%zu]: there is no value \"%.100s\"", i, name);
        node->in[i] = (int)ys_json_integer(value, -1);
    }
    node->in_count = count;
    return YS_OK;
}

static ys_status read_nodes(struct graph_reader *r)
{
    size_t size;
    YS_TRY(ys_parts_array(&r->at, r->nodes, "nodes", 1, YS_GRAPH_MAX_NODES, &size));
    for (size_t i = 0; i < size; i++) {
        snprintf(r->at.where, sizeof r->at.where, "nodes[%zu]", i);
        YS_TRY(read_node(r, ys_json_at(r->nodes, i)));
    }
    for (size_t i = 0; i < size; i++)
        YS_TRY(read_node_inputs(r, (int)i));
    return YS_OK;
}

enum visit_mark { UNSEEN, OPEN, DONE };

/** The first node that must come before `node` and is not DONE, -1 when there is none. */
static int missing_producer(const struct ys_graph *graph, int node, const unsigned char *marks)
{
    for (size_t i = 0; i < graph->nodes[node].in_count; i++) {
        int producer = graph->values[graph->nodes[node].in[i]].producer;
        if (producer >= 0 && marks[producer] != DONE)
            return producer;
    }
    return -1;
}

/** Depth first in the order of the file, which therefore stays as it is when it was right. `order[k]` becomes the node
 * at place k; `stack` has room for every node. */
static ys_status find_order(const struct graph_reader *r, unsigned char *marks, int *stack, int *order)
{
    const struct ys_graph *graph = r->graph;
    size_t placed = 0;
    for (size_t start = 0; start < graph->node_count; start++) {
        size_t depth = 0;
        if (marks[start] == UNSEEN)
            stack[depth++] = (int)start;
        while (depth > 0) {
            int node = stack[depth - 1];
            marks[node] = OPEN;
            int before = missing_producer(graph, node, marks);
            if (before < 0) {
                marks[node] = DONE;
                order[placed++] = node;
                depth--;
            } else if (marks[before] == OPEN) {
                return ys_fail(YS_EFORMAT, "%s: node %s (%s): part of a cycle, through node %s", r->at.label,
                               graph->nodes[node].name, ys_op_name(graph->nodes[node].op), graph->nodes[before].name);
            } else {
                stack[depth++] = before;
            }
        }
    }
    return YS_OK;
}

static ys_status sort_nodes(struct graph_reader *r)
{
    struct ys_graph *graph = r->graph;
    unsigned char *marks = ys_alloc(graph->node_count, 1);
    int *stack = ys_alloc(graph->node_count, sizeof *stack);
    int *order = ys_alloc(graph->node_count, sizeof *order);
    struct ys_node *old = ys_alloc(graph->node_count, sizeof *old);
    ys_status status = marks && stack && order && old ? find_order(r, marks, stack, order) : ys_out_of_memory();
    if (status == YS_OK) {
        memcpy(old, graph->nodes, graph->node_count * sizeof *old);
        for (size_t place = 0; place < graph->node_count; place++) {
            graph->nodes[place] = old[order[place]];
            for (size_t i = 0; i < graph->nodes[place].out_count; i++)
                graph->values[graph->nodes[place].out[i]].producer = (int)place;
        }
    }
    ys_free(old);
    ys_free(order);
    ys_free(stack);
    ys_free(marks);
    return status;
}

static ys_status read_carries_state(struct graph_reader *r, const ys_json *carries)
{
    if (carries && ys_json_type_of(carries) != YS_JSON_BOOL)
        return FAIL(r, "carries_state must be true or false, is %s", ys_parts_type_text(carries));
    r->graph->carries_state = ys_json_truth(carries, false);
    return YS_OK;
}

static ys_status read_head(struct graph_reader *r, const ys_json *json)
{
    static const char *const known[] = {"format", "version", "name",          "title", "inputs",
                                        "nodes",  "params",  "output",        "loss",  "label_smoothing",
                                        "target", "head",    "carries_state", NULL};
    YS_TRY(ys_parts_members(&r->at, json, "the graph", known));
    const char *format = ys_json_get_text(json, "format", "");
    if (strcmp(format, "yardstick-graph") != 0)
        return FAIL(r, "format must be \"yardstick-graph\", is \"%.100s\"", format);
    const ys_json *version = ys_json_get(json, "version");
    if (ys_json_type_of(version) != YS_JSON_INT || ys_json_integer(version, 0) != 1)
        return FAIL(r, "version must be 1, is %lld", (long long)ys_json_integer(version, 0));
    const char *name;
    YS_TRY(read_name(r, ys_json_get(json, "name"), "name", &name));
    const ys_json *title = ys_json_get(json, "title");
    if (title && !ys_json_text(title, NULL))
        return FAIL(r, "title must be a string, is %s", ys_parts_type_text(title));
    YS_TRY(ys_compose_new(name, &r->graph));
    return read_carries_state(r, ys_json_get(json, "carries_state"));
}

static ys_status read_loss(struct graph_reader *r, const ys_json *json)
{
    const char *name = ys_json_get_text(json, "loss", "");
    int loss = 0;
    while (loss < YS_LOSS_COUNT && strcmp(name, ys_loss_name((enum ys_loss)loss)) != 0)
        loss++;
    if (loss == YS_LOSS_COUNT)
        return FAIL(r, "loss must be softmax_cross_entropy, nll or mean_squared_error, is \"%.100s\"", name);
    r->graph->loss = (enum ys_loss)loss;
    const ys_json *smoothing = ys_json_get(json, "label_smoothing");
    double share = r->graph->label_smoothing = ys_json_number(smoothing, 0);
    if ((smoothing && !ys_parts_is_number(smoothing)) || !(share >= 0 && share < 1))
        return FAIL(r, "label_smoothing must be a number from 0 to below %d", 1);
    if (share > 0 && loss != YS_LOSS_SOFTMAX_CROSS_ENTROPY)
        return FAIL(r, "label_smoothing %g: the loss %s has none", share, name);
    const ys_json *head = ys_json_get(json, "head");
    r->graph->left_softmax = head != NULL;
    if (head && (strcmp(ys_json_text(head, ""), "Softmax") != 0 || loss != YS_LOSS_SOFTMAX_CROSS_ENTROPY))
        return FAIL(r, "head must be \"Softmax\", of the loss softmax_cross_entropy, which is %s", name);
    return YS_OK;
}

static ys_status read_target(struct graph_reader *r, const ys_json *target)
{
    static const char *const known[] = {"kind", "shape", NULL};
    if (!target)
        return YS_OK;
    YS_TRY(ys_parts_members(&r->at, target, "target", known));
    const char *kind = ys_json_get_text(target, "kind", "");
    int found = 0;
    while (found < YS_TARGET_KIND_COUNT && strcmp(kind, ys_target_kind_name((enum ys_target_kind)found)) != 0)
        found++;
    if (found == YS_TARGET_KIND_COUNT)
        return FAIL(r, "the kind of the target must be class, classes or vector, is \"%.100s\"", kind);
    r->graph->target = (enum ys_target_kind)found;
    return YS_OK;
}

/** Its shape follows from that of the output; it is said all the same, for who reads the file. */
static ys_status check_target(const struct graph_reader *r, const ys_json *target)
{
    struct ys_rows rows = ys_graph_rows(r->graph);
    const ys_json *shape = ys_json_get(target, "shape");
    bool fits = !target || (ys_json_size(shape) == rows.target.rank + 1 &&
                            strcmp(ys_json_text(ys_json_at(shape, 0), ""), "N") == 0);
    for (size_t i = 0; target && fits && i < rows.target.rank; i++)
        fits = ys_json_integer(ys_json_at(shape, i + 1), 0) == rows.target.shape[i];
    int64_t whole[YS_MAX_RANK] = {YS_BATCH};
    char text[YS_SHAPE_TEXT];
    memcpy(whole + 1, rows.target.shape, rows.target.rank * sizeof *whole);
    return fits ? YS_OK
                : FAIL(r, "the shape of the target must be %s, as the output's says",
                       ys_shape_text(whole, rows.target.rank + 1, text));
}

static ys_status read_graph(struct graph_reader *r, const ys_json *json)
{
    YS_TRY(read_head(r, json));
    YS_TRY(read_loss(r, json));
    YS_TRY(read_inputs(r, ys_json_get(json, "inputs")));
    YS_TRY(read_target(r, ys_json_get(json, "target")));
    YS_TRY(read_params(r, ys_json_get(json, "params")));
    r->nodes = ys_json_get(json, "nodes");
    snprintf(r->at.where, sizeof r->at.where, "graph");
    YS_TRY(read_nodes(r));
    YS_TRY(sort_nodes(r));
    for (size_t i = 0; i < r->graph->node_count; i++)
        YS_TRY(ys_compose_infer(r->graph, (int)i, r->at.label));
    snprintf(r->at.where, sizeof r->at.where, "graph");
    const char *output;
    YS_TRY(read_name(r, ys_json_get(json, "output"), "output", &output));
    const ys_json *value = ys_json_get(r->values, output);
    if (!value)
        return FAIL(r, "output: there is no value \"%.100s\"", output);
    r->graph->output = (int)ys_json_integer(value, -1);
    if (r->graph->carries_state && !ys_graph_is_recurrent(r->graph))
        return FAIL(r, "carries_state: %s has no LSTM and no GRU whose state could be", r->graph->name);
    YS_TRY(ys_compose_finish(r->graph, r->at.label));
    return check_target(r, ys_json_get(json, "target"));
}

ys_status ys_graph_from_json(const ys_json *json, const char *name, struct ys_graph **graph)
{
    struct graph_reader r = {.at = {.label = name, .where = "graph"}};
    r.values = ys_json_object();
    r.params = ys_json_object();
    r.node_names = ys_json_object();
    ys_status status = r.values && r.params && r.node_names ? read_graph(&r, json) : ys_out_of_memory();
    ys_json_free(r.values);
    ys_json_free(r.params);
    ys_json_free(r.node_names);
    if (status == YS_OK)
        *graph = r.graph;
    else
        ys_graph_free(r.graph);
    return status;
}

ys_status ys_graph_read(const char *path, struct ys_graph **graph)
{
    ys_json *json;
    YS_TRY(ys_json_read(path, &json));
    ys_status status = ys_graph_from_json(json, path, graph);
    ys_json_free(json);
    return status;
}

ys_status ys_graph_find_unknown(const char *path, char **op)
{
    ys_json *json;
    YS_TRY(ys_json_read(path, &json));
    const ys_json *nodes = ys_json_get(json, "nodes");
    const char *unknown = NULL;
    for (size_t i = 0; !unknown && i < ys_json_size(nodes); i++) {
        const char *name = ys_json_get_text(ys_json_at(nodes, i), "op", "");
        int known = 0;
        while (known < YS_OP_COUNT && strcmp(name, ys_op_name((enum ys_op)known)) != 0)
            known++;
        unknown = known == YS_OP_COUNT ? name : NULL;
    }
    *op = unknown ? ys_strdup(unknown) : NULL;
    bool whole = !unknown || *op;
    ys_json_free(json);
    return whole ? YS_OK : ys_out_of_memory();
}
