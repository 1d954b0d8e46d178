/* Rows that are no images: several inputs, shared parameters, stretched sums and products, and every kind of target.
 * Gradients of `ref` against differences of its loss, `onednn` against `ref`. */
#include "engine/engine.h"
#include "base/mem.h"
#include "base/rng.h"
#include "differences.h"
#include "graph/build.h"
#include "tap.h"

#include <math.h>

#define BATCH 3

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

static struct ys_engine *open_engine(const struct ys_graph *graph, const char *backend,
                                     enum ys_engine_precision precision)
{
    struct ys_engine_config config = {.batch = BATCH,
                                      .precision = precision,
                                      .backend = backend,
                                      .threads = 2,
                                      .training = true,
                                      .guarded = true,
                                      .optimizer.momentum = 0.9};
    struct ys_engine *e = NULL;
    struct ys_rng rng;
    const struct ys_rows rows = ys_graph_rows(graph);
    if (ys_engine_open_graph(graph, &config, &e) != 0)
        return NULL;
    ys_rng_init(&rng, 7, "rows");
    for (size_t i = 0; i < rows.input_count; i++)
        ys_rows_draw(&rows.inputs[i], 0, &rng, BATCH, ys_engine_place(e, i));
    ys_rows_draw(&rows.target, rows.classes, &rng, BATCH, ys_engine_target(e));
    CHECK(ys_engine_draw(e, 3) == 0);
    return e;
}

static void check_trained(struct ys_engine *e, size_t param)
{
    struct ys_engine_param p;
    REQUIRE(ys_engine_param(e, param, &p) == 0);
    if (p.is_trained)
        check_differences(e, param, 7);
}

/** norm(theirs - ours) / norm(ours) of a gradient; float rounds at 6e-8, and sums here have few terms. */
static void compare_gradient(struct ys_engine *ref, struct ys_engine *other, size_t param, double bound)
{
    struct ys_engine_param p;
    REQUIRE(ys_engine_param(ref, param, &p) == 0);
    if (!p.is_trained)
        return;
    double *ours = ys_alloc(p.elements, sizeof *ours), *theirs = ys_alloc(p.elements, sizeof *theirs);
    REQUIRE(ours && theirs);
    CHECK(ys_engine_gradient_get(ref, param, YS_ENGINE_F64, ours) == 0);
    CHECK(ys_engine_gradient_get(other, param, YS_ENGINE_F64, theirs) == 0);
    double difference = 0, size = 0;
    for (size_t k = 0; k < p.elements; k++) {
        difference += (theirs[k] - ours[k]) * (theirs[k] - ours[k]);
        size += ours[k] * ours[k];
    }
    tap_check(sqrt(difference) <= bound * sqrt(size) + 1e-7, __LINE__, "gradient of %s is %g away from %g", p.name,
              sqrt(difference), sqrt(size));
    ys_free(ours);
    ys_free(theirs);
}

static void compare(const struct ys_graph *graph, struct ys_engine *ref, enum ys_engine_precision precision)
{
    struct ys_engine *e = open_engine(graph, "onednn", precision);
    if (!e) {
        tap_skip("%s", ys_engine_error());
        return;
    }
    const double bound = precision == YS_ENGINE_BF16 ? 0.1 : 1e-5;
    double ours, theirs;
    CHECK(ys_engine_backward(ref, NULL, NULL, YS_ENGINE_TRAIN, &ours) == 0);
    CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, &theirs) == 0);
    CHECK_NEAR(theirs, ours, bound * fabs(ours));
    for (size_t p = 0; p < ys_engine_param_count(e); p++)
        compare_gradient(ref, e, p, bound);
    for (int step = 0; step < 3; step++) {
        CHECK(ys_engine_step(ref, NULL, NULL, 0.05, &ours) == 0);
        CHECK(ys_engine_step(e, NULL, NULL, 0.05, &theirs) == 0);
    }
    CHECK_NEAR(theirs, ours, 4 * bound * fabs(ours));
    CHECK(ys_engine_check(e) == 0);
    ys_engine_close(e);
}

static void try_out(enum ys_target_kind kind, enum ys_loss loss)
{
    struct ys_graph *graph = make_graph(kind, loss);
    REQUIRE(graph);
    for (int precision = YS_ENGINE_F32; precision <= YS_ENGINE_BF16; precision++) {
        struct ys_engine *ref = open_engine(graph, "ref", YS_ENGINE_F64);
        REQUIRE(ref);
        if (precision == YS_ENGINE_F32)
            for (size_t p = 0; p < ys_engine_param_count(ref); p++)
                check_trained(ref, p);
        compare(graph, ref, precision);
        CHECK(ys_engine_check(ref) == 0);
        ys_engine_close(ref);
    }
    ys_graph_free(graph);
}

static void a_class_for_each_row(void)
{
    try_out(YS_TARGET_CLASS, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
}

static void a_class_for_each_position(void)
{
    try_out(YS_TARGET_CLASSES, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
    try_out(YS_TARGET_CLASSES, YS_LOSS_NLL);
    try_out(YS_TARGET_CLASSES, YS_LOSS_MEAN_SQUARED_ERROR);
}

static void numbers_as_target(void)
{
    try_out(YS_TARGET_VECTOR, YS_LOSS_MEAN_SQUARED_ERROR);
}

/** The loss of a class for each position is the mean over them all: with one class wrong it is refused by its row. */
static void what_was_opened_says_its_rows(void)
{
    struct ys_graph *graph = make_graph(YS_TARGET_CLASSES, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
    REQUIRE(graph);
    struct ys_engine *e = open_engine(graph, "ref", YS_ENGINE_F32);
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
         TAP_CASE(what_was_opened_says_its_rows))
