#include "backend/onednn/onednn_state.h"
#include "backend/plain/simd.h"

#include "backend/dropout.h"
#include "graph/op.h"
#include <string.h>

ys_status ys_onednn_decide_plain(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(ys_onednn_decide_value(low, node->in[0]));
    for (size_t k = 1; k < node->in_count; k++)
        YS_TRY(ys_onednn_decide_value(low, node->in[k]));
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    ys_onednn_set_layout(low, node->out[0], &plain);
    return YS_OK;
}

ys_status ys_onednn_decide_same(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    YS_TRY(ys_onednn_decide_value(low, node->in[0]));
    ys_layout layout = ys_layout_cast(&o->values[node->in[0]].layout, dnnl_f32);
    ys_onednn_set_layout(low, node->out[0], &layout);
    return YS_OK;
}

/* ---- LRN, softmax, functions of one element: operations of the library on one value, in float */

/** Of the result, in which the operation works. */
static const ys_layout *layout_of(const struct ys_lowering *low, const struct ys_node *node)
{
    return &((const struct onednn *)low->state)->values[node->out[0]].layout;
}

static dnnl_engine_t engine_of(const struct ys_lowering *low)
{
    return ((const struct onednn *)low->state)->engine;
}

ys_status ys_onednn_describe_lrn(const struct ys_lowering *low, const struct ys_node *node, dnnl_primitive_desc_t *pd)
{
    if (node->lrn.size % 2 == 0) /* the library leaves the last channel of the window out */
        return ys_fail(YS_EUNSUPPORTED,
                       "the back end onednn has no LRN over an even number of channels; " YS_ONEDNN_REMEDY);
    return ys_onednn_lrn_forward(engine_of(low), layout_of(low, node), &node->lrn, low->config.training, pd);
}

ys_status ys_onednn_describe_lrn_backward(const struct ys_lowering *low, const struct ys_node *node,
                                          const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    return ys_onednn_lrn_backward(engine_of(low), layout_of(low, node), &node->lrn, forward, pd);
}

ys_status ys_onednn_describe_softmax(const struct ys_lowering *low, const struct ys_node *node,
                                     dnnl_primitive_desc_t *pd)
{
    bool logarithm = node->op == YS_OP_LOG_SOFTMAX;
    return ys_onednn_softmax_forward(engine_of(low), layout_of(low, node), logarithm, node->axis, pd);
}

ys_status ys_onednn_describe_softmax_backward(const struct ys_lowering *low, const struct ys_node *node,
                                              const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    bool logarithm = node->op == YS_OP_LOG_SOFTMAX;
    return ys_onednn_softmax_backward(engine_of(low), layout_of(low, node), logarithm, node->axis, forward, pd);
}

static struct ys_onednn_eltwise eltwise_of(const struct ys_node *node, dnnl_alg_kind_t kind)
{
    struct ys_onednn_eltwise e = {.kind = kind};
    if (node->op == YS_OP_LEAKY_RELU || node->op == YS_OP_ELU) {
        e.alpha = (float)node->slope;
    } else if (node->op == YS_OP_GELU && node->by_tanh) {
        e.kind = dnnl_eltwise_gelu_tanh;
    } else if (node->op == YS_OP_SWISH || node->op == YS_OP_SOFTPLUS) {
        e.alpha = 1; /* a factor of x inside */
    } else if (node->op == YS_OP_POW) {
        e.alpha = 1; /* a factor of the power */
        e.beta = (float)node->exponent;
    }
    return e;
}

ys_status ys_onednn_describe_eltwise(const struct ys_lowering *low, const struct ys_node *node,
                                     dnnl_primitive_desc_t *pd)
{
    const struct ys_onednn_eltwise eltwise = eltwise_of(node, ys_onednn_operator(node->op)->eltwise);
    return ys_onednn_eltwise_forward(engine_of(low), layout_of(low, node), &eltwise, pd);
}

ys_status ys_onednn_describe_eltwise_backward(const struct ys_lowering *low, const struct ys_node *node,
                                              const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    const struct ys_onednn_eltwise eltwise = eltwise_of(node, ys_onednn_operator(node->op)->eltwise_backward);
    return ys_onednn_eltwise_backward(engine_of(low), layout_of(low, node), &eltwise, forward, pd);
}

ys_status ys_onednn_forward_unary(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_node *state = ys_onednn_node(low, node);
    struct onednn_argument arguments[3] = {{.id = DNNL_ARG_SRC}, {.id = DNNL_ARG_DST}, {.id = DNNL_ARG_WORKSPACE}};
    size_t count = 2;
    YS_TRY(ys_onednn_operator(node->op)->describe(low, node, &state->forward));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &o->values[node->out[0]].layout, &arguments[0].operand));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    arguments[1].operand = ys_at(low->value[node->out[0]]);
    state->source = arguments[0].operand.buffer;
    if (node->op == YS_OP_LRN && low->config.training) {
        ys_layout workspace = ys_layout_of(state->forward, DNNL_ARG_WORKSPACE);
        if (ys_layout_bytes(&workspace) > 0) {
            YS_TRY(ys_onednn_buffer(low, &workspace, &state->workspace));
            arguments[count++].operand = ys_at(state->workspace);
        }
    }
    return ys_onednn_append(low, node->name, state->forward, arguments, count);
}

ys_status ys_onednn_backward_unary(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = ys_onednn_node(low, node);
    const ys_layout *layout = &o->values[node->out[0]].layout;
    bool reads_x = ys_op_rule(node->op)->reads_x;
    struct onednn_argument arguments[4] = {{.id = reads_x ? DNNL_ARG_SRC : DNNL_ARG_DST},
                                           {.id = DNNL_ARG_DIFF_DST},
                                           {.id = DNNL_ARG_DIFF_SRC},
                                           {DNNL_ARG_WORKSPACE, ys_at(state->workspace)}};
    dnnl_primitive_desc_t pd = NULL;
    arguments[0].operand = ys_at(reads_x ? state->source : low->value[node->out[0]]);
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], layout, &arguments[1].operand));
    YS_TRY(ys_onednn_buffer(low, layout, &arguments[2].operand.buffer));
    YS_TRY(ys_onednn_operator(node->op)->describe_backward(low, node, state->forward, &pd));
    ys_status status = ys_onednn_append(low, node->name, pd, arguments, 3 + (state->workspace >= 0));
    dnnl_primitive_desc_destroy(pd);
    return status == YS_OK ? ys_onednn_give(low, node->name, node->in[0], layout, arguments[2].operand) : status;
}

/* ---- product, element by element */

static ys_status append_multiply(struct ys_lowering *low, const struct ys_node *node, struct ys_operand a,
                                 struct ys_operand b, struct ys_operand y)
{
    const struct onednn *o = low->state;
    struct ys_elements c = {low->config.threads, ys_layout_elements(&o->values[node->out[0]].layout)};
    return ys_lower_call_own(low, node->name, ys_kernels(false, YS_LANES)->multiply, &c, sizeof c,
                             (struct ys_operand[]){a, b, y}, 3);
}

ys_status ys_onednn_forward_multiply(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const ys_layout *layout = &o->values[node->out[0]].layout;
    struct ys_operand a, b;
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], layout, &a));
    YS_TRY(ys_onednn_value(low, node->name, node->in[1], layout, &b));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    return append_multiply(low, node, a, b, ys_at(low->value[node->out[0]]));
}

ys_status ys_onednn_backward_multiply(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const ys_layout *layout = &o->values[node->out[0]].layout;
    struct ys_operand dy, other, dx = {0};
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], layout, &dy));
    for (int k = 0; k < 2; k++) {
        if (!low->value_gradient[node->in[k]])
            continue;
        YS_TRY(ys_onednn_value(low, node->name, node->in[1 - k], layout, &other));
        YS_TRY(ys_onednn_buffer(low, layout, &dx.buffer));
        YS_TRY(append_multiply(low, node, dy, other, dx));
        YS_TRY(ys_onednn_give(low, node->name, node->in[k], layout, dx));
    }
    return YS_OK;
}

/* ---- functions of one element that the library has not, by yardstick's own kernels: in C order, because some make of
 * 0 something else */

static ys_status append_function(struct ys_lowering *low, const struct ys_node *node, bool backward,
                                 const struct ys_operand *operands, size_t count)
{
    const struct ys_ref_op *kernels = ys_simd_kernels()->op[node->op];
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    const struct ys_ref_context c = {.node = node, .low = low, .count = ys_layout_elements(&plain)};
    return ys_lower_call_own(low, node->name, backward ? kernels->backward : kernels->forward, &c, sizeof c, operands,
                             count);
}

ys_status ys_onednn_forward_function(struct ys_lowering *low, const struct ys_node *node)
{
    ys_layout plain;
    struct ys_operand x;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &x));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    return append_function(low, node, false, (struct ys_operand[]){x, ys_at(low->value[node->out[0]])}, 2);
}

/* Of such as read x. */
ys_status ys_onednn_backward_function(struct ys_lowering *low, const struct ys_node *node)
{
    ys_layout plain;
    struct ys_operand x, dy, dx = {0};
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &x));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &dy));
    YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
    YS_TRY(append_function(low, node, true, (struct ys_operand[]){x, dy, dx}, 3));
    return ys_onednn_give(low, node->name, node->in[0], &plain, dx);
}

/* ---- mean */

static void describe_mean(const struct ys_lowering *low, const struct ys_node *node, struct ys_onednn_mean *c)
{
    int64_t stride = 1;
    *c = (struct ys_onednn_mean){.count = 1, .share = 1};
    c->rank = ys_onednn_dims(low, node->in[0], c->dims);
    for (size_t i = c->rank; i-- > 0;) {
        c->stride[i] = node->reduced[i] ? 0 : stride;
        stride *= node->reduced[i] ? 1 : c->dims[i];
        c->share *= node->reduced[i] ? (double)c->dims[i] : 1;
        c->count *= c->dims[i];
    }
    c->results = stride;
    c->share = 1 / c->share;
}

ys_status ys_onednn_forward_mean(struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_onednn_mean c;
    ys_layout plain;
    struct ys_operand x;
    describe_mean(low, node, &c);
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &x));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    return ys_lower_call_own(low, node->name, ys_onednn_mean_run, &c, sizeof c,
                             (struct ys_operand[]){x, ys_at(low->value[node->out[0]])}, 2);
}

ys_status ys_onednn_backward_mean(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    struct ys_onednn_mean c;
    ys_layout plain;
    struct ys_operand dy, dx = {0};
    describe_mean(low, node, &c);
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &o->values[node->out[0]].layout, &dy));
    YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
    YS_TRY(ys_lower_call_own(low, node->name, ys_onednn_spread_run, &c, sizeof c, (struct ys_operand[]){dy, dx}, 2));
    return ys_onednn_give(low, node->name, node->in[0], &plain, dx);
}

/* ---- dropout: in C order, so that the mask does not depend on layouts */

ys_status ys_onednn_forward_dropout(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn_node *state = ys_onednn_node(low, node);
    struct ys_onednn_dropout c = {.mode = low->config.training ? low->mode : NULL, .step = low->step};
    ys_layout plain;
    struct ys_operand x;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    c.count = ys_layout_elements(&plain);
    c.scale = (float)(1 / (1 - node->ratio));
    ys_dropout_init(&c.mask, low->config.seed, node->name, node->ratio);
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &x));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    YS_TRY(ys_program_buffer(low->program, c.count, false, &state->workspace));
    return ys_lower_call_own(low, node->name, ys_onednn_dropout_run, &c, sizeof c,
                             (struct ys_operand[]){x, ys_at(low->value[node->out[0]]), ys_at(state->workspace)}, 3);
}

ys_status ys_onednn_backward_dropout(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn_node *state = ys_onednn_node(low, node);
    struct ys_onednn_dropout c = {.mode = low->mode, .scale = (float)(1 / (1 - node->ratio))};
    ys_layout plain;
    struct ys_operand dy, dx = {0};
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    c.count = ys_layout_elements(&plain);
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &dy));
    YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
    YS_TRY(ys_lower_call_own(low, node->name, ys_onednn_dropout_backward_run, &c, sizeof c,
                             (struct ys_operand[]){dy, dx, ys_at(state->workspace)}, 3));
    return ys_onednn_give(low, node->name, node->in[0], &plain, dx);
}

/* ---- loss, update */

ys_status ys_onednn_loss(struct ys_lowering *low)
{
    struct onednn *o = low->state;
    int output = low->graph->output;
    struct ys_onednn_loss c = {.threads = low->config.threads,
                               .rows = low->targets,
                               .classes = low->classes,
                               .kind = low->graph->loss,
                               .smoothing = low->graph->label_smoothing,
                               .has_numbers = low->graph->target == YS_TARGET_VECTOR,
                               .with_gradient = low->config.training};
    struct ys_operand operands[5] = {ys_at(low->logits), ys_at(low->labels), ys_at(low->loss)};
    YS_TRY(ys_program_buffer(low->program, (size_t)(c.rows + 1) * sizeof(double), false, &operands[3].buffer));
    if (c.with_gradient) {
        YS_TRY(ys_onednn_plain(low, output, &o->values[output].gradient));
        YS_TRY(ys_onednn_buffer(low, &o->values[output].gradient, &low->gradient[output]));
        operands[4] = ys_at(low->gradient[output]);
    }
    return ys_lower_call_own(low, "loss", ys_onednn_loss_run, &c, sizeof c, operands, 4 + c.with_gradient);
}

ys_status ys_onednn_update(struct ys_lowering *low)
{
    struct ys_update c = {low->config.threads, low};
    struct ys_operand operands[4] = {ys_at(low->weights), ys_at(low->gradients)};
    size_t count = 2;
    if (low->state1 >= 0)
        operands[count++] = ys_at(low->state1);
    if (low->state2 >= 0)
        operands[count++] = ys_at(low->state2);
    YS_TRY(ys_lower_call_own(low, "update", ys_kernel_update(), &c, sizeof c, operands, count));
    return ys_onednn_update_running(low);
}
