#include "graph/sequence_part.h"

#include "graph/compose.h"
#include "graph/op.h"

/** Axis of positions of a value, (N, positions, width). */
enum { POSITIONS = 1, WIDTH = 2, RANK = 3 };

static int64_t positions_of(const struct ys_graph *graph)
{
    return graph->values[graph->inputs[0]].shape[POSITIONS];
}

static ys_status refuse(const struct ys_node *node, const char *why)
{
    return ys_fail(YS_EUNSUPPORTED, "rows cannot be answered position by position: node %s (%s) %s", node->name,
                   ys_op_name(node->op), why);
}

static bool is_pair(enum ys_op op)
{
    return ys_op_rule(op)->params == YS_PARAMS_OPERAND;
}

/** Whether the node takes a value and a parameter that has a row for each position. */
static bool has_place_rows(const struct ys_graph *graph, const struct ys_node *node)
{
    const struct ys_param *weight = is_pair(node->op) && node->weight >= 0 ? &graph->params[node->weight] : NULL;
    return weight && weight->rank == 2 && weight->shape[0] == positions_of(graph) && weight->shape[0] > 1;
}

static ys_status check_pair(const struct ys_graph *graph, const struct ys_node *node)
{
    if (node->broadcast)
        return refuse(node, "stretches a value");
    if (has_place_rows(graph, node) && ys_param_readers(graph, node->weight) > 1)
        return refuse(node, "shares its parameter, which has a row for each position");
    return YS_OK;
}

/** Whether it does the same with each position, whatever stands at the others. */
static bool is_apart(const struct ys_node *node)
{
    const enum ys_op_reach reach = ys_op_rule(node->op)->reach;
    return reach == YS_REACH_OWN || (reach == YS_REACH_OWN_ALONG_LAST && node->axis == WIDTH);
}

/** By what a position may learn of those before it. */
enum context_way { BY_ATTENTION, BY_STATE_TOO };

static ys_status check_node(const struct ys_graph *graph, const struct ys_node *node, enum context_way way)
{
    for (size_t i = 0; i < node->out_count; i++) {
        const struct ys_value *out = &graph->values[node->out[i]];
        if (out->rank != RANK || out->shape[POSITIONS] != positions_of(graph))
            return refuse(node, "makes a value that is not (N, positions, width)");
    }
    if (is_pair(node->op))
        return check_pair(graph, node);
    if (node->op == YS_OP_ATTENTION)
        return node->attention.causal && node->in_count == 3
                   ? YS_OK
                   : refuse(node, "sees more than the positions up to its own, or has padding hidden");
    if (way == BY_STATE_TOO && ys_node_states(node) > 0)
        return YS_OK;
    return is_apart(node) ? YS_OK : refuse(node, "is none that takes each position by itself");
}

static ys_status check_nodes(const struct ys_graph *graph, enum context_way way)
{
    const struct ys_value *input = &graph->values[graph->inputs[0]];
    if (graph->input_count != 1 || input->dtype != YS_I32 || input->rank != 2 || graph->target != YS_TARGET_CLASSES)
        return ys_fail(YS_EUNSUPPORTED,
                       "rows cannot be answered position by position: %s is no network of tokens with a class for each "
                       "position, as gpt-nano is",
                       graph->name);
    for (size_t i = 0; i < graph->node_count; i++)
        YS_TRY(check_node(graph, &graph->nodes[i], way));
    return YS_OK;
}

ys_status ys_graph_window_check(const struct ys_graph *graph)
{
    YS_TRY(check_nodes(graph, BY_ATTENTION));
    return ys_graph_has(graph, YS_OP_ATTENTION)
               ? YS_OK
               : ys_fail(YS_EUNSUPPORTED, "%s has no attention: there are no keys and values to be kept", graph->name);
}

ys_status ys_graph_prefix_check(const struct ys_graph *graph)
{
    return check_nodes(graph, BY_STATE_TOO);
}

static ys_status cut(struct ys_graph *graph, int64_t positions)
{
    YS_ASSERT(positions >= 1 && positions <= positions_of(graph));
    for (size_t i = 0; i < graph->node_count; i++)
        if (has_place_rows(graph, &graph->nodes[i]))
            graph->params[graph->nodes[i].weight].shape[0] = positions;
    graph->values[graph->inputs[0]].shape[POSITIONS] = positions;
    for (size_t i = 0; i < graph->node_count; i++)
        YS_TRY(ys_compose_infer(graph, (int)i, graph->name));
    return YS_OK;
}

ys_status ys_graph_window(struct ys_graph *graph, int64_t positions)
{
    YS_TRY(ys_graph_window_check(graph));
    return cut(graph, positions);
}

ys_status ys_graph_prefix(struct ys_graph *graph, int64_t positions)
{
    YS_TRY(ys_graph_prefix_check(graph));
    return cut(graph, positions);
}
