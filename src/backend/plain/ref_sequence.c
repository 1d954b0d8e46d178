/* How the reference back end lowers what works on sequences. */
#include "backend/plain/ref_lower.h"

/** Input `i` of the node as the batch holds it. */
static struct ys_operand tokens_of(const struct ys_lowering *low, const struct ys_node *node, size_t i)
{
    return ys_ref_at(low->inputs[ys_graph_input_of(low->graph, node->in[i])]);
}

ys_status ys_ref_forward_embedding(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(ys_ref_output(low, node->out[0]));
    const struct ys_operand operands[] = {tokens_of(low, node, 0), ys_lower_param_at(low, low->weights, node->weight),
                                          ys_ref_at(low->value[node->out[0]])};
    return ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, ys_ref_context(low, node), "r-r", operands, 3);
}

ys_status ys_ref_backward_embedding(struct ys_lowering *low, const struct ys_node *node)
{
    bool is_more;
    struct ys_operand operands[] = {tokens_of(low, node, 0), ys_ref_at(low->gradient[node->out[0]]), {0}};
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[2], &is_more));
    YS_TRY(ys_ref_call(low, node, ys_ref_op(low, node)->weights, ys_ref_context(low, node), operands, 3));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    return is_more ? ys_ref_end_param(low, node, node->weight, operands[2]) : YS_OK;
}

/** `count` tables of a number for each query and key of a head. */
static ys_status make_scores(struct ys_lowering *low, const struct ys_node *node, size_t count, int *buffer)
{
    const int64_t queries = low->graph->values[node->in[0]].shape[1];
    const int64_t keys = low->cache_positions ? low->cache_positions : low->graph->values[node->in[1]].shape[1];
    return ys_program_buffer(low->program, count * (size_t)(queries * keys) * low->real_size, false, buffer);
}

ys_status ys_ref_forward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    struct ys_operand operands[7] = {{0}};
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    for (size_t i = 0; i < 3; i++)
        operands[i] = ys_ref_at(low->value[node->in[i]]);
    YS_TRY(make_scores(low, node, 1, &operands[3].buffer));
    operands[4] = ys_ref_at(ref->workspace);
    operands[5] = ys_ref_at(low->value[node->out[0]]);
    const int cached = low->cached[node - low->graph->nodes];
    if (node->in_count > 3 || cached >= 0)
        operands[6] = ys_ref_at(cached >= 0 ? cached : low->value[node->in[3]]);
    YS_TRY(ys_ref_call(low, node, ys_ref_op(low, node)->forward, ys_ref_context(low, node), operands,
                       node->in_count > 3 || cached >= 0 ? 7 : 6));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

/** All three gradients come of one call; one that nobody wants goes to a buffer that nobody reads. */
ys_status ys_ref_backward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    struct ys_operand operands[10] = {{0}};
    for (size_t i = 0; i < 3; i++) {
        operands[i] = ys_ref_at(low->value[node->in[i]]);
        YS_TRY(low->value_gradient[node->in[i]] ? ys_ref_begin_share(low, node->in[i], &operands[6 + i].buffer)
                                                : ys_ref_value_buffer(low, node->in[i], &operands[6 + i].buffer));
    }
    operands[3] = ys_ref_at(low->gradient[node->out[0]]);
    YS_TRY(make_scores(low, node, 2, &operands[4].buffer));
    operands[5] = ys_ref_at(ref->workspace);
    if (node->in_count > 3)
        operands[9] = ys_ref_at(low->value[node->in[3]]);
    YS_TRY(ys_ref_call(low, node, ys_ref_op(low, node)->backward, ys_ref_context(low, node), operands,
                       6 + node->in_count));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    for (size_t i = 0; i < 3; i++)
        if (low->value_gradient[node->in[i]])
            YS_TRY(ys_ref_end_share(low, node, node->in[i], operands[6 + i].buffer));
    return YS_OK;
}

ys_status ys_ref_forward_matmul(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    const struct ys_operand operands[] = {ys_ref_at(low->value[node->in[0]]), ys_ref_at(low->value[node->in[1]]),
                                          ys_ref_at(ref->workspace), ys_ref_at(low->value[node->out[0]])};
    YS_TRY(ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, ys_ref_context(low, node), "rrtr", operands, 4));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

/** Both gradients come of one call; one that nobody wants goes to a buffer that nobody reads. */
ys_status ys_ref_backward_matmul(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    struct ys_operand operands[6] = {{0}};
    for (size_t i = 0; i < 2; i++) {
        operands[i] = ys_ref_at(low->value[node->in[i]]);
        YS_TRY(low->value_gradient[node->in[i]] ? ys_ref_begin_share(low, node->in[i], &operands[4 + i].buffer)
                                                : ys_ref_value_buffer(low, node->in[i], &operands[4 + i].buffer));
    }
    operands[2] = ys_ref_at(low->gradient[node->out[0]]);
    operands[3] = ys_ref_at(ref->workspace);
    YS_TRY(
        ys_ref_call_rows(low, node, ys_ref_op(low, node)->backward, ys_ref_context(low, node), "rrrtrr", operands, 6));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    for (size_t i = 0; i < 2; i++)
        if (low->value_gradient[node->in[i]])
            YS_TRY(ys_ref_end_share(low, node, node->in[i], operands[4 + i].buffer));
    return YS_OK;
}

ys_status ys_ref_forward_last(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    const struct ys_operand operands[] = {ys_ref_at(low->value[node->in[0]]), tokens_of(low, node, 1),
                                          ys_ref_at(low->value[node->out[0]])};
    return ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, ys_ref_context(low, node), "rrr", operands, 3);
}

ys_status ys_ref_backward_last(struct ys_lowering *low, const struct ys_node *node)
{
    int share;
    if (!low->value_gradient[node->in[0]])
        return YS_OK;
    YS_TRY(ys_ref_begin_share(low, node->in[0], &share));
    const struct ys_operand operands[] = {ys_ref_at(low->gradient[node->out[0]]), tokens_of(low, node, 1),
                                          ys_ref_at(share)};
    YS_TRY(ys_ref_call_rows(low, node, ys_ref_op(low, node)->backward, ys_ref_context(low, node), "rrr", operands, 3));
    return ys_ref_end_share(low, node, node->in[0], share);
}
