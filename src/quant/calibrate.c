#include "quant/calibrate.h"

#include "base/mem.h"
#include "quant/rounding.h"
#include <float.h>

ys_status ys_observe_ends(struct ys_numbers_seen *observed, const char *value, const float *x, size_t count)
{
    float low = (float)observed->low, high = (float)observed->high, sum = 0;
    for (size_t i = 0; i < count; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        sum += x[i] * 0; /* 0, but for what is no number */
    }
    if (!(sum == 0))
        return ys_fail(YS_EINVAL, "calibration: value %s has a NaN or an infinity: no scale holds that", value);
    observed->low = (double)low;
    observed->high = (double)high;
    return YS_OK;
}

void ys_observe_bins(struct ys_numbers_seen *observed, const float *x, size_t count)
{
    const double width = (observed->high - observed->low) / YS_OBSERVED_BINS;
    observed->total += count;
    for (size_t i = 0; i < count; i++) {
        const double bin = width > 0 ? ((double)x[i] - observed->low) / width : 0;
        observed->counts[bin >= YS_OBSERVED_BINS ? YS_OBSERVED_BINS - 1 : bin > 0 ? (int)bin : 0]++;
    }
}

static void cut_percentile(const struct ys_numbers_seen *o, double percentile, double *low, double *high)
{
    const double out = (100 - percentile) / 200 * (double)o->total, width = (o->high - o->low) / YS_OBSERVED_BINS;
    uint64_t below = 0, above = 0;
    int first = 0, end = YS_OBSERVED_BINS;
    while (first < end && (double)(below + o->counts[first]) <= out)
        below += o->counts[first++];
    while (end > first && (double)(above + o->counts[end - 1]) <= out)
        above += o->counts[--end];
    *low = o->low + first * width;
    *high = o->low + end * width;
}

/** The squared distances of all numbers to what they are rounded to. */
static double error_of(const struct ys_numbers_seen *o, const struct ys_activation_scale *at)
{
    const double width = (o->high - o->low) / YS_OBSERVED_BINS;
    double error = 0;
    for (int i = 0; i < YS_OBSERVED_BINS; i++) {
        const double x = o->low + (i + 0.5) * width;
        const int q = ys_quant_u8(x, at->scale, (int)at->zero_point);
        const double off = x - at->scale * (double)(q - (int)at->zero_point);
        error += (double)o->counts[i] * off * off;
    }
    return error;
}

static void cut_mse(const struct ys_numbers_seen *o, double *low, double *high)
{
    enum { CANDIDATES = 128 };
    double least = INFINITY;
    for (int i = CANDIDATES; i > 0; i--) {
        const double share = (double)i / CANDIDATES;
        struct ys_activation_scale at = {0};
        ys_quant_activation(o->low * share, o->high * share, &at);
        const double error = at.constant ? INFINITY : error_of(o, &at);
        if (error < least) {
            least = error;
            *low = o->low * share;
            *high = o->high * share;
        }
    }
}

void ys_quant_range(const struct ys_numbers_seen *observed, const struct ys_quant_rule *rule, double *low, double *high)
{
    *low = observed->low;
    *high = observed->high;
    if (rule->calibration == YS_QUANT_PERCENTILE)
        cut_percentile(observed, rule->percentile, low, high);
    if (rule->calibration == YS_QUANT_MSE)
        cut_mse(observed, low, high);
    *low = *low < 0 ? *low : 0;
    *high = *high > 0 ? *high : 0;
}

void ys_quant_activation(double low, double high, struct ys_activation_scale *at)
{
    const double scale = (double)(float)((high - low) / UINT8_MAX);
    at->constant = !(scale >= FLT_MIN);
    at->scale = at->constant ? 1 : scale;
    at->zero_point = at->constant ? 0 : (int64_t)ys_quant_clamped(ys_quant_round(-low / scale), 0, UINT8_MAX);
}

/** The least float32 that is at least x. */
static double float_above(double x)
{
    const float near = (float)x;
    return (double)((double)near < x ? nextafterf(near, INFINITY) : near);
}

/* What the scales of a weight follow from. */
struct weighed_channels {
    const float *weight, *bias; /* no bias: NULL */
    int64_t channels, each;
    double in_scale; /* 0: the bias is no integer */
    int limit;
};

/** Of channels [first, end) together. */
static double scale_of(const struct weighed_channels *w, int64_t first, int64_t end)
{
    double most = 0, bias = 0;
    for (int64_t i = first * w->each; i < end * w->each; i++)
        most = fabs((double)w->weight[i]) > most ? fabs((double)w->weight[i]) : most;
    for (int64_t c = first; w->bias && w->in_scale > 0 && c < end; c++)
        bias = fabs((double)w->bias[c]) > bias ? fabs((double)w->bias[c]) : bias;
    const double by_weight = float_above(most / w->limit),
                 by_bias = w->in_scale > 0 ? float_above(bias / w->in_scale / YS_QUANT_BIAS_LIMIT) : 0;
    const double scale = by_weight > by_bias ? by_weight : by_bias;
    return scale >= FLT_MIN ? scale : most == 0 && bias == 0 ? 1 : FLT_MIN;
}

static ys_status add_weight(const struct weighed_channels *w, const char *param, struct ys_scales *scales)
{
    struct ys_weight_scale *at = ys_scales_add_weight(scales);
    const size_t count = scales->rule.scheme == YS_QUANT_PER_CHANNEL ? (size_t)w->channels : 1;
    if (!at)
        return ys_out_of_memory();
    at->param = ys_strdup(param);
    double *own = ys_alloc(count, sizeof *own);
    at->scales = (struct ys_list){own, own ? count : 0};
    if (!at->param || !own)
        return ys_out_of_memory();
    for (size_t c = 0; c < count; c++)
        own[c] = count == 1 ? scale_of(w, 0, w->channels) : scale_of(w, (int64_t)c, (int64_t)c + 1);
    return YS_OK;
}

ys_status ys_quant_weights(const struct ys_folded *folded, const struct ys_quant_plan *plan, struct ys_scales *scales)
{
    const struct ys_graph *g = folded->graph;
    for (size_t i = 0; i < g->node_count; i++) {
        const struct ys_node *node = &g->nodes[i];
        if (plan->nodes[i].way != YS_QUANT_IN_INTEGER || (node->op != YS_OP_CONV && node->op != YS_OP_GEMM))
            continue;
        const struct ys_param *param = &g->params[node->weight];
        struct weighed_channels w = {.weight = folded->values[node->weight],
                                     .bias = node->bias < 0 ? NULL : folded->values[node->bias],
                                     .channels = param->shape[0],
                                     .each = ys_param_elements(param) / param->shape[0],
                                     .limit = ys_quant_weight_limit(scales->rule.range)};
        const int of = plan->scale_of[node->in[0]];
        const struct ys_activation_scale *in = of < 0 ? NULL : ys_scales_of_value(scales, g->values[of].name);
        if (of >= 0 && !in)
            return ys_fail(YS_EFORMAT, "scales: there is none of value %s: calibrate again", g->values[of].name);
        w.in_scale = in ? in->scale : 0;
        YS_TRY(add_weight(&w, param->name, scales));
    }
    return YS_OK;
}
