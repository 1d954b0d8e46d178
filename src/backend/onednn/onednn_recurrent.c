/* LSTM and GRU (recurrent.h). */
#include "backend/kernels/kernels.h"
#include "backend/onednn/onednn_state.h"
#include "backend/recurrent.h"

/** x and the parameters, what is kept, and y; nothing is needed for scratch. */
static ys_status fill_operands(struct ys_lowering *low, const struct ys_node *node, struct ys_operand *operands)
{
    const int params[] = {node->weight, node->recurrent, node->bias,
                          node->recurrent_bias >= 0 ? node->recurrent_bias : node->bias};
    YS_TRY(ys_onednn_plain_value(low, node->name, node->in[0], &operands[YS_RECURRENT_X]));
    for (size_t i = 0; i < 4; i++)
        operands[YS_RECURRENT_W + i] = ys_onednn_param(low, low->weights, params[i]);
    operands[YS_RECURRENT_KEPT] = ys_at(ys_onednn_node(low, node)->workspace);
    operands[YS_RECURRENT_Y] = ys_at(low->value[node->out[0]]);
    const int carried = low->carried[node - low->graph->nodes];
    operands[YS_RECURRENT_STATE] = carried >= 0 ? ys_at(carried) : operands[YS_RECURRENT_KEPT];
    operands[YS_RECURRENT_SCRATCH] = operands[YS_RECURRENT_KEPT];
    return YS_OK;
}

ys_status ys_onednn_forward_recurrent(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_recurrent_call c = {ys_recurrent_of(low, node), ys_recurrent_kernels(), ys_onednn_multiply, 0};
    struct ys_operand operands[YS_RECURRENT_FORWARD] = {{0}};
    YS_TRY(ys_onednn_output(low, node->out[0]));
    YS_TRY(ys_program_buffer(low->program, ys_recurrent_kept(&c.r) * sizeof(float), false,
                             &ys_onednn_node(low, node)->workspace));
    YS_TRY(fill_operands(low, node, operands));
    YS_TRY(ys_lower_call_own(low, node->name, ys_recurrent_run, &c, sizeof c, operands, YS_RECURRENT_FORWARD));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

ys_status ys_onednn_backward_recurrent(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_recurrent_call c = {ys_recurrent_of(low, node), ys_recurrent_kernels(), ys_onednn_multiply, 0};
    const int params[] = {node->weight, node->recurrent, node->bias, node->recurrent_bias};
    struct ys_operand operands[YS_RECURRENT_BACKWARD] = {{0}};
    bool more[4] = {false};
    ys_layout plain;
    YS_TRY(fill_operands(low, node, operands));
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[YS_RECURRENT_DY]));
    YS_TRY(ys_program_buffer(low->program, ys_recurrent_gradient(&c.r) * sizeof(float), false,
                             &operands[YS_RECURRENT_DKEPT].buffer));
    for (size_t i = 0; i < 4; i++)
        if (params[i] >= 0)
            YS_TRY(ys_lower_param_share(low, params[i], &operands[YS_RECURRENT_DW + i], &more[i]));
    if (node->recurrent_bias < 0)
        operands[YS_RECURRENT_DRB] = operands[YS_RECURRENT_DB];
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_buffer(low, &plain, &operands[YS_RECURRENT_DX].buffer));
    YS_TRY(
        ys_lower_call_own(low, node->name, ys_recurrent_backward_run, &c, sizeof c, operands, YS_RECURRENT_BACKWARD));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    for (size_t i = 0; i < 4; i++)
        YS_TRY(ys_onednn_add_param(low, node, params[i], operands[YS_RECURRENT_DW + i], more[i]));
    return low->value_gradient[node->in[0]]
               ? ys_onednn_give(low, node->name, node->in[0], &plain, operands[YS_RECURRENT_DX])
               : YS_OK;
}
