/* What a study that is yet to be made could show: how small a difference n rounds find nine times of ten, judged by how
 * a trial scattered against itself. Rounds are drawn again and again from those that were seen, with a fixed seed, so
 * nothing is assumed about the shape of the scatter but that it stays. docs/statistics.md. */
#ifndef YS_STAT_POWER_H
#define YS_STAT_POWER_H

#include "base/status.h"
#include <stddef.h>

#define YS_POWER_MOST_ROUNDS 200

/** Rounds of a trial against itself. */
struct ys_power_seen {
    const double *ratios; /* each above 0 */
    const double *biases; /* of each what is left of both warm-ups, as `bias` of struct ys_compare_rule; NULL where that
                             is no question */
    size_t count;         /* at least 6 */
};

/** The smallest difference that `rounds` rounds (6 to YS_POWER_MOST_ROUNDS) find nine times of ten beyond `margin`
 * by intervals of at least the level `least`:
 * 0.05 is a ratio of 1.05. NaN with too few rounds of either. The same values give the same answer. */
double ys_power_difference(const struct ys_power_seen *seen, size_t rounds, double least, double margin);

/** The fewest rounds that find `difference` so; 0 when not even YS_POWER_MOST_ROUNDS do. */
size_t ys_power_rounds(const struct ys_power_seen *seen, double margin, double difference);

#endif
