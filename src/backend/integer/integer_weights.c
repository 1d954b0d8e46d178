#include "backend/integer/integer.h"

#include "base/mem.h"
#include "quant/rounding.h"
#include <string.h>

bool ys_integer_is_used(const struct ys_lowering *low)
{
    return low->scales && low->scales->rule.kind != YS_QUANT_WEIGHTS;
}

enum ys_quant_way ys_integer_way(const struct ys_lowering *low, const struct ys_node *node)
{
    return ys_integer_is_used(low) ? low->quant.nodes[node - low->graph->nodes].way : YS_QUANT_IN_FLOAT;
}

static bool is_static(const struct ys_lowering *low)
{
    return low->scales->rule.kind == YS_QUANT_STATIC;
}

const struct ys_node *ys_integer_product_of(const struct ys_lowering *low, size_t param)
{
    for (size_t i = 0; ys_integer_is_used(low) && i < low->graph->node_count; i++) {
        const struct ys_node *node = &low->graph->nodes[i];
        const bool is_product = node->op == YS_OP_CONV || node->op == YS_OP_GEMM,
                   has = node->weight == (int)param || (is_static(low) && node->bias == (int)param);
        if (is_product && has && low->node_live[i] && low->quant.nodes[i].way == YS_QUANT_IN_INTEGER)
            return node;
    }
    return NULL;
}

static int64_t channels_of(const struct ys_lowering *low, const struct ys_node *node)
{
    return low->graph->params[node->weight].shape[0];
}

size_t ys_integer_sums_bytes(const struct ys_lowering *low, const struct ys_node *node)
{
    const size_t bytes = (size_t)channels_of(low, node) * sizeof(int32_t);
    return (bytes + YS_ALIGNMENT - 1) / YS_ALIGNMENT * YS_ALIGNMENT;
}

size_t ys_integer_param_size(const struct ys_lowering *low, size_t param, size_t bytes)
{
    const struct ys_node *node = ys_integer_product_of(low, param);
    if (node->bias == (int)param)
        return (size_t)ys_param_elements(&low->graph->params[param]);
    return (ys_integer_sums_bytes(low, node) + bytes + low->real_size - 1) / low->real_size;
}

static const struct ys_weight_scale *weight_scale(const struct ys_lowering *low, const struct ys_node *node)
{
    return ys_scales_of_param(low->scales, low->graph->params[node->weight].name);
}

void ys_integer_weight(const struct ys_lowering *low, const struct ys_node *node, const float *canonical,
                       int8_t *integers, int32_t *sums)
{
    const struct ys_weight_scale *scale = weight_scale(low, node);
    const int limit = ys_quant_weight_limit(low->scales->rule.range);
    const int64_t channels = channels_of(low, node),
                  each = ys_param_elements(&low->graph->params[node->weight]) / channels;
    for (int64_t c = 0; c < channels; c++) {
        const double step = ys_weight_scale_at(scale, c);
        sums[c] = 0;
        for (int64_t i = c * each; i < (c + 1) * each; i++) {
            integers[i] = ys_quant_s8((double)canonical[i], step, limit);
            sums[c] += integers[i];
        }
    }
}

void ys_integer_bias(const struct ys_lowering *low, const struct ys_node *node, const float *canonical, int32_t *bias)
{
    const struct ys_weight_scale *scale = weight_scale(low, node);
    const double in = ys_integer_scale(low, node->in[0])->scale;
    for (int64_t c = 0; c < channels_of(low, node); c++)
        bias[c] = ys_quant_bias((double)canonical[c], in, ys_weight_scale_at(scale, c));
}

/** (out, in, taps) to (out, taps, in). */
static void turn(const int8_t *from, int64_t out, int64_t in, int64_t taps, int8_t *to)
{
    for (int64_t o = 0; o < out; o++)
        for (int64_t i = 0; i < in; i++)
            for (int64_t t = 0; t < taps; t++)
                to[(o * taps + t) * in + i] = from[(o * in + i) * taps + t];
}

ys_status ys_integer_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat)
{
    const struct ys_node *node = ys_integer_product_of(low, param);
    const struct ys_param *p = &low->graph->params[param];
    const int64_t count = ys_param_elements(p);
    if (node->bias == (int)param) {
        ys_integer_bias(low, node, canonical, flat);
        return YS_OK;
    }
    int8_t *integers = ys_alloc((size_t)count, 1);
    if (!integers)
        return ys_out_of_memory();
    ys_integer_weight(low, node, canonical, integers, flat);
    turn(integers, p->shape[0], p->shape[1], count / p->shape[0] / p->shape[1],
         (int8_t *)flat + ys_integer_sums_bytes(low, node));
    ys_free(integers);
    return YS_OK;
}

ys_status ys_integer_load(const struct ys_lowering *low, size_t param)
{
    return ys_fail(YS_EUNSUPPORTED, "%s is kept as integers: its numbers are not given out",
                   low->graph->params[param].name);
}

const struct ys_activation_scale *ys_integer_scale(const struct ys_lowering *low, int value)
{
    return ys_scales_of_value(low->scales, low->graph->values[low->quant.scale_of[value]].name);
}

struct ys_integer_image ys_integer_image(const struct ys_lowering *low, int value)
{
    const struct ys_value *v = &low->graph->values[value];
    const int64_t all = ys_value_row_elements(v);
    struct ys_integer_image image = {low->config.batch, 1, 1, v->rank > 1 ? v->shape[1] : 1};
    image.width = v->rank == 4 ? v->shape[3] : 1;
    image.height = all / image.channels / image.width;
    return image;
}

struct ys_integer_ends ys_integer_ends(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_activation_scale *y = ys_integer_scale(low, ys_quant_result(low->graph, &low->quant, node));
    struct ys_integer_ends ends = {.zero = (int)y->zero_point};
    ys_quant_ends(low->graph, &low->quant, node, y, &ends.low, &ends.high);
    return ends;
}

double ys_integer_factor(const struct ys_lowering *low, const struct ys_node *node, int64_t channel)
{
    const double weight = ys_weight_scale_at(weight_scale(low, node), channel);
    if (!is_static(low))
        return weight;
    const int result = ys_quant_result(low->graph, &low->quant, node);
    return ys_integer_scale(low, node->in[0])->scale * weight / ys_integer_scale(low, result)->scale;
}
