/* Many comparisons at once: by how much their intervals must be stretched so that all of them hold together.
 *
 * Of k equal trials the two that differ most by chance differ more than any two chosen before. The comparisons of one
 * metric in one section are a family; their intervals are to hold at one level all together. Each comparison's own
 * interval (stat/signed_rank.h) is stretched about its centre by one factor, the same for the family: the quantile at
 * that level of the largest
 *
 *     T = |centre| / (centre - lo or hi - centre, whichever lies towards 0)
 *
 * over the family, when within each round the trials' values, each freed of the means of its trial and of its round and
 * divided by its trial's scatter, change places at random and take on the scatter of the trial that they come to. T is
 * 1 where an interval just touches 0. The means take with them one part in k of the variance of what is left, which is
 * given back: T is multiplied by sqrt(k / (k - 1)).
 *
 * Assumes rounds independent of each other, and trials whose scatter has one shape, if not one size. Source: Westfall
 * and Young, Resampling-Based Multiple Testing, 1993, ch. 2 (single step, largest statistic); permutation within
 * blocks: Hollander and Wolfe, section 7.3. */
#ifndef YS_STAT_FAMILY_H
#define YS_STAT_FAMILY_H

#include "stat/summary.h"

struct ys_family_pair {
    size_t a, b; /* trials */
};

/** Each of so many trials with each: trials (trials - 1) / 2 pairs into `pairs`, whose number it returns. The family of
 * comparisons whose one side was chosen by the values themselves, as the best of all. */
size_t ys_family_each_with_each(size_t trials, struct ys_family_pair *pairs);

struct ys_family {
    size_t trials, rounds;
    const double *values; /* [trial * rounds + round]: the logarithm of a ratio's term, or a term of a difference; NaN
                             where the trial has none */
    const struct ys_family_pair *pairs;
    size_t pair_count;
    double level; /* of all intervals together, below 0.998 */
};

/** The factor, at least 1, INFINITY where the values are too few and too equal to tell; 1 for a family in which fewer
 * than two pairs have YS_STAT_INTERVAL_MIN rounds in common. The same values give the same factor: the permutations
 * have a seed of their own. Takes time as pairs times rounds times the permutations, of which there are 199 to 999,
 * and at least as many as leave two beyond the level. */
double ys_family_stretch(const struct ys_family *family);

#endif
