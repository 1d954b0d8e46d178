#include "engine/quantised.h"

#include "quant/rounding.h"

ys_status ys_quantised_begin(struct ys_lowering *low, const struct ys_scales *scales)
{
    if (low->config.training || low->config.precision != YS_ENGINE_F32)
        return ys_fail(YS_EUNSUPPORTED, "a quantised network is evaluated, in f32: it is not trained");
    YS_TRY(ys_quant_rule_check(&scales->rule));
    YS_TRY(ys_quant_plan_make(low->graph, &scales->rule, &low->quant));
    YS_TRY(ys_quant_plan_check(low->graph, &low->quant, scales));
    low->scales = scales;
    return YS_OK;
}

static const struct ys_weight_scale *scale_of(const struct ys_lowering *low, size_t param)
{
    return ys_scales_of_param(low->scales, low->graph->params[param].name);
}

bool ys_quantised_rounds(const struct ys_lowering *low, size_t param)
{
    return low->scales && low->scales->rule.kind == YS_QUANT_WEIGHTS && scale_of(low, param);
}

void ys_quantised_round(const struct ys_lowering *low, size_t param, float *values)
{
    const struct ys_param *p = &low->graph->params[param];
    const struct ys_weight_scale *scale = scale_of(low, param);
    const int64_t each = ys_param_elements(p) / p->shape[0];
    const int limit = ys_quant_weight_limit(low->scales->rule.range);
    for (int64_t i = 0; i < ys_param_elements(p); i++) {
        const double step = ys_weight_scale_at(scale, i / each);
        values[i] = (float)(ys_quant_s8((double)values[i], step, limit) * step);
    }
}
