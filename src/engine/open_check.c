#include "engine/open_check.h"

#include "engine/optimizer_step.h"

ys_status ys_open_check_config(const struct ys_engine_config *config)
{
    if (config->batch < 1 || config->batch > INT32_MAX)
        return ys_fail(YS_EINVAL, "batch is %lld; it is a number of rows, at least 1", (long long)config->batch);
    if (config->threads < 1)
        return ys_fail(YS_EINVAL, "threads is %d; it is at least 1", config->threads);
    if (config->precision < YS_ENGINE_F64 || config->precision > YS_ENGINE_BF16)
        return ys_fail(YS_EINVAL, "precision is %d; it is YS_ENGINE_F64, _F32 or _BF16", (int)config->precision);
    return config->training ? ys_optimizer_check(&config->optimizer) : YS_OK;
}

/** Whether the node reads the value as tokens. */
static bool reads_tokens(const struct ys_node *node, int value)
{
    return (node->op == YS_OP_EMBEDDING && node->in[0] == value) || ys_node_tokens(node) == value;
}

ys_status ys_open_check_graph(const struct ys_graph *graph, bool input_gradient)
{
    const struct ys_value *output = &graph->values[graph->output];
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct ys_value *input = &graph->values[graph->inputs[i]];
        if (input->dtype != YS_U8 && input->dtype != YS_I32 && input->dtype != YS_F32)
            return ys_fail(YS_EUNSUPPORTED, "input %s is %s; the built-in engine takes U8, I32 and F32", input->name,
                           ys_dtype_name(input->dtype));
    }
    for (size_t i = 0; input_gradient && i < graph->node_count; i++)
        if (reads_tokens(&graph->nodes[i], graph->inputs[0]))
            return ys_fail(YS_EUNSUPPORTED, "input %s: tokens have no gradient", graph->values[graph->inputs[0]].name);
    if ((graph->target == YS_TARGET_CLASS && output->rank != 2) || output->producer < 0)
        return ys_fail(YS_EUNSUPPORTED, "output %s has %zu dimensions; logits have 2", output->name, output->rank);
    return YS_OK;
}
