/* When a study that goes on until its comparisons are decided looks at them, and how sure its intervals are then.
 *
 * Whoever looks again and again, and stops when the answer pleases, is wrong more often than the printed level says. So
 * the places of the looks are fixed before the first round, and the 5 % in which an interval may miss its truth are
 * shared out among them: 1.6 % for the first, 2.5 % for the last, 0.9 % for all between. Whatever look a comparison
 * ends with, the chance that any of them missed is then at most the sum (Bonferroni). docs/statistics.md has what other
 * places and shares would give. */
#ifndef YS_STAT_LOOKS_H
#define YS_STAT_LOOKS_H

#include "stat/summary.h"

#define YS_LOOKS_MOST  6
#define YS_LOOKS_FIRST 7 /* rounds: the fewest that have an interval of the first look's level */

struct ys_look {
    size_t rounds; /* after which it is made */
    double level;  /* the least of its intervals, of a family together */
};

/** Looks of a study of at most `most` rounds, YS_STAT_INTERVAL_MIN or more: after 7, 12, 20, 50 and 200 of them, as far
 * as these are fewer than `most`, and after `most`. Returns how many; one alone has YS_STAT_LEVEL. */
size_t ys_looks(size_t most, struct ys_look looks[YS_LOOKS_MOST]);

#endif
