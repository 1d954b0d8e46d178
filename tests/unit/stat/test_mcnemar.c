/* McNemar's exact test and Holm's correction. */
#include "stat/mcnemar.h"

#include "tap.h"

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
         TAP_CASE(many_pairs_neither_vanish_nor_overflow), TAP_CASE(holm_multiplies_the_smallest_by_most))
