/* Gradients of the logits by the input, in evaluation and without any of the weights. */
#include "unit/engine/families.h"

#include "base/status.h"
#include "engine/program.h"

static struct ys_engine *open_for_inputs(const struct net *n, const struct backend_case *b)
{
    struct ys_engine_config config = config_of(n, b);
    config.training = false;
    config.input_gradient = config.guarded = true;
    return open_with(n, &config);
}

static double real_at(const struct ys_engine *e, const void *values, size_t i)
{
    return ys_engine_real_size(e) == sizeof(double) ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

static void put_real(const struct ys_engine *e, void *values, size_t i, double value)
{
    if (ys_engine_real_size(e) == sizeof(double))
        ((double *)values)[i] = value;
    else
        ((float *)values)[i] = (float)value;
}

/** Of the loss, softmax cross-entropy, by the logits: new array, elements as the engine has them. */
static void *slope_of_loss(const struct ys_engine *e, const int64_t *y, int64_t rows)
{
    const int64_t classes = ys_engine_classes(e);
    const void *z = ys_engine_logits(e);
    void *slope = malloc((size_t)(rows * classes) * ys_engine_real_size(e));
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t k = 0; k < classes; k++)
            sum += exp(real_at(e, z, (size_t)(r * classes + k)));
        for (int64_t k = 0; k < classes; k++)
            put_real(e, slope, (size_t)(r * classes + k),
                     (exp(real_at(e, z, (size_t)(r * classes + k))) / sum - (y[r] == k)) / (double)rows);
    }
    return slope;
}

/** By the slope of the loss it is what the backward pass of training gives: the same products of the same numbers but
 * for the rounding of that slope, which no layer makes larger than 1000 times beside the largest gradient. */
static void check_family(const struct family *f, const struct backend_case *b)
{
    struct net n;
    f->build(&n);
    if (n.graph.loss != YS_LOSS_SOFTMAX_CROSS_ENTROPY)
        return;
    n.values[n.graph.inputs[0]].dtype = YS_F32;
    struct ys_engine_config config = config_of(&n, b);
    config.input_gradient = config.guarded = true;
    struct ys_engine *training = open_with(&n, &config), *e = training ? open_for_inputs(&n, b) : NULL;
    REQUIRE(training != NULL && e != NULL);
    float *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    CHECK(ys_engine_backward(training, x, y, YS_ENGINE_EVAL, NULL) == 0);
    void *slope = slope_of_loss(training, y, n.batch);
    CHECK_TEXT(ys_engine_cotangent(e, x, slope) == 0 ? "" : ys_engine_error(), "");
    const size_t count = (size_t)(n.batch * ys_value_row_elements(&n.values[n.graph.inputs[0]]));
    const void *want = ys_engine_input_gradient(training), *got = ys_engine_input_gradient(e);
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(real_at(e, want, i)));
    const double unit = b->precision == YS_ENGINE_F64 ? 0x1p-52 : 0x1p-23;
    CHECK(largest > 0);
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(real_at(e, got, i), real_at(e, want, i), 1000 * unit * largest);
    for (size_t i = 0; i < ys_engine_program(e)->call_count; i++)
        tap_check(ys_engine_program(e)->calls[i].kind != YS_CALL_WEIGHTS, __LINE__, "%s makes a gradient of weights",
                  f->name);
    CHECK(ys_engine_counters(e).arena_bytes < ys_engine_counters(training).arena_bytes);
    CHECK_TEXT(ys_engine_check(e) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(training);
    ys_engine_close(e);
    free(slope);
    free(x);
    free(y);
}

static void check_families(const struct backend_case *b)
{
    for (int f = 0; f < FAMILIES; f++)
        check_family(&families[f], b);
}

static void the_slope_of_the_loss_gives_the_gradient_of_training_ref(void)
{
    check_families(&ref64);
}

static void the_slope_of_the_loss_gives_the_gradient_of_training_onednn(void)
{
    check_families(&onednn2);
}

static void the_slope_of_the_loss_gives_the_gradient_of_training_simd(void)
{
    check_families(&simd2);
}

static double sum_of(struct ys_engine *e, const float *x, const double *cotangent, size_t count)
{
    double sum = 0;
    CHECK(ys_engine_cotangent(e, x, NULL) == 0);
    for (size_t i = 0; i < count; i++)
        sum += cotangent[i] * ((const double *)ys_engine_logits(e))[i];
    return sum;
}

/** Any cotangent, against central differences with h = 2^-10, of a smooth network of sums of 27 numbers of the order of
 * one: third derivatives of 1000 give h^2 / 6 * 1000 = 1.6e-4. */
static void any_cotangent_agrees_with_differences(void)
{
    struct net n;
    net_input(&n, YS_F32, 2, 3, 4, 4);
    net_conv(&n, 5, THREE, 1);
    net_alike(&n, YS_OP_TANH);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    struct ys_engine *e = open_for_inputs(&n, &ref64);
    REQUIRE(e != NULL);
    const double cotangent[8] = {1, -2, 0.5, 0, 0, 0, 3, -1}, h = 0x1p-10;
    double gradient[96];
    float *x = net_rows(&n, "x");
    CHECK(ys_engine_cotangent(e, x, cotangent) == 0);
    memcpy(gradient, ys_engine_input_gradient(e), sizeof gradient);
    for (size_t i = 0; i < 96; i++) {
        const float old = x[i];
        x[i] = old + (float)h;
        const float above = x[i];
        const double more = sum_of(e, x, cotangent, 8);
        x[i] = old - (float)h;
        const double less = sum_of(e, x, cotangent, 8);
        CHECK_NEAR(gradient[i], (more - less) / (double)(above - x[i]), 2e-4);
        x[i] = old;
    }
    ys_engine_close(e);
    free(x);
}

static void check_ties(const struct backend_case *b)
{
    struct net n;
    net_input(&n, YS_F32, 2, 3, 4, 4);
    net_pool(&n, HALVE);
    net_flatten(&n);
    net_gemm(&n, 2, 1);
    struct ys_engine *e = open_for_inputs(&n, b);
    REQUIRE(e != NULL);
    float x[96];
    char cotangent[4 * sizeof(double)];
    for (size_t i = 0; i < 96; i++)
        x[i] = 0.5F;
    for (size_t i = 0; i < 4; i++)
        put_real(e, cotangent, i, 1);
    CHECK(ys_engine_cotangent(e, x, cotangent) == 0);
    for (size_t i = 0; i < 96; i++)
        CHECK((real_at(e, ys_engine_input_gradient(e), i) != 0) == (i % 2 == 0 && i / 4 % 2 == 0));
    ys_engine_close(e);
}

static void the_first_of_equal_values_has_the_gradient_ref(void)
{
    check_ties(&ref64);
}

static void the_first_of_equal_values_has_the_gradient_onednn(void)
{
    check_ties(&onednn2);
}

static void the_first_of_equal_values_has_the_gradient_simd(void)
{
    check_ties(&simd2);
}

static void nothing_else_can_be_asked_of_it(void)
{
    struct net n;
    small_net(&n, 2);
    struct ys_engine *e = open_for_inputs(&n, &ref64), *training = open_case(&n, &ref64);
    REQUIRE(e != NULL && training != NULL);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    double gradient[1024];
    CHECK_INT(ys_engine_backward(e, x, y, YS_ENGINE_EVAL, NULL), YS_EINVAL);
    CHECK_INT(ys_engine_step(e, x, y, 0.1, NULL), YS_EINVAL);
    CHECK_INT(ys_engine_forward(e, x, y, YS_ENGINE_TRAIN, NULL), YS_EINVAL);
    CHECK_INT(ys_engine_gradient_get(e, 0, YS_ENGINE_F64, gradient), YS_EINVAL);
    CHECK_INT(ys_engine_forward(e, x, y, YS_ENGINE_EVAL, NULL), 0);
    CHECK_INT(ys_engine_cotangent(training, x, NULL), YS_EINVAL);
    CHECK_TEXT(ys_engine_error(), "a cotangent is for an engine opened with input_gradient and not for training");
    ys_engine_close(e);
    ys_engine_close(training);
    free(x);
    free(y);
}

TAP_MAIN(TAP_CASE(the_slope_of_the_loss_gives_the_gradient_of_training_ref),
         TAP_CASE(the_slope_of_the_loss_gives_the_gradient_of_training_onednn),
         TAP_CASE(the_slope_of_the_loss_gives_the_gradient_of_training_simd),
         TAP_CASE(any_cotangent_agrees_with_differences), TAP_CASE(the_first_of_equal_values_has_the_gradient_ref),
         TAP_CASE(the_first_of_equal_values_has_the_gradient_onednn),
         TAP_CASE(the_first_of_equal_values_has_the_gradient_simd), TAP_CASE(nothing_else_can_be_asked_of_it))
