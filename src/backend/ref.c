/* The reference back end: how it lowers. Its arithmetic is in ref_kernels.inc. */
#include "backend/ref.h"

#include "base/mem.h"
#include "backend/list.h"
#include <string.h>

struct ref {
    const struct ys_ref_kernels *kernels;
    int *winners; /* [value_count]: the int32 buffer of the pool that made the value, -1 elsewhere */
};

static bool ref_supports(enum ys_op op, enum ys_engine_precision precision)
{
    switch (op) {
    case YS_OP_NORMALIZE:
    case YS_OP_CONV:
    case YS_OP_RELU:
    case YS_OP_MAXPOOL:
    case YS_OP_FLATTEN:
    case YS_OP_GEMM:
        return precision != YS_ENGINE_BF16;
    default:
        return false;
    }
}

static ys_status ref_begin(struct ys_lowering *low)
{
    struct ref *ref = ys_alloc(1, sizeof *ref);
    if (!ref)
        return ys_out_of_memory();
    low->state = ref;
    ref->kernels = low->config.precision == YS_ENGINE_F64 ? &ys_ref_kernels_f64 : &ys_ref_kernels_f32;
    ref->winners = ys_alloc(low->graph->value_count, sizeof *ref->winners);
    if (!ref->winners)
        return ys_out_of_memory();
    for (size_t p = 0; p < low->graph->param_count; p++)
        low->param_size[p] = (size_t)ys_param_elements(&low->graph->params[p]);
    low->config.threads = 1;
    return YS_OK;
}

static void ref_end(struct ys_lowering *low)
{
    struct ref *ref = low->state;
    ys_free(ref->winners);
    ys_free(ref);
}

/** Channels, height, width of a value; lacking ones are 1. */
static void row_shape(const struct ys_value *v, int64_t shape[3])
{
    for (size_t i = 0; i < 3; i++)
        shape[i] = i + 1 < v->rank ? v->shape[i + 1] : 1;
}

/** A new context for a node, its shapes filled in. */
static struct ys_ref_context *new_context(const struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_ref_context *c = ys_alloc(1, sizeof *c);
    if (!c)
        return NULL;
    const struct ys_value *in = &low->graph->values[node->in[0]], *out = &low->graph->values[node->out[0]];
    c->batch = low->config.batch;
    row_shape(in, c->in);
    row_shape(out, c->out);
    c->in_features = ys_value_row_elements(in);
    c->out_features = ys_value_row_elements(out);
    c->count = (size_t)(c->batch * c->in_features);
    c->dtype = in->dtype;
    c->has_bias = node->bias >= 0;
    c->window = &node->window;
    c->normalize = &node->normalize;
    c->low = low;
    return c;
}

static ys_status call(struct ys_lowering *low, const struct ys_node *node, ys_call_run run, struct ys_ref_context *c,
                      const struct ys_operand *operands, size_t count)
{
    return ys_lower_call(low, node->name, run, c, ys_free, operands, count);
}

static struct ys_operand at(int buffer)
{
    return (struct ys_operand){.buffer = buffer};
}

static struct ys_operand param_at(const struct ys_lowering *low, int flat, int param)
{
    return (struct ys_operand){flat, low->param_offset[param] * low->real_size};
}

static ys_status new_value_buffer(struct ys_lowering *low, int value, int *buffer)
{
    size_t count = (size_t)(low->config.batch * ys_value_row_elements(&low->graph->values[value]));
    return ys_program_buffer(low->program, count * low->real_size, false, buffer);
}

/** The buffer in which the node's result goes: the logits have a place of their own. */
static ys_status make_output(struct ys_lowering *low, int value)
{
    if (value == low->graph->output) {
        low->value[value] = low->logits;
        return YS_OK;
    }
    return new_value_buffer(low, value, &low->value[value]);
}

/** The buffer for a gradient: that of the input has a place of its own. */
static ys_status make_gradient(struct ys_lowering *low, int value)
{
    if (value == low->graph->input) {
        low->gradient[value] = low->input_gradient;
        return YS_OK;
    }
    return new_value_buffer(low, value, &low->gradient[value]);
}

/** Widens the raw input for a first node that computes on it. */
static ys_status need_input(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ref *ref = low->state;
    if (low->value[node->in[0]] >= 0)
        return YS_OK;
    struct ys_ref_context *c = new_context(low, node);
    if (!c)
        return ys_out_of_memory();
    ys_status status = new_value_buffer(low, node->in[0], &low->value[node->in[0]]);
    if (status != YS_OK) {
        ys_free(c);
        return status;
    }
    return call(low, node, ref->kernels->input, c, (struct ys_operand[]){at(low->input), at(low->value[node->in[0]])},
                2);
}

static ys_status forward_conv(struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *c)
{
    const struct ref *ref = low->state;
    const struct ys_window *w = &node->window;
    int64_t taps = c->in[0] / w->group * w->kernel[0] * w->kernel[1];
    int64_t scratch_count =
        node->op == YS_OP_CONV ? taps * c->out[1] * c->out[2] : (c->in_features + c->out_features) * c->batch;
    int scratch;
    ys_status status = ys_program_buffer(low->program, (size_t)scratch_count * low->real_size, false, &scratch);
    if (status != YS_OK) {
        ys_free(c);
        return status;
    }
    struct ys_operand operands[5] = {at(low->value[node->in[0]]), param_at(low, low->weights, node->weight),
                                     at(low->value[node->out[0]]), at(scratch)};
    if (c->has_bias)
        operands[4] = param_at(low, low->weights, node->bias);
    return call(low, node, node->op == YS_OP_CONV ? ref->kernels->conv : ref->kernels->gemm, c, operands,
                4 + c->has_bias);
}

static ys_status forward_pool(struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *c)
{
    struct ref *ref = low->state;
    struct ys_operand operands[3] = {at(low->value[node->in[0]]), at(low->value[node->out[0]])};
    c->has_input_gradient = low->value_gradient[node->in[0]];
    if (c->has_input_gradient) {
        size_t outputs = (size_t)(c->batch * c->out_features);
        ys_status status =
            ys_program_buffer(low->program, outputs * sizeof(int32_t), false, &ref->winners[node->out[0]]);
        if (status != YS_OK) {
            ys_free(c);
            return status;
        }
        operands[2] = at(ref->winners[node->out[0]]);
    }
    return call(low, node, ref->kernels->maxpool, c, operands, 2 + c->has_input_gradient);
}

static ys_status ref_forward(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ref *ref = low->state;
    if (node->op != YS_OP_NORMALIZE)
        YS_TRY(need_input(low, node));
    if (node->op == YS_OP_FLATTEN && node->out[0] != low->graph->output) {
        low->value[node->out[0]] = low->value[node->in[0]];
        return YS_OK;
    }
    YS_TRY(make_output(low, node->out[0]));
    struct ys_ref_context *c = new_context(low, node);
    if (!c)
        return ys_out_of_memory();
    struct ys_operand operands[2] = {at(node->op == YS_OP_NORMALIZE ? low->input : low->value[node->in[0]]),
                                     at(low->value[node->out[0]])};
    switch (node->op) {
    case YS_OP_NORMALIZE:
        return call(low, node, ref->kernels->normalize, c, operands, 2);
    case YS_OP_RELU:
        return call(low, node, ref->kernels->relu, c, operands, 2);
    case YS_OP_FLATTEN:
        return call(low, node, ref->kernels->copy, c, operands, 2);
    case YS_OP_MAXPOOL:
        return forward_pool(low, node, c);
    default:
        return forward_conv(low, node, c);
    }
}

static ys_status ref_loss(struct ys_lowering *low)
{
    const struct ref *ref = low->state;
    const struct ys_node *last = &low->graph->nodes[low->graph->values[low->graph->output].producer];
    if (low->config.training)
        YS_TRY(make_gradient(low, low->graph->output));
    struct ys_ref_context *c = new_context(low, last);
    if (!c)
        return ys_out_of_memory();
    c->has_input_gradient = low->config.training;
    struct ys_operand operands[4] = {at(low->logits), at(low->labels), at(low->loss),
                                     at(low->gradient[low->graph->output])};
    return ys_lower_call(low, "loss", ref->kernels->loss, c, ys_free, operands, 3 + c->has_input_gradient);
}

static ys_status backward_conv(struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *c)
{
    const struct ref *ref = low->state;
    struct ys_operand operands[7] = {at(low->value[node->in[0]]), param_at(low, low->weights, node->weight),
                                     at(low->gradient[node->out[0]]), param_at(low, low->gradients, node->weight)};
    size_t count = 4;
    if (node->op == YS_OP_CONV) {
        const struct ys_window *w = &node->window;
        int64_t taps = c->in[0] / w->group * w->kernel[0] * w->kernel[1];
        int scratch;
        ys_status status =
            ys_program_buffer(low->program, (size_t)(taps * c->out[1] * c->out[2]) * low->real_size, false, &scratch);
        if (status != YS_OK) {
            ys_free(c);
            return status;
        }
        operands[count++] = at(scratch);
    }
    if (c->has_bias)
        operands[count++] = param_at(low, low->gradients, node->bias);
    if (c->has_input_gradient)
        operands[count++] = at(low->gradient[node->in[0]]);
    return call(low, node, node->op == YS_OP_CONV ? ref->kernels->conv_backward : ref->kernels->gemm_backward, c,
                operands, count);
}

static ys_status ref_backward(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ref *ref = low->state;
    int in = node->in[0], out = node->out[0];
    bool wanted = low->value_gradient[in];
    if (!wanted && node->weight < 0)
        return YS_OK;
    if (node->op == YS_OP_FLATTEN && in != low->graph->input) {
        low->gradient[in] = low->gradient[out];
        return YS_OK;
    }
    if (wanted)
        YS_TRY(make_gradient(low, in));
    struct ys_ref_context *c = new_context(low, node);
    if (!c)
        return ys_out_of_memory();
    c->has_input_gradient = wanted;
    struct ys_operand dy = at(low->gradient[out]), dx = at(low->gradient[in]);
    switch (node->op) {
    case YS_OP_NORMALIZE:
        return call(low, node, ref->kernels->normalize_backward, c, (struct ys_operand[]){dy, dx}, 2);
    case YS_OP_RELU:
        return call(low, node, ref->kernels->relu_backward, c, (struct ys_operand[]){at(low->value[out]), dy, dx}, 3);
    case YS_OP_FLATTEN:
        return call(low, node, ref->kernels->copy, c, (struct ys_operand[]){dy, dx}, 2);
    case YS_OP_MAXPOOL:
        return call(low, node, ref->kernels->maxpool_backward, c, (struct ys_operand[]){at(ref->winners[out]), dy, dx},
                    3);
    default:
        return backward_conv(low, node, c);
    }
}

static ys_status ref_update(struct ys_lowering *low)
{
    const struct ref *ref = low->state;
    struct ys_ref_context *c = ys_alloc(1, sizeof *c);
    if (!c)
        return ys_out_of_memory();
    c->low = low;
    struct ys_operand operands[3] = {at(low->weights), at(low->gradients), at(low->state1)};
    return ys_lower_call(low, "update", ref->kernels->update, c, ys_free, operands, 2 + (low->state1 >= 0));
}

static ys_status ref_param_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat)
{
    memcpy(flat, canonical, low->param_size[param] * low->real_size);
    return YS_OK;
}

static ys_status ref_param_load(struct ys_lowering *low, size_t param, const void *flat, void *canonical)
{
    memcpy(canonical, flat, low->param_size[param] * low->real_size);
    return YS_OK;
}

const struct ys_backend ys_backend_ref = {
    .name = "ref",
    .supports = ref_supports,
    .begin = ref_begin,
    .forward = ref_forward,
    .loss = ref_loss,
    .backward = ref_backward,
    .update = ref_update,
    .end = ref_end,
    .param_store = ref_param_store,
    .param_load = ref_param_load,
};
