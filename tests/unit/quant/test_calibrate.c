/* Scales from made numbers. */
#include "quant/calibrate.h"
#include "tap.h"

static struct ys_quant_rule rule_of(int calibration, double percentile)
{
    return (struct ys_quant_rule){.kind = YS_QUANT_STATIC, .calibration = calibration, .percentile = percentile};
}

/** 0 to 999, each once, and one of `far`. */
static void see(struct ys_numbers_seen *o, float far)
{
    static float x[1001];
    for (int i = 0; i < 1000; i++)
        x[i] = (float)i;
    x[1000] = far;
    memset(o, 0, sizeof *o);
    CHECK(ys_observe_ends(o, "v", x, 500) == YS_OK); /* in pieces */
    CHECK(ys_observe_ends(o, "v", x + 500, 501) == YS_OK);
    ys_observe_bins(o, x, 500);
    ys_observe_bins(o, x + 500, 501);
}

static void minmax_takes_the_ends(void)
{
    static struct ys_numbers_seen o;
    double low, high;
    const struct ys_quant_rule rule = rule_of(YS_QUANT_MINMAX, NAN);
    see(&o, -51);
    ys_quant_range(&o, &rule, &low, &high);
    CHECK(low == -51 && high == 999);
    struct ys_activation_scale at = {0};
    ys_quant_activation(low, high, &at);
    CHECK(at.scale == (double)(float)(1050.0 / 255) && !at.constant);
    CHECK_INT(at.zero_point, 12); /* 51 / 4.1176 = 12.4 */
}

static void percentile_leaves_out_what_is_far(void)
{
    static struct ys_numbers_seen o;
    double low, high;
    struct ys_quant_rule rule = rule_of(YS_QUANT_PERCENTILE, 99.8); /* a thousandth on each side: one of 1001 */
    see(&o, 100000);
    ys_quant_range(&o, &rule, &low, &high);
    CHECK(low == 0);
    CHECK(high >= 999 && high <= 999 + 100000.0 / YS_OBSERVED_BINS);
    rule.percentile = 100;
    ys_quant_range(&o, &rule, &low, &high);
    CHECK(high == 100000);
}

static void mse_weighs_what_is_cut_against_what_is_rounded(void)
{
    static struct ys_numbers_seen o;
    double low, high;
    const struct ys_quant_rule rule = rule_of(YS_QUANT_MSE, NAN);
    see(&o, 1100); /* the step would grow by a tenth: less than cutting one number costs? */
    ys_quant_range(&o, &rule, &low, &high);
    CHECK(low == 0 && high > 900 && high <= 1100);
    /* Far more numbers than ends: half of the range is worth more than one number at its end. */
    static float many[100000];
    for (int i = 0; i < 100000; i++)
        many[i] = (float)(i % 997) / 997;
    many[0] = 2;
    memset(&o, 0, sizeof o);
    CHECK(ys_observe_ends(&o, "v", many, 100000) == YS_OK);
    ys_observe_bins(&o, many, 100000);
    ys_quant_range(&o, &rule, &low, &high);
    /* at 1: 1 of error; at 2 a step is twice as long: 3 / 12 (1 / 255)^2 for each of 100,000, 0.38. */
    CHECK(high > 1.4);
    for (int i = 0; i < 100000; i++)
        many[i] /= 4; /* where the others are a quarter as large against it, cutting it costs more */
    many[0] = 0.27F;
    memset(&o, 0, sizeof o);
    CHECK(ys_observe_ends(&o, "v", many, 100000) == YS_OK);
    ys_observe_bins(&o, many, 100000);
    ys_quant_range(&o, &rule, &low, &high);
    CHECK(high < 0.27);
}

static void constant_values_have_a_scale(void)
{
    struct ys_activation_scale at = {0};
    ys_quant_activation(0, 0, &at);
    CHECK(at.constant && at.scale == 1 && at.zero_point == 0);
    ys_quant_activation(0, 1e-44, &at);
    CHECK(at.constant && at.scale == 1);
    ys_quant_activation(-2, 0, &at); /* never above 0 */
    CHECK(!at.constant && at.scale == (double)(float)(2.0 / 255));
    CHECK_INT(at.zero_point, 255);
}

static void what_is_no_number_is_named(void)
{
    static struct ys_numbers_seen o;
    const float nan[] = {1, NAN}, infinite[] = {1, -INFINITY};
    CHECK_INT(ys_observe_ends(&o, "relu3", nan, 2), YS_EINVAL);
    CHECK_HAS(ys_error(), "value relu3 has a NaN");
    CHECK_INT(ys_observe_ends(&o, "relu3", infinite, 2), YS_EINVAL);
}

/** A dense layer of two channels on a value of scale 0.5. */
static void weights_follow_their_channel_and_their_bias(void)
{
    struct ys_value values[] = {{.name = (char[]){"x"}, .rank = 2, .shape = {YS_BATCH, 3}, .producer = -1},
                                {.name = (char[]){"r"}, .rank = 2, .shape = {YS_BATCH, 3}, .producer = 0, .uses = 1},
                                {.name = (char[]){"y"}, .rank = 2, .shape = {YS_BATCH, 4}, .producer = 1, .uses = 1}};
    struct ys_param params[] = {{.name = (char[]){"w"}, .rank = 2, .shape = {4, 3}},
                                {.name = (char[]){"b"}, .rank = 1, .shape = {4}}};
    struct ys_node nodes[] = {
        {.op = YS_OP_TANH, .name = (char[]){"r"}, .in_count = 1, .out_count = 1, .out = {1}, .weight = -1, .bias = -1},
        {.op = YS_OP_GEMM,
         .name = (char[]){"y"},
         .in_count = 1,
         .out_count = 1,
         .in = {1},
         .out = {2},
         .weight = 0,
         .bias = 1}};
    struct ys_graph graph = {.name = (char[]){"made"},
                             .value_count = 3,
                             .node_count = 2,
                             .param_count = 2,
                             .values = values,
                             .nodes = nodes,
                             .params = params,
                             .input_count = 1,
                             .output = 2};
    for (size_t i = 0; i < 2; i++)
        nodes[i].recurrent = nodes[i].recurrent_bias = nodes[i].running_mean = nodes[i].running_var = -1;
    float weight[] = {1, -2, 0.5, 0, 0, 0, 0, 0, 0, 1e-9F, 0, 0}, bias[] = {1, 0, 7, 5};
    float *both[] = {weight, bias};
    const struct ys_folded folded = {.graph = &graph, .values = both};
    for (int range = 0; range < 2; range++) {
        struct ys_quant_plan plan;
        struct ys_scales scales;
        ys_scales_init(&scales);
        scales.rule = rule_of(YS_QUANT_MINMAX, NAN);
        scales.rule.range = range;
        REQUIRE(ys_quant_plan_make(&graph, &scales.rule, &plan) == YS_OK);
        *ys_scales_add_activation(&scales) = (struct ys_activation_scale){.value = strdup("r"), .scale = 0.5};
        *ys_scales_add_activation(&scales) = (struct ys_activation_scale){.value = strdup("y"), .scale = 0.5};
        REQUIRE(ys_quant_weights(&folded, &plan, &scales) == YS_OK);
        const struct ys_weight_scale *w = ys_scales_of_param(&scales, "w");
        REQUIRE(w && w->scales.count == 4);
        const double limit = range ? 63 : 127, billion = 1 << 30;
        CHECK_NEAR(ys_weight_scale_at(w, 0), 2 / limit, 1e-8);
        CHECK(ys_weight_scale_at(w, 0) * limit >= 2);
        CHECK(ys_weight_scale_at(w, 1) == 1);                                /* nothing there */
        CHECK_NEAR(ys_weight_scale_at(w, 2), 14 / billion, 14e-7 / billion); /* a bias alone */
        CHECK_NEAR(ys_weight_scale_at(w, 3), 10 / billion, 10e-7 / billion); /* and one of tiny weights */
        CHECK(ys_quant_plan_check(&graph, &plan, &scales) == YS_OK);
        ys_quant_plan_fini(&plan);
        ys_scales_fini(&scales);
    }
}

TAP_MAIN(TAP_CASE(minmax_takes_the_ends), TAP_CASE(percentile_leaves_out_what_is_far),
         TAP_CASE(mse_weighs_what_is_cut_against_what_is_rounded), TAP_CASE(constant_values_have_a_scale),
         TAP_CASE(what_is_no_number_is_named), TAP_CASE(weights_follow_their_channel_and_their_bias))
