/* Where speeds place a version between two ends. */
#include "campaign/bisect.h"
#include "stat/signed_rank.h"

#include <math.h>

/* To whom of the team what the machine took is given back, a bit each. */
enum placed_side { TO_NOBODY, TO_GOOD = 1, TO_BAD = 2, TO_ENDS = TO_GOOD | TO_BAD, TO_MIDDLE = 4 };

/* What is asked of some speeds: those of `a` against those of `b`, or against the middle of both ends. */
struct placed_speeds {
    size_t a, b;
    bool middle;
    enum placed_side given;
    bool restored; /* with the rounds of which nobody knows what was taken */
};

static double speed_of(const struct ys_bisect_speeds *speeds, size_t i, int round, enum placed_side given)
{
    return speeds->values[i][round] + ((unsigned)given >> i & 1 ? speeds->taken[i][round] : 0);
}

static double difference_of(const struct ys_bisect_speeds *speeds, const struct placed_speeds *asked, int round,
                            enum placed_side given)
{
    const double other = asked->middle ? (speed_of(speeds, 0, round, given) + speed_of(speeds, 1, round, given)) / 2
                                       : speed_of(speeds, asked->b, round, given);
    return speed_of(speeds, asked->a, round, given) - other;
}

static bool is_untold(const struct ys_bisect_speeds *speeds, const struct placed_speeds *asked, int round)
{
    const size_t first = asked->middle ? 0 : asked->b, last = asked->middle ? 1 : asked->b;
    bool is = isinf(speeds->taken[asked->a][round]);
    for (size_t i = first; i <= last; i++)
        is |= isinf(speeds->taken[i][round]) != 0;
    return is;
}

/* What counts for nothing: rounds that were left out; and these with attempts that were run again. */
struct out {
    size_t rounds, put_back;
};

/* The differences that count, and their number: of the rounds that both have, first those of which it is known what was
 * taken. What nobody knows is infinite where it is given back: as far as the farthest of the others, or its own. */
static size_t differences_of(const struct ys_bisect_speeds *speeds, int rounds, const struct placed_speeds *asked,
                             double values[YS_BISECT_RUNS_MOST], struct out *out)
{
    size_t n = 0;
    double least = INFINITY, most = -INFINITY;
    *out = (struct out){0};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < rounds + pass * speeds->again; i++) {
            const int r = i < rounds ? i : YS_BISECT_ROUNDS_MOST + i - rounds;
            const double own = difference_of(speeds, asked, r, TO_NOBODY);
            double value = difference_of(speeds, asked, r, asked->given);
            if (!isfinite(own) || is_untold(speeds, asked, r) != pass)
                continue;
            out->rounds += pass && i < rounds;
            out->put_back += (size_t)pass;
            if (pass && !asked->restored)
                continue;
            if (pass && isinf(value))
                value = value > 0 ? fmax(own, most) : fmin(own, least);
            least = pass ? least : fmin(least, value);
            most = pass ? most : fmax(most, value);
            values[n++] = value;
        }
    }
    return n;
}

/* Their centre, in logarithms. */
static void centre_of(const struct ys_bisect_speeds *speeds, int rounds, struct placed_speeds asked, double *centre,
                      double *p)
{
    double values[YS_BISECT_RUNS_MOST];
    struct ys_centre found;
    struct out out;
    const size_t n = differences_of(speeds, rounds, &asked, values, &out);
    ys_signed_rank_centre(values, n, YS_STAT_LEVEL, &found);
    *centre = found.value;
    if (p)
        *p = ys_signed_rank_p(values, n);
}

/* Whether there is a value without what is left of warm-up wherever there is one with it. */
static bool tells_warm_up(const struct ys_bisect_speeds *speeds, const struct ys_bisect_speeds *settled, size_t count,
                          int rounds)
{
    bool tells = true;
    for (size_t i = 0; i < count; i++)
        for (int r = 0; r < rounds; r++)
            tells = tells && !isfinite(speeds->values[i][r]) == !isfinite(settled->values[i][r]);
    return tells;
}

/* A question that is asked of the same speeds in all ways in which they may have been measured. */
struct test {
    double level, margin;
    bool of_ends; /* how the bad end lies to the good one: 1 faster, -1 slower; else to which the middle lies nearer */
};

/* By these speeds alone, as `asked` says: 1, -1, or 0 where it is neither. */
static void answer(const struct ys_bisect_speeds *speeds, int rounds, const struct test *test, enum placed_side given,
                   bool restored, struct ys_bisect_step *step, int *way)
{
    double centre, ends, other;
    const struct placed_speeds of_ends = {1, 0, false, given, restored}, of_middle = {2, 0, true, given, restored},
                               to_good = {2, 0, false, given, restored}, to_bad = {2, 1, false, given, restored};
    centre_of(speeds, rounds, test->of_ends ? of_ends : of_middle, &centre, &step->p);
    if (test->of_ends) {
        step->to_good = exp(centre);
        *way = step->p <= test->level && fabs(centre) > log1p(test->margin) ? (centre > 0 ? 1 : -1) : 0;
        return;
    }
    centre_of(speeds, rounds, of_ends, &ends, NULL);
    centre_of(speeds, rounds, to_good, &other, NULL);
    step->to_good = exp(other);
    centre_of(speeds, rounds, to_bad, &other, NULL);
    step->to_bad = exp(other);
    *way = step->p <= test->level ? ((centre > 0) == (ends > 0) ? 1 : -1) : 0;
}

/* The answer, where it is the same with what was taken given back to one side or to the other, with rounds that were
 * left out and without, and with what is left of warm-up and without; else 0. */
static void answer_all(const struct ys_bisect_speeds *speeds, const struct ys_bisect_speeds *settled, int rounds,
                       const struct test *test, struct ys_bisect_step *step, int *way)
{
    static const enum placed_side sides[2][2] = {{TO_ENDS, TO_MIDDLE}, {TO_GOOD, TO_BAD}};
    const struct placed_speeds most = test->of_ends ? (struct placed_speeds){1, 0, false, TO_NOBODY, false}
                                                    : (struct placed_speeds){2, 0, true, TO_NOBODY, false};
    const bool has_settled = tells_warm_up(speeds, settled, test->of_ends ? 2 : YS_BISECT_TEAM, rounds);
    double unused[YS_BISECT_RUNS_MOST];
    struct out out;
    const size_t kept = differences_of(speeds, rounds, &most, unused, &out);
    answer(speeds, rounds, test, TO_NOBODY, false, step, way);
    if (out.rounds * 3 > kept + out.rounds)
        *way = 0;
    for (size_t i = 0; *way && i < 8; i++) {
        const bool is_settled = i & 1, is_restored = i & 2;
        struct ys_bisect_step other = {0};
        int found = *way;
        if ((!is_settled || has_settled) && (!is_restored || out.put_back))
            answer(is_settled ? settled : speeds, rounds, test, sides[test->of_ends][i >> 2], is_restored, &other,
                   &found);
        *way = found == *way ? *way : 0;
    }
}

void ys_bisect_tell_apart(const struct ys_bisect_speeds *speeds, const struct ys_bisect_speeds *settled, int rounds,
                          double level, double margin, struct ys_bisect_step *step)
{
    int way;
    const struct test test = {level, margin, true};
    answer_all(speeds, settled, rounds, &test, step, &way);
    step->side = way ? YS_BISECT_BAD : YS_BISECT_UNCLEAR;
}

void ys_bisect_place(const struct ys_bisect_speeds *speeds, const struct ys_bisect_speeds *settled, int rounds,
                     double level, struct ys_bisect_step *step)
{
    int way;
    const struct test test = {.level = level};
    answer_all(speeds, settled, rounds, &test, step, &way);
    step->side = way > 0 ? YS_BISECT_BAD : way < 0 ? YS_BISECT_GOOD : YS_BISECT_UNCLEAR;
}
