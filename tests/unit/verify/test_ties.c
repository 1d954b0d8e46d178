#include "plans.h"
#include "graph/builder.h"
#include "tap.h"
#include "verify/oracle/proof_checks.h"
#include "verify/oracle/ties.h"

/* Two pools of one kind with a third of another between them, on images of `side` pixels a side. */
static struct ys_graph *pools(int64_t side, int count)
{
    const int64_t row[] = {3, side, side};
    static const int64_t kernels[] = {2, 3, 2};
    struct ys_graph *graph = NULL;
    struct ys_build *b;
    if (ys_build_new("pools", row, 3, YS_U8, &b) != YS_OK)
        abort();
    int v = ys_build_normalize(b, ys_build_input(b), 1.0 / 255, 0, 1, "normalize");
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        v = ys_build_maxpool(b, v, kernels[i], 2, 0, name);
    }
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 10, "fc");
    if (ys_build_finish(b, v, &graph) != YS_OK)
        abort();
    return graph;
}

static size_t count_pools(const struct ys_graph *graph)
{
    size_t count = 0;
    for (size_t n = 0; n < graph->node_count; n++)
        count += graph->nodes[n].op == YS_OP_MAXPOOL;
    return count;
}

static void each_kind_of_pool_is_there_once_on_pixels_of_few_values(void)
{
    struct ys_graph *graph = pools(64, 3), *tied = NULL;
    struct ys_plan plan = make_plan(4), made;
    struct ys_safetensors *data = NULL;
    const struct ys_tensor *x;
    char *folder = ys_path_dir(files_path("x"));
    bool has_pools = false;
    REQUIRE(ys_ties_plan(&plan, graph, folder, &made, &has_pools) == YS_OK);
    REQUIRE(has_pools);
    CHECK_INT(made.mode, YS_MODE_ATTACK);
    REQUIRE(ys_graph_read(made.graph, &tied) == YS_OK);
    CHECK_INT(count_pools(tied), 2);
    CHECK_INT(tied->nodes[0].op, YS_OP_MAXPOOL); /* nothing rounds before it */
    REQUIRE(ys_safetensors_open(made.input.path, &data) == YS_OK);
    REQUIRE(ys_safetensors_need(data, "x", YS_F32, 4, NULL, &x) == YS_OK);
    const float *pixels = x->data;
    size_t seen[3] = {0};
    for (size_t i = 0; i < ys_tensor_count(x); i++)
        for (int value = 0; value < 3; value++)
            seen[value] += pixels[i] == (float)value;
    CHECK_INT(seen[0] + seen[1] + seen[2], ys_tensor_count(x));
    CHECK(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
    ys_safetensors_close(data);
    ys_graph_free(tied);
    ys_plan_fini(&made);
    ys_plan_fini(&plan);
    ys_graph_free(graph);
    ys_free(folder);
}

static void a_network_without_pools_is_asked_nothing(void)
{
    struct ys_graph *graph = pools(8, 0);
    struct ys_plan plan = make_plan(4), made;
    char *folder = ys_path_dir(files_path("x"));
    bool has_pools = true;
    CHECK(ys_ties_plan(&plan, graph, folder, &made, &has_pools) == YS_OK);
    CHECK(!has_pools);
    ys_plan_fini(&plan);
    ys_graph_free(graph);
    ys_free(folder);
}

/* A flip in one lot is none in the other; what is off in both stays so. */
static void the_lot_that_lies_lowest_below_its_bound_is_judged(void)
{
    struct ys_findings found = {0}, twins = {0};
    twins.input_gradient[0].error = twins.input_gradient[1].error = 1e-6;
    found.input_gradient[0].error = 0.3;
    found.input_gradient[1].error = 1e-7;
    CHECK_INT(ys_check_input_lot(&found, &twins), 1);
    found.input_gradient[1].error = 0.4;
    CHECK_INT(ys_check_input_lot(&found, &twins), 0);
    twins.input_gradient[1].error = 0.1; /* a twin met a flip there as well */
    CHECK_INT(ys_check_input_lot(&found, &twins), 1);
}

TAP_MAIN(TAP_CASE(each_kind_of_pool_is_there_once_on_pixels_of_few_values),
         TAP_CASE(a_network_without_pools_is_asked_nothing),
         TAP_CASE(the_lot_that_lies_lowest_below_its_bound_is_judged))
