/* Transposed convolution: the gradient by its input of the convolution that would make x of y, which the library has;
 * its weight is kept in C order, y in C order and float, so that a bias can be added. */
#include "backend/onednn/onednn_state.h"

#include <string.h>

/** That convolution, whose source is y and whose result is x. */
static ys_status describe(const struct ys_lowering *low, const struct ys_node *node, struct ys_onednn_conv *conv)
{
    const struct onednn *o = low->state;
    const struct ys_param *p = &low->graph->params[node->weight];
    const int64_t group = node->window.group;
    const int64_t grouped[] = {group, p->shape[0] / group, p->shape[1], p->shape[2], p->shape[3]};
    int64_t dims[YS_MAX_RANK];
    *conv = (struct ys_onednn_conv){.window = &node->window};
    YS_TRY(ys_layout_any(&conv->src, ys_onednn_dims(low, node->out[0], dims), dims, o->type));
    YS_TRY(ys_layout_any(&conv->dst, ys_onednn_dims(low, node->in[0], dims), dims, o->type));
    return group > 1 ? ys_layout_any(&conv->weight, 5, grouped, o->type)
                     : ys_layout_any(&conv->weight, 4, p->shape, o->type);
}

ys_status ys_onednn_decide_transposed(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_param *weight = &o->params[node->weight];
    const struct ys_param *p = &low->graph->params[node->weight];
    struct ys_onednn_conv conv;
    if (weight->is_shared && node->window.group > 1)
        return ys_fail(YS_EUNSUPPORTED,
                       "the back end onednn shares no weight of a convolution in groups; " YS_ONEDNN_REMEDY);
    YS_TRY(describe(low, node, &conv));
    YS_TRY(ys_onednn_conv_forward(o->engine, &conv, true, false, &ys_onednn_node(low, node)->forward));
    if (node->window.group > 1) {
        int64_t dims[YS_MAX_RANK + 1] = {node->window.group, p->shape[0] / node->window.group};
        memcpy(dims + 2, p->shape + 1, (p->rank - 1) * sizeof *dims);
        YS_TRY(ys_layout_plain(&weight->canonical, p->rank + 1, dims));
        weight->stored = weight->canonical;
    }
    return ys_onednn_decide_plain(low, node);
}

struct channels {
    int64_t rows, channels, area;
};

static struct channels channels_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const int64_t *shape = low->graph->values[node->out[0]].shape;
    return (struct channels){low->config.batch, shape[1], shape[2] * shape[3]};
}

/** bias, y */
static ys_status add_bias_run(void *context, void *const *operand)
{
    const struct channels *c = context;
    const float *bias = operand[0];
    float *y = operand[1];
    for (int64_t plane = 0; plane < c->rows * c->channels; plane++)
        for (int64_t i = 0; i < c->area; i++)
            y[plane * c->area + i] += bias[plane % c->channels];
    return YS_OK;
}

/** dy, dbias */
static ys_status sum_bias_run(void *context, void *const *operand)
{
    const struct channels *c = context;
    const float *dy = operand[0];
    float *dbias = operand[1];
    memset(dbias, 0, (size_t)c->channels * sizeof *dbias);
    for (int64_t plane = 0; plane < c->rows * c->channels; plane++) {
        float sum = 0;
        for (int64_t i = 0; i < c->area; i++)
            sum += dy[plane * c->area + i];
        dbias[plane % c->channels] += sum;
    }
    return YS_OK;
}

/** The weight laid out as an operation wants it. */
static ys_status weight_of(struct ys_lowering *low, const struct ys_node *node, const ys_layout *want,
                           struct ys_operand *operand)
{
    const struct onednn *o = low->state;
    *operand = ys_onednn_param(low, low->weights, node->weight);
    return ys_onednn_need(low, node->name, &o->params[node->weight].stored, want, operand);
}

/** y of x by the library's operation, in C order. */
static ys_status make_output(struct ys_lowering *low, const struct ys_node *node, const_dnnl_primitive_desc_t pd)
{
    const struct onednn *o = low->state;
    const ys_layout src = ys_layout_of(pd, DNNL_ARG_DIFF_SRC), dst = ys_layout_of(pd, DNNL_ARG_DIFF_DST);
    const ys_layout weight = ys_layout_of(pd, DNNL_ARG_WEIGHTS);
    struct onednn_argument arguments[3] = {
        {.id = DNNL_ARG_WEIGHTS}, {.id = DNNL_ARG_DIFF_DST}, {.id = DNNL_ARG_DIFF_SRC}};
    YS_TRY(weight_of(low, node, &weight, &arguments[0].operand));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &dst, &arguments[1].operand));
    YS_TRY(ys_onednn_buffer(low, &src, &arguments[2].operand.buffer));
    YS_TRY(ys_onednn_append(low, node->name, pd, arguments, 3));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    YS_TRY(ys_onednn_output(low, node->out[0]));
    return ys_onednn_append_reorder(low, node->name, &src, arguments[2].operand, &o->values[node->out[0]].layout,
                                    ys_at(low->value[node->out[0]]));
}

ys_status ys_onednn_forward_transposed(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const struct channels c = channels_of(low, node);
    dnnl_primitive_desc_t pd = NULL;
    struct ys_onednn_conv conv;
    YS_TRY(describe(low, node, &conv));
    YS_TRY(ys_onednn_conv_backward_data(o->engine, &conv, ys_onednn_node(low, node)->forward, &pd));
    ys_status status = make_output(low, node, pd);
    dnnl_primitive_desc_destroy(pd);
    if (status != YS_OK || node->bias < 0)
        return status;
    return ys_lower_call_own(
        low, node->name, add_bias_run, &c, sizeof c,
        (struct ys_operand[]){ys_onednn_param(low, low->weights, node->bias), ys_at(low->value[node->out[0]])}, 2);
}

static ys_status backward_bias(struct ys_lowering *low, const struct ys_node *node)
{
    const struct channels c = channels_of(low, node);
    ys_layout plain;
    struct ys_operand operands[2];
    bool is_more;
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[0]));
    YS_TRY(ys_lower_param_share(low, node->bias, &operands[1], &is_more));
    YS_TRY(ys_lower_call_own(low, node->name, sum_bias_run, &c, sizeof c, operands, 2));
    return ys_onednn_add_param(low, node, node->bias, operands[1], is_more);
}

static ys_status backward_weights(struct ys_lowering *low, const struct ys_node *node, const_dnnl_primitive_desc_t pd)
{
    const struct onednn *o = low->state;
    const ys_layout *stored = &o->params[node->weight].stored;
    const ys_layout src = ys_layout_of(pd, DNNL_ARG_SRC), dst = ys_layout_of(pd, DNNL_ARG_DIFF_DST);
    const ys_layout weight = ys_layout_of(pd, DNNL_ARG_DIFF_WEIGHTS);
    struct onednn_argument arguments[3] = {
        {.id = DNNL_ARG_SRC}, {.id = DNNL_ARG_DIFF_DST}, {.id = DNNL_ARG_DIFF_WEIGHTS}};
    struct ys_operand target;
    bool is_more;
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &src, &arguments[0].operand));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &dst, &arguments[1].operand));
    YS_TRY(ys_onednn_buffer(low, &weight, &arguments[2].operand.buffer));
    YS_TRY(ys_onednn_append(low, node->name, pd, arguments, 3));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    YS_TRY(ys_lower_param_share(low, node->weight, &target, &is_more));
    YS_TRY(ys_onednn_append_reorder(low, node->name, &weight, arguments[2].operand, stored, target));
    return ys_onednn_add_param(low, node, node->weight, target, is_more);
}

static ys_status backward_data(struct ys_lowering *low, const struct ys_node *node)
{
    const_dnnl_primitive_desc_t pd = ys_onednn_node(low, node)->forward;
    const ys_layout src = ys_layout_of(pd, DNNL_ARG_SRC), dst = ys_layout_of(pd, DNNL_ARG_DST);
    const ys_layout weight = ys_layout_of(pd, DNNL_ARG_WEIGHTS);
    struct onednn_argument arguments[3] = {{.id = DNNL_ARG_SRC}, {.id = DNNL_ARG_WEIGHTS}, {.id = DNNL_ARG_DST}};
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &src, &arguments[0].operand));
    YS_TRY(weight_of(low, node, &weight, &arguments[1].operand));
    YS_TRY(ys_onednn_buffer(low, &dst, &arguments[2].operand.buffer));
    YS_TRY(ys_onednn_append(low, node->name, pd, arguments, 3));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return ys_onednn_give(low, node->name, node->in[0], &dst, arguments[2].operand);
}

ys_status ys_onednn_backward_transposed(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    dnnl_primitive_desc_t pd = NULL;
    struct ys_onednn_conv conv;
    if (low->only_inputs)
        return low->value_gradient[node->in[0]] ? backward_data(low, node) : YS_OK;
    if (node->bias >= 0)
        YS_TRY(backward_bias(low, node));
    YS_TRY(describe(low, node, &conv));
    conv.weight = ys_layout_cast(&conv.weight, dnnl_f32);
    YS_TRY(ys_onednn_conv_backward_weights(o->engine, &conv, ys_onednn_node(low, node)->forward, &pd));
    ys_status status = backward_weights(low, node, pd);
    dnnl_primitive_desc_destroy(pd);
    return status == YS_OK && low->value_gradient[node->in[0]] ? backward_data(low, node) : status;
}
