/* How `simd` lowers what has kernels in float that `onednn` takes as well: normalisations of lines, attention, LSTM and
 * GRU, the optimizer, curves. */
#include "backend/attention.h"
#include "backend/kernels/kernels.h"
#include "backend/line.h"
#include "backend/plain/ref_lower.h"
#include "backend/plain/simd.h"
#include "backend/recurrent.h"

static ys_status forward_lines(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_lines l = ys_lines_of(low, node);
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    struct ys_operand operands[4] = {ys_ref_at(low->value[node->in[0]]), ys_ref_at(low->value[node->out[0]]),
                                     ys_lower_param_at(low, low->weights, node->weight)};
    if (l.has_bias)
        operands[3] = ys_lower_param_at(low, low->weights, node->bias);
    return ys_lower_call_own(low, node->name, ys_lines_run, &l, sizeof l, operands, 3 + l.has_bias);
}

static ys_status backward_lines(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_lines l = ys_lines_of(low, node);
    const int in = node->in[0];
    struct ys_operand operands[7] = {ys_ref_at(low->value[in]), ys_lower_param_at(low, low->weights, node->weight),
                                     ys_ref_at(low->gradient[node->out[0]])};
    struct ys_operand bias;
    size_t count = 5;
    bool more_weight, more_bias = false;
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[3], &more_weight));
    YS_TRY(ys_program_buffer(low->program, (size_t)l.lines * sizeof(struct ys_line_statistics), false,
                             &operands[4].buffer));
    if (l.wants_dx)
        YS_TRY(ys_ref_begin_share(low, in, &operands[count++].buffer));
    if (l.has_bias) {
        YS_TRY(ys_lower_param_share(low, node->bias, &bias, &more_bias));
        operands[count++] = bias;
    }
    YS_TRY(ys_lower_call_own(low, node->name, ys_lines_backward_run, &l, sizeof l, operands, count));
    if (more_weight)
        YS_TRY(ys_ref_end_param(low, node, node->weight, operands[3]));
    if (more_bias)
        YS_TRY(ys_ref_end_param(low, node, node->bias, bias));
    return l.wants_dx ? ys_ref_end_share(low, node, in, operands[5].buffer) : YS_OK;
}

static ys_status forward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_heads h = ys_heads_of(low, node);
    struct ys_operand operands[6] = {{0}};
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    for (size_t i = 0; i < 3; i++)
        operands[i].buffer = low->value[node->in[i]];
    YS_TRY(ys_program_buffer(low->program, ys_heads_scratch_bytes(&h), false, &operands[3].buffer));
    operands[4].buffer = low->value[node->out[0]];
    if (h.padded)
        operands[5].buffer = low->inputs[ys_graph_input_of(low->graph, node->in[3])];
    if (h.at)
        operands[5].buffer = low->cached[node - low->graph->nodes];
    YS_TRY(ys_lower_call_own(low, node->name, h.at ? ys_attention_cached_run : ys_attention_run, &h, sizeof h, operands,
                             h.padded || h.at ? 6 : 5));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

/** All three gradients come of one call; one that nobody wants goes to a buffer that nobody reads. */
static ys_status backward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_heads h = ys_heads_of(low, node);
    struct ys_operand operands[9] = {{0}};
    for (size_t i = 0; i < 3; i++) {
        operands[i].buffer = low->value[node->in[i]];
        YS_TRY(low->value_gradient[node->in[i]] ? ys_ref_begin_share(low, node->in[i], &operands[5 + i].buffer)
                                                : ys_ref_value_buffer(low, node->in[i], &operands[5 + i].buffer));
    }
    operands[3].buffer = low->gradient[node->out[0]];
    YS_TRY(ys_program_buffer(low->program, ys_heads_scratch_bytes(&h), false, &operands[4].buffer));
    if (h.padded)
        operands[8].buffer = low->inputs[ys_graph_input_of(low->graph, node->in[3])];
    YS_TRY(ys_lower_call_own(low, node->name, ys_attention_backward_run, &h, sizeof h, operands, h.padded ? 9 : 8));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    for (size_t i = 0; i < 3; i++)
        if (low->value_gradient[node->in[i]])
            YS_TRY(ys_ref_end_share(low, node, node->in[i], operands[5 + i].buffer));
    return YS_OK;
}

ys_status ys_simd_call_recurrent(struct ys_lowering *low, const struct ys_node *node, bool backward,
                                 const struct ys_operand *operands, size_t count)
{
    const struct ys_ref *ref = low->state;
    const struct ys_recurrent_call c = {ys_recurrent_of(low, node), ys_recurrent_kernels(), ref->kernels->multiply,
                                        ref->kernels->workspace_bytes};
    return ys_lower_call_own(low, node->name, backward ? ys_recurrent_backward_run : ys_recurrent_run, &c, sizeof c,
                             operands, count);
}

ys_status ys_simd_update(struct ys_lowering *low, const struct ys_operand *operands, size_t count)
{
    const struct ys_update c = {low->config.threads, low};
    return ys_lower_call_own(low, "update", ys_kernel_update(), &c, sizeof c, operands, count);
}

void ys_simd_ops(struct ys_ref_op op[YS_OP_COUNT])
{
    const struct ys_curve_kernels *curves = ys_curve_kernels();
    for (int i = 0; i < YS_OP_COUNT; i++)
        if (curves->of[i].forward) {
            op[i].forward = curves->of[i].forward;
            op[i].backward = curves->of[i].backward;
        }
    op[YS_OP_LAYERNORM].lower_forward = op[YS_OP_RMSNORM].lower_forward = forward_lines;
    op[YS_OP_LAYERNORM].lower_backward = op[YS_OP_RMSNORM].lower_backward = backward_lines;
    op[YS_OP_ATTENTION].lower_forward = forward_attention;
    op[YS_OP_ATTENTION].lower_backward = backward_attention;
}
