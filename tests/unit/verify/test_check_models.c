/* The networks that adapters are checked on. */
#include "verify/operators/check_models.h"
#include "onnx/write/onnx_write.h"
#include "tap.h"
#include "unit/base/scratch.h"

static struct ys_graph *build(const struct ys_model *model)
{
    struct ys_graph *graph = NULL;
    if (!tap_check(model->build(&model->usual, &graph) == YS_OK, __LINE__, "%s: %s", model->name, ys_error()))
        return NULL;
    return graph;
}

static size_t count_op(const struct ys_graph *graph, enum ys_op op)
{
    size_t count = 0;
    for (size_t n = 0; graph && n < graph->node_count; n++)
        count += graph->nodes[n].op == op;
    return count;
}

static void there_is_a_group_for_every_operator_in_their_order(void)
{
    const struct ys_check_group *groups = ys_check_groups();
    for (int op = 0; op < YS_OP_COUNT; op++) {
        CHECK_INT(groups[op].op, op);
        tap_check(groups[op].count >= 2, __LINE__, "%s has %zu cases", ys_op_name((enum ys_op)op), groups[op].count);
        CHECK(groups[op].cases[groups[op].count].name == NULL);
        CHECK_HAS(groups[op].whole.name, ys_op_name((enum ys_op)op));
    }
}

static void every_case_has_its_operator_between_pixels_and_logits(void)
{
    ys_model_find_also(ys_check_find);
    const struct ys_check_group *groups = ys_check_groups();
    for (int op = 0; op < YS_OP_COUNT; op++) {
        for (size_t i = 0; i < groups[op].count; i++) {
            const struct ys_model *model = &groups[op].cases[i];
            struct ys_graph *graph = build(model);
            tap_check(count_op(graph, (enum ys_op)op) > 0, __LINE__, "%s has no %s", model->name,
                      ys_op_name((enum ys_op)op));
            CHECK(graph && graph->values[graph->output].shape[1] == model->usual.classes);
            CHECK(ys_model_find(model->name) == model);
            ys_graph_free(graph);
        }
    }
}

/* Behind a layer with weights of its own: else the gradient of its input would be seen by nobody. */
static void the_gradient_of_every_operators_input_reaches_a_weight(void)
{
    const struct ys_check_group *groups = ys_check_groups();
    for (int op = YS_OP_NORMALIZE + 1; op < YS_OP_COUNT; op++) {
        for (size_t i = 0; i < groups[op].count && op != YS_OP_EMBEDDING; i++) { /* tokens have no gradient */
            struct ys_graph *graph = build(&groups[op].cases[i]);
            bool weights = false, before = false;
            for (size_t n = 0; graph && n < graph->node_count; n++) {
                before |= weights && (int)graph->nodes[n].op == op;
                weights |= graph->nodes[n].op == YS_OP_GEMM;
            }
            tap_check(before, __LINE__, "%s", groups[op].cases[i].name);
            ys_graph_free(graph);
        }
    }
}

static void a_group_holds_all_of_its_cases(void)
{
    ys_model_find_also(ys_check_find);
    const struct ys_check_group *groups = ys_check_groups();
    for (int op = 0; op < YS_OP_COUNT; op++) {
        struct ys_graph *whole = build(&groups[op].whole);
        size_t together = count_op(whole, (enum ys_op)op), alone = 0;
        for (size_t i = 0; i < groups[op].count; i++) {
            struct ys_graph *graph = build(&groups[op].cases[i]);
            alone += count_op(graph, (enum ys_op)op);
            /* The same parameters, drawn by the same names: what fails together fails alone. */
            for (size_t p = 0; graph && p < graph->param_count; p++) {
                bool found = false;
                for (size_t k = 0; whole && k < whole->param_count; k++)
                    found |= strcmp(whole->params[k].name, graph->params[p].name) == 0;
                tap_check(found, __LINE__, "%s of %s", graph->params[p].name, groups[op].cases[i].name);
            }
            ys_graph_free(graph);
        }
        /* What all cases need (pixels, flattened once; the sum of the logits) is not counted alike. */
        if (op != YS_OP_ADD && op != YS_OP_FLATTEN)
            tap_check(together == alone, __LINE__, "%s: %zu together, %zu alone", ys_op_name((enum ys_op)op), together,
                      alone);
        CHECK(ys_model_find(groups[op].whole.name) == &groups[op].whole);
        ys_graph_free(whole);
    }
}

static void they_are_the_same_when_they_are_read_from_a_file(void)
{
    const struct ys_check_group *groups = ys_check_groups();
    for (int op = 0; op < YS_OP_COUNT; op++) {
        struct ys_graph *graph = build(&groups[op].whole), *read = NULL;
        ys_json *json = graph ? ys_graph_to_json(graph) : NULL;
        CHECK(ys_graph_from_json(json, groups[op].whole.name, &read) == YS_OK);
        ys_json *again = read ? ys_graph_to_json(read) : NULL;
        CHECK(ys_json_equal(json, again));
        ys_json_free(json);
        ys_json_free(again);
        ys_graph_free(graph);
        ys_graph_free(read);
    }
}

static void the_networks_have_what_optimizers_treat_differently(void)
{
    static const bool nll[] = {false, true, false, true};
    const struct ys_model *networks = ys_check_networks();
    for (size_t i = 0; i < 4; i++) {
        REQUIRE(networks[i].name);
        struct ys_graph *graph = build(&networks[i]);
        REQUIRE(graph);
        bool factors = false;
        for (size_t p = 0; p < graph->param_count; p++)
            factors |= graph->params[p].decay_mult == 0 && graph->params[p].lr_mult == 2;
        CHECK(factors);
        CHECK_INT(count_op(graph, YS_OP_CONV) > 0, i < 2);
        CHECK_INT(graph->loss, nll[i] ? YS_LOSS_NLL : YS_LOSS_SOFTMAX_CROSS_ENTROPY);
        CHECK_INT(graph->nodes[graph->node_count - 1].op == YS_OP_LOG_SOFTMAX, nll[i]);
        ys_graph_free(graph);
    }
    for (int i = 4; i < 8; i++) { /* rows of their own, which they are what the model says */
        struct ys_graph *graph = build(&networks[i]);
        REQUIRE(graph && networks[i].rows);
        struct ys_rows rows = ys_graph_rows(graph);
        CHECK(ys_rows_equal(&rows, networks[i].rows) && rows.kind != YS_TARGET_CLASS);
        CHECK_INT(rows.inputs[0].padded, networks[i].rows->inputs[0].padded);
        ys_graph_free(graph);
    }
    struct ys_graph *graph = build(&networks[8]);
    REQUIRE(graph);
    int counts[3] = {0}; /* how many parameters are read by none, one, two nodes */
    for (size_t p = 0; p < graph->param_count; p++) {
        int nodes = 0;
        for (size_t n = 0; n < graph->node_count; n++)
            nodes += graph->nodes[n].weight == (int)p || graph->nodes[n].bias == (int)p;
        REQUIRE(nodes < 3);
        counts[nodes]++;
    }
    CHECK(counts[0] == 0 && counts[1] == 6 && counts[2] == 6); /* widen, fc1, logits; conv, depthwise, fc2 */
    ys_graph_free(graph);
    graph = build(&networks[9]);
    for (int op = 0; op < YS_OP_COUNT; op++)
        CHECK(!graph || ys_check_groups()[op].cases->rows || count_op(graph, (enum ys_op)op) > 0);
    ys_graph_free(graph);
    CHECK(networks[10].name == NULL);
}

/* Whatever its descriptor says of it, or the writer has for it. */
static void every_operator_is_written_as_onnx(void)
{
    const struct ys_check_group *groups = ys_check_groups();
    char path[4096], weights[4096], hash[65];
    snprintf(path, sizeof path, "%s", scratch("operator.onnx"));
    snprintf(weights, sizeof weights, "%s", scratch("operator.safetensors"));
    for (int op = 0; op < YS_OP_COUNT; op++) {
        struct ys_graph *graph = build(&groups[op].whole);
        struct ys_safetensors *values = NULL;
        CHECK(graph && ys_graph_write_weights(graph, 1, weights, hash) == YS_OK);
        CHECK(ys_safetensors_open(weights, &values) == YS_OK);
        tap_check(values && ys_onnx_write(graph, values, YS_F32, path) == YS_OK, __LINE__, "%s: %s",
                  ys_op_name((enum ys_op)op), ys_error());
        ys_safetensors_close(values);
        ys_graph_free(graph);
    }
}

static void no_name_is_there_twice_and_none_is_a_models(void)
{
    ys_model_find_also(NULL);
    CHECK(ys_model_find("check_small") == NULL);
    const struct ys_check_group *groups = ys_check_groups();
    for (const struct ys_model *model = ys_models(); model->name; model++)
        CHECK(strncmp(model->name, YS_CHECK_PREFIX, strlen(YS_CHECK_PREFIX)) != 0);
    for (int op = 0; op < YS_OP_COUNT; op++) {
        CHECK(strncmp(groups[op].whole.name, YS_CHECK_PREFIX, strlen(YS_CHECK_PREFIX)) == 0);
        for (size_t i = 0; i < groups[op].count; i++)
            CHECK(ys_check_find(groups[op].cases[i].name) == &groups[op].cases[i]);
    }
    CHECK(ys_check_find("check_nothing") == NULL);
}

TAP_MAIN(TAP_CASE(there_is_a_group_for_every_operator_in_their_order),
         TAP_CASE(every_case_has_its_operator_between_pixels_and_logits),
         TAP_CASE(the_gradient_of_every_operators_input_reaches_a_weight), TAP_CASE(a_group_holds_all_of_its_cases),
         TAP_CASE(they_are_the_same_when_they_are_read_from_a_file), TAP_CASE(every_operator_is_written_as_onnx),
         TAP_CASE(the_networks_have_what_optimizers_treat_differently),
         TAP_CASE(no_name_is_there_twice_and_none_is_a_models))
