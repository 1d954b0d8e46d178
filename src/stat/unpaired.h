/* Two groups of values that are not matched by round, as two studies have them: by how much they differ, and how sure
 * that is.
 *
 * The centre is the median of all differences a[i] - b[j] (Hodges and Lehmann 1963). Its interval reaches over two
 * others: those shifts that the test of Mann and Whitney does not reject, counted exactly, which holds for any
 * distribution that the two share; and Welch's of the two means, which holds where they scatter unlike. Either alone
 * covers too little somewhere: ranks where few values scatter much and many little, Welch's where the distribution has
 * two modes (docs/statistics.md has the figures). Sources: Hollander and Wolfe, Nonparametric Statistical Methods,
 * sections 4.1 to 4.3; Welch 1947, "The generalization of `Student's' problem". */
#ifndef YS_STAT_UNPAIRED_H
#define YS_STAT_UNPAIRED_H

#include "stat/signed_rank.h"

/* With up to so many values in each group the rank sum is counted exactly; with more it is taken as normal, with one
 * half of continuity. */
#define YS_UNPAIRED_EXACT 30

/** The rank r (from 1) among the n m differences so that [d(r), d(n m + 1 - r)] is the narrowest symmetric interval of
 * at least YS_STAT_LEVEL, and its level: 1 - 2 P(U < r), U the statistic of Mann and Whitney. 0 where there is none (a
 * group of fewer than YS_STAT_INTERVAL_MIN): *level is NaN. */
void ys_unpaired_rank(size_t n, size_t m, size_t *rank, double *level);

/** The value that Student's t with `freedom` (at least 1) degrees exceeds in absolute value in 5 of 100 cases. */
double ys_student_t95(double freedom);

/** `a` and `b`: finite values in any order, left as they are; of ratios their logarithms. The centre of a - b, NaN
 * where one has no value. The level is that of the ranks. */
void ys_unpaired_centre(const double *a, size_t n, const double *b, size_t m, struct ys_centre *centre);

#endif
