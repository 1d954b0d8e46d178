#include "text.h"

#include "base/hash.h"
#include "graph/model.h"
#include "tap.h"
#include "unit/base/scratch.h"

static void lenets_weights_are_the_same_on_every_machine(void)
{
    const struct ys_model *model = ys_model_find("lenet");
    struct ys_graph *graph = NULL;
    char hash[65] = "";
    REQUIRE(model->build(&model->usual, &graph) == YS_OK);
    CHECK(ys_graph_write_weights(graph, 1, scratch("w.safetensors"), hash) == YS_OK);
    CHECK_TEXT(hash, "f8218dd9735ab9d04d0e0ff3576c40abe0d89ac1d8439ad191550202c91a7eaa");
    ys_graph_free(graph);
}

static void the_file_holds_every_parameter_in_graph_order(void)
{
    struct ys_graph *graph = NULL;
    char hash[65] = "", again[65] = "";
    struct ys_safetensors *file;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    const char *path = scratch("tiny.safetensors");
    CHECK(ys_graph_write_weights(graph, 7, path, hash) == YS_OK);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    CHECK_INT(ys_safetensors_count(file), graph->param_count);
    size_t bytes = 0;
    for (size_t i = 0; i < graph->param_count; i++) {
        const struct ys_tensor *tensor = ys_safetensors_at(file, i);
        CHECK_TEXT(tensor->name, graph->params[i].name);
        CHECK_INT(tensor->dtype, YS_F32);
        CHECK_INT(ys_tensor_count(tensor), ys_param_elements(&graph->params[i]));
        bytes += tensor->size_bytes;
    }
    ys_sha256_text(ys_safetensors_at(file, 0)->data, bytes, again);
    CHECK_TEXT(again, hash);
    ys_safetensors_close(file);
    ys_graph_free(graph);
}

static void values_lie_where_their_distribution_says(void)
{
    struct ys_graph *graph = NULL;
    char hash[65];
    struct ys_safetensors *file;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    const char *path = scratch("dist.safetensors");
    REQUIRE(ys_graph_write_weights(graph, 3, path, hash) == YS_OK);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    const struct ys_tensor *uniform = ys_safetensors_find(file, "c.w"), *constant = ys_safetensors_find(file, "c.b");
    const struct ys_tensor *normal = ys_safetensors_find(file, "g.w"), *truncated = ys_safetensors_find(file, "g.b");
    for (size_t i = 0; i < 18; i++)
        CHECK(fabs(ys_tensor_value(uniform, i)) <= 0.1);
    CHECK(ys_tensor_value(constant, 0) == 0 && ys_tensor_value(constant, 1) == 0);
    double squares = 0;
    for (size_t i = 0; i < 54; i++)
        squares += ys_tensor_value(normal, i) * ys_tensor_value(normal, i) / 54;
    /* The deviation of 54 draws has itself a relative deviation of 1 / sqrt(108); five of those. */
    CHECK_NEAR(sqrt(squares), 0.1, 0.1 * 5 / sqrt(108));
    for (size_t i = 0; i < 3; i++)
        CHECK(fabs(ys_tensor_value(truncated, i) - 1) <= 2 * 0.5);
    ys_safetensors_close(file);
    ys_graph_free(graph);
}

static void a_parameters_values_depend_on_seed_and_name_alone(void)
{
    struct ys_graph *graph = NULL, *other = NULL;
    char first[65], second[65], third[65], fourth[65];
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    REQUIRE(read_changed("'name':'tiny'", "'name':'renamed'", &other) == YS_OK);
    CHECK(ys_graph_write_weights(graph, 1, scratch("a"), first) == YS_OK);
    CHECK(ys_graph_write_weights(graph, 1, scratch("b"), second) == YS_OK);
    CHECK(ys_graph_write_weights(graph, 2, scratch("c"), third) == YS_OK);
    CHECK(ys_graph_write_weights(other, 1, scratch("d"), fourth) == YS_OK);
    CHECK_TEXT(second, first);
    CHECK_TEXT(fourth, first);
    CHECK(strcmp(third, first) != 0);
    ys_graph_free(graph);
    ys_graph_free(other);
}

static void a_folder_that_is_missing_is_an_error(void)
{
    struct ys_graph *graph = NULL;
    char hash[65];
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    CHECK(ys_graph_write_weights(graph, 1, scratch("no/such/folder/w"), hash) == YS_EIO);
    CHECK_HAS(ys_error(), "no/such/folder");
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(lenets_weights_are_the_same_on_every_machine),
         TAP_CASE(the_file_holds_every_parameter_in_graph_order), TAP_CASE(values_lie_where_their_distribution_says),
         TAP_CASE(a_parameters_values_depend_on_seed_and_name_alone), TAP_CASE(a_folder_that_is_missing_is_an_error))
