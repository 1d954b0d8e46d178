/* Quantised networks of the operators' cases, and what docs/quantised.md says that they compute, in loops without
 * thought of speed: values in C order, each integer in a long. */
#ifndef YS_TESTS_BACKEND_INTEGER_NAIVE_H
#define YS_TESTS_BACKEND_INTEGER_NAIVE_H

#include "base/mem.h"
#include "quant/calibrate.h"
#include "quant/rounding.h"
#include "tap.h"
#include "unit/backend/operator_cases.h"

/** Pixels, cut to where they lie anyway, which is in float, and a convolution of them: node 0 and 1. What reads the
 * pixels in a case reads the convolution's result here. */
static void naive_begin(struct net *n)
{
    const int64_t channels = n->values[0].shape[1];
    net_clip(n, -100, 100);
    net_conv(n, channels, SQUARE(1, 1, 0), 1);
}

static void naive_end(struct net *n)
{
    for (size_t i = 2; i < n->graph.node_count; i++)
        for (size_t k = 0; k < n->nodes[i].in_count; k++)
            if (n->nodes[i].in[k] == 0) {
                n->nodes[i].in[k] = 2;
                n->values[0].uses--;
                n->values[2].uses++;
            }
    net_finish(n);
}

struct naive_value {
    long *q;
    bool *is_near; /* its exact value lies so near to a half that float may round to the other side; that of the pixels'
                      convolution may lie on it, exactly */
};

/** One network with its scales, weights and values. */
struct naive {
    struct net net;
    struct ys_folded folded; /* graph: the net's; values as set */
    struct ys_quant_plan plan;
    struct ys_scales scales;
    float *x;
    struct naive_value values[NET_MAX];
    bool is_doubtful; /* a value that goes on is near */
};

static const struct ys_activation_scale *naive_scale(const struct naive *t, int value)
{
    return ys_scales_of_value(&t->scales, t->net.values[t->plan.scale_of[value]].name);
}

static size_t naive_count(const struct naive *t, int value)
{
    return (size_t)(t->net.batch * ys_value_row_elements(&t->net.values[value]));
}

static double naive_weight_scale(const struct naive *t, const struct ys_node *node, int64_t channel)
{
    return ys_weight_scale_at(ys_scales_of_param(&t->scales, t->net.params[node->weight].name), channel);
}

/** The result `exact`, in steps of the scale of what `node` makes. */
static void naive_put(struct naive *t, const struct ys_node *node, size_t i, double exact)
{
    const int result = ys_quant_result(&t->net.graph, &t->plan, node);
    const struct ys_activation_scale *scale = naive_scale(t, result);
    const struct ys_node *last = &t->net.nodes[t->net.values[result].producer];
    long low = 0, high = 255;
    if (last->op == YS_OP_RELU)
        low = scale->zero_point;
    if (last->op == YS_OP_CLIP) {
        low = lround(fmin(fmax(nearbyint(last->low / scale->scale) + (double)scale->zero_point, 0), 255));
        high = lround(fmin(fmax(nearbyint(last->high / scale->scale) + (double)scale->zero_point, 0), 255));
    }
    const double rounded = nearbyint(exact) + (double)scale->zero_point;
    t->values[result].q[i] = rounded < (double)low ? low : rounded > (double)high ? high : (long)rounded;
    t->values[result].is_near[i] = result != 2 && fabs(fabs(exact - floor(exact)) - 0.5) < 2e-4;
}

static long naive_at(const struct naive *t, int value, int64_t row, int64_t c, int64_t y, int64_t x)
{
    const int64_t *s = t->net.values[value].shape;
    return t->values[value].q[((row * s[1] + c) * s[2] + y) * s[3] + x];
}

/** Free with free(). */
static long *naive_weights(const struct naive *t, const struct ys_node *node)
{
    const struct ys_param *p = &t->net.params[node->weight];
    const double limit = t->scales.rule.range == YS_QUANT_REDUCED ? 63 : 127;
    const int64_t count = ys_param_elements(p), each = count / p->shape[0],
                  taps = node->op == YS_OP_CONV ? node->window.kernel[0] * node->window.kernel[1] : 1;
    const unsigned char *connected = ys_node_connections(node);
    long *weights = malloc((size_t)count * sizeof *weights);
    for (int64_t c = 0; c < p->shape[0]; c++) {
        const double scale = naive_weight_scale(t, node, c);
        for (int64_t i = c * each; i < (c + 1) * each; i++)
            weights[i] =
                connected && !connected[i / taps]
                    ? 0
                    : lround(fmin(fmax(nearbyint((double)t->folded.values[node->weight][i] / scale), -limit), limit));
    }
    return weights;
}

static long naive_bias(const struct naive *t, const struct ys_node *node, int64_t channel)
{
    const double in = naive_scale(t, node->in[0])->scale;
    return node->bias < 0 ? 0
                          : lround(nearbyint((double)t->folded.values[node->bias][channel] /
                                             (in * naive_weight_scale(t, node, channel))));
}

static void naive_conv(struct naive *t, const struct ys_node *node)
{
    const struct ys_window *w = &node->window;
    const int64_t *in = t->net.values[node->in[0]].shape, *out = t->net.values[node->out[0]].shape;
    const int64_t deep = in[1] / w->group, taps = w->kernel[0] * w->kernel[1];
    const struct ys_activation_scale *x = naive_scale(t, node->in[0]),
                                     *y = naive_scale(t, ys_quant_result(&t->net.graph, &t->plan, node));
    long *weights = naive_weights(t, node);
    size_t at = 0;
    for (int64_t row = 0; row < t->net.batch; row++)
        for (int64_t c = 0; c < out[1]; c++)
            for (int64_t i = 0; i < out[2] * out[3]; i++) {
                long long sum = naive_bias(t, node, c);
                for (int64_t k = 0; k < deep * taps; k++) {
                    const int64_t oy = i / out[3] * w->stride[0] - w->pad[0] + k % taps / w->kernel[1] * w->dilation[0],
                                  ox = i % out[3] * w->stride[1] - w->pad[1] + k % w->kernel[1] * w->dilation[1],
                                  channel = c / (out[1] / w->group) * deep + k / taps;
                    if (oy >= 0 && oy < in[2] && ox >= 0 && ox < in[3])
                        sum += (naive_at(t, node->in[0], row, channel, oy, ox) - x->zero_point) *
                               weights[c * deep * taps + k];
                }
                naive_put(t, node, at++, (double)sum * (x->scale * naive_weight_scale(t, node, c) / y->scale));
            }
    free(weights);
}

static void naive_gemm(struct naive *t, const struct ys_node *node)
{
    const int64_t depth = t->net.values[node->in[0]].shape[1], out = t->net.values[node->out[0]].shape[1];
    const struct ys_activation_scale *x = naive_scale(t, node->in[0]),
                                     *y = naive_scale(t, ys_quant_result(&t->net.graph, &t->plan, node));
    long *weights = naive_weights(t, node);
    for (int64_t row = 0; row < t->net.batch; row++)
        for (int64_t c = 0; c < out; c++) {
            long long sum = naive_bias(t, node, c);
            for (int64_t k = 0; k < depth; k++)
                sum += (t->values[node->in[0]].q[row * depth + k] - x->zero_point) * weights[c * depth + k];
            naive_put(t, node, (size_t)(row * out + c),
                      (double)sum * (x->scale * naive_weight_scale(t, node, c) / y->scale));
        }
    free(weights);
}

static void naive_pool(struct naive *t, const struct ys_node *node)
{
    const int64_t *in = t->net.values[node->in[0]].shape, *out = t->net.values[node->out[0]].shape;
    const struct ys_window whole = {.kernel = {in[2], in[3]}, .stride = {1, 1}, .dilation = {1, 1}};
    const struct ys_window *w = ys_node_window(node) ? ys_node_window(node) : &whole;
    const bool is_average = node->op == YS_OP_AVERAGEPOOL || node->op == YS_OP_GLOBAL_AVERAGEPOOL;
    const struct ys_activation_scale *x = naive_scale(t, node->in[0]), *y = naive_scale(t, node->out[0]);
    size_t at = 0;
    for (int64_t plane = 0; plane < t->net.batch * in[1]; plane++)
        for (int64_t i = 0; i < out[2] * out[3]; i++, at++) {
            long most = 0, sum = 0, divisor = 0;
            for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
                const int64_t oy = i / out[3] * w->stride[0] - w->pad[0] + k / w->kernel[1] * w->dilation[0],
                              ox = i % out[3] * w->stride[1] - w->pad[1] + k % w->kernel[1] * w->dilation[1];
                const bool is_inside = oy >= 0 && oy < in[2] && ox >= 0 && ox < in[3],
                           is_padded = oy < in[2] + w->pad[2] && ox < in[3] + w->pad[3]; /* none lies in front of it */
                divisor += w->include_pad ? is_padded : is_inside;
                if (!is_inside)
                    continue;
                const long q = naive_at(t, node->in[0], plane / in[1], plane % in[1], oy, ox);
                most = q > most ? q : most;
                sum += q - x->zero_point;
            }
            if (is_average)
                naive_put(t, node, at, divisor ? (double)sum * (x->scale / y->scale / (double)divisor) : 0);
            else
                t->values[node->out[0]].q[at] = most;
        }
}

/** Relu, Clip, Concat along the channels: a function of each byte, input after input. */
static void naive_move(struct naive *t, const struct ys_node *node)
{
    const size_t rows = (size_t)t->net.batch, of = naive_count(t, node->out[0]) / rows;
    size_t first = 0;
    for (size_t k = 0; k < node->in_count; k++) {
        const size_t each = naive_count(t, node->in[k]) / rows;
        const struct ys_activation_scale *x = naive_scale(t, node->in[k]), *y = naive_scale(t, node->out[0]);
        for (size_t i = 0; i < rows * each; i++)
            naive_put(t, node, i / each * of + first + i % each,
                      (double)(t->values[node->in[k]].q[i] - x->zero_point) * (x->scale / y->scale));
        first += each;
    }
}

static void naive_sum(struct naive *t, const struct ys_node *node)
{
    const int result = ys_quant_result(&t->net.graph, &t->plan, node);
    const struct ys_activation_scale *y = naive_scale(t, result);
    for (size_t i = 0; i < naive_count(t, result); i++) {
        double sum = 0;
        for (int k = 0; k < 2; k++) {
            const struct ys_activation_scale *x = naive_scale(t, node->in[k]);
            sum += (double)(t->values[node->in[k]].q[i] - x->zero_point) * (x->scale / y->scale);
        }
        naive_put(t, node, i, sum);
    }
}

static void naive_node(struct naive *t, const struct ys_node *node)
{
    for (size_t k = 0; k < node->in_count; k++)
        for (size_t i = 0; node->op != YS_OP_FLATTEN && node->op != YS_OP_RESHAPE && i < naive_count(t, node->in[k]);
             i++)
            t->is_doubtful |= t->values[node->in[k]].is_near[i];
    switch (node->op) {
    case YS_OP_CONV:
        naive_conv(t, node);
        break;
    case YS_OP_GEMM:
        naive_gemm(t, node);
        break;
    case YS_OP_ADD:
        naive_sum(t, node);
        break;
    case YS_OP_RELU:
    case YS_OP_CLIP:
    case YS_OP_CONCAT:
        naive_move(t, node);
        break;
    case YS_OP_FLATTEN:
    case YS_OP_RESHAPE:
    case YS_OP_DROPOUT:
        memcpy(t->values[node->out[0]].q, t->values[node->in[0]].q, naive_count(t, node->in[0]) * sizeof(long));
        memcpy(t->values[node->out[0]].is_near, t->values[node->in[0]].is_near, naive_count(t, node->in[0]));
        break;
    default:
        naive_pool(t, node);
    }
}

/** Computes all values. Of a node that joins another the result is the other's. */
static void naive_compute(struct naive *t)
{
    for (size_t v = 0; v < t->net.graph.value_count; v++) {
        t->values[v].q = calloc(naive_count(t, (int)v), sizeof(long));
        t->values[v].is_near = calloc(naive_count(t, (int)v), 1);
    }
    const struct ys_activation_scale *x = naive_scale(t, 1);
    for (size_t i = 0; i < naive_count(t, 0); i++)
        t->values[1].q[i] = lround(fmin(fmax(nearbyint((double)t->x[i] / x->scale) + (double)x->zero_point, 0), 255));
    for (size_t i = 1; i < t->net.graph.node_count; i++)
        if (t->plan.nodes[i].way != YS_QUANT_JOINED)
            naive_node(t, &t->net.nodes[i]);
}

/** Whether the loops here have every node but the first. */
static bool naive_has_all(const struct naive *t)
{
    for (size_t i = 1; i < t->net.graph.node_count; i++)
        if (t->plan.nodes[i].way == YS_QUANT_IN_FLOAT)
            return false;
    return true;
}

/** Scales that use the whole byte and go beyond it somewhat. The convolution of the pixels has one at which nothing has
 * to be rounded in float: 64 steps of its sums are one of its result. */
static void naive_draw_scales(struct naive *t, struct ys_rng *rng)
{
    struct ys_graph *g = &t->net.graph;
    const int limit = ys_quant_weight_limit(t->scales.rule.range);
    float weight = (float)(1.0 / limit); /* as ys_quant_weights() has it, of weights of which one is 1 */
    weight = (double)weight < 1.0 / limit ? nextafterf(weight, 1) : weight;
    for (size_t v = 0; v < g->value_count; v++) {
        if (t->plan.scale_of[v] != (int)v)
            continue;
        struct ys_activation_scale *at = ys_scales_add_activation(&t->scales);
        at->value = ys_strdup(t->net.values[v].name);
        const int producer = t->net.values[v].producer;
        const struct ys_node *node = &g->nodes[producer];
        if (t->plan.nodes[producer].way == YS_QUANT_JOINED)
            node = &g->nodes[t->net.values[node->in[0]].producer];
        double scale = 1.0 / 128;
        if (v == 2)
            scale = 64 * scale * (double)weight;
        else if (v > 2) {
            const double in = naive_scale(t, node->in[0])->scale;
            const double deep = node->weight < 0 ? 0
                                                 : (double)ys_param_elements(&t->net.params[node->weight]) /
                                                       (double)t->net.params[node->weight].shape[0];
            scale = in * (0.6 + ys_rng_uniform(rng)) * (deep > 0 ? 0.6 * sqrt(deep) : 1);
        }
        at->scale = (double)(float)scale;
        at->zero_point = v < 3 ? 128 : (int64_t)ys_rng_below(rng, 256);
    }
}

/** Draws the network's numbers. `x` and weights lie in [-1, 1]; some are 1, so that scales of weights are alike. */
static void naive_draw(struct naive *t, const struct ys_quant_rule *rule, const char *name, uint64_t seed)
{
    struct ys_rng rng;
    struct ys_graph *g = &t->net.graph;
    ys_rng_init(&rng, seed, name);
    t->folded = (struct ys_folded){.graph = g, .values = calloc(g->param_count, sizeof *t->folded.values)};
    ys_scales_init(&t->scales);
    t->scales.rule = *rule;
    t->x = malloc(naive_count(t, 0) * sizeof *t->x);
    for (size_t i = 0; i < naive_count(t, 0); i++)
        t->x[i] = (float)(2 * ys_rng_uniform(&rng) - 1);
    for (size_t p = 0; p < g->param_count; p++) {
        const size_t count = (size_t)ys_param_elements(&t->net.params[p]),
                     each = count / (size_t)t->net.params[p].shape[0];
        t->folded.values[p] = malloc(count * sizeof(float));
        for (size_t i = 0; i < count; i++)
            t->folded.values[p][i] = i % each ? (float)(2 * ys_rng_uniform(&rng) - 1) : i / each % 2 ? -1.0F : 1.0F;
    }
    naive_draw_scales(t, &rng);
    CHECK(ys_quant_weights(&t->folded, &t->plan, &t->scales) == YS_OK);
    CHECK_TEXT(ys_quant_plan_check(g, &t->plan, &t->scales) == YS_OK ? "" : ys_error(), "");
}

static void naive_free(struct naive *t)
{
    for (size_t v = 0; v < NET_MAX; v++) {
        free(t->values[v].q);
        free(t->values[v].is_near);
        t->values[v] = (struct naive_value){0};
    }
    for (size_t p = 0; t->folded.values && p < t->net.graph.param_count; p++)
        free(t->folded.values[p]);
    free(t->folded.values);
    free(t->x);
    ys_scales_fini(&t->scales);
    t->x = NULL;
    t->folded.values = NULL;
    t->is_doubtful = false;
}

#endif
