#include "text.h"

#include "graph/model.h"
#include "tap.h"

/** `graph`, written and read again, is written the same. */
static void check_round_trip(const struct ys_graph *graph)
{
    ys_json *first = ys_graph_to_json(graph), *second = NULL;
    struct ys_graph *again = NULL;
    REQUIRE(first);
    char *text = ys_json_dump(first, YS_JSON_INDENT);
    ys_json *parsed = NULL;
    CHECK(ys_json_parse(text, strlen(text), "again", &parsed) == YS_OK);
    CHECK(ys_graph_from_json(parsed, "again", &again) == YS_OK);
    if (CHECK(again)) {
        second = ys_graph_to_json(again);
        CHECK(ys_json_equal(first, second));
        CHECK_INT(ys_graph_multiply_adds(again), ys_graph_multiply_adds(graph));
    }
    ys_graph_free(again);
    ys_json_free(parsed);
    ys_free(text);
    ys_json_free(first);
    ys_json_free(second);
}

static void a_graph_survives_the_round_trip(void)
{
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    check_round_trip(graph);
    ys_graph_free(graph);
}

static void every_model_survives_the_round_trip(void)
{
    for (const struct ys_model *model = ys_models(); model->name; model++) {
        struct ys_graph *graph = NULL;
        REQUIRE(model->build(&model->usual, &graph) == YS_OK);
        check_round_trip(graph);
        ys_graph_free(graph);
    }
}

static void defaults_are_written_out(void)
{
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    ys_json *json = ys_graph_to_json(graph);
    const ys_json *attrs = ys_json_get(ys_json_at(ys_json_get(json, "nodes"), 1), "attrs");
    CHECK_INT(ys_json_integer(ys_json_at(ys_json_get(attrs, "strides"), 0), 0), 1);
    CHECK_INT(ys_json_integer(ys_json_at(ys_json_get(attrs, "dilations"), 1), 0), 1);
    CHECK_INT(ys_json_get_int(attrs, "group", 0), 1);
    const ys_json *gemm = ys_json_get(ys_json_at(ys_json_get(json, "nodes"), 5), "attrs");
    CHECK_INT(ys_json_get_int(gemm, "transB", 0), 1);
    const ys_json *weight = ys_json_at(ys_json_get(json, "params"), 0);
    CHECK(ys_json_get_number(weight, "lr_mult", 0) == 1);
    CHECK_TEXT(ys_json_text(ys_json_at(ys_json_get(ys_json_at(ys_json_get(json, "inputs"), 0), "shape"), 0), ""), "N");
    ys_json_free(json);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(a_graph_survives_the_round_trip), TAP_CASE(every_model_survives_the_round_trip),
         TAP_CASE(defaults_are_written_out))
