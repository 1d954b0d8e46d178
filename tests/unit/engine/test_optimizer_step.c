/* The optimizers against the formulas of yardstick/engine.h, evaluated here in double, element by element. */
#include "unit/engine/open.h"

#include "base/status.h"

enum { STEPS = 6 };
static const double decay = 0.01;

static const struct ys_engine_optimizer
    momentum_sgd = {.rule = YS_ENGINE_SGD, .momentum = 0.9, .weight_decay = 0.01},
    nesterov_sgd = {.rule = YS_ENGINE_SGD, .momentum = 0.8, .nesterov = true, .weight_decay = 0.01},
    plain_sgd = {.rule = YS_ENGINE_SGD, .weight_decay = 0.01},
    adam = {.rule = YS_ENGINE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.01},
    adamw = {.rule = YS_ENGINE_ADAMW, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.01},
    rmsprop = {.rule = YS_ENGINE_RMSPROP, .alpha = 0.95, .epsilon = 1e-6, .weight_decay = 0.01},
    rmsprop_momentum = {
        .rule = YS_ENGINE_RMSPROP, .alpha = 0.9, .epsilon = 1e-6, .momentum = 0.7, .weight_decay = 0.01};

/** What the formulas keep for one element. */
struct element {
    double w, m, v;
};

/** One step: G already clipped, r and d with the multipliers. */
static void apply(const struct ys_engine_optimizer *o, struct element *e, double gradient, double r, double d, int t)
{
    double g = o->rule == YS_ENGINE_ADAMW ? gradient : gradient + d * e->w;
    switch (o->rule) {
    case YS_ENGINE_SGD:
        e->v = o->momentum * e->v + g;
        e->w = e->w - r * (o->nesterov ? g + o->momentum * e->v : e->v);
        return;
    case YS_ENGINE_RMSPROP:
        e->v = o->alpha * e->v + (1 - o->alpha) * g * g;
        e->m = o->momentum * e->m + g / (sqrt(e->v) + o->epsilon);
        e->w = e->w - r * e->m;
        return;
    default:
        if (o->rule == YS_ENGINE_ADAMW)
            e->w = e->w - r * d * e->w;
        e->m = o->beta1 * e->m + (1 - o->beta1) * g;
        e->v = o->beta2 * e->v + (1 - o->beta2) * g * g;
        double mean = e->m / (1 - pow(o->beta1, t)), square = e->v / (1 - pow(o->beta2, t));
        e->w = e->w - r * mean / (sqrt(square) + o->epsilon);
    }
}

/** A network with multipliers on two parameters, its rows and labels. */
struct bench {
    struct net net;
    void *x;
    int64_t *y;
};

static void bench_make(struct bench *b)
{
    small_net(&b->net, 5);
    b->net.params[1].lr_mult = 2;
    b->net.params[1].decay_mult = 0;
    b->net.params[2].lr_mult = 0.5;
    b->x = net_rows(&b->net, "x");
    b->y = net_labels(&b->net, "y");
}

static void bench_free(struct bench *b)
{
    free(b->x);
    free(b->y);
}

static struct ys_engine *open_bench(const struct bench *b, const struct backend_case *c,
                                    const struct ys_engine_optimizer *o)
{
    struct ys_engine_config config = config_of(&b->net, c);
    config.optimizer = *o;
    return open_with(&b->net, &config);
}

/** The parameter of element i of all parameters one after the other. */
static const struct ys_param *param_at_element(const struct net *n, size_t i)
{
    size_t p = 0;
    for (size_t end = 0;; p++) {
        end += (size_t)ys_param_elements(&n->params[p]);
        if (i < end)
            return &n->params[p];
    }
}

static double norm_of(const double *g, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += g[i] * g[i];
    return sqrt(sum);
}

/* Gradients are the engine's own, taken before each step, so what differs is the rounding of the update alone. With u
 * the unit of the format: each step rounds some ten times, relative to terms of at most |w| + r |step direction|; the
 * direction is at most 4 here (of ADAM: (1 - beta1) / sqrt(1 - beta2) = 3.2; of RMSPROP 1 / sqrt(1 - alpha) = 4.5 at
 * first and times 1 / (1 - momentum) later; of SGD the gradients, below 4), with r at most 0.2. Cancellation in a
 * moving mean loses no more than u of its largest term, which the root in the denominator bounds alike. */
static double tolerance_of(const struct backend_case *b, double w, int t)
{
    double unit = b->precision == YS_ENGINE_F64 ? 0x1p-53 : 0x1p-24;
    return t * 16 * unit * (fabs(w) + 0.2 * 15);
}

/** Six steps, the rate cut to a tenth after three. `clip` 0: no clipping; else that share of the first norm. */
static void check_rule(const struct backend_case *c, const struct ys_engine_optimizer *optimizer, double clip)
{
    struct bench b;
    bench_make(&b);
    struct ys_engine_optimizer o = *optimizer;
    size_t count;
    if (clip > 0) {
        struct ys_engine *probe = open_bench(&b, &ref64, &o);
        REQUIRE(probe != NULL && ys_engine_backward(probe, b.x, b.y, YS_ENGINE_TRAIN, NULL) == 0);
        double *g = flat_of(probe, true, &count);
        o.clip_norm = clip * norm_of(g, count);
        free(g);
        ys_engine_close(probe);
    }
    struct ys_engine *e = open_bench(&b, c, &o);
    REQUIRE(e != NULL);
    double *start = flat_of(e, false, &count);
    struct element *elements = calloc(count, sizeof *elements);
    for (size_t i = 0; i < count; i++)
        elements[i].w = start[i];
    for (int t = 1; t <= STEPS; t++) {
        double lr = t <= STEPS / 2 ? 0.1 : 0.01;
        CHECK(ys_engine_backward(e, b.x, b.y, YS_ENGINE_TRAIN, NULL) == 0);
        double *g = flat_of(e, true, &count), norm = norm_of(g, count);
        double factor = o.clip_norm > 0 && norm > o.clip_norm ? o.clip_norm / norm : 1;
        CHECK(t > 1 || clip == 0 || factor < 1);
        CHECK(ys_engine_step(e, b.x, b.y, lr, NULL) == 0);
        double *now = flat_of(e, false, &count), worst = 0;
        size_t at = 0;
        for (size_t i = 0; i < count; i++) {
            const struct ys_param *p = param_at_element(&b.net, i);
            apply(&o, &elements[i], factor * g[i], lr * p->lr_mult, decay * p->decay_mult, t);
            double error = fabs(now[i] - elements[i].w) / tolerance_of(c, elements[i].w, t);
            at = error <= worst ? at : i;
            worst = error <= worst ? worst : error;
        }
        tap_check(worst <= 1, __LINE__, "step %d, element %zu of %s: %.17g, the formula says %.17g", t, at,
                  param_at_element(&b.net, at)->name, now[at], elements[at].w);
        free(g);
        free(now);
    }
    CHECK_INT(ys_engine_counters(e).steps, STEPS);
    ys_engine_close(e);
    free(start);
    free(elements);
    bench_free(&b);
}

#define REF_CASES(rule)                                                                                                \
    static void rule##_follows_its_formula_ref_f64(void)                                                               \
    {                                                                                                                  \
        check_rule(&ref64, &rule, 0);                                                                                  \
    }                                                                                                                  \
    static void rule##_follows_its_formula_ref_f32(void)                                                               \
    {                                                                                                                  \
        check_rule(&ref32, &rule, 0);                                                                                  \
    }                                                                                                                  \
    static void rule##_clipped_ref(void)                                                                               \
    {                                                                                                                  \
        check_rule(&ref64, &rule, 0.25);                                                                               \
    }
#define FAST_CASES(rule, backend)                                                                                      \
    static void rule##_follows_its_formula_##backend(void)                                                             \
    {                                                                                                                  \
        check_rule(&backend##2, &rule, 0);                                                                             \
    }                                                                                                                  \
    static void rule##_clipped_##backend(void)                                                                         \
    {                                                                                                                  \
        check_rule(&backend##2, &rule, 0.25);                                                                          \
    }
#define ONEDNN_CASES(rule) FAST_CASES(rule, onednn) FAST_CASES(rule, simd)

REF_CASES(momentum_sgd)
REF_CASES(nesterov_sgd)
REF_CASES(plain_sgd)
REF_CASES(adam)
REF_CASES(adamw)
REF_CASES(rmsprop)
REF_CASES(rmsprop_momentum)
ONEDNN_CASES(momentum_sgd)
ONEDNN_CASES(nesterov_sgd)
ONEDNN_CASES(plain_sgd)
ONEDNN_CASES(adam)
ONEDNN_CASES(adamw)
ONEDNN_CASES(rmsprop)
ONEDNN_CASES(rmsprop_momentum)

/** Three steps; the weights afterwards. Free with free(). */
static double *weights_after(const struct bench *b, const struct backend_case *c, const struct ys_engine_optimizer *o,
                             size_t *count)
{
    struct ys_engine *e = open_bench(b, c, o);
    for (int t = 0; e && t < 3; t++)
        CHECK(ys_engine_step(e, b->x, b->y, 0.05, NULL) == 0);
    double *w = e ? flat_of(e, false, count) : calloc(*count = 1, sizeof *w);
    ys_engine_close(e);
    return w;
}

static void check_limit_out_of_reach(const struct backend_case *c)
{
    struct bench b;
    bench_make(&b);
    struct ys_engine_optimizer limited = adam;
    limited.clip_norm = 1e6;
    size_t count;
    double *free_running = weights_after(&b, c, &adam, &count), *clipped = weights_after(&b, c, &limited, &count);
    CHECK(memcmp(free_running, clipped, count * sizeof *clipped) == 0);
    free(free_running);
    free(clipped);
    bench_free(&b);
}

static void a_limit_that_is_never_reached_changes_no_bit_ref(void)
{
    check_limit_out_of_reach(&ref64);
}

static void a_limit_that_is_never_reached_changes_no_bit_onednn(void)
{
    check_limit_out_of_reach(&onednn2);
}

static void a_limit_that_is_never_reached_changes_no_bit_simd(void)
{
    check_limit_out_of_reach(&simd2);
}

/** Reset forgets both states and the count that the bias corrections use. */
static void check_reset(const struct backend_case *c, const struct ys_engine_optimizer *o)
{
    struct bench b;
    bench_make(&b);
    struct ys_engine *e = open_bench(&b, c, o);
    REQUIRE(e != NULL);
    double *once[2];
    size_t count = 0;
    for (int k = 0; k < 2; k++) {
        for (int t = 0; t < 3; t++)
            CHECK(ys_engine_step(e, b.x, b.y, 0.05, NULL) == 0);
        once[k] = flat_of(e, false, &count);
        ys_engine_reset(e);
        CHECK_INT(ys_engine_counters(e).steps, 0);
        CHECK(net_fill(e, &b.net, 0) == 0);
    }
    CHECK(memcmp(once[0], once[1], count * sizeof *once[0]) == 0);
    ys_engine_close(e);
    free(once[0]);
    free(once[1]);
    bench_free(&b);
}

static void reset_forgets_everything_ref(void)
{
    check_reset(&ref64, &momentum_sgd);
    check_reset(&ref64, &adam);
    check_reset(&ref64, &rmsprop_momentum);
}

static void reset_forgets_everything_onednn(void)
{
    check_reset(&onednn2, &momentum_sgd);
    check_reset(&onednn2, &adam);
    check_reset(&onednn2, &rmsprop_momentum);
}

static void reset_forgets_everything_simd(void)
{
    check_reset(&simd2, &momentum_sgd);
    check_reset(&simd2, &adam);
    check_reset(&simd2, &rmsprop_momentum);
}

/** What each rule keeps beside the weights: v of SGD with momentum, both moments of ADAM, one or two of RMSPROP. */
static void states_are_kept_only_where_a_rule_has_them(void)
{
    static const struct {
        const struct ys_engine_optimizer *optimizer;
        size_t states;
    } cases[] = {{&plain_sgd, 0}, {&momentum_sgd, 1}, {&adam, 2}, {&adamw, 2}, {&rmsprop, 1}, {&rmsprop_momentum, 2}};
    struct bench b;
    bench_make(&b);
    size_t bytes[6];
    for (size_t k = 0; k < 6; k++) {
        struct ys_engine *e = open_bench(&b, &ref64, cases[k].optimizer);
        REQUIRE(e != NULL);
        bytes[k] = ys_engine_counters(e).requested_bytes;
        ys_engine_close(e);
    }
    size_t one = bytes[1] - bytes[0];
    CHECK(one >= 8 * (size_t)ys_graph_parameter_count(&b.net.graph));
    for (size_t k = 0; k < 6; k++)
        CHECK_INT(bytes[k], bytes[0] + cases[k].states * one);
    bench_free(&b);
}

static void settings_outside_their_range_are_named(void)
{
    static const struct {
        struct ys_engine_optimizer optimizer;
        const char *name;
    } cases[] = {
        {{.rule = (enum ys_engine_rule)7}, "rule 7"},
        {{.momentum = 1}, "momentum"},
        {{.momentum = -0.1}, "momentum"},
        {{.momentum = NAN}, "momentum"},
        {{.weight_decay = -1}, "weight_decay"},
        {{.weight_decay = INFINITY}, "weight_decay"},
        {{.clip_norm = -1}, "clip_norm"},
        {{.clip_norm = NAN}, "clip_norm"},
        {{.rule = YS_ENGINE_ADAM, .beta1 = 1, .beta2 = 0.9, .epsilon = 1e-8}, "beta1"},
        {{.rule = YS_ENGINE_ADAMW, .beta1 = 0.9, .beta2 = -0.1, .epsilon = 1e-8}, "beta2"},
        {{.rule = YS_ENGINE_ADAM, .beta1 = 0.9, .beta2 = 0.999}, "epsilon"},
        {{.rule = YS_ENGINE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-40}, "epsilon"},
        {{.rule = YS_ENGINE_RMSPROP, .alpha = 1, .epsilon = 1e-8}, "alpha"},
        {{.rule = YS_ENGINE_RMSPROP, .alpha = 0.9, .epsilon = NAN}, "epsilon"},
        {{.rule = YS_ENGINE_RMSPROP, .alpha = 0.9, .epsilon = 1e-8, .momentum = 2}, "momentum"},
    };
    struct bench b;
    bench_make(&b);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct ys_engine_config config = config_of(&b.net, &ref64);
        struct ys_engine *e = NULL;
        config.optimizer = cases[k].optimizer;
        CHECK_INT(ys_engine_open_graph(&b.net.graph, &config, &e), YS_EINVAL);
        CHECK_HAS(ys_engine_error(), cases[k].name);
        ys_engine_close(e);
    }
    bench_free(&b);
}

#define REF_CASES_OF(rule)                                                                                             \
    TAP_CASE(rule##_follows_its_formula_ref_f64), TAP_CASE(rule##_follows_its_formula_ref_f32),                        \
        TAP_CASE(rule##_clipped_ref)
#define ONEDNN_CASES_OF(rule)                                                                                          \
    TAP_CASE(rule##_follows_its_formula_onednn), TAP_CASE(rule##_clipped_onednn),                                      \
        TAP_CASE(rule##_follows_its_formula_simd), TAP_CASE(rule##_clipped_simd)

TAP_MAIN(REF_CASES_OF(momentum_sgd), REF_CASES_OF(nesterov_sgd), REF_CASES_OF(plain_sgd), REF_CASES_OF(adam),
         REF_CASES_OF(adamw), REF_CASES_OF(rmsprop), REF_CASES_OF(rmsprop_momentum), ONEDNN_CASES_OF(momentum_sgd),
         ONEDNN_CASES_OF(nesterov_sgd), ONEDNN_CASES_OF(plain_sgd), ONEDNN_CASES_OF(adam), ONEDNN_CASES_OF(adamw),
         ONEDNN_CASES_OF(rmsprop), ONEDNN_CASES_OF(rmsprop_momentum),
         TAP_CASE(a_limit_that_is_never_reached_changes_no_bit_ref),
         TAP_CASE(a_limit_that_is_never_reached_changes_no_bit_onednn),
         TAP_CASE(a_limit_that_is_never_reached_changes_no_bit_simd), TAP_CASE(reset_forgets_everything_ref),
         TAP_CASE(reset_forgets_everything_onednn), TAP_CASE(reset_forgets_everything_simd),
         TAP_CASE(states_are_kept_only_where_a_rule_has_them), TAP_CASE(settings_outside_their_range_are_named))
