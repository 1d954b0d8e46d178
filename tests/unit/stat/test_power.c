#include "stat/power.h"

#include "base/rng.h"
#include "stat/compare.h"
#include "tap.h"

#include <math.h>

enum { SEEN = 40 };
#define OF(values, count) ((struct ys_power_seen){values, NULL, count})

static void fill(double *ratios, double scatter, double centre)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 3, "test of power");
    for (size_t i = 0; i < SEEN; i++)
        ratios[i] = centre * exp(scatter * ys_rng_normal(&rng));
}

/* The half width of the signed-rank interval of many normal values is about 1.96 sd / sqrt(n), of 30 a little more, and
 * the difference that is found nine times of ten 1.74 times that: 0.64 sd. 40 values know their sd to some 20 %. */
static void thirty_runs_find_what_normal_scatter_lets_them(void)
{
    double ratios[SEEN], difference;
    fill(ratios, 0.03, 1);
    difference = ys_power_difference(&OF(ratios, SEEN), 30, YS_STAT_LEVEL, 0);
    CHECK_NEAR(difference, 0.64 * 0.03, 0.3 * 0.64 * 0.03);
}

static void the_margin_comes_on_top_and_a_bias_changes_nothing(void)
{
    double ratios[SEEN], biased[SEEN], plain, with_margin, of_biased;
    fill(ratios, 0.03, 1);
    fill(biased, 0.03, 1.2);
    plain = ys_power_difference(&OF(ratios, SEEN), 10, YS_STAT_LEVEL, 0);
    with_margin = ys_power_difference(&OF(ratios, SEEN), 10, YS_STAT_LEVEL, 0.02);
    of_biased = ys_power_difference(&OF(biased, SEEN), 10, YS_STAT_LEVEL, 0);
    CHECK_NEAR(with_margin, (1 + plain) * 1.02 - 1, 1e-12);
    CHECK_NEAR(of_biased, plain, 1e-12);
}

/* With biases a verdict needs two intervals beyond the margin: that of ratios alone, and one that scatters by sqrt(5)
 * as much, which is the wider one nearly always. */
static void what_is_left_of_warm_up_counts_as_scatter(void)
{
    double ratios[SEEN], biases[SEEN], zeros[SEEN] = {0}, plain, settled, of_zeros;
    struct ys_rng rng;
    ys_rng_init(&rng, 5, "test of power");
    fill(ratios, 0.01, 1);
    for (size_t i = 0; i < SEEN; i++)
        biases[i] = 0.1 + 0.02 * ys_rng_normal(&rng);
    const struct ys_power_seen seen = {ratios, biases, SEEN}, none = {ratios, zeros, SEEN};
    plain = ys_power_difference(&OF(ratios, SEEN), 10, YS_STAT_LEVEL, 0);
    settled = ys_power_difference(&seen, 10, YS_STAT_LEVEL, 0);
    of_zeros = ys_power_difference(&none, 10, YS_STAT_LEVEL, 0);
    CHECK_NEAR(settled, sqrt(5) * plain, 0.3 * sqrt(5) * plain); /* as above: 40 values know their sd to some 20 % */
    CHECK_NEAR(of_zeros, plain, 1e-12);
}

static void more_runs_and_less_scatter_find_less(void)
{
    double ratios[SEEN], quiet[SEEN], of[4];
    fill(ratios, 0.03, 1);
    fill(quiet, 0.003, 1);
    of[0] = ys_power_difference(&OF(ratios, SEEN), 6, YS_STAT_LEVEL, 0);
    of[1] = ys_power_difference(&OF(ratios, SEEN), 15, YS_STAT_LEVEL, 0);
    of[2] = ys_power_difference(&OF(ratios, SEEN), 60, YS_STAT_LEVEL, 0);
    of[3] = ys_power_difference(&OF(quiet, SEEN), 60, YS_STAT_LEVEL, 0);
    CHECK(of[0] > of[1] && of[1] > of[2] && of[2] > of[3]);
}

static void the_rounds_that_are_said_to_be_needed_find_it_and_fewer_do_not(void)
{
    double ratios[SEEN], difference;
    size_t rounds;
    fill(ratios, 0.03, 1);
    rounds = ys_power_rounds(&OF(ratios, SEEN), 0, 0.03);
    REQUIRE(rounds > 6);
    difference = ys_power_difference(&OF(ratios, SEEN), rounds, YS_STAT_LEVEL, 0);
    CHECK(difference <= 0.03);
    difference = ys_power_difference(&OF(ratios, SEEN), rounds - 2, YS_STAT_LEVEL, 0);
    CHECK(difference > 0.03);
    rounds = ys_power_rounds(&OF(ratios, SEEN), 0, 0.0001);
    CHECK_INT(rounds, 0);
}

static void too_few_of_either_say_nothing(void)
{
    double ratios[SEEN], difference;
    size_t rounds;
    fill(ratios, 0.03, 1);
    difference = ys_power_difference(&OF(ratios, 5), 10, YS_STAT_LEVEL, 0);
    CHECK(isnan(difference));
    difference = ys_power_difference(&OF(ratios, SEEN), 5, YS_STAT_LEVEL, 0);
    CHECK(isnan(difference));
    rounds = ys_power_rounds(&OF(ratios, 5), 0, 0.5);
    CHECK_INT(rounds, 0);
}

/* What it foresees is what comparisons of such rounds say of themselves. */
static void it_foresees_the_resolution_of_comparisons(void)
{
    enum { STUDIES = 201, ROUNDS = 10 };
    double seen[SEEN], ratios[ROUNDS], ones[ROUNDS], said[STUDIES], foreseen;
    struct ys_rng rng;
    ys_rng_init(&rng, 4, "test of power");
    for (size_t s = 0; s < STUDIES; s++) {
        struct ys_comparison comparison;
        for (size_t i = 0; i < ROUNDS; i++) {
            ratios[i] = exp(0.03 * ys_rng_normal(&rng));
            ones[i] = 1;
        }
        ys_compare_ratio(ratios, ones, ROUNDS, YS_BETTER_HIGHER, 0.02, &comparison);
        said[s] = comparison.resolution;
    }
    ys_stat_sort(said, STUDIES);
    fill(seen, 0.03, 1);
    foreseen = ys_power_difference(&OF(seen, SEEN), ROUNDS, YS_STAT_LEVEL, 0.02);
    CHECK_NEAR(foreseen, said[STUDIES / 2], 0.3 * said[STUDIES / 2]); /* the sd of 40 values again */
}

TAP_MAIN(TAP_CASE(thirty_runs_find_what_normal_scatter_lets_them),
         TAP_CASE(the_margin_comes_on_top_and_a_bias_changes_nothing),
         TAP_CASE(what_is_left_of_warm_up_counts_as_scatter), TAP_CASE(more_runs_and_less_scatter_find_less),
         TAP_CASE(the_rounds_that_are_said_to_be_needed_find_it_and_fewer_do_not),
         TAP_CASE(too_few_of_either_say_nothing), TAP_CASE(it_foresees_the_resolution_of_comparisons))
