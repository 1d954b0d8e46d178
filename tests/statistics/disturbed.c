/* What a verdict is worth on a machine that does something else: tables of docs/statistics.md, in made-up studies whose
 * truth is known (cells.h). A run takes as long as it would alone, and what was taken from it; what yardstick sees is
 * how long it took, and of what was taken the most that it can have been, or that nobody knows. */
#include "stat/compare.h"
#include "stat/family.h"
#include "stat/looks.h"
#include "statistics/cells.h"
#include "tap.h"

#include <stdbool.h>

enum { MOST_ROUNDS = 20, TRIALS = 16 };
#define MARGIN 0.02

/* Runs of two CPUs and 1.5 s: a tick of each is 1.3 % of that. */
static const double ticks = 0.02 / 1.5, least_seen = 0.01;

struct machine {
    const char *name;
    double host_share, host_most;     /* of runs that the host takes CPUs from, and how much at most */
    double burner_share, burner_most; /* of runs beside which another program runs, and by how much they are slower */
    bool of_a_alone, of_b_alone;      /* the burner runs beside the one alone */
    bool marks_slow;                  /* a looks as if beside a burner in the runs that are its slowest quarter */
};

static const struct machine machines[] = {
    {.name = "quiet"},
    {.name = "the host takes up to 3 % in all runs", .host_share = 1, .host_most = 0.03},
    {.name = "the host takes up to 10 % in a third", .host_share = 0.33, .host_most = 0.1},
    {.name = "another program beside a tenth", .burner_share = 0.1, .burner_most = 0.5},
    {.name = "another program beside a quarter", .burner_share = 0.25, .burner_most = 0.5},
    {.name = "another program beside a quarter of b's", .burner_share = 0.25, .burner_most = 0.5, .of_b_alone = true},
    {.name = "both: up to 3 % in all, beside a tenth",
     .host_share = 1,
     .host_most = 0.03,
     .burner_share = 0.1,
     .burner_most = 0.5},
    {.name = "a looks disturbed in its slowest quarter", .marks_slow = true},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* A speed, and what yardstick knows of it: by how much its logarithm could be more, INFINITY where nobody knows. */
struct run {
    double speed, up;
};

static struct run run_on(struct ys_rng *rng, const struct machine *machine, bool is_a, double truth, double scatter)
{
    const double own = scatter * ys_rng_normal(rng);
    struct run run = {truth * exp(own), 0};
    if (ys_rng_uniform(rng) < machine->host_share) {
        const double share = machine->host_most * ys_rng_uniform(rng), taken = 2 * share; /* of both CPUs */
        run.speed *= 1 - taken * ys_rng_uniform(rng);
        run.up = share > least_seen ? -log1p(-taken - ticks) : 0;
    }
    const bool may_burn = !(machine->of_a_alone && !is_a) && !(machine->of_b_alone && is_a);
    if (may_burn && ys_rng_uniform(rng) < machine->burner_share) {
        const double beside = ys_rng_uniform(rng); /* for such a part of the run */
        run.speed /= 1 + machine->burner_most * beside;
        run.up = beside > 0.25 ? INFINITY : run.up;
    }
    if (machine->marks_slow && is_a && own < -0.674 * scatter)
        run.up = INFINITY;
    return run;
}

/* A round, which is run again once where nobody knows what was taken, while `*repeats` are left. */
static void run_round(struct ys_rng *rng, const struct machine *machine, const double *truths, int trials,
                      double scatter, int *repeats, struct run *runs)
{
    bool is_untold = true;
    for (int i = 0; i < 2 && is_untold && (i == 0 || (*repeats)-- > 0); i++) {
        is_untold = false;
        for (int t = 0; t < trials; t++) {
            runs[t] = run_on(rng, machine, t > 0, truths[t], scatter);
            is_untold |= isinf(runs[t].up);
        }
    }
}

/* runs[round][trial]; a is trial `a`, b trial 0. */
static struct ys_comparison compare(const struct run runs[MOST_ROUNDS][TRIALS], int a, int n, double stretch,
                                    double level)
{
    double of_a[MOST_ROUNDS], of_b[MOST_ROUNDS], down[MOST_ROUNDS], up[MOST_ROUNDS];
    struct ys_comparison found = {0};
    for (int i = 0; i < n; i++) {
        of_a[i] = runs[i][a].speed;
        of_b[i] = runs[i][0].speed;
        up[i] = runs[i][a].up;
        down[i] = runs[i][0].up;
    }
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_HIGHER, .margin = MARGIN, .stretch = stretch, .level = level, .down = down, .up = up};
    CHECK(ys_compare(of_a, of_b, (size_t)n, &rule, &found) == YS_OK);
    return found;
}

static struct ys_comparison study_of_two(struct ys_rng *rng, const struct machine *machine, double truth,
                                         double scatter, int n)
{
    struct run runs[MOST_ROUNDS][TRIALS];
    const double truths[] = {1, truth};
    int repeats = n / 2;
    for (int i = 0; i < n; i++)
        run_round(rng, machine, truths, 2, scatter, &repeats, runs[i]);
    return compare(runs, 1, n, 1, YS_STAT_LEVEL);
}

/* Runs scatter by 3 %. A study without an interval covers nothing and is not counted. */
static void intervals_cover_whatever_was_taken(void)
{
    static const int rounds[] = {6, 8, 12};
    struct ys_rng rng = stream("disturbed");
    const int count = studies();
    printf("# | machine | coverage, %%: 6 rounds | 8 | 12 | 1.4 times as fast, found %%: 6 | 8 | 12 |\n"
           "# | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        int found[3] = {0};
        printf("# | %s |", machines[m].name);
        for (int k = 0; k < 3; k++) {
            int covered = 0, known = 0;
            for (int s = 0; s < count; s++) {
                const struct ys_comparison equal = study_of_two(&rng, &machines[m], 1, 0.03, rounds[k]);
                known += equal.interval.known;
                covered += equal.interval.known && equal.interval.lo <= 1 && 1 <= equal.interval.hi;
                found[k] += study_of_two(&rng, &machines[m], 1.4, 0.03, rounds[k]).verdict == YS_VERDICT_BETTER;
            }
            const double share = 100.0 * covered / (known ? known : 1);
            printf(" %.1f |", share);
            CHECK(machines[m].marks_slow || share >= 93 - slack(93, known ? known : 1));
        }
        for (int k = 0; k < 3; k++)
            printf(" %.0f |", 100.0 * found[k] / count);
        printf("\n");
        CHECK(m > 1 || 100.0 * found[0] / count >= 95 - slack(95, count));
    }
}

/* A study that goes on until it is decided; *rounds: that it took, and those that were run again. */
static struct ys_comparison study_until_decided(struct ys_rng *rng, const struct machine *machine, double truth,
                                                double *rounds)
{
    struct run runs[MOST_ROUNDS][TRIALS];
    const double truths[] = {1, truth};
    struct ys_look looks[YS_LOOKS_MOST];
    struct ys_comparison found = {.verdict = YS_VERDICT_UNCLEAR};
    const size_t count = ys_looks(MOST_ROUNDS, looks);
    int made = 0, repeats = 0;
    for (size_t k = 0; k < count && found.verdict == YS_VERDICT_UNCLEAR; k++) {
        const int upto = (int)looks[k].rounds;
        repeats += upto / 2 - made / 2;
        const int before = repeats;
        for (*rounds += upto - made; made < upto; made++)
            run_round(rng, machine, truths, 2, 0.03, &repeats, runs[made]);
        repeats = repeats < 0 ? 0 : repeats;
        *rounds += before - repeats;
        found = compare(runs, 1, upto, 1, looks[k].level);
    }
    return found;
}

/* Runs scatter by 3 %. */
static void what_is_decided_holds_whatever_was_taken(void)
{
    struct ys_rng rng = stream("decide disturbed");
    const int count = studies();
    printf("# | machine | equal: interval holds the truth, %% | called different, %% | 1.4 times as fast: found, %% | "
           "rounds, mean |\n# | --- | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        int covered = 0, known = 0, wrong = 0, right = 0;
        double rounds = 0, ignored = 0;
        for (int s = 0; s < count; s++) {
            const struct ys_comparison equal = study_until_decided(&rng, &machines[m], 1, &ignored);
            known += equal.interval.known;
            covered += equal.interval.known && equal.interval.lo <= 1 && 1 <= equal.interval.hi;
            wrong += equal.verdict == YS_VERDICT_BETTER || equal.verdict == YS_VERDICT_WORSE;
            right += study_until_decided(&rng, &machines[m], 1.4, &rounds).verdict == YS_VERDICT_BETTER;
        }
        const double share = 100.0 * covered / (known ? known : 1), found = 100.0 * right / count;
        printf("# | %s | %.1f | %.1f | %.0f | %.1f |\n", machines[m].name, share, 100.0 * wrong / count, found,
               rounds / count);
        CHECK(machines[m].marks_slow || share >= 93 - slack(93, known ? known : 1));
        CHECK(100.0 * wrong / count <= 5 + slack(5, count));
        CHECK(m > 1 || found >= 95 - slack(95, count));
    }
}

/* a is as fast as b, or 5 % slower; runs scatter by 3 %, eight rounds. That it is called faster would be its gain. */
static void an_adapter_that_disturbs_gains_nothing(void)
{
    static const struct machine tricks[] = {
        {.name = "none"},
        {.name = "disturbs b in a quarter of its runs", .burner_share = 0.25, .burner_most = 0.5, .of_b_alone = true},
        {.name = "disturbs b in all of its runs", .burner_share = 1, .burner_most = 0.5, .of_b_alone = true},
        {.name = "looks disturbed in its slowest quarter", .marks_slow = true},
    };
    struct ys_rng rng = stream("tricks");
    const int count = studies();
    printf("# | what a does | equal: called faster, %% | 5 %% slower: called faster, %% | called the same, %% | called "
           "slower, "
           "%% |\n# | --- | --- | --- | --- | --- |\n");
    for (int k = 0; k < 4; k++) {
        int better = 0, of_slower[YS_VERDICT_INVALID + 1] = {0};
        for (int s = 0; s < count; s++) {
            better += study_of_two(&rng, &tricks[k], 1, 0.03, 8).verdict == YS_VERDICT_BETTER;
            of_slower[study_of_two(&rng, &tricks[k], 1 / 1.05, 0.03, 8).verdict]++;
        }
        printf("# | %s |", tricks[k].name);
        CHECK(print_share(better, count) <= 2.5 + slack(2.5, count));
        CHECK(print_share(of_slower[YS_VERDICT_BETTER], count) <= 2.5 + slack(2.5, count));
        CHECK(print_share(of_slower[YS_VERDICT_SAME], count) <= 2.5 + slack(2.5, count));
        (void)print_share(of_slower[YS_VERDICT_WORSE], count);
        printf("\n");
    }
}

static bool is_false(const struct run runs[MOST_ROUNDS][TRIALS], int n)
{
    double values[TRIALS * MOST_ROUNDS], stretch = NAN;
    struct ys_family_pair pairs[TRIALS - 1];
    for (size_t t = 0; t < TRIALS; t++) {
        for (int i = 0; i < n; i++)
            values[t * (size_t)n + (size_t)i] = isinf(runs[i][t].up) ? (double)NAN : log(runs[i][t].speed);
        if (t > 0)
            pairs[t - 1] = (struct ys_family_pair){t, 0};
    }
    const struct ys_family family = {TRIALS, (size_t)n, values, pairs, TRIALS - 1, YS_STAT_LEVEL};
    CHECK(ys_family_stretch(&family, &stretch) == YS_OK);
    bool is_any = false;
    for (int t = 1; t < TRIALS; t++) {
        const enum ys_verdict verdict = compare(runs, t, n, stretch, YS_STAT_LEVEL).verdict;
        is_any |= verdict == YS_VERDICT_BETTER || verdict == YS_VERDICT_WORSE;
    }
    return is_any;
}

/* Of sixteen equal trials each with the first, eight rounds. */
static void equal_trials_are_called_equal_beside_a_burner_too(void)
{
    static const double scatters[] = {0.01, 0.05, 0.15};
    static const struct machine among[] = {
        {.name = "quiet"},
        {.name = "the host takes up to 3 %", .host_share = 1, .host_most = 0.03},
        {.name = "a burner, in a tenth of the runs", .burner_share = 0.1, .burner_most = 0.5},
        {.name = "a burner, in all runs", .burner_share = 1, .burner_most = 0.5},
    };
    struct ys_rng rng = stream("burner");
    const int count = studies() / 2;
    double truths[TRIALS];
    for (int t = 0; t < TRIALS; t++)
        truths[t] = 1;
    printf("# | runs scatter by | 1 %% | 5 %% | 15 %% |\n# | --- | --- | --- | --- |\n");
    for (int m = 0; m < 4; m++) {
        printf("# | %s |", among[m].name);
        for (int k = 0; k < 3; k++) {
            int wrong = 0;
            for (int s = 0; s < count; s++) {
                struct run runs[MOST_ROUNDS][TRIALS];
                int repeats = 4;
                for (int i = 0; i < 8; i++)
                    run_round(&rng, &among[m], truths, TRIALS, scatters[k], &repeats, runs[i]);
                wrong += is_false(runs, 8);
            }
            CHECK(print_share(wrong, count) <= 5 + slack(5, count));
        }
        printf("\n");
    }
}

TAP_MAIN(TAP_CASE(intervals_cover_whatever_was_taken), TAP_CASE(what_is_decided_holds_whatever_was_taken),
         TAP_CASE(an_adapter_that_disturbs_gains_nothing), TAP_CASE(equal_trials_are_called_equal_beside_a_burner_too))
