/* Rows that are no images: several inputs, shared parameters, stretched sums and products, and every kind of target.
 * Gradients of `ref` against differences of its loss, `onednn` against `ref`. */
#include "engines.h"

#include "graph/builder.h"

/** Two inputs of unlike shape through one convolution; the second, of a pixel, is stretched over the first. */
static struct ys_graph *make_graph(enum ys_target_kind kind, enum ys_loss loss)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("rows", (const int64_t[]){2, 3, 4}, 3, YS_F32, &b) != YS_OK)
        return NULL;
    int all = ys_build_more_input(b, "context", (const int64_t[]){2, 1, 1}, 3, YS_F32);
    int column = ys_build_more_input(b, "tokens", (const int64_t[]){6, 3, 1}, 3, YS_I32);
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.3));
    int v = ys_build_conv(b, ys_build_input(b), 6, 1, 1, 0, "conv");
    all = ys_build_shared(b, v, all, "conv_all");
    v = ys_build_batchnorm(b, v, "norm");
    v = ys_build_plain(b, YS_OP_TANH, ys_build_add(b, all, v, "add"), "tanh");
    column = ys_build_normalize(b, column, 1.0 / 64, 2, 1, "normalize");
    v = ys_build_add(b, ys_build_mul(b, v, column, "mul_column"), ys_build_mul(b, all, all, "mul_alike"), "add_again");
    v = ys_build_conv_plain(b, v, 6, 1, 1, 0, 1, "mix");
    v = ys_build_shared(b, v, ys_build_plain(b, YS_OP_TANH, v, "tanh2"), "mix_again");
    int last = ys_build_layernorm(b, v, 0.1, "lines");
    v = ys_build_shared(b, last, ys_build_plain(b, YS_OP_TANH, last, "tanh3"), "lines_again");
    if (kind == YS_TARGET_CLASS)
        v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 5, "fc");
    else
        v = ys_build_node(b, &(struct ys_node){.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 3, 1}}, &v, 1, "turn");
    if (loss == YS_LOSS_NLL)
        v = ys_build_node(b, &(struct ys_node){.op = YS_OP_LOG_SOFTMAX, .axis = kind == YS_TARGET_CLASS ? 1 : 3}, &v, 1,
                          "log");
    ys_build_target(b, kind);
    ys_build_loss(b, loss);
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    return graph;
}

static const struct drawing lines = {.purpose = "rows", .seed = 3, .batch = 3, .tried = 7};

static void compare_rows(enum ys_target_kind kind, enum ys_loss loss)
{
    try_out(make_graph(kind, loss), &lines, &(const struct allowed){0.1, 1e-7});
}

static void a_class_for_each_row(void)
{
    compare_rows(YS_TARGET_CLASS, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
}

static void a_class_for_each_position(void)
{
    compare_rows(YS_TARGET_CLASSES, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
    compare_rows(YS_TARGET_CLASSES, YS_LOSS_NLL);
    compare_rows(YS_TARGET_CLASSES, YS_LOSS_MEAN_SQUARED_ERROR);
}

static void numbers_as_target(void)
{
    compare_rows(YS_TARGET_VECTOR, YS_LOSS_MEAN_SQUARED_ERROR);
}

/** A product along the last axis of a value whose channels lie in blocks: its lines are in C order nowhere in it. */
static void a_product_along_the_last_axis_of_images(void)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("lines", (const int64_t[]){3, 4, 5}, 3, YS_F32, &b) == YS_OK);
    int v = ys_build_conv(b, ys_build_input(b), 16, 1, 1, 0, "conv");
    v = ys_build_plain(b, YS_OP_TANH, ys_build_gemm(b, v, 6, "lines"), "tanh");
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 5, "fc");
    REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
    try_out(graph, &lines, &(const struct allowed){0.1, 1e-7});
}

/** One weight behind two Flattens, of a value whose channels lie in blocks and of one in C order: its columns can be in
 * the order of one of them alone. */
static void a_product_shared_behind_two_layouts(void)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("shared", (const int64_t[]){16, 3, 4}, 3, YS_F32, &b) == YS_OK);
    const int x = ys_build_input(b);
    int blocked = ys_build_flatten(b, ys_build_conv(b, x, 16, 1, 1, 0, "conv"), "flatten_blocks");
    blocked = ys_build_gemm(b, blocked, 7, "fc");
    const int plain = ys_build_shared(b, blocked, ys_build_flatten(b, x, "flatten"), "fc_again");
    const int v = ys_build_add(b, blocked, ys_build_plain(b, YS_OP_TANH, plain, "tanh"), "add");
    REQUIRE(ys_build_finish(b, ys_build_gemm(b, v, 5, "out"), &graph) == YS_OK);
    try_out(graph, &lines, &(const struct allowed){0.1, 1e-7});
}

/** One weight and bias of two convolutions; the bias's gradient begins anew with each step. */
static void check_shared(bool transposed)
{
    const struct ys_window window = ys_build_window(3, 1, 1);
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("shared", (const int64_t[]){4, 3, 4}, 3, YS_F32, &b) == YS_OK);
    int v = transposed ? ys_build_conv_transpose(b, ys_build_input(b), 4, &window, "conv")
                       : ys_build_conv(b, ys_build_input(b), 4, 3, 1, 1, "conv");
    v = ys_build_shared(b, v, ys_build_plain(b, YS_OP_TANH, v, "tanh"), "again");
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 5, "fc");
    REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
    try_out(graph, &lines, &(const struct allowed){0.1, 1e-7});
}

static void a_convolution_shared(void)
{
    check_shared(false);
}

static void a_transposed_convolution_shared(void)
{
    check_shared(true);
}

/** Inputs of one to three dimensions that are normalized, as bytes, whole numbers and floats: their gradient has a
 * place of its own, and the next step finds the rows as they were. */
static void normalized_rows_of_few_dimensions(void)
{
    static const struct drawing seen = {
        .purpose = "few", .seed = 3, .batch = 3, .vocabulary = 50, .input_gradient = true, .tried = 7};
    static const enum ys_dtype types[] = {YS_F32, YS_U8, YS_I32};
    const int64_t shape[] = {5, 4, 3};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t rank = 1; rank <= 3; rank++) {
            struct ys_build *b;
            struct ys_graph *graph = NULL;
            REQUIRE(ys_build_new("few", shape, rank, types[t], &b) == YS_OK);
            int v = ys_build_normalize(b, ys_build_input(b), 1.0 / 256, 0.5, 0.5, "normalize");
            v = ys_build_gemm(b, rank > 1 ? ys_build_flatten(b, v, "flatten") : v, 5, "fc");
            REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
            try_out(graph, &seen, &(const struct allowed){0.1, 1e-7});
        }
}

/** The loss of a class for each position is the mean over them all: with one class wrong it is refused by its row. */
static void what_was_opened_says_its_rows(void)
{
    struct ys_graph *graph = make_graph(YS_TARGET_CLASSES, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
    REQUIRE(graph);
    struct ys_engine *e = open_engine(graph, "ref", YS_ENGINE_F32, &lines);
    REQUIRE(e);
    CHECK(ys_engine_input_count(e) == 3);
    CHECK_TEXT(ys_engine_input_rows(e, 2).name, "tokens");
    CHECK(ys_engine_input_rows(e, 2).type == YS_ENGINE_INT32 && ys_engine_input_rows(e, 2).row_bytes == 72);
    struct ys_engine_rows target = ys_engine_target_rows(e);
    CHECK(target.type == YS_ENGINE_INT64 && target.rank == 2 && target.shape[0] == 3 && target.shape[1] == 4);
    CHECK(ys_engine_classes(e) == 6 && ys_engine_row_logits(e) == 72);
    CHECK(ys_engine_forward(e, target.shape, NULL, YS_ENGINE_EVAL, NULL) != 0);
    CHECK_HAS(ys_engine_error(), "rows has several inputs");
    ((int64_t *)ys_engine_target(e))[12 + 5] = 6;
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) != 0);
    CHECK_HAS(ys_engine_error(), "label 6 of row 1 is not one of 6 classes");
    ys_engine_close(e);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(a_class_for_each_row), TAP_CASE(a_class_for_each_position), TAP_CASE(numbers_as_target),
         TAP_CASE(a_product_along_the_last_axis_of_images), TAP_CASE(a_product_shared_behind_two_layouts),
         TAP_CASE(a_convolution_shared), TAP_CASE(a_transposed_convolution_shared),
         TAP_CASE(normalized_rows_of_few_dimensions), TAP_CASE(what_was_opened_says_its_rows))
