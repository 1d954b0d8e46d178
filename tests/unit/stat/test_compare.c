#include "stat/compare.h"

#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>

static const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};

static struct ys_comparison ratio(const double *a, const double *b, size_t n, enum ys_better better, double margin)
{
    struct ys_comparison comparison = {0};
    ys_compare_ratio(a, b, n, better, margin, &comparison);
    return comparison;
}

static struct ys_comparison difference(const double *a, const double *b, size_t n, enum ys_better better, double margin)
{
    struct ys_comparison comparison = {0};
    const struct ys_compare_rule rule = {.better = better, .difference = true, .margin = margin, .stretch = 1};
    ys_compare(a, b, n, &rule, &comparison);
    return comparison;
}

static void the_ratio_is_the_centre_of_the_ratios_of_rounds(void)
{
    /* Rounds grow together: the ratio of medians would be 2 too, that of unpaired values anything. */
    double a[] = {2, 4.2, 6, 8, 10, 11.4}, b[] = {1, 2, 3, 4, 5, 6};
    struct ys_comparison found = ratio(a, b, 6, YS_BETTER_HIGHER, 0.02);
    CHECK_NEAR(found.value, 2, 1e-15);
    CHECK_NEAR(found.interval.lo, 1.9, 1e-15); /* a logarithm and back */
    CHECK_NEAR(found.interval.hi, 2.1, 1e-15);
    CHECK_INT(found.verdict, YS_VERDICT_BETTER);
    CHECK(!found.reason);
}

static void a_longer_time_is_worse(void)
{
    double a[] = {1.1, 1.12, 1.11, 1.13, 1.09, 1.1};
    CHECK_INT(ratio(a, ones, 6, YS_BETTER_LOWER, 0.02).verdict, YS_VERDICT_WORSE);
    CHECK_INT(ratio(ones, a, 6, YS_BETTER_LOWER, 0.02).verdict, YS_VERDICT_BETTER);
}

static void swapping_the_trials_swaps_the_verdict_and_nothing_else(void)
{
    static const double scatter[][6] = {{1.01, 0.99, 1.0, 1.015, 0.985, 1.005},
                                        {1.02, 1.021, 1.022, 1.03, 1.025, 1.04},
                                        {0.97, 0.975, 0.96, 0.965, 0.95, 0.97},
                                        {1.01, 1.02, 1.03, 0.99, 1.04, 1.0}};
    static const int swapped[] = {YS_VERDICT_WORSE, YS_VERDICT_BETTER, YS_VERDICT_SAME, YS_VERDICT_UNCLEAR};
    for (int i = 0; i < 4; i++) {
        struct ys_comparison ab = ratio(scatter[i], ones, 6, YS_BETTER_HIGHER, 0.02);
        struct ys_comparison ba = ratio(ones, scatter[i], 6, YS_BETTER_HIGHER, 0.02);
        CHECK_INT(ba.verdict, swapped[ab.verdict]);
        CHECK_NEAR(ab.value * ba.value, 1, 1e-15); /* logarithms change their sign */
        CHECK_NEAR(ab.interval.lo * ba.interval.hi, 1, 1e-15);
    }
}

static void the_margin_is_met_at_its_ends_and_passed_beyond_them(void)
{
    double at[6], past[6];
    for (int i = 0; i < 6; i++) {
        at[i] = 1.25;
        past[i] = 1.25000001;
    }
    CHECK_INT(ratio(at, ones, 6, YS_BETTER_HIGHER, 0.25).verdict, YS_VERDICT_SAME);
    CHECK_INT(ratio(ones, at, 6, YS_BETTER_HIGHER, 0.25).verdict, YS_VERDICT_SAME);
    CHECK_INT(ratio(past, ones, 6, YS_BETTER_HIGHER, 0.25).verdict, YS_VERDICT_BETTER);
    CHECK_INT(ratio(ones, past, 6, YS_BETTER_HIGHER, 0.25).verdict, YS_VERDICT_WORSE);
}

static void an_interval_across_the_margin_is_unclear(void)
{
    double a[] = {1.01, 1.05, 1.06, 1.05, 1.04, 1.05};
    struct ys_comparison found = ratio(a, ones, 6, YS_BETTER_HIGHER, 0.02);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_HAS(found.reason, "differ too much");
}

static void equal_trials_without_scatter_are_the_same_even_at_margin_zero(void)
{
    CHECK_INT(ratio(ones, ones, 6, YS_BETTER_HIGHER, 0).verdict, YS_VERDICT_SAME);
}

static void five_rounds_are_unclear_however_different(void)
{
    double a[] = {9, 9, 9, 9, 9};
    struct ys_comparison found = ratio(a, ones, 5, YS_BETTER_HIGHER, 0.02);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_NEAR(found.value, 9, 1e-14);
    CHECK(!found.interval.known && isnan(found.resolution));
    CHECK_HAS(found.reason, "fewer than 6");
}

static void no_round_is_unclear(void)
{
    struct ys_comparison found = ratio(NULL, NULL, 0, YS_BETTER_HIGHER, 0.02);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK(isnan(found.value));
    CHECK_HAS(found.reason, "no round");
}

static void values_without_a_ratio_are_invalid(void)
{
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        double a[] = {1, 1, 1, 1, 1, bad[i]};
        CHECK_INT(ratio(a, ones, 6, YS_BETTER_HIGHER, 0.02).verdict, YS_VERDICT_INVALID);
        CHECK_INT(ratio(ones, a, 6, YS_BETTER_HIGHER, 0.02).verdict, YS_VERDICT_INVALID);
    }
}

static void a_metric_without_a_better_direction_is_never_better(void)
{
    double a[] = {2, 2, 2, 2, 2, 2};
    struct ys_comparison found = ratio(a, ones, 6, YS_BETTER_NEITHER, 0.02);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_HAS(found.reason, "neither");
    CHECK_INT(ratio(ones, ones, 6, YS_BETTER_NEITHER, 0.02).verdict, YS_VERDICT_SAME);
}

static void accuracies_compare_by_difference(void)
{
    double a[] = {0.98, 0.981, 0.979, 0.982, 0.98, 0.981}, b[] = {0.96, 0.962, 0.961, 0.96, 0.961, 0.963},
           zero[6] = {0};
    struct ys_comparison found = difference(a, b, 6, YS_BETTER_HIGHER, 0.005);
    CHECK_INT(found.verdict, YS_VERDICT_BETTER);
    /* 0.981 - 0.962 and 0.98 - 0.961 are both 0.019, then 0.02: the median is their mean; subtraction rounds below
     * 1e-16. */
    CHECK_NEAR(found.value, 0.019, 1e-15);
    CHECK_INT(difference(b, a, 6, YS_BETTER_HIGHER, 0.005).verdict, YS_VERDICT_WORSE);
    CHECK_INT(difference(zero, zero, 6, YS_BETTER_HIGHER, 0.005).verdict, YS_VERDICT_SAME);
    CHECK_INT(difference((double[]){NAN, 1, 1, 1, 1, 1}, ones, 6, YS_BETTER_HIGHER, 0.005).verdict, YS_VERDICT_INVALID);
}

static void an_interval_of_a_family_is_stretched_and_the_single_one_kept(void)
{
    double a[] = {1.02, 1.03, 1.04, 1.05, 1.06, 1.07};
    struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .stretch = 1};
    struct ys_comparison alone, together;
    ys_compare(a, ones, 6, &rule, &alone);
    rule.stretch = 2.5;
    ys_compare(a, ones, 6, &rule, &together);
    CHECK_INT(alone.verdict, YS_VERDICT_BETTER);
    CHECK_INT(together.verdict, YS_VERDICT_UNCLEAR);
    CHECK(together.single.lo == alone.interval.lo && together.single.hi == alone.interval.hi);
    CHECK(together.value == alone.value);
    CHECK_NEAR(log(together.value / together.interval.lo), 2.5 * log(alone.value / alone.interval.lo), 1e-12);
    CHECK_NEAR(together.interval.level, 0.95, 0);
    rule.stretch = INFINITY;
    ys_compare(a, ones, 6, &rule, &together);
    CHECK(!together.interval.known && together.single.known && isnan(together.resolution));
    CHECK_HAS(together.reason, "too equal");
}

/* Eight rounds, a 3 % faster, of which what is left of b's warm-up may be 4 %: then nothing is clear unless the
 * difference is larger than margin and estimate together. What is left of a's warm-up takes nothing from it. */
static void what_is_left_of_warm_up_makes_a_verdict_unclear(void)
{
    double a[8], bias[8];
    for (int i = 0; i < 8; i++) {
        a[i] = 1.03 + 0.001 * i;
        bias[i] = -0.04 - 0.001 * (i % 3);
    }
    struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = 1, .bias = bias};
    struct ys_comparison found;
    ys_compare(a, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_HAS(found.reason, "warming up");
    CHECK(found.bias_bound >= 0.04 && found.bias_bound <= 0.042);
    CHECK(found.settled.known && found.settled.lo > 0.985 && found.settled.hi < 1); /* 1.03 exp(-0.04), and so on */
    ys_compare(ones, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    for (int i = 0; i < 8; i++)
        a[i] *= 1.05;
    ys_compare(a, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_BETTER);
    for (int i = 0; i < 8; i++)
        bias[i] /= 4;
    ys_compare(ones, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_SAME);
    rule.margin = 0; /* then none of it is let pass: 3 % are no verdict where 4 % may be left, 8 % are */
    for (int i = 0; i < 8; i++)
        bias[i] *= 4;
    for (int i = 0; i < 8; i++)
        a[i] = 1.03 + 0.001 * i;
    ys_compare(a, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_HAS(found.reason, "warming up");
    for (int i = 0; i < 8; i++)
        bias[i] *= -1; /* a's own warm-up: gone, a would be faster still */
    ys_compare(a, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_BETTER);
    for (int i = 0; i < 8; i++) {
        a[i] *= 1.05;
        bias[i] *= -1;
    }
    ys_compare(a, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_BETTER);
    for (int i = 0; i < 8; i++)
        bias[i] /= 4;
    rule.margin = 0.005; /* 1 % may be left of it, so that no more than half a per cent differs is not shown */
    ys_compare(ones, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    rule.margin = 0.02;
    rule.bias = NULL;
    rule.bias_untold = true; /* however far the two are apart, and however equal */
    ys_compare(a, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_HAS(found.reason, "fewer than 30 blocks");
    CHECK(isnan(found.bias_bound) && found.interval.known);
    ys_compare(ones, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
}

/* Eight rounds, a 6 % slower by an interval that lies far outside the margin, of which 5 % may be what is left of a's
 * warm-up: the bound of the bias is above the margin, and without it the interval would say something else. */
static void a_bound_of_bias_above_the_margin_makes_worse_unclear(void)
{
    double a[8], bias[8];
    for (int i = 0; i < 8; i++) {
        a[i] = 0.94 + 0.001 * i;
        bias[i] = 0.05 + 0.001 * (i % 3);
    }
    struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = 1};
    struct ys_comparison found;
    ys_compare(a, ones, 8, &rule, &found);
    CHECK_INT(found.verdict, YS_VERDICT_WORSE);
    rule.bias = bias;
    ys_compare(a, ones, 8, &rule, &found);
    CHECK(found.interval.hi < 1 / 1.02 && found.bias_bound > log(1.02));
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK_HAS(found.reason, "warming up");
}

/* A sequence that wanders, 0.8 of each value in the next; and one that does not. */
static void correlated_rounds_are_told_from_twelve_on(void)
{
    struct ys_rng rng;
    int wander = 0, plain = 0;
    printf("# seed 20261122\n");
    ys_rng_init(&rng, 20261122, "rounds");
    for (int s = 0; s < 1000; s++) {
        double a[30], b[30], b_one[30], state = ys_rng_normal(&rng) / 0.6;
        struct ys_comparison found;
        for (int i = 0; i < 30; i++) {
            state = 0.8 * state + ys_rng_normal(&rng);
            a[i] = exp(0.01 * state);
            b[i] = exp(0.01 * ys_rng_normal(&rng));
            b_one[i] = 1;
        }
        found = ratio(a, b_one, 30, YS_BETTER_HIGHER, 0.02);
        wander += found.correlated;
        found = ratio(b, b_one, 30, YS_BETTER_HIGHER, 0.02);
        plain += found.correlated;
        found = ratio(a, b_one, 11, YS_BETTER_HIGHER, 0.02);
        CHECK(!found.correlated && isnan(found.correlation));
    }
    printf("# said of %d of 1000 that wander and %d that do not\n", wander, plain);
    CHECK(wander > 900);
    CHECK(plain <= 10 + 4 * 3.15); /* 1 of 100: standard deviation sqrt(1000 * 0.01 * 0.99) */
}

struct counts {
    int better, worse, same, unclear;
};

/* `studies` comparisons of n rounds, each value exp(sd * normal), a's times `effect`. */
static struct counts simulate(const char *name, int studies, int n, double sd, double effect, double margin)
{
    struct ys_rng rng;
    struct counts counts = {0};
    printf("# seed 20261121, stream %s\n", name);
    ys_rng_init(&rng, 20261121, name);
    for (int s = 0; s < studies; s++) {
        double a[32], b[32];
        for (int i = 0; i < n; i++) {
            a[i] = effect * exp(sd * ys_rng_normal(&rng));
            b[i] = exp(sd * ys_rng_normal(&rng));
        }
        struct ys_comparison found;
        ys_compare_ratio(a, b, (size_t)n, YS_BETTER_HIGHER, margin, &found);
        counts.better += found.verdict == YS_VERDICT_BETTER;
        counts.worse += found.verdict == YS_VERDICT_WORSE;
        counts.same += found.verdict == YS_VERDICT_SAME;
        counts.unclear += found.verdict == YS_VERDICT_UNCLEAR;
    }
    printf("# better %d, worse %d, same %d, unclear %d\n", counts.better, counts.worse, counts.same, counts.unclear);
    return counts;
}

/* With margin 0 an A/A study errs exactly when all six ratios lie on one side of 1: 2 / 64. Of 8000 that is 250,
 * standard deviation sqrt(8000 * 0.03125 * 0.96875) = 15.6; four of those are allowed. Both directions alike: 125
 * with 11.1. */
static void without_a_margin_a_a_studies_err_as_often_as_the_level_says(void)
{
    struct counts counts = simulate("aa-margin-0", 8000, 6, 0.03, 1, 0);
    CHECK_NEAR(counts.better + counts.worse, 250, 63);
    CHECK_NEAR(counts.better, 125, 45);
}

/* A ratio of two values has a standard deviation of 0.03 * sqrt(2) = 0.0424 in logarithms; it passes log(1.02) = 0.0198
 * with probability 0.320, all six with 0.320^6 = 0.0011 a side: 17 of 8000 on both, standard deviation 4.2. */
static void with_the_margin_of_two_percent_a_a_studies_hardly_ever_err(void)
{
    struct counts counts = simulate("aa-margin-2", 8000, 6, 0.03, 1, 0.02);
    CHECK(counts.better + counts.worse <= 17 + 4 * 4.2);
}

/* 10 % faster, values scattered by 2 %: a ratio's logarithm has mean 0.0953 and deviation 0.0283, so one passes
 * log(1.02) with probability Phi(2.67) = 0.9962 and all six with 0.977. Of 2000 that is 1955, standard deviation 6.7.
 */
static void a_tenth_is_found_nearly_always_with_six_rounds(void)
{
    struct counts counts = simulate("power", 2000, 6, 0.02, 1.1, 0.02);
    CHECK_NEAR(counts.better, 1955, 4 * 6.7);
    CHECK_INT(counts.worse, 0);
}

/* Twice as much scatter as margin: nothing can be shown, and nothing is. Below 5 % of false certainty either way. */
static void too_much_scatter_is_mostly_unclear(void)
{
    struct counts counts = simulate("noise", 2000, 8, 0.2, 1, 0.02);
    CHECK(counts.unclear > 0.95 * 2000);
}

/* INFINITY is longer than any value: what falls on it is it, and the signs of signed ranks are those of any such value.
 */
static void an_endless_round_is_longer_than_any(void)
{
    const struct ys_compare_rule rule = {.better = YS_BETTER_LOWER, .margin = 0.02, .stretch = 1, .endless = true};
    const double none[] = {0.5, 0.51, 0.49, 0.5, 0.52, 0.5, 0.5, 0.5}, b[] = {1, 1, 1, 1, 1, 1, 1, 1};
    double a[8], down[8] = {0}, up[8] = {0};
    struct ys_comparison found, swapped;
    /* The statistic of n lost of 8, whose ranks are the highest, is 36 less the sum of 1 to 8 - n; 3 of 36 are 5 %. */
    static const enum ys_verdict verdicts[] = {YS_VERDICT_BETTER,  YS_VERDICT_UNCLEAR, YS_VERDICT_UNCLEAR,
                                               YS_VERDICT_UNCLEAR, YS_VERDICT_UNCLEAR, YS_VERDICT_UNCLEAR,
                                               YS_VERDICT_WORSE,   YS_VERDICT_WORSE,   YS_VERDICT_WORSE};
    for (size_t lost = 0; lost <= 8; lost++) {
        for (size_t i = 0; i < 8; i++)
            a[i] = i < lost ? INFINITY : none[i];
        ys_compare(a, b, 8, &rule, &found);
        ys_compare(b, a, 8, &rule, &swapped);
        tap_check(found.verdict == verdicts[lost], __LINE__, "%zu lost: %s", lost,
                  ys_name_of(&ys_verdicts, (int)found.verdict));
        CHECK(isinf(found.value) == (lost >= 3)); /* then more than half of the averages have one */
        CHECK((lost >= 3) == (swapped.value == 0));
        CHECK_INT(found.n, 8);
    }
    a[0] = 0.5;
    struct ys_compare_rule open = rule;
    open.down = down;
    open.up = up;
    for (size_t i = 0; i < 8; i++)
        down[i] = up[i] = YS_COMPARE_BEYOND; /* both of a round: nobody knows which is the longer */
    ys_compare(a, a, 8, &open, &found);
    CHECK_INT(found.verdict, YS_VERDICT_UNCLEAR);
    CHECK(found.interval.lo == 0 && isinf(found.interval.hi));
    ys_compare_ratio(a, b, 8, YS_BETTER_LOWER, 0.02, &found); /* of a metric that has an end it is no value */
    CHECK_INT(found.verdict, YS_VERDICT_INVALID);
}

static void names_are_the_words_of_results(void)
{
    CHECK_TEXT(ys_name_of(&ys_verdicts, (int)YS_VERDICT_UNCLEAR), "unclear");
    CHECK_TEXT(ys_name_of(&ys_verdicts, (int)YS_VERDICT_INVALID), "invalid");
    CHECK_TEXT(ys_name_of(&ys_betters, (int)YS_BETTER_LOWER), "lower");
}

TAP_MAIN(TAP_CASE(the_ratio_is_the_centre_of_the_ratios_of_rounds), TAP_CASE(a_longer_time_is_worse),
         TAP_CASE(swapping_the_trials_swaps_the_verdict_and_nothing_else),
         TAP_CASE(the_margin_is_met_at_its_ends_and_passed_beyond_them),
         TAP_CASE(an_interval_across_the_margin_is_unclear),
         TAP_CASE(equal_trials_without_scatter_are_the_same_even_at_margin_zero),
         TAP_CASE(five_rounds_are_unclear_however_different), TAP_CASE(no_round_is_unclear),
         TAP_CASE(values_without_a_ratio_are_invalid), TAP_CASE(a_metric_without_a_better_direction_is_never_better),
         TAP_CASE(accuracies_compare_by_difference),
         TAP_CASE(an_interval_of_a_family_is_stretched_and_the_single_one_kept),
         TAP_CASE(what_is_left_of_warm_up_makes_a_verdict_unclear),
         TAP_CASE(a_bound_of_bias_above_the_margin_makes_worse_unclear),
         TAP_CASE(correlated_rounds_are_told_from_twelve_on),
         TAP_CASE(without_a_margin_a_a_studies_err_as_often_as_the_level_says),
         TAP_CASE(with_the_margin_of_two_percent_a_a_studies_hardly_ever_err),
         TAP_CASE(a_tenth_is_found_nearly_always_with_six_rounds), TAP_CASE(too_much_scatter_is_mostly_unclear),
         TAP_CASE(an_endless_round_is_longer_than_any), TAP_CASE(names_are_the_words_of_results))
