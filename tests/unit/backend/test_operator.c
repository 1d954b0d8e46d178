/* Every operator, in every back end, over awkward shapes. Case names end in the back end:
 *   NAME_ref     gradients of `ref` in double against central finite differences of its loss
 *   NAME_onednn  logits, loss and gradients of `onednn` in float against `ref` in double, within a derived bound
 * All engines are guarded: a write outside a buffer, or a read of something never written (NaN), fails the case. */
#include "unit/engine/net.h"

#include "tap.h"

static const double unit = 0x1p-24; /* rounding to nearest float */

static struct ys_engine *open_engine(const struct net *n, const char *backend, enum ys_engine_precision precision)
{
    struct ys_engine_config config = {.batch = n->batch,
                                      .precision = precision,
                                      .backend = backend,
                                      .threads = 2,
                                      .training = true,
                                      .input_gradient = true,
                                      .guarded = true,
                                      .optimizer.momentum = 0.9};
    struct ys_engine *engine = NULL;
    CHECK_TEXT(ys_engine_open_graph(&n->graph, &config, &engine) == 0 ? "" : ys_engine_error(), "");
    if (engine)
        CHECK(net_fill(engine, n, 0.5) == 0);
    return engine;
}

/* Central differences with h = 2^-17. The loss is a log-sum-exp of logits that are (piecewise) linear in each single
 * weight or pixel, at most 10 per unit in these networks, so its third derivative is below (2 * 10)^3 / 10 and the
 * truncation below h^2 / 6 * 800 = 8e-9; the loss carries a rounding error of some 5e-16 of at most 10, over h: 7e-10.
 */
static const double step = 0x1p-17, difference_tolerance = 1e-8;
enum { SAMPLES = 64 }; /* elements of a tensor that are tried */

static double loss_with(struct ys_engine *e, const void *x, const int64_t *y)
{
    double loss = NAN;
    CHECK(ys_engine_forward(e, x, y, YS_ENGINE_TRAIN, &loss) == 0);
    return loss;
}

static void differences_of_param(struct ys_engine *e, const struct net *n, size_t p, const void *x, const int64_t *y)
{
    size_t count = (size_t)ys_param_elements(&n->params[p]);
    double *w = malloc(count * sizeof *w), *g = malloc(count * sizeof *g);
    CHECK(ys_engine_param_get(e, p, YS_ENGINE_F64, w) == 0 && ys_engine_gradient_get(e, p, YS_ENGINE_F64, g) == 0);
    for (size_t i = 0; i < count; i += 1 + count / SAMPLES) {
        double old = w[i];
        w[i] = old + step;
        CHECK(ys_engine_param_set(e, p, YS_ENGINE_F64, w) == 0);
        double above = loss_with(e, x, y);
        w[i] = old - step;
        CHECK(ys_engine_param_set(e, p, YS_ENGINE_F64, w) == 0);
        double below = loss_with(e, x, y);
        w[i] = old;
        CHECK(ys_engine_param_set(e, p, YS_ENGINE_F64, w) == 0);
        tap_check(fabs(g[i] - (above - below) / (2 * step)) <= difference_tolerance, __LINE__,
                  "gradient of %s[%zu] is %.12g, differences say %.12g", n->params[p].name, i, g[i],
                  (above - below) / (2 * step));
    }
    free(w);
    free(g);
}

static void differences_of_input(struct ys_engine *e, const struct net *n, float *x, const int64_t *y)
{
    size_t count = net_input_count(n);
    double *g = malloc(count * sizeof *g);
    memcpy(g, ys_engine_input_gradient(e), count * sizeof *g);
    for (size_t i = 0; i < count; i += 1 + count / SAMPLES) {
        float old = x[i];
        x[i] = old + (float)step;
        double above = loss_with(e, x, y);
        x[i] = old - (float)step;
        double below = loss_with(e, x, y);
        x[i] = old;
        tap_check(fabs(g[i] - (above - below) / (2 * step)) <= difference_tolerance, __LINE__,
                  "gradient of pixel %zu is %.12g, differences say %.12g", i, g[i], (above - below) / (2 * step));
    }
    free(g);
}

static void check_differences(const struct net *n)
{
    struct ys_engine *e = open_engine(n, "ref", YS_ENGINE_F64);
    REQUIRE(e != NULL);
    void *x = net_rows(n, "x");
    int64_t *y = net_labels(n, "y");
    CHECK(ys_engine_backward(e, x, y, YS_ENGINE_TRAIN, NULL) == 0);
    if (n->values[0].dtype == YS_F32)
        differences_of_input(e, n, x, y);
    CHECK(ys_engine_backward(e, x, y, YS_ENGINE_TRAIN, NULL) == 0);
    for (size_t p = 0; p < n->graph.param_count; p++)
        differences_of_param(e, n, p, x, y);
    CHECK_TEXT(ys_engine_check(e) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(e);
    free(x);
    free(y);
}

static double gamma_of(double terms)
{
    return terms * unit / (1 - terms * unit);
}

/** What the bounds are made of: see check_against_ref(). */
struct sizes {
    double forward_terms, weight_terms, input_terms; /* numbers added up for one element */
    double x, w, absolute;                           /* largest |x|, |w|; largest sum of |w||x| + |b| of a logit */
};

/** The largest logit of the network with every weight and pixel replaced by its absolute value. */
static double absolute_logit(const struct net *n, const void *x, const int64_t *y)
{
    size_t count = net_input_count(n), logits = (size_t)(n->batch * n->values[n->graph.output].shape[1]);
    struct ys_engine *e = open_engine(n, "ref", YS_ENGINE_F64);
    float *positive = malloc(count * sizeof *positive);
    double top = 0;
    for (size_t i = 0; i < count; i++)
        positive[i] = n->values[0].dtype == YS_U8 ? ((const uint8_t *)x)[i] : fabsf(((const float *)x)[i]);
    for (size_t p = 0; e && p < n->graph.param_count; p++) {
        float *w = net_weights(n, p, 0.5);
        for (int64_t i = 0; i < ys_param_elements(&n->params[p]); i++)
            w[i] = fabsf(w[i]);
        CHECK(ys_engine_param_set(e, p, YS_ENGINE_F32, w) == 0);
        free(w);
    }
    if (e && CHECK(ys_engine_forward(e, n->values[0].dtype == YS_U8 ? x : positive, y, YS_ENGINE_EVAL, NULL) == 0))
        for (size_t i = 0; i < logits; i++)
            top = fmax(top, fabs(((const double *)ys_engine_logits(e))[i]));
    ys_engine_close(e);
    free(positive);
    return top;
}

static struct sizes sizes_of(const struct net *n, const void *x, const int64_t *y)
{
    struct sizes s = {.x = 1, .w = 0.5, .absolute = absolute_logit(n, x, y)};
    for (size_t i = 0; i < n->graph.node_count; i++) {
        const struct ys_node *node = &n->nodes[i];
        const int64_t *in = n->values[node->in[0]].shape, *out = n->values[node->out[0]].shape;
        const struct ys_window *w = &node->window;
        double taps = (double)(w->kernel[0] * w->kernel[1]);
        if (node->op == YS_OP_CONV) {
            s.forward_terms += taps * (double)(in[1] / w->group) + 1;
            s.weight_terms += (double)(n->batch * out[2] * out[3]);
            s.input_terms += taps * (double)(out[1] / w->group);
        } else if (node->op == YS_OP_GEMM) {
            s.forward_terms += (double)in[1] + 1;
            s.weight_terms += (double)n->batch;
            s.input_terms += (double)out[1];
        } else if (node->op == YS_OP_MAXPOOL) {
            s.input_terms += taps;
            s.w = 1;
        } else if (node->op == YS_OP_NORMALIZE) {
            s.forward_terms += 12; /* three operations on values up to (1 + mean) / std, four times the result's size */
            s.w = 1 / 0.3;
        } else if (node->op == YS_OP_RELU) {
            s.w = 1;
        }
    }
    return s;
}

static void check_near(const char *what, size_t count, const double *expected, const float *actual, double bound)
{
    size_t worst = 0;
    bool is_number = true;
    for (size_t i = 0; i < count; i++) {
        is_number &= !isnan(actual[i]);
        if (fabs(actual[i] - expected[i]) > fabs(actual[worst] - expected[worst]))
            worst = i;
    }
    tap_check(is_number && fabs(actual[worst] - expected[worst]) <= bound, __LINE__,
              "%s[%zu] is %.9g, ref says %.12g; bound %g", what, worst, actual[worst], expected[worst], bound);
}

/* Bounds for one operator between pixels and logits, with u = 2^-24 and gamma(k) = k u / (1 - k u) (Higham, Accuracy
 * and Stability of Numerical Algorithms, 2nd ed., 3.1): a logit is a sum of K products:          |error| <= d :=
 * gamma(K + 1) * max sum |w||x| the loss moves by at most 2 d, and is rounded once dlogits = (p - onehot) / N: p moves
 * by a factor within exp(+-2 d), and sum |dlogits| <= 2 over the whole batch, so sum |error| <= e := 2.1 d + 4 u a
 * weight's gradient, a sum of M products dlogit * x:   |error| <= max|x| (e + 2 gamma(M)) a pixel's gradient, a sum of
 * T products dlogit * w:    |error| <= max|w| (e + 2 gamma(T)) For the chains (CHAIN below) see there. */
static void check_against_ref(const struct net *n)
{
    struct ys_engine *r = open_engine(n, "ref", YS_ENGINE_F64), *o = open_engine(n, "onednn", YS_ENGINE_F32);
    REQUIRE(r && o);
    void *x = net_rows(n, "x");
    int64_t *y = net_labels(n, "y");
    struct sizes s = sizes_of(n, x, y);
    double d = gamma_of(s.forward_terms + 1) * s.absolute, e = 2.1 * d + 4 * unit;
    double expected_loss = NAN, loss = NAN;
    size_t logits = (size_t)(n->batch * ys_engine_classes(r));
    CHECK(ys_engine_backward(r, x, y, YS_ENGINE_TRAIN, &expected_loss) == 0);
    CHECK(ys_engine_backward(o, x, y, YS_ENGINE_TRAIN, &loss) == 0);
    CHECK_NEAR(loss, expected_loss, 2 * d + unit * fabs(expected_loss));
    check_near("logits", logits, ys_engine_logits(r), ys_engine_logits(o), d);
    check_near("input gradient", net_input_count(n), ys_engine_input_gradient(r), ys_engine_input_gradient(o),
               s.w * (e + 2 * gamma_of(s.input_terms + 4)));
    for (size_t p = 0; p < n->graph.param_count; p++) {
        size_t count = (size_t)ys_param_elements(&n->params[p]);
        double *expected = malloc(count * sizeof *expected);
        float *actual = malloc(count * sizeof *actual);
        CHECK(ys_engine_gradient_get(r, p, YS_ENGINE_F64, expected) == 0);
        CHECK(ys_engine_gradient_get(o, p, YS_ENGINE_F32, actual) == 0);
        check_near(n->params[p].name, count, expected, actual, s.x * (e + 2 * gamma_of(s.weight_terms)));
        free(expected);
        free(actual);
    }
    CHECK_TEXT(ys_engine_check(o) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(r);
    ys_engine_close(o);
    free(x);
    free(y);
}

#define WINDOW(kh, kw, sh, sw, top, left, bottom, right)                                                               \
    ((struct ys_window){{kh, kw}, {sh, sw}, {1, 1}, {top, left, bottom, right}, 1})
#define SPARSE(k, d, pad)      ((struct ys_window){{k, k}, {1, 1}, {d, d}, {pad, pad, pad, pad}, 1})
#define GROUPS(k, pad, groups) ((struct ys_window){{k, k}, {1, 1}, {1, 1}, {pad, pad, pad, pad}, groups})

/* NAME, pixel type, batch, channels, height, width, then the operator. */
#define SHAPES(X)                                                                                                      \
    X(conv_3x3_pad_1, YS_F32, 2, 2, 5, 7, net_conv(n, 3, WINDOW(3, 3, 1, 1, 1, 1, 1, 1), 1))                           \
    X(conv_one_channel, YS_F32, 2, 1, 4, 4, net_conv(n, 1, WINDOW(2, 2, 1, 1, 0, 0, 0, 0), 1))                         \
    X(conv_odd_size_stride_2, YS_F32, 2, 3, 7, 5, net_conv(n, 4, WINDOW(3, 3, 2, 2, 1, 1, 1, 1), 1))                   \
    X(conv_stride_beyond_kernel, YS_F32, 2, 3, 8, 7, net_conv(n, 4, WINDOW(2, 1, 3, 3, 0, 0, 0, 0), 1))                \
    X(conv_asymmetric_pad, YS_F32, 2, 2, 5, 6, net_conv(n, 3, WINDOW(3, 4, 1, 1, 0, 1, 2, 3), 1))                      \
    X(conv_asymmetric_pad_stride, YS_F32, 2, 2, 6, 6, net_conv(n, 3, WINDOW(3, 3, 2, 2, 0, 0, 1, 1), 1))               \
    X(conv_two_groups, YS_F32, 2, 4, 5, 5, net_conv(n, 6, GROUPS(3, 1, 2), 1))                                         \
    X(conv_depthwise, YS_F32, 2, 5, 5, 5, net_conv(n, 5, GROUPS(3, 1, 5), 1))                                          \
    X(conv_depthwise_double, YS_F32, 1, 3, 5, 4, net_conv(n, 6, GROUPS(2, 0, 3), 0))                                   \
    X(conv_dilated, YS_F32, 2, 2, 7, 7, net_conv(n, 3, SPARSE(3, 2, 2), 1))                                            \
    X(conv_odd_channels, YS_F32, 2, 17, 5, 5, net_conv(n, 33, WINDOW(3, 3, 1, 1, 1, 1, 1, 1), 1))                      \
    X(conv_full_blocks, YS_F32, 2, 16, 6, 6, net_conv(n, 32, WINDOW(5, 5, 1, 1, 2, 2, 2, 2), 1))                       \
    X(conv_batch_1, YS_F32, 1, 3, 5, 5, net_conv(n, 4, WINDOW(3, 3, 1, 1, 1, 1, 1, 1), 1))                             \
    X(conv_without_bias, YS_F32, 2, 3, 5, 5, net_conv(n, 4, WINDOW(3, 3, 1, 1, 1, 1, 1, 1), 0))                        \
    X(conv_flat_kernel, YS_F32, 2, 2, 4, 9, net_conv(n, 3, WINDOW(1, 5, 1, 2, 0, 2, 0, 2), 1))                         \
    X(conv_1x1, YS_F32, 3, 5, 3, 3, net_conv(n, 7, WINDOW(1, 1, 1, 1, 0, 0, 0, 0), 1))                                 \
    X(conv_whole_image, YS_F32, 3, 2, 4, 5, net_conv(n, 6, WINDOW(4, 5, 1, 1, 0, 0, 0, 0), 1))                         \
    X(gemm_small, YS_F32, 3, 7, 1, 1, (net_flatten(n), net_gemm(n, 5, 1)))                                             \
    X(gemm_batch_1, YS_F32, 1, 9, 1, 1, (net_flatten(n), net_gemm(n, 4, 1)))                                           \
    X(gemm_without_bias, YS_F32, 4, 6, 1, 1, (net_flatten(n), net_gemm(n, 3, 0)))                                      \
    X(gemm_wide, YS_F32, 5, 130, 1, 1, (net_flatten(n), net_gemm(n, 70, 1)))                                           \
    X(gemm_of_an_image, YS_F32, 3, 2, 3, 5, (net_flatten(n), net_gemm(n, 4, 1)))                                       \
    X(relu_odd, YS_F32, 3, 3, 5, 7, net_relu(n))                                                                       \
    X(relu_flat, YS_F32, 2, 37, 1, 1, (net_flatten(n), net_relu(n)))                                                   \
    X(maxpool_2x2, YS_F32, 2, 3, 6, 6, net_pool(n, WINDOW(2, 2, 2, 2, 0, 0, 0, 0)))                                    \
    X(maxpool_odd_size, YS_F32, 2, 3, 7, 5, net_pool(n, WINDOW(2, 2, 2, 2, 0, 0, 0, 0)))                               \
    X(maxpool_overlapping, YS_F32, 2, 3, 7, 7, net_pool(n, WINDOW(3, 3, 2, 2, 1, 1, 1, 1)))                            \
    X(maxpool_stride_beyond_kernel, YS_F32, 2, 2, 8, 8, net_pool(n, WINDOW(2, 2, 3, 3, 0, 0, 0, 0)))                   \
    X(maxpool_asymmetric_pad, YS_F32, 2, 2, 5, 5, net_pool(n, WINDOW(3, 3, 2, 2, 0, 1, 1, 0)))                         \
    X(maxpool_dilated, YS_F32, 2, 2, 7, 7, net_pool(n, SPARSE(2, 2, 0)))                                               \
    X(maxpool_one_channel, YS_F32, 1, 1, 4, 6, net_pool(n, WINDOW(2, 3, 2, 3, 0, 0, 0, 0)))                            \
    X(maxpool_16_channels, YS_F32, 2, 16, 4, 4, net_pool(n, WINDOW(2, 2, 2, 2, 0, 0, 0, 0)))                           \
    X(normalize_each_channel, YS_F32, 2, 3, 4, 5, net_normalize(n, 3, 1.0))                                            \
    X(normalize_all_alike, YS_F32, 2, 3, 4, 5, net_normalize(n, 1, 0.5))                                               \
    X(normalize_bytes, YS_U8, 2, 3, 4, 5, net_normalize(n, 3, 1.0 / 255))                                              \
    X(flatten_alone, YS_F32, 2, 3, 2, 3, (void)n)

static void finish(struct net *n)
{
    if (n->values[n->graph.output].rank > 2)
        net_flatten(n);
}

#define CASE_FUNCTIONS(name, dtype, batch, c, h, w, ...)                                                               \
    static void name##_net(struct net *n)                                                                              \
    {                                                                                                                  \
        net_input(n, dtype, batch, c, h, w);                                                                           \
        __VA_ARGS__;                                                                                                   \
        finish(n);                                                                                                     \
    }                                                                                                                  \
    static void name##_ref(void)                                                                                       \
    {                                                                                                                  \
        struct net n;                                                                                                  \
        name##_net(&n);                                                                                                \
        check_differences(&n);                                                                                         \
    }                                                                                                                  \
    static void name##_onednn(void)                                                                                    \
    {                                                                                                                  \
        struct net n;                                                                                                  \
        name##_net(&n);                                                                                                \
        check_against_ref(&n);                                                                                         \
    }
SHAPES(CASE_FUNCTIONS)

/** The gradient of a tie goes to the first, in reading order, whatever the back end. */
static void check_ties(const char *backend, enum ys_engine_precision precision)
{
    struct net n;
    net_input(&n, YS_F32, 1, 1, 2, 4);
    net_pool(&n, WINDOW(2, 2, 2, 2, 0, 0, 0, 0));
    net_flatten(&n);
    struct ys_engine *e = open_engine(&n, backend, precision);
    REQUIRE(e != NULL);
    float x[8] = {1, 1, 1, 2, 1, 1, 2, 2};
    int64_t y = 0;
    CHECK(ys_engine_backward(e, x, &y, YS_ENGINE_TRAIN, NULL) == 0);
    const void *g = ys_engine_input_gradient(e);
    for (int i = 0; i < 8; i++) {
        double value = precision == YS_ENGINE_F64 ? ((const double *)g)[i] : ((const float *)g)[i];
        tap_check((value != 0) == (i == 0 || i == 3), __LINE__, "gradient of element %d is %g", i, value);
    }
    ys_engine_close(e);
}

static void maxpool_ties_ref(void)
{
    check_ties("ref", YS_ENGINE_F64);
}

static void maxpool_ties_onednn(void)
{
    check_ties("onednn", YS_ENGINE_F32);
}

/** Padding is less than every number: a window of negative numbers at the border gives the largest of them. */
static void check_padding_never_wins(const char *backend, enum ys_engine_precision precision)
{
    struct net n;
    net_input(&n, YS_F32, 1, 1, 2, 2);
    net_pool(&n, WINDOW(2, 2, 2, 2, 1, 1, 1, 1));
    net_flatten(&n);
    struct ys_engine *e = open_engine(&n, backend, precision);
    REQUIRE(e != NULL);
    float x[4] = {-1, -2, -3, -4};
    int64_t y = 0;
    CHECK(ys_engine_forward(e, x, &y, YS_ENGINE_EVAL, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        const void *z = ys_engine_logits(e);
        CHECK_NEAR(precision == YS_ENGINE_F64 ? ((const double *)z)[i] : ((const float *)z)[i], x[i], 0);
    }
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

#define CASE_ENTRIES(name, ...) TAP_CASE(name##_ref), TAP_CASE(name##_onednn),

TAP_MAIN(SHAPES(CASE_ENTRIES) TAP_CASE(maxpool_ties_ref), TAP_CASE(maxpool_ties_onednn), TAP_CASE(maxpool_padding_ref),
         TAP_CASE(maxpool_padding_onednn))
