/* LSTM and GRU: `ref` against the formulas of docs/graph.md and against differences of its loss, `onednn` against
 * `ref`. */
#include "engines.h"

#include "graph/builder.h"

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

/** The engine's rows are the positions from `first` on of rows of `all` positions, which are always the same. */
static void fill_rows(struct ys_engine *e, const struct shape *s, int64_t first, int64_t all)
{
    float *x = ys_engine_place(e, 0), *y = ys_engine_target(e);
    for (int64_t row = 0; row < BATCH; row++)
        for (int64_t t = 0; t < s->positions; t++) {
            const int64_t place = row * s->positions + t, of_all = row * all + first + t;
            for (int64_t k = 0; k < s->width; k++)
                x[place * s->width + k] = (float)sin(1.7 * (double)(of_all * s->width + k));
            for (int64_t k = 0; k < s->hidden; k++)
                y[place * s->hidden + k] = (float)cos(0.9 * (double)(of_all * s->hidden + k));
        }
}

static double value_of(const void *values, const struct ys_engine *e, int64_t i)
{
    return ys_engine_real_size(e) == sizeof(double) ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

/** Two halves, the second from the state of the first, against rows of both: the same values of the second half. */
static void check_halves(enum ys_op op, const char *backend, enum ys_engine_precision precision, double tolerance)
{
    const struct shape half = {4, 3, 19, 0.7, false}, whole = {8, 3, 19, 0.7, false};
    struct ys_graph *graph = make_graph(op, &half), *of_both = make_graph(op, &whole);
    REQUIRE(graph && of_both);
    graph->carries_state = true;
    struct ys_engine *e = open_engine(graph, backend, precision, &numbers);
    struct ys_engine *both = e ? open_engine(of_both, backend, precision, &numbers) : NULL;
    if (!both) {
        tap_skip("%s", ys_engine_error());
    } else {
        CHECK(ys_engine_carried_count(e) == (op == YS_OP_LSTM ? 2 : 1) && ys_engine_carried_count(both) == 0);
        fill_rows(both, &whole, 0, 8);
        CHECK(ys_engine_forward(both, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
        for (int64_t first = 0; first < 8; first += 4) {
            fill_rows(e, &half, first, 8);
            for (int again = 0; again < 2; again++) /* a pass does not move the state */
                CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
            for (int64_t i = 0; i < BATCH * 4 * 19; i++) {
                const int64_t row = i / (4 * 19), j = row * 8 * 19 + first * 19 + i % (4 * 19);
                CHECK_NEAR(value_of(ys_engine_logits(e), e, i), value_of(ys_engine_logits(both), both, j), tolerance);
            }
            ys_engine_carry(e);
        }
        ys_engine_reset(e);
        double h[BATCH * 19];
        CHECK(ys_engine_carried_get(e, 0, YS_ENGINE_F64, h) == 0);
        for (int i = 0; i < BATCH * 19; i++)
            CHECK(h[i] == 0);
    }
    ys_engine_close(e);
    ys_engine_close(both);
    ys_graph_free(graph);
    ys_graph_free(of_both);
}

static void a_batch_goes_on_from_the_one_before(void)
{
    static const enum ys_op ops[] = {YS_OP_LSTM, YS_OP_GRU};
    for (size_t i = 0; i < 2; i++) {
        check_halves(ops[i], "ref", YS_ENGINE_F64, 1e-14);
        check_halves(ops[i], "onednn", YS_ENGINE_F32, 2e-6);
        check_halves(ops[i], "simd", YS_ENGINE_F32, 2e-6);
    }
}

/** An engine with a state that is not zero. */
static struct ys_engine *open_carrying(struct ys_graph *graph, const struct shape *s, const char *backend,
                                       enum ys_engine_precision precision)
{
    struct ys_engine *e = open_engine(graph, backend, precision, &numbers);
    double state[BATCH * LARGEST];
    for (size_t a = 0; e && a < ys_engine_carried_count(e); a++) {
        for (int64_t i = 0; i < BATCH * s->hidden; i++)
            state[i] = 0.8 * sin(2.3 * (double)i + (double)a);
        CHECK(ys_engine_carried_set(e, a, YS_ENGINE_F64, state) == 0);
    }
    if (e)
        fill_rows(e, s, 0, s->positions);
    return e;
}

/** (loss with the parameter up - loss with it down) / the way */
static double difference(struct ys_engine *e, size_t param, double *values, size_t at)
{
    const double way = 1e-5, value = values[at];
    double up = 0, down = 0;
    values[at] = value + way;
    CHECK(ys_engine_param_set(e, param, YS_ENGINE_F64, values) == 0);
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_TRAIN, &up) == 0);
    values[at] = value - way;
    CHECK(ys_engine_param_set(e, param, YS_ENGINE_F64, values) == 0);
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_TRAIN, &down) == 0);
    values[at] = value;
    CHECK(ys_engine_param_set(e, param, YS_ENGINE_F64, values) == 0);
    return (up - down) / (2 * way);
}

enum { MOST = 4 * LARGEST * LARGEST };

/** All parameters of `ref` against differences, and `e` (NULL: it lacks something) against `ref`. */
static void check_gradients(struct ys_engine *ref, struct ys_engine *e)
{
    for (size_t p = 0; p < ys_engine_param_count(ref); p++) {
        struct ys_engine_param param;
        double values[MOST], gradient[MOST], other[MOST];
        REQUIRE(ys_engine_param(ref, p, &param) == 0 && param.elements <= MOST);
        CHECK(ys_engine_param_get(ref, p, YS_ENGINE_F64, values) == 0);
        CHECK(ys_engine_backward(ref, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
        CHECK(ys_engine_gradient_get(ref, p, YS_ENGINE_F64, gradient) == 0);
        if (e) {
            CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
            CHECK(ys_engine_gradient_get(e, p, YS_ENGINE_F64, other) == 0);
        }
        for (size_t i = 0; i < param.elements; i++) {
            CHECK_NEAR(difference(ref, p, values, i), gradient[i], 1e-8);
            CHECK_NEAR(e ? other[i] : gradient[i], gradient[i], 1e-6);
        }
    }
}

static void gradients_know_the_state_that_was_carried(void)
{
    static const enum ys_op ops[] = {YS_OP_LSTM, YS_OP_GRU};
    const struct shape s = {3, 4, 5, 0.7, false};
    static const char *const backends[] = {"onednn", "simd"};
    for (size_t i = 0; i < 4; i++) {
        struct ys_graph *graph = make_graph(ops[i / 2], &s);
        REQUIRE(graph);
        graph->carries_state = true;
        struct ys_engine *ref = open_carrying(graph, &s, "ref", YS_ENGINE_F64);
        struct ys_engine *e = open_carrying(graph, &s, backends[i % 2], YS_ENGINE_F32);
        REQUIRE(ref);
        check_gradients(ref, e);
        ys_engine_close(e);
        ys_engine_close(ref);
        ys_graph_free(graph);
    }
}

/** What goes beyond the range of exp ends at the bounds of the gates, and a NaN stays one. Twice 0.8665 lies in the
 * middle between two multiples of log(2), where the series of exp needs all its terms. */
static void check_sums_of_any_size(const char *backend)
{
    static const float driven[] = {0,   0.8665F, -0.8665F, 1e-4F, 0.6F,      -0.7F,    30,
                                   -80, 90,      -1e4F,    1e30F, -INFINITY, INFINITY, NAN};
    enum { COUNT = sizeof driven / sizeof driven[0] };
    const struct shape s = {COUNT, 1, 1, 0, false};
    struct ys_graph *graph = make_graph(YS_OP_LSTM, &s);
    REQUIRE(graph);
    struct ys_engine *e = open_engine(graph, backend, YS_ENGINE_F32, &numbers);
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

static void sums_may_be_of_any_size_onednn(void)
{
    check_sums_of_any_size("onednn");
}

static void sums_may_be_of_any_size_simd(void)
{
    check_sums_of_any_size("simd");
}

TAP_MAIN(TAP_CASE(lstm_is_its_formula), TAP_CASE(gru_is_its_formula), TAP_CASE(lstm_gradients), TAP_CASE(gru_gradients),
         TAP_CASE(a_batch_goes_on_from_the_one_before), TAP_CASE(gradients_know_the_state_that_was_carried),
         TAP_CASE(sums_may_be_of_any_size_onednn), TAP_CASE(sums_may_be_of_any_size_simd))
