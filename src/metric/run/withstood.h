/* What the weights of a run withstood, as two numbers of its facts. */
#ifndef YS_METRIC_RUN_WITHSTOOD_H
#define YS_METRIC_RUN_WITHSTOOD_H

#include "crew/facts.h"

/** A number, or why there is none. */
struct ys_withstood {
    double value; /* NaN: `reason` */
    char reason[240];
};

/** The share of rows that stand at the smallest EPS that was asked for; `robustness` NULL: nothing attacked them. */
struct ys_withstood ys_withstood_accuracy(const struct ys_facts_robustness *robustness);
/** The median of the smallest change in L2. */
struct ys_withstood ys_withstood_change(const struct ys_facts_robustness *robustness);
/** The share of rows that are right after corruptions: the mean over all kinds and severities that were asked for. */
struct ys_withstood ys_withstood_corruptions(const struct ys_facts_robustness *robustness);

#endif
