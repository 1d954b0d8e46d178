#include "quant/quant_plan.h"

#include "base/mem.h"
#include "graph/op.h"
#include "quant/rounding.h"

static const char no_form[] = "it has no integer form", follows_float[] = "an input of it is no quantised value",
                  shared[] = "its weight or bias is another node's too", of_positions[] = "it is of each position",
                  of_input[] = "it reads the network's input as it comes",
                  too_deep[] = "its sums of products could exceed 32 bits";

void ys_quant_plan_fini(struct ys_quant_plan *plan)
{
    ys_free(plan->nodes);
    ys_free(plan->scale_of);
    *plan = (struct ys_quant_plan){0};
}

static bool is_product(const struct ys_node *node)
{
    return node->op == YS_OP_CONV || node->op == YS_OP_GEMM;
}

/** Products that are added up for an element of the result. */
static int64_t depth_of(const struct ys_graph *graph, const struct ys_node *node)
{
    const struct ys_param *weight = &graph->params[node->weight];
    return ys_param_elements(weight) / weight->shape[0];
}

/** Why a product is not computed in integers; NULL: it is. */
static const char *product_obstacle(const struct ys_graph *graph, const struct ys_node *node,
                                    const struct ys_quant_rule *rule)
{
    if (ys_param_readers(graph, node->weight) > 1 || (node->bias >= 0 && ys_param_readers(graph, node->bias) > 1))
        return shared;
    if (rule->kind == YS_QUANT_WEIGHTS)
        return NULL;
    if (node->op == YS_OP_GEMM && node->positions)
        return of_positions;
    if (ys_graph_input_of(graph, node->in[0]) >= 0)
        return of_input;
    const double most = (double)depth_of(graph, node) * UINT8_MAX * ys_quant_weight_limit(rule->range);
    return most + YS_QUANT_BIAS_LIMIT <= INT32_MAX ? NULL : too_deep;
}

static bool is_joinable(const struct ys_node *node)
{
    return node->op == YS_OP_RELU || node->op == YS_OP_CLIP;
}

/** The Relu or Clip that is the only reader of the node's result; -1: there is none. */
static int only_activation(const struct ys_graph *graph, const struct ys_node *node)
{
    if (graph->values[node->out[0]].uses != 1)
        return -1;
    for (size_t i = 0; i < graph->node_count; i++)
        if (is_joinable(&graph->nodes[i]) && graph->nodes[i].in[0] == node->out[0])
            return (int)i;
    return -1;
}

static bool is_passing(enum ys_op op)
{
    return op == YS_OP_MAXPOOL || op == YS_OP_GLOBAL_MAXPOOL || op == YS_OP_FLATTEN || op == YS_OP_RESHAPE ||
           op == YS_OP_DROPOUT;
}

static bool follows(const struct ys_node *node)
{
    const enum ys_op op = node->op;
    if (op == YS_OP_ADD)
        return node->in_count == 2 && !node->broadcast;
    return is_joinable(node) || op == YS_OP_AVERAGEPOOL || op == YS_OP_GLOBAL_AVERAGEPOOL ||
           (op == YS_OP_CONCAT && node->axis == 1) || is_passing(op);
}

static void plan_integer(const struct ys_graph *graph, size_t index, struct ys_quant_plan *plan)
{
    const struct ys_node *node = &graph->nodes[index];
    struct ys_quant_node *own = &plan->nodes[index];
    own->way = is_passing(node->op) ? YS_QUANT_PASSED_ON : YS_QUANT_IN_INTEGER;
    plan->scale_of[node->out[0]] = is_passing(node->op) ? plan->scale_of[node->in[0]] : node->out[0];
    own->joins = is_product(node) || node->op == YS_OP_ADD ? only_activation(graph, node) : -1;
    if (own->joins < 0)
        return;
    const int result = graph->nodes[own->joins].out[0];
    plan->nodes[own->joins] = (struct ys_quant_node){.way = YS_QUANT_JOINED, .joins = -1};
    plan->scale_of[node->out[0]] = -1;
    plan->scale_of[result] = result;
}

static void plan_node(const struct ys_graph *graph, size_t index, struct ys_quant_plan *plan)
{
    const struct ys_node *node = &graph->nodes[index];
    struct ys_quant_node *own = &plan->nodes[index];
    if (own->way == YS_QUANT_JOINED)
        return;
    if (is_product(node)) {
        if (!own->reason)
            plan_integer(graph, index, plan);
        return;
    }
    own->reason = follows(node) ? NULL : no_form;
    for (size_t k = 0; !own->reason && k < node->in_count; k++)
        own->reason = plan->scale_of[node->in[k]] < 0 ? follows_float : NULL;
    if (!own->reason)
        plan_integer(graph, index, plan);
}

static ys_status find_products(const struct ys_graph *graph, const struct ys_quant_rule *rule,
                               struct ys_quant_plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        const bool is_recurrent = ys_node_states(node) > 0;
        if (is_recurrent || node->op == YS_OP_ATTENTION || node->op == YS_OP_MATMUL)
            return ys_fail(YS_EUNSUPPORTED, "int8: node %s (%s): integers in %s are left out: see docs/quantised.md",
                           node->name, ys_op_name(node->op), is_recurrent ? "LSTM and GRU" : "attention");
        plan->nodes[i] = (struct ys_quant_node){.way = YS_QUANT_IN_FLOAT, .reason = no_form, .joins = -1};
        if (!is_product(node))
            continue;
        plan->nodes[i].reason = product_obstacle(graph, node, rule);
        any |= !plan->nodes[i].reason;
        if (!plan->nodes[i].reason && rule->kind == YS_QUANT_STATIC)
            plan->scale_of[node->in[0]] = node->in[0];
        else if (!plan->nodes[i].reason)
            plan->nodes[i].way = YS_QUANT_IN_INTEGER;
    }
    return any ? YS_OK
               : ys_fail(YS_EUNSUPPORTED, "int8: %s has no convolution or dense layer that can be computed in integers",
                         graph->name);
}

ys_status ys_quant_plan_make(const struct ys_graph *folded, const struct ys_quant_rule *rule,
                             struct ys_quant_plan *plan)
{
    *plan = (struct ys_quant_plan){.nodes = ys_alloc(folded->node_count, sizeof *plan->nodes),
                                   .scale_of = ys_alloc(folded->value_count, sizeof *plan->scale_of)};
    ys_status status = plan->nodes && plan->scale_of ? YS_OK : ys_out_of_memory();
    for (size_t v = 0; status == YS_OK && v < folded->value_count; v++)
        plan->scale_of[v] = -1;
    if (status == YS_OK)
        status = find_products(folded, rule, plan);
    for (size_t i = 0; status == YS_OK && rule->kind == YS_QUANT_STATIC && i < folded->node_count; i++)
        plan_node(folded, i, plan);
    if (status != YS_OK)
        ys_quant_plan_fini(plan);
    return status;
}

int ys_quant_result(const struct ys_graph *folded, const struct ys_quant_plan *plan, const struct ys_node *node)
{
    const int joins = plan->nodes[node - folded->nodes].joins;
    return joins < 0 ? node->out[0] : folded->nodes[joins].out[0];
}

void ys_quant_ends(const struct ys_graph *folded, const struct ys_quant_plan *plan, const struct ys_node *node,
                   const struct ys_activation_scale *result, int *low, int *high)
{
    const int joins = plan->nodes[node - folded->nodes].joins;
    const struct ys_node *last = joins < 0 ? node : &folded->nodes[joins];
    const int zero = (int)result->zero_point;
    *low = last->op == YS_OP_RELU ? zero : last->op == YS_OP_CLIP ? ys_quant_u8(last->low, result->scale, zero) : 0;
    *high = last->op == YS_OP_CLIP ? ys_quant_u8(last->high, result->scale, zero) : UINT8_MAX;
}

ys_status ys_quant_plan_check(const struct ys_graph *folded, const struct ys_quant_plan *plan,
                              const struct ys_scales *scales)
{
    for (size_t v = 0; v < folded->value_count; v++)
        if (plan->scale_of[v] == (int)v && !ys_scales_of_value(scales, folded->values[v].name))
            return ys_fail(YS_EFORMAT, "scales: there is none of value %s: calibrate again", folded->values[v].name);
    for (size_t i = 0; i < folded->node_count; i++) {
        if (plan->nodes[i].way != YS_QUANT_IN_INTEGER || !is_product(&folded->nodes[i]))
            continue;
        const struct ys_param *param = &folded->params[folded->nodes[i].weight];
        const struct ys_weight_scale *weight = ys_scales_of_param(scales, param->name);
        if (!weight)
            return ys_fail(YS_EFORMAT, "scales: there is none of weight %s: calibrate again", param->name);
        if (weight->scales.count != 1 && weight->scales.count != (size_t)param->shape[0])
            return ys_fail(YS_EFORMAT, "scales: weight %s has %zu of them; it takes 1 or %lld", param->name,
                           weight->scales.count, (long long)param->shape[0]);
    }
    return YS_OK;
}
