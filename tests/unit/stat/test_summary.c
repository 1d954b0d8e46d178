#include "stat/summary.h"

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>

static struct ys_summary of(const double *values, size_t n)
{
    return ys_stat_summarize(values, n);
}

static void median_of_an_odd_count_is_the_middle_value(void)
{
    CHECK(of((double[]){9, 1, 5}, 3).median == 5);
}

static void median_of_an_even_count_is_the_mean_of_the_two_middle_values(void)
{
    CHECK(of((double[]){4, 1, 3, 100}, 4).median == 3.5);
}

static void quantiles_lie_between_order_statistics(void)
{
    struct ys_summary summary = of((double[]){5, 1, 2, 4, 3}, 5);
    CHECK(summary.min == 1 && summary.q1 == 2 && summary.q3 == 4 && summary.max == 5);
    static const double sorted[] = {0, 10};
    CHECK_NEAR(ys_stat_quantile(sorted, 2, 0.3), 3, 1e-14); /* two roundings of numbers below 10 */
    CHECK(ys_stat_quantile(sorted, 2, 1) == 10);
    CHECK(isnan(ys_stat_quantile(sorted, 0, 0.5)));
}

static void the_input_is_left_in_its_order(void)
{
    double values[] = {3, 1, 2};
    of(values, 3);
    CHECK(values[0] == 3 && values[1] == 1 && values[2] == 2);
}

static void one_value_is_its_own_median_and_has_no_interval(void)
{
    struct ys_summary summary = of((double[]){7}, 1);
    CHECK(summary.median == 7 && summary.q1 == 7 && summary.max == 7);
    CHECK(!summary.interval.known && isnan(summary.interval.level));
}

static void no_values_have_no_median(void)
{
    struct ys_summary summary = of(NULL, 0);
    CHECK(summary.n == 0 && isnan(summary.median) && !summary.interval.known);
}

static void five_values_have_no_interval_and_six_have_their_range(void)
{
    static const double values[] = {6, 2, 4, 1, 3, 5};
    CHECK(!of(values, 5).interval.known);
    struct ys_summary six = of(values, 6);
    CHECK(six.interval.known && six.interval.lo == 1 && six.interval.hi == 6);
    CHECK_NEAR(six.interval.level, 1 - 2.0 / 64, 1e-15); /* both tails 2^-6; exp and log round once each */
}

/* P(B < rank) for B binomial(n, 1/2), from Pascal's triangle in integers. */
static double exact_level(int n, int rank)
{
    uint64_t row[64] = {1};
    for (int i = 1; i <= n; i++) {
        for (int k = i; k > 0; k--)
            row[k] += row[k - 1];
    }
    uint64_t tail = 0;
    for (int k = 0; k < rank; k++)
        tail += row[k];
    return 1 - 2 * ldexp((double)tail, -n);
}

static void the_level_is_the_binomial_one_and_the_interval_the_narrowest(void)
{
    for (int n = 6; n <= 60; n++) {
        double level;
        int rank = (int)ys_stat_median_rank((size_t)n, &level);
        /* A sum of at most 60 terms, each with relative error below 1e-14. */
        CHECK_NEAR(level, exact_level(n, rank), 1e-12);
        CHECK(level >= 0.95);
        CHECK(exact_level(n, rank + 1) < 0.95);
    }
}

static void large_counts_get_ranks_near_the_normal_approximation(void)
{
    double level;
    size_t n = 100000, rank = ys_stat_median_rank(n, &level);
    /* n/2 - 1.96 sqrt(n)/2 = 49690.1; the continuity correction moves it by at most one. */
    CHECK_NEAR((double)rank, 49690.1, 1.5);
    CHECK(level >= 0.95 && level < 0.951);
}

static void a_nan_makes_every_figure_nan(void)
{
    struct ys_summary summary = of((double[]){1, 2, NAN, 4, 5, 6, 7}, 7);
    CHECK(isnan(summary.median) && isnan(summary.min) && isnan(summary.max) && !summary.interval.known);
    CHECK_INT(summary.n, 7);
}

static void infinities_are_ordered_as_numbers(void)
{
    struct ys_summary summary = of((double[]){INFINITY, 1, 2, INFINITY, 3, INFINITY, -INFINITY}, 7);
    CHECK(summary.median == 3 && summary.min == -INFINITY && summary.max == INFINITY);
}

static void a_heavy_tail_moves_the_median_not_at_all(void)
{
    CHECK(of((double[]){1, 1, 1, 1, 1e9, 1e12, 1}, 7).median == 1);
}

static void equal_values_have_an_interval_of_width_zero(void)
{
    struct ys_summary summary = of((double[]){0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 8);
    CHECK(summary.median == 0.1 && summary.q1 == 0.1 && summary.interval.lo == 0.1 && summary.interval.hi == 0.1);
}

/* How often the interval of n = 9 (level 0.9609) misses the true median, by simulation: 0.0391 of 20000 is 782 with a
 * standard deviation of 27; four of those are allowed. */
static void the_interval_covers_the_median_as_often_as_it_says(void)
{
    struct ys_rng rng;
    int missed = 0;
    printf("# seed 3\n");
    ys_rng_init(&rng, 3, "coverage");
    for (int trial = 0; trial < 20000; trial++) {
        double values[9];
        for (int i = 0; i < 9; i++)
            values[i] = -log(ys_rng_uniform(&rng)); /* exponential: skewed, median log 2 */
        const struct ys_summary summary = ys_stat_summarize(values, 9);
        missed += log(2.0) < summary.interval.lo || log(2.0) > summary.interval.hi;
    }
    CHECK_NEAR(missed, 781.25, 4 * 27.4);
}

TAP_MAIN(TAP_CASE(median_of_an_odd_count_is_the_middle_value),
         TAP_CASE(median_of_an_even_count_is_the_mean_of_the_two_middle_values),
         TAP_CASE(quantiles_lie_between_order_statistics), TAP_CASE(the_input_is_left_in_its_order),
         TAP_CASE(one_value_is_its_own_median_and_has_no_interval), TAP_CASE(no_values_have_no_median),
         TAP_CASE(five_values_have_no_interval_and_six_have_their_range),
         TAP_CASE(the_level_is_the_binomial_one_and_the_interval_the_narrowest),
         TAP_CASE(large_counts_get_ranks_near_the_normal_approximation), TAP_CASE(a_nan_makes_every_figure_nan),
         TAP_CASE(infinities_are_ordered_as_numbers), TAP_CASE(a_heavy_tail_moves_the_median_not_at_all),
         TAP_CASE(equal_values_have_an_interval_of_width_zero),
         TAP_CASE(the_interval_covers_the_median_as_often_as_it_says))
