#include "plans.h"
#include "tap.h"
#include "verify/oracle/proof_plan.h"
#include "verify/verify.h"

#include <float.h>

/* One dense layer of as many multiply-adds. */
static struct ys_proof_extent extent_with(struct ys_proof_extent (*of)(const struct ys_graph *, int64_t),
                                          int64_t multiply_adds, int64_t batch)
{
    char x[] = "x", y[] = "y", w[] = "w", d[] = "d";
    struct ys_value values[] = {{.name = x, .rank = 2, .shape = {YS_BATCH, 1}},
                                {.name = y, .rank = 2, .shape = {YS_BATCH, multiply_adds}}};
    struct ys_param param = {.name = w, .rank = 2, .shape = {multiply_adds, 1}};
    struct ys_node node = {.op = YS_OP_GEMM, .name = d, .in_count = 1, .out_count = 1, .in = {0}, .out = {1}};
    node.bias = node.recurrent = node.recurrent_bias = node.running_mean = node.running_var = -1;
    struct ys_graph graph = {.values = values,
                             .nodes = &node,
                             .params = &param,
                             .value_count = 2,
                             .node_count = 1,
                             .param_count = 1,
                             .output = 1};
    return of(&graph, batch);
}

static struct ys_proof_extent extent_of(int64_t multiply_adds, int64_t batch)
{
    return extent_with(ys_proof_extent, multiply_adds, batch);
}

static void a_large_network_is_proven_on_fewer_rows_and_steps(void)
{
    struct ys_proof_extent small = extent_of(YS_VERIFY_LARGE, 64), large = extent_of(YS_VERIFY_LARGE + 1, 64);
    CHECK_INT(small.rows, 8);
    CHECK_INT(small.steps, 10);
    CHECK_INT(large.rows, 2);
    CHECK_INT(large.steps, 3);
    CHECK(small.rate_change > 0 && small.rate_change < small.steps);
    CHECK(large.rate_change > 0 && large.rate_change < large.steps);
    struct ys_proof_extent all = extent_with(ys_proof_extent_long, YS_VERIFY_LARGE + 1, 64);
    CHECK(all.rows == 2 && all.steps == 10 && all.trained == 10 && all.rate_change < all.steps);
    CHECK_INT(extent_with(ys_proof_extent_long, YS_VERIFY_LARGE, 64).rows, 8);
}

static struct ys_proof_extent whole_extent_of(int64_t multiply_adds, int64_t batch)
{
    return extent_with(ys_proof_extent_whole, multiply_adds, batch);
}

static void a_whole_batch_is_trained_where_double_is_affordable(void)
{
    struct ys_proof_extent affordable = whole_extent_of(YS_VERIFY_WHOLE_LIMIT / 64, 64);
    CHECK_INT(affordable.rows, 64);
    CHECK_INT(affordable.trained, 1);
    CHECK(affordable.steps > 1 && affordable.rate_change >= affordable.steps);
    CHECK_INT(whole_extent_of(YS_VERIFY_WHOLE_LIMIT / 64 + 1, 64).trained, 0);
    CHECK_INT(extent_of(10, 64).trained, 10);
}

static void a_batch_below_eight_is_taken_whole(void)
{
    CHECK_INT(extent_of(10, 3).rows, 3);
    CHECK_INT(extent_of(YS_VERIFY_LARGE + 1, 1).rows, 1);
}

static void a_proof_takes_the_first_rows_of_the_first_batches_and_cuts_the_rate(void)
{
    struct ys_plan plan = make_plan(16);
    const char *path = files_path("proof-order");
    struct ys_proof_extent extent = extent_of(10, 16);
    struct ys_safetensors *file = NULL;
    REQUIRE(ys_proof_order_write(&plan, extent, path) == YS_OK);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    const struct ys_tensor *order = ys_safetensors_find(file, "order"), *lr = ys_safetensors_find(file, "lr");
    CHECK_INT(order->shape[0], 10);
    CHECK_INT(order->shape[1], 8);
    CHECK_NEAR(ys_tensor_value(order, 0), 0, 0);
    CHECK_NEAR(ys_tensor_value(order, 8), 16, 0);  /* first row of the second batch of 16 */
    CHECK_NEAR(ys_tensor_value(order, 16), 32, 0); /* and of the third */
    CHECK_NEAR(ys_tensor_value(lr, 4), 0.5, 0);
    CHECK_NEAR(ys_tensor_value(lr, 5), 0.05, DBL_EPSILON); /* one rounding of a value below 1 */
    ys_safetensors_close(file);
    ys_plan_fini(&plan);
}

static void an_order_that_is_too_short_is_refused(void)
{
    struct ys_plan plan = make_plan(4);
    CHECK(ys_proof_order_write(&plan, (struct ys_proof_extent){.rows = 8, .steps = 10, .rate_change = 5},
                               files_path("proof-order")) == YS_EINTERNAL);
    CHECK_HAS(ys_error(), "10 batches of 8 rows");
    ys_plan_fini(&plan);
}

static void dropout_is_turned_off(void)
{
    struct ys_graph *graph = NULL;
    write_graph(files_path("graph"));
    REQUIRE(ys_graph_read(files_path("graph"), &graph) == YS_OK);
    CHECK_NEAR(graph->nodes[1].ratio, 0.5, 0);
    CHECK(ys_proof_drop_dropout(graph));
    CHECK_NEAR(graph->nodes[1].ratio, 0, 0);
    graph->nodes[1].op = YS_OP_RELU;
    CHECK(!ys_proof_drop_dropout(graph));
    ys_graph_free(graph);
}

static void a_plan_for_the_oracle_keeps_the_work_and_drops_the_options(void)
{
    struct ys_plan plan = make_plan(16), proof, oracle;
    plan.options = ys_json_object();
    ys_json_set_bool(plan.options, "channels_last", true);
    REQUIRE(ys_proof_plan(&plan, extent_of(10, 16), "graph", "order", YS_PRECISION_F64, "folder", &proof) == YS_OK);
    REQUIRE(ys_proof_plan_builtin(&proof, "ref", "other", &oracle) == YS_OK);
    CHECK(ys_json_get_bool(proof.options, "channels_last", false));
    CHECK(ys_json_get(oracle.options, "channels_last") == NULL);
    CHECK_TEXT(ys_json_get_text(oracle.options, "backend", ""), "ref");
    CHECK_INT(oracle.precision, YS_PRECISION_F64);
    CHECK_TEXT(oracle.graph, "graph");
    CHECK_TEXT(oracle.folder, "other");
    CHECK_TEXT(oracle.input.order, "order");
    CHECK_INT(oracle.steps, 10);
    CHECK_INT(oracle.batch, 8);
    CHECK_INT(plan.steps, PLAN_STEPS);
    ys_proof_plan_backend(&proof, NULL);
    CHECK_INT(ys_json_size(proof.options), 0);
    CHECK(ys_json_get_bool(plan.options, "channels_last", false)); /* whose copy that is */
    ys_plan_fini(&oracle);
    ys_plan_fini(&proof);
    ys_plan_fini(&plan);
}

TAP_MAIN(TAP_CASE(a_large_network_is_proven_on_fewer_rows_and_steps), TAP_CASE(a_batch_below_eight_is_taken_whole),
         TAP_CASE(a_whole_batch_is_trained_where_double_is_affordable),
         TAP_CASE(a_proof_takes_the_first_rows_of_the_first_batches_and_cuts_the_rate),
         TAP_CASE(an_order_that_is_too_short_is_refused), TAP_CASE(dropout_is_turned_off),
         TAP_CASE(a_plan_for_the_oracle_keeps_the_work_and_drops_the_options))
