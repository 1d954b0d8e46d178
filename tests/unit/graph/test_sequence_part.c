/* Networks over a few positions at a time: which can be made so, and what of them is then smaller. */
#include "graph/builder.h"
#include "graph/model.h"
#include "graph/sequence_part.h"
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

static struct ys_graph *gpt_of(int64_t positions)
{
    const struct ys_model_input input = {.shape = {positions},
                                         .dtype = YS_I32,
                                         .classes = 9,
                                         .vocabulary = 9,
                                         .sizes = {[YS_MODEL_WIDTH] = 16, [YS_MODEL_LAYERS] = 2, [YS_MODEL_HEADS] = 2}};
    struct ys_graph *graph = NULL;
    if (ys_model_build(ys_model_find("gpt-nano"), &input, &graph) != YS_OK)
        printf("# %s\n", ys_error());
    return graph;
}

static bool is_same(const struct ys_graph *a, const struct ys_graph *b)
{
    ys_json *left = ys_graph_to_json(a), *right = ys_graph_to_json(b);
    const bool same = ys_json_equal(left, right);
    ys_json_free(left);
    ys_json_free(right);
    return same;
}

/** Built over so many positions at once it is the same network: names, order, shapes, attributes. */
static void a_window_is_the_network_of_so_many_positions(void)
{
    static const int64_t extents[] = {1, 2, 7, 12};
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        struct ys_graph *cut = gpt_of(12), *built = gpt_of(extents[i]);
        REQUIRE(cut && built);
        CHECK_INT(ys_graph_window(cut, extents[i]), YS_OK);
        CHECK(is_same(cut, built));
        CHECK_INT(ys_graph_positions(cut), extents[i]);
        CHECK_INT(ys_graph_multiply_adds(cut), ys_graph_multiply_adds(built));
        CHECK_INT(ys_graph_parameter_count(cut), ys_graph_parameter_count(built));
        ys_graph_free(cut);
        ys_graph_free(built);
    }
}

static struct ys_graph *char_rnn_of(const char *name, int64_t positions)
{
    const struct ys_model_input input = {
        .shape = {positions}, .dtype = YS_I32, .classes = 9, .vocabulary = 9, .sizes = {[YS_MODEL_WIDTH] = 8}};
    struct ys_graph *graph = NULL;
    if (ys_model_build(ys_model_find(name), &input, &graph) != YS_OK)
        printf("# %s\n", ys_error());
    return graph;
}

/** Of what learns by a state too. */
static void first_positions_are_the_network_of_so_many(void)
{
    struct ys_graph *cut[] = {gpt_of(12), char_rnn_of("lstm-char", 12), char_rnn_of("gru-char", 12)};
    struct ys_graph *built[] = {gpt_of(5), char_rnn_of("lstm-char", 5), char_rnn_of("gru-char", 5)};
    for (size_t i = 0; i < 3; i++) {
        REQUIRE(cut[i] && built[i]);
        CHECK_INT(ys_graph_prefix(cut[i], 5), YS_OK);
        CHECK(is_same(cut[i], built[i]));
        CHECK_INT(ys_graph_multiply_adds(cut[i]), ys_graph_multiply_adds(built[i]));
        ys_graph_free(cut[i]);
        ys_graph_free(built[i]);
    }
    struct ys_graph *other = build("bert-mini");
    REQUIRE(other);
    CHECK_INT(ys_graph_prefix_check(other), YS_EUNSUPPORTED);
    ys_graph_free(other);
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

/** What stands between an embedding and the classes, and what is said of it; NULL: nothing, it is taken. */
struct middle {
    int (*make)(struct ys_build *b, int v);
    const char *said;
};

static int attend(struct ys_build *b, int v, bool causal, bool padded)
{
    const struct ys_node node = {.op = YS_OP_ATTENTION, .attention = {.heads = 2, .kv_heads = 2, .causal = causal}};
    return ys_build_node(b, &node, (const int[]){v, v, v, ys_build_input(b)}, padded ? 4 : 3, "attend");
}

static int attend_before(struct ys_build *b, int v)
{
    return attend(b, v, true, false);
}

static int attend_to_all(struct ys_build *b, int v)
{
    return attend(b, v, false, false);
}

static int attend_padded(struct ys_build *b, int v)
{
    return attend(b, v, true, true);
}

static int nothing(struct ys_build *b, int v)
{
    return ys_build_relu(b, v, "relu");
}

static int softmax(struct ys_build *b, int v, int axis)
{
    return ys_build_node(b, &(struct ys_node){.op = YS_OP_SOFTMAX, .axis = axis}, &v, 1, "soft");
}

static int softmax_of_positions(struct ys_build *b, int v)
{
    return softmax(b, attend_before(b, v), 1);
}

static int softmax_of_numbers(struct ys_build *b, int v)
{
    return softmax(b, attend_before(b, v), 2);
}

static int half_of_the_positions(struct ys_build *b, int v)
{
    const struct ys_node cut = {.op = YS_OP_SPLIT, .axis = 1, .out_count = 2, .split = {POSITIONS / 2, POSITIONS / 2}};
    const int half = ys_build_node(b, &cut, &v, 1, "halves");
    const struct ys_node join = {.op = YS_OP_CONCAT, .axis = 1};
    return ys_build_node(b, &join, (const int[]){half, half + 1}, 2, "join");
}

static int positions_turned(struct ys_build *b, int v)
{
    const struct ys_node turn = {.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 1}};
    return ys_build_node(b, &turn, &v, 1, "turn");
}

static int a_table_of_positions_twice(struct ys_build *b, int v)
{
    v = ys_build_operand(b, YS_OP_ADD, attend_before(b, v), (const int64_t[]){POSITIONS, WIDTH}, 2,
                         (struct ys_initializer){YS_INIT_NORMAL, 0, 0.02}, "places");
    return ys_build_shared(b, v, v, "again");
}

static int a_number_stretched(struct ys_build *b, int v)
{
    const int one = ys_build_gemm(b, attend_before(b, v), 1, "one");
    return ys_build_node(b, &(struct ys_node){.op = YS_OP_MUL}, (const int[]){v, one}, 2, "stretch");
}

static int factors_of_numbers(struct ys_build *b, int v)
{
    return ys_build_operand(b, YS_OP_MUL, attend_before(b, v), (const int64_t[]){WIDTH}, 1,
                            (struct ys_initializer){YS_INIT_NORMAL, 0, 1}, "factors");
}

static void layers_that_mix_positions_are_named(void)
{
    static const struct middle middles[] = {
        {attend_before, NULL},
        {softmax_of_numbers, NULL},
        {factors_of_numbers, NULL},
        {attend_to_all, "node attend (Attention) sees more than the positions up to its own"},
        {attend_padded, "node attend (Attention) sees more than the positions up to its own, or has padding hidden"},
        {nothing, "middle has no attention"},
        {softmax_of_positions, "node soft (Softmax) is none that takes each position by itself"},
        {half_of_the_positions, "node halves (Split) makes a value that is not (N, positions, width)"},
        {positions_turned, "node turn (Transpose) makes a value that is not (N, positions, width)"},
        {a_table_of_positions_twice, "shares its parameter, which has a row for each position"},
        {a_number_stretched, "node stretch (Mul) stretches a value"},
    };
    for (size_t i = 0; i < sizeof middles / sizeof middles[0]; i++) {
        const int64_t positions = POSITIONS;
        struct ys_build *b;
        struct ys_graph *graph = NULL;
        REQUIRE(ys_build_new("middle", &positions, 1, YS_I32, &b) == YS_OK);
        const int v = middles[i].make(b, ys_build_embedding(b, ys_build_input(b), 5, WIDTH, "embed"));
        ys_build_target(b, YS_TARGET_CLASSES);
        const ys_status built = ys_build_finish(b, v, &graph);
        tap_check(built == YS_OK, __LINE__, "network %zu: %s", i, built == YS_OK ? "" : ys_error());
        if (built != YS_OK)
            continue;
        CHECK_INT(ys_graph_window_check(graph), middles[i].said ? YS_EUNSUPPORTED : YS_OK);
        if (middles[i].said)
            CHECK_HAS(ys_error(), middles[i].said);
        else
            CHECK_INT(ys_graph_window(graph, 2), YS_OK);
        ys_graph_free(graph);
    }
}

TAP_MAIN(TAP_CASE(a_window_has_its_positions_and_no_others), TAP_CASE(a_window_is_the_network_of_so_many_positions),
         TAP_CASE(first_positions_are_the_network_of_so_many), TAP_CASE(other_models_are_refused),
         TAP_CASE(a_node_that_mixes_positions_is_refused), TAP_CASE(a_node_of_each_position_is_taken),
         TAP_CASE(layers_that_mix_positions_are_named))
