/* Two trials, round by round: by how much they differ, how sure that is, and what to call it.
 *
 * Round i of both trials ran with the same seed and near in time, so each round gives one ratio a[i] / b[i] (or
 * difference), and the comparison is the centre of those with its interval, by signed ranks (stat/signed_rank.h);
 * ratios by their logarithms. docs/statistics.md. */
#ifndef YS_STAT_COMPARE_H
#define YS_STAT_COMPARE_H

#include "base/json/record.h"
#include "stat/summary.h"

enum ys_better { YS_BETTER_HIGHER, YS_BETTER_LOWER, YS_BETTER_NEITHER };
extern const struct ys_names ys_betters; /* "higher", "lower", "neither" */

enum ys_verdict { YS_VERDICT_BETTER, YS_VERDICT_WORSE, YS_VERDICT_SAME, YS_VERDICT_UNCLEAR, YS_VERDICT_INVALID };
extern const struct ys_names ys_verdicts; /* "better", "worse", "same", "unclear", "invalid" */

/* From so many rounds on it is tested whether one round's ratio tells the next one's. */
#define YS_COMPARE_ROUNDS_MIN 12

struct ys_compare_rule {
    enum ys_better better;
    bool difference; /* a - b: for fractions such as an accuracy, where 0 is a fair value and a ratio would call 0.1 %
                        against 0.2 % twice as good; else a / b, for times, rates, sizes */
    double margin;   /* what counts as the same, >= 0 */
    double stretch;  /* of the family that this is one of (stat/family.h); 1 for a comparison of its own */
    double level;    /* of its intervals, at least; 0: YS_STAT_LEVEL */
    /* Of each round by how much a / b would change were what is left of both warm-ups gone, in logarithms (ys_steady's
     * `left` of a less that of b); NULL where that is no question. */
    const double *bias;
    bool bias_untold; /* there is a warm-up, and runs of too few blocks to tell what is left of it: no verdict */
    /* Of each round by how much its value, a logarithm of a ratio or a difference, could be lower and higher were what
     * the machine took from the two runs given back, >= 0; INFINITY: nobody knows by how much, and the round counts for
     * no interval. Both NULL where nothing was taken. */
    const double *down, *up;
    /* By ratio: INFINITY is a value too, that of a round which did not come to an end: longer than any that did. Two of
     * them are level, and `down` and `up` say how far they may lie apart (YS_COMPARE_BEYOND: nobody knows). A centre or
     * an end that falls on one is INFINITY, or 0. */
    bool endless;
    /* The last so many of the rounds are attempts that were run again, as nobody knows what the machine took from them:
     * they count for nothing, but are put back with the rounds that were left out. */
    size_t again;
};

struct ys_comparison {
    size_t n;                    /* rounds, without those that are left out */
    size_t left_out;             /* rounds from which the machine took nobody knows how much */
    double value;                /* the centre of the ratios or differences; NaN when there is none */
    struct ys_interval interval; /* of that centre, together with those of its family, from the lower end were all that
                                    was taken taken from the one trial to the upper end were all taken from the other:
                                    what the verdict is made of. Its level is the rule's where it was stretched */
    struct ys_interval single;   /* as if it were the only comparison */
    struct ys_interval settled;  /* `interval` were what is left of warm-up gone, by its estimate in each round; unknown
                                    where that is no question or cannot be told */
    /* The smallest true difference that this design finds nine times of ten with the scatter it had: 0.05 means a
     * ratio of 1.05 (or 1 / 1.05), or a difference of 0.05. NaN without an interval. */
    double resolution;
    /* Correlation of a round's ratio with the next one's, by ranks, and whether it is more than chance at 1 %,
     * one-sided (von Neumann's ratio of the ranks; Bartels 1982). NaN and false below YS_COMPARE_ROUNDS_MIN rounds,
     * where it cannot be told. */
    double correlation;
    bool correlated;
    double bias_bound;       /* the farthest that the interval of the rounds' bias reaches from 0; NaN where unknown */
    enum ys_verdict verdict; /* what a is against b */
    const char *reason;      /* a constant: why the verdict is unclear or invalid; NULL otherwise */
};

/* As a logarithm, farther than any ratio of times: averages with it do not fall among those without (a signed rank asks
 * no more of it). */
#define YS_COMPARE_BEYOND 1e6

/** What a verdict is made of: the ends of an interval, and the band that counts as the same, on one scale. */
struct ys_compare_ends {
    double lo, hi, low, high;
};
/** The rule of every verdict: same where the interval lies in the band, better or worse where it lies outside, else
 * unclear, and *reason, a constant, says why; NULL otherwise. `settled`: `on` were what is left of warm-up gone; NULL
 * where that is no question. The verdict must be that of both alike, else it is unclear. */
enum ys_verdict ys_compare_verdict_settled(const struct ys_compare_ends *on, const struct ys_compare_ends *settled,
                                           enum ys_better better, const char **reason);
/* Why there is no verdict, where it cannot be told what is left of warm-up. */
#define YS_COMPARE_UNTOLD                                                                                              \
    "runs of fewer than 30 blocks do not show when a program has warmed up: take smaller blocks, or more steps"
/* Why there is none, where too little is left, or where it hangs on what was left out. */
#define YS_COMPARE_MOST_OUT                                                                                            \
    "the machine was busy with something else in more than a third of the rounds: run it on a quieter machine, or "    \
    "with on_disturbance = ignore where it always is"
#define YS_COMPARE_FEW_LEFT                                                                                            \
    "fewer than 6 rounds are left without those in which the machine was busy with something else: run more rounds, "  \
    "or on a quieter machine"
#define YS_COMPARE_HANGS                                                                                               \
    "the rounds that were left out, as the machine was busy with something else, could change the answer: run more "   \
    "rounds, or on a quieter machine"
/* Why there is none, where `on` alone would give one. */
#define YS_COMPARE_BIASED                                                                                              \
    "the programs may still have been warming up, which could change the answer: let runs take more steps"

/** `a` and `b` hold n values each, round by round. "The same" is 1 / (1 + margin) <= ratio <= 1 + margin, or
 * -margin <= difference <= margin, so that swapping a and b swaps the verdict and nothing else.
 *
 *   better (if higher is)   lo > 1 + margin          worse   hi < 1 / (1 + margin)
 *   same                    1 / (1 + margin) <= lo and hi <= 1 + margin
 *   unclear                 anything else, or no interval
 *   invalid                 a value that is not a finite number (of a ratio: above 0)
 *
 * What was taken from runs bounds the verdict. The interval reaches from the lower end of that of all values less
 * `down` to the upper end of that of all values plus `up`: its ends rise with each value, so it holds whatever part was
 * really taken. With rounds left out the verdict must be the same with them put back, each at the worse of its own
 * value and the farthest of those that were kept, on the side where nobody knows; and more than a third left out is
 * unclear. So it must be with attempts put back that were run again: else who looks disturbed where he is slow would
 * draw once more.
 *
 * A rule with bias_untold makes it unclear. With a bias the verdict must be that of the interval and that of `settled`
 * alike, else it is unclear. With YS_BETTER_NEITHER a clear difference is called unclear,
 * with that reason. */
void ys_compare(const double *a, const double *b, size_t n, const struct ys_compare_rule *rule,
                struct ys_comparison *comparison);

/** Values of two trials, round by round, as they were measured. */
struct ys_compare_rounds {
    double *a, *b, *bias; /* as of the rule; bias NULL where what is left of warm-up is no question, NaN where it cannot
                             be told */
    double *of_a, *of_b;  /* by how large a part the time that each is, or is of, could be shorter were what the machine
                             took from the run given back; NaN: nobody knows */
    size_t n, again;      /* as of the rule: the last `again` of the n */
};
/** By how much a speed's logarithm rises, and a time's falls, were that part of the time given back; infinite where it
 * is NaN. */
double ys_compare_given_back(double part);
/** The same of these, which give the rule what it says of warm-up and of what was taken. `is_rate`: they are speeds, of
 * which less time is more; else times. */
void ys_compare_rounds(const struct ys_compare_rounds *rounds, struct ys_compare_rule rule, bool is_rate,
                       struct ys_comparison *comparison);

/** A comparison of its own, by ratio. */
void ys_compare_ratio(const double *a, const double *b, size_t n, enum ys_better better, double margin,
                      struct ys_comparison *comparison);

/** A comparison of n rounds that cannot be made, for `reason`. */
struct ys_comparison ys_compare_invalid(size_t n, const char *reason);

#endif
