/* Every operator and loss, in every back end, over awkward shapes (operator_cases.h). Case names begin with the
 * operator and end in the back end.
 *
 * NAME_ref: `ref` in double, logits and loss against the formulas of docs/graph.md (operator_naive.h), gradients
 * against finite differences of its loss.
 *
 * NAME_onednn, NAME_simd: logits, loss and gradients of that back end in float against `ref` in double, within derived
 * bounds (operator_bounds.h).
 *
 * NAME_onednn_bf16: the same in bf16.
 *
 * Operators that differ between the modes are tried in both. What a back end does not have is skipped. Patterns choose:
 * one operator, one back end, any pattern of the shell.
 *
 *     test_backend_operator 'conv_*'
 *
 *     test_backend_operator '*_onednn'
 *
 *     test_backend_operator '*pool_ceil*_ref'
 *
 * All engines are guarded: a write outside a buffer, or a read of something never written (NaN), fails the case. */
#include "unit/backend/operator_bounds.h"

#include "tap.h"

static const double weight_size = 0.5;

/** NULL where it cannot be opened; a back end that lacks the operator skips the case. */
static struct ys_engine *open_as(const struct net *n, const char *backend, enum ys_engine_precision precision,
                                 bool training)
{
    struct ys_engine_config config = {.batch = n->batch,
                                      .precision = precision,
                                      .backend = backend,
                                      .threads = 2,
                                      .training = training,
                                      .input_gradient = training,
                                      .guarded = true,
                                      .seed = NET_SEED,
                                      .optimizer.momentum = 0.9};
    struct ys_engine *engine = NULL;
    int status = ys_engine_open_graph(&n->graph, &config, &engine);
    if (status == YS_EUNSUPPORTED && strcmp(backend, "ref") != 0)
        tap_skip("%s", ys_engine_error());
    else
        CHECK_TEXT(status == 0 ? "" : ys_engine_error(), "");
    if (engine)
        CHECK(net_fill(engine, n, weight_size) == 0);
    return engine;
}

static struct ys_engine *open_engine(const struct net *n, const char *backend, enum ys_engine_precision precision)
{
    return open_as(n, backend, precision, true);
}

static void check_guards(const struct ys_engine *e)
{
    CHECK_TEXT(ys_engine_check(e) == 0 ? "" : ys_engine_error(), "");
}

/** Training first, then evaluation where it differs: how many modes there are to try. */
static int mode_count(const struct net *n)
{
    for (size_t i = 0; i < n->graph.node_count; i++)
        if (n->nodes[i].op == YS_OP_BATCHNORM || n->nodes[i].op == YS_OP_DROPOUT)
            return 2;
    return 1;
}
static const enum ys_engine_mode modes[] = {YS_ENGINE_TRAIN, YS_ENGINE_EVAL};

/* ---- ref against formulas and finite differences */

/* With D(h) the central difference, (4 D(h) - D(2h)) / 3 is wrong by 2 h^4 / 15 times the fifth derivative. h = 2^-13:
 * rounding of a loss below 16 in its last place, some 4e-15, gives 4e-15 / h = 3e-11; the rest of the series is a small
 * part of the term that was removed. */
static const double step = 0x1p-13;

/** Kinks of a node, none where its operator has none. */
static size_t kinks_of(const struct ys_node *node, double at[YS_OP_MAX_KINKS])
{
    const struct ys_op_rule *rule = ys_op_rule(node->op);
    return rule->kinks ? rule->kinks(node, at) : 0;
}

/** Pixels lie in (-reach, reach): a power of two, 1 unless a kink lies farther out. */
static float reach_of(const struct net *n)
{
    float reach = 1;
    double at[YS_OP_MAX_KINKS];
    for (size_t i = 0; i < n->graph.node_count; i++)
        for (size_t k = kinks_of(&n->nodes[i], at); k-- > 0;)
            while (fabs(at[k]) >= (double)reach)
                reach *= 2;
    return reach;
}

/** Every formula of every operator that has several is computed for some pixels, and none of them is so near to a kink
 * that a difference would cross it. */
static void check_branches(const struct net *n, const float *x)
{
    for (size_t i = 0; i < n->graph.node_count; i++) {
        double at[YS_OP_MAX_KINKS];
        size_t count = kinks_of(&n->nodes[i], at), pixels[YS_OP_MAX_KINKS + 1] = {0};
        int producer = n->values[n->nodes[i].in[0]].producer;
        tap_check(count == 0 || producer < 0 || n->nodes[producer].op == YS_OP_FLATTEN, __LINE__,
                  "%s reads no pixels, so that nobody knows on which side of its kinks they are",
                  ys_op_name(n->nodes[i].op));
        for (size_t p = 0; count > 0 && p < net_input_count(n); p++) {
            size_t branch = 0;
            for (size_t k = 0; k < count; k++) {
                branch += (double)x[p] > at[k];
                tap_check(fabs((double)x[p] - at[k]) >= 2 * step, __LINE__, "pixel %g of %s is too near to %g",
                          (double)x[p], ys_op_name(n->nodes[i].op), at[k]);
            }
            pixels[branch]++;
        }
        for (size_t branch = 0; count > 0 && branch <= count; branch++)
            tap_check(pixels[branch] >= 3, __LINE__, "%zu pixels reach branch %zu of %s", pixels[branch], branch,
                      ys_op_name(n->nodes[i].op));
    }
}

/** Pixels that all differ, shuffled: odd multiples of reach / P, from one end of (-reach, reach) to the other, where P
 * is a power of two. For the cases with a kink P is at most 4096, so no two change their order and none crosses 0 or a
 * multiple of 1/4 when one moves by 2^-12. */
static void *distinct_rows(const struct net *n)
{
    uint32_t count = (uint32_t)net_input_count(n), *order = malloc(count * sizeof *order), power = 1;
    float *rows = malloc(count * sizeof *rows);
    struct ys_rng rng;
    ys_rng_init(&rng, 1, "distinct");
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    ys_rng_shuffle(&rng, order, count);
    while (power < count)
        power *= 2;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t place = (uint64_t)order[i] * power / count;
        rows[i] = reach_of(n) * ((float)(2 * place + 1) - (float)power) / (float)power;
    }
    free(order);
    check_branches(n, rows);
    return rows;
}

/** As net_rows(), as far out as the kinks want it: 8 bits still hold each exactly. */
static void *rows_of(const struct net *n)
{
    void *rows = net_rows(n, "x");
    if (n->values[0].dtype == YS_U8)
        return rows;
    for (size_t i = 0; i < net_input_count(n); i++)
        ((float *)rows)[i] *= reach_of(n);
    check_branches(n, rows);
    return rows;
}

enum { SAMPLES = 64 }; /* elements of a tensor that are tried */

struct differences {
    struct ys_engine *e;
    enum ys_engine_mode mode;
    const void *x;
    const int64_t *y;
};

static double loss_of(const struct differences *d)
{
    double loss = NAN;
    CHECK(ys_engine_forward(d->e, d->x, d->y, d->mode, &loss) == 0);
    return loss;
}

/** Compares a gradient with losses at -2, -1, 1 and 2 steps. */
static void check_gradient(const char *what, size_t index, double gradient, const double loss[4])
{
    double near = (loss[2] - loss[1]) / (2 * step), far = (loss[3] - loss[0]) / (4 * step), best = (4 * near - far) / 3;
    tap_check(fabs(gradient - best) <= 1e-10 + 1e-3 * fabs(near - far), __LINE__,
              "gradient of %s[%zu] is %.12g, differences say %.12g", what, index, gradient, best);
}

static const double moves[4] = {-2, -1, 1, 2};

static void differences_of_param(const struct differences *d, size_t p)
{
    const struct ys_param *param = &ys_engine_graph(d->e)->params[p];
    size_t count = (size_t)ys_param_elements(param);
    double *w = malloc(count * sizeof *w), *g = malloc(count * sizeof *g);
    CHECK(ys_engine_param_get(d->e, p, YS_ENGINE_F64, w) == 0);
    CHECK(ys_engine_gradient_get(d->e, p, YS_ENGINE_F64, g) == 0);
    for (size_t i = 0; i < count; i += 1 + count / SAMPLES) {
        double old = w[i], loss[4];
        for (int k = 0; k < 4; k++) {
            w[i] = old + moves[k] * step;
            CHECK(ys_engine_param_set(d->e, p, YS_ENGINE_F64, w) == 0);
            loss[k] = loss_of(d);
        }
        w[i] = old;
        CHECK(ys_engine_param_set(d->e, p, YS_ENGINE_F64, w) == 0);
        check_gradient(param->name, i, g[i], loss);
    }
    free(w);
    free(g);
}

static void differences_of_input(const struct differences *d, float *x, size_t count)
{
    double *g = malloc(count * sizeof *g);
    memcpy(g, ys_engine_input_gradient(d->e), count * sizeof *g);
    for (size_t i = 0; i < count; i += 1 + count / SAMPLES) {
        float old = x[i];
        double loss[4];
        for (int k = 0; k < 4; k++) {
            x[i] = old + (float)(moves[k] * step);
            loss[k] = loss_of(d);
        }
        x[i] = old;
        check_gradient("the pixels", i, g[i], loss);
    }
    free(g);
}

/** Sums of at most 400 terms below 1 in another order: 400 * 2^-53 times the few units that a logit may be. */
static void check_formulas(const struct net *n, const struct differences *d, double loss)
{
    struct naive naive;
    naive_run(&naive, n, weight_size, d->mode, d->x);
    const double *logits = ys_engine_logits(d->e), *expected = naive.value[n->graph.output];
    for (int64_t i = 0; i < naive_count(&naive, n->graph.output); i++)
        if (!tap_check(fabs(logits[i] - expected[i]) <= 1e-12 * (1 + fabs(expected[i])), __LINE__,
                       "logit %d is %.17g, the formula says %.17g", (int)i, logits[i], expected[i]))
            break;
    CHECK_NEAR(loss, naive_loss(&naive, d->y), 1e-12 * (1 + fabs(loss)));
    naive_free(&naive);
}

/** A program that only evaluates gives what the one that trains gives in evaluation: ref to the bit. */
static void check_evaluation(const struct net *n, struct ys_engine *trained, const void *x, const int64_t *y)
{
    struct ys_engine *e = open_as(n, "ref", YS_ENGINE_F64, false);
    double loss = NAN, expected = NAN;
    REQUIRE(e != NULL);
    CHECK(ys_engine_forward(trained, x, y, YS_ENGINE_EVAL, &expected) == 0);
    CHECK(ys_engine_forward(e, x, y, YS_ENGINE_EVAL, &loss) == 0);
    CHECK_NEAR(loss, expected, 0);
    CHECK(memcmp(ys_engine_logits(e), ys_engine_logits(trained),
                 (size_t)(n->batch * ys_value_row_elements(&n->values[n->graph.output])) * sizeof(double)) == 0);
    check_guards(e);
    ys_engine_close(e);
}

static void check_ref(const struct net *n)
{
    struct ys_engine *e = open_engine(n, "ref", YS_ENGINE_F64);
    REQUIRE(e != NULL);
    void *x = n->values[0].dtype == YS_U8 ? net_rows(n, "x") : distinct_rows(n);
    int64_t *y = net_labels(n, "y");
    for (int m = 0; m < mode_count(n); m++) {
        struct differences d = {e, modes[m], x, y};
        double loss = NAN;
        /* Twice: what the first pass left behind must not be in the second. */
        CHECK(ys_engine_backward(e, x, y, d.mode, NULL) == 0);
        CHECK(ys_engine_backward(e, x, y, d.mode, &loss) == 0);
        check_formulas(n, &d, loss);
        if (n->values[0].dtype == YS_F32)
            differences_of_input(&d, x, net_input_count(n));
        CHECK(ys_engine_backward(e, x, y, d.mode, NULL) == 0);
        for (size_t p = 0; p < n->graph.param_count; p++)
            if (n->params[p].role == YS_ROLE_WEIGHT)
                differences_of_param(&d, p);
        check_guards(e);
    }
    check_evaluation(n, e, x, y);
    ys_engine_close(e);
    free(x);
    free(y);
}

/* ---- other back ends against ref */

/** Elements within `bound`, which holds always and says little where many terms are added in bf16. Signs of roundings
 * are random, so the norm of the error is some sqrt(m) u of the norm itself, with m roundings in a row or m terms in a
 * sum (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41(5), 2019): 8
 * times that with m = 16, unless the exact result is 0, as the gradient of a bias that does not matter. */
static void check_near(const char *what, size_t count, const double *expected, const float *actual, double bound,
                       double u)
{
    size_t worst = 0;
    bool is_number = true;
    double norm = 0, difference = 0;
    for (size_t i = 0; i < count; i++) {
        is_number &= !isnan(actual[i]);
        if (fabs(actual[i] - expected[i]) > fabs(actual[worst] - expected[worst]))
            worst = i;
        norm += expected[i] * expected[i];
        difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    }
    tap_check(is_number && fabs(actual[worst] - expected[worst]) <= bound, __LINE__,
              "%s[%zu] is %.9g, ref says %.12g; bound %g", what, worst, actual[worst], expected[worst], bound);
    tap_check(sqrt(norm) < 1e-12 || sqrt(difference) <= 8 * 4 * u * sqrt(norm), __LINE__,
              "%s differs from ref by %.3g of its norm, %.3g roundings", what, sqrt(difference / norm),
              sqrt(difference / norm) / u);
}

static void compare(const struct net *n, struct ys_engine *r, struct ys_engine *o, double u, enum ys_engine_mode mode)
{
    void *x = rows_of(n);
    int64_t *y = net_labels(n, "y");
    double expected_loss = NAN, loss = NAN;
    struct naive naive;
    struct bounds b;
    CHECK(ys_engine_backward(r, x, y, mode, &expected_loss) == 0);
    CHECK(ys_engine_backward(o, x, y, mode, &loss) == 0);
    naive_run(&naive, n, weight_size, mode, x);
    bounds_of(&b, &naive, u, y, expected_loss);
    CHECK_NEAR(loss, expected_loss, slack * b.loss);
    check_near("logits", (size_t)naive_count(&naive, n->graph.output), ys_engine_logits(r), ys_engine_logits(o),
               slack * b.value[n->graph.output].forward, u);
    check_near("input gradient", net_input_count(n), ys_engine_input_gradient(r), ys_engine_input_gradient(o),
               slack * b.value[0].wrong.top, u);
    for (size_t p = 0; p < n->graph.param_count; p++) {
        size_t count = (size_t)ys_param_elements(&n->params[p]);
        double *expected = malloc(count * sizeof *expected);
        float *actual = malloc(count * sizeof *actual);
        if (n->params[p].role == YS_ROLE_WEIGHT) {
            CHECK(ys_engine_gradient_get(r, p, YS_ENGINE_F64, expected) == 0);
            CHECK(ys_engine_gradient_get(o, p, YS_ENGINE_F32, actual) == 0);
            check_near(n->params[p].name, count, expected, actual, slack * b.param[p], u);
        }
        free(expected);
        free(actual);
    }
    naive_free(&naive);
    free(x);
    free(y);
}

static void check_against_ref(const struct net *n, const char *backend, enum ys_engine_precision precision)
{
    struct ys_engine *o = open_engine(n, backend, precision), *r = o ? open_engine(n, "ref", YS_ENGINE_F64) : NULL;
    for (int m = 0; r && m < mode_count(n); m++)
        compare(n, r, o, precision == YS_ENGINE_BF16 ? 0x1p-8 : 0x1p-24, modes[m]);
    if (o)
        check_guards(o);
    ys_engine_close(r);
    ys_engine_close(o);
}

#define CASE_FUNCTIONS(name, ...)                                                                                      \
    static void name##_ref(void)                                                                                       \
    {                                                                                                                  \
        struct net n;                                                                                                  \
        name##_net(&n);                                                                                                \
        check_ref(&n);                                                                                                 \
    }                                                                                                                  \
    static void name##_onednn(void)                                                                                    \
    {                                                                                                                  \
        struct net n;                                                                                                  \
        name##_net(&n);                                                                                                \
        check_against_ref(&n, "onednn", YS_ENGINE_F32);                                                                \
    }                                                                                                                  \
    static void name##_simd(void)                                                                                      \
    {                                                                                                                  \
        struct net n;                                                                                                  \
        name##_net(&n);                                                                                                \
        check_against_ref(&n, "simd", YS_ENGINE_F32);                                                                  \
    }                                                                                                                  \
    static void name##_onednn_bf16(void)                                                                               \
    {                                                                                                                  \
        struct net n;                                                                                                  \
        name##_net(&n);                                                                                                \
        check_against_ref(&n, "onednn", YS_ENGINE_BF16);                                                               \
    }
CASES(CASE_FUNCTIONS)

/* ---- what neither differences nor bounds see */

static void every_operator_with_kinks_has_its_formula_here(void)
{
    for (int op = 0; op < YS_OP_COUNT; op++)
        tap_check(!ys_op_rule(op)->kinks || pointwise[op].formula, __LINE__, "%s", ys_op_name(op));
}

static void every_operator_and_loss_has_a_case(void)
{
#define CASE_ADDRESS(name, ...) name##_net,
    static void (*const nets[])(struct net *) = {CASES(CASE_ADDRESS)};
    bool op[YS_OP_COUNT] = {0}, loss[YS_LOSS_COUNT] = {0};
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        struct net n;
        nets[i](&n);
        loss[n.graph.loss] = true;
        for (size_t k = 0; k < n.graph.node_count; k++)
            op[n.nodes[k].op] = true;
    }
    /* Of tokens, of several values: test_sequence.c. */
    op[YS_OP_EMBEDDING] = op[YS_OP_ATTENTION] = op[YS_OP_MATMUL] = op[YS_OP_LAST] = true;
    op[YS_OP_LSTM] = op[YS_OP_GRU] = true; /* test_recurrent.c */
    for (int i = 0; i < YS_OP_COUNT; i++)
        tap_check(op[i], __LINE__, "%s has no case", ys_op_name(i));
    for (int i = 0; i < YS_LOSS_COUNT; i++)
        tap_check(loss[i], __LINE__, "%s has no case", ys_loss_name(i));
}

static double element_of(const void *values, enum ys_engine_precision precision, int i)
{
    return precision == YS_ENGINE_F64 ? ((const double *)values)[i] : ((const float *)values)[i];
}

/** The gradient of a tie goes to the first, in reading order, whatever the back end. */
static void check_ties_of(const char *backend, enum ys_engine_precision precision, struct ys_window window)
{
    struct net n;
    net_input(&n, YS_F32, 1, 1, 2, 4);
    net_pool(&n, window);
    net_flatten(&n);
    struct ys_engine *e = open_engine(&n, backend, precision);
    REQUIRE(e != NULL);
    float x[8] = {1, 1, 1, 2, 1, 1, 2, 2};
    int64_t y = 0;
    CHECK(ys_engine_backward(e, x, &y, YS_ENGINE_TRAIN, NULL) == 0);
    const void *g = ys_engine_input_gradient(e);
    for (int i = 0; i < 8; i++)
        tap_check((element_of(g, precision, i) != 0) == (i == 0 || i == 3), __LINE__, "gradient of element %d is %g", i,
                  element_of(g, precision, i));
    ys_engine_close(e);
}

/** Windows within the image, and such as lie across its edge. */
static void check_ties(const char *backend, enum ys_engine_precision precision)
{
    check_ties_of(backend, precision, SQUARE(2, 2, 0));
    check_ties_of(backend, precision, SQUARE(3, 2, 1));
}

static void maxpool_ties_ref(void)
{
    check_ties("ref", YS_ENGINE_F64);
}

static void maxpool_ties_onednn(void)
{
    check_ties("onednn", YS_ENGINE_F32);
}

static void maxpool_ties_simd(void)
{
    check_ties("simd", YS_ENGINE_F32);
}

/** Padding is less than every number: a window of negative numbers at the border gives the largest of them. */
static void check_padding_never_wins(const char *backend, enum ys_engine_precision precision)
{
    struct net n;
    net_input(&n, YS_F32, 1, 1, 2, 2);
    net_pool(&n, SQUARE(2, 2, 1));
    net_flatten(&n);
    struct ys_engine *e = open_engine(&n, backend, precision);
    REQUIRE(e != NULL);
    float x[4] = {-1, -2, -3, -4};
    int64_t y = 0;
    CHECK(ys_engine_forward(e, x, &y, YS_ENGINE_EVAL, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(element_of(ys_engine_logits(e), precision, i), x[i], 0);
    ys_engine_close(e);
}

static void maxpool_padding_ref(void)
{
    check_padding_never_wins("ref", YS_ENGINE_F64);
}

static void maxpool_padding_onednn(void)
{
    check_padding_never_wins("onednn", YS_ENGINE_F32);
}

static void maxpool_padding_simd(void)
{
    check_padding_never_wins("simd", YS_ENGINE_F32);
}

/** The derivative of each operator at its kinks is what docs/graph.md says: the loss is minus one element, so its
 * gradient there is minus that. */
static void check_kinks(const char *backend, enum ys_engine_precision precision)
{
    for (int op = 0; op < YS_OP_COUNT; op++) {
        double at[YS_OP_MAX_KINKS];
        float x[YS_OP_MAX_KINKS] = {0};
        struct net n;
        if (!ys_op_rule(op)->kinks)
            continue;
        size_t count = kinks_net(&n, op, at);
        struct ys_engine *e = open_engine(&n, backend, precision);
        for (size_t i = 0; i < count; i++)
            x[i] = (float)at[i];
        for (int64_t i = 0; e && i < (int64_t)count; i++) {
            CHECK(ys_engine_backward(e, x, &i, YS_ENGINE_TRAIN, NULL) == 0);
            double derivative = -element_of(ys_engine_input_gradient(e), precision, (int)i);
            tap_check(derivative == pointwise[op].at_kink[i], __LINE__, "derivative of %s at %g is %g, not %g",
                      ys_op_name(op), at[i], derivative, pointwise[op].at_kink[i]);
        }
        ys_engine_close(e);
    }
}

/** Arguments whose exponentials are beyond every number, as are those of their differences: the largest first, in the
 * middle and last of lines along an axis that is not the last, and all of them larger in the second row. Results are
 * those of the arguments minus the largest. */
static void check_large_arguments(enum ys_op op, const char *backend, enum ys_engine_precision precision)
{
    enum { ROWS = 2, LENGTH = 3, LINES = 3 };
    static const float first[LENGTH][LINES] = {{2001, -2500, 500}, {2000, -1001, 3501}, {1000, -1000, 1500}};
    float x[ROWS][LENGTH][LINES];
    struct net n;
    net_input(&n, YS_F32, ROWS, LENGTH, 1, LINES);
    net_softmax(&n, op, 1);
    net_flatten(&n);
    struct ys_engine *e = open_engine(&n, backend, precision);
    REQUIRE(e != NULL);
    for (int i = 0; i < ROWS * LENGTH * LINES; i++)
        (&x[0][0][0])[i] = (&first[0][0])[i % (LENGTH * LINES)] + (i < LENGTH * LINES ? 0 : 4000);
    const int64_t y[ROWS] = {0};
    CHECK(ys_engine_forward(e, x, y, YS_ENGINE_EVAL, NULL) == 0);
    for (int i = 0; i < ROWS * LINES; i++) {
        int row = i / LINES, line = i % LINES;
        double top = -INFINITY, sum = 0;
        for (int k = 0; k < LENGTH; k++)
            top = fmax(top, (double)x[row][k][line]);
        for (int k = 0; k < LENGTH; k++)
            sum += exp((double)x[row][k][line] - top);
        for (int k = 0; k < LENGTH; k++) {
            double expected = (double)x[row][k][line] - top - log(sum);
            if (op == YS_OP_SOFTMAX)
                expected = exp(expected);
            double actual = element_of(ys_engine_logits(e), precision, (row * LENGTH + k) * LINES + line);
            CHECK_NEAR(actual, expected, (precision == YS_ENGINE_F64 ? 1e-12 : 4 * 0x1p-24) * (1 + fabs(expected)));
        }
    }
    check_guards(e);
    ys_engine_close(e);
}

static void softmax_of_large_arguments_ref(void)
{
    check_large_arguments(YS_OP_SOFTMAX, "ref", YS_ENGINE_F64);
}

static void softmax_of_large_arguments_onednn(void)
{
    check_large_arguments(YS_OP_SOFTMAX, "onednn", YS_ENGINE_F32);
}

static void softmax_of_large_arguments_simd(void)
{
    check_large_arguments(YS_OP_SOFTMAX, "simd", YS_ENGINE_F32);
}

static void log_softmax_of_large_arguments_ref(void)
{
    check_large_arguments(YS_OP_LOG_SOFTMAX, "ref", YS_ENGINE_F64);
}

static void log_softmax_of_large_arguments_onednn(void)
{
    check_large_arguments(YS_OP_LOG_SOFTMAX, "onednn", YS_ENGINE_F32);
}

static void log_softmax_of_large_arguments_simd(void)
{
    check_large_arguments(YS_OP_LOG_SOFTMAX, "simd", YS_ENGINE_F32);
}

/** Lines of numbers 2^20 from 0, an eighth and more apart: float holds them exactly, and the distances from 2^20, of
 * which the expected result is made. The mean is a sum in double over the count, wrong by a unit roundoff of 2^20,
 * 2^-33; by that much, over a deviation of about 1, is the result in double wrong, and 8 times that is allowed. The
 * mean of the squares less the square of that mean would be wrong by 2 * 2^20 * 2^-33 = 2^-12. In float the mean is
 * rounded once more, which moves all numbers of a line alike and is done here too; then there are few roundings of
 * numbers below 4. */
static void check_far_from_zero(const char *backend, enum ys_engine_precision precision)
{
    enum { LINES = 4, COUNT = 7 };
    static const float apart[LINES][COUNT] = {{-1.5F, 0.875F, 0.25F, -0.5F, 1.25F, -0.125F, 0.5F},
                                              {0.125F, 1.5F, -1.25F, 0.375F, -0.875F, 1, -0.25F},
                                              {2, -0.625F, -0.75F, 0.5F, 0.25F, -1.125F, 0.625F},
                                              {-0.375F, -1, 0.75F, 1.125F, -1.625F, 0.125F, 0.5F}};
    const double far = 0x1p20, epsilon = 1e-5, bound = precision == YS_ENGINE_F64 ? 0x1p-30 : 0x1p-20;
    float x[LINES][COUNT];
    double ones[COUNT], zeros[COUNT] = {0};
    const int64_t y[LINES] = {0};
    struct net n;
    net_input(&n, YS_F32, LINES, COUNT, 1, 1);
    net_flatten(&n);
    net_layernorm(&n, epsilon, true);
    struct ys_engine *e = open_engine(&n, backend, precision);
    REQUIRE(e != NULL);
    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    CHECK(ys_engine_param_set(e, 0, YS_ENGINE_F64, ones) == 0);
    CHECK(ys_engine_param_set(e, 1, YS_ENGINE_F64, zeros) == 0);
    for (int i = 0; i < LINES * COUNT; i++)
        (&x[0][0])[i] = (float)far + (&apart[0][0])[i];
    CHECK(ys_engine_forward(e, x, y, YS_ENGINE_EVAL, NULL) == 0);
    for (int line = 0; line < LINES; line++) {
        double mean = 0, squares = 0;
        for (int i = 0; i < COUNT; i++)
            mean += (double)apart[line][i] / COUNT;
        for (int i = 0; i < COUNT; i++)
            squares += pow((double)apart[line][i] - mean, 2);
        if (precision != YS_ENGINE_F64)
            mean = (float)(far + mean) - far;
        for (int i = 0; i < COUNT; i++) {
            CHECK_NEAR(element_of(ys_engine_logits(e), precision, line * COUNT + i),
                       ((double)apart[line][i] - mean) / sqrt(squares / COUNT + epsilon), bound);
        }
    }
    check_guards(e);
    ys_engine_close(e);
}

static void layernorm_far_from_zero_ref(void)
{
    check_far_from_zero("ref", YS_ENGINE_F64);
}

static void layernorm_far_from_zero_onednn(void)
{
    check_far_from_zero("onednn", YS_ENGINE_F32);
}

static void layernorm_far_from_zero_simd(void)
{
    check_far_from_zero("simd", YS_ENGINE_F32);
}

/** The loss of logits that far apart; those of the second row are larger. */
static void check_large_logits(const char *backend, enum ys_engine_precision precision)
{
    static const float x[2][3] = {{1000, 2001, 2000}, {5000, 9000, 6000}};
    const int64_t y[2] = {2, 1};
    struct net n;
    net_input(&n, YS_F32, 2, 3, 1, 1);
    net_flatten(&n);
    struct ys_engine *e = open_engine(&n, backend, precision);
    REQUIRE(e != NULL);
    double loss = NAN;
    CHECK(ys_engine_backward(e, x, y, YS_ENGINE_TRAIN, &loss) == 0);
    CHECK_NEAR(loss, (1 + log(1 + exp(-1))) / 2, precision == YS_ENGINE_F64 ? 1e-12 : 1e-6);
    CHECK_NEAR(element_of(ys_engine_input_gradient(e), precision, 1), 0.5 / (1 + exp(-1)), 1e-6);
    CHECK_NEAR(element_of(ys_engine_input_gradient(e), precision, 4), 0, 1e-12);
    ys_engine_close(e);
}

static void loss_label_far_apart_ref(void)
{
    check_large_logits("ref", YS_ENGINE_F64);
}

static void loss_label_far_apart_onednn(void)
{
    check_large_logits("onednn", YS_ENGINE_F32);
}

static void loss_label_far_apart_simd(void)
{
    check_large_logits("simd", YS_ENGINE_F32);
}

static void kinks_ref(void)
{
    check_kinks("ref", YS_ENGINE_F64);
}

static void kinks_onednn(void)
{
    check_kinks("onednn", YS_ENGINE_F32);
}

static void kinks_simd(void)
{
    check_kinks("simd", YS_ENGINE_F32);
}

#define CASE_ENTRIES(name, ...)                                                                                        \
    TAP_CASE(name##_ref), TAP_CASE(name##_onednn), TAP_CASE(name##_simd), TAP_CASE(name##_onednn_bf16),

TAP_MAIN(CASES(CASE_ENTRIES) TAP_CASE(every_operator_with_kinks_has_its_formula_here),
         TAP_CASE(every_operator_and_loss_has_a_case), TAP_CASE(maxpool_ties_ref), TAP_CASE(maxpool_ties_onednn),
         TAP_CASE(maxpool_ties_simd), TAP_CASE(maxpool_padding_ref), TAP_CASE(maxpool_padding_onednn),
         TAP_CASE(maxpool_padding_simd), TAP_CASE(softmax_of_large_arguments_ref),
         TAP_CASE(softmax_of_large_arguments_onednn), TAP_CASE(softmax_of_large_arguments_simd),
         TAP_CASE(log_softmax_of_large_arguments_ref), TAP_CASE(log_softmax_of_large_arguments_onednn),
         TAP_CASE(log_softmax_of_large_arguments_simd), TAP_CASE(layernorm_far_from_zero_ref),
         TAP_CASE(layernorm_far_from_zero_onednn), TAP_CASE(layernorm_far_from_zero_simd),
         TAP_CASE(loss_label_far_apart_ref), TAP_CASE(loss_label_far_apart_onednn), TAP_CASE(loss_label_far_apart_simd),
         TAP_CASE(kinks_ref), TAP_CASE(kinks_onednn), TAP_CASE(kinks_simd))
