#include "backend/onednn/onednn_state.h"

/** The window that reaches as far as the results ask: what ceil adds is padding to the library. */
static ys_status describe_pool(const struct ys_lowering *low, const struct ys_node *node, struct ys_onednn_pool *pool)
{
    const struct ys_value *in = &low->graph->values[node->in[0]], *out = &low->graph->values[node->out[0]];
    struct ys_window *w = &pool->window;
    bool is_global = node->op == YS_OP_GLOBAL_AVERAGEPOOL || node->op == YS_OP_GLOBAL_MAXPOOL;
    const struct ys_window whole = {
        .kernel = {in->shape[2], in->shape[3]}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};
    *w = is_global ? whole : node->window;
    pool->average = node->op == YS_OP_AVERAGEPOOL || node->op == YS_OP_GLOBAL_AVERAGEPOOL;
    bool is_padded = w->pad[0] || w->pad[1] || w->pad[2] || w->pad[3];
    for (int d = 0; d < 2; d++) {
        int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
        int64_t after = (out->shape[2 + d] - 1) * w->stride[d] + reach - in->shape[2 + d] - w->pad[d];
        if (after <= w->pad[d + 2])
            continue;
        if (pool->average && w->include_pad && is_padded)
            return ys_fail(YS_EUNSUPPORTED, "the back end onednn has no average pool that counts padding and ends "
                                            "beyond it (ceil_mode); " YS_ONEDNN_REMEDY);
        w->pad[d + 2] = after;
    }
    w->include_pad = w->include_pad && is_padded;
    return YS_OK;
}

/** Whether a kernel of ours does it: the library's for maxima takes several times what memory would, at AVX2 most of
 * all (docs/engine.md). */
static bool is_ours(const struct ys_lowering *low, const struct ys_node *node, struct ys_maxpool *p)
{
    const struct onednn *o = low->state;
    const struct ys_value *x = &low->graph->values[node->in[0]], *y = &low->graph->values[node->out[0]];
    *p = (struct ys_maxpool){.threads = low->config.threads,
                             .extent = {x->shape[2], x->shape[3]},
                             .out = {y->shape[2], y->shape[3]},
                             .window = node->window,
                             .has_winners = low->config.training};
    return node->op == YS_OP_MAXPOOL && node->window.kernel[0] * node->window.kernel[1] <= YS_MAXPOOL_TAPS &&
           ys_layout_image(&o->values[node->in[0]].layout, &p->x) &&
           ys_layout_image(&o->values[node->out[0]].layout, &p->y);
}

ys_status ys_onednn_decide_pool(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_node *state = ys_onednn_node(low, node);
    struct ys_onednn_pool pool;
    int64_t dims[YS_MAX_RANK];
    YS_TRY(ys_onednn_decide_value(low, node->in[0]));
    YS_TRY(describe_pool(low, node, &pool));
    pool.src = o->values[node->in[0]].layout;
    ys_onednn_dims(low, node->out[0], dims);
    YS_TRY(ys_layout_like(&pool.dst, &pool.src, dims));
    ys_onednn_set_layout(low, node->out[0], &pool.dst);
    struct ys_maxpool own;
    return is_ours(low, node, &own) ? YS_OK
                                    : ys_onednn_pool_forward(o->engine, &pool, low->config.training, &state->forward);
}

static bool has_workspace(const struct ys_lowering *low, const struct ys_node *node)
{
    return low->config.training && (node->op == YS_OP_MAXPOOL || node->op == YS_OP_GLOBAL_MAXPOOL);
}

static const struct ys_kernels *kernels(const ys_layout *layout, const struct ys_maxpool *own)
{
    return ys_kernels(ys_layout_is_bf16(layout), own->x.lanes);
}

static ys_status forward_own(struct ys_lowering *low, const struct ys_node *node, const struct ys_maxpool *own)
{
    const struct onednn *o = low->state;
    struct onednn_node *state = ys_onednn_node(low, node);
    const ys_layout *src = &o->values[node->in[0]].layout, *dst = &o->values[node->out[0]].layout;
    struct ys_operand operands[3];
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], src, &operands[0]));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[1] = ys_at(low->value[node->out[0]]);
    if (own->has_winners)
        YS_TRY(ys_program_buffer(low->program, ys_layout_elements(dst), false, &state->workspace));
    operands[2] = ys_at(state->workspace);
    return ys_lower_call_own(low, node->name, kernels(src, own)->maxpool, own, sizeof *own, operands,
                             2 + own->has_winners);
}

ys_status ys_onednn_forward_pool(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn_node *state = ys_onednn_node(low, node);
    struct onednn_argument arguments[3] = {{.id = DNNL_ARG_SRC}, {.id = DNNL_ARG_DST}, {.id = DNNL_ARG_WORKSPACE}};
    struct ys_maxpool own;
    if (is_ours(low, node, &own))
        return forward_own(low, node, &own);
    ys_layout src = ys_layout_of(state->forward, DNNL_ARG_SRC);
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &src, &arguments[0].operand));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    arguments[1].operand = ys_at(low->value[node->out[0]]);
    if (has_workspace(low, node)) {
        ys_layout workspace = ys_layout_of(state->forward, DNNL_ARG_WORKSPACE);
        YS_TRY(ys_onednn_buffer(low, &workspace, &state->workspace));
        arguments[2].operand = ys_at(state->workspace);
    }
    return ys_onednn_append(low, node->name, state->forward, arguments, 2 + has_workspace(low, node));
}

/** The activation whose result alone the pool reads, if its gradient may be masked behind the pool: the largest of
 * values that ReLU left is zero only where nothing was above zero, and there is less of it. */
static struct onednn_tail *maskable(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int in = node->in[0], producer = low->graph->values[in].producer;
    if (node->op != YS_OP_MAXPOOL || producer < 0 || o->nodes[producer].tail < 0 || low->value_reads[in] != 1)
        return NULL;
    struct onednn_tail *tail = &o->tails[o->nodes[producer].tail];
    return tail->in_producer ? tail : NULL;
}

static ys_status backward_library(struct ys_lowering *low, const struct ys_node *node,
                                  const struct ys_onednn_pool *pool, struct ys_operand dy, struct ys_operand dx)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = ys_onednn_node(low, node);
    const struct onednn_argument arguments[3] = {
        {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}, {DNNL_ARG_WORKSPACE, ys_at(state->workspace)}};
    dnnl_primitive_desc_t pd = NULL;
    YS_TRY(ys_onednn_pool_backward(o->engine, pool, state->forward, &pd));
    ys_status status = ys_onednn_append(low, node->name, pd, arguments, 2 + has_workspace(low, node));
    dnnl_primitive_desc_destroy(pd);
    return status;
}

static ys_status append_mask(struct ys_lowering *low, const struct ys_node *node, const ys_layout *layout,
                             const struct onednn_tail *like, struct ys_operand *gradient)
{
    struct ys_tail kernel = like->kernel;
    struct ys_operand operands[3] = {*gradient, {0}, *gradient};
    struct ys_value_layout flat;
    YS_TRY(ys_onednn_value(low, node->name, node->out[0], layout, &operands[1]));
    ys_onednn_flat_image(ys_layout_elements(layout), &flat);
    kernel.image = flat;
    if (ys_lower_gradient_holders(low, gradient->buffer) > 1)
        YS_TRY(ys_onednn_buffer(low, layout, &operands[2].buffer));
    *gradient = operands[2];
    return ys_lower_call_own(low, node->name, ys_kernels(ys_layout_is_bf16(layout), YS_LANES)->tail_mask, &kernel,
                             sizeof kernel, operands, 3);
}

ys_status ys_onednn_backward_pool(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    struct onednn_tail *tail = maskable(low, node);
    struct ys_onednn_pool pool;
    struct ys_maxpool own;
    struct ys_operand dy, dx = ys_at(-1);
    YS_TRY(describe_pool(low, node, &pool));
    pool.src = o->values[node->in[0]].layout;
    pool.dst = o->values[node->out[0]].layout;
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &pool.dst, &dy));
    if (tail) {
        YS_TRY(append_mask(low, node, &pool.dst, tail, &dy));
        tail->is_masked = true;
    }
    YS_TRY(ys_onednn_buffer(low, &pool.src, &dx.buffer));
    if (is_ours(low, node, &own)) {
        const struct ys_operand operands[3] = {dy, ys_at(ys_onednn_node(low, node)->workspace), dx};
        YS_TRY(ys_lower_call_own(low, node->name, kernels(&pool.src, &own)->maxpool_backward, &own, sizeof own,
                                 operands, 3));
    } else {
        YS_TRY(backward_library(low, node, &pool, dy, dx));
    }
    return ys_onednn_give(low, node->name, node->in[0], &pool.src, dx);
}
