/* Normalisation of each channel of each row by itself, of which exporters make group normalisation too. */
#include "onnx/read/reader_state.h"

#include <string.h>

/* Whether the step's first input is made by a Reshape: groups of channels, as PyTorch writes them. */
static bool is_reshaped(const struct ys_onnx_step *step)
{
    const struct ys_onnx_node_in *maker = step->in[0]->made_by;
    return maker && strcmp(maker->op, "Reshape") == 0;
}

/* A number for each channel, as a parameter behind the norm. */
static ys_status by_channel(struct ys_onnx_step *step, int value, enum ys_op op, struct ys_onnx_constant *numbers)
{
    static const size_t channels_axis = 1;
    const struct ys_onnx_operand operand = {numbers, &channels_axis, numbers->count != 1};
    struct ys_onnx_slot seen = {0};
    struct ys_onnx_step part = *step;
    part.out = &seen;
    ys_onnx_set(&part, value, NULL);
    return ys_onnx_operand(step, &seen, op, &operand);
}

/* The lines of all elements of a channel, normalised by a LayerNormalization whose weight is 1 and stays so. */
static ys_status normalise_lines(struct ys_onnx_step *step, double epsilon, bool is_last, int *value)
{
    struct ys_onnx_reading *r = step->r;
    int64_t apart[YS_MAX_RANK], lines[3];
    int node;
    const size_t rank = r->graph->values[*value].rank;
    memcpy(apart, r->graph->values[*value].shape, sizeof apart);
    memcpy(lines, apart, sizeof lines);
    for (size_t i = 3; i < rank; i++)
        lines[2] *= apart[i];
    if (rank != 3)
        YS_TRY(ys_onnx_reshape_extra(step, "/lines", lines, 3, value));
    YS_TRY(is_last && rank == 3 ? ys_onnx_begin(step, YS_OP_LAYERNORM, value, 1, 1, &node)
                                : ys_onnx_begin_extra(step, YS_OP_LAYERNORM, *value, "/norm", &node));
    YS_TRY(ys_onnx_fixed(step, node, YS_NODE_WEIGHT, 1, &lines[2], 1));
    r->graph->nodes[node].axis = 2;
    r->graph->nodes[node].epsilon = epsilon;
    YS_TRY(ys_onnx_end(r, node, value));
    return rank == 3 ? YS_OK : ys_onnx_reshape_extra(step, "/apart", apart, rank, value);
}

ys_status ys_onnx_instance_norm(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *scale, *bias;
    struct ys_onnx_slot made = {0};
    struct ys_onnx_step part = *step;
    double epsilon = 1e-5;
    int value;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "epsilon", &epsilon));
    YS_TRY(ys_onnx_need_constant(step, 1, "scale", &scale));
    YS_TRY(ys_onnx_need_constant(step, 2, "bias", &bias));
    YS_TRY(ys_onnx_take(step, step->in[0], false, &value));
    const struct ys_value *v = &step->r->graph->values[value];
    if (v->rank < 3 || !(epsilon > 0 && epsilon < 1e30))
        return YS_FAIL_STEP(step, "%zu dimensions, epsilon %g: must be 3 or more, and above 0", v->rank, epsilon);
    if (!scale->is_real || !bias->is_real || scale->count != v->shape[1] || bias->count != v->shape[1])
        return YS_FAIL_STEP(step, "its scale has %lld elements and its bias %lld, not one for each of %lld channels",
                            (long long)scale->count, (long long)bias->count, (long long)v->shape[1]);
    const bool is_group = is_reshaped(step) && ys_onnx_constant_is(scale, 1) && ys_onnx_constant_is(bias, 0);
    const bool is_plain = is_group || (ys_onnx_is_made(step, scale, 1) && ys_onnx_is_made(step, bias, 0));
    YS_TRY(normalise_lines(step, epsilon, is_plain, &value));
    if (is_plain) {
        ys_onnx_set(step, value, NULL);
        ys_onnx_note(step->r,
                     "node %.100s (InstanceNormalization): its scale is 1 and its bias 0, %s, and no parameter",
                     step->node->name,
                     is_group ? "of a Reshape, as a group normalisation has them" : "which no initializer holds");
        return YS_OK;
    }
    part.out = &made;
    YS_TRY(by_channel(&part, value, YS_OP_MUL, scale));
    YS_TRY(ys_onnx_take(step, &made, false, &value));
    return by_channel(step, value, YS_OP_ADD, bias);
}
