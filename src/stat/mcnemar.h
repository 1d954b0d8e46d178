/* Two classifiers on the same rows, each of which either stands or does not: whether they differ, and by how much. */
#ifndef YS_STAT_MCNEMAR_H
#define YS_STAT_MCNEMAR_H

#include <stddef.h>

/** How often rows on which exactly one of the two stands would fall to one side as unevenly, or more, were each as
 * likely as the other: two-sided, exact, 1 where there are none. `only_a`, `only_b`: those on which only the first,
 * only the second stands. McNemar 1947, "Note on the sampling error of the difference between correlated proportions",
 * with the binomial distribution in place of its normal approximation. */
double ys_mcnemar_p(size_t only_a, size_t only_b);
/** The interval, at 95 %, of the difference of the shares of `rows` rows on which the first and the second stand:
 * (only_a - only_b) / rows is the estimate. Counts may be means, and are no negative numbers whose sum is at most
 * `rows`. By inverting the score test, so that it is none of a single point where nobody parts. Without rows *lo and
 * *hi are NaN. Tango 1998, "Equivalence test and confidence interval for the difference in proportions for the
 * paired-sample design", equations 9 and 11. */
void ys_tango_interval(double only_a, double only_b, double rows, double *lo, double *hi);
/** The probabilities of `count` tests, so corrected [out] that of all true hypotheses together one is rejected at 0.05
 * in at most 5 of 100 cases. Holm 1979, "A simple sequentially rejective multiple test procedure". */
void ys_holm_correct(const double *p, size_t count, double *corrected);

#endif
