/* What differs between training and evaluation: batch normalisation and dropout, each against a calculation by hand. */
#include "unit/engine/open.h"

#include "backend/dropout.h"
#include "base/status.h"
#include "engine/program.h"

enum { ROWS = 4, CHANNELS = 3, HEIGHT = 2, WIDTH = 3, AREA = HEIGHT * WIDTH };
static const double epsilon = 1e-3, momentum = 0.25;

/** Largest deviation between two ways of summing 24 numbers of the order of one and dividing by their deviation. */
static double tolerance_of(const struct backend_case *b)
{
    return b->precision == YS_ENGINE_F64 ? 1e-13 : 24 * 0x1p-23;
}

/** Batch normalisation of the input itself; its parameters are 0 to 3: weight, bias, running mean and variance. */
static void norm_net(struct net *n, int64_t rows)
{
    net_input(n, YS_F32, rows, CHANNELS, HEIGHT, WIDTH);
    net_batchnorm(n, epsilon, momentum);
    net_flatten(n);
    net_gemm(n, 4, 1);
}

struct statistics {
    double mean[CHANNELS], variance[CHANNELS]; /* with n */
};

static struct statistics statistics_of(const float *x, int64_t rows)
{
    struct statistics s = {0};
    double n = (double)(rows * AREA);
    for (int64_t i = 0; i < rows * CHANNELS * AREA; i++)
        s.mean[i / AREA % CHANNELS] += x[i] / n;
    for (int64_t i = 0; i < rows * CHANNELS * AREA; i++) {
        int c = (int)(i / AREA % CHANNELS);
        s.variance[c] += (x[i] - s.mean[c]) * (x[i] - s.mean[c]) / n;
    }
    return s;
}

/** Two steps on different rows, with passes in both modes between them that must move nothing. */
static void check_running_statistics(const struct backend_case *b)
{
    struct net n;
    norm_net(&n, ROWS);
    struct ys_engine *e = open_case(&n, b);
    REQUIRE(e != NULL);
    int64_t *y = net_labels(&n, "y");
    float *rows[2] = {net_rows(&n, "first"), net_rows(&n, "second")};
    double running[2][CHANNELS], now[2][CHANNELS], still[2][CHANNELS], count = ROWS * AREA;
    for (int k = 0; k < 2; k++)
        CHECK(ys_engine_param_get(e, 2 + (size_t)k, YS_ENGINE_F64, running[k]) == 0);
    for (int step = 0; step < 2; step++) {
        struct statistics s = statistics_of(rows[step], ROWS);
        CHECK(ys_engine_step(e, rows[step], y, 0.1, NULL) == 0);
        CHECK(ys_engine_param_get(e, 2, YS_ENGINE_F64, now[0]) == 0);
        CHECK(ys_engine_param_get(e, 3, YS_ENGINE_F64, now[1]) == 0);
        for (int c = 0; c < CHANNELS; c++) {
            running[0][c] = (1 - momentum) * running[0][c] + momentum * s.mean[c];
            running[1][c] = (1 - momentum) * running[1][c] + momentum * s.variance[c] * count / (count - 1);
            CHECK_NEAR(now[0][c], running[0][c], tolerance_of(b));
            CHECK_NEAR(now[1][c], running[1][c], tolerance_of(b));
        }
        CHECK(ys_engine_forward(e, rows[0], y, YS_ENGINE_TRAIN, NULL) == 0);
        CHECK(ys_engine_backward(e, rows[1], y, YS_ENGINE_TRAIN, NULL) == 0);
        CHECK(ys_engine_backward(e, rows[1], y, YS_ENGINE_EVAL, NULL) == 0);
        CHECK(ys_engine_param_get(e, 2, YS_ENGINE_F64, still[0]) == 0);
        CHECK(ys_engine_param_get(e, 3, YS_ENGINE_F64, still[1]) == 0);
        CHECK(memcmp(still, now, sizeof now) == 0);
    }
    ys_engine_close(e);
    free(rows[0]);
    free(rows[1]);
    free(y);
}

/** Of two numbers, the fewest that have a variance with n - 1. The channels fill cache lines in float and in double, so
 * that parameters stand side by side, and one channel too many would be seen in the next. */
static void check_two_numbers(const struct backend_case *b)
{
    enum { LINE = YS_ALIGNMENT / sizeof(float) };
    struct net n;
    net_input(&n, YS_F32, 2, LINE, 1, 1);
    net_batchnorm(&n, epsilon, momentum);
    net_flatten(&n);
    struct ys_engine_config config = config_of(&n, b);
    config.guarded = true;
    struct ys_engine *e = open_with(&n, &config);
    REQUIRE(e != NULL);
    const int64_t y[2] = {0, 1};
    double before[2][LINE], after[2][LINE];
    float x[2][LINE];
    for (int c = 0; c < LINE; c++) {
        x[0][c] = (float)c - 3;
        x[1][c] = 2 * (float)c + 1;
    }
    for (size_t k = 0; k < 2; k++)
        CHECK(ys_engine_param_get(e, 2 + k, YS_ENGINE_F64, before[k]) == 0);
    CHECK(ys_engine_step(e, x, y, 0.1, NULL) == 0);
    for (size_t k = 0; k < 2; k++)
        CHECK(ys_engine_param_get(e, 2 + k, YS_ENGINE_F64, after[k]) == 0);
    for (int c = 0; c < LINE; c++) {
        double mean = ((double)x[1][c] + (double)x[0][c]) / 2, half = ((double)x[1][c] - (double)x[0][c]) / 2;
        const double moved[2] = {(1 - momentum) * before[0][c] + momentum * mean,
                                 (1 - momentum) * before[1][c] + momentum * 2 * half * half};
        for (int k = 0; k < 2; k++)
            CHECK_NEAR(after[k][c], moved[k], tolerance_of(b) * fmax(1, moved[k]));
    }
    CHECK_TEXT(ys_engine_check(e) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(e);
}

static void running_statistics_of_two_numbers_ref(void)
{
    check_two_numbers(&ref64);
}

static void running_statistics_of_two_numbers_onednn(void)
{
    check_two_numbers(&onednn2);
}

static void running_statistics_of_two_numbers_simd(void)
{
    check_two_numbers(&simd2);
}

static void running_statistics_move_in_steps_only_ref(void)
{
    check_running_statistics(&ref64);
}

static void running_statistics_move_in_steps_only_onednn(void)
{
    check_running_statistics(&onednn2);
}

static void running_statistics_move_in_steps_only_simd(void)
{
    check_running_statistics(&simd2);
}

/** One element a channel has no variance: n - 1 would be 0. */
static void check_single_element(const struct backend_case *b)
{
    struct net n;
    net_input(&n, YS_F32, 1, 2, 1, 1);
    net_batchnorm(&n, epsilon, momentum);
    net_flatten(&n);
    net_gemm(&n, 2, 1);
    struct ys_engine *e = open_case(&n, b);
    REQUIRE(e != NULL);
    double before[2], after[2];
    CHECK(ys_engine_param_get(e, 3, YS_ENGINE_F64, before) == 0);
    CHECK(ys_engine_step(e, (float[]){0.5F, -3}, (int64_t[]){1}, 0.1, NULL) == 0);
    CHECK(ys_engine_param_get(e, 3, YS_ENGINE_F64, after) == 0);
    for (int c = 0; c < 2; c++)
        CHECK_NEAR(after[c], (1 - momentum) * before[c], tolerance_of(b));
    ys_engine_close(e);
}

static void one_element_counts_as_variance_zero_ref(void)
{
    check_single_element(&ref64);
}

static void one_element_counts_as_variance_zero_onednn(void)
{
    check_single_element(&onednn2);
}

static void one_element_counts_as_variance_zero_simd(void)
{
    check_single_element(&simd2);
}

static double logit(const struct ys_engine *e, size_t i)
{
    return ys_engine_real_size(e) == sizeof(double) ? ((const double *)ys_engine_logits(e))[i]
                                                    : (double)((const float *)ys_engine_logits(e))[i];
}

/** The square identity as weights of a product without bias. */
static void set_identity(struct ys_engine *e, size_t param, int64_t size)
{
    double *w = calloc((size_t)(size * size), sizeof *w);
    for (int64_t i = 0; i < size; i++)
        w[i * size + i] = 1;
    CHECK(ys_engine_param_set(e, param, YS_ENGINE_F64, w) == 0);
    free(w);
}

/** Normalised pixels come out as logits: with the batch's statistics in training, with the running ones else. */
static void check_normalised(const struct backend_case *b, bool training)
{
    enum { ALL = CHANNELS * AREA };
    struct net n;
    net_input(&n, YS_F32, ROWS, CHANNELS, HEIGHT, WIDTH);
    net_batchnorm(&n, epsilon, momentum);
    net_flatten(&n);
    net_gemm(&n, ALL, 0);
    struct ys_engine_config config = config_of(&n, b);
    config.training = training;
    struct ys_engine *e = open_with(&n, &config);
    REQUIRE(e != NULL);
    set_identity(e, 4, ALL);
    int64_t *y = net_labels(&n, "y");
    float *x = net_rows(&n, "x");
    struct statistics batch = statistics_of(x, ROWS), running;
    double scale[CHANNELS], bias[CHANNELS];
    CHECK(ys_engine_param_get(e, 0, YS_ENGINE_F64, scale) == 0 && ys_engine_param_get(e, 1, YS_ENGINE_F64, bias) == 0);
    CHECK(ys_engine_param_get(e, 2, YS_ENGINE_F64, running.mean) == 0);
    CHECK(ys_engine_param_get(e, 3, YS_ENGINE_F64, running.variance) == 0);
    for (int mode = YS_ENGINE_EVAL; mode <= (training ? YS_ENGINE_TRAIN : YS_ENGINE_EVAL); mode++) {
        const struct statistics *s = mode == YS_ENGINE_TRAIN ? &batch : &running;
        CHECK(ys_engine_forward(e, x, y, (enum ys_engine_mode)mode, NULL) == 0);
        for (size_t i = 0; i < ROWS * ALL; i++) {
            size_t c = i / AREA % CHANNELS;
            double expected = scale[c] * (x[i] - s->mean[c]) / sqrt(s->variance[c] + epsilon) + bias[c];
            CHECK_NEAR(logit(e, i), expected, tolerance_of(b));
        }
    }
    ys_engine_close(e);
    free(x);
    free(y);
}

static void statistics_follow_the_mode_ref(void)
{
    check_normalised(&ref64, true);
    check_normalised(&ref64, false);
}

static void statistics_follow_the_mode_onednn(void)
{
    check_normalised(&onednn2, true);
    check_normalised(&onednn2, false);
}

static void statistics_follow_the_mode_simd(void)
{
    check_normalised(&simd2, true);
    check_normalised(&simd2, false);
}

/* ---- dropout */

enum { WIDE = 40 };

/** Logits are the pixels behind dropout; `dropped` has the elements that must be zero. */
static void check_mask(struct ys_engine *e, const float *x, const unsigned char *keep, double ratio)
{
    int wrong = 0;
    double tolerance = ys_engine_real_size(e) == sizeof(double) ? 0x1p-52 : 0x1p-22; /* of numbers below 2 */
    for (size_t i = 0; i < ROWS * WIDE; i++)
        wrong += fabs(logit(e, i) - (keep[i] ? x[i] / (1 - ratio) : 0)) > tolerance;
    CHECK_INT(wrong, 0);
}

static void check_dropout(const struct backend_case *b)
{
    const double ratio = 0.375;
    struct net n;
    net_input(&n, YS_F32, ROWS, WIDE, 1, 1);
    net_flatten(&n);
    net_dropout(&n, ratio);
    net_gemm(&n, WIDE, 0);
    struct ys_engine_config config = config_of(&n, b);
    config.seed = 77;
    config.input_gradient = true;
    struct ys_engine *e = open_with(&n, &config);
    REQUIRE(e != NULL);
    set_identity(e, 0, WIDE);
    float *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    struct ys_dropout dropout;
    ys_dropout_init(&dropout, 77, n.nodes[1].name, ratio);
    unsigned char keep[ROWS * WIDE], all[ROWS * WIDE];
    memset(all, 1, sizeof all);
    for (uint64_t step = 0; step < 3; step++) {
        ys_dropout_mask(&dropout, step, 0, sizeof keep, keep);
        CHECK(ys_engine_forward(e, x, y, YS_ENGINE_EVAL, NULL) == 0);
        check_mask(e, x, all, 0);
        for (int again = 0; again < 2; again++) {
            CHECK(ys_engine_forward(e, x, y, YS_ENGINE_TRAIN, NULL) == 0);
            check_mask(e, x, keep, ratio);
        }
        CHECK(ys_engine_step(e, x, y, 0, NULL) == 0);
        check_mask(e, x, keep, ratio);
        for (size_t i = 0; i < ROWS * WIDE; i++) {
            const void *g = ys_engine_input_gradient(e);
            double at = b->precision == YS_ENGINE_F64 ? ((const double *)g)[i] : (double)((const float *)g)[i];
            CHECK((at != 0) == keep[i]); /* softmax leaves no gradient zero */
        }
    }
    ys_engine_reset(e);
    ys_dropout_mask(&dropout, 0, 0, sizeof keep, keep);
    CHECK(ys_engine_forward(e, x, y, YS_ENGINE_TRAIN, NULL) == 0);
    check_mask(e, x, keep, ratio);
    ys_engine_close(e);
    free(x);
    free(y);
}

static void dropout_drops_what_its_mask_says_ref(void)
{
    check_dropout(&ref64);
}

static void dropout_drops_what_its_mask_says_onednn(void)
{
    check_dropout(&onednn2);
}

static void dropout_drops_what_its_mask_says_simd(void)
{
    check_dropout(&simd2);
}

TAP_MAIN(TAP_CASE(running_statistics_of_two_numbers_ref), TAP_CASE(running_statistics_of_two_numbers_onednn),
         TAP_CASE(running_statistics_of_two_numbers_simd), TAP_CASE(running_statistics_move_in_steps_only_ref),
         TAP_CASE(one_element_counts_as_variance_zero_ref), TAP_CASE(statistics_follow_the_mode_ref),
         TAP_CASE(dropout_drops_what_its_mask_says_ref), TAP_CASE(running_statistics_move_in_steps_only_onednn),
         TAP_CASE(running_statistics_move_in_steps_only_simd), TAP_CASE(one_element_counts_as_variance_zero_onednn),
         TAP_CASE(one_element_counts_as_variance_zero_simd), TAP_CASE(statistics_follow_the_mode_onednn),
         TAP_CASE(statistics_follow_the_mode_simd), TAP_CASE(dropout_drops_what_its_mask_says_onednn),
         TAP_CASE(dropout_drops_what_its_mask_says_simd))
