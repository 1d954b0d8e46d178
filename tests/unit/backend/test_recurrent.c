/* LSTM and GRU: `ref` against the formulas of docs/graph.md and against differences of its loss, `onednn` against
 * `ref`. */
#include "engines.h"

#include "graph/build.h"

#include <string.h>

enum { BATCH = 3 };
static const struct drawing numbers = {
    .purpose = "numbers", .seed = 11, .batch = BATCH, .input_gradient = true, .tried = 40};

struct shape {
    int64_t positions, width, hidden;
    double reach; /* of the weights: how far the gates are driven to their ends */
    bool again;   /* a second layer of the same parameters */
};

/** Numbers, one layer or two, and the distance from a vector. */
static struct ys_graph *make_graph(enum ys_op op, const struct shape *s)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("recurrent", (const int64_t[]){s->positions, s->width}, 2, YS_F32, &b) != YS_OK)
        return NULL;
    ys_build_draw(b, YS_DRAW_UNIFORM(s->reach), YS_DRAW_UNIFORM(s->reach));
    int v = ys_build_recurrent(b, op, ys_build_input(b), s->hidden, "layer");
    if (s->again)
        v = ys_build_shared(b, v, v, "again");
    ys_build_target(b, YS_TARGET_VECTOR);
    ys_build_loss(b, YS_LOSS_MEAN_SQUARED_ERROR);
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    return graph;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/** W x + R h + b of one row of the gates; R h alone, or W x + b alone, where the other is NULL. */
static double weigh(const double *w, int64_t width, const float *x, const double *r, int64_t hidden, const double *h)
{
    double sum = 0;
    for (int64_t k = 0; x && k < width; k++)
        sum += w[k] * (double)x[k];
    for (int64_t k = 0; h && k < hidden; k++)
        sum += r[k] * h[k];
    return sum;
}

enum { LARGEST = 8 };

/** One position of one row by the formulas; h and c become the new ones. */
static void advance(enum ys_op op, const struct shape *s, double *const p[4], const float *x, double h[LARGEST],
                    double c[LARGEST])
{
    double sum[4][LARGEST], product[3][LARGEST];
    for (int64_t gate = 0; gate < (op == YS_OP_LSTM ? 4 : 3); gate++)
        for (int64_t j = 0; j < s->hidden; j++) {
            const int64_t row = gate * s->hidden + j;
            const double *w = p[0] + row * s->width, *r = p[2] + row * s->hidden;
            sum[gate][j] = weigh(w, s->width, x, r, s->hidden, op == YS_OP_LSTM ? h : NULL) + p[1][row];
            if (op == YS_OP_GRU)
                product[gate][j] = weigh(w, s->width, NULL, r, s->hidden, h);
        }
    for (int64_t j = 0; j < s->hidden; j++)
        if (op == YS_OP_LSTM) {
            c[j] = sigmoid(sum[1][j]) * c[j] + sigmoid(sum[0][j]) * tanh(sum[2][j]);
            h[j] = sigmoid(sum[3][j]) * tanh(c[j]);
        } else {
            const double reset = sigmoid(sum[0][j] + product[0][j]), z = sigmoid(sum[1][j] + product[1][j]);
            h[j] = (1 - z) * tanh(sum[2][j] + reset * (product[2][j] + p[3][j])) + z * h[j];
        }
}

/** Parameters stand in the graph in the order weight, bias, recurrent weight, recurrent bias. */
static void check_formula(enum ys_op op, const struct shape *s)
{
    struct ys_graph *graph = make_graph(op, s);
    double *p[4] = {NULL};
    REQUIRE(graph);
    CHECK(ys_graph_multiply_adds(graph) ==
          s->positions * (op == YS_OP_LSTM ? 4 : 3) * s->hidden * (s->width + s->hidden));
    struct ys_engine *e = open_engine(graph, "ref", YS_ENGINE_F64, &numbers);
    REQUIRE(e && ys_engine_param_count(e) == (op == YS_OP_LSTM ? 3 : 4));
    for (size_t i = 0; i < ys_engine_param_count(e); i++) {
        struct ys_engine_param param;
        REQUIRE(ys_engine_param(e, i, &param) == 0);
        p[i] = ys_alloc(param.elements, sizeof *p[i]);
        REQUIRE(p[i]);
        CHECK(ys_engine_param_get(e, i, YS_ENGINE_F64, p[i]) == 0);
    }
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
    const double *y = ys_engine_logits(e);
    for (int64_t row = 0; row < BATCH; row++) {
        double h[LARGEST] = {0}, c[LARGEST] = {0};
        for (int64_t t = 0; t < s->positions; t++) {
            const int64_t place = row * s->positions + t;
            advance(op, s, p, (const float *)ys_engine_place(e, 0) + place * s->width, h, c);
            for (int64_t j = 0; j < s->hidden; j++)
                CHECK_NEAR(y[place * s->hidden + j], h[j], 1e-13);
        }
    }
    for (size_t i = 0; i < 4; i++)
        ys_free(p[i]);
    ys_engine_close(e);
    ys_graph_free(graph);
}

static void lstm_is_its_formula(void)
{
    check_formula(YS_OP_LSTM, &(const struct shape){5, 3, 4, 0.6, false});
    check_formula(YS_OP_LSTM, &(const struct shape){1, 2, 7, 4, false});
    check_formula(YS_OP_LSTM, &(const struct shape){9, 1, 1, 2, false});
}

static void gru_is_its_formula(void)
{
    check_formula(YS_OP_GRU, &(const struct shape){5, 3, 4, 0.6, false});
    check_formula(YS_OP_GRU, &(const struct shape){1, 2, 7, 4, false});
    check_formula(YS_OP_GRU, &(const struct shape){9, 1, 1, 2, false});
}

/* Hidden extents on both sides of the sixteen numbers that are computed at a time; one position, whose state before is
 * zero; weights that drive the gates to their ends; two layers of one kind of parameters. The layers compute in float
 * whatever the precision. */
static void gradients_are_those_of_differences(enum ys_op op)
{
    static const struct shape shapes[] = {{4, 3, 5, 0.7, false},
                                          {1, 3, 16, 0.7, false},
                                          {3, 2, 19, 0.5, false},
                                          {6, 2, 3, 3, false},
                                          {5, 4, 4, 0.6, true}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        try_out(make_graph(op, &shapes[i]), &numbers, &allowed_f32);
}

static void lstm_gradients(void)
{
    gradients_are_those_of_differences(YS_OP_LSTM);
}

static void gru_gradients(void)
{
    gradients_are_those_of_differences(YS_OP_GRU);
}

/** What goes beyond the range of exp ends at the bounds of the gates, and a NaN stays one. */
static void sums_may_be_of_any_size(void)
{
    static const float driven[] = {0, 1e-4F, 0.6F, -0.7F, 30, -80, 90, -1e4F, 1e30F, -INFINITY, INFINITY, NAN};
    enum { COUNT = sizeof driven / sizeof driven[0] };
    const struct shape s = {COUNT, 1, 1, 0, false};
    struct ys_graph *graph = make_graph(YS_OP_LSTM, &s);
    REQUIRE(graph);
    struct ys_engine *e = open_engine(graph, "onednn", YS_ENGINE_F32, &numbers);
    if (!e) {
        tap_skip("%s", ys_engine_error());
        ys_graph_free(graph);
        return;
    }
    const double weight[] = {0, 0, 1, 0}, bias[] = {100, -100, 0, 100}, recurrent[] = {0, 0, 0, 0};
    CHECK(ys_engine_param_set(e, 0, YS_ENGINE_F64, weight) == 0);
    CHECK(ys_engine_param_set(e, 1, YS_ENGINE_F64, bias) == 0);
    CHECK(ys_engine_param_set(e, 2, YS_ENGINE_F64, recurrent) == 0);
    for (int row = 0; row < BATCH; row++) /* the weights of the other gates are 0, and 0 times infinity is a NaN */
        for (int i = 0; i < COUNT; i++)
            ((float *)ys_engine_place(e, 0))[row * COUNT + i] =
                isinf(driven[i]) ? copysignf(3e38F, driven[i]) : driven[i];
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
    const float *y = ys_engine_logits(e);
    for (int i = 0; i < COUNT - 1; i++) /* both gates at 1: y = tanh(tanh(x)) */
        CHECK_NEAR(y[i], tanh(tanh((double)driven[i])), 4e-7 * fabs(tanh(tanh((double)driven[i]))));
    CHECK(isnan(y[COUNT - 1]));
    ys_engine_close(e);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(lstm_is_its_formula), TAP_CASE(gru_is_its_formula), TAP_CASE(lstm_gradients), TAP_CASE(gru_gradients),
         TAP_CASE(sums_may_be_of_any_size))
