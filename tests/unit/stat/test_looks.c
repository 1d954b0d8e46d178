#include "stat/looks.h"

#include "base/rng.h"
#include "stat/compare.h"
#include "stat/family.h"
#include "stat/signed_rank.h"
#include "tap.h"

#include <math.h>

static void places_are_fixed_and_the_last_is_the_most(void)
{
    static const struct {
        size_t most, count, rounds[YS_LOOKS_MOST];
    } cases[] = {
        {6, 1, {6}},
        {7, 1, {7}},
        {8, 2, {7, 8}},
        {12, 2, {7, 12}},
        {20, 3, {7, 12, 20}},
        {30, 4, {7, 12, 20, 30}},
        {200, 5, {7, 12, 20, 50, 200}},
        {10000, 6, {7, 12, 20, 50, 200, 10000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_look looks[YS_LOOKS_MOST];
        REQUIRE(ys_looks(cases[i].most, looks) == cases[i].count);
        for (size_t k = 0; k < cases[i].count; k++)
            CHECK_INT(looks[k].rounds, cases[i].rounds[k]);
    }
}

static void all_looks_together_have_five_per_cent(void)
{
    for (size_t most = 6; most <= 10000; most++) {
        struct ys_look looks[YS_LOOKS_MOST];
        const size_t count = ys_looks(most, looks);
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            CHECK(looks[i].level >= YS_STAT_LEVEL && looks[i].level < 0.998); /* which families can have */
            sum += 1 - looks[i].level;
        }
        if (fabs(sum - 0.05) > 1e-12)
            CHECK_NEAR(sum, 0.05, 1e-12);
    }
}

static void every_look_has_an_interval_of_its_level(void)
{
    for (size_t most = 6; most <= 10000; most += most < 60 ? 1 : 331) {
        struct ys_look looks[YS_LOOKS_MOST];
        const size_t count = ys_looks(most, looks);
        for (size_t i = 0; i < count; i++) {
            double level = 0;
            const size_t rank = ys_signed_rank(looks[i].rounds, looks[i].level, &level);
            tap_check(rank > 0 && level >= looks[i].level, __LINE__, "look %zu of %zu: %zu rounds", i, most,
                      looks[i].rounds);
        }
    }
}

/* Six rounds reach 96.9 % and no more. */
static void too_few_rounds_for_a_level_have_no_interval(void)
{
    const double a[] = {2, 2.1, 2.2, 2.3, 2.4, 2.5}, b[] = {1, 1, 1, 1, 1, 1};
    struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = 1};
    struct ys_comparison found;
    ys_compare(a, b, 6, &rule, &found);
    CHECK(found.verdict == YS_VERDICT_BETTER && found.interval.known);
    rule.level = 0.984;
    ys_compare(a, b, 6, &rule, &found);
    CHECK(found.verdict == YS_VERDICT_UNCLEAR && !found.interval.known && found.reason);
}

/* The rank of a level among many rounds is by the normal distribution: at 95 % what it was, and farther out beyond. */
static void many_rounds_have_wider_intervals_at_a_higher_level(void)
{
    double level = 0;
    CHECK_NEAR(ys_normal_reach(0.95), 1.959964, 1e-6);
    CHECK_NEAR(ys_normal_reach(0.99), 2.575829, 1e-6);
    const size_t at_95 = ys_signed_rank(100, 0.95, &level);
    CHECK(level >= 0.95 && level < 0.951);
    const size_t at_99 = ys_signed_rank(100, 0.99, &level);
    CHECK(level >= 0.99 && level < 0.991);
    CHECK(at_99 < at_95);
}

/* So that all hold together at a higher level intervals are stretched more. */
static void a_family_of_a_higher_level_is_stretched_no_less(void)
{
    enum { TRIALS = 5, ROUNDS = 20 };
    double values[TRIALS * ROUNDS];
    struct ys_family_pair pairs[TRIALS - 1];
    struct ys_rng rng;
    ys_rng_init(&rng, 1, "looks");
    for (size_t i = 0; i < TRIALS * ROUNDS; i++)
        values[i] = ys_rng_normal(&rng);
    for (size_t i = 0; i + 1 < TRIALS; i++)
        pairs[i] = (struct ys_family_pair){i + 1, 0};
    struct ys_family family = {TRIALS, ROUNDS, values, pairs, TRIALS - 1, 0.95};
    const double at_95 = ys_family_stretch(&family);
    family.level = 0.99;
    const double at_99 = ys_family_stretch(&family);
    CHECK(at_95 > 1 && at_99 > 1);
    CHECK(at_99 * ys_normal_reach(0.99) > at_95 * ys_normal_reach(0.95));
}

TAP_MAIN(TAP_CASE(places_are_fixed_and_the_last_is_the_most), TAP_CASE(all_looks_together_have_five_per_cent),
         TAP_CASE(every_look_has_an_interval_of_its_level), TAP_CASE(too_few_rounds_for_a_level_have_no_interval),
         TAP_CASE(many_rounds_have_wider_intervals_at_a_higher_level),
         TAP_CASE(a_family_of_a_higher_level_is_stretched_no_less))
