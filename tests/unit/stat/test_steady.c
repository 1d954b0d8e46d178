#include "stat/steady.h"

#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>

static struct ys_steady find(const double *x, size_t n)
{
    struct ys_steady steady = {0};
    ys_steady_find(x, n, &steady);
    return steady;
}

static void constant_times_are_steady_from_the_start(void)
{
    double x[40];
    for (int i = 0; i < 40; i++)
        x[i] = 0.01;
    struct ys_steady steady = find(x, 40);
    CHECK_INT(steady.answer, YS_STEADY_FOUND);
    CHECK_INT(steady.from, 0);
    CHECK_NEAR(steady.left, 0, 1e-12); /* sums of forty equal numbers */
}

static void a_warm_up_step_is_cut_off_where_it_ends(void)
{
    struct ys_rng rng;
    double x[60];
    printf("# seed 5\n");
    ys_rng_init(&rng, 5, "step");
    for (int slow = 1; slow <= 24; slow++) {
        for (int i = 0; i < 60; i++)
            x[i] = (i < slow ? 0.02 : 0.01) * (1 + 0.01 * ys_rng_normal(&rng));
        struct ys_steady steady = find(x, 60);
        CHECK_INT(steady.answer, YS_STEADY_FOUND);
        CHECK_INT(steady.from, slow);
    }
}

static void a_fast_start_is_cut_off_too(void)
{
    double x[30];
    for (int i = 0; i < 30; i++)
        x[i] = i < 4 ? 0.007 : 0.01 + 1e-5 * (i % 3);
    struct ys_steady steady = find(x, 30);
    CHECK_INT(steady.answer, YS_STEADY_FOUND);
    CHECK_INT(steady.from, 4);
}

static void a_warm_up_that_fades_ends_where_little_of_it_is_left(void)
{
    double x[80];
    for (int i = 0; i < 80; i++)
        x[i] = 0.01 * (1 + exp(-i / 5.0)) + 1e-6 * (i % 7);
    struct ys_steady steady = find(x, 80);
    CHECK_INT(steady.answer, YS_STEADY_FOUND);
    /* Looked for until the medians of two parts differ by less than 1 %: exp(-i / 5) < 0.1 from i = 12 on, 0.01
     * from 23. */
    CHECK(steady.from >= 12 && steady.from <= 24);
    /* What is left is a mean of less than 5.52 exp(-from / 5) / (80 - from), and is taken so many times. */
    double times = ys_steady_multiple((double)steady.from / 80);
    CHECK(steady.left > 0 && steady.left < times * exp(-(double)steady.from / 5) * 5.6 / (80 - (double)steady.from));
}

static void a_drift_that_goes_on_is_never_steady(void)
{
    struct ys_rng rng;
    double x[60];
    printf("# seed 6\n");
    ys_rng_init(&rng, 6, "drift");
    for (int i = 0; i < 60; i++)
        x[i] = 0.01 * (1 + 0.4 * i / 60) * (1 + 0.005 * ys_rng_normal(&rng));
    struct ys_steady steady = find(x, 60);
    CHECK_INT(steady.answer, YS_STEADY_NEVER);
    CHECK_INT(steady.from, 30);
    /* Between its middle and its end a last half at a slope of 0.4 in 60 blocks differs by 0.4 * 10 / 60 of about 1.3,
     * a third of its length apart: -0.05, four times. */
    CHECK_NEAR(steady.left, -0.2, 0.05);
}

static void a_tiny_drift_is_steady_though_significant(void)
{
    double x[100];
    for (int i = 0; i < 100; i++)
        x[i] = 0.01 * (1 + 1e-4 * i);
    CHECK_INT(find(x, 100).answer, YS_STEADY_FOUND);
}

static void two_modes_at_random_are_steady(void)
{
    struct ys_rng rng;
    int found = 0;
    printf("# seed 7\n");
    ys_rng_init(&rng, 7, "modes");
    for (int trial = 0; trial < 200; trial++) {
        double x[50];
        for (int i = 0; i < 50; i++)
            x[i] = (ys_rng_below(&rng, 2) ? 0.013 : 0.01) * (1 + 0.002 * ys_rng_normal(&rng));
        found += find(x, 50).answer == YS_STEADY_FOUND;
    }
    /* The trend test errs in at most 1 of 100 at each k, and a later k may still be found: all but a few. */
    CHECK(found >= 196);
}

static void a_heavy_tail_is_steady(void)
{
    struct ys_rng rng;
    int found = 0, early = 0;
    printf("# seed 8\n");
    ys_rng_init(&rng, 8, "tail");
    for (int trial = 0; trial < 200; trial++) {
        double x[60];
        for (int i = 0; i < 60; i++)
            x[i] = 0.01 * (1 + 0.01 * pow(ys_rng_uniform(&rng), -0.8)); /* Pareto, no variance */
        struct ys_steady steady = find(x, 60);
        found += steady.answer == YS_STEADY_FOUND;
        early += steady.answer == YS_STEADY_FOUND && steady.from <= 3;
    }
    /* Wandering ranks are an error of 1 of 100 at each place looked at. */
    CHECK(found >= 194);
    CHECK(early >= 186);
}

/* False alarms under plain noise: a trend at k = 0 needs |z| > 2.576, 1 of 100, and a drift of 3 %: fewer than 10 of
 * 500 begin late. */
static void plain_noise_is_steady_from_the_start(void)
{
    struct ys_rng rng;
    int late = 0;
    printf("# seed 9\n");
    ys_rng_init(&rng, 9, "noise");
    for (int trial = 0; trial < 500; trial++) {
        double x[40];
        for (int i = 0; i < 40; i++)
            x[i] = 0.01 * (1 + 0.05 * ys_rng_normal(&rng));
        struct ys_steady steady = find(x, 40);
        late += steady.answer != YS_STEADY_FOUND || steady.from > 1;
    }
    printf("# %d of 500 begin late\n", late);
    CHECK(late < 10);
}

static void fewer_than_thirty_blocks_are_too_few_to_tell(void)
{
    double x[30];
    for (int i = 0; i < 30; i++)
        x[i] = 1;
    struct ys_steady steady = find(x, 29);
    CHECK_INT(steady.answer, YS_STEADY_TOO_SHORT);
    CHECK_INT(steady.from, 14);
    CHECK(isnan(steady.left));
    CHECK_INT(find(x, 30).answer, YS_STEADY_FOUND);
}

static void no_block_and_one_block_are_too_few(void)
{
    double x[1] = {1};
    CHECK_INT(find(NULL, 0).answer, YS_STEADY_TOO_SHORT);
    struct ys_steady one = find(x, 1);
    CHECK_INT(one.answer, YS_STEADY_TOO_SHORT);
    CHECK_INT(one.from, 0);
    CHECK(isnan(one.left));
}

static void a_nan_is_never_steady(void)
{
    double x[40];
    for (int i = 0; i < 40; i++)
        x[i] = i == 3 ? NAN : 1;
    struct ys_steady steady = find(x, 40);
    CHECK_INT(steady.answer, YS_STEADY_NEVER);
    CHECK(isnan(steady.left));
}

static void thousands_of_blocks_are_joined_and_still_cut_near_the_place(void)
{
    enum { N = 5003, SLOW = 777 };
    static double x[N];
    for (int i = 0; i < N; i++)
        x[i] = i < SLOW ? 0.03 : 0.01 + 1e-6 * (i % 11);
    struct ys_steady steady = find(x, N);
    CHECK_INT(steady.answer, YS_STEADY_FOUND);
    /* Points of 26 blocks: the cut comes after the slow part, by less than two points. */
    CHECK(steady.from >= SLOW && steady.from < SLOW + 52);
}

static void one_slow_block_later_on_drops_nothing(void)
{
    double x[40];
    for (int i = 0; i < 40; i++)
        x[i] = i == 25 ? 0.5 : 0.01 + 1e-5 * (i % 3);
    CHECK_INT(find(x, 40).from, 0);
}

/* What was steady to a test of trend: slower by half from a quarter to three quarters, and slower from half way on. */
static void a_change_in_the_middle_is_never_steady(void)
{
    struct ys_rng rng;
    int never = 0;
    printf("# seed 10\n");
    ys_rng_init(&rng, 10, "middle");
    for (int trial = 0; trial < 200; trial++) {
        double x[60];
        for (int i = 0; i < 60; i++) {
            double slow = trial % 2 ? (i >= 15 && i < 45 ? 1.5 : 1) : (i >= 30 ? 1.1 : 1);
            x[i] = 0.01 * slow * (1 + 0.02 * ys_rng_normal(&rng));
        }
        never += find(x, 60).answer == YS_STEADY_NEVER;
    }
    CHECK(never >= 198);
}

/* A speed that goes on approaching its plateau passes for steady in noise, so the estimate of what is left must hold:
 * on the average over runs it is at least what is really left, for time constants up to half of the run. */
static void what_is_left_of_a_slow_approach_is_not_underestimated(void)
{
    struct ys_rng rng;
    printf("# seed 11\n");
    ys_rng_init(&rng, 11, "approach");
    for (int tau = 5; tau <= 30; tau += 5) {
        double estimated = 0, real = 0;
        for (int trial = 0; trial < 400; trial++) {
            double x[60], sum = 0;
            for (int i = 0; i < 60; i++)
                x[i] = 0.01 * (1 + 0.1 * exp(-(double)i / tau)) * (1 + 0.05 * ys_rng_normal(&rng));
            struct ys_steady steady = find(x, 60);
            for (size_t i = steady.from; i < 60; i++)
                sum += 0.1 * exp(-(double)i / tau);
            estimated += steady.left / 400;
            real += sum / (double)(60 - steady.from) / 400;
        }
        printf("# time constant %d blocks: left %.4f, estimated %.4f\n", tau, real, estimated);
        CHECK(estimated > 0.9 * real); /* a mean of 400 with a deviation of 0.02: within 0.001 */
    }
}

TAP_MAIN(TAP_CASE(constant_times_are_steady_from_the_start), TAP_CASE(a_warm_up_step_is_cut_off_where_it_ends),
         TAP_CASE(a_fast_start_is_cut_off_too), TAP_CASE(a_warm_up_that_fades_ends_where_little_of_it_is_left),
         TAP_CASE(a_drift_that_goes_on_is_never_steady), TAP_CASE(a_tiny_drift_is_steady_though_significant),
         TAP_CASE(two_modes_at_random_are_steady), TAP_CASE(a_heavy_tail_is_steady),
         TAP_CASE(plain_noise_is_steady_from_the_start), TAP_CASE(fewer_than_thirty_blocks_are_too_few_to_tell),
         TAP_CASE(no_block_and_one_block_are_too_few), TAP_CASE(a_nan_is_never_steady),
         TAP_CASE(thousands_of_blocks_are_joined_and_still_cut_near_the_place),
         TAP_CASE(one_slow_block_later_on_drops_nothing), TAP_CASE(a_change_in_the_middle_is_never_steady),
         TAP_CASE(what_is_left_of_a_slow_approach_is_not_underestimated))
