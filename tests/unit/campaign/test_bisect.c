/* The rule by which a bisection places a version between two ends, against made-up speeds. */
#include "campaign/bisect.h"

#include "base/rng.h"
#include "tap.h"

#include <math.h>

enum { SEED = 20261124, SEARCHES = 4000, VERSIONS = 4 };

/* Speeds of one question: the ends `apart` (a logarithm), the middle one at `share` of the way from the good end to the
 * bad; each run scatters by `scatter`, a round as a whole by a tenth, and one run in ten is slower by `slow`. */
struct made {
    double apart, share, scatter, slow;
};

static double run_of(const struct made *made, double level, double round, struct ys_rng *rng)
{
    return level + round + made->scatter * ys_rng_normal(rng) - (ys_rng_uniform(rng) < 0.1 ? made->slow : 0);
}

static void fill(struct ys_bisect_speeds *speeds, double value)
{
    *speeds = (struct ys_bisect_speeds){.again = 0};
    for (size_t i = 0; i < YS_BISECT_TEAM; i++)
        for (size_t r = 0; r < YS_BISECT_RUNS_MOST; r++)
            speeds->values[i][r] = value;
}

/* As a bisection asks: looks until one places it. */
static int side_of(const struct made *made, struct ys_rng *rng, int64_t *rounds)
{
    const double level = YS_BISECT_LEVEL / (YS_BISECT_LOOKS * ys_bisect_questions(VERSIONS));
    struct ys_bisect_speeds speeds, settled;
    struct ys_bisect_step step = {.side = YS_BISECT_UNCLEAR};
    fill(&speeds, NAN);
    fill(&settled, NAN);
    for (int r = 0; r < YS_BISECT_ROUNDS_MOST; r++) {
        const double round = 0.1 * ys_rng_normal(rng);
        speeds.values[0][r] = run_of(made, 0, round, rng);
        speeds.values[1][r] = run_of(made, made->apart, round, rng);
        speeds.values[2][r] = run_of(made, made->share * made->apart, round, rng);
    }
    for (int look = 0; step.side == YS_BISECT_UNCLEAR && look < YS_BISECT_LOOKS; look++) {
        ys_bisect_place(&speeds, &settled, YS_BISECT_ROUNDS[look], level, &step);
        *rounds += YS_BISECT_ROUNDS[look] - (look ? YS_BISECT_ROUNDS[look - 1] : 0);
    }
    return step.side;
}

static void shares_of(const struct made *made, double shares[YS_BISECT_UNCLEAR + 1], double *rounds_mean)
{
    struct ys_rng rng;
    int64_t rounds = 0;
    int counts[YS_BISECT_UNCLEAR + 1] = {0};
    ys_rng_init(&rng, SEED, "bisect");
    for (int i = 0; i < SEARCHES; i++)
        counts[side_of(made, &rng, &rounds)]++;
    for (int side = 0; side <= YS_BISECT_UNCLEAR; side++)
        shares[side] = (double)counts[side] / SEARCHES;
    *rounds_mean = (double)rounds / SEARCHES;
    printf("# apart %.2f, scatter %.2f, slow %.1f, %.1f of the way: good %.2f %%, bad %.2f %%, unclear %.2f %%, "
           "%.1f rounds\n",
           made->apart, made->scatter, made->slow, made->share, 100 * shares[YS_BISECT_GOOD],
           100 * shares[YS_BISECT_BAD], 100 * shares[YS_BISECT_UNCLEAR], *rounds_mean);
}

/* Where the ends are 1.37 apart, runs that scatter by a tenth place a version that is as one of them. */
static void clear_evidence_is_placed(void)
{
    static const struct made cases[] = {
        {0.31, 1, 0.02, 0},  {0.31, 1, 0.05, 0}, {0.31, 1, 0.05, 0.3}, {0.31, 1, 0.10, 0}, {0.10, 1, 0.02, 0},
        {-0.10, 1, 0.02, 0}, {0.05, 1, 0.01, 0}, {0.31, 0.8, 0.05, 0}, {0.31, 0, 0.05, 0}, {-0.31, 0.2, 0.05, 0}};
    printf("# seed %d\n", SEED);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int right = cases[i].share > 0.5 ? YS_BISECT_BAD : YS_BISECT_GOOD;
        double shares[YS_BISECT_UNCLEAR + 1], rounds;
        shares_of(&cases[i], shares, &rounds);
        CHECK(shares[right] >= 0.95);
        CHECK(shares[YS_BISECT_GOOD + YS_BISECT_BAD - right] <= 0.001);
    }
}

/* Half way a version is as near to one end as to the other: each of three looks claims what it may. Three standard
 * errors of so many searches are 0.6 of a hundred. */
static void half_way_is_placed_as_rarely_as_the_level_says(void)
{
    static const struct made cases[] = {{0.31, 0.5, 0.05, 0}, {0.31, 0.5, 0.05, 0.3}};
    const double level = YS_BISECT_LEVEL / ys_bisect_questions(VERSIONS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double shares[YS_BISECT_UNCLEAR + 1], rounds;
        shares_of(&cases[i], shares, &rounds);
        CHECK(shares[YS_BISECT_GOOD] + shares[YS_BISECT_BAD] <= level + 0.006);
    }
}

/* The share of the level that a question gets: halving and two more, but never more questions than versions. */
static void no_version_is_asked_for_twice(void)
{
    static const int expected[][2] = {{2, 1}, {3, 2}, {4, 3}, {5, 4}, {6, 5}, {7, 6}, {13, 7}, {64, 9}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK_INT(ys_bisect_questions((size_t)expected[i][0]), expected[i][1]);
}

enum { ROUNDS = 10 };
static const double LEVEL = 0.005; /* ten rounds of one sign have a p of 0.002 */

/* Ten rounds of speeds that lie close about a level for each of the team. */
static struct ys_bisect_speeds about(double good, double bad, double middle)
{
    const double levels[YS_BISECT_TEAM] = {good, bad, middle};
    struct ys_bisect_speeds speeds;
    fill(&speeds, NAN);
    for (size_t i = 0; i < YS_BISECT_TEAM; i++)
        for (size_t r = 0; r < ROUNDS; r++)
            speeds.values[i][r] = levels[i] + 1e-4 * (double)((r + 3 * i) % 7);
    return speeds;
}

/* What of a version's speed is warm-up is none of it: it is placed where it lies with it and without. */
static void a_version_is_placed_with_warm_up_and_without(void)
{
    static const struct {
        double middle, settled;
        int side;
    } cases[] = {
        {0.30, 0.28, YS_BISECT_BAD},     {0.02, 0.00, YS_BISECT_GOOD},    {0.30, 0.02, YS_BISECT_UNCLEAR},
        {0.02, 0.30, YS_BISECT_UNCLEAR}, {0.30, 0.15, YS_BISECT_UNCLEAR}, {0.15, 0.30, YS_BISECT_UNCLEAR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ys_bisect_speeds speeds = about(0, 0.3, cases[i].middle);
        const struct ys_bisect_speeds settled = about(0, 0.3, cases[i].settled);
        struct ys_bisect_step step = {0};
        ys_bisect_place(&speeds, &settled, ROUNDS, LEVEL, &step);
        CHECK_INT(step.side, cases[i].side);
        CHECK(fabs(step.to_good - exp(cases[i].middle)) < 0.002); /* what is shown is what was measured */
        CHECK(fabs(step.to_bad - exp(cases[i].middle - 0.3)) < 0.002);
    }
}

static void ends_differ_with_warm_up_and_without(void)
{
    static const struct {
        double bad, settled;
        int side;
    } cases[] = {
        {0.10, 0.08, YS_BISECT_BAD},       {-0.10, -0.08, YS_BISECT_BAD},   {0.10, 0.04, YS_BISECT_UNCLEAR},
        {0.04, 0.10, YS_BISECT_UNCLEAR},   {0.10, 0.00, YS_BISECT_UNCLEAR}, {-0.10, 0.10, YS_BISECT_UNCLEAR},
        {-0.04, -0.04, YS_BISECT_UNCLEAR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ys_bisect_speeds speeds = about(0, cases[i].bad, NAN);
        const struct ys_bisect_speeds settled = about(0, cases[i].settled, NAN);
        struct ys_bisect_step step = {0};
        ys_bisect_tell_apart(&speeds, &settled, ROUNDS, LEVEL, 0.05, &step);
        CHECK_INT(step.side, cases[i].side);
        CHECK(fabs(step.to_good - exp(cases[i].bad)) < 0.002);
    }
}

/* One run of too few blocks, and nothing can be told of any. A run that failed has neither value. */
static void where_warm_up_cannot_be_told_speeds_count_as_they_are(void)
{
    struct ys_bisect_speeds speeds = about(0, 0.3, 0.3), settled = about(0, 0, 0);
    struct ys_bisect_step step = {0};
    settled.values[1][4] = NAN;
    ys_bisect_place(&speeds, &settled, ROUNDS, LEVEL, &step);
    CHECK_INT(step.side, YS_BISECT_BAD);
    ys_bisect_tell_apart(&speeds, &settled, ROUNDS, LEVEL, 0.05, &step);
    CHECK_INT(step.side, YS_BISECT_BAD);
    speeds.values[1][4] = NAN;
    ys_bisect_place(&speeds, &settled, ROUNDS, LEVEL, &step);
    CHECK_INT(step.side, YS_BISECT_UNCLEAR);
    ys_bisect_tell_apart(&speeds, &settled, ROUNDS, LEVEL, 0.05, &step);
    CHECK_INT(step.side, YS_BISECT_UNCLEAR);
}

/* The bad end a tenth slower, the middle with it: unless that is what the machine took from them. */
static void what_the_machine_took_bounds_what_is_found(void)
{
    static const struct {
        size_t whose;
        double taken;
        int ends, placed;
    } cases[] = {{1, 0.02, YS_BISECT_BAD, YS_BISECT_BAD},
                 {1, 0.08, YS_BISECT_UNCLEAR, YS_BISECT_BAD},
                 {2, 0.02, YS_BISECT_BAD, YS_BISECT_BAD},
                 {2, 0.08, YS_BISECT_BAD, YS_BISECT_UNCLEAR},
                 {0, 0.08, YS_BISECT_BAD, YS_BISECT_BAD}};
    const struct ys_bisect_speeds settled = about(NAN, NAN, NAN);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_bisect_speeds speeds = about(0, -0.1, -0.1);
        struct ys_bisect_step step = {0};
        for (size_t r = 0; r < ROUNDS; r++)
            speeds.taken[cases[i].whose][r] = cases[i].taken;
        ys_bisect_tell_apart(&speeds, &settled, ROUNDS, LEVEL, 0.05, &step);
        CHECK_INT(step.side, cases[i].ends);
        ys_bisect_place(&speeds, &settled, ROUNDS, LEVEL, &step);
        CHECK_INT(step.side, cases[i].placed);
        CHECK(fabs(step.to_good - exp(-0.1)) < 0.002);
    }
}

/* Ten rounds, the bad end and the middle a tenth slower. Runs of which nobody knows what was taken are left out, and
 * put back where they may have been faster. */
static void rounds_that_were_left_out_must_not_decide(void)
{
    static const struct {
        size_t whose;
        double own; /* of its runs of the first `rounds` rounds, in the place of what it is */
        size_t rounds;
        int ends, placed;
    } cases[] = {{1, -0.1, 1, YS_BISECT_BAD, YS_BISECT_BAD},
                 {2, -0.1, 1, YS_BISECT_BAD, YS_BISECT_BAD},
                 {1, 0.2, 2, YS_BISECT_UNCLEAR, YS_BISECT_BAD}, /* faster, where it looked disturbed */
                 {2, 0.2, 2, YS_BISECT_BAD, YS_BISECT_UNCLEAR},
                 {0, -0.3, 2, YS_BISECT_UNCLEAR, YS_BISECT_UNCLEAR}, /* slower: that may have been all its own */
                 {1, -0.1, 4, YS_BISECT_UNCLEAR, YS_BISECT_UNCLEAR},
                 {2, -0.1, 4, YS_BISECT_BAD, YS_BISECT_UNCLEAR}};
    const struct ys_bisect_speeds settled = about(NAN, NAN, NAN);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_bisect_speeds speeds = about(0, -0.1, -0.1);
        struct ys_bisect_step step = {0};
        for (size_t r = 0; r < cases[i].rounds; r++) {
            speeds.values[cases[i].whose][r] = cases[i].own + 1e-4 * (double)r;
            speeds.taken[cases[i].whose][r] = INFINITY;
        }
        ys_bisect_tell_apart(&speeds, &settled, ROUNDS, 0.02, 0.05, &step);
        CHECK_INT(step.side, cases[i].ends);
        ys_bisect_place(&speeds, &settled, ROUNDS, 0.02, &step);
        CHECK_INT(step.side, cases[i].placed);
    }
}

/* The same, and the rounds that looked disturbed were run again, as the others are. */
static void attempts_that_were_run_again_must_not_decide(void)
{
    static const struct {
        size_t whose;
        double own;
        int ends, placed;
    } cases[] = {{1, -0.1, YS_BISECT_BAD, YS_BISECT_BAD},
                 {1, 0.2, YS_BISECT_UNCLEAR, YS_BISECT_BAD},
                 {2, 0.2, YS_BISECT_BAD, YS_BISECT_UNCLEAR}};
    const struct ys_bisect_speeds settled = about(NAN, NAN, NAN);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_bisect_speeds speeds = about(0, -0.1, -0.1);
        struct ys_bisect_step step = {0};
        speeds.again = 3;
        for (size_t r = YS_BISECT_ROUNDS_MOST; r < YS_BISECT_ROUNDS_MOST + 3; r++) {
            for (size_t k = 0; k < YS_BISECT_TEAM; k++)
                speeds.values[k][r] = speeds.values[k][0];
            speeds.values[cases[i].whose][r] = cases[i].own + 1e-4 * (double)r;
            speeds.taken[cases[i].whose][r] = INFINITY;
        }
        ys_bisect_tell_apart(&speeds, &settled, ROUNDS, 0.02, 0.05, &step);
        CHECK_INT(step.side, cases[i].ends);
        ys_bisect_place(&speeds, &settled, ROUNDS, 0.02, &step);
        CHECK_INT(step.side, cases[i].placed);
    }
}

TAP_MAIN(TAP_CASE(clear_evidence_is_placed), TAP_CASE(half_way_is_placed_as_rarely_as_the_level_says),
         TAP_CASE(no_version_is_asked_for_twice), TAP_CASE(a_version_is_placed_with_warm_up_and_without),
         TAP_CASE(ends_differ_with_warm_up_and_without), TAP_CASE(what_the_machine_took_bounds_what_is_found),
         TAP_CASE(rounds_that_were_left_out_must_not_decide), TAP_CASE(attempts_that_were_run_again_must_not_decide),
         TAP_CASE(where_warm_up_cannot_be_told_speeds_count_as_they_are))
