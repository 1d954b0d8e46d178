/* Where the warm-up of one run ends.
 *
 * Blocks 0..n-1 with their seconds a step are given. The steady part begins at the smallest k <= n/2 for which the tail
 * x[k..n) shows no trend and does not begin with a stranger:
 *
 *   trend     |z| > 2.576 (Mann-Kendall, ties corrected; 1 % two-sided) and |drift| > YS_STEADY_DRIFT, where
 *             drift = median(second half of the tail) / median(first half) - 1
 *   stranger  x[k] outside [Q1 - f, Q3 + f] of the tail, f = max(3 (Q3 - Q1), YS_STEADY_DRIFT * median)
 *
 * Both conditions of a trend are needed: with many blocks a drift of a thousandth is significant and harmless; with
 * few, or with two modes, the medians of two halves differ by chance. When no such k exists the run was never steady,
 * and that is the answer.
 *
 * Assumes that a run has one warm-up, at its start, and that what follows is stationary noise, not strongly correlated
 * from block to block (slow waves look like trends; more than 200 blocks are therefore first joined, neighbours
 * together, into at most 200). Sources: Mann 1945, "Nonparametric tests against trend"; Kendall 1975, Rank Correlation
 * Methods, ch. 4; Tukey 1977, Exploratory Data Analysis (outer fences). That many runs never become steady: Barrett et
 * al., OOPSLA'17. */
#ifndef YS_STAT_STEADY_H
#define YS_STAT_STEADY_H

#include "base/status.h"
#include <stddef.h>

#define YS_STEADY_DRIFT      0.03
#define YS_STEADY_MIN_BLOCKS 10 /* fewer cannot show a trend */

enum ys_steady_answer { YS_STEADY_FOUND, YS_STEADY_NEVER, YS_STEADY_TOO_SHORT };

struct ys_steady {
    enum ys_steady_answer answer;
    size_t from;  /* first block of the part to use: the steady one, or n / 2 when none was found */
    double drift; /* of that part; NaN when it has fewer than two blocks */
};

/** `step_s`: n values, seconds a step, in order of execution. A value that is not finite makes the answer
 * YS_STEADY_NEVER. YS_ENOMEM. */
ys_status ys_steady_find(const double *step_s, size_t n, struct ys_steady *steady) YS_MUST_CHECK;

#endif
