#include "graph/model.h"
#include "base/mem.h"
#include "graph/build.h"
#include "tap.h"

static void lenet_on_mnist_has_the_counts_worked_out_by_hand(void)
{
    const struct ys_model *model = ys_model_find("lenet");
    struct ys_graph *graph = NULL;
    REQUIRE(model && model->build(&model->usual, &graph) == YS_OK);
    /* 32 * 25 + 32 + 64 * 32 * 25 + 64 + 1024 * 3136 + 1024 + 10 * 1024 + 10 */
    CHECK_INT(ys_graph_parameter_count(graph), 3274634);
    /* 28 * 28 * 32 * 25 + 14 * 14 * 64 * 32 * 25 + 3136 * 1024 + 1024 * 10 */
    CHECK_INT(ys_graph_multiply_adds(graph), 627200 + 10035200 + 3211264 + 10240);
    CHECK_INT(graph->values[graph->output].shape[1], 10);
    CHECK_INT(graph->nodes[0].op, YS_OP_NORMALIZE);
    CHECK(graph->nodes[0].normalize.scale == 1.0 / 255);
    ys_graph_free(graph);
}

static void mlp_on_mnist_has_the_counts_worked_out_by_hand(void)
{
    const struct ys_model *model = ys_model_find("mlp");
    struct ys_graph *graph = NULL;
    REQUIRE(model && model->build(&model->usual, &graph) == YS_OK);
    CHECK_INT(ys_graph_multiply_adds(graph), 784 * 512 + 512 * 256 + 256 * 10);
    CHECK_INT(ys_graph_parameter_count(graph), 784 * 512 + 512 + 512 * 256 + 256 + 256 * 10 + 10);
    ys_graph_free(graph);
}

static void models_adapt_to_the_data(void)
{
    const struct ys_model_input colour = {.shape = {3, 32, 32}, .dtype = YS_F32, .scale = 1, .classes = 100};
    struct ys_graph *graph = NULL;
    REQUIRE(ys_model_find("lenet")->build(&colour, &graph) == YS_OK);
    CHECK_INT(ys_graph_parameter_count(graph), 3 * 32 * 25 + 32 + 51264 + 64 * 64 * 1024 + 1024 + 1024 * 100 + 100);
    CHECK_INT(graph->values[graph->input].dtype, YS_F32);
    ys_graph_free(graph);
    graph = NULL;
    REQUIRE(ys_model_find("mlp")->build(&colour, &graph) == YS_OK);
    CHECK_INT(graph->params[0].shape[1], 3072);
    CHECK_INT(graph->values[graph->output].shape[1], 100);
    ys_graph_free(graph);
}

static void data_that_do_not_fit_are_refused(void)
{
    struct ys_model_input input = {.shape = {1, 3, 28}, .dtype = YS_U8, .scale = 1, .classes = 10};
    struct ys_graph *graph = NULL;
    CHECK(ys_model_find("lenet")->build(&input, &graph) == YS_EINVAL);
    CHECK_HAS(ys_error(), "model lenet: height 3 of the data: must be 4");
    input.shape[1] = 28;
    input.classes = 1;
    CHECK(ys_model_find("mlp")->build(&input, &graph) == YS_EINVAL);
    CHECK_HAS(ys_error(), "1 classes");
    input.classes = 10;
    input.dtype = YS_I64;
    CHECK(ys_model_find("mlp")->build(&input, &graph) == YS_EINVAL);
    input.dtype = YS_U8;
    input.shape[0] = input.shape[1] = input.shape[2] = 65536;
    CHECK(ys_model_find("mlp")->build(&input, &graph) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "more than 2^40 elements");
    CHECK(!graph);
}

static void unknown_models_are_not_found(void)
{
    CHECK(ys_model_find("resnet999") == NULL);
    CHECK(ys_model_find("") == NULL);
}

static void weights_get_the_range_of_their_fan_in(void)
{
    const struct ys_model *model = ys_model_find("lenet");
    struct ys_graph *graph = NULL;
    REQUIRE(model->build(&model->usual, &graph) == YS_OK);
    CHECK_TEXT(graph->params[0].name, "conv1.weight");
    CHECK(graph->params[0].init.kind == YS_INIT_UNIFORM);
    CHECK(graph->params[0].init.b == sqrt(6.0 / 25) && graph->params[0].init.a == -graph->params[0].init.b);
    CHECK(graph->params[2].init.b == sqrt(6.0 / 800));
    CHECK_TEXT(graph->params[6].name, "fc2.weight");
    CHECK(graph->params[6].init.b == sqrt(3.0 / 1024));
    CHECK(graph->params[7].init.kind == YS_INIT_CONSTANT && graph->params[7].init.a == 0);
    ys_graph_free(graph);
}

static void a_builder_that_failed_stays_failed(void)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("bad", (const int64_t[]){1, 8, 8}, 3, YS_F32, &b) == YS_OK);
    int v = ys_build_conv(b, ys_build_input(b), 4, 9, 1, 0, "c");
    CHECK_INT(v, -1);
    v = ys_build_relu(b, v, "r");
    v = ys_build_maxpool(b, v, 2, 2, 0, "p");
    v = ys_build_gemm(b, ys_build_flatten(b, v, "f"), 10, "g");
    CHECK_INT(v, -1);
    CHECK(ys_build_finish(b, v, &graph) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "bad: node c (Conv): a window of height 9 does not fit");
    CHECK(!graph);
}

static void every_failing_allocation_of_a_model_is_reported(void)
{
    const struct ys_model *model = ys_model_find("lenet");
    long n = 1;
    for (; n < 1000; n++) {
        struct ys_graph *graph = NULL;
        ys_mem_fail_at(n);
        ys_status status = model->build(&model->usual, &graph);
        ys_mem_fail_at(0);
        ys_graph_free(graph);
        if (status == YS_OK)
            break;
        CHECK(status == YS_ENOMEM);
    }
    CHECK(n > 20 && n < 1000);
}

TAP_MAIN(TAP_CASE(lenet_on_mnist_has_the_counts_worked_out_by_hand),
         TAP_CASE(mlp_on_mnist_has_the_counts_worked_out_by_hand), TAP_CASE(models_adapt_to_the_data),
         TAP_CASE(data_that_do_not_fit_are_refused), TAP_CASE(unknown_models_are_not_found),
         TAP_CASE(weights_get_the_range_of_their_fan_in), TAP_CASE(a_builder_that_failed_stays_failed),
         TAP_CASE(every_failing_allocation_of_a_model_is_reported))
