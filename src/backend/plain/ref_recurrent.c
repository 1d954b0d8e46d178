/* How the reference back end lowers LSTM and GRU. */
#include "backend/plain/ref_lower.h"
#include "backend/plain/simd.h"
#include "backend/recurrent.h"

/** x and the parameters, what is kept, y and the workspace. */
static void fill_operands(const struct ys_lowering *low, const struct ys_node *node, struct ys_operand *operands)
{
    const struct ys_ref *ref = low->state;
    const int second = node->recurrent_bias >= 0 ? node->recurrent_bias : node->bias;
    operands[YS_RECURRENT_X] = ys_ref_at(low->value[node->in[0]]);
    operands[YS_RECURRENT_W] = ys_lower_param_at(low, low->weights, node->weight);
    operands[YS_RECURRENT_R] = ys_lower_param_at(low, low->weights, node->recurrent);
    operands[YS_RECURRENT_B] = ys_lower_param_at(low, low->weights, node->bias);
    operands[YS_RECURRENT_RB] = ys_lower_param_at(low, low->weights, second);
    operands[YS_RECURRENT_KEPT] = ys_ref_at(ref->saved[node - low->graph->nodes]);
    operands[YS_RECURRENT_Y] = ys_ref_at(low->value[node->out[0]]);
    const int carried = low->carried[node - low->graph->nodes];
    operands[YS_RECURRENT_STATE] = carried >= 0 ? ys_ref_at(carried) : operands[YS_RECURRENT_KEPT];
    operands[YS_RECURRENT_SCRATCH] = ys_ref_at(ref->workspace);
}

static ys_status call(struct ys_lowering *low, const struct ys_node *node, bool backward,
                      const struct ys_operand *operands, size_t count)
{
    const struct ys_ref_op *op = ys_ref_op(low, node);
    if (((const struct ys_ref *)low->state)->kernels->multiply)
        return ys_simd_call_recurrent(low, node, backward, operands, count);
    return ys_ref_call(low, node, backward ? op->backward : op->forward, ys_ref_context(low, node), operands, count);
}

ys_status ys_ref_forward_recurrent(struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_ref *ref = low->state;
    const struct ys_recurrent r = ys_recurrent_of(low, node);
    struct ys_operand operands[YS_RECURRENT_FORWARD];
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    YS_TRY(ys_program_buffer(low->program, ys_recurrent_kept(&r) * low->real_size, false,
                             &ref->saved[node - low->graph->nodes]));
    fill_operands(low, node, operands);
    YS_TRY(call(low, node, false, operands, YS_RECURRENT_FORWARD));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

/** The gradient of x goes to a buffer that nobody reads where nobody wants it. */
ys_status ys_ref_backward_recurrent(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_recurrent r = ys_recurrent_of(low, node);
    const int in = node->in[0], params[] = {node->weight, node->recurrent, node->bias, node->recurrent_bias};
    struct ys_operand operands[YS_RECURRENT_BACKWARD] = {{0}};
    bool more[4] = {false};
    fill_operands(low, node, operands);
    operands[YS_RECURRENT_DY] = ys_ref_at(low->gradient[node->out[0]]);
    YS_TRY(ys_program_buffer(low->program, ys_recurrent_gradient(&r) * low->real_size, false,
                             &operands[YS_RECURRENT_DKEPT].buffer));
    YS_TRY(low->value_gradient[in] ? ys_ref_begin_share(low, in, &operands[YS_RECURRENT_DX].buffer)
                                   : ys_ref_value_buffer(low, in, &operands[YS_RECURRENT_DX].buffer));
    for (size_t i = 0; i < 4; i++)
        if (params[i] >= 0)
            YS_TRY(ys_lower_param_share(low, params[i], &operands[YS_RECURRENT_DW + i], &more[i]));
    if (node->recurrent_bias < 0)
        operands[YS_RECURRENT_DRB] = operands[YS_RECURRENT_DB];
    YS_TRY(call(low, node, true, operands, YS_RECURRENT_BACKWARD));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    for (size_t i = 0; i < 4; i++)
        if (more[i])
            YS_TRY(ys_ref_end_param(low, node, params[i], operands[YS_RECURRENT_DW + i]));
    return low->value_gradient[in] ? ys_ref_end_share(low, node, in, operands[YS_RECURRENT_DX].buffer) : YS_OK;
}
