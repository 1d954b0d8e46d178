/* What a study is worth that goes on until it is decided (stat/looks.h): tables of docs/statistics.md, in made-up
 * studies whose truth is known (cells.h). */
#include "stat/compare.h"
#include "stat/family.h"
#include "stat/looks.h"
#include "statistics/cells.h"
#include "tap.h"

#include <stdbool.h>
#include <string.h>

enum { MOST = 20, TRIALS = 16 };
#define MARGIN 0.02

struct schedule {
    const char *name;
    size_t count;
    struct ys_look looks[YS_LOOKS_MOST];
};

/* That of the program, then others: a fixed number of rounds, and other places and shares. */
static const struct schedule others[] = {
    {"7 rounds, fixed", 1, {{7, 0.95}}},
    {"20 rounds, fixed", 1, {{20, 0.95}}},
    {"6, 12, 20: 3.13, 0.67, 1.2 %", 3, {{6, 0.9687}, {12, 0.9933}, {20, 0.988}}},
    {"8, 12, 20: 1.67 % each", 3, {{8, 1 - 0.05 / 3}, {12, 1 - 0.05 / 3}, {20, 1 - 0.05 / 3}}},
    {"8, 12, 20: 1, 1, 3 %", 3, {{8, 0.99}, {12, 0.99}, {20, 0.97}}},
    {"after each round from 7 on, 5 % each", 14, {{0, 0}}},
};
enum { OTHERS = sizeof others / sizeof others[0] };

static struct schedule of_the_program(void)
{
    struct schedule schedule = {.name = "7, 12, 20: 1.6, 0.9, 2.5 %"};
    schedule.count = ys_looks(MOST, schedule.looks);
    return schedule;
}

/* Of what would be wrong the looks do not fit into the table. */
static struct ys_look look_at(const struct schedule *schedule, size_t i)
{
    return schedule->looks[0].rounds ? schedule->looks[i] : (struct ys_look){7 + i, 0.95};
}

enum shape { NORMAL, LOGNORMAL, BIMODAL, SPIKES, DRIFT, SHAPES };
static const char *const shape_names[SHAPES] = {"normal", "log-normal", "two modes", "spikes",
                                                "drift and slow waves shared by the rounds"};

static double draw(struct ys_rng *rng, enum shape shape, double scatter, double shared)
{
    double z = ys_rng_normal(rng);
    if (shape == LOGNORMAL)
        z = exp(z);
    else if (shape == BIMODAL)
        z = 0.2 * z + (ys_rng_below(rng, 2) ? 3 : 0);
    else if (shape == SPIKES)
        z = ys_rng_below(rng, 10) ? z : 10 * fabs(z);
    return exp(scatter * z + (shape == DRIFT ? scatter * shared : 0));
}

/* values[trial][round]; all are as fast but the second, which is `truth` times as fast. */
static void make_study(struct ys_rng *rng, enum shape shape, double scatter, double truth, int trials,
                       double values[TRIALS][MOST])
{
    const double phase = 6.283 * ys_rng_uniform(rng);
    for (int i = 0; i < MOST; i++)
        for (int t = 0; t < trials; t++)
            values[t][i] = (t == 1 ? truth : 1) * draw(rng, shape, scatter, 10.0 * i / MOST + 3 * sin(phase + 0.9 * i));
}

static double stretch_of(double values[TRIALS][MOST], int trials, const struct ys_look *look)
{
    double logarithms[TRIALS * MOST];
    struct ys_family_pair pairs[TRIALS];
    for (size_t t = 0; t < (size_t)trials; t++) {
        for (size_t i = 0; i < look->rounds; i++)
            logarithms[t * look->rounds + i] = log(values[t][i]);
        if (t)
            pairs[t - 1] = (struct ys_family_pair){t, 0};
    }
    const struct ys_family family = {(size_t)trials, look->rounds, logarithms, pairs, (size_t)trials - 1, look->level};
    return ys_family_stretch(&family);
}

static bool is_decided(const struct ys_comparison *found)
{
    return found->verdict != YS_VERDICT_UNCLEAR && found->verdict != YS_VERDICT_INVALID;
}

struct ended {
    struct ys_comparison found[TRIALS]; /* of each but the first with the first, as it was decided */
    size_t rounds;
};

/* As the program: each comparison stays what it was at the look that decided it. */
static struct ended study_of(double values[TRIALS][MOST], int trials, double margin, const struct schedule *schedule)
{
    struct ended ended = {.rounds = 0};
    for (size_t k = 0, open = 1; k < schedule->count && open; k++) {
        const struct ys_look look = look_at(schedule, k);
        const struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER,
                                             .margin = margin,
                                             .stretch = trials > 2 ? stretch_of(values, trials, &look) : 1,
                                             .level = look.level};
        open = 0;
        ended.rounds = look.rounds;
        for (int t = 1; t < trials; t++) {
            if (k && is_decided(&ended.found[t]))
                continue;
            ys_compare(values[t], values[0], look.rounds, &rule, &ended.found[t]);
            open += !is_decided(&ended.found[t]);
        }
    }
    return ended;
}

static bool covers(const struct ys_comparison *found, double truth)
{
    return found->interval.known && found->interval.lo <= truth && truth <= found->interval.hi;
}

static bool is_right(const struct ys_comparison *found, double truth)
{
    return found->verdict == (truth > 1 + MARGIN ? YS_VERDICT_BETTER : YS_VERDICT_SAME);
}

/* Two trials, margin 2 %. */
static void what_is_large_is_decided_early(void)
{
    static const double scatters[] = {0.01, 0.03, 0.1}, truths[] = {1, 1.03, 1.05, 1.1, 1.2, 1.4};
    const struct schedule schedule = of_the_program();
    struct ys_rng rng = stream("decide");
    const int count = studies();
    printf("# | runs scatter by | true difference | rounds, mean | decided rightly, %% | wrongly, %% | "
           "interval holds the truth, %% | 7 rounds, rightly | 20, rightly |\n"
           "# | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int s = 0; s < 3; s++) {
        for (int d = 0; d < 6; d++) {
            int right = 0, wrong = 0, covered = 0, of_fixed[2] = {0};
            double rounds = 0;
            for (int i = 0; i < count; i++) {
                double values[TRIALS][MOST];
                make_study(&rng, NORMAL, scatters[s], truths[d], 2, values);
                const struct ended ended = study_of(values, 2, MARGIN, &schedule);
                rounds += (double)ended.rounds;
                right += is_right(&ended.found[1], truths[d]);
                wrong += is_decided(&ended.found[1]) && !is_right(&ended.found[1], truths[d]);
                covered += covers(&ended.found[1], truths[d]);
                for (int k = 0; k < 2; k++)
                    of_fixed[k] += is_right(&study_of(values, 2, MARGIN, &others[k]).found[1], truths[d]);
            }
            printf("# | %.0f %% | %.0f %% | %.1f | %.0f | %.1f | %.1f | %.0f | %.0f |\n", 100 * scatters[s],
                   100 * (truths[d] - 1), rounds / count, 100.0 * right / count, 100.0 * wrong / count,
                   100.0 * covered / count, 100.0 * of_fixed[0] / count, 100.0 * of_fixed[1] / count);
            CHECK(100.0 * wrong / count <= 5 + slack(5, count));
            CHECK(100.0 * covered / count >= 95 - slack(95, count));
        }
    }
}

static void the_interval_holds_whatever_the_noise(void)
{
    static const double scatters[] = {0.01, 0.03, 0.1};
    const struct schedule schedule = of_the_program();
    struct ys_rng rng = stream("decide shapes");
    const int count = studies();
    printf("# | interval holds the truth, %% | 1 %% | 3 %% | 10 %% |\n# | --- | --- | --- | --- |\n");
    for (enum shape shape = NORMAL; shape < SHAPES; shape++) {
        printf("# | %s |", shape_names[shape]);
        for (int s = 0; s < 3; s++) {
            int covered = 0;
            for (int i = 0; i < count; i++) {
                double values[TRIALS][MOST];
                make_study(&rng, shape, scatters[s], 1.05, 2, values);
                const struct ended ended = study_of(values, 2, MARGIN, &schedule);
                covered += covers(&ended.found[1], 1.05);
            }
            printf(" %.1f |", 100.0 * covered / count);
            CHECK(100.0 * covered / count >= 95 - slack(95, count));
        }
        printf("\n");
    }
}

/* What else could have been. Two trials that scatter by 3 %; margin 0 for the false verdicts. */
static void other_places_and_shares_do_no_better(void)
{
    struct schedule all[OTHERS + 1] = {of_the_program()};
    struct ys_rng rng = stream("schedules");
    const int count = studies();
    memcpy(&all[1], others, sizeof others);
    printf("# | looks after, and their shares | equal, margin 0: called different, %% | 5 %%: rounds | found, %% | "
           "10 %%: rounds | found, %% | 40 %%: rounds |\n# | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int k = 0; k <= OTHERS; k++) {
        int wrong = 0, found[2] = {0};
        double rounds[3] = {0};
        for (int i = 0; i < count; i++) {
            static const double truths[] = {1.05, 1.1, 1.4};
            double values[TRIALS][MOST];
            make_study(&rng, NORMAL, 0.03, 1, 2, values);
            wrong += is_decided(&study_of(values, 2, 0, &all[k]).found[1]);
            for (int d = 0; d < 3; d++) {
                make_study(&rng, NORMAL, 0.03, truths[d], 2, values);
                const struct ended ended = study_of(values, 2, MARGIN, &all[k]);
                rounds[d] += (double)ended.rounds;
                if (d < 2)
                    found[d] += ended.found[1].verdict == YS_VERDICT_BETTER;
            }
        }
        printf("# | %s | %.1f | %.1f | %.0f | %.1f | %.0f | %.1f |\n", all[k].name, 100.0 * wrong / count,
               rounds[0] / count, 100.0 * found[0] / count, rounds[1] / count, 100.0 * found[1] / count,
               rounds[2] / count);
        CHECK((100.0 * wrong / count <= 5 + slack(5, count)) == (k < OTHERS));
    }
}

/* Sixteen equal trials, each with the first. */
static void equal_trials_are_not_called_different_because_one_looks_again(void)
{
    static const double scatters[] = {0.01, 0.05, 0.15}, margins[] = {MARGIN, 0};
    const struct schedule schedule = of_the_program();
    struct ys_rng rng = stream("decide sixteen");
    const int count = studies() / 2;
    printf("# | margin | 1 %% | 5 %% | 15 %% |\n# | --- | --- | --- | --- |\n");
    for (int m = 0; m < 2; m++) {
        printf("# | %.0f %% |", 100 * margins[m]);
        for (int s = 0; s < 3; s++) {
            int wrong = 0;
            for (int i = 0; i < count; i++) {
                double values[TRIALS][MOST];
                bool is_any = false;
                make_study(&rng, NORMAL, scatters[s], 1, TRIALS, values);
                const struct ended ended = study_of(values, TRIALS, margins[m], &schedule);
                for (int t = 1; t < TRIALS; t++)
                    is_any |= ended.found[t].verdict == YS_VERDICT_BETTER || ended.found[t].verdict == YS_VERDICT_WORSE;
                wrong += is_any;
            }
            CHECK(print_share(wrong, count) <= 5 + slack(5, count));
        }
        printf("\n");
    }
}

TAP_MAIN(TAP_CASE(what_is_large_is_decided_early), TAP_CASE(the_interval_holds_whatever_the_noise),
         TAP_CASE(other_places_and_shares_do_no_better),
         TAP_CASE(equal_trials_are_not_called_different_because_one_looks_again))
