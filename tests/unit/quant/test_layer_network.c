/* Operators by themselves: what is right passes, and each way to be wrong is found. */
#include "quant/layer_network.h"

#include "base/mem.h"
#include "graph/builder.h"
#include "quant/exact_operator.h"
#include "quant/quant_plan.h"
#include "quant/rounding.h"
#include "tap.h"

enum { ROWS = 2 };

struct made {
    struct ys_folded folded;
    struct ys_scales scales;
    struct ys_layer_network network;
    double numbers[1024];
};

/* n - a (Conv) - r (Relu) - p (MaxPool) - b (Conv); b + p = s - g (average) - f - fc (Gemm); sums at the end in float.
 */
static struct ys_graph *network(void)
{
    const int64_t row[] = {2, 7, 5};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("small", row, 3, YS_U8, &b) != YS_OK)
        return NULL;
    int v = ys_build_normalize(b, ys_build_input(b), 1, 128, 64, "n");
    v = ys_build_relu(b, ys_build_conv(b, v, 4, 3, 2, 1, "a"), "r");
    const int p = ys_build_maxpool(b, v, 2, 1, 0, "p");
    v = ys_build_add(b, ys_build_conv(b, p, 4, 3, 1, 1, "b"), p, "s");
    v = ys_build_flatten(b, ys_build_plain(b, YS_OP_GLOBAL_AVERAGEPOOL, v, "g"), "f");
    CHECK(ys_build_finish(b, ys_build_gemm(b, v, 3, "fc"), &graph) == YS_OK);
    return graph;
}

/* Numbers whose steps go through all bytes; odd ones differ from channel to channel. */
static const double *values(void *context, int value, int64_t row)
{
    struct made *made = context;
    const int64_t count = ys_value_row_elements(&made->folded.graph->values[value]);
    for (int64_t i = 0; i < count; i++)
        made->numbers[i] = 0.0371 * (double)((i * 97 + row * 41 + value * 13) % 256 - 100);
    return made->numbers;
}

static void make_scales(struct made *made, int range)
{
    const struct ys_graph *graph = made->folded.graph;
    struct ys_quant_plan plan;
    ys_scales_init(&made->scales);
    made->scales.rule = (struct ys_quant_rule){
        .kind = YS_QUANT_STATIC, .range = range, .calibration = YS_QUANT_MINMAX, .percentile = NAN, .rows = 1};
    REQUIRE(ys_quant_plan_make(graph, &made->scales.rule, &plan) == YS_OK);
    for (size_t v = 0; v < graph->value_count; v++)
        if (plan.scale_of[v] == (int)v) {
            struct ys_activation_scale *at = ys_scales_add_activation(&made->scales);
            at->value = ys_strdup(graph->values[v].name);
            at->scale = (double)(0.02F + 0.003F * (float)v);
            at->zero_point = 100 + (int64_t)v;
        }
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct ys_node *node = &graph->nodes[n];
        if (node->op != YS_OP_CONV && node->op != YS_OP_GEMM)
            continue;
        const struct ys_param *param = &graph->params[node->weight];
        struct ys_weight_scale *at = ys_scales_add_weight(&made->scales);
        double *scales = ys_alloc((size_t)param->shape[0], sizeof *scales);
        for (int64_t c = 0; c < param->shape[0]; c++)
            scales[c] = (double)(0.01F + 0.002F * (float)c);
        at->param = ys_strdup(param->name);
        at->scales = (struct ys_list){scales, (size_t)param->shape[0]};
    }
    ys_quant_plan_fini(&plan);
}

static void begin(struct made *made, int range)
{
    *made = (struct made){0};
    struct ys_graph *graph = made->folded.graph = network();
    REQUIRE(graph);
    made->folded.values = ys_alloc(graph->param_count, sizeof *made->folded.values);
    for (size_t p = 0; p < graph->param_count; p++) {
        const int64_t count = ys_param_elements(&graph->params[p]);
        float *at = made->folded.values[p] = ys_alloc((size_t)count, sizeof *at);
        for (int64_t i = 0; i < count; i++)
            at[i] = 0.011F * (float)((i * 53 + (int64_t)p * 7) % 191 - 95);
    }
    make_scales(made, range);
    REQUIRE(ys_layer_network_make(&made->folded, &made->scales, ROWS, values, made, &made->network) == YS_OK);
}

static void end(struct made *made)
{
    ys_layer_network_fini(&made->network);
    ys_scales_fini(&made->scales);
    ys_folded_fini(&made->folded);
}

/* An adapter: the number of element `at` of a layer. */
typedef double (*adapter)(const struct ys_shown_layer *layer, int64_t at);

static double integer_of(const struct ys_shown_layer *layer, double steps)
{
    return ys_quant_steps(steps, layer->zero_point, layer->low, layer->high);
}

static double right(const struct ys_shown_layer *layer, int64_t at)
{
    return (integer_of(layer, layer->exact[at]) - layer->zero_point) * layer->scale;
}

static struct ys_layer_verdict judged(const struct made *made, adapter answer)
{
    const struct ys_layer_network *network = &made->network;
    struct ys_layer_verdict verdict;
    double *logits = ys_alloc((size_t)(network->rows * network->columns), sizeof *logits);
    for (size_t i = 0; i < network->count; i++) {
        const struct ys_shown_layer *layer = &network->items[i];
        for (int64_t at = 0; at < network->rows * layer->length; at++)
            logits[at / layer->length * network->columns + layer->offset + at % layer->length] = answer(layer, at);
    }
    ys_layer_judge(network, logits, &verdict);
    ys_free(logits);
    return verdict;
}

static void the_network_is_one_like_any_other_and_its_scales_are_whole(void)
{
    struct made made;
    struct ys_quant_plan plan;
    begin(&made, YS_QUANT_FULL);
    const struct ys_graph *graph = made.network.graph;
    REQUIRE(ys_quant_plan_make(graph, &made.network.scales.rule, &plan) == YS_OK);
    CHECK(ys_quant_plan_check(graph, &plan, &made.network.scales) == YS_OK);
    CHECK_INT(graph->values[graph->output].shape[1], made.network.columns);
    for (size_t i = 0; i < graph->node_count; i++) /* what is shown is joined as numbers */
        if (graph->nodes[i].op == YS_OP_CONCAT)
            CHECK_INT(plan.nodes[i].way, YS_QUANT_IN_FLOAT);
    for (size_t p = 0; p < graph->param_count; p++)
        CHECK(made.network.values[p] != NULL);
    ys_quant_plan_fini(&plan);
    end(&made);
}

static void integers_that_are_right_pass(void)
{
    for (int range = YS_QUANT_FULL; range <= YS_QUANT_REDUCED; range++) {
        struct made made;
        begin(&made, range);
        const struct ys_layer_verdict verdict = judged(&made, right);
        CHECK_INT(verdict.wrong, 0);
        CHECK_INT(verdict.in_band, 0);
        CHECK_INT(verdict.operators, 6); /* a, p, b, s, g, fc */
        CHECK(!verdict.first && !verdict.saturates && !verdict.is_float);
        end(&made);
    }
}

static double half_away(const struct ys_shown_layer *layer, int64_t at)
{
    const double q = round(layer->exact[at]) + layer->zero_point;
    return (ys_quant_clamped(q, layer->low, layer->high) - layer->zero_point) * layer->scale;
}

static double without_zero_point(const struct ys_shown_layer *layer, int64_t at)
{
    return integer_of(layer, layer->exact[at]) * layer->scale;
}

/* Those of the channel before. */
static double of_another_channel(const struct ys_shown_layer *layer, int64_t at)
{
    const int64_t channel = at % layer->length % 4;
    const double own = 0.01 + 0.002 * (double)channel, other = 0.01 + 0.002 * (double)((channel + 3) % 4);
    const bool is_conv = strcmp(layer->name, "b") == 0;
    return (integer_of(layer, layer->exact[at] * (is_conv ? other / own : 1)) - layer->zero_point) * layer->scale;
}

static double saturating(const struct ys_shown_layer *layer, int64_t at)
{
    const double steps = layer->exact[at] * (layer->kind == YS_LAYER_PAIRS ? 32767.0 / (2 * 255 * 127) : 1);
    return (integer_of(layer, steps) - layer->zero_point) * layer->scale;
}

static double unrounded(const struct ys_shown_layer *layer, int64_t at)
{
    return layer->kind == YS_LAYER_OPERATOR ? layer->exact[at] * layer->scale : right(layer, at);
}

static double in_float(const struct ys_shown_layer *layer, int64_t at)
{
    return right(layer, at) + (layer->kind == YS_LAYER_LONG_SUMS ? 3 * layer->scale : 0);
}

static void each_wrong_adapter_is_found(void)
{
    static const struct {
        adapter answer;
        const char *first;
    } wrong[] = {{half_away, "numbers halfway between two steps"},
                 {without_zero_point, "a"},
                 {of_another_channel, "b"},
                 {saturating, "sums of pairs of large products"},
                 {unrounded, "a"}};
    struct made made;
    begin(&made, YS_QUANT_FULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct ys_layer_verdict verdict = judged(&made, wrong[i].answer);
        CHECK(verdict.wrong > 0);
        CHECK_TEXT(verdict.first ? verdict.first->name : "", wrong[i].first);
        CHECK(verdict.saturates == (wrong[i].answer == saturating));
    }
    end(&made);
}

static void sums_in_float_are_told_and_are_no_mistake(void)
{
    struct made made;
    begin(&made, YS_QUANT_FULL);
    const struct ys_layer_verdict verdict = judged(&made, in_float);
    CHECK(verdict.is_float);
    CHECK_INT(verdict.wrong, 0);
    end(&made);
}

/* Moves what is exact next to a half, and answers with the other side of it. */
static void a_step_beside_is_allowed_in_the_band_alone(void)
{
    static const struct {
        double from_half; /* in units of the band */
        int64_t in_band;
    } places[] = {{0.5, 1}, {-0.5, 1}, {1.5, 0}, {-1.5, 0}};
    struct made made;
    begin(&made, YS_QUANT_FULL);
    struct ys_shown_layer *layer = &made.network.items[0];
    CHECK_TEXT(layer->name, "a");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        layer->size[0] = 100;
        layer->exact[0] = 10.5 + places[i].from_half * YS_LAYER_BAND * (100 + 255);
        double *logits = ys_alloc((size_t)(ROWS * made.network.columns), sizeof *logits);
        for (size_t k = 0; k < made.network.count; k++)
            for (int64_t at = 0; at < ROWS * made.network.items[k].length; at++)
                logits[at / made.network.items[k].length * made.network.columns + made.network.items[k].offset +
                       at % made.network.items[k].length] = right(&made.network.items[k], at);
        logits[layer->offset] = (places[i].from_half > 0 ? 10 : 11) * layer->scale;
        struct ys_layer_verdict verdict;
        ys_layer_judge(&made.network, logits, &verdict);
        CHECK_INT(verdict.in_band, places[i].in_band);
        CHECK_INT(verdict.wrong, 1 - places[i].in_band);
        ys_free(logits);
    }
    end(&made);
}

/* A convolution with padding and stride, by hand. */
static void sums_are_those_of_the_rule(void)
{
    struct made made;
    begin(&made, YS_QUANT_FULL);
    const struct ys_shown_layer *layer = &made.network.items[0];
    const struct ys_graph *graph = made.folded.graph;
    const double *numbers = values(&made, graph->nodes[1].in[0], 0);
    const struct ys_activation_scale *in = ys_scales_of_value(&made.scales, "n");
    int64_t sum = 0; /* of the first result: rows and columns -1 are padding */
    for (int64_t c = 0; c < 2; c++)
        for (int64_t y = 0; y < 2; y++)
            for (int64_t x = 0; x < 2; x++) {
                const int q = ys_quant_u8(numbers[(c * 7 + y) * 5 + x], in->scale, (int)in->zero_point);
                const float w = made.folded.values[graph->nodes[1].weight][(c * 3 + y + 1) * 3 + x + 1];
                sum += (int64_t)(q - in->zero_point) * ys_quant_s8((double)w, (double)0.01F, 127);
            }
    const double bias = (double)made.folded.values[graph->nodes[1].bias][0];
    const double step = in->scale * (double)0.01F;
    CHECK_NEAR(layer->exact[0], ((double)sum + ys_quant_bias(bias, in->scale, (double)0.01F)) * step / layer->scale,
               1e-9); /* hundreds, in double */
    end(&made);
}

TAP_MAIN(TAP_CASE(the_network_is_one_like_any_other_and_its_scales_are_whole), TAP_CASE(integers_that_are_right_pass),
         TAP_CASE(each_wrong_adapter_is_found), TAP_CASE(sums_in_float_are_told_and_are_no_mistake),
         TAP_CASE(a_step_beside_is_allowed_in_the_band_alone), TAP_CASE(sums_are_those_of_the_rule))
