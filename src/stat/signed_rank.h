/* The centre of a handful of numbers and how sure it is, by signed ranks.
 *
 * The centre of n values is the median of their n (n + 1) / 2 Walsh averages (x[i] + x[j]) / 2, i <= j (Hodges and
 * Lehmann 1963). Its interval is made of two of them, the r-th smallest and the r-th largest: those centres that
 * Wilcoxon's signed-rank test does not reject. Assumes independent values of a distribution that is symmetric about its
 * centre; the difference of two values of one distribution always is. Sources: Hollander and Wolfe, Nonparametric
 * Statistical Methods, sections 3.1 to 3.3. */
#ifndef YS_STAT_SIGNED_RANK_H
#define YS_STAT_SIGNED_RANK_H

#include "stat/summary.h"

/* With up to so many values the distribution of the signed-rank statistic is counted exactly; with more it is taken as
 * normal, with one half of continuity. */
#define YS_SIGNED_RANK_EXACT 60

struct ys_centre {
    double value;                /* NaN when there are no values */
    struct ys_interval interval; /* unknown with fewer than YS_STAT_INTERVAL_MIN values */
};

/** The rank r (from 1) among the Walsh averages of `n` values, and the level of the interval that it gives:
 * 1 - 2 P(V < r), at least `least`, V the signed-rank statistic. 0 when there is none (n < YS_STAT_INTERVAL_MIN, or too
 * few for `least`): *level is NaN. */
size_t ys_signed_rank(size_t n, double least, double *level);

/** How far from 0 the standard normal distribution reaches with that probability, both sides together: 1.960 for 0.95.
 */
double ys_normal_reach(double level);

/** `sorted`: n ascending finite values; rank and level as of ys_signed_rank(). Allocates nothing; takes time as n. */
void ys_signed_rank_of_sorted(const double *sorted, size_t n, size_t rank, double level, struct ys_centre *centre);

/** How often the signs of these values would, were each as likely as the other, make their signed-rank statistic lie as
 * far from its middle: two-sided, 1 for no values. Exact up to YS_SIGNED_RANK_EXACT values, equal ones with their
 * middle rank; zeros are left out (Wilcoxon 1945). */
double ys_signed_rank_p(const double *values, size_t n);

/** How many Walsh averages of n ascending values are at most `t`: the r-th smallest of them is above t exactly where
 * these are fewer than r. Takes time as n. */
size_t ys_signed_rank_count(const double *sorted, size_t n, double t);

/** `values`: n finite values in any order, left as they are; `least`: the least level of the interval. */
void ys_signed_rank_centre(const double *values, size_t n, double least, struct ys_centre *centre);

#endif
