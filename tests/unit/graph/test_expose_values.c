#include "text.h"

#include "base/json/json.h"
#include "graph/expose_values.h"
#include "graph/model.h"
#include "tap.h"

static struct ys_graph *usual(const char *name)
{
    const struct ys_model *model = ys_model_find(name);
    struct ys_graph *graph = NULL;
    if (!model || model->build(&model->usual, &graph) != YS_OK)
        return NULL;
    return graph;
}

static void every_value_that_a_node_makes_has_its_columns(void)
{
    /* Of RIGHT: normalize and Conv and Relu on 6x6, a pool that halves it, Flatten, Gemm. */
    static const struct {
        const char *node;
        int64_t length;
    } wanted[] = {{"n", 36}, {"c", 72}, {"r", 72}, {"p", 18}, {"f", 18}, {"g", 3}};
    struct ys_graph *graph = NULL;
    struct ys_tap tap = {0};
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    REQUIRE(ys_tap_make(graph, &tap) == YS_OK);
    CHECK_INT(tap.count, 6);
    int64_t offset = 0;
    for (size_t i = 0; i < tap.count && i < 6; i++) {
        CHECK_TEXT(graph->nodes[tap.slices[i].node].name, wanted[i].node);
        CHECK_INT(tap.slices[i].value, graph->nodes[tap.slices[i].node].out[0]);
        CHECK_INT(tap.slices[i].offset, offset);
        CHECK_INT(tap.slices[i].length, wanted[i].length);
        offset += wanted[i].length;
    }
    CHECK_INT(tap.graph->values[tap.graph->output].shape[1], offset);
    ys_tap_fini(&tap);
    ys_graph_free(graph);
}

static void the_network_before_the_taps_stays_as_it_was(void)
{
    struct ys_graph *graph = NULL;
    struct ys_tap tap = {0};
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    REQUIRE(ys_tap_make(graph, &tap) == YS_OK);
    ys_json *before = ys_graph_to_json(graph), *after = ys_graph_to_json(tap.graph);
    CHECK(ys_json_equal(ys_json_get(before, "params"), ys_json_get(after, "params")));
    CHECK(ys_json_equal(ys_json_get(before, "inputs"), ys_json_get(after, "inputs")));
    CHECK(ys_json_equal(ys_json_get(before, "loss"), ys_json_get(after, "loss")));
    for (size_t i = 0; i < graph->node_count; i++)
        CHECK(ys_json_equal(ys_json_at(ys_json_get(before, "nodes"), i), ys_json_at(ys_json_get(after, "nodes"), i)));
    for (size_t i = graph->node_count; i < tap.graph->node_count; i++)
        CHECK(tap.graph->nodes[i].op == YS_OP_FLATTEN || tap.graph->nodes[i].op == YS_OP_CONCAT);
    ys_json_free(before);
    ys_json_free(after);
    ys_tap_fini(&tap);
    ys_graph_free(graph);
}

/* Column `column` of a joined value comes from here; nodes from `first` on are taps. */
static int producer_of(const struct ys_graph *graph, size_t first, int value, int64_t column)
{
    const struct ys_node *node = &graph->nodes[graph->values[value].producer];
    if ((size_t)graph->values[value].producer < first)
        return value;
    if (node->op == YS_OP_FLATTEN)
        return node->in[0];
    for (size_t k = 0; node->op == YS_OP_CONCAT && k < node->in_count; k++) {
        int64_t width = graph->values[node->in[k]].shape[1];
        if (column < width)
            return producer_of(graph, first, node->in[k], column);
        column -= width;
    }
    return value;
}

static void columns_hold_what_their_slice_says(void)
{
    /* More values than one Concat takes, and than two levels of them: resnet20 has 8 * 8 + some. */
    struct ys_graph *graph = usual("resnet20");
    struct ys_tap tap = {0};
    REQUIRE(graph);
    REQUIRE(ys_tap_make(graph, &tap) == YS_OK);
    CHECK(tap.count > 64);
    for (size_t i = 0; i < tap.count; i++) {
        const struct ys_tap_slice *slice = &tap.slices[i];
        int64_t columns[] = {slice->offset, slice->offset + slice->length - 1};
        for (size_t c = 0; c < 2; c++) {
            int value = producer_of(tap.graph, graph->node_count, tap.graph->output, columns[c]);
            CHECK_TEXT(tap.graph->values[value].name, graph->values[slice->value].name);
        }
    }
    ys_tap_fini(&tap);
    ys_graph_free(graph);
}

static void running_out_of_memory_leaves_nothing_behind(void)
{
    struct ys_graph *graph = NULL;
    struct ys_tap tap = {0};
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    ys_status status = YS_ENOMEM;
    for (long n = 1; status == YS_ENOMEM && n < 100000; n++) {
        ys_mem_fail_at(n);
        status = ys_tap_make(graph, &tap);
        ys_mem_fail_at(0);
        CHECK(status == YS_OK || (!tap.graph && !tap.slices));
    }
    CHECK(status == YS_OK);
    ys_tap_fini(&tap);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(every_value_that_a_node_makes_has_its_columns), TAP_CASE(the_network_before_the_taps_stays_as_it_was),
         TAP_CASE(columns_hold_what_their_slice_says), TAP_CASE(running_out_of_memory_leaves_nothing_behind))
