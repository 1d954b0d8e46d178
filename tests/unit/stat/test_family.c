#include "stat/family.h"

#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>

enum { TRIALS = 16, ROUNDS = 8 };

static double stretch_of(const double *values, size_t trials, size_t pairs)
{
    struct ys_family_pair with_first[TRIALS];
    for (size_t i = 0; i < pairs; i++)
        with_first[i] = (struct ys_family_pair){i + 1, 0};
    const struct ys_family family = {trials, ROUNDS, values, with_first, pairs, YS_STAT_LEVEL};
    return ys_family_stretch(&family);
}

static void fill(double *values, const char *stream)
{
    struct ys_rng rng;
    printf("# seed 3, stream %s\n", stream);
    ys_rng_init(&rng, 3, stream);
    for (int i = 0; i < TRIALS * ROUNDS; i++)
        values[i] = ys_rng_normal(&rng);
}

static void one_pair_needs_no_stretching(void)
{
    double values[TRIALS * ROUNDS];
    fill(values, "one");
    CHECK(stretch_of(values, 2, 1) == 1);
    for (int r = 0; r < 3; r++)
        values[2 * ROUNDS + r] = NAN; /* five rounds are no pair */
    CHECK(stretch_of(values, 3, 2) == 1);
}

static void more_pairs_need_more(void)
{
    double values[TRIALS * ROUNDS];
    fill(values, "more");
    double four = stretch_of(values, 4, 3), all = stretch_of(values, 16, 15);
    CHECK(four > 1.1 && four < 1.8);
    CHECK(all > four && all < 2.5);
}

static void neither_place_nor_size_nor_what_differs_changes_it(void)
{
    double values[TRIALS * ROUNDS], moved[TRIALS * ROUNDS];
    fill(values, "moved");
    for (int t = 0; t < TRIALS; t++) {
        for (int r = 0; r < ROUNDS; r++)
            moved[t * ROUNDS + r] = 10 * t + 0.01 * values[t * ROUNDS + r];
    }
    CHECK_NEAR(stretch_of(moved, 16, 15), stretch_of(values, 16, 15), 1e-6);
    CHECK(stretch_of(values, 16, 15) == stretch_of(values, 16, 15));
}

static void values_without_scatter_are_no_trouble(void)
{
    double values[TRIALS * ROUNDS] = {0};
    CHECK(stretch_of(values, 16, 15) == 1);
    values[3] = 1;
    CHECK(stretch_of(values, 16, 15) >= 1);
}

TAP_MAIN(TAP_CASE(one_pair_needs_no_stretching), TAP_CASE(more_pairs_need_more),
         TAP_CASE(neither_place_nor_size_nor_what_differs_changes_it), TAP_CASE(values_without_scatter_are_no_trouble))
