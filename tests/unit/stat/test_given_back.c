/* What the machine took from rounds of a comparison: a verdict stands with it and without. */
#include "stat/compare.h"

#include "base/rng.h"
#include "tap.h"

#include <math.h>

enum { ROUNDS = 9 };
static const double ones[ROUNDS] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static const double nothing[ROUNDS];
/* Within 1 % of 1, on both sides. */
static const double scatter[ROUNDS] = {1.002, 0.995, 1.004, 0.997, 1.0, 1.006, 0.993, 1.001, 0.999};

/* Speeds a against 1, at a margin of 2 %. */
static struct ys_comparison speeds(const double *a, const double *down, const double *up, size_t n)
{
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = 1, .down = down, .up = up};
    struct ys_comparison found = {0};
    ys_compare(a, ones, n, &rule, &found);
    return found;
}

static void scaled(double by, double *a)
{
    for (size_t i = 0; i < ROUNDS; i++)
        a[i] = by * scatter[i];
}

static void nothing_taken_changes_nothing(void)
{
    const struct ys_comparison without = speeds(scatter, NULL, NULL, ROUNDS),
                               with = speeds(scatter, nothing, nothing, ROUNDS);
    CHECK_NEAR(with.interval.lo, without.interval.lo, 0);
    CHECK_NEAR(with.interval.hi, without.interval.hi, 0);
    CHECK_INT(with.verdict, YS_VERDICT_SAME);
    CHECK_INT(with.left_out, 0);
}

static void what_was_taken_widens_the_interval_to_its_side_alone(void)
{
    double up[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++)
        up[i] = log(1.1);
    const struct ys_comparison without = speeds(scatter, NULL, NULL, ROUNDS),
                               with = speeds(scatter, nothing, up, ROUNDS);
    CHECK_NEAR(with.interval.lo, without.interval.lo, 0);
    CHECK_NEAR(with.interval.hi, without.interval.hi * 1.1, 1e-15);
    CHECK_NEAR(with.value, without.value, 0);
    CHECK_INT(with.n, ROUNDS);
    CHECK_INT(with.verdict, YS_VERDICT_UNCLEAR); /* from 0.99 to 1.11 */
    const struct ys_comparison other = speeds(scatter, up, nothing, ROUNDS);
    CHECK_NEAR(other.interval.lo, without.interval.lo / 1.1, 1e-15);
    CHECK_NEAR(other.interval.hi, without.interval.hi, 0);
}

static void a_difference_beyond_what_was_taken_is_found(void)
{
    double a[ROUNDS], down[ROUNDS];
    scaled(1.4, a);
    for (size_t i = 0; i < ROUNDS; i++)
        down[i] = i % 3 == 0 ? log(1.06) : 0;
    CHECK_INT(speeds(a, down, nothing, ROUNDS).verdict, YS_VERDICT_BETTER);
}

/* Whatever part was really taken from each round: the ends of the interval rise with each value. */
static void the_interval_holds_that_of_any_part(void)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 20261128, "given_back");
    for (int trial = 0; trial < 200; trial++) {
        double a[ROUNDS], truth[ROUNDS], down[ROUNDS], up[ROUNDS];
        for (size_t i = 0; i < ROUNDS; i++) {
            a[i] = exp(0.1 * ys_rng_uniform(&rng));
            down[i] = 0.1 * ys_rng_uniform(&rng);
            up[i] = 0.1 * ys_rng_uniform(&rng);
            truth[i] = a[i] * exp(ys_rng_uniform(&rng) * up[i] - ys_rng_uniform(&rng) * down[i]);
        }
        const struct ys_comparison found = speeds(a, down, up, ROUNDS), of_truth = speeds(truth, NULL, NULL, ROUNDS);
        CHECK(found.interval.lo <= of_truth.interval.lo && of_truth.interval.hi <= found.interval.hi);
    }
}

static void a_round_of_which_nobody_knows_what_was_taken_counts_for_no_interval(void)
{
    double a[ROUNDS], up[ROUNDS] = {0};
    scaled(1.4, a);
    const struct ys_comparison all = speeds(a, nothing, up, ROUNDS);
    a[4] = 0.7;
    up[4] = INFINITY;
    const struct ys_comparison found = speeds(a, nothing, up, ROUNDS);
    CHECK_INT(found.n, ROUNDS - 1);
    CHECK_INT(found.left_out, 1);
    CHECK(found.interval.lo > 1.38 && found.interval.hi < 1.42);
    CHECK_INT(all.verdict, YS_VERDICT_BETTER);
}

static void more_than_a_third_left_out_is_unclear_however_far_the_rest_lies(void)
{
    double a[ROUNDS], down[ROUNDS] = {INFINITY, INFINITY, INFINITY, 0};
    scaled(2, a);
    CHECK_INT(speeds(a, down, nothing, ROUNDS).verdict, YS_VERDICT_BETTER); /* a third, and 6 are left */
    down[3] = INFINITY;
    const struct ys_comparison found = speeds(a, down, nothing, ROUNDS);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_TEXT(found.reason, YS_COMPARE_MOST_OUT);
}

static void fewer_than_six_left_is_unclear_with_that_reason(void)
{
    double a[ROUNDS], down[ROUNDS] = {INFINITY, 0};
    scaled(2, a);
    const struct ys_comparison found = speeds(a, down, nothing, 6);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_TEXT(found.reason, YS_COMPARE_FEW_LEFT);
}

/* It is a tenth slower, has three slow rounds that alone show it, and looks disturbed in just those. */
static void one_that_is_disturbed_when_it_is_slow_gains_nothing(void)
{
    double a[ROUNDS], up[ROUNDS] = {0};
    scaled(1.03, a);
    for (size_t i = 0; i < 3; i++) {
        a[2 * i] = 0.8;
        up[2 * i] = INFINITY;
    }
    const struct ys_comparison found = speeds(a, nothing, up, ROUNDS);
    CHECK(found.interval.lo > 1.02); /* what is left would say that it is faster */
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_TEXT(found.reason, YS_COMPARE_HANGS);
}

/* The three rounds were run again, and went as the others do. */
static void one_that_is_disturbed_when_it_is_slow_does_not_draw_again(void)
{
    enum { RUN = ROUNDS + 3 };
    double a[RUN], b[RUN], up[RUN] = {0}, down[RUN] = {0};
    struct ys_compare_rule rule = {
        .better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = 1, .down = down, .up = up, .again = 3};
    struct ys_comparison found = {0};
    scaled(1.03, a);
    for (size_t i = 0; i < RUN; i++) {
        b[i] = 1;
        a[i] = i < ROUNDS ? a[i] : 0.8;
        up[i] = i < ROUNDS ? 0 : INFINITY;
    }
    ys_compare(a, b, RUN, &rule, &found);
    CHECK_INT(found.n, ROUNDS);
    CHECK_INT(found.left_out, 0);
    CHECK(found.interval.lo > 1.02);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_TEXT(found.reason, YS_COMPARE_HANGS);
    for (size_t i = ROUNDS; i < RUN; i++)
        a[i] = 1.03;
    ys_compare(a, b, RUN, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_BETTER);
}

/* Two that are equal, and in three rounds the other lost a third of its speed. */
static void one_that_disturbs_its_rival_gains_nothing(void)
{
    double a[ROUNDS], down[ROUNDS] = {0};
    scaled(1, a);
    for (size_t i = 0; i < 3; i++) {
        a[2 * i] = 1.5;
        down[2 * i] = INFINITY;
    }
    CHECK(speeds(a, down, nothing, ROUNDS).verdict != YS_VERDICT_BETTER);
}

static void swapping_the_trials_swaps_the_verdict(void)
{
    double a[ROUNDS], inverse[ROUNDS], down[ROUNDS] = {0, 0.02, INFINITY, 0.01}, up[ROUNDS] = {0.03};
    scaled(1.2, a);
    for (size_t i = 0; i < ROUNDS; i++)
        inverse[i] = 1 / a[i];
    const struct ys_comparison ab = speeds(a, down, up, ROUNDS), ba = speeds(inverse, up, down, ROUNDS);
    CHECK_INT(ab.verdict, YS_VERDICT_BETTER);
    CHECK_INT(ba.verdict, YS_VERDICT_WORSE);
    CHECK_NEAR(ab.interval.lo * ba.interval.hi, 1, 1e-14);
    CHECK_NEAR(ab.interval.hi * ba.interval.lo, 1, 1e-14);
}

TAP_MAIN(TAP_CASE(nothing_taken_changes_nothing), TAP_CASE(what_was_taken_widens_the_interval_to_its_side_alone),
         TAP_CASE(a_difference_beyond_what_was_taken_is_found), TAP_CASE(the_interval_holds_that_of_any_part),
         TAP_CASE(a_round_of_which_nobody_knows_what_was_taken_counts_for_no_interval),
         TAP_CASE(more_than_a_third_left_out_is_unclear_however_far_the_rest_lies),
         TAP_CASE(fewer_than_six_left_is_unclear_with_that_reason),
         TAP_CASE(one_that_is_disturbed_when_it_is_slow_gains_nothing),
         TAP_CASE(one_that_is_disturbed_when_it_is_slow_does_not_draw_again),
         TAP_CASE(one_that_disturbs_its_rival_gains_nothing), TAP_CASE(swapping_the_trials_swaps_the_verdict))
