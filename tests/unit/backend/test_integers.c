/* Quantised operators over the awkward shapes of operator_cases.h, as the rule of docs/quantised.md has them: static in
 * integers against plain loops (integer_naive.h), `ref` to the bit, `onednn` but for results whose exact value lies
 * within 2e-4 of a half; dynamic against the formula. Each case that those loops have is tried with both ranges
 * and both schemes. With range full on a processor without VNNI the library adds pairs of products in 16 bits, so there
 * it is not tried. */
#include "unit/backend/integer_naive.h"

#include "backend/level.h"
#include "engine/backend.h"

#define INTEGER_NET(name, dtype, batch, c, h, w, ...)                                                                  \
    static void name##_integers(struct net *n)                                                                         \
    {                                                                                                                  \
        net_input(n, dtype, batch, c, h, w);                                                                           \
        naive_begin(n);                                                                                                \
        __VA_ARGS__;                                                                                                   \
        naive_end(n);                                                                                                  \
    }
CASES(INTEGER_NET)

#define INTEGER_ENTRY(name, dtype, ...) {#name, name##_integers, dtype},
static const struct {
    const char *name;
    void (*make)(struct net *n);
    enum ys_dtype dtype;
} integer_cases[] = {CASES(INTEGER_ENTRY)};
enum { CASE_COUNT = sizeof integer_cases / sizeof integer_cases[0] };

static struct ys_engine *open_quantised(struct naive *t, const char *backend)
{
    const struct ys_engine_config config = {
        .batch = t->net.batch, .precision = YS_ENGINE_F32, .backend = backend, .threads = 2, .guarded = true};
    struct ys_engine *engine = NULL;
    CHECK_TEXT(ys_engine_open_quantised(&t->net.graph, &config, &t->scales, &engine) == 0 ? "" : ys_engine_error(), "");
    for (size_t p = 0; engine && p < t->net.graph.param_count; p++)
        CHECK(ys_engine_param_set(engine, p, YS_ENGINE_F32, t->folded.values[p]) == 0);
    return engine;
}

static const float *run(struct ys_engine *engine, const struct naive *t)
{
    int64_t labels[16] = {0};
    CHECK_TEXT(ys_engine_forward(engine, t->x, labels, YS_ENGINE_EVAL, NULL) == 0 ? "" : ys_engine_error(), "");
    CHECK_TEXT(ys_engine_check(engine) == 0 ? "" : ys_engine_error(), "");
    return ys_engine_logits(engine);
}

/** How many of the results are not those of the loops. */
static size_t count_wrong(const struct naive *t, const float *logits, bool is_exact)
{
    const int out = t->net.graph.output;
    const struct ys_activation_scale *scale = naive_scale(t, out);
    size_t wrong = 0;
    for (size_t i = 0; i < naive_count(t, out); i++) {
        const double steps = (double)logits[i] / scale->scale + (double)scale->zero_point;
        const double off = fabs(steps - (double)t->values[out].q[i]);
        const double most = !is_exact && t->values[out].is_near[i] ? 1 : 0;
        wrong += !(off < most + 1e-3); /* steps is a division in double of a product rounded to float */
    }
    return wrong;
}

/** Whether the processor adds products as they are. */
static bool may_saturate(const char *backend, int range)
{
    const bool has_vnni = ys_level_has(YS_LEVEL_AVX512_VNNI) || ys_level_has(YS_LEVEL_AVX2_VNNI);
    return strcmp(backend, "ref") != 0 && range == YS_QUANT_FULL && !has_vnni;
}

/** Numbers for which no value that goes on is near a half; false: no such were found. */
static bool draw_sure(struct naive *t, const struct ys_quant_rule *rule, const char *name)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        naive_draw(t, rule, name, seed);
        naive_compute(t);
        if (!t->is_doubtful)
            return true;
        naive_free(t);
    }
    return false;
}

/** Returns whether the loops have the case. */
static bool try_case(size_t c, const struct ys_quant_rule *rule, const char *backend, size_t *done)
{
    static struct naive t;
    memset(&t, 0, sizeof t);
    integer_cases[c].make(&t.net);
    if (ys_quant_plan_make(&t.net.graph, rule, &t.plan) != YS_OK)
        return false;
    const bool is_mine = integer_cases[c].dtype == YS_F32 && naive_has_all(&t);
    if (is_mine && draw_sure(&t, rule, integer_cases[c].name)) {
        struct ys_engine *engine = open_quantised(&t, backend);
        const size_t wrong = engine ? count_wrong(&t, run(engine, &t), strcmp(backend, "ref") == 0) : 1;
        tap_check(wrong == 0, __LINE__, "%s, %s, %s: %zu of %zu results are wrong", integer_cases[c].name,
                  ys_name_of(&ys_quant_schemes, rule->scheme), ys_name_of(&ys_quant_ranges, rule->range), wrong,
                  naive_count(&t, t.net.graph.output));
        (*done)++;
        ys_engine_close(engine);
        naive_free(&t);
    }
    ys_quant_plan_fini(&t.plan);
    return is_mine;
}

static void try_all(const char *backend, int range)
{
    size_t mine = 0, done = 0;
    if (may_saturate(backend, range)) {
        tap_skip("without VNNI oneDNN adds pairs of products in 16 bits");
        return;
    }
    for (int scheme = 0; scheme < 2; scheme++) {
        const struct ys_quant_rule rule = {
            .kind = YS_QUANT_STATIC, .scheme = scheme, .range = range, .percentile = NAN, .rows = 1};
        for (size_t c = 0; c < CASE_COUNT; c++)
            mine += try_case(c, &rule, backend, &done);
    }
    printf("# %zu of %zu networks\n", done, mine);
    CHECK(mine >= 2 * 80);
    CHECK(done >= mine - 8); /* of some no numbers are found that are away from halves */
}

static bool lacks_onednn(void)
{
    const char *left_out = ys_backend_left_out("onednn");
    if (left_out)
        tap_skip("%s", left_out);
    return left_out;
}

static void static_full_ref(void)
{
    try_all("ref", YS_QUANT_FULL);
}

static void static_reduced_ref(void)
{
    try_all("ref", YS_QUANT_REDUCED);
}

static void static_full_onednn(void)
{
    if (!lacks_onednn())
        try_all("onednn", YS_QUANT_FULL);
}

static void static_reduced_onednn(void)
{
    if (!lacks_onednn())
        try_all("onednn", YS_QUANT_REDUCED);
}

static const struct ys_quant_rule dynamic = {
    .kind = YS_QUANT_DYNAMIC, .calibration = YS_NAME_NONE, .percentile = NAN, .rows = YS_FIELD_NONE};

/** The numbers of a network of kind dynamic or weights, and its engine; NULL: it is none. */
static struct ys_engine *open_other(struct naive *t, const struct ys_quant_rule *rule, const char *backend)
{
    CHECK_TEXT(ys_quant_plan_make(&t->net.graph, rule, &t->plan) == YS_OK ? "" : ys_error(), "");
    naive_draw(t, rule, "other kinds", 5);
    return open_quantised(t, backend);
}

static void close_other(struct naive *t, struct ys_engine *engine)
{
    ys_engine_close(engine);
    ys_quant_plan_fini(&t->plan);
    naive_free(t);
}

/** A row of 33 numbers, as they come but for a node in float, times a matrix. */
static void dynamic_is_its_formula(void)
{
    static struct naive t;
    const char *const backends[] = {"ref", "onednn"};
    for (size_t b = 0; b < 2; b++) {
        memset(&t, 0, sizeof t);
        if (ys_backend_left_out(backends[b]))
            continue;
        struct ys_quant_rule rule = dynamic;
        rule.range = may_saturate(backends[b], YS_QUANT_FULL) ? YS_QUANT_REDUCED : YS_QUANT_FULL;
        net_input(&t.net, YS_F32, 3, 33, 1, 1);
        net_clip(&t.net, -100, 100);
        net_flatten(&t.net);
        net_gemm(&t.net, 5, 1);
        net_finish(&t.net);
        struct ys_engine *engine = open_other(&t, &rule, backends[b]);
        REQUIRE(engine);
        const float *logits = run(engine, &t);
        double low = 0, high = 0;
        for (size_t i = 0; i < 99; i++) {
            low = fmin(low, (double)t.x[i]);
            high = fmax(high, (double)t.x[i]);
        }
        const double scale = (double)(float)((high - low) / 255), zero = nearbyint(-low / scale);
        long *weights = naive_weights(&t, &t.net.nodes[2]);
        for (int64_t i = 0; i < 15; i++) {
            double sum = 0;
            for (int64_t k = 0; k < 33; k++) {
                const double q = fmin(fmax(nearbyint((double)t.x[i / 5 * 33 + k] / scale) + zero, 0), 255);
                sum += (q - zero) * (double)weights[i % 5 * 33 + k];
            }
            const double y =
                sum * scale * naive_weight_scale(&t, &t.net.nodes[2], i % 5) + (double)t.folded.values[1][i % 5];
            CHECK_NEAR((double)logits[i], y, 1e-7 * (fabs(y) + 1)); /* rounded to float once */
        }
        free(weights);
        close_other(&t, engine);
    }
}

/** Sums are exact and all else is the same code: so are the results. */
static void dynamic_is_alike_in_onednn_and_ref(void)
{
    static struct naive t;
    size_t tried = 0;
    if (lacks_onednn())
        return;
    for (size_t c = 0; c < CASE_COUNT; c++) {
        bool products = true;
        memset(&t, 0, sizeof t);
        integer_cases[c].make(&t.net);
        for (size_t i = 1; i < t.net.graph.node_count; i++)
            products &= t.net.nodes[i].op == YS_OP_CONV || t.net.nodes[i].op == YS_OP_GEMM ||
                        t.net.nodes[i].op == YS_OP_FLATTEN || t.net.nodes[i].op == YS_OP_RELU;
        if (integer_cases[c].dtype != YS_F32 || !products)
            continue;
        struct ys_engine *own = open_other(&t, &dynamic, "onednn"), *ref = open_quantised(&t, "ref");
        REQUIRE(own && ref);
        const float *a = run(own, &t), *b = run(ref, &t);
        size_t wrong = 0;
        for (size_t i = 0; i < naive_count(&t, t.net.graph.output); i++)
            wrong += a[i] != b[i];
        tap_check(wrong == 0 || may_saturate("onednn", YS_QUANT_FULL), __LINE__, "%s: %zu results differ",
                  integer_cases[c].name, wrong);
        tried++;
        ys_engine_close(ref);
        close_other(&t, own);
    }
    CHECK(tried >= 40);
}

static void weights_are_rounded_as_they_are_set(void)
{
    static struct naive t;
    const struct ys_quant_rule rule = {
        .kind = YS_QUANT_WEIGHTS, .range = YS_QUANT_REDUCED, .calibration = YS_NAME_NONE, .percentile = NAN};
    float set[4 * 9], bias[4];
    memset(&t, 0, sizeof t);
    net_input(&t.net, YS_F32, 2, 1, 5, 5);
    net_conv(&t.net, 4, SQUARE(3, 1, 0), 1);
    net_finish(&t.net);
    struct ys_engine *engine = open_other(&t, &rule, "ref");
    REQUIRE(engine);
    CHECK(ys_engine_param_get(engine, 0, YS_ENGINE_F32, set) == 0);
    CHECK(ys_engine_param_get(engine, 1, YS_ENGINE_F32, bias) == 0);
    for (int i = 0; i < 4 * 9; i++) {
        const double scale = naive_weight_scale(&t, &t.net.nodes[0], i / 9);
        CHECK((double)set[i] == (double)(float)(nearbyint((double)t.folded.values[0][i] / scale) * scale));
    }
    CHECK(memcmp(bias, t.folded.values[1], sizeof bias) == 0);
    close_other(&t, engine);
}

static void what_has_no_integers_says_so(void)
{
    static struct naive t;
    static const struct {
        const char *backend;
        bool training;
        enum ys_engine_precision precision;
        const char *says;
    } refused[] = {{"simd", false, YS_ENGINE_F32, "the back end simd computes nothing in integers"},
                   {"ref", true, YS_ENGINE_F32, "it is not trained"},
                   {"ref", false, YS_ENGINE_F64, "in f32"}};
    memset(&t, 0, sizeof t);
    net_input(&t.net, YS_F32, 2, 1, 5, 5);
    naive_begin(&t.net);
    naive_end(&t.net);
    struct ys_engine *engine = open_other(&t, &dynamic, "ref"), *none = NULL;
    REQUIRE(engine);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct ys_engine_config config = {.batch = 2,
                                                .threads = 1,
                                                .backend = refused[i].backend,
                                                .training = refused[i].training,
                                                .precision = refused[i].precision};
        CHECK_INT(ys_engine_open_quantised(&t.net.graph, &config, &t.scales, &none), YS_EUNSUPPORTED);
        CHECK_HAS(ys_engine_error(), refused[i].says);
    }
    float weight;
    CHECK_INT(ys_engine_param_get(engine, 0, YS_ENGINE_F32, &weight), YS_EUNSUPPORTED);
    CHECK_HAS(ys_engine_error(), "kept as integers");
    close_other(&t, engine);
}

TAP_MAIN(TAP_CASE(static_full_ref), TAP_CASE(static_reduced_ref), TAP_CASE(static_full_onednn),
         TAP_CASE(static_reduced_onednn), TAP_CASE(dynamic_is_its_formula),
         TAP_CASE(dynamic_is_alike_in_onednn_and_ref), TAP_CASE(weights_are_rounded_as_they_are_set),
         TAP_CASE(what_has_no_integers_says_so))
