/* Layer normalisation, and that by the mean square, which are ours (line.h). */
#include "backend/kernels/kernels.h"
#include "backend/line.h"
#include "backend/onednn/onednn_state.h"

ys_status ys_onednn_forward_layernorm(struct ys_lowering *low, const struct ys_node *node)
{
    ys_layout plain;
    struct ys_operand operands[4];
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    const struct ys_lines l = ys_lines_of(low, node);
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &operands[0]));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[1] = ys_at(low->value[node->out[0]]);
    operands[2] = ys_onednn_param(low, low->weights, node->weight);
    if (l.has_bias)
        operands[3] = ys_onednn_param(low, low->weights, node->bias);
    return ys_lower_call_own(low, node->name, ys_lines_run, &l, sizeof l, operands, 3 + l.has_bias);
}

ys_status ys_onednn_backward_layernorm(struct ys_lowering *low, const struct ys_node *node)
{
    ys_layout plain;
    struct ys_operand operands[7] = {{0}}, dx = {0}, bias = {0};
    size_t count = 5;
    bool more_weight, more_bias = false;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    const struct ys_lines l = ys_lines_of(low, node);
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &operands[0]));
    operands[1] = ys_onednn_param(low, low->weights, node->weight);
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[2]));
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[3], &more_weight));
    YS_TRY(ys_program_buffer(low->program, (size_t)l.lines * sizeof(struct ys_line_statistics), false,
                             &operands[4].buffer));
    if (l.wants_dx) {
        YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
        operands[count++] = dx;
    }
    if (l.has_bias) {
        YS_TRY(ys_lower_param_share(low, node->bias, &bias, &more_bias));
        operands[count++] = bias;
    }
    YS_TRY(ys_lower_call_own(low, node->name, ys_lines_backward_run, &l, sizeof l, operands, count));
    YS_TRY(ys_onednn_add_param(low, node, node->weight, operands[3], more_weight));
    YS_TRY(ys_onednn_add_param(low, node, node->bias, bias, more_bias));
    return l.wants_dx ? ys_onednn_give(low, node->name, node->in[0], &plain, dx) : YS_OK;
}
