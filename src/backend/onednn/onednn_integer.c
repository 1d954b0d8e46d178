/* Convolutions and matrix products of quantised networks by the library's own for bytes. A convolution of kind static
 * writes the bytes of its result; all others write sums, which are turned into bytes or numbers as those of plain loops
 * are (backend/integer/integer_lower.c): the library's matrix products know of no zero points, and of kind dynamic
 * these are not known before. There a border of zero points stands around the image, and no padding is left. */
#include "backend/onednn/onednn_state.h"

#include "base/mem.h"
#include <string.h>

static bool is_product(const struct ys_node *node)
{
    return node->op == YS_OP_CONV || node->op == YS_OP_GEMM;
}

static bool makes_bytes(const struct ys_lowering *low, const struct ys_node *node)
{
    return node->op == YS_OP_CONV && low->scales->rule.kind == YS_QUANT_STATIC;
}

enum ys_integer_own ys_onednn_integer_own(const struct ys_lowering *low, const struct ys_node *node)
{
    if (!ys_onednn_node(low, node)->forward)
        return YS_INTEGER_NONE;
    return makes_bytes(low, node) ? YS_INTEGER_BYTES : YS_INTEGER_SUMS;
}

/** The weight's dimensions, with the groups in front where there are several. */
static size_t weight_dims(const struct ys_lowering *low, const struct ys_node *node, int64_t dims[YS_MAX_RANK])
{
    const struct ys_param *p = &low->graph->params[node->weight];
    if (node->op != YS_OP_CONV || node->window.group == 1) {
        memcpy(dims, p->shape, p->rank * sizeof *dims);
        return p->rank;
    }
    dims[0] = node->window.group;
    dims[1] = p->shape[0] / node->window.group;
    memcpy(dims + 2, p->shape + 1, (p->rank - 1) * sizeof *dims);
    return p->rank + 1;
}

/** Everything but what is done to the sums. `window`: where that of the operation is kept. */
static ys_status describe_sums(const struct ys_lowering *low, const struct ys_node *node,
                               struct ys_onednn_integer *integer, struct ys_window *window)
{
    int64_t dims[YS_MAX_RANK];
    size_t rank = ys_onednn_dims(low, node->in[0], dims);
    if (node->op == YS_OP_CONV) {
        *window = node->window;
        integer->window = window;
    }
    if (node->op == YS_OP_CONV && !makes_bytes(low, node)) {
        dims[2] += window->pad[0] + window->pad[2];
        dims[3] += window->pad[1] + window->pad[3];
        memset(window->pad, 0, sizeof window->pad);
    }
    YS_TRY(ys_layout_channels_last(&integer->src, rank, dims, dnnl_u8));
    rank = ys_onednn_dims(low, node->out[0], dims);
    YS_TRY(ys_layout_channels_last(&integer->dst, rank, dims, makes_bytes(low, node) ? dnnl_u8 : dnnl_s32));
    rank = weight_dims(low, node, dims);
    return ys_layout_any(&integer->weight, rank, dims, dnnl_s8);
}

/** The library has for some products nothing but a loop that is slower than ours. */
static bool is_plain_loop(const_dnnl_primitive_desc_t pd)
{
    const char *how = "";
    (void)dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &how);
    return strncmp(how, "ref", 3) == 0;
}

static ys_status create(struct ys_lowering *low, const struct ys_node *node, const struct ys_onednn_integer *integer)
{
    const struct onednn *o = low->state;
    struct onednn_node *state = ys_onednn_node(low, node);
    const ys_status status = ys_onednn_integer(o->engine, integer, &state->forward);
    if (status == YS_EUNSUPPORTED)
        state->forward = NULL;
    else if (status != YS_OK)
        return status;
    if (state->forward && is_plain_loop(state->forward)) {
        dnnl_primitive_desc_destroy(state->forward);
        state->forward = NULL;
    }
    return YS_OK;
}

ys_status ys_onednn_decide_integer(struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_onednn_integer integer = {.bias = NULL};
    struct ys_window window;
    ys_layout bias;
    if (!is_product(node))
        return YS_OK;
    YS_TRY(describe_sums(low, node, &integer, &window));
    if (!makes_bytes(low, node))
        return create(low, node, &integer);
    const struct ys_integer_ends ends = ys_integer_ends(low, node);
    integer.channels = low->graph->params[node->weight].shape[0];
    if (node->bias >= 0) {
        YS_TRY(ys_layout_plain(&bias, 1, &integer.channels));
        bias = ys_layout_cast(&bias, dnnl_s32);
        integer.bias = &bias;
    }
    float *factor = ys_alloc((size_t)integer.channels, sizeof *factor);
    if (!factor)
        return ys_out_of_memory();
    for (int64_t c = 0; c < integer.channels; c++)
        factor[c] = (float)ys_integer_factor(low, node, c);
    integer.factor = factor;
    integer.in_zero = (int)ys_integer_scale(low, node->in[0])->zero_point;
    integer.out_zero = ends.zero;
    integer.clips = ends.low > 0 || ends.high < UINT8_MAX;
    integer.low = (float)(ends.low - ends.zero);
    integer.high = (float)(ends.high - ends.zero);
    const ys_status status = create(low, node, &integer);
    ys_free(factor);
    return status;
}

ys_status ys_onednn_forward_integer(struct ys_lowering *low, const struct ys_node *node, int sums)
{
    const dnnl_primitive_desc_t pd = ys_onednn_node(low, node)->forward;
    const int result = sums < 0 ? low->integer[ys_quant_result(low->graph, &low->quant, node)] : sums;
    struct ys_operand weight = ys_onednn_param(low, low->weights, node->weight);
    weight.offset_bytes += ys_integer_sums_bytes(low, node);
    struct onednn_argument arguments[4] = {
        {DNNL_ARG_SRC, ys_at(low->integer[node->in[0]])}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, ys_at(result)}};
    const bool has_bias = makes_bytes(low, node) && node->bias >= 0;
    if (has_bias)
        arguments[3] = (struct onednn_argument){DNNL_ARG_BIAS, ys_onednn_param(low, low->weights, node->bias)};
    YS_TRY(ys_onednn_append(low, node->name, pd, arguments, 3 + has_bias));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

size_t ys_onednn_integer_bytes(const struct ys_lowering *low, size_t param)
{
    const struct ys_node *node = ys_integer_product_of(low, param);
    const dnnl_primitive_desc_t pd = ys_onednn_node(low, node)->forward;
    if (node->bias == (int)param || !pd)
        return (size_t)ys_param_elements(&low->graph->params[param]);
    const ys_layout packed = ys_layout_of(pd, DNNL_ARG_WEIGHTS);
    return ys_layout_bytes(&packed);
}

ys_status ys_onednn_integer_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat)
{
    const struct ys_node *node = ys_integer_product_of(low, param);
    const dnnl_primitive_desc_t pd = ys_onednn_node(low, node)->forward;
    int64_t dims[YS_MAX_RANK];
    ys_layout plain;
    if (node->bias == (int)param || !pd)
        return ys_integer_store(low, param, canonical, flat);
    int8_t *integers = ys_alloc((size_t)ys_param_elements(&low->graph->params[param]), 1);
    if (!integers)
        return ys_out_of_memory();
    ys_integer_weight(low, node, canonical, integers, flat);
    const ys_layout packed = ys_layout_of(pd, DNNL_ARG_WEIGHTS);
    ys_status status = ys_layout_plain(&plain, weight_dims(low, node, dims), dims);
    plain = ys_layout_cast(&plain, dnnl_s8);
    if (status == YS_OK)
        status = ys_onednn_change_layout(low->state, &plain, integers, &packed,
                                         (char *)flat + ys_integer_sums_bytes(low, node));
    ys_free(integers);
    return status;
}
