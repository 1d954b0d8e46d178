/* Batch normalisation, sum and activation as one pass (backend/kernels/kernels.inc): every combination of them, in
 * blocks of channels, with channels beyond a block, and in rows of few channels: `onednn` against `ref`, whose own
 * gradients test_operator.c tries. */
#include "engines.h"

#include "graph/builder.h"

#include <string.h>

enum activation { NONE, RELU, CLIP, CLIP_ABOVE }; /* above 0: what is padded with 0 must not be moved */

struct shape {
    int64_t channels, side;
    bool blocked; /* behind a convolution, which chooses the layout */
};
static const struct shape shapes[] = {{16, 3, true}, {17, 9, true}, {5, 9, false}, {16, 3, false}, {16, 12, false}};

struct tail {
    const struct shape *shape;
    bool norm, sum, turned; /* turned: the sum's other operand first */
    enum activation act;
    bool twice; /* two nodes read the result */
    bool both;  /* the sum's other operand is normalised too */
};

/** A value with a parameter of its own, so that the gradient of the value is seen in that of the parameter. */
static int branch(struct ys_build *b, const struct shape *s, const char *name)
{
    if (s->blocked)
        return ys_build_conv_plain(b, ys_build_input(b), s->channels, 1, 1, 0, 1, name);
    return ys_build_operand(b, YS_OP_MUL, ys_build_input(b), (const int64_t[]){s->channels, 1, 1}, 3,
                            (struct ys_initializer){YS_INIT_UNIFORM, -1.5, 1.5}, name);
}

static struct ys_build *begin_graph(const struct shape *s)
{
    struct ys_build *b = NULL;
    const int64_t row[] = {s->blocked ? 3 : s->channels, s->side, s->side};
    if (CHECK(ys_build_new("tail", row, 3, YS_F32, &b) == YS_OK))
        ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.3));
    return b;
}

static struct ys_graph *make_graph(const struct tail *t)
{
    const struct shape *s = t->shape;
    struct ys_build *b = begin_graph(s);
    struct ys_graph *graph = NULL;
    if (!b)
        return NULL;
    int v = branch(b, s, "left");
    if (t->norm)
        v = ys_build_batchnorm(b, v, "norm");
    if (t->sum) {
        int other = branch(b, s, "right");
        if (t->both)
            other = ys_build_batchnorm(b, other, "other");
        v = t->turned ? ys_build_add(b, other, v, "add") : ys_build_add(b, v, other, "add");
    }
    if (t->act != NONE)
        v = t->act == RELU ? ys_build_relu(b, v, "act")
                           : ys_build_clip(b, v, t->act == CLIP ? -0.75 : 0.125, t->act == CLIP ? 0.5 : 1, "act");
    if (t->twice)
        v = ys_build_mul(b, ys_build_plain(b, YS_OP_TANH, v, "tanh"), ys_build_plain(b, YS_OP_SIGMOID, v, "sigmoid"),
                         "both");
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 5, "fc");
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    for (size_t p = 0; graph && p < graph->param_count; p++)
        if (strcmp(graph->params[p].name, "norm.weight") == 0)
            graph->params[p].init = (struct ys_initializer){YS_INIT_UNIFORM, 0.5, 1.5};
        else if (strcmp(graph->params[p].name, "norm.bias") == 0)
            graph->params[p].init = (struct ys_initializer){YS_INIT_UNIFORM, -0.5, 0.5};
    return graph;
}

/* Gradients of numbers of about 1 that are normalised are differences of such numbers, with tens of roundings; sums
 * over hundreds of thousands of them have as many more. In bfloat16 one value in some hundred is that near to a kink of
 * an activation that it lies on its other side. */
static const struct allowed allowed_norm = {1e-5, 2e-6}, allowed_large = {1e-3, 2e-6}, allowed_bf16 = {0.35, 1e-2};

static void compare_precision(const struct ys_graph *graph, enum ys_engine_precision precision,
                              const struct drawing *drawing, const struct allowed *allowed)
{
    struct ys_engine *ref = open_engine(graph, "ref", YS_ENGINE_F64, drawing);
    REQUIRE(ref);
    compare(graph, ref, precision, drawing, allowed);
    ys_engine_close(ref);
}

static const struct drawing rows = {.purpose = "tail", .seed = 3, .batch = 3, .input_gradient = true};

static void compare_one(const struct tail *t)
{
    struct ys_graph *graph = make_graph(t);
    REQUIRE(graph);
    compare_precision(graph, YS_ENGINE_F32, &rows, &allowed_norm);
    compare_precision(graph, YS_ENGINE_BF16, &rows, &allowed_bf16);
    ys_graph_free(graph);
}

/* What `b` has built up to the value `v`, with classes behind it. */
static void compare_built(struct ys_build *b, int v)
{
    struct ys_graph *graph = NULL;
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 5, "fc");
    REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
    compare_precision(graph, YS_ENGINE_F32, &rows, &allowed_norm);
    ys_graph_free(graph);
}

static void compare_tails(bool norm, bool sum)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int act = norm || sum ? NONE : RELU; act <= CLIP; act++)
            for (int twice = 0; twice < 2; twice++) {
                const struct tail t = {&shapes[s], norm, sum, twice && s % 2, (enum activation)act, twice};
                compare_one(&t);
            }
}

/** Behind channels that fill no block, alone and behind a normalisation and a sum. */
static void clips_that_move_zero(void)
{
    compare_one(&(const struct tail){&shapes[1], false, false, false, CLIP_ABOVE, true});
    compare_one(&(const struct tail){&shapes[1], true, true, false, CLIP_ABOVE, false});
    struct ys_build *b = begin_graph(&shapes[1]);
    REQUIRE(b);
    int v = ys_build_clip(b, branch(b, &shapes[1], "left"), 0.125, 1, "act");
    v = ys_build_conv(b, v, 7, 3, 1, 1, "behind"); /* what pads its weights must not move */
    compare_built(b, v);
}

static void activations(void)
{
    compare_tails(false, false);
}

static void sums(void)
{
    compare_tails(false, true);
}

static void normalisations(void)
{
    compare_tails(true, false);
}

static void normalisations_of_sums(void)
{
    compare_tails(true, true);
}

/** Between convolutions, which read what pads the channels: of the value, and of its gradient. */
static void normalisations_that_keep_padding(void)
{
    const struct shape *s = &shapes[1];
    struct ys_build *b = begin_graph(s);
    REQUIRE(b);
    int v = ys_build_conv(b, branch(b, s, "left"), s->channels, 1, 1, 0, "ahead");
    v = ys_build_conv(b, ys_build_batchnorm(b, v, "norm"), 7, 3, 1, 1, "behind");
    compare_built(b, v);
}

/** Whose statistics do not hang on the batch. */
static void gradients_of_an_evaluation(void)
{
    static const char *const backends[] = {"onednn", "simd"};
    for (int i = 0; i < 4; i++) {
        const int sum = i % 2;
        struct ys_graph *graph = make_graph(&(const struct tail){&shapes[1], true, sum, false, RELU, .twice = sum});
        REQUIRE(graph);
        struct ys_engine *ref = open_engine(graph, "ref", YS_ENGINE_F64, &rows);
        struct ys_engine *e = open_engine(graph, backends[i / 2], YS_ENGINE_F32, &rows);
        REQUIRE(ref);
        CHECK(ys_engine_backward(ref, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
        if (e) {
            CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
            for (size_t p = 0; p < ys_engine_param_count(ref); p++)
                compare_gradient(ref, e, p, &allowed_norm);
            CHECK(ys_engine_check(e) == 0);
        }
        ys_engine_close(e);
        ys_engine_close(ref);
        ys_graph_free(graph);
    }
}

/** One normalisation takes the sum, the other is left to itself. */
static void sums_of_two_normalisations(void)
{
    for (int turned = 0; turned < 2; turned++)
        compare_one(&(const struct tail){&shapes[1], true, true, turned, RELU, .both = true});
}

/** A branch behind a part of each kind. */
static int tail_of(struct ys_build *b, const struct shape *s, bool norm, bool sum, const char *const names[4])
{
    int v = branch(b, s, names[0]);
    if (norm)
        v = ys_build_batchnorm(b, v, names[1]);
    if (sum)
        v = ys_build_add(b, v, branch(b, s, names[2]), names[3]);
    return v;
}

/** Two tails whose results are added: both get the same gradient, and neither may write over it. */
static void tails_that_share_a_gradient(void)
{
    static const char *const left[4] = {"a", "a_norm", "a_more", "a_sum"};
    static const char *const right[4] = {"b", "b_norm", "b_more", "b_sum"};
    for (size_t s = 0; s < 3; s++)
        for (int form = 0; form < 4; form++) {
            const bool norm = form & 1, sum = form & 2;
            struct ys_build *b = begin_graph(&shapes[s]);
            REQUIRE(b);
            int v = ys_build_relu(b, tail_of(b, &shapes[s], norm, sum, left), "a_act");
            const int other = ys_build_clip(b, tail_of(b, &shapes[s], norm, sum, right), -0.75, 0.5, "b_act");
            v = ys_build_plain(b, YS_OP_TANH, ys_build_add(b, v, other, "both"), "tanh");
            compare_built(b, v);
        }
}

/** A sum before all other nodes, and a normalisation there. */
static void tails_at_the_beginning(void)
{
    for (int norm = 0; norm < 2; norm++) {
        struct ys_build *b;
        REQUIRE(ys_build_new("first", (const int64_t[]){5, 4, 4}, 3, YS_F32, &b) == YS_OK);
        const int x = ys_build_input(b);
        int v = norm ? ys_build_batchnorm(b, x, "norm") : ys_build_add(b, x, x, "add");
        compare_built(b, ys_build_relu(b, v, "act"));
    }
}

static int begin(void *context, const struct ys_engine_span *spans, size_t count)
{
    (void)context;
    (void)spans;
    (void)count;
    return 0;
}

static int end(void *context)
{
    (void)context;
    return 0;
}

/** As if another engine had a quarter everywhere; counts how often it was asked. */
static int mean_with_a_quarter(void *context, double *values, size_t count)
{
    *(int *)context += 1;
    for (size_t i = 0; i < count; i++)
        values[i] = (values[i] + 0.25) / 2;
    return 0;
}

static void join(struct ys_engine *e, int *asked)
{
    const struct ys_engine_exchange exchange = {
        .begin = begin, .end = end, .mean = mean_with_a_quarter, .world = 2, .context = asked};
    CHECK(ys_engine_set_exchange(e, &exchange) == 0);
}

static void compare_joined(const struct ys_graph *graph, const char *backend)
{
    static const struct drawing joined = {.purpose = "joined", .seed = 3, .batch = 3, .input_gradient = true};
    int asked = 0, asked_ref = 0;
    struct ys_engine *ref = open_engine(graph, "ref", YS_ENGINE_F64, &joined);
    struct ys_engine *e = open_engine(graph, backend, YS_ENGINE_F32, &joined);
    REQUIRE(ref);
    if (e) {
        join(ref, &asked_ref);
        join(e, &asked);
        compare_engines(ref, e, &allowed_norm);
        CHECK(asked > 0 && asked == asked_ref);
    }
    ys_engine_close(e);
    ys_engine_close(ref);
}

/** Batch normalisation over the rows of two engines. */
static void joined_normalisations(void)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int act = NONE; act <= CLIP; act++)
            for (int sum = 0; sum < 2; sum++) {
                const struct tail t = {&shapes[s], true, sum, false, (enum activation)act, false};
                struct ys_graph *graph = make_graph(&t);
                REQUIRE(graph);
                compare_joined(graph, "onednn");
                compare_joined(graph, "simd");
                ys_graph_free(graph);
            }
}

/** Blocks of channels of more bytes than two passes may take at once, in a value that is written past the caches. */
static void a_value_beyond_the_caches(void)
{
    static const struct drawing few = {.purpose = "large", .seed = 3, .batch = 1};
    static const struct shape large = {17, 460, true};
    for (int sum = 0; sum < 2; sum++) {
        struct ys_build *b;
        struct ys_graph *graph = NULL;
        REQUIRE(ys_build_new("large", (const int64_t[]){2, large.side, large.side}, 3, YS_F32, &b) == YS_OK);
        int v = ys_build_batchnorm(b, branch(b, &large, "left"), "norm");
        if (sum)
            v = ys_build_add(b, v, branch(b, &large, "right"), "add");
        v = ys_build_conv(b, ys_build_relu(b, v, "act"), 4, 1, 1, 0, "last");
        const struct ys_window window = ys_build_window(92, 92, 0);
        v = ys_build_pool(b, YS_OP_AVERAGEPOOL, v, &window, "pool");
        v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 5, "fc");
        REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
        compare_precision(graph, YS_ENGINE_F32, &few, &allowed_large);
        ys_graph_free(graph);
    }
}

TAP_MAIN(TAP_CASE(activations), TAP_CASE(sums), TAP_CASE(normalisations), TAP_CASE(normalisations_of_sums),
         TAP_CASE(normalisations_that_keep_padding), TAP_CASE(gradients_of_an_evaluation),
         TAP_CASE(sums_of_two_normalisations), TAP_CASE(tails_that_share_a_gradient), TAP_CASE(tails_at_the_beginning),
         TAP_CASE(clips_that_move_zero), TAP_CASE(joined_normalisations), TAP_CASE(a_value_beyond_the_caches))
