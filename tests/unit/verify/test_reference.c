#include "plans.h"
#include "tap.h"
#include "verify/oracle/reference.h"

/* Opens the reference of `plan`, which is freed, and gives its identity. */
static const char *identity_of(struct ys_plan plan)
{
    static char identity[YS_SHA256_TEXT];
    struct ys_reference reference;
    char *folder = ys_path_dir(files_path("x"));
    identity[0] = 0;
    if (ys_reference_open(&plan, folder, false, &reference) == YS_OK) {
        memcpy(identity, reference.identity, sizeof identity);
        ys_reference_close(&reference);
    } else {
        printf("# %s\n", ys_error());
    }
    ys_free(folder);
    ys_plan_fini(&plan);
    return identity;
}

static void the_proofs_own_graph_is_without_dropout(void)
{
    struct ys_plan plan = make_plan(16);
    struct ys_reference reference;
    struct ys_graph *graph = NULL;
    char *folder = ys_path_dir(files_path("x"));
    REQUIRE(ys_reference_open(&plan, folder, false, &reference) == YS_OK);
    CHECK(strcmp(reference.graph_path, plan.graph) != 0);
    REQUIRE(ys_graph_read(reference.graph_path, &graph) == YS_OK);
    CHECK_NEAR(graph->nodes[1].ratio, 0, 0);
    struct ys_plan proof;
    REQUIRE(ys_reference_plan(&reference, &plan, YS_PRECISION_F64, folder, &proof) == YS_OK);
    CHECK_TEXT(proof.graph, reference.graph_path);
    CHECK(!reference.evaluation);
    ys_plan_fini(&proof);
    ys_graph_free(graph);
    ys_reference_close(&reference);
    ys_free(folder);
    ys_plan_fini(&plan);
}

static void how_long_and_how_the_trial_computes_is_not_part_of_the_work(void)
{
    char plain[YS_SHA256_TEXT];
    snprintf(plain, sizeof plain, "%s", identity_of(make_plan(16)));
    CHECK_INT(strlen(plain), YS_SHA256_TEXT - 1);
    struct ys_plan plan = make_plan(16);
    plan.options = ys_json_object();
    ys_json_set_bool(plan.options, "channels_last", true);
    plan.steps = 5000;
    plan.threads = 3;
    plan.precision = YS_PRECISION_BF16;
    ys_set_text(&plan.folder, "/elsewhere");
    CHECK_TEXT(identity_of(plan), plain);
}

static void everything_that_the_oracle_computes_with_is_part_of_the_work(void)
{
    char plain[YS_SHA256_TEXT];
    snprintf(plain, sizeof plain, "%s", identity_of(make_plan(16)));
    struct ys_plan plan = make_plan(16);
    plan.optimizer.momentum = 0.9;
    CHECK(strcmp(identity_of(plan), plain) != 0);
    plan = make_plan(16);
    plan.mode = YS_MODE_INFER;
    CHECK(strcmp(identity_of(plan), plain) != 0);
    plan = make_plan(16);
    plan.seed = 8; /* other initial weights */
    CHECK(strcmp(identity_of(plan), plain) != 0);
    CHECK(strcmp(identity_of(make_plan(15)), plain) != 0); /* other rows */
    plan_rate = 0.25;
    CHECK(strcmp(identity_of(make_plan(16)), plain) != 0);
    plan_rate = 0.5;
    plan_pixels[5]++;
    CHECK(strcmp(identity_of(make_plan(16)), plain) != 0);
    plan_pixels[5]--;
    CHECK_TEXT(identity_of(make_plan(16)), plain);
}

static void a_row_that_the_data_do_not_have_is_refused(void)
{
    struct ys_plan plan = make_plan(16);
    static uint32_t order[10 * 8] = {[3] = 40};
    static double lr[10];
    struct ys_tensor orders[] = {
        {.name = "order", .dtype = YS_U32, .rank = 2, .shape = {10, 8}, .data = order, .size_bytes = sizeof order},
        vector64("lr", lr, 10)};
    ys_safetensors_close(files_make("orders", orders, 2));
    CHECK_TEXT(identity_of(plan), "");
    CHECK_HAS(ys_error(), "row 40 of 40");
}

TAP_MAIN(TAP_CASE(the_proofs_own_graph_is_without_dropout),
         TAP_CASE(how_long_and_how_the_trial_computes_is_not_part_of_the_work),
         TAP_CASE(everything_that_the_oracle_computes_with_is_part_of_the_work),
         TAP_CASE(a_row_that_the_data_do_not_have_is_refused))
