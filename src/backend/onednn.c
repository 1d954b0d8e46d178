/* The oneDNN back end: decides layouts, and keeps parameters in them. */
#include "backend/onednn_state.h"

#include "base/mem.h"
#include "backend/list.h"
#include "backend/parallel.h"
#include <stdio.h>
#include <string.h>

static bool onednn_supports(enum ys_op op, enum ys_engine_precision precision)
{
    switch (op) {
    case YS_OP_NORMALIZE:
    case YS_OP_CONV:
    case YS_OP_RELU:
    case YS_OP_MAXPOOL:
    case YS_OP_FLATTEN:
    case YS_OP_GEMM:
        return precision == YS_ENGINE_F32;
    default:
        return false;
    }
}

static const char *onednn_library(void)
{
    static char text[48];
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, sizeof text, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    return text;
}

size_t ys_onednn_dims(const struct ys_lowering *low, int value, int64_t dims[YS_MAX_RANK])
{
    const struct ys_value *v = &low->graph->values[value];
    memcpy(dims, v->shape, v->rank * sizeof *dims);
    dims[0] = low->config.batch;
    return v->rank;
}

static ys_status plain_value(const struct ys_lowering *low, int value, ys_layout *layout)
{
    int64_t dims[YS_MAX_RANK];
    size_t rank = ys_onednn_dims(low, value, dims);
    return ys_layout_plain(layout, rank, dims);
}

/** The value's layout, C order if nobody had a wish. */
static ys_status decide(struct ys_lowering *low, int value)
{
    struct onednn *o = low->state;
    if (!o->values[value].known)
        YS_TRY(plain_value(low, value, &o->values[value].layout));
    o->values[value].known = true;
    return YS_OK;
}

/** The ReLU that alone reads the value, or NULL. */
static struct onednn_node *relu_behind(const struct ys_lowering *low, int value)
{
    const struct onednn *o = low->state;
    int reader = low->value_reader[value];
    return reader >= 0 && low->graph->nodes[reader].op == YS_OP_RELU ? &o->nodes[reader] : NULL;
}

static ys_status describe_param(const struct ys_lowering *low, const struct ys_node *node, ys_layout *plain)
{
    const struct ys_param *p = &low->graph->params[node->weight];
    int64_t dims[YS_MAX_RANK + 1] = {node->window.group, p->shape[0] / node->window.group};
    memcpy(dims + 2, p->shape + 1, (p->rank - 1) * sizeof *dims);
    return ys_layout_plain(plain, p->rank + 1, dims);
}

ys_status ys_onednn_describe_conv(const struct ys_lowering *low, const struct ys_node *node,
                                  struct ys_onednn_conv *conv, ys_layout *bias)
{
    int64_t dims[YS_MAX_RANK];
    const struct ys_param *p = &low->graph->params[node->weight];
    conv->window = &node->window;
    YS_TRY(ys_layout_any(&conv->src, ys_onednn_dims(low, node->in[0], dims), dims));
    YS_TRY(ys_layout_any(&conv->dst, ys_onednn_dims(low, node->out[0], dims), dims));
    int64_t grouped[] = {node->window.group, p->shape[0] / node->window.group, p->shape[1], p->shape[2], p->shape[3]};
    YS_TRY(node->window.group > 1 ? ys_layout_any(&conv->weight, 5, grouped)
                                  : ys_layout_any(&conv->weight, 4, p->shape));
    if (node->bias >= 0)
        YS_TRY(ys_layout_plain(bias, 1, low->graph->params[node->bias].shape));
    conv->bias = node->bias >= 0 ? bias : NULL;
    return YS_OK;
}

static ys_status decide_conv(struct ys_lowering *low, const struct ys_node *node, struct onednn_node *state)
{
    struct onednn *o = low->state;
    struct onednn_value *in = &o->values[node->in[0]], *out = &o->values[node->out[0]];
    struct ys_onednn_conv conv;
    ys_layout bias;
    YS_TRY(ys_onednn_describe_conv(low, node, &conv, &bias));
    YS_TRY(ys_onednn_conv_forward(o->engine, &conv, low->config.training, state->fuses_relu, &state->forward));
    ys_layout wish = ys_layout_of(state->forward, DNNL_ARG_SRC);
    int64_t strides[YS_MAX_RANK];
    if (!in->known && ys_layout_strides(&wish, strides)) {
        in->layout = wish;
        in->known = true;
    }
    YS_TRY(decide(low, node->in[0]));
    out->layout = ys_layout_of(state->forward, DNNL_ARG_DST);
    out->known = true;
    struct onednn_param *weight = &o->params[node->weight];
    weight->stored = ys_layout_of(state->forward, DNNL_ARG_WEIGHTS);
    return node->window.group > 1 ? describe_param(low, node, &weight->canonical) : YS_OK;
}

ys_status ys_onednn_describe_gemm(const struct ys_lowering *low, const struct ys_node *node,
                                  struct ys_onednn_gemm *gemm, ys_layout *bias)
{
    const struct ys_param *p = &low->graph->params[node->weight];
    int64_t src[] = {low->config.batch, p->shape[1]}, dst[] = {low->config.batch, p->shape[0]};
    YS_TRY(ys_layout_plain(&gemm->src, 2, src));
    YS_TRY(ys_layout_any(&gemm->weight, 2, p->shape));
    YS_TRY(ys_layout_plain(&gemm->dst, 2, dst));
    if (node->bias >= 0)
        YS_TRY(ys_layout_plain(bias, 1, low->graph->params[node->bias].shape));
    gemm->bias = node->bias >= 0 ? bias : NULL;
    return YS_OK;
}

/** The product sees each row as a run of numbers. Where the value before Flatten lies in another order than C, the
 * columns of the weight are put in that order instead, once, and Flatten costs nothing. */
static ys_status decide_gemm(struct ys_lowering *low, const struct ys_node *node, struct onednn_node *state)
{
    struct onednn *o = low->state;
    struct onednn_param *weight = &o->params[node->weight];
    struct ys_onednn_gemm gemm;
    ys_layout bias, plain;
    state->source = node->in[0];
    for (int producer; (producer = low->graph->values[state->source].producer) >= 0 &&
                       low->graph->nodes[producer].op == YS_OP_FLATTEN;)
        state->source = low->graph->nodes[producer].in[0];
    YS_TRY(decide(low, state->source));
    YS_TRY(ys_onednn_describe_gemm(low, node, &gemm, &bias));
    YS_TRY(ys_onednn_gemm_forward(o->engine, &gemm, low->config.training, state->fuses_relu, &state->forward));
    weight->stored = ys_layout_of(state->forward, DNNL_ARG_WEIGHTS);
    YS_TRY(plain_value(low, node->out[0], &o->values[node->out[0]].layout));
    o->values[node->out[0]].known = true;

    const ys_layout *source = &o->values[state->source].layout;
    YS_TRY(plain_value(low, state->source, &plain));
    state->in_source_order = ys_layout_is_dense_rows(source);
    weight->is_turned = state->in_source_order && !ys_layout_equal(source, &plain);
    if (!weight->is_turned)
        return YS_OK;
    const struct ys_param *p = &low->graph->params[node->weight];
    weight->turned = ys_layout_with_rows(source, p->shape[0]);
    YS_TRY(ys_layout_plain(&weight->flattened, 2, p->shape));
    int64_t dims[YS_MAX_RANK];
    size_t rank = ys_onednn_dims(low, state->source, dims);
    dims[0] = p->shape[0];
    return ys_layout_plain(&weight->canonical, rank, dims);
}

static ys_status decide_pool(struct ys_lowering *low, const struct ys_node *node, struct onednn_node *state)
{
    struct onednn *o = low->state;
    int64_t dims[YS_MAX_RANK];
    ys_layout dst;
    YS_TRY(decide(low, node->in[0]));
    YS_TRY(ys_layout_any(&dst, ys_onednn_dims(low, node->out[0], dims), dims));
    YS_TRY(ys_onednn_maxpool_forward(o->engine, &o->values[node->in[0]].layout, &dst, &node->window,
                                     low->config.training, &state->forward));
    o->values[node->out[0]].layout = ys_layout_of(state->forward, DNNL_ARG_DST);
    o->values[node->out[0]].known = true;
    return YS_OK;
}

static ys_status decide_node(struct ys_lowering *low, const struct ys_node *node, struct onednn_node *state)
{
    struct onednn *o = low->state;
    bool computes = node->op == YS_OP_CONV || node->op == YS_OP_GEMM;
    struct onednn_node *relu = computes && node->out[0] != low->graph->output ? relu_behind(low, node->out[0]) : NULL;
    state->fuses_relu = relu != NULL;
    if (relu)
        relu->is_fused = true;
    switch (node->op) {
    case YS_OP_CONV:
        return decide_conv(low, node, state);
    case YS_OP_GEMM:
        return decide_gemm(low, node, state);
    case YS_OP_MAXPOOL:
        return decide_pool(low, node, state);
    case YS_OP_RELU:
        YS_TRY(decide(low, node->in[0]));
        if (node->out[0] == low->graph->output)
            return decide(low, node->out[0]);
        o->values[node->out[0]].layout = o->values[node->in[0]].layout;
        o->values[node->out[0]].known = true;
        return YS_OK;
    case YS_OP_FLATTEN: {
        int reader = low->value_reader[node->out[0]];
        bool is_seen_through = reader >= 0 && (low->graph->nodes[reader].op == YS_OP_GEMM ||
                                               low->graph->nodes[reader].op == YS_OP_FLATTEN);
        if (!is_seen_through)
            YS_TRY(decide(low, node->in[0]));
        return is_seen_through ? YS_OK : decide(low, node->out[0]);
    }
    default:
        return YS_OK;
    }
}

static ys_status make_state(struct ys_lowering *low, struct onednn *o)
{
    const struct ys_graph *g = low->graph;
    o->values = ys_alloc(g->value_count, sizeof *o->values);
    o->nodes = ys_alloc(g->node_count, sizeof *o->nodes);
    o->params = ys_alloc(g->param_count, sizeof *o->params);
    if (!o->values || !o->nodes || !o->params)
        return ys_out_of_memory();
    YS_TRY(ys_onednn_status(dnnl_engine_create(&o->engine, dnnl_cpu, 0), "engine"));
    YS_TRY(ys_onednn_status(dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags), "stream"));
    for (size_t p = 0; p < g->param_count; p++) {
        YS_TRY(ys_layout_plain(&o->params[p].canonical, g->params[p].rank, g->params[p].shape));
        o->params[p].stored = o->params[p].canonical;
    }
    for (size_t i = 0; i < g->node_count; i++)
        o->nodes[i].workspace = -1;
    return YS_OK;
}

static ys_status onednn_begin(struct ys_lowering *low)
{
    struct onednn *o = ys_alloc(1, sizeof *o);
    if (!o)
        return ys_out_of_memory();
    low->state = o;
    YS_TRY(make_state(low, o));
    const struct ys_graph *g = low->graph;
    if (g->values[g->input].dtype == YS_F32)
        YS_TRY(decide(low, g->input));
    for (size_t i = 0; i < g->node_count; i++)
        if (low->node_live[i]) {
            ys_status status = decide_node(low, &g->nodes[i], &o->nodes[i]);
            if (status != YS_OK)
                return ys_fail_in(status, "%s", g->nodes[i].name);
        }
    for (size_t p = 0; p < g->param_count; p++)
        low->param_size[p] = ys_layout_bytes(&o->params[p].stored) / sizeof(float);
    return YS_OK;
}

static void onednn_end(struct ys_lowering *low)
{
    struct onednn *o = low->state;
    for (size_t i = 0; o->nodes && i < low->graph->node_count; i++)
        if (o->nodes[i].forward)
            dnnl_primitive_desc_destroy(o->nodes[i].forward);
    if (o->stream)
        dnnl_stream_destroy(o->stream);
    if (o->engine)
        dnnl_engine_destroy(o->engine);
    ys_free(o->values);
    ys_free(o->nodes);
    ys_free(o->params);
    ys_free(o);
}

/** Copies between two layouts, now. */
static ys_status change_layout(struct onednn *o, const ys_layout *from, const void *source, const ys_layout *to,
                               void *target)
{
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t primitive = NULL;
    dnnl_memory_t memory[3] = {NULL};
    YS_TRY(ys_onednn_reorder(o->engine, from, to, &pd));
    ys_layout pad = ys_layout_of(pd, DNNL_ARG_SCRATCHPAD);
    void *scratch = ys_alloc(1, ys_layout_bytes(&pad) + YS_ALIGNMENT);
    /* The library takes sources without const, and does not write to them. */
    dnnl_status_t status =
        scratch ? dnnl_memory_create(&memory[0], &from->md, o->engine, (void *)(uintptr_t)source) : dnnl_out_of_memory;
    if (status == dnnl_success)
        status = dnnl_memory_create(&memory[1], &to->md, o->engine, target);
    if (status == dnnl_success && ys_layout_bytes(&pad) > 0)
        status = dnnl_memory_create(&memory[2], &pad.md, o->engine, scratch);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&primitive, pd);
    dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_FROM, memory[0]}, {DNNL_ARG_TO, memory[1]}, {DNNL_ARG_SCRATCHPAD, memory[2]}};
    if (status == dnnl_success)
        status = dnnl_primitive_execute(primitive, o->stream, memory[2] ? 3 : 2, arguments);
    if (status == dnnl_success)
        status = dnnl_stream_wait(o->stream);
    for (int i = 0; i < 3; i++)
        dnnl_memory_destroy(memory[i]);
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(pd);
    ys_free(scratch);
    return ys_onednn_status(status, "change of layout");
}

static ys_status onednn_param_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat)
{
    struct onednn *o = low->state;
    const struct onednn_param *p = &o->params[param];
    if (!p->is_turned)
        return change_layout(o, &p->canonical, canonical, &p->stored, flat);
    void *turned = ys_alloc(1, ys_layout_bytes(&p->turned));
    if (!turned)
        return ys_out_of_memory();
    ys_status status = change_layout(o, &p->canonical, canonical, &p->turned, turned);
    if (status == YS_OK)
        status = change_layout(o, &p->flattened, turned, &p->stored, flat);
    ys_free(turned);
    return status;
}

static ys_status onednn_param_load(struct ys_lowering *low, size_t param, const void *flat, void *canonical)
{
    struct onednn *o = low->state;
    const struct onednn_param *p = &o->params[param];
    if (!p->is_turned)
        return change_layout(o, &p->stored, flat, &p->canonical, canonical);
    void *turned = ys_alloc(1, ys_layout_bytes(&p->turned));
    if (!turned)
        return ys_out_of_memory();
    ys_status status = change_layout(o, &p->stored, flat, &p->flattened, turned);
    if (status == YS_OK)
        status = change_layout(o, &p->turned, turned, &p->canonical, canonical);
    ys_free(turned);
    return status;
}

static void onednn_enter(struct ys_lowering *low)
{
    low->saved_threads = ys_parallel_threads();
    ys_parallel_set_threads(low->config.threads);
}

static void onednn_leave(struct ys_lowering *low)
{
    ys_parallel_set_threads(low->saved_threads);
}

const struct ys_backend ys_backend_onednn = {
    .name = "onednn",
    .library = onednn_library,
    .supports = onednn_supports,
    .begin = onednn_begin,
    .forward = ys_onednn_forward,
    .loss = ys_onednn_loss,
    .backward = ys_onednn_backward,
    .update = ys_onednn_update,
    .end = onednn_end,
    .param_store = onednn_param_store,
    .param_load = onednn_param_load,
    .enter = onednn_enter,
    .leave = onednn_leave,
};
