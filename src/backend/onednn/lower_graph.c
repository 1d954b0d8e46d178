/* The oneDNN back end: decides layouts, and keeps parameters in them. */
#include "backend/level.h"
#include "backend/onednn/onednn_state.h"

#include "base/mem.h"
#include "backend/backend_list.h"
#include "backend/parallel.h"
#include <stdio.h>
#include <string.h>

/* One entry an operator, in the order of YS_OPS; {0} for one that this back end has not. */
#define LOWERED(decided, name)                                                                                         \
    .decide = ys_onednn_decide_##decided, .forward = ys_onednn_forward_##name, .backward = ys_onednn_backward_##name
#define DESCRIBED(name) .describe = ys_onednn_describe_##name, .describe_backward = ys_onednn_describe_##name##_backward
/* A function of one element that the library has, and its gradient, given x or y as the descriptor says. */
#define ELTWISE(ahead, back) LOWERED(same, unary), DESCRIBED(eltwise), .eltwise = ahead, .eltwise_backward = back

static const struct onednn_operator op_NORMALIZE = {LOWERED(normalize, normalize)};
static const struct onednn_operator op_CONV = {ys_onednn_decide_conv, ys_onednn_forward_dense, ys_onednn_backward_conv};
static const struct onednn_operator op_CONV_TRANSPOSE = {LOWERED(transposed, transposed)};
static const struct onednn_operator op_RELU = {LOWERED(tail, tail)};
static const struct onednn_operator op_MAXPOOL = {LOWERED(pool, pool)};
static const struct onednn_operator op_FLATTEN = {LOWERED(flatten, flatten)};
static const struct onednn_operator op_GEMM = {ys_onednn_decide_gemm, ys_onednn_forward_dense, ys_onednn_backward_gemm};
static const struct onednn_operator op_EMBEDDING = {ys_onednn_decide_sequence, ys_onednn_forward_embedding,
                                                    ys_onednn_backward_embedding};
static const struct onednn_operator op_ATTENTION = {ys_onednn_decide_sequence, ys_onednn_forward_attention,
                                                    ys_onednn_backward_attention};
static const struct onednn_operator op_MATMUL = {LOWERED(sequence, matmul)};
static const struct onednn_operator op_LSTM = {LOWERED(sequence, recurrent)};
static const struct onednn_operator op_GRU = {LOWERED(sequence, recurrent)};
static const struct onednn_operator op_ROTARY = {LOWERED(plain, rotary)};
static const struct onednn_operator op_SINUSOID = {LOWERED(plain, sinusoid)};
static const struct onednn_operator op_LAST = {LOWERED(sequence, last)};
static const struct onednn_operator op_AVERAGEPOOL = {LOWERED(pool, pool)};
static const struct onednn_operator op_GLOBAL_AVERAGEPOOL = {LOWERED(pool, pool)};
static const struct onednn_operator op_GLOBAL_MAXPOOL = {LOWERED(pool, pool)};
static const struct onednn_operator op_BATCHNORM = {LOWERED(tail, tail)};
static const struct onednn_operator op_LAYERNORM = {LOWERED(plain, layernorm)};
static const struct onednn_operator op_RMSNORM = {LOWERED(plain, layernorm)};
static const struct onednn_operator op_LRN = {LOWERED(same, unary), DESCRIBED(lrn)};
static const struct onednn_operator op_CLIP = {LOWERED(tail, tail)};
static const struct onednn_operator op_LEAKY_RELU = {ELTWISE(dnnl_eltwise_relu, dnnl_eltwise_relu)};
static const struct onednn_operator op_TANH = {ELTWISE(dnnl_eltwise_tanh, dnnl_eltwise_tanh_use_dst_for_bwd)};
static const struct onednn_operator op_SIGMOID = {
    ELTWISE(dnnl_eltwise_logistic, dnnl_eltwise_logistic_use_dst_for_bwd)};
static const struct onednn_operator op_HARDSWISH = {ELTWISE(dnnl_eltwise_hardswish, dnnl_eltwise_hardswish)};
static const struct onednn_operator op_HARDSIGMOID = {LOWERED(plain, function)};
static const struct onednn_operator op_SWISH = {ELTWISE(dnnl_eltwise_swish, dnnl_eltwise_swish)};
static const struct onednn_operator op_GELU = {ELTWISE(dnnl_eltwise_gelu_erf, dnnl_eltwise_gelu_erf)};
static const struct onednn_operator op_SQRT = {ELTWISE(dnnl_eltwise_sqrt, dnnl_eltwise_sqrt_use_dst_for_bwd)};
static const struct onednn_operator op_POW = {ELTWISE(dnnl_eltwise_pow, dnnl_eltwise_pow)};
static const struct onednn_operator op_EXP = {ELTWISE(dnnl_eltwise_exp, dnnl_eltwise_exp_use_dst_for_bwd)};
static const struct onednn_operator op_ELU = {ELTWISE(dnnl_eltwise_elu, dnnl_eltwise_elu)};
static const struct onednn_operator op_SELU = {LOWERED(plain, function)};
static const struct onednn_operator op_CELU = {LOWERED(plain, function)};
static const struct onednn_operator op_SOFTPLUS = {ELTWISE(dnnl_eltwise_soft_relu, dnnl_eltwise_soft_relu)};
static const struct onednn_operator op_SOFTSIGN = {LOWERED(plain, function)};
static const struct onednn_operator op_MISH = {ELTWISE(dnnl_eltwise_mish, dnnl_eltwise_mish)};
static const struct onednn_operator op_SOFTMAX = {LOWERED(plain, unary), DESCRIBED(softmax)};
static const struct onednn_operator op_LOG_SOFTMAX = {LOWERED(plain, unary), DESCRIBED(softmax)};
static const struct onednn_operator op_ADD = {LOWERED(sum, sum)};
static const struct onednn_operator op_SUB = {LOWERED(plain, pair)};
static const struct onednn_operator op_MUL = {LOWERED(product, product)};
static const struct onednn_operator op_DIV = {LOWERED(plain, pair)};
static const struct onednn_operator op_CONCAT = {LOWERED(parts, concat)};
static const struct onednn_operator op_SPLIT = {LOWERED(parts, split)};
static const struct onednn_operator op_RESHAPE = {LOWERED(flatten, flatten)};
static const struct onednn_operator op_PAD = {LOWERED(plain, padding)};
static const struct onednn_operator op_TRANSPOSE = {LOWERED(plain, transpose)};
static const struct onednn_operator op_MEAN = {LOWERED(plain, mean)};
static const struct onednn_operator op_DROPOUT = {LOWERED(plain, dropout)};

#define ENTRY(op) [YS_OP_##op] = &op_##op,

const struct onednn_operator *ys_onednn_operator(enum ys_op op)
{
    static const struct onednn_operator *const operators[YS_OP_COUNT] = {YS_OPS(ENTRY)};
    return operators[op];
}

/** On some processors the library makes float numbers of bf16 ones for some operations, and has no others: that is no
 * bf16 that is worth measuring, and no network can count on it. */
static const char *onednn_lacks(enum ys_engine_precision precision)
{
    return ys_level_lacks(precision);
}

static bool onednn_supports(enum ys_op op, enum ys_engine_precision precision)
{
    return precision != YS_ENGINE_F64 && !onednn_lacks(precision) && ys_onednn_operator(op)->forward;
}

static const char *onednn_library(void)
{
    static char text[48];
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, sizeof text, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    return text;
}

void ys_onednn_set_layout(struct ys_lowering *low, int value, const ys_layout *layout)
{
    struct onednn *o = low->state;
    o->values[value].layout = *layout;
    o->values[value].known = true;
}

ys_status ys_onednn_decide_value(struct ys_lowering *low, int value)
{
    const struct onednn *o = low->state;
    ys_layout plain;
    if (o->values[value].known)
        return YS_OK;
    YS_TRY(ys_onednn_plain(low, value, &plain));
    ys_onednn_set_layout(low, value, &plain);
    return YS_OK;
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
        o->params[p].packed_buffer = -1;
        o->params[p].is_shared = ys_param_readers(g, (int)p) > 1;
    }
    o->type = low->config.precision == YS_ENGINE_BF16 ? dnnl_bf16 : dnnl_f32;
    for (size_t v = 0; v < g->value_count; v++)
        o->values[v].second = o->values[v].rebuilt = -1;
    for (size_t i = 0; i < g->node_count; i++)
        o->nodes[i].workspace = o->nodes[i].tail = -1;
    return ys_onednn_find_tails(low);
}

/** Of a quantised network: what nodes in integers make lies in C order where others read it, and none of them applies
 * an activation that stays in float. */
static ys_status begin_integers(struct ys_lowering *low)
{
    struct onednn *o = low->state;
    const struct ys_graph *g = low->graph;
    for (size_t i = 0; i < g->node_count; i++)
        if (ys_integer_way(low, &g->nodes[i]) != YS_QUANT_IN_FLOAT) {
            o->nodes[i].fuses_relu = false;
            YS_TRY(ys_onednn_decide_value(low, g->nodes[i].out[0]));
        }
    for (size_t t = 0; t < o->tail_count; t++) {
        const int producer = g->values[o->tails[t].x].producer;
        if (producer >= 0 && ys_integer_way(low, &g->nodes[producer]) != YS_QUANT_IN_FLOAT)
            o->tails[t].in_producer = false;
    }
    return YS_OK;
}

static ys_status decide(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_integer_way(low, node) == YS_QUANT_IN_FLOAT ? ys_onednn_operator(node->op)->decide(low, node)
                                                          : ys_onednn_decide_integer(low, node);
}

static ys_status onednn_begin(struct ys_lowering *low)
{
    struct onednn *o = ys_alloc(1, sizeof *o);
    if (!o)
        return ys_out_of_memory();
    low->state = o;
    YS_TRY(make_state(low, o));
    YS_TRY(begin_integers(low));
    const struct ys_graph *g = low->graph;
    for (size_t i = 0; i < g->input_count; i++)
        if (g->values[g->inputs[i]].dtype == YS_F32) { /* integers are read by a normalize node alone */
            low->value[g->inputs[i]] = low->inputs[i];
            YS_TRY(ys_onednn_decide_value(low, g->inputs[i]));
        }
    for (size_t i = 0; i < g->node_count; i++)
        if (low->node_live[i]) {
            ys_status status = decide(low, &g->nodes[i]);
            if (status != YS_OK)
                return ys_fail_in(status, "%s", g->nodes[i].name);
        }
    for (size_t p = 0; p < g->param_count; p++)
        low->param_size[p] = ys_integer_product_of(low, p)
                                 ? ys_integer_param_size(low, p, ys_onednn_integer_bytes(low, p))
                                 : (ys_layout_bytes(&o->params[p].stored) + sizeof(float) - 1) / sizeof(float);
    return YS_OK;
}

static ys_status forward_in_float(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int out = node->out[0];
    YS_TRY(ys_onednn_operator(node->op)->forward(low, node));
    if (out != low->graph->output || low->value[out] == low->logits)
        return YS_OK;
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, out, &plain));
    return ys_onednn_append_reorder(low, node->name, &o->values[out].layout, ys_at(low->value[out]), &plain,
                                    ys_at(low->logits));
}

static ys_status plain_value(struct ys_lowering *low, const struct ys_node *node, int value, struct ys_operand *operand)
{
    return ys_onednn_plain_value(low, node->name, value, operand);
}

static ys_status adopt(struct ys_lowering *low, int value)
{
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, value, &plain));
    ys_onednn_set_layout(low, value, &plain);
    return YS_OK;
}

static ys_status onednn_forward(struct ys_lowering *low, const struct ys_node *node)
{
    static const struct ys_integer_backend integers = {.in_float = forward_in_float,
                                                       .plain = plain_value,
                                                       .adopt = adopt,
                                                       .own = ys_onednn_integer_own,
                                                       .product = ys_onednn_forward_integer};
    return ys_integer_is_used(low) ? ys_integer_forward(low, node, &integers) : forward_in_float(low, node);
}

static ys_status onednn_backward(struct ys_lowering *low, const struct ys_node *node)
{
    bool wanted = node->weight >= 0;
    for (size_t k = 0; k < node->in_count; k++)
        wanted |= low->value_gradient[node->in[k]];
    return wanted ? ys_onednn_operator(node->op)->backward(low, node) : YS_OK;
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
    ys_free(o->tails);
    ys_free(o);
}

/** Copies between two layouts, now. */
ys_status ys_onednn_change_layout(struct onednn *o, const ys_layout *from, const void *source, const ys_layout *to,
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

static ys_status store(struct onednn *o, const struct onednn_param *p, const void *canonical, void *flat)
{
    if (!p->is_turned)
        return ys_onednn_change_layout(o, &p->canonical, canonical, &p->stored, flat);
    void *turned = ys_alloc(1, ys_layout_bytes(&p->turned));
    if (!turned)
        return ys_out_of_memory();
    ys_status status = ys_onednn_change_layout(o, &p->canonical, canonical, &p->turned, turned);
    if (status == YS_OK)
        status = ys_onednn_change_layout(o, &p->flattened, turned, &p->stored, flat);
    ys_free(turned);
    return status;
}

static ys_status onednn_param_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat)
{
    struct onednn *o = low->state;
    const struct onednn_param *p = &o->params[param];
    if (ys_integer_product_of(low, param))
        return ys_onednn_integer_store(low, param, canonical, flat);
    YS_TRY(store(o, p, canonical, flat));
    if (p->packed_buffer < 0 || low->config.training)
        return YS_OK;
    return ys_onednn_change_layout(o, &p->stored, flat, &p->packed, ys_program_at(low->program, p->packed_buffer));
}

static ys_status onednn_param_load(struct ys_lowering *low, size_t param, const void *flat, void *canonical)
{
    struct onednn *o = low->state;
    const struct onednn_param *p = &o->params[param];
    if (ys_integer_product_of(low, param))
        return ys_integer_load(low, param);
    if (!p->is_turned)
        return ys_onednn_change_layout(o, &p->stored, flat, &p->canonical, canonical);
    void *turned = ys_alloc(1, ys_layout_bytes(&p->turned));
    if (!turned)
        return ys_out_of_memory();
    ys_status status = ys_onednn_change_layout(o, &p->stored, flat, &p->flattened, turned);
    if (status == YS_OK)
        status = ys_onednn_change_layout(o, &p->turned, turned, &p->canonical, canonical);
    ys_free(turned);
    return status;
}

static void onednn_leave(struct ys_lowering *low)
{
    ys_parallel_leave(low->saved_threads, low->saved_dynamic);
}

/** The library divides by the threads that it asks for, whatever it gets. */
static ys_status onednn_enter(struct ys_lowering *low)
{
    ys_parallel_enter(low->config.threads, &low->saved_threads, &low->saved_dynamic);
    const int got = ys_parallel_count(low->config.threads);
    if (got == low->config.threads)
        return YS_OK;
    onednn_leave(low);
    if (low->state)
        return ys_parallel_lacks(low->config.threads, got);
    low->config.threads = got;
    return onednn_enter(low);
}

const struct ys_backend ys_backend_onednn = {
    .name = "onednn",
    .library = onednn_library,
    .supports = onednn_supports,
    .lacks = onednn_lacks,
    .has_integers = true,
    .begin = onednn_begin,
    .forward = onednn_forward,
    .loss = ys_onednn_loss,
    .backward = onednn_backward,
    .update = ys_onednn_update,
    .end = onednn_end,
    .param_store = onednn_param_store,
    .param_load = onednn_param_load,
    .enter = onednn_enter,
    .leave = onednn_leave,
};
