/* What a handful of numbers says: median, quantiles, and how sure the median is. All by rank, so nothing is assumed
 * about the distribution, and nothing is dropped. docs/statistics.md explains the choices. */
#ifndef YS_STAT_SUMMARY_H
#define YS_STAT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#define YS_STAT_LEVEL        0.95 /* the least level of an interval */
#define YS_STAT_INTERVAL_MIN 6    /* with fewer values no rank interval reaches that level */

struct ys_interval {
    bool known;    /* false: fewer than YS_STAT_INTERVAL_MIN values, or one of them is NaN; the rest is then NaN */
    double lo, hi; /* two of the values themselves */
    double level;  /* the true level, at least YS_STAT_LEVEL, as 0.96875 for six values */
};

struct ys_summary {
    size_t n;
    double min, q1, median, q3,
        max;                     /* NaN when n is 0 or one of the values is NaN; infinities are ordered as numbers */
    struct ys_interval interval; /* of the median */
};

/** Ascending, NaN last. */
void ys_stat_sort(double *values, size_t n);

/** The quantile of `n` ascending values without NaN, 0 <= p <= 1; linear between order statistics, so that p = 0.5
 * gives the middle value, or the mean of the two middle ones. NaN when n is 0. Hyndman & Fan 1996, definition 7. */
double ys_stat_quantile(const double *sorted, size_t n, double p);

/** The median of `n` values in any order; `scratch` has room for them. NaN when n is 0. */
double ys_stat_median(const double *values, size_t n, double *scratch);

/** The rank r (from 1) so that [x(r), x(n+1-r)] of n ordered values is the narrowest symmetric rank interval of the
 * median with a level of at least YS_STAT_LEVEL, and that level: 1 - 2 * P(B < r), B binomial(n, 1/2). 0 when there is
 * none (n < 6): *level is NaN. Distribution-free for independent values of one continuous distribution; conservative
 * with ties. Source: Conover, Practical Nonparametric Statistics, section 3.2; Hoefler & Belli, SC'15, rule 6. */
size_t ys_stat_median_rank(size_t n, double *level);

/** `values` in any order, left as they are. */
struct ys_summary ys_stat_summarize(const double *values, size_t n);

#endif
