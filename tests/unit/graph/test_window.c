/* Networks over a few positions at a time: which can be made so, and what of them is then smaller. */
#include "graph/build.h"
#include "graph/model.h"
#include "graph/window.h"
#include "tap.h"

#include <string.h>

static struct ys_graph *build(const char *name)
{
    const struct ys_model *model = ys_model_find(name);
    struct ys_graph *graph = NULL;
    if (!model || ys_model_build(model, &model->usual, &graph) != YS_OK)
        printf("# %s\n", ys_error());
    return graph;
}

/** `positions` of 64: of all extents of positions so many are left, and nothing else changes. */
static void a_window_has_its_positions_and_no_others(void)
{
    static const int64_t extents[] = {1, 5, 64};
    for (size_t k = 0; k < sizeof extents / sizeof *extents; k++) {
        struct ys_graph *whole = build("gpt-nano"), *graph = build("gpt-nano");
        REQUIRE(whole && graph && ys_graph_window(graph, extents[k]) == YS_OK);
        CHECK_INT(graph->value_count, whole->value_count);
        for (size_t v = 0; v < graph->value_count; v++) {
            CHECK_INT(graph->values[v].shape[1], extents[k]);
            CHECK(graph->values[v].rank < 3 || graph->values[v].shape[2] == whole->values[v].shape[2]);
        }
        for (size_t p = 0; p < graph->param_count; p++) {
            const struct ys_param *own = &graph->params[p], *other = &whole->params[p];
            const bool is_place = strstr(own->name, "position") != NULL;
            CHECK_INT(own->shape[0], is_place ? extents[k] : other->shape[0]);
            CHECK(is_place || ys_param_elements(own) == ys_param_elements(other));
        }
        ys_graph_free(graph);
        ys_graph_free(whole);
    }
}

static void check_refused(struct ys_graph *graph, const char *said)
{
    REQUIRE(graph);
    CHECK_INT(ys_graph_window_check(graph), YS_EUNSUPPORTED);
    CHECK_HAS(ys_error(), said);
    ys_graph_free(graph);
}

static void other_models_are_refused(void)
{
    check_refused(build("lenet"), "lenet is no network of tokens with a class for each position");
    check_refused(build("bert-mini"), "bert-mini is no network of tokens with a class for each position");
    check_refused(build("lstm-char"), "(LSTM) is none that takes each position by itself");
    check_refused(build("gru-char"), "(GRU) is none that takes each position by itself");
}

enum { POSITIONS = 4, WIDTH = 6 };

/** Tokens, attention where it is asked for, and one more node, whose result has the shape of what it reads. */
static struct ys_graph *with_node(bool attends, bool causal, const struct ys_node *as, size_t in_count)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("small", (const int64_t[]){POSITIONS}, 1, YS_I32, &b) != YS_OK)
        return NULL;
    int v = ys_build_embedding(b, ys_build_input(b), 5, WIDTH, "embed");
    const int three[] = {v, v, v};
    if (attends)
        v = ys_build_node(b, &(struct ys_node){.op = YS_OP_ATTENTION, .attention = {1, 1, causal, 0}}, three, 3,
                          "attend");
    if (as)
        v = ys_build_node(b, as, (const int[]){v, v}, in_count, "tried");
    ys_build_target(b, YS_TARGET_CLASSES);
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    return graph;
}

static void a_node_that_mixes_positions_is_refused(void)
{
    check_refused(with_node(true, false, NULL, 0),
                  "node attend (Attention) sees more than the positions up to its own");
    check_refused(with_node(true, true, &(struct ys_node){.op = YS_OP_SOFTMAX, .axis = 1}, 1),
                  "node tried (Softmax) is none that takes each position by itself");
    check_refused(with_node(true, true, &(struct ys_node){.op = YS_OP_LOG_SOFTMAX, .axis = 1}, 1),
                  "node tried (LogSoftmax) is none that takes each position by itself");
    check_refused(with_node(true, true, &(struct ys_node){.op = YS_OP_CONCAT, .axis = 1}, 2),
                  "node tried (Concat) makes a value that is not (N, positions, width)");
    check_refused(with_node(true, true, &(struct ys_node){.op = YS_OP_PAD, .pad = {.rank = 3}}, 1),
                  "node tried (Pad) is none that takes each position by itself");
    check_refused(with_node(false, true, NULL, 0), "small has no attention");
}

static void a_node_of_each_position_is_taken(void)
{
    static const struct ys_node nodes[] = {{.op = YS_OP_SOFTMAX, .axis = 2},
                                           {.op = YS_OP_LOG_SOFTMAX, .axis = 2},
                                           {.op = YS_OP_TANH},
                                           {.op = YS_OP_HARDSWISH},
                                           {.op = YS_OP_GELU},
                                           {.op = YS_OP_SINUSOID, .rotary = {.base = 9}}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        struct ys_graph *graph = with_node(true, true, &nodes[i], 1);
        REQUIRE(graph);
        tap_check(ys_graph_window(graph, 2) == YS_OK, __LINE__, "node %zu: %s", i, ys_error());
        CHECK_INT(graph->values[graph->output].shape[1], 2);
        ys_graph_free(graph);
    }
}

TAP_MAIN(TAP_CASE(a_window_has_its_positions_and_no_others), TAP_CASE(other_models_are_refused),
         TAP_CASE(a_node_that_mixes_positions_is_refused), TAP_CASE(a_node_of_each_position_is_taken))
