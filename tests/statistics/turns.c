/* What turns are worth beside runs (run/turns.h) on a machine whose speed changes meanwhile: tables of
 * docs/statistics.md, in made-up studies whose truth is known (cells.h). Time is in cells of a tenth of a second, a
 * turn; each member of a round has CELLS of them, in a row or in turns, and its speed is steps by their time. */
#include "stat/compare.h"
#include "stat/family.h"
#include "stat/signed_rank.h"
#include "statistics/cells.h"
#include "tap.h"

#include <stdbool.h>

enum { CELLS = 100, SPAN = 2 * CELLS, ROUNDS = 8, TRIALS = 16, GROUP = 8 };
#define CELL_S  0.1
#define PROCESS 0.005 /* by which processes of one program scatter */
#define TURN    0.03  /* and turns of one process */

enum change { STILL, LINEAR, WALK, STEPS, MARKED_STEPS, SINE };
struct machine {
    const char *name;
    enum change change;
    double size, least_s, most_s; /* of steps how long each is, of sines a period */
};
static const struct machine machines[] = {
    {"still", STILL, 0, 0, 0},
    {"slower by 20 % from the round's begin to its end", LINEAR, 0.2, 0, 0},
    {"a random walk, 2 % a turn", WALK, 0.02, 0, 0},
    {"half as fast, on and off for 0.2 to 5 s", STEPS, 0.69, 0.2, 5},
    {"the same, and pairs of cycles dropped in which it is seen", MARKED_STEPS, 0.69, 0.2, 5},
    {"a sine of 10 %, of 0.5 to 5 s", SINE, 0.1, 0.5, 5},
    {"a sine of 10 %, of 5 to 60 s", SINE, 0.1, 5, 60},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* How much longer a step takes in each cell of a round, as a logarithm. */
static void draw(struct ys_rng *rng, const struct machine *machine, double slower[SPAN])
{
    const double phase = 6.283 * ys_rng_uniform(rng),
                 period_s = machine->least_s + (machine->most_s - machine->least_s) * ys_rng_uniform(rng);
    double level = 0, until_s = 0;
    bool on = ys_rng_below(rng, 2);
    for (int i = 0; i < SPAN; i++) {
        const double t_s = i * CELL_S;
        if (machine->change == WALK)
            level += machine->size * ys_rng_normal(rng);
        for (; (machine->change == STEPS || machine->change == MARKED_STEPS) && until_s <= t_s; on = !on)
            until_s += machine->least_s + (machine->most_s - machine->least_s) * ys_rng_uniform(rng);
        slower[i] = machine->change == LINEAR ? machine->size * i / SPAN
                    : machine->change == SINE ? machine->size * sin(phase + 6.283 * t_s / period_s)
                    : until_s > 0             ? (on ? machine->size : 0)
                                              : level;
    }
}

/* Whose each cell is: 0 or 1. In turns the order of a cycle is drawn and the next one is that backwards. */
static void share_out(struct ys_rng *rng, bool by_turns, int whose[SPAN])
{
    int first = (int)ys_rng_below(rng, 2);
    for (int i = 0; i < SPAN; i++) {
        if (by_turns && i % 4 == 0)
            first = (int)ys_rng_below(rng, 2);
        whose[i] = by_turns ? first ^ (i % 4 == 1 || i % 4 == 2) : first ^ (i >= CELLS);
    }
}

/* Speeds of two equal members in one round. What is marked is dropped unless that is more than three
 * quarters. */
static void make_round(struct ys_rng *rng, const struct machine *machine, bool by_turns, double *a, double *b)
{
    double slower[SPAN], time[2] = {0, 0}, steps[2] = {0, 0};
    int whose[SPAN], marked = 0;
    draw(rng, machine, slower);
    share_out(rng, by_turns, whose);
    const double own[2] = {PROCESS * ys_rng_normal(rng), PROCESS * ys_rng_normal(rng)};
    bool is_marked[SPAN / 4] = {false};
    for (int i = 0; i < SPAN && by_turns && machine->change == MARKED_STEPS; i++)
        is_marked[i / 4] |= slower[i] > 0;
    for (int i = 0; i < SPAN / 4; i++)
        marked += is_marked[i];
    for (int i = 0; i < SPAN; i++) {
        if (is_marked[i / 4] && 4 * marked <= 3 * (SPAN / 4))
            continue;
        time[whose[i]] += exp(slower[i] + own[whose[i]] + TURN * ys_rng_normal(rng));
        steps[whose[i]] += 1;
    }
    *a = steps[0] / time[0];
    *b = steps[1] / time[1];
}

struct tally {
    double covered, width;
};

static struct tally studies_on(struct ys_rng *rng, const struct machine *machine, bool by_turns, int count)
{
    struct tally tally = {0, 0};
    for (int s = 0; s < count; s++) {
        double a[ROUNDS], b[ROUNDS];
        struct ys_comparison found = {0};
        for (int i = 0; i < ROUNDS; i++)
            make_round(rng, machine, by_turns, &a[i], &b[i]);
        ys_compare_ratio(a, b, ROUNDS, YS_BETTER_HIGHER, 0, &found);
        tally.covered += found.interval.lo <= 1 && 1 <= found.interval.hi;
        tally.width += log(found.interval.hi / found.interval.lo) / 2;
    }
    return (struct tally){100 * tally.covered / count, 100 * tally.width / count};
}

/* Not above the level of so many rounds by more than a point, and never below 93 %. */
static void turns_cover_what_they_claim_and_are_narrower(void)
{
    struct ys_rng rng = stream("turns");
    const int count = studies();
    double level;
    (void)ys_signed_rank(ROUNDS, YS_STAT_LEVEL, &level);
    printf("# | the machine is | by runs: covers, %% | half width, %% | by turns: covers, %% | half width, %% |\n"
           "# | --- | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        const struct tally runs = studies_on(&rng, &machines[m], false, count),
                           turns = studies_on(&rng, &machines[m], true, count);
        printf("# | %s | %.1f | %.2f | %.1f | %.2f |\n", machines[m].name, runs.covered, runs.width, turns.covered,
               turns.width);
        CHECK(turns.covered >= 93 - slack(93, count));
        CHECK(turns.covered <= 100 * level + 1 + slack(100 * level, count));
        CHECK(machines[m].change == STILL ? turns.width < 1.1 * runs.width + slack(50, count) / 50
                                          : turns.width < runs.width);
    }
}

/* Of sixteen equal trials in two groups, each with the first: those of its own group share what the machine did, those
 * of the other do not. */
static bool is_false(struct ys_rng *rng, double scatter, double process)
{
    double values[TRIALS * ROUNDS], speeds[TRIALS][ROUNDS];
    struct ys_family_pair pairs[TRIALS - 1];
    for (size_t i = 0; i < ROUNDS; i++) {
        const double shared[2] = {scatter * ys_rng_normal(rng), scatter * ys_rng_normal(rng)};
        for (size_t t = 0; t < TRIALS; t++) {
            values[t * ROUNDS + i] = shared[t / GROUP] + process * ys_rng_normal(rng);
            speeds[t][i] = exp(values[t * ROUNDS + i]);
        }
    }
    for (size_t t = 1; t < TRIALS; t++)
        pairs[t - 1] = (struct ys_family_pair){t, 0};
    const struct ys_family family = {TRIALS, ROUNDS, values, pairs, TRIALS - 1, YS_STAT_LEVEL};
    const double stretch = ys_family_stretch(&family);
    bool is_any = false;
    for (size_t t = 1; t < TRIALS; t++) {
        const struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .stretch = stretch};
        struct ys_comparison found = {0};
        ys_compare(speeds[t], speeds[0], ROUNDS, &rule, &found);
        is_any |= found.verdict == YS_VERDICT_BETTER || found.verdict == YS_VERDICT_WORSE;
    }
    return is_any;
}

static void equal_trials_in_two_groups_are_called_equal(void)
{
    static const double scatters[] = {0.01, 0.05, 0.15};
    struct ys_rng rng = stream("groups");
    const int count = studies() / 2;
    printf("# | from run to run | 1 %% | 5 %% | 15 %% |\n# | --- | --- | --- | --- |\n# | false verdict, %% |");
    for (int k = 0; k < 3; k++) {
        int wrong = 0;
        for (int s = 0; s < count; s++)
            wrong += is_false(&rng, scatters[k], scatters[k] / 4);
        CHECK(print_share(wrong, count) <= 5 + slack(5, count));
    }
    printf("\n");
}

TAP_MAIN(TAP_CASE(turns_cover_what_they_claim_and_are_narrower), TAP_CASE(equal_trials_in_two_groups_are_called_equal))
