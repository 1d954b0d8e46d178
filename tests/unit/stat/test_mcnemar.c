/* McNemar's exact test, Tango's interval and Holm's correction. */
#include "stat/mcnemar.h"

#include "tap.h"

#include <math.h>
#include <stddef.h>

static void few_pairs_have_probabilities_that_are_counted_by_hand(void)
{
    CHECK_NEAR(ys_mcnemar_p(0, 0), 1, 0);
    /* Sums of a few terms, each of which rounds. */
    CHECK_NEAR(ys_mcnemar_p(0, 1), 1, 1e-15);
    CHECK_NEAR(ys_mcnemar_p(5, 0), 2.0 / 32, 1e-15);
    CHECK_NEAR(ys_mcnemar_p(1, 5), 2.0 * (1 + 6) / 64, 1e-15);
    CHECK_NEAR(ys_mcnemar_p(5, 1), 2.0 * (1 + 6) / 64, 1e-15);
    CHECK_NEAR(ys_mcnemar_p(3, 3), 1, 1e-15);
}

static void many_pairs_neither_vanish_nor_overflow(void)
{
    CHECK_NEAR(ys_mcnemar_p(5000, 5000), 1, 0);
    /* Two standard deviations, 2 * 50, with the half of continuity: 2 (1 - Phi(1.99)) = 0.0466, to a hundredth. */
    CHECK_NEAR(ys_mcnemar_p(4900, 5100), 0.0466, 0.0005);
    CHECK(ys_mcnemar_p(0, 10000) >= 0 && ys_mcnemar_p(0, 10000) < 1e-300);
}

static void published_pairs_have_their_published_intervals(void)
{
    double lo, hi;
    /* Airways before and after a transplantation, 1, 1, 7 and 12 of 21: Fagerland, Lydersen and Laake 2014,
     * "Recommended tests and confidence intervals for paired binomial proportions", print three places. */
    ys_tango_interval(1, 7, 21, &lo, &hi);
    CHECK_NEAR(lo, -0.517, 0.0005);
    CHECK_NEAR(hi, -0.026, 0.0005);
    CHECK_NEAR(ys_mcnemar_p(1, 7), 0.0703, 0.00005);
    /* Approval of a prime minister, 794, 150, 86 and 570 of 1600: Agresti and Min 2005, "Simple improved confidence
     * intervals for comparing matched proportions", print two. */
    ys_tango_interval(150, 86, 1600, &lo, &hi);
    CHECK_NEAR(lo, 0.02, 0.005);
    CHECK_NEAR(hi, 0.06, 0.005);
}

static void intervals_turn_with_their_sides_and_hold_what_was_found(void)
{
    static const double pairs[][3] = {{0, 0, 30}, {12, 2, 50}, {5, 3, 10000}, {1.5, 0.25, 8}, {3, 0, 3}, {0, 4, 4}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const double a = pairs[i][0], b = pairs[i][1], n = pairs[i][2];
        double lo, hi, turned_lo, turned_hi;
        ys_tango_interval(a, b, n, &lo, &hi);
        ys_tango_interval(b, a, n, &turned_lo, &turned_hi);
        CHECK_NEAR(lo, -turned_hi, 1e-12); /* 60 halvings of a length of 2, and roots of numbers near 1 */
        CHECK_NEAR(hi, -turned_lo, 1e-12);
        CHECK(lo <= (a - b) / n + 1e-12 && (a - b) / n - 1e-12 <= hi && hi - lo > 1e-4);
    }
}

static void nobody_apart_leaves_an_interval_about_nothing(void)
{
    double lo, hi;
    ys_tango_interval(0, 0, 100, &lo, &hi);
    /* The score test with no pair apart rejects delta where n delta^2 > z^2 |delta| (1 - |delta|). */
    const double z2 = 1.959963984540054 * 1.959963984540054, bound = z2 / (100 + z2);
    CHECK_NEAR(hi, bound, 1e-9);
    CHECK_NEAR(lo, -bound, 1e-9);
    ys_tango_interval(0, 0, 0, &lo, &hi);
    CHECK(isnan(lo) && isnan(hi));
}

static void holm_multiplies_the_smallest_by_most(void)
{
    const double p[] = {0.04, 0.01, 0.03, 0.01};
    double corrected[4];
    ys_holm_correct(p, 4, corrected);
    CHECK_NEAR(corrected[1], 0.04, 1e-15);
    CHECK_NEAR(corrected[3], 0.04, 1e-15);
    CHECK_NEAR(corrected[2], 0.06, 1e-15);
    CHECK_NEAR(corrected[0], 0.06, 1e-15); /* never below a smaller one's */
    const double large[] = {0.9, 0.8};
    ys_holm_correct(large, 2, corrected);
    CHECK_NEAR(corrected[0], 1, 0);
    CHECK_NEAR(corrected[1], 1, 0);
}

TAP_MAIN(TAP_CASE(few_pairs_have_probabilities_that_are_counted_by_hand),
         TAP_CASE(many_pairs_neither_vanish_nor_overflow), TAP_CASE(published_pairs_have_their_published_intervals),
         TAP_CASE(intervals_turn_with_their_sides_and_hold_what_was_found),
         TAP_CASE(nobody_apart_leaves_an_interval_about_nothing), TAP_CASE(holm_multiplies_the_smallest_by_most))
