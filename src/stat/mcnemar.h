/* Two classifiers on the same rows, each of which either stands or does not: whether they differ. */
#ifndef YS_STAT_MCNEMAR_H
#define YS_STAT_MCNEMAR_H

#include <stddef.h>

/** How often rows on which exactly one of the two stands would fall to one side as unevenly, or more, were each as
 * likely as the other: two-sided, exact, 1 where there are none. `only_a`, `only_b`: those on which only the first,
 * only the second stands. McNemar 1947, "Note on the sampling error of the difference between correlated proportions",
 * with the binomial distribution in place of its normal approximation. */
double ys_mcnemar_p(size_t only_a, size_t only_b);
/** The probabilities of `count` tests, so corrected [out] that of all true hypotheses together one is rejected at 0.05
 * in at most 5 of 100 cases. Holm 1979, "A simple sequentially rejective multiple test procedure". */
void ys_holm_correct(const double *p, size_t count, double *corrected);

#endif
