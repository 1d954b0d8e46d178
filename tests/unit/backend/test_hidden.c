/* Losses of targets some of which are hidden: the mean over the others of the whole batch, by the formulas and by
 * differences; `onednn` and `simd` against `ref`. */
#include "engines.h"

#include "graph/builder.h"

enum { BATCH = 3, POSITIONS = 4, CLASSES = 5 };
static const struct drawing tokens = {
    .purpose = "hidden", .seed = 5, .batch = BATCH, .vocabulary = CLASSES, .tried = 40};

static struct ys_graph *make_graph(enum ys_loss loss, double smoothing)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("hidden", (const int64_t[]){POSITIONS}, 1, YS_I32, &b) != YS_OK)
        return NULL;
    ys_build_draw(b, YS_DRAW_UNIFORM(1), YS_DRAW_UNIFORM(1));
    int v = ys_build_embedding(b, ys_build_input(b), CLASSES, 3, "embed");
    v = ys_build_gemm(b, v, CLASSES, "head");
    if (loss == YS_LOSS_NLL)
        v = ys_build_node(b, &(const struct ys_node){.op = YS_OP_LOG_SOFTMAX, .axis = 2}, &v, 1, "log");
    ys_build_target(b, YS_TARGET_CLASSES);
    ys_build_loss(b, loss);
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    if (graph)
        graph->label_smoothing = smoothing;
    return graph;
}

/** Of the first row one target, of the second none, of the third all but one. */
static void hide(struct ys_engine *e)
{
    int64_t *y = ys_engine_target(e);
    for (int i = 0; i < BATCH * POSITIONS; i++)
        if (i == 1 || i / POSITIONS == 2)
            y[i] = i == 2 * POSITIONS ? y[i] : YS_ROWS_HIDDEN;
}

static double loss_of(enum ys_loss loss, double smoothing, const double *z, int64_t label)
{
    double sum = 0, all = 0, squares = 0;
    for (int k = 0; k < CLASSES; k++) {
        sum += exp(z[k]);
        all += z[k];
        squares += (z[k] - (k == label)) * (z[k] - (k == label));
    }
    return loss == YS_LOSS_NLL                  ? -z[label]
           : loss == YS_LOSS_MEAN_SQUARED_ERROR ? squares / CLASSES
                                                : log(sum) - (1 - smoothing) * z[label] - smoothing / CLASSES * all;
}

static void check_loss_of(const char *backend, enum ys_loss loss, double smoothing)
{
    struct ys_graph *graph = make_graph(loss, smoothing);
    REQUIRE(graph);
    struct ys_engine *ref = open_engine(graph, "ref", YS_ENGINE_F64, &tokens);
    struct ys_engine *e = open_engine(graph, backend, YS_ENGINE_F32, &tokens);
    double sum = 0, found = 0, other = 0;
    int count = 0;
    REQUIRE(ref);
    hide(ref);
    CHECK(ys_engine_forward(ref, NULL, NULL, YS_ENGINE_TRAIN, &found) == 0);
    const int64_t *y = ys_engine_target(ref);
    for (int i = 0; i < BATCH * POSITIONS; i++)
        if (y[i] >= 0) {
            sum += loss_of(loss, smoothing, (const double *)ys_engine_logits(ref) + (ptrdiff_t)i * CLASSES, y[i]);
            count++;
        }
    CHECK_INT(count, 8);
    CHECK_NEAR(found, sum / count, 1e-14);
    for (size_t p = 0; p < ys_engine_param_count(ref); p++)
        check_differences(ref, p, tokens.tried);
    if (e) {
        double gradient[2][3 * CLASSES];
        hide(e);
        CHECK(ys_engine_backward(ref, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
        CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, &other) == 0);
        CHECK_NEAR(other, found, 1e-5); /* logarithms of sums, in float */
        CHECK(ys_engine_gradient_get(ref, 0, YS_ENGINE_F64, gradient[0]) == 0);
        CHECK(ys_engine_gradient_get(e, 0, YS_ENGINE_F64, gradient[1]) == 0);
        for (int i = 0; i < 3 * CLASSES; i++)
            CHECK_NEAR(gradient[1][i], gradient[0][i], 1e-6);
    }
    ys_engine_close(e);
    ys_engine_close(ref);
    ys_graph_free(graph);
}

static void check_loss(enum ys_loss loss, double smoothing)
{
    check_loss_of("onednn", loss, smoothing);
    check_loss_of("simd", loss, smoothing);
}

static void the_mean_is_of_the_targets_that_are_not_hidden(void)
{
    check_loss(YS_LOSS_SOFTMAX_CROSS_ENTROPY, 0);
    check_loss(YS_LOSS_SOFTMAX_CROSS_ENTROPY, 0.2);
    check_loss(YS_LOSS_NLL, 0);
    check_loss(YS_LOSS_MEAN_SQUARED_ERROR, 0);
}

static void a_batch_of_hidden_targets_alone_is_refused(void)
{
    struct ys_graph *graph = make_graph(YS_LOSS_SOFTMAX_CROSS_ENTROPY, 0);
    REQUIRE(graph);
    struct ys_engine *e = open_engine(graph, "ref", YS_ENGINE_F64, &tokens);
    REQUIRE(e);
    for (int i = 0; i < BATCH * POSITIONS; i++)
        ((int64_t *)ys_engine_target(e))[i] = YS_ROWS_HIDDEN;
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) != 0);
    CHECK_TEXT(ys_engine_error(), "all 12 targets of the batch are hidden (-1): there is nothing to take a mean of");
    ((int64_t *)ys_engine_target(e))[7] = -2;
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) != 0);
    CHECK_HAS(ys_engine_error(), "label -2 of row 1 is not one of 5 classes");
    ys_engine_close(e);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(the_mean_is_of_the_targets_that_are_not_hidden), TAP_CASE(a_batch_of_hidden_targets_alone_is_refused))
