/* The reference back end and the portable one, `simd`, which lower a graph alike: to canonical layouts, without fusion.
 * Lowering by operator is in ref_lower.c, arithmetic in ref_kernels.inc, which `simd` compiles for the processor's
 * vector registers, and shares among threads. */
#include "backend/plain/ref_lower.h"

#include "base/mem.h"
#include "backend/backend_list.h"
#include "backend/integer/integer.h"
#include "backend/level.h"
#include "backend/parallel.h"
#include "backend/plain/simd.h"
#include <string.h>

static bool ref_supports(enum ys_op op, enum ys_engine_precision precision)
{
    return precision != YS_ENGINE_BF16 && ys_ref_kernels_f64.op[op]->lower_forward;
}

static const char *lacks(enum ys_engine_precision precision)
{
    return ys_level_lacks(precision);
}

static bool simd_supports(enum ys_op op, enum ys_engine_precision precision)
{
    return precision == YS_ENGINE_F32 && ys_simd_kernels()->op[op]->lower_forward;
}

bool ys_ref_is_packed(const struct ys_lowering *low, size_t param)
{
    const struct ys_ref *ref = low->state;
    bool is_dense = false;
    for (size_t i = 0; i < low->graph->node_count; i++)
        is_dense |= low->graph->nodes[i].op == YS_OP_GEMM && low->graph->nodes[i].weight == (int)param;
    return ref->kernels->strip > 0 && !low->config.training && is_dense &&
           ys_param_readers(low->graph, (int)param) == 1;
}

static ys_status begin(struct ys_lowering *low, const struct ys_ref_kernels *kernels, int threads)
{
    struct ys_ref *ref = ys_alloc(1, sizeof *ref);
    if (!ref)
        return ys_out_of_memory();
    low->state = ref;
    low->config.threads = threads;
    ref->kernels = kernels;
    for (int op = 0; op < YS_OP_COUNT; op++)
        ref->op[op] = *kernels->op[op];
    ref->saved = ys_alloc(low->graph->node_count, sizeof *ref->saved);
    if (!ref->saved)
        return ys_out_of_memory();
    for (size_t i = 0; i < low->graph->node_count; i++)
        ref->saved[i] = -1;
    for (size_t p = 0; p < low->graph->param_count; p++) {
        const size_t count = (size_t)ys_param_elements(&low->graph->params[p]);
        low->param_size[p] = ys_integer_product_of(low, p) ? ys_integer_param_size(low, p, count) : count;
    }
    return ys_program_buffer(low->program, (size_t)threads * kernels->workspace_bytes, false, &ref->workspace);
}

static ys_status ref_begin(struct ys_lowering *low)
{
    return begin(low, low->config.precision == YS_ENGINE_F64 ? &ys_ref_kernels_f64 : &ys_ref_kernels_f32, 1);
}

static ys_status simd_begin(struct ys_lowering *low)
{
    const int threads = low->config.threads;
    YS_TRY(begin(low, ys_simd_kernels(),
                 ys_parallel_count(threads < YS_REF_MOST_THREADS ? threads : YS_REF_MOST_THREADS)));
    ys_simd_ops(((struct ys_ref *)low->state)->op);
    return YS_OK;
}

static void ref_end(struct ys_lowering *low)
{
    struct ys_ref *ref = low->state;
    ys_free(ref->saved);
    ys_free(ref);
}

static ys_status forward_in_float(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_ref_op(low, node)->lower_forward(low, node);
}

/** Every value lies in C order. */
static ys_status plain_value(struct ys_lowering *low, const struct ys_node *node, int value, struct ys_operand *operand)
{
    YS_TRY(ys_ref_inputs(low, node));
    *operand = ys_ref_at(low->value[value]);
    return YS_OK;
}

static ys_status adopt(struct ys_lowering *low, int value)
{
    (void)low;
    (void)value;
    return YS_OK;
}

static ys_status ref_forward(struct ys_lowering *low, const struct ys_node *node)
{
    static const struct ys_integer_backend integers = {
        .in_float = forward_in_float, .plain = plain_value, .adopt = adopt};
    return ys_integer_is_used(low) ? ys_integer_forward(low, node, &integers) : forward_in_float(low, node);
}

static ys_status ref_backward(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_ref_op(low, node)->lower_backward(low, node);
}

static ys_status ref_loss(struct ys_lowering *low)
{
    const struct ys_ref *ref = low->state;
    const struct ys_node *last = &low->graph->nodes[low->graph->values[low->graph->output].producer];
    if (low->config.training)
        YS_TRY(ys_ref_gradient(low, low->graph->output));
    struct ys_ref_context *c = ys_ref_context(low, last);
    if (!c)
        return ys_out_of_memory();
    c->has_input_gradient = low->config.training;
    struct ys_operand operands[4] = {{low->logits}, {low->labels}, {low->loss}, {low->gradient[low->graph->output]}};
    return ys_lower_call(low, "loss", ref->kernels->loss[low->graph->loss], c, ys_free, operands,
                         3 + c->has_input_gradient);
}

static ys_status call_update(struct ys_lowering *low, const struct ys_operand *operands, size_t count)
{
    const struct ys_ref *ref = low->state;
    if (ref->kernels->multiply)
        return ys_simd_update(low, operands, count);
    struct ys_ref_context *c = ys_alloc(1, sizeof *c);
    if (!c)
        return ys_out_of_memory();
    c->low = low;
    return ys_lower_call(low, "update", ref->kernels->update, c, ys_free, operands, count);
}

static ys_status ref_update(struct ys_lowering *low)
{
    struct ys_operand operands[4] = {{low->weights}, {low->gradients}};
    size_t count = 2;
    if (low->state1 >= 0)
        operands[count++].buffer = low->state1;
    if (low->state2 >= 0)
        operands[count++].buffer = low->state2;
    YS_TRY(call_update(low, operands, count));
    for (size_t i = 0; i < low->graph->node_count; i++)
        if (low->node_live[i] && ys_ref_op(low, &low->graph->nodes[i])->update)
            YS_TRY(ys_ref_running(low, &low->graph->nodes[i]));
    return YS_OK;
}

/** Where element [row, column] of a packed weight lies, which is in single precision. */
static int64_t packed_at(const struct ys_lowering *low, size_t param, int64_t row, int64_t column)
{
    const int64_t strip = ((const struct ys_ref *)low->state)->kernels->strip;
    const int64_t *shape = low->graph->params[param].shape;
    return row < shape[0] / strip * strip ? row / strip * strip * shape[1] + column * strip + row % strip
                                          : row * shape[1] + column;
}

static void pack(const struct ys_lowering *low, size_t param, const float *canonical, float *flat)
{
    const int64_t *shape = low->graph->params[param].shape;
    for (int64_t row = 0; row < shape[0]; row++)
        for (int64_t column = 0; column < shape[1]; column++)
            flat[packed_at(low, param, row, column)] = *canonical++;
}

static void unpack(const struct ys_lowering *low, size_t param, const float *flat, float *canonical)
{
    const int64_t *shape = low->graph->params[param].shape;
    for (int64_t row = 0; row < shape[0]; row++)
        for (int64_t column = 0; column < shape[1]; column++)
            *canonical++ = flat[packed_at(low, param, row, column)];
}

static ys_status ref_param_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat)
{
    if (ys_integer_product_of(low, param))
        return ys_integer_store(low, param, canonical, flat);
    if (ys_ref_is_packed(low, param))
        pack(low, param, canonical, flat);
    else
        memcpy(flat, canonical, low->param_size[param] * low->real_size);
    return YS_OK;
}

static ys_status ref_param_load(struct ys_lowering *low, size_t param, const void *flat, void *canonical)
{
    if (ys_integer_product_of(low, param))
        return ys_integer_load(low, param);
    if (ys_ref_is_packed(low, param))
        unpack(low, param, flat, canonical);
    else
        memcpy(canonical, flat, low->param_size[param] * low->real_size);
    return YS_OK;
}

#define LOWERING                                                                                                       \
    .forward = ref_forward, .loss = ref_loss, .backward = ref_backward, .update = ref_update, .end = ref_end,          \
    .param_store = ref_param_store, .param_load = ref_param_load

const struct ys_backend ys_backend_ref = {
    .name = "ref", .supports = ref_supports, .lacks = lacks, .has_integers = true, .begin = ref_begin, LOWERING};
const struct ys_backend ys_backend_simd = {
    .name = "simd", .supports = simd_supports, .lacks = lacks, .begin = simd_begin, LOWERING};
