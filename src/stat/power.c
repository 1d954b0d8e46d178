#include "stat/power.h"

#include "base/mem.h"
#include "base/rng.h"
#include "stat/signed_rank.h"

#include <math.h>
#include <string.h>

enum { DRAWN = 299 };

#define UNCERTAINTY 1.1

/* What was seen, freed of its centre: a trial does not differ from itself. */
struct rounds_seen {
    double *values;  /* logarithms of the ratios */
    double *settled; /* the same were what is left of warm-up gone; NULL where that is no question */
    size_t count;
};

/* What `count` values scatter about their own centre is less than what they scatter about the true one, which is given
 * back. So few values may also scatter less than others will: to find a difference nine times of ten all the same takes
 * a width that is larger by (t(0.975) + t(0.9)) / (z(0.975) + z(0.9)), Student's quantiles for as many degrees of
 * freedom over the normal ones: within 0.5 % 1 + UNCERTAINTY / count from 12 values on. */
static void centre(double *values, size_t count)
{
    struct ys_centre centre;
    const double given_back = sqrt((double)count / ((double)count - 1)) * (1 + UNCERTAINTY / (double)count);
    ys_signed_rank_centre(values, count, YS_STAT_LEVEL, &centre);
    for (size_t i = 0; i < count; i++)
        values[i] = (values[i] - centre.value) * given_back;
}

/* seen->values is to be freed. */
static void see(const struct ys_power_seen *from, struct rounds_seen *seen)
{
    size_t count = from->count;
    *seen = (struct rounds_seen){.values = ys_alloc(2 * count, sizeof(double)), .count = count};
    if (from->biases)
        seen->settled = seen->values + count;
    for (size_t i = 0; i < count; i++) {
        seen->values[i] = log(from->ratios[i]);
        if (seen->settled)
            seen->settled[i] = seen->values[i] + from->biases[i];
    }
    centre(seen->values, count);
    if (seen->settled)
        centre(seen->settled, count);
}

/* The interval of the rounds that were drawn. */
static struct ys_interval interval_of(const double *values, const uint32_t *drawn, size_t rounds, double least)
{
    double level, sorted[YS_POWER_MOST_ROUNDS];
    struct ys_centre centre;
    size_t rank = ys_signed_rank(rounds, least, &level);
    for (size_t i = 0; i < rounds; i++)
        sorted[i] = values[drawn[i]];
    ys_stat_sort(sorted, rounds);
    ys_signed_rank_of_sorted(sorted, rounds, rank, level, &centre);
    return centre.interval;
}

/* How far from its true centre, 0, the nearer end of an interval of `rounds` values may lie nine times of ten: as far
 * beyond the margin a difference must lie to be found as often. Of draws from what was seen, whatever its shape; both
 * ends, as a difference may have either sign. A verdict needs both intervals beyond the margin (stat/compare.h). */
static double reach_of(const struct rounds_seen *seen, size_t rounds, double least)
{
    uint32_t drawn[YS_POWER_MOST_ROUNDS];
    double end[2 * DRAWN];
    struct ys_rng rng;
    ys_rng_init(&rng, rounds, "power");
    for (size_t d = 0; d < DRAWN; d++) {
        for (size_t i = 0; i < rounds; i++)
            drawn[i] = ys_rng_below(&rng, (uint32_t)seen->count);
        struct ys_interval found = interval_of(seen->values, drawn, rounds, least), settled = found;
        if (seen->settled)
            settled = interval_of(seen->settled, drawn, rounds, least);
        end[2 * d] = -fmin(found.lo, settled.lo);
        end[2 * d + 1] = fmax(found.hi, settled.hi);
    }
    ys_stat_sort(end, 2 * (size_t)DRAWN);
    return ys_stat_quantile(end, 2 * (size_t)DRAWN, 0.9);
}

static double difference_of(const struct rounds_seen *seen, size_t rounds, double least, double margin)
{
    return expm1(log1p(margin) + reach_of(seen, rounds, least));
}

double ys_power_difference(const struct ys_power_seen *from, size_t rounds, double least, double margin)
{
    struct rounds_seen seen;
    if (from->count < YS_STAT_INTERVAL_MIN || rounds < YS_STAT_INTERVAL_MIN || rounds > YS_POWER_MOST_ROUNDS)
        return NAN;
    see(from, &seen);
    const double difference = difference_of(&seen, rounds, least, margin);
    ys_free(seen.values);
    return difference;
}

/* `times` as large a difference as wanted is found with n rounds; it falls by their root, at first faster. */
static size_t next_rounds(size_t n, double times)
{
    double near = n < 10 ? 0 : 0.7 * (double)n * times * times;
    size_t next = n + 1 + n / 20;
    return near > (double)next ? (size_t)fmin(near, YS_POWER_MOST_ROUNDS + 1) : next;
}

size_t ys_power_rounds(const struct ys_power_seen *from, double margin, double difference)
{
    struct rounds_seen seen;
    size_t rounds = 0;
    if (from->count < YS_STAT_INTERVAL_MIN)
        return 0;
    see(from, &seen);
    /* More rounds find less but for what is left of chance and of the steps between levels, so halving the range would
     * do no better than going up in small steps, from where the widths' way of falling says that it is not far. */
    for (size_t n = YS_STAT_INTERVAL_MIN; !rounds && n <= YS_POWER_MOST_ROUNDS;) {
        double found = difference_of(&seen, n, YS_STAT_LEVEL, margin);
        if (found <= difference)
            rounds = n;
        n = next_rounds(n, (log1p(found) - log1p(margin)) / (log1p(difference) - log1p(margin)));
    }
    ys_free(seen.values);
    return rounds;
}
