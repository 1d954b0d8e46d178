#include "stat/power.h"

#include "base/mem.h"
#include "base/rng.h"
#include "stat/signed_rank.h"

#include <math.h>
#include <string.h>

enum { DRAWN = 299 };

#define UNCERTAINTY 1.1

/* The logarithms, freed of their centre: a trial does not differ from itself. What `count` values scatter about their
 * own centre is less than what they scatter about the true one, which is given back. So few values may also scatter
 * less than others will: to find a difference nine times of ten all the same takes a width that is larger by
 * (t(0.975) + t(0.9)) / (z(0.975) + z(0.9)), Student's quantiles for as many degrees of freedom over the normal ones:
 * within 0.5 % 1 + UNCERTAINTY / count from 12 values on. */
static ys_status centred(const double *ratios, size_t count, double *values)
{
    struct ys_centre centre;
    const double given_back = sqrt((double)count / ((double)count - 1)) * (1 + UNCERTAINTY / (double)count);
    for (size_t i = 0; i < count; i++)
        values[i] = log(ratios[i]);
    YS_TRY(ys_signed_rank_centre(values, count, &centre));
    for (size_t i = 0; i < count; i++)
        values[i] = (values[i] - centre.value) * given_back;
    return YS_OK;
}

/* How far from its true centre, 0, the nearer end of an interval of `rounds` values may lie nine times of ten: as far
 * beyond the margin a difference must lie to be found as often. Of draws from what was seen, whatever its shape; both
 * ends, as a difference may have either sign. */
static double reach_of(const double *values, size_t count, size_t rounds)
{
    double level, drawn[YS_POWER_MOST_ROUNDS], end[2 * DRAWN];
    size_t rank = ys_signed_rank(rounds, &level);
    struct ys_rng rng;
    ys_rng_init(&rng, rounds, "power");
    for (size_t d = 0; d < DRAWN; d++) {
        struct ys_centre centre;
        for (size_t i = 0; i < rounds; i++)
            drawn[i] = values[ys_rng_below(&rng, (uint32_t)count)];
        ys_stat_sort(drawn, rounds);
        ys_signed_rank_of_sorted(drawn, rounds, rank, level, &centre);
        end[2 * d] = -centre.interval.lo;
        end[2 * d + 1] = centre.interval.hi;
    }
    ys_stat_sort(end, 2 * (size_t)DRAWN);
    return ys_stat_quantile(end, 2 * (size_t)DRAWN, 0.9);
}

static double difference_of(const double *values, size_t count, size_t rounds, double margin)
{
    return expm1(log1p(margin) + reach_of(values, count, rounds));
}

ys_status ys_power_difference(const double *ratios, size_t count, size_t rounds, double margin, double *difference)
{
    *difference = NAN;
    if (count < YS_STAT_INTERVAL_MIN || rounds < YS_STAT_INTERVAL_MIN || rounds > YS_POWER_MOST_ROUNDS)
        return YS_OK;
    double *values = ys_alloc(count, sizeof *values);
    ys_status status = values ? centred(ratios, count, values) : ys_out_of_memory();
    if (status == YS_OK)
        *difference = difference_of(values, count, rounds, margin);
    ys_free(values);
    return status;
}

/* `times` as large a difference as wanted is found with n rounds; it falls by their root, at first faster. */
static size_t next_rounds(size_t n, double times)
{
    double near = n < 10 ? 0 : 0.7 * (double)n * times * times;
    size_t next = n + 1 + n / 20;
    return near > (double)next ? (size_t)fmin(near, YS_POWER_MOST_ROUNDS + 1) : next;
}

ys_status ys_power_rounds(const double *ratios, size_t count, double margin, double difference, size_t *rounds)
{
    *rounds = 0;
    if (count < YS_STAT_INTERVAL_MIN)
        return YS_OK;
    double *values = ys_alloc(count, sizeof *values);
    ys_status status = values ? centred(ratios, count, values) : ys_out_of_memory();
    /* More rounds find less but for what is left of chance and of the steps between levels, so halving the range would
     * do no better than going up in small steps, from where the widths' way of falling says that it is not far. */
    for (size_t n = YS_STAT_INTERVAL_MIN; status == YS_OK && !*rounds && n <= YS_POWER_MOST_ROUNDS;) {
        double found = difference_of(values, count, n, margin);
        if (found <= difference)
            *rounds = n;
        n = next_rounds(n, (log1p(found) - log1p(margin)) / (log1p(difference) - log1p(margin)));
    }
    ys_free(values);
    return status;
}
