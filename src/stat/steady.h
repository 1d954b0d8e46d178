/* Where the warm-up of one run ends, and how much of it may be left behind that place.
 *
 * Blocks 0..n-1 with their seconds a step are given. The steady part x[k..n) is found by change points: beginning with
 * k = 0,
 *
 *   change    the ranks of x[k..n) wander: their cumulative sum, less their mean, is farther from 0, or goes up and
 *             down farther, than in 0.5 % of cases without a change. k moves to where two means fit best if the
 *             medians of the two parts differ by more than YS_STEADY_CHANGE
 *   stranger  x[k] is outside [Q1 - f, Q3 + f] of x[k..n), f = max(3 (Q3 - Q1), YS_STEADY_STRANGER * median): k
 *             moves by 1
 *
 * until neither is found. A run is never steady, and that is the answer, when k would move beyond n / 2, or a change
 * for the slower comes later than a first quarter: no warm-up ends so.
 *
 * "No change was found" is not "there is none", so what may be left is estimated as well. To x[k..n), values beyond the
 * fences taken as the fences, a straight line is fitted; the logarithm of its mean over that of its last third is the
 * drift. It is taken as many times as what is left of an exponential approach with a time constant of YS_STEADY_SLOWEST
 * of the run is more than the drift of that: 1.9 times over a whole run, 3.6 times over its last half, which is what a
 * run that is never steady has. A faster approach has less left. One run says little about it; comparisons take it from
 * all their rounds (stat/compare.h).
 *
 * Assumes noise that is not strongly correlated from block to block (slow waves look like changes; more than 200 blocks
 * are therefore first joined, neighbours together, into at most 200). Sources: Pettitt 1979, "A non-parametric approach
 * to the change-point problem"; Killick, Fearnhead and Eckley 2012 and Barrett et al., OOPSLA'17, on changes in place
 * of trends; Tukey 1977, Exploratory Data Analysis (outer fences). */
#ifndef YS_STAT_STEADY_H
#define YS_STAT_STEADY_H

#include "base/status.h"
#include <stddef.h>

#define YS_STEADY_CHANGE     0.01 /* half of the default margin */
#define YS_STEADY_STRANGER   0.03
#define YS_STEADY_MIN_BLOCKS 30  /* with fewer it cannot be told whether a run is steady */
#define YS_STEADY_SLOWEST    0.6 /* of a run: the time constant of the slowest approach whose rest is still bounded */

enum ys_steady_answer { YS_STEADY_FOUND, YS_STEADY_NEVER, YS_STEADY_TOO_SHORT };

struct ys_steady {
    enum ys_steady_answer answer;
    size_t from; /* first block of the part to use: the steady one, or n / 2 when none was found */
    double left; /* by how much a step of that part may be longer than in the end, as a logarithm (0.01: 1 % longer);
                    NaN with too few blocks */
};

/** `step_s`: n values, seconds a step, in order of execution. A value that is not finite makes the answer
 * YS_STEADY_NEVER. */
void ys_steady_find(const double *step_s, size_t n, struct ys_steady *steady);

/** How many times the drift of a part is taken for what is left of warm-up in it. `from`: where the part begins, as a
 * share of the run, at most a half. */
double ys_steady_multiple(double from);

/** The drift of x[from..n), wherever it begins: on the straight line that fits it best. NaN with fewer than
 * YS_STEADY_MIN_BLOCKS values in all, or one that is not finite. `from` at most n / 2. */
double ys_steady_drift(const double *step_s, size_t n, size_t from);

#endif
