/* What a verdict is worth on a machine that does something else: tables of docs/statistics.md, in made-up studies whose
 * truth is known (cells.h). A run takes as long as it would alone, and what was taken from it; what yardstick sees is
 * how long it took, and of what was taken the most that it can have been, or that nobody knows. */
#include "campaign/bisect.h"
#include "judge/gate.h"
#include "judge/history.h"
#include "judge/judge_parts.h"
#include "stat/compare.h"
#include "stat/family.h"
#include "stat/looks.h"
#include "statistics/cells.h"
#include "tap.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_ROUNDS = 50, DECIDE_MOST = 20, TRIALS = 16 };
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

/* By how large a part a run could be shorter. */
static double part_of(const struct run *run)
{
    return isinf(run->up) ? (double)NAN : 1 - exp(-run->up);
}

/* What a study has run, [round][trial]; and its attempts that were run again. */
struct made {
    struct run runs[MOST_ROUNDS][TRIALS], again[MOST_ROUNDS][TRIALS];
    int rounds, again_count;
};

/* A round, which is run again once where nobody knows what was taken, while `*repeats` are left. */
static void run_round(struct ys_rng *rng, const struct machine *machine, const double *truths, int trials,
                      double scatter, int *repeats, struct made *made)
{
    struct run *runs = made->runs[made->rounds++];
    bool is_untold = true;
    for (int i = 0; i < 2 && is_untold && (i == 0 || *repeats > 0); i++) {
        if (i) {
            memcpy(made->again[made->again_count++], runs, sizeof made->again[0]);
            --*repeats;
        }
        is_untold = false;
        for (int t = 0; t < trials; t++) {
            runs[t] = run_on(rng, machine, t > 0, truths[t], scatter);
            is_untold |= isinf(runs[t].up);
        }
    }
}

/* Up to `upto` rounds. */
static void run_rounds(struct ys_rng *rng, const struct machine *machine, const double *truths, int trials,
                       double scatter, int upto, int *repeats, struct made *made)
{
    while (made->rounds < upto)
        run_round(rng, machine, truths, trials, scatter, repeats, made);
}

/* Pairs of a, trial `a`, and b, trial 0: of each round, and of the attempts of which nobody knows what was taken. */
static struct ys_compare_rounds pairs_of(const struct made *made, int a, double lists[4][2 * MOST_ROUNDS])
{
    struct ys_compare_rounds pairs = {.a = lists[0], .b = lists[1], .of_a = lists[2], .of_b = lists[3]};
    for (int i = 0; i < made->rounds + made->again_count; i++) {
        const bool is_again = i >= made->rounds;
        const struct run *runs = is_again ? made->again[i - made->rounds] : made->runs[i];
        if (is_again && !isinf(runs[a].up) && !isinf(runs[0].up))
            continue;
        pairs.a[pairs.n] = runs[a].speed;
        pairs.b[pairs.n] = runs[0].speed;
        pairs.of_a[pairs.n] = part_of(&runs[a]);
        pairs.of_b[pairs.n++] = part_of(&runs[0]);
        pairs.again += is_again;
    }
    return pairs;
}

static struct ys_comparison compare(const struct made *made, int a, double stretch, double level)
{
    double lists[4][2 * MOST_ROUNDS];
    const struct ys_compare_rounds pairs = pairs_of(made, a, lists);
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_HIGHER, .margin = MARGIN, .stretch = stretch, .level = level};
    struct ys_comparison found = {0};
    ys_compare_rounds(&pairs, rule, true, &found);
    return found;
}

static struct ys_comparison study_of_two(struct ys_rng *rng, const struct machine *machine, double truth,
                                         double scatter, int n)
{
    struct made made = {.rounds = 0};
    const double truths[] = {1, truth};
    int repeats = n / 2;
    run_rounds(rng, machine, truths, 2, scatter, n, &repeats, &made);
    return compare(&made, 1, 1, YS_STAT_LEVEL);
}

/* Runs scatter by 3 %. A study without an interval covers nothing and is not counted. `compare --confirm` has ten
 * rounds. */
static void intervals_cover_whatever_was_taken(void)
{
    enum { LENGTHS = 4 };
    static const int rounds[LENGTHS] = {6, 8, 10, 12};
    struct ys_rng rng = stream("disturbed");
    const int count = studies();
    printf("# | machine | coverage, %%: 6 rounds | 8 | 10 | 12 | 1.4 times as fast, found %%: 6 | 8 | 10 | 12 |\n"
           "# | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        int found[LENGTHS] = {0};
        printf("# | %s |", machines[m].name);
        for (int k = 0; k < LENGTHS; k++) {
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
        for (int k = 0; k < LENGTHS; k++)
            printf(" %.0f |", 100.0 * found[k] / count);
        printf("\n");
        CHECK(m > 1 || 100.0 * found[0] / count >= 95 - slack(95, count));
    }
}

/* A study that goes on until it is decided; *rounds: that it took, and those that were run again. */
static struct ys_comparison study_until_decided(struct ys_rng *rng, const struct machine *machine, double truth,
                                                double *rounds)
{
    struct made made = {.rounds = 0};
    const double truths[] = {1, truth};
    struct ys_look looks[YS_LOOKS_MOST];
    struct ys_comparison found = {.verdict = YS_VERDICT_UNCLEAR};
    const size_t count = ys_looks(DECIDE_MOST, looks);
    int repeats = 0;
    for (size_t k = 0; k < count && found.verdict == YS_VERDICT_UNCLEAR; k++) {
        const int upto = (int)looks[k].rounds;
        repeats += upto / 2 - made.rounds / 2;
        run_rounds(rng, machine, truths, 2, 0.03, upto, &repeats, &made);
        found = compare(&made, 1, 1, looks[k].level);
    }
    *rounds += made.rounds + made.again_count;
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

/* a is as fast as b, or 5 % slower. That it is called faster would be its gain: what looks disturbed is run again, so
 * the more rounds there are and the more they scatter, the more there is to gain by looking so. */
static void an_adapter_that_disturbs_gains_nothing(void)
{
    static const struct machine tricks[] = {
        {.name = "none"},
        {.name = "disturbs b in a quarter of its runs", .burner_share = 0.25, .burner_most = 0.5, .of_b_alone = true},
        {.name = "disturbs b in all of its runs", .burner_share = 1, .burner_most = 0.5, .of_b_alone = true},
        {.name = "looks disturbed in its slowest quarter", .marks_slow = true},
    };
    static const struct {
        double scatter;
        int rounds;
    } of[] = {{0.03, 8}, {0.15, 20}};
    struct ys_rng rng = stream("tricks");
    const int count = studies();
    printf("# | what a does | runs scatter by | rounds | equal: called faster, %% | 5 %% slower: called faster, %% | "
           "called the same, %% | called slower, %% |\n# | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 8; i++) {
        const struct machine *trick = &tricks[i / 2];
        const double scatter = of[i % 2].scatter;
        int better = 0, of_slower[YS_VERDICT_INVALID + 1] = {0};
        for (int s = 0; s < count; s++) {
            better += study_of_two(&rng, trick, 1, scatter, of[i % 2].rounds).verdict == YS_VERDICT_BETTER;
            of_slower[study_of_two(&rng, trick, 1 / 1.05, scatter, of[i % 2].rounds).verdict]++;
        }
        printf("# | %s | %.0f %% | %d |", trick->name, 100 * scatter, of[i % 2].rounds);
        CHECK(print_share(better, count) <= 2.5 + slack(2.5, count));
        CHECK(print_share(of_slower[YS_VERDICT_BETTER], count) <= 2.5 + slack(2.5, count));
        CHECK(print_share(of_slower[YS_VERDICT_SAME], count) <= 2.5 + slack(2.5, count));
        (void)print_share(of_slower[YS_VERDICT_WORSE], count);
        printf("\n");
    }
}

static bool is_false(const struct made *made)
{
    const int n = made->rounds;
    double values[TRIALS * MOST_ROUNDS];
    struct ys_family_pair pairs[TRIALS - 1];
    for (size_t t = 0; t < TRIALS; t++) {
        for (int i = 0; i < n; i++)
            values[t * (size_t)n + (size_t)i] = isinf(made->runs[i][t].up) ? (double)NAN : log(made->runs[i][t].speed);
        if (t > 0)
            pairs[t - 1] = (struct ys_family_pair){t, 0};
    }
    const struct ys_family family = {TRIALS, (size_t)n, values, pairs, TRIALS - 1, YS_STAT_LEVEL};
    const double stretch = ys_family_stretch(&family);
    bool is_any = false;
    for (int t = 1; t < TRIALS; t++) {
        const enum ys_verdict verdict = compare(made, t, stretch, YS_STAT_LEVEL).verdict;
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
                struct made made = {.rounds = 0};
                int repeats = 4;
                run_rounds(&rng, &among[m], truths, TRIALS, scatters[k], 8, &repeats, &made);
                wrong += is_false(&made);
            }
            CHECK(print_share(wrong, count) <= 5 + slack(5, count));
        }
        printf("\n");
    }
}

/* What `gate --confirm` makes of a rule: its looks, of which each part has repeats of its own, as studies have. */
static int gate_confirmed(struct ys_rng *rng, const struct machine *machine, const struct ys_rule *rule, double truth,
                          double *rounds)
{
    struct made made = {.rounds = 0};
    struct ys_gate_check check;
    const double truths[] = {1, truth};
    ys_record_init(&ys_gate_check_record, &check);
    check.scale = YS_SCALE_RATIO;
    check.outcome = YS_GATE_OPEN;
    for (size_t look = 0; check.outcome == YS_GATE_OPEN && look < YS_GATE_LOOKS; look++) {
        double lists[4][2 * MOST_ROUNDS];
        int repeats = ((int)YS_GATE_ROUNDS[look] - made.rounds) / 2;
        run_rounds(rng, machine, truths, 2, 0.03, (int)YS_GATE_ROUNDS[look], &repeats, &made);
        const struct ys_compare_rounds fresh = pairs_of(&made, 1, lists);
        ys_gate_confirm(&check, rule, &fresh, YS_GATE_LEVEL);
    }
    *rounds += made.rounds + made.again_count;
    const int outcome = check.outcome;
    ys_record_fini(&ys_gate_check_record, &check);
    return outcome;
}

/* "rate_per_s >= -10 %"; runs scatter by 3 %. */
static void what_gates_confirm_holds_whatever_was_taken(void)
{
    const struct ys_rule rule = {.metric = "rate_per_s", .at_least = true, .change = -0.1};
    static const double truths[] = {0.9, 1, 1 / 1.4};
    struct ys_rng rng = stream("confirm");
    const int count = studies();
    printf(
        "# | machine | just at the bound: holds, %% | broken, %% | as fast: holds, %% | broken, %% | 1.4 times slower: "
        "holds, %% | broken, %% | rounds, mean |\n# | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        int counts[3][YS_GATE_OPEN + 1] = {{0}};
        double rounds = 0;
        printf("# | %s |", machines[m].name);
        for (int k = 0; k < 3; k++) {
            for (int s = 0; s < count; s++)
                counts[k][gate_confirmed(&rng, &machines[m], &rule, truths[k], &rounds)]++;
            printf(" %.1f | %.1f |", 100.0 * counts[k][YS_GATE_HOLDS] / count,
                   100.0 * counts[k][YS_GATE_BROKEN] / count);
        }
        printf(" %.1f |\n", rounds / (3.0 * count));
        CHECK(100.0 * counts[0][YS_GATE_HOLDS] / count <= 2.5 + slack(2.5, count));
        CHECK(100.0 * counts[0][YS_GATE_BROKEN] / count <= 2.5 + slack(2.5, count));
        CHECK(counts[1][YS_GATE_BROKEN] == 0 && counts[2][YS_GATE_HOLDS] == 0);
        CHECK(m > 1 || 100.0 * counts[2][YS_GATE_BROKEN] / count >= 95 - slack(95, count));
    }
}

enum { VERSIONS = 4 };

static void set_speeds(const struct run *runs, int team, int at, struct ys_bisect_speeds *speeds)
{
    for (int i = 0; i < team; i++) {
        speeds->values[i][at] = log(runs[i].speed);
        speeds->taken[i][at] = runs[i].up;
    }
}

/* What a question of `bisect` comes to: of the ends where `share` is NaN, else of a version that lies at `share` of the
 * way from the good end to the bad one, which is `apart` times as fast. */
static int bisected(struct ys_rng *rng, const struct machine *machine, double apart, double share, double *rounds)
{
    struct made made = {.rounds = 0};
    struct ys_bisect_speeds speeds = {.again = 0}, settled = {.again = 0};
    struct ys_bisect_step step = {.side = YS_BISECT_UNCLEAR};
    const bool of_ends = isnan(share);
    const double truths[YS_BISECT_TEAM] = {1, apart, of_ends ? 1 : pow(apart, share)},
                 level = YS_BISECT_LEVEL / (YS_BISECT_LOOKS * ys_bisect_questions(VERSIONS));
    const int team = of_ends ? 2 : YS_BISECT_TEAM;
    for (int i = 0; i < YS_BISECT_TEAM * YS_BISECT_RUNS_MOST; i++)
        settled.values[i / YS_BISECT_RUNS_MOST][i % YS_BISECT_RUNS_MOST] = NAN;
    for (int look = 0; step.side == YS_BISECT_UNCLEAR && look < YS_BISECT_LOOKS; look++) {
        const int upto = YS_BISECT_ROUNDS[look];
        int repeats = (upto - made.rounds) / 2;
        run_rounds(rng, machine, truths, team, 0.03, upto, &repeats, &made);
        for (int r = 0; r < upto; r++)
            set_speeds(made.runs[r], team, r, &speeds);
        for (; speeds.again < made.again_count; speeds.again++)
            set_speeds(made.again[speeds.again], team, YS_BISECT_ROUNDS_MOST + speeds.again, &speeds);
        if (of_ends)
            ys_bisect_tell_apart(&speeds, &settled, upto, level, MARGIN, &step);
        else
            ys_bisect_place(&speeds, &settled, upto, level, &step);
    }
    *rounds += made.rounds + made.again_count;
    return step.side;
}

/* The ends are equal, or the bad one 1.4 times slower; runs scatter by 3 %. Of four versions a question may err in a
 * third of 5 %. */
static void what_is_bisected_holds_whatever_was_taken(void)
{
    struct ys_rng rng = stream("bisect");
    const int count = studies();
    const double most = 100 * YS_BISECT_LEVEL / ys_bisect_questions(VERSIONS);
    printf(
        "# | machine | equal ends: told apart, %% | 1.4 times: told apart, %% | half way: placed, %% | as the bad end: "
        "placed there, %% | at the good one, %% | rounds, mean |\n# | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        int alike = 0, apart = 0, half_way = 0, sides[YS_BISECT_UNCLEAR + 1] = {0};
        double rounds = 0, ignored = 0;
        for (int s = 0; s < count; s++) {
            alike += bisected(&rng, &machines[m], 1, NAN, &ignored) != YS_BISECT_UNCLEAR;
            apart += bisected(&rng, &machines[m], 1 / 1.4, NAN, &ignored) != YS_BISECT_UNCLEAR;
            half_way += bisected(&rng, &machines[m], 1 / 1.4, 0.5, &ignored) != YS_BISECT_UNCLEAR;
            sides[bisected(&rng, &machines[m], 1 / 1.4, 1, &rounds)]++;
        }
        const double right = 100.0 * sides[YS_BISECT_BAD] / count;
        printf("# | %s | %.1f | %.0f | %.1f | %.0f | %.1f | %.1f |\n", machines[m].name, 100.0 * alike / count,
               100.0 * apart / count, 100.0 * half_way / count, right, 100.0 * sides[YS_BISECT_GOOD] / count,
               rounds / count);
        CHECK(100.0 * alike / count <= most + slack(most, count));
        CHECK(100.0 * half_way / count <= most + slack(most, count));
        CHECK(sides[YS_BISECT_GOOD] == 0);
        CHECK(m > 1 || right >= 95 - slack(95, count));
    }
}

/* The runs of one trial of a study, as `compare`, `gate` and `history` have them: of a speed, without warm-up. */
struct told_runs {
    double speeds[2 * MOST_ROUNDS], taken[2 * MOST_ROUNDS], bias[2 * MOST_ROUNDS];
    struct ys_trial_metric metric;
};

static void study_apart(struct ys_rng *rng, const struct machine *machine, double truth, int n, int trial,
                        struct told_runs *told)
{
    struct made made = {.rounds = 0};
    const double truths[] = {1, truth};
    int repeats = n / 2;
    run_rounds(rng, machine, truths, 2, 0.03, n, &repeats, &made);
    for (int i = 0; i < n + made.again_count; i++) {
        const struct run *run = i < n ? &made.runs[i][trial] : &made.again[i - n][trial];
        told->speeds[i] = run->speed;
        told->taken[i] = part_of(run);
        told->bias[i] = 0;
    }
    told->metric = (struct ys_trial_metric){.n = (size_t)n,
                                            .by_round = told->speeds,
                                            .bias = told->bias,
                                            .taken = told->taken,
                                            .rounds = (size_t)n,
                                            .again = (size_t)made.again_count};
}

static size_t place_of_speed(const struct ys_metric_info **infos)
{
    size_t count, place = 0;
    *infos = ys_metric_infos(&count);
    while (place < count && strcmp((*infos)[place].name, "rate_per_s") != 0)
        place++;
    CHECK(place < count);
    return place;
}

/* What the trial a of one study is found to be against b of another. */
static struct ys_apart compare_apart(struct ys_rng *rng, const struct machine *machine, double truth, int n)
{
    const struct ys_metric_info *infos;
    const size_t speed = place_of_speed(&infos);
    struct told_runs a, b;
    struct ys_apart apart;
    study_apart(rng, machine, truth, n, 0, &b);
    study_apart(rng, machine, truth, n, 1, &a);
    const struct ys_result_trial candidate = {.values = &a.metric - speed}, base = {.values = &b.metric - speed};
    ys_judge_apart(&base, &candidate, speed, false, false, &apart);
    return apart;
}

static bool is_faster(const struct ys_apart *apart)
{
    return !apart->most_out && apart->centre.interval.lo > 1 + MARGIN && apart->restored.lo > 1 + MARGIN;
}

static bool is_slower(const struct ys_apart *apart)
{
    const double bound = 1 / (1 + MARGIN);
    return !apart->most_out && apart->centre.interval.hi < bound && apart->restored.hi < bound;
}

static void two_studies_cover_whatever_was_taken(void)
{
    enum { LENGTHS = 3 };
    static const int rounds[LENGTHS] = {7, 10, 20};
    struct ys_rng rng = stream("apart disturbed");
    const int count = studies();
    printf("# | machine | coverage, %%: 7 and 7 runs | 10 and 10 | 20 and 20 | called different, at most %% | "
           "1.4 times as fast, found %%: 7 and 7 | 10 and 10 | 20 and 20 |\n"
           "# | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        int found[LENGTHS] = {0}, most_wrong = 0;
        printf("# | %s |", machines[m].name);
        for (int k = 0; k < LENGTHS; k++) {
            int covered = 0, known = 0, wrong = 0;
            for (int s = 0; s < count; s++) {
                const struct ys_apart equal = compare_apart(&rng, &machines[m], 1, rounds[k]);
                const struct ys_interval *interval = &equal.centre.interval;
                known += interval->known;
                covered += interval->known && interval->lo <= 1 && 1 <= interval->hi;
                const struct ys_apart faster = compare_apart(&rng, &machines[m], 1.4, rounds[k]);
                found[k] += is_faster(&faster);
                wrong += is_faster(&equal) || is_slower(&equal);
            }
            most_wrong = wrong > most_wrong ? wrong : most_wrong;
            const double share = 100.0 * covered / (known ? known : 1);
            printf(" %.1f |", share);
            CHECK(machines[m].marks_slow || share >= 93 - slack(93, known ? known : 1));
        }
        CHECK(print_share(most_wrong, count) <= 5 + slack(5, count));
        for (int k = 0; k < LENGTHS; k++)
            printf(" %.0f |", 100.0 * found[k] / count);
        printf("\n");
        CHECK(m > 1 || 100.0 * found[0] / count >= 95 - slack(95, count));
    }
}

enum { POINTS = 12, RUNS_OF_POINT = 7 };

/* Whether twelve studies show a change, from the seventh on `truth` times as fast. */
static bool history_changes(struct ys_rng *rng, const struct machine *machine, double truth)
{
    const struct ys_metric_info *infos;
    const size_t speed = place_of_speed(&infos);
    double values[POINTS], low[POINTS], high[POINTS], scratch[RUNS_OF_POINT];
    bool change[POINTS], is_any = false;
    size_t n = 0;
    for (int p = 0; p < POINTS; p++) {
        double lows[RUNS_OF_POINT], highs[RUNS_OF_POINT];
        size_t kept = 0;
        struct told_runs told;
        study_apart(rng, machine, p < POINTS / 2 ? 1 : truth, RUNS_OF_POINT, 1, &told);
        for (size_t r = 0; r < RUNS_OF_POINT; r++) {
            struct ys_ends ends;
            ys_judge_ends(&told.metric, speed, r, &ends);
            lows[kept] = ends.low;
            highs[kept] = ends.high;
            kept += !ends.untold;
        }
        if ((RUNS_OF_POINT - kept) * 3 > RUNS_OF_POINT)
            continue;
        values[n] = ys_stat_median(told.speeds, RUNS_OF_POINT, scratch);
        low[n] = fmin(ys_stat_median(lows, kept, scratch), values[n]);
        high[n] = fmax(ys_stat_median(highs, kept, scratch), values[n]);
        n++;
    }
    ys_history_changes(values, low, high, n, MARGIN, change);
    for (size_t i = 0; i < n; i++)
        is_any |= change[i];
    return is_any;
}

static void history_shows_a_change_where_there_is_one(void)
{
    struct ys_rng rng = stream("history");
    const int count = studies();
    printf("# | machine | none: shown, %% | 5 %% faster from the seventh on: shown, %% | 1.4 times: shown, %% |\n"
           "# | --- | --- | --- | --- |\n");
    for (int m = 0; m < MACHINES; m++) {
        static const double truths[] = {1, 1.05, 1.4};
        double share[3];
        printf("# | %s |", machines[m].name);
        for (int k = 0; k < 3; k++) {
            int shown = 0;
            for (int s = 0; s < count; s++)
                shown += history_changes(&rng, &machines[m], truths[k]);
            share[k] = print_share(shown, count);
        }
        printf("\n");
        CHECK(share[0] <= 1 + slack(1, count));
        CHECK(m > 1 || share[2] >= 95 - slack(95, count));
    }
}

TAP_MAIN(TAP_CASE(intervals_cover_whatever_was_taken), TAP_CASE(what_is_decided_holds_whatever_was_taken),
         TAP_CASE(two_studies_cover_whatever_was_taken), TAP_CASE(history_shows_a_change_where_there_is_one),
         TAP_CASE(what_gates_confirm_holds_whatever_was_taken), TAP_CASE(what_is_bisected_holds_whatever_was_taken),
         TAP_CASE(an_adapter_that_disturbs_gains_nothing), TAP_CASE(equal_trials_are_called_equal_beside_a_burner_too))
