/* What of a network becomes integers: on a made one that has every case, and on the named ones. */
#include "quant/quant_plan.h"
#include "base/mem.h"
#include "graph/builder.h"
#include "graph/model.h"
#include "quant/rounding.h"
#include "tap.h"

static const struct ys_quant_rule full = {.kind = YS_QUANT_STATIC, .calibration = YS_QUANT_MINMAX, .percentile = NAN};

static const struct ys_node *node_of(const struct ys_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0)
            return &graph->nodes[i];
    return NULL;
}

/** The name of the value whose scale the value has; "" where it has none. */
static const char *scale_of(const struct ys_graph *graph, const struct ys_quant_plan *plan, const char *value)
{
    const struct ys_node *node = node_of(graph, value);
    const int of = node ? plan->scale_of[node->out[0]] : -1;
    return of < 0 ? "" : graph->values[of].name;
}

/** normalize - a (Conv) - r (Relu) - p (MaxPool); p - b (Conv); b + p = s - c (Clip) - h (HardSwish) - d (Conv);
 * d - t (Tanh) - g (global average) - f - fc. */
static struct ys_graph *network(void)
{
    const int64_t row[] = {2, 8, 8};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("all cases", row, 3, YS_U8, &b) != YS_OK)
        return NULL;
    int v = ys_build_normalize(b, ys_build_input(b), 1, 128, 64, "n");
    v = ys_build_relu(b, ys_build_conv(b, v, 4, 3, 1, 1, "a"), "r");
    const int p = ys_build_maxpool(b, v, 2, 2, 0, "p");
    v = ys_build_clip(b, ys_build_add(b, ys_build_conv(b, p, 4, 3, 1, 1, "b"), p, "s"), 0, 6, "c");
    v = ys_build_conv(b, ys_build_plain(b, YS_OP_HARDSWISH, v, "h"), 4, 1, 1, 0, "d");
    v = ys_build_plain(b, YS_OP_GLOBAL_AVERAGEPOOL, ys_build_plain(b, YS_OP_TANH, v, "t"), "g");
    CHECK(ys_build_finish(b, ys_build_gemm(b, ys_build_flatten(b, v, "f"), 3, "fc"), &graph) == YS_OK);
    return graph;
}

static void every_node_and_value_has_its_place(void)
{
    static const struct {
        const char *node;
        enum ys_quant_way way;
        const char *scale_of;
    } wanted[] = {{"n", YS_QUANT_IN_FLOAT, "n"},    {"a", YS_QUANT_IN_INTEGER, ""},  {"r", YS_QUANT_JOINED, "r"},
                  {"p", YS_QUANT_PASSED_ON, "r"},   {"b", YS_QUANT_IN_INTEGER, "b"}, {"s", YS_QUANT_IN_INTEGER, ""},
                  {"c", YS_QUANT_JOINED, "c"},      {"h", YS_QUANT_IN_FLOAT, "h"},   {"d", YS_QUANT_IN_INTEGER, "d"},
                  {"t", YS_QUANT_IN_FLOAT, ""},     {"g", YS_QUANT_IN_FLOAT, ""},    {"f", YS_QUANT_IN_FLOAT, "f"},
                  {"fc", YS_QUANT_IN_INTEGER, "fc"}};
    struct ys_graph *graph = network();
    struct ys_quant_plan plan;
    REQUIRE(graph && ys_quant_plan_make(graph, &full, &plan) == YS_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct ys_node *node = node_of(graph, wanted[i].node);
        REQUIRE(node);
        tap_check(plan.nodes[node - graph->nodes].way == wanted[i].way, __LINE__, "way of %s", wanted[i].node);
        CHECK_TEXT(scale_of(graph, &plan, wanted[i].node), wanted[i].scale_of);
        CHECK((plan.nodes[node - graph->nodes].reason != NULL) == (wanted[i].way == YS_QUANT_IN_FLOAT));
    }
    const struct ys_node *sum = node_of(graph, "s");
    CHECK_TEXT(graph->values[ys_quant_result(graph, &plan, sum)].name, "c");
    int low, high;
    ys_quant_ends(graph, &plan, sum, &(struct ys_activation_scale){.scale = 0.25, .zero_point = 3}, &low, &high);
    CHECK_INT(low, 3);
    CHECK_INT(high, 27); /* 6 / 0.25 + 3 */
    ys_quant_plan_fini(&plan);
    ys_graph_free(graph);
}

static void dynamic_and_weights_have_products_alone(void)
{
    for (int kind = YS_QUANT_DYNAMIC; kind <= YS_QUANT_WEIGHTS; kind++) {
        struct ys_graph *graph = network();
        struct ys_quant_plan plan;
        const struct ys_quant_rule rule = {.kind = kind, .calibration = YS_NAME_NONE, .percentile = NAN};
        REQUIRE(graph && ys_quant_plan_make(graph, &rule, &plan) == YS_OK);
        for (size_t i = 0; i < graph->node_count; i++)
            CHECK((plan.nodes[i].way == YS_QUANT_IN_INTEGER) ==
                  (graph->nodes[i].op == YS_OP_CONV || graph->nodes[i].op == YS_OP_GEMM));
        for (size_t v = 0; v < graph->value_count; v++)
            CHECK_INT(plan.scale_of[v], -1);
        ys_quant_plan_fini(&plan);
        ys_graph_free(graph);
    }
}

static void deep_sums_stay_in_float(void)
{
    /* (2^31 - 1 - 2^30) / (255 * 127) is 33155.6. */
    for (int64_t depth = 33155; depth <= 33156; depth++) {
        struct ys_build *b;
        struct ys_graph *graph;
        struct ys_quant_plan plan;
        REQUIRE(ys_build_new("deep", &depth, 1, YS_F32, &b) == YS_OK);
        const int v = ys_build_gemm(b, ys_build_relu(b, ys_build_input(b), "r"), 2, "fc");
        REQUIRE(ys_build_finish(b, ys_build_gemm(b, v, 2, "last"), &graph) == YS_OK);
        REQUIRE(ys_quant_plan_make(graph, &full, &plan) == YS_OK);
        CHECK_INT(plan.nodes[1].way, depth == 33155 ? YS_QUANT_IN_INTEGER : YS_QUANT_IN_FLOAT);
        if (depth > 33155)
            CHECK_HAS(plan.nodes[1].reason, "exceed 32 bits");
        ys_quant_plan_fini(&plan);
        ys_graph_free(graph);
    }
}

static void scales_that_do_not_fit_are_named(void)
{
    struct ys_graph *graph = network();
    struct ys_quant_plan plan;
    struct ys_scales scales;
    ys_scales_init(&scales);
    scales.rule = full;
    REQUIRE(graph && ys_quant_plan_make(graph, &full, &plan) == YS_OK);
    CHECK_INT(ys_quant_plan_check(graph, &plan, &scales), YS_EFORMAT);
    CHECK_HAS(ys_error(), "there is none of value n");
    for (size_t v = 0; v < graph->value_count; v++)
        if (plan.scale_of[v] == (int)v) {
            struct ys_activation_scale *at = ys_scales_add_activation(&scales);
            *at = (struct ys_activation_scale){.value = ys_strdup(graph->values[v].name), .scale = 1};
        }
    CHECK_INT(ys_quant_plan_check(graph, &plan, &scales), YS_EFORMAT);
    CHECK_HAS(ys_error(), "there is none of weight a.weight");
    ys_quant_plan_fini(&plan);
    ys_scales_fini(&scales);
    ys_graph_free(graph);
}

static void networks_of_sequences_are_refused(void)
{
    static const char *const names[] = {"gpt-nano", "lstm"};
    for (size_t i = 0; i < 2; i++) {
        const struct ys_model *model = ys_model_find(names[i]);
        struct ys_graph *graph;
        struct ys_quant_plan plan;
        if (!model)
            continue;
        REQUIRE(model->build(&model->usual, &graph) == YS_OK);
        CHECK_INT(ys_quant_plan_make(graph, &full, &plan), YS_EUNSUPPORTED);
        CHECK_HAS(ys_error(), "are left out");
        ys_graph_free(graph);
    }
}

static void rounding_is_half_to_even_and_saturates(void)
{
    CHECK(ys_quant_round(0.5) == 0 && ys_quant_round(1.5) == 2 && ys_quant_round(2.5) == 2);
    CHECK(ys_quant_round(-0.5) == 0 && ys_quant_round(-1.5) == -2 && ys_quant_round(-2.5) == -2);
    CHECK_INT(ys_quant_u8(0.625, 0.25, 10), 12); /* 2.5 steps */
    CHECK_INT(ys_quant_u8(-0.625, 0.25, 10), 8);
    CHECK_INT(ys_quant_u8(1e30, 0.25, 10), 255);
    CHECK_INT(ys_quant_u8(-1e30, 0.25, 10), 0);
    CHECK_INT(ys_quant_u8((double)NAN, 0.25, 10), 10);
    CHECK_INT(ys_quant_s8(-200, 1, 127), -127);
    CHECK_INT(ys_quant_s8(200, 1, 63), 63);
    CHECK_INT(ys_quant_s8(-3.5, 1, 127), -4);
    CHECK_INT(ys_quant_bias(5, 0.5, 4), 2); /* 2.5 */
    CHECK_INT(ys_quant_bias(-1e30, 0.5, 4), -(1 << 30));
    CHECK_INT(ys_quant_steps(-1e30, 5, 5, 255), 5);
    CHECK_INT(ys_quant_steps(2.5, 5, 0, 255), 7);
}

TAP_MAIN(TAP_CASE(every_node_and_value_has_its_place), TAP_CASE(dynamic_and_weights_have_products_alone),
         TAP_CASE(deep_sums_stay_in_float), TAP_CASE(scales_that_do_not_fit_are_named),
         TAP_CASE(networks_of_sequences_are_refused), TAP_CASE(rounding_is_half_to_even_and_saturates))
