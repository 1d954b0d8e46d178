#include "stat/signed_rank.h"

#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>

/* By the definition: all Walsh averages, sorted. */
static struct ys_centre naive(const double *x, size_t n)
{
    static double averages[100 * 101 / 2];
    size_t count = 0;
    double level;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++)
            averages[count++] = (x[i] + x[j]) / 2;
    }
    ys_stat_sort(averages, count);
    size_t rank = ys_signed_rank(n, YS_STAT_LEVEL, &level);
    return (struct ys_centre){ys_stat_quantile(averages, count, 0.5),
                              {rank > 0, averages[rank - 1], averages[count - rank], level}};
}

/* Hollander and Wolfe, table A.4: P(V <= 0) = 1/64 for n = 6, P(V <= 2) = 3/128 for 7, P(V <= 3) = 5/256 for 8, P(V <=
 * 5) = 10/512 for 9, P(V <= 8) = 25/1024 for 10, P(V <= 52) = 0.0242 for 20. */
static void ranks_and_levels_are_those_of_the_tables(void)
{
    static const struct {
        size_t n, rank;
        double level;
    } cases[] = {{6, 1, 1 - 2 / 64.0},   {7, 3, 1 - 6 / 128.0},    {8, 4, 1 - 10 / 256.0},
                 {9, 6, 1 - 20 / 512.0}, {10, 9, 1 - 50 / 1024.0}, {20, 53, 1 - 2 * 0.0242}};
    double level;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_INT(ys_signed_rank(cases[i].n, YS_STAT_LEVEL, &level), cases[i].rank);
        CHECK_NEAR(level, cases[i].level, cases[i].n < 20 ? 1e-15 : 1e-4);
    }
    CHECK_INT(ys_signed_rank(5, YS_STAT_LEVEL, &level), 0);
    CHECK(isnan(level));
}

static void beyond_the_exact_ones_levels_go_on(void)
{
    for (size_t n = YS_SIGNED_RANK_EXACT - 1; n < 2000; n++) {
        double level;
        size_t rank = ys_signed_rank(n, YS_STAT_LEVEL, &level);
        CHECK(rank > 0 && level >= 0.95 && level < 0.953);
    }
}

static void interval_and_centre_are_walsh_averages(void)
{
    struct ys_rng rng;
    printf("# seed 1\n");
    ys_rng_init(&rng, 1, "walsh");
    for (size_t n = 6; n <= 100; n += n < 20 ? 1 : 7) {
        double x[100];
        struct ys_centre found;
        for (size_t i = 0; i < n; i++) /* with ties */
            x[i] = n % 2 ? ys_rng_normal(&rng) : (double)ys_rng_below(&rng, 9) - 4;
        struct ys_centre expected = naive(x, n);
        ys_signed_rank_centre(x, n, YS_STAT_LEVEL, &found);
        CHECK(found.value == expected.value);
        CHECK(found.interval.known && found.interval.lo == expected.interval.lo &&
              found.interval.hi == expected.interval.hi);
    }
}

static void few_values_have_a_centre_and_no_interval(void)
{
    struct ys_centre centre;
    ys_signed_rank_centre((double[]){1, 2, 9}, 3, YS_STAT_LEVEL, &centre);
    CHECK(centre.value == 3.5 && !centre.interval.known); /* 1, 1.5, 2, 5, 5.5, 9: halfway between 2 and 5 */
    ys_signed_rank_centre(NULL, 0, YS_STAT_LEVEL, &centre);
    CHECK(isnan(centre.value) && !centre.interval.known);
}

/* The sum over ranks of |x|, ties sharing theirs, of the positive ones. */
static double statistic(const double *values, const bool *positive, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double rank = 0.5;
        for (size_t k = 0; k < n; k++)
            rank += (fabs(values[k]) < fabs(values[i])) + 0.5 * (fabs(values[k]) == fabs(values[i]));
        sum += positive[i] ? rank : 0;
    }
    return sum;
}

/* By going through all signs. */
static double counted_p(const double *values, size_t n)
{
    bool signs[16], own[16];
    size_t as_far = 0;
    const double middle = (double)n * ((double)n + 1) / 4;
    for (size_t i = 0; i < n; i++)
        own[i] = values[i] > 0;
    const double far = fabs(statistic(values, own, n) - middle);
    for (size_t all = 0; all < (size_t)1 << n; all++) {
        for (size_t i = 0; i < n; i++)
            signs[i] = all >> i & 1;
        as_far += fabs(statistic(values, signs, n) - middle) >= far - 1e-9;
    }
    return (double)as_far / (double)((size_t)1 << n);
}

static void a_p_is_that_of_all_signs(void)
{
    static const double cases[][10] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                                       {-1, 2, -3, 4, 5, 6, -7, 8, 9, 10},
                                       {1, 1, 1, -1, 2, 2, -2, 3, 3, 3},
                                       {-5, -5, -5, -5, -5, -5, -5, -5, -5, -5},
                                       {1, -1, 2, -2, 3, -3, 4, -4, 5, -5}};
    double p, many[100];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        p = ys_signed_rank_p(cases[i], 10);
        CHECK(fabs(p - counted_p(cases[i], 10)) < 1e-12);
    }
    p = ys_signed_rank_p(cases[0], 0);
    CHECK(p == 1);
    p = ys_signed_rank_p((const double[]){0, 0, 3}, 3);
    CHECK(p == 1);
    p = ys_signed_rank_p(cases[0], 6);
    CHECK(fabs(p - 2.0 / 64) < 1e-15);
    /* Beyond the exact ones: alternating signs are no evidence, one sign of a hundred is much. */
    for (size_t i = 0; i < 100; i++)
        many[i] = (i % 2 ? -1.0 : 1.0) * (double)(i / 2 + 1);
    p = ys_signed_rank_p(many, 100);
    CHECK(p > 0.9);
    for (size_t i = 0; i < 100; i++)
        many[i] = (double)(i + 1);
    p = ys_signed_rank_p(many, 100);
    CHECK(p < 1e-9);
}

TAP_MAIN(TAP_CASE(a_p_is_that_of_all_signs), TAP_CASE(ranks_and_levels_are_those_of_the_tables),
         TAP_CASE(beyond_the_exact_ones_levels_go_on), TAP_CASE(interval_and_centre_are_walsh_averages),
         TAP_CASE(few_values_have_a_centre_and_no_interval))
