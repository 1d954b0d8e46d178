/* Two trials, round by round: by how much they differ, how sure that is, and what to call it.
 *
 * Round i of both trials ran with the same seed and near in time, so each round gives one ratio a[i] / b[i] (or
 * difference), and the comparison is the median of those with its rank interval. docs/statistics.md. */
#ifndef YS_STAT_COMPARE_H
#define YS_STAT_COMPARE_H

#include "base/record.h"
#include "stat/summary.h"

enum ys_better { YS_BETTER_HIGHER, YS_BETTER_LOWER, YS_BETTER_NEITHER };
extern const struct ys_names ys_betters;           /* "higher", "lower", "neither" */
const char *ys_better_name(enum ys_better better); /* the same */

enum ys_verdict { YS_VERDICT_BETTER, YS_VERDICT_WORSE, YS_VERDICT_SAME, YS_VERDICT_UNCLEAR, YS_VERDICT_INVALID };
extern const struct ys_names ys_verdicts;             /* "better", "worse", "same", "unclear", "invalid" */
const char *ys_verdict_name(enum ys_verdict verdict); /* the same */

struct ys_comparison {
    size_t n;                    /* rounds */
    double value;                /* the median ratio or difference; NaN when there is none */
    struct ys_interval interval; /* of that median */
    /* The smallest true difference that this design could have shown with the scatter it had: 0.05 means a ratio
     * of 1.05 (or 1 / 1.05), or a difference of 0.05. NaN without an interval. */
    double resolution;
    enum ys_verdict verdict; /* what a is against b */
    const char *reason;      /* a constant: why the verdict is unclear or invalid; NULL otherwise */
};

/** By ratio: for times, rates, sizes. "The same" is 1 / (1 + margin) <= ratio <= 1 + margin, so that swapping a and b
 * swaps the verdict and nothing else.
 *
 *   better (if higher is)   lo > 1 + margin          worse   hi < 1 / (1 + margin)
 *   same                    1 / (1 + margin) <= lo and hi <= 1 + margin
 *   unclear                 anything else, or no interval
 *   invalid                 a value that is not a finite number above 0
 *   resolution              (1 + margin) * max(ratio / lo, hi / ratio) - 1
 *
 * With YS_BETTER_NEITHER a clear difference is called unclear, with that reason. margin >= 0. YS_ENOMEM. */
ys_status ys_compare_ratio(const double *a, const double *b, size_t n, enum ys_better better, double margin,
                           struct ys_comparison *comparison) YS_MUST_CHECK;

/** By difference a - b: for fractions such as an accuracy, where 0 is a fair value and a ratio would call 0.1 % against
 * 0.2 % twice as good. "The same" is within [-margin, margin]; resolution is margin + max(value - lo, hi - value).
 * Otherwise as above. */
ys_status ys_compare_difference(const double *a, const double *b, size_t n, enum ys_better better, double margin,
                                struct ys_comparison *comparison) YS_MUST_CHECK;

#endif
