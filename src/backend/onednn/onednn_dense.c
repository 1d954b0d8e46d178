#include "backend/backend_list.h"
#include "backend/level.h"
#include "backend/onednn/onednn_state.h"

#include "base/mem.h"
#include <string.h>

/** The convolution as the library is to see it, values and weight in `type`, layouts left to it. */
static ys_status describe_conv(const struct ys_lowering *low, const struct ys_node *node, dnnl_data_type_t type,
                               struct ys_onednn_conv *conv, ys_layout *bias)
{
    int64_t dims[YS_MAX_RANK];
    const struct ys_param *p = &low->graph->params[node->weight];
    conv->window = &node->window;
    YS_TRY(ys_layout_any(&conv->src, ys_onednn_dims(low, node->in[0], dims), dims, type));
    YS_TRY(ys_layout_any(&conv->dst, ys_onednn_dims(low, node->out[0], dims), dims, type));
    int64_t grouped[] = {node->window.group, p->shape[0] / node->window.group, p->shape[1], p->shape[2], p->shape[3]};
    YS_TRY(node->window.group > 1 ? ys_layout_any(&conv->weight, 5, grouped, type)
                                  : ys_layout_any(&conv->weight, 4, p->shape, type));
    if (node->bias >= 0)
        YS_TRY(ys_layout_plain(bias, 1, low->graph->params[node->bias].shape));
    conv->bias = node->bias >= 0 ? bias : NULL;
    return YS_OK;
}

static ys_status describe_gemm(const struct ys_lowering *low, const struct ys_node *node, dnnl_data_type_t type,
                               struct ys_onednn_gemm *gemm, ys_layout *bias)
{
    const struct ys_param *p = &low->graph->params[node->weight];
    /* every line along the last axis is a row of the product */
    const int64_t rows = low->config.batch * (ys_value_row_elements(&low->graph->values[node->in[0]]) / p->shape[1]);
    int64_t src[] = {rows, p->shape[1]}, dst[] = {rows, p->shape[0]};
    YS_TRY(ys_layout_plain(&gemm->src, 2, src));
    YS_TRY(ys_layout_any(&gemm->weight, 2, p->shape, type));
    YS_TRY(ys_layout_plain(&gemm->dst, 2, dst));
    gemm->src = ys_layout_cast(&gemm->src, type);
    if (node->out[0] != low->graph->output)
        gemm->dst = ys_layout_cast(&gemm->dst, type);
    if (node->bias >= 0)
        YS_TRY(ys_layout_plain(bias, 1, low->graph->params[node->bias].shape));
    gemm->bias = node->bias >= 0 ? bias : NULL;
    return YS_OK;
}

/** Weights are kept in float, in the order that the operation would like if it computed in float. */
static ys_status stored_in_float(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    dnnl_primitive_desc_t pd = NULL;
    struct ys_onednn_conv conv;
    struct ys_onednn_gemm gemm;
    ys_layout bias;
    if (node->op == YS_OP_CONV) {
        YS_TRY(describe_conv(low, node, dnnl_f32, &conv, &bias));
        YS_TRY(ys_onednn_conv_forward(o->engine, &conv, true, false, &pd));
    } else {
        YS_TRY(describe_gemm(low, node, dnnl_f32, &gemm, &bias));
        YS_TRY(ys_onednn_gemm_forward(o->engine, &gemm, true, false, &pd));
    }
    o->params[node->weight].stored = ys_layout_of(pd, DNNL_ARG_WEIGHTS);
    dnnl_primitive_desc_destroy(pd);
    return YS_OK;
}

static ys_status decide_weight(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_param *weight = &o->params[node->weight];
    weight->packed = ys_layout_of(ys_onednn_node(low, node)->forward, DNNL_ARG_WEIGHTS);
    const struct ys_param *p = &low->graph->params[node->weight];
    if (weight->is_shared) {
        weight->packed = weight->stored = weight->canonical;
        return YS_OK;
    }
    if (o->type != dnnl_f32)
        return stored_in_float(low, node);
    if (!ys_layout_is_blocked(&weight->packed)) /* transformed for good, which the library does from C order alone */
        return ys_layout_plain(&weight->stored, p->rank, p->shape);
    weight->stored = weight->packed;
    return YS_OK;
}

ys_status ys_onednn_decide_conv(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_node *state = ys_onednn_node(low, node);
    struct ys_onednn_conv conv;
    ys_layout bias;
    YS_TRY(describe_conv(low, node, o->type, &conv, &bias));
    YS_TRY(ys_onednn_conv_forward(o->engine, &conv, low->config.training, state->fuses_relu, &state->forward));
    /* Pixels are written in the order that their first reader likes, if that is no blocked one. */
    ys_layout wish = ys_layout_of(state->forward, DNNL_ARG_SRC), out = ys_layout_of(state->forward, DNNL_ARG_DST);
    int64_t strides[YS_MAX_RANK];
    if (!o->values[node->in[0]].known && ys_layout_strides(&wish, strides)) {
        wish = ys_layout_cast(&wish, dnnl_f32);
        ys_onednn_set_layout(low, node->in[0], &wish);
    }
    YS_TRY(ys_onednn_decide_value(low, node->in[0]));
    ys_onednn_set_layout(low, node->out[0], &out);
    if (o->params[node->weight].is_shared && node->window.group > 1)
        return ys_fail(YS_EUNSUPPORTED,
                       "the back end onednn shares no weight of a convolution in groups; " YS_ONEDNN_REMEDY);
    YS_TRY(decide_weight(low, node));
    if (node->window.group == 1)
        return YS_OK;
    const struct ys_param *p = &low->graph->params[node->weight];
    int64_t dims[YS_MAX_RANK + 1] = {node->window.group, p->shape[0] / node->window.group};
    memcpy(dims + 2, p->shape + 1, (p->rank - 1) * sizeof *dims);
    return ys_layout_plain(&o->params[node->weight].canonical, p->rank + 1, dims);
}

/** The product sees each row as a run of numbers. Where the value before Flatten lies in another order than C, the
 * columns of the weight are put in that order instead, once, and Flatten costs nothing. */
static ys_status turn_weight(struct ys_lowering *low, const struct ys_node *node, struct onednn_node *state)
{
    struct onednn *o = low->state;
    struct onednn_param *weight = &o->params[node->weight];
    const ys_layout *source = &o->values[state->source].layout;
    const struct ys_param *p = &low->graph->params[node->weight];
    ys_layout plain, likewise;
    YS_TRY(ys_onednn_plain(low, state->source, &plain));
    likewise = ys_layout_cast(&plain, o->type);
    state->in_source_order = ys_layout_is_dense_rows(source) && ys_layout_is_bf16(source) == (o->type == dnnl_bf16);
    if (weight->is_shared && !ys_layout_equal(source, &likewise))
        state->in_source_order = false;
    if (low->graph->values[node->in[0]].rank > 2) /* lines in C order alone */
        state->in_source_order = false;
    weight->is_turned = state->in_source_order && !ys_layout_equal(source, &likewise);
    if (!weight->is_turned)
        return YS_OK;
    weight->turned = ys_layout_with_rows(source, p->shape[0]);
    weight->turned = ys_layout_cast(&weight->turned, dnnl_f32);
    YS_TRY(ys_layout_plain(&weight->flattened, 2, p->shape));
    int64_t dims[YS_MAX_RANK];
    size_t rank = ys_onednn_dims(low, state->source, dims);
    dims[0] = p->shape[0];
    return ys_layout_plain(&weight->canonical, rank, dims);
}

ys_status ys_onednn_decide_gemm(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_node *state = ys_onednn_node(low, node);
    struct ys_onednn_gemm gemm;
    ys_layout bias;
    state->source = node->in[0];
    for (int producer; !o->values[state->source].known &&
                       (producer = low->graph->values[state->source].producer) >= 0 &&
                       low->graph->nodes[producer].op == YS_OP_FLATTEN;)
        state->source = low->graph->nodes[producer].in[0];
    YS_TRY(ys_onednn_decide_value(low, state->source));
    YS_TRY(describe_gemm(low, node, o->type, &gemm, &bias));
    YS_TRY(ys_onednn_gemm_forward(o->engine, &gemm, low->config.training, state->fuses_relu, &state->forward));
    ys_layout out;
    YS_TRY(ys_onednn_plain(low, node->out[0], &out));
    out = ys_layout_cast(&out, ys_layout_is_bf16(&gemm.dst) ? dnnl_bf16 : dnnl_f32);
    ys_onednn_set_layout(low, node->out[0], &out);
    YS_TRY(decide_weight(low, node));
    return turn_weight(low, node, state);
}

/** The node's input where and as its operation wants it. */
static ys_status input_operand(struct ys_lowering *low, const struct ys_node *node, const ys_layout *want,
                               struct ys_operand *operand)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = ys_onednn_node(low, node);
    if (node->op != YS_OP_GEMM)
        return ys_onednn_value(low, node->name, node->in[0], want, operand);
    if (state->in_source_order)
        return ys_onednn_value(low, node->name, state->source, &o->values[state->source].layout, operand);
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, state->source, &plain));
    plain = ys_layout_cast(&plain, o->type);
    return ys_onednn_value(low, node->name, state->source, &plain, operand);
}

/** The weight as an operation wants it. In evaluation it is packed once; in training with every step, which the
 * backward pass makes use of where it wants it packed as the forward pass did. */
static ys_status weight_operand(struct ys_lowering *low, const struct ys_node *node, const ys_layout *want,
                                struct ys_operand *operand)
{
    struct onednn *o = low->state;
    struct onednn_param *weight = &o->params[node->weight];
    *operand = ys_onednn_param(low, low->weights, node->weight);
    if (ys_layout_equal(&weight->stored, want))
        return YS_OK;
    if (weight->packed_buffer < 0 && ys_layout_equal(&weight->packed, want)) {
        YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(want), !low->config.training, &weight->packed_buffer));
        if (low->config.training)
            YS_TRY(ys_onednn_append_reorder(low, node->name, &weight->stored, *operand, want,
                                            ys_at(weight->packed_buffer)));
    } else if (!ys_layout_equal(&weight->packed, want)) {
        return ys_onednn_need(low, node->name, &weight->stored, want, operand);
    }
    *operand = ys_at(weight->packed_buffer);
    return YS_OK;
}

ys_status ys_onednn_forward_dense(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn_node *state = ys_onednn_node(low, node);
    struct onednn_argument arguments[4] = {{.id = DNNL_ARG_SRC}, {.id = DNNL_ARG_DST}, {.id = DNNL_ARG_WEIGHTS}};
    ys_layout src = ys_layout_of(state->forward, DNNL_ARG_SRC), weight = ys_layout_of(state->forward, DNNL_ARG_WEIGHTS);
    YS_TRY(input_operand(low, node, &src, &arguments[0].operand));
    YS_TRY(weight_operand(low, node, &weight, &arguments[2].operand));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    arguments[1].operand = ys_at(low->value[node->out[0]]);
    if (node->bias >= 0)
        arguments[3] = (struct onednn_argument){DNNL_ARG_BIAS, ys_onednn_param(low, low->weights, node->bias)};
    YS_TRY(ys_onednn_append(low, node->name, state->forward, arguments, 3 + (node->bias >= 0)));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

static ys_status backward_data(struct ys_lowering *low, const struct ys_node *node, struct ys_operand gradient,
                               const ys_layout *have, const_dnnl_primitive_desc_t pd)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = ys_onednn_node(low, node);
    int in = node->op == YS_OP_GEMM ? state->source : node->in[0];
    ys_layout weight = ys_layout_of(pd, DNNL_ARG_WEIGHTS), dst = ys_layout_of(pd, DNNL_ARG_DIFF_DST);
    ys_layout src = ys_layout_of(pd, DNNL_ARG_DIFF_SRC);
    struct onednn_argument arguments[3] = {
        {.id = DNNL_ARG_WEIGHTS}, {DNNL_ARG_DIFF_DST, gradient}, {.id = DNNL_ARG_DIFF_SRC}};
    YS_TRY(weight_operand(low, node, &weight, &arguments[0].operand));
    YS_TRY(ys_onednn_need(low, node->name, have, &dst, &arguments[1].operand));
    YS_TRY(ys_onednn_buffer(low, &src, &arguments[2].operand.buffer));
    YS_TRY(ys_onednn_append(low, node->name, pd, arguments, 3));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    if (node->op == YS_OP_GEMM) { /* rows again as the value before Flatten has them */
        YS_TRY(ys_onednn_plain(low, in, &src));
        src = ys_layout_cast(&src, o->type);
        if (state->in_source_order)
            src = o->values[in].layout;
    }
    return ys_onednn_give(low, node->name, in, &src, arguments[2].operand);
}

/* Gradients of absent connections are zero. */
struct connections {
    size_t count;
    float *mask; /* 1 or 0, laid out as the weight is stored; owned */
};

static void connections_free(void *context)
{
    ys_free(((struct connections *)context)->mask);
    ys_free(context);
}

static ys_status connections_run(void *context, void *const *operand)
{
    const struct connections *c = context;
    float *gradient = operand[0];
    for (size_t i = 0; i < c->count; i++)
        gradient[i] = c->mask[i] != 0 ? gradient[i] : 0;
    return YS_OK;
}

static ys_status fill_mask(struct ys_lowering *low, const struct ys_node *node, float *mask)
{
    const struct ys_param *p = &low->graph->params[node->weight];
    int64_t taps = p->shape[2] * p->shape[3], count = ys_param_elements(p);
    float *canonical = ys_alloc((size_t)count, sizeof *canonical);
    if (!canonical)
        return ys_out_of_memory();
    for (int64_t i = 0; i < count; i++)
        canonical[i] = node->connected[i / taps];
    ys_status status = ys_backend_onednn.param_store(low, (size_t)node->weight, canonical, mask);
    ys_free(canonical);
    return status;
}

static ys_status append_connections(struct ys_lowering *low, const struct ys_node *node)
{
    struct connections *c = ys_alloc(1, sizeof *c);
    if (!c)
        return ys_out_of_memory();
    c->count = low->param_size[node->weight];
    c->mask = ys_alloc(c->count, sizeof *c->mask);
    ys_status status = c->mask ? fill_mask(low, node, c->mask) : ys_out_of_memory();
    if (status != YS_OK) {
        connections_free(c);
        return status;
    }
    struct ys_operand gradient = ys_onednn_param(low, low->gradients, node->weight);
    return ys_lower_call(low, node->name, connections_run, c, connections_free, &gradient, 1);
}

static ys_status backward_weights(struct ys_lowering *low, const struct ys_node *node, struct ys_operand gradient,
                                  const ys_layout *have, const_dnnl_primitive_desc_t pd)
{
    const struct onednn *o = low->state;
    const ys_layout *stored = &o->params[node->weight].stored;
    ys_layout src = ys_layout_of(pd, DNNL_ARG_SRC), dst = ys_layout_of(pd, DNNL_ARG_DIFF_DST);
    ys_layout weight = ys_layout_of(pd, DNNL_ARG_DIFF_WEIGHTS);
    struct ys_operand target;
    bool is_stored = ys_layout_equal(&weight, stored), more_weight, more_bias = false;
    YS_TRY(ys_lower_param_share(low, node->weight, &target, &more_weight));
    struct onednn_argument arguments[4] = {
        {.id = DNNL_ARG_SRC}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_WEIGHTS, target}};
    YS_TRY(input_operand(low, node, &src, &arguments[0].operand));
    YS_TRY(ys_onednn_need(low, node->name, have, &dst, &arguments[1].operand));
    if (!is_stored) {
        arguments[2].operand = ys_at(-1);
        YS_TRY(ys_onednn_buffer(low, &weight, &arguments[2].operand.buffer));
    }
    if (node->bias >= 0) {
        arguments[3].id = DNNL_ARG_DIFF_BIAS;
        YS_TRY(ys_lower_param_share(low, node->bias, &arguments[3].operand, &more_bias));
    }
    YS_TRY(ys_onednn_append(low, node->name, pd, arguments, 3 + (node->bias >= 0)));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    if (!is_stored)
        YS_TRY(ys_onednn_append_reorder(low, node->name, &weight, arguments[2].operand, stored, target));
    YS_TRY(ys_onednn_add_param(low, node, node->weight, target, more_weight));
    YS_TRY(ys_onednn_add_param(low, node, node->bias, arguments[3].operand, more_bias));
    return ys_node_connections(node) ? append_connections(low, node) : YS_OK;
}

/** What a kernel of ours for the gradient by the weight is to know, but for the layouts. */
static struct ys_depthwise weights_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *x = &low->graph->values[node->in[0]], *y = &low->graph->values[node->out[0]];
    return (struct ys_depthwise){.threads = low->config.threads,
                                 .has_bias = node->bias >= 0,
                                 .extent = {x->shape[2], x->shape[3]},
                                 .out = {y->shape[2], y->shape[3]},
                                 .window = node->window};
}

/** The gradient by the weight of a depthwise convolution, of which the library has fast code only where the image is at
 * least as large as the kernel and its padding a multiple of the stride. Whether ours can make it. */
static bool is_depthwise(const struct ys_lowering *low, const struct ys_node *node, struct ys_depthwise *d)
{
    const struct ys_value *x = &low->graph->values[node->in[0]], *y = &low->graph->values[node->out[0]];
    const ys_layout src = ys_layout_of(ys_onednn_node(low, node)->forward, DNNL_ARG_SRC);
    const ys_layout dst = ys_layout_of(ys_onednn_node(low, node)->forward, DNNL_ARG_DST);
    *d = weights_of(low, node);
    return node->window.group == x->shape[1] && x->shape[1] == y->shape[1] && !node->connected &&
           node->window.kernel[0] * node->window.kernel[1] <= YS_DEPTHWISE_TAPS && ys_layout_image(&src, &d->x) &&
           ys_layout_image(&dst, &d->dy) && d->x.lanes == d->dy.lanes && d->x.has_padding == d->dy.has_padding;
}

/** That of a convolution of images of one channel, which the library below AVX-512 pads to eight: it computes seven
 * times for nothing. */
static bool is_narrow(const struct ys_lowering *low, const struct ys_node *node, struct ys_depthwise *d)
{
    const struct ys_value *x = &low->graph->values[node->in[0]];
    const ys_layout src = ys_layout_of(ys_onednn_node(low, node)->forward, DNNL_ARG_SRC);
    const ys_layout dst = ys_layout_of(ys_onednn_node(low, node)->forward, DNNL_ARG_DST);
    int64_t strides[YS_MAX_RANK];
    *d = weights_of(low, node);
    if (x->shape[1] != 1 || ys_level_width() == 4 || node->connected || d->window.kernel[1] > YS_DEPTHWISE_TAPS ||
        !ys_layout_strides(&src, strides) || strides[3] != 1 || strides[2] != x->shape[3] ||
        !ys_layout_image(&dst, &d->dy))
        return false;
    d->x = (struct ys_value_layout){.rows = d->dy.rows, .channels = 1, .row = strides[0], .position = 1};
    return true;
}

/** By the kernel `run`. */
static ys_status own_weights(struct ys_lowering *low, const struct ys_node *node, struct ys_operand gradient,
                             const struct ys_depthwise *d, ys_call_run run)
{
    const struct onednn *o = low->state;
    const struct onednn_param *weight = &o->params[node->weight];
    const ys_layout src = ys_layout_of(ys_onednn_node(low, node)->forward, DNNL_ARG_SRC);
    struct ys_operand operands[4] = {{0}, gradient, {0}, {0}}, target, made;
    bool more_weight, more_bias = false;
    YS_TRY(ys_lower_param_share(low, node->weight, &target, &more_weight));
    YS_TRY(input_operand(low, node, &src, &operands[0]));
    made = ys_at(-1);
    YS_TRY(ys_onednn_buffer(low, &weight->canonical, &made.buffer));
    operands[2] = made;
    if (node->bias >= 0)
        YS_TRY(ys_lower_param_share(low, node->bias, &operands[3], &more_bias));
    YS_TRY(ys_lower_call_own(low, node->name, run, d, sizeof *d, operands, 3 + (node->bias >= 0)));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    YS_TRY(ys_onednn_append_reorder(low, node->name, &weight->canonical, made, &weight->stored, target));
    YS_TRY(ys_onednn_add_param(low, node, node->weight, target, more_weight));
    return ys_onednn_add_param(low, node, node->bias, operands[3], more_bias);
}

static ys_status conv_weights(struct ys_lowering *low, const struct ys_node *node, struct ys_operand gradient,
                              const struct ys_onednn_conv *conv, const ys_layout *dst)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = ys_onednn_node(low, node);
    struct ys_onednn_conv c = *conv;
    dnnl_primitive_desc_t pd = NULL;
    struct ys_depthwise d;
    ys_status status;
    c.weight = ys_layout_cast(&c.weight, dnnl_f32);
    YS_TRY(ys_onednn_conv_backward_weights(o->engine, &c, state->forward, &pd));
    if (is_narrow(low, node, &d))
        status = own_weights(low, node, gradient, &d, ys_kernels(o->type == dnnl_bf16, d.dy.lanes)->narrow_weights);
    else if (ys_onednn_is_generic(pd) && is_depthwise(low, node, &d))
        status = own_weights(low, node, gradient, &d, ys_kernels(o->type == dnnl_bf16, d.x.lanes)->depthwise_weights);
    else
        status = backward_weights(low, node, gradient, dst, pd);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

ys_status ys_onednn_backward_conv(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = ys_onednn_node(low, node);
    dnnl_primitive_desc_t pd = NULL;
    struct ys_onednn_conv conv;
    struct ys_operand gradient;
    ys_layout bias, dst = ys_layout_of(state->forward, DNNL_ARG_DST);
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &dst, &gradient));
    YS_TRY(describe_conv(low, node, o->type, &conv, &bias));
    if (!low->only_inputs)
        YS_TRY(conv_weights(low, node, gradient, &conv, &dst));
    if (!low->value_gradient[node->in[0]])
        return YS_OK;
    YS_TRY(ys_onednn_conv_backward_data(o->engine, &conv, state->forward, &pd));
    ys_status status = backward_data(low, node, gradient, &dst, pd);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

/* Where the gradient by the input is a product with the weight in C order, and not with a blocked one. In float: from
 * so many outputs on the library's code for blocked weights takes about twice the time of its plain product, while
 * putting the weight in C order costs what some seventy lines gain (docs/engine.md). In bf16: from about 2,000 outputs
 * on that code lets several threads take some outputs each, but never adds up and writes what they have where the
 * result is a single tile, which is at most 128 lines of 64 inputs (oneDNN 2.6.3: brgemm_inner_product_bwd_data_t
 * starts one thread for one tile, and joins nothing then). */
enum { MANY_OUTPUTS = 8192, MANY_LINES = 128, UNWRITTEN_OUTPUTS = 2048, TILE_LINES = 128, TILE_INPUTS = 64 };

static bool wants_plain_weight(const struct onednn *o, int64_t lines, int64_t outputs, int64_t inputs)
{
    if (o->type == dnnl_f32)
        return outputs >= MANY_OUTPUTS && lines >= MANY_LINES;
    return outputs > UNWRITTEN_OUTPUTS && lines <= TILE_LINES && inputs <= TILE_INPUTS;
}

/** The weight as the gradient by the input is to read it. */
static ys_status describe_backward_weight(const struct ys_lowering *low, const struct ys_node *node,
                                          struct ys_onednn_gemm *gemm)
{
    const struct onednn *o = low->state;
    const struct ys_param *p = &low->graph->params[node->weight];
    const int64_t lines = (int64_t)ys_layout_elements(&gemm->dst) / p->shape[0];
    if (wants_plain_weight(o, lines, p->shape[0], p->shape[1])) {
        YS_TRY(ys_layout_plain(&gemm->weight, 2, p->shape));
        gemm->weight = ys_layout_cast(&gemm->weight, o->type);
    } else if (o->type != dnnl_f32) {
        gemm->weight = ys_layout_of(ys_onednn_node(low, node)->forward, DNNL_ARG_WEIGHTS);
    }
    return YS_OK;
}

static ys_status gemm_weights(struct ys_lowering *low, const struct ys_node *node, struct ys_operand gradient,
                              const struct ys_onednn_gemm *gemm)
{
    const struct onednn *o = low->state;
    dnnl_primitive_desc_t pd = NULL;
    YS_TRY(ys_onednn_gemm_backward_weights(o->engine, gemm, ys_onednn_node(low, node)->forward, &pd));
    ys_status status = backward_weights(low, node, gradient, &gemm->dst, pd);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

ys_status ys_onednn_backward_gemm(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = ys_onednn_node(low, node);
    dnnl_primitive_desc_t pd = NULL;
    struct ys_onednn_gemm gemm;
    struct ys_operand gradient;
    ys_layout bias;
    YS_TRY(describe_gemm(low, node, o->type, &gemm, &bias));
    gemm.dst = ys_layout_cast(&gemm.dst, o->type);
    ys_layout out;
    YS_TRY(ys_onednn_plain(low, node->out[0], &out));
    out = ys_layout_cast(&out, o->type);
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &out, &gradient));
    gemm.weight = o->params[node->weight].stored; /* large: never to be put in another order each step */
    if (!low->only_inputs)
        YS_TRY(gemm_weights(low, node, gradient, &gemm));
    if (!low->value_gradient[state->source])
        return YS_OK;
    YS_TRY(describe_backward_weight(low, node, &gemm));
    YS_TRY(ys_onednn_gemm_backward_data(o->engine, &gemm, state->forward, &pd));
    ys_status status = backward_data(low, node, gradient, &gemm.dst, pd);
    dnnl_primitive_desc_destroy(pd);
    return status;
}
