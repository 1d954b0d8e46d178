#include "stat/power.h"

#include "base/mem.h"
#include "base/rng.h"
#include "stat/compare.h"
#include "stat/signed_rank.h"

#include <math.h>
#include <string.h>

enum { DRAWN = 299 };

/* The logarithms, freed of their centre: a trial does not differ from itself. What `count` values scatter about their
 * own centre is less than what they scatter about the true one, which is given back. */
static ys_status centred(const double *ratios, size_t count, double *values)
{
    struct ys_centre centre;
    const double given_back = sqrt((double)count / ((double)count - 1));
    for (size_t i = 0; i < count; i++)
        values[i] = log(ratios[i]);
    YS_TRY(ys_signed_rank_centre(values, count, &centre));
    for (size_t i = 0; i < count; i++)
        values[i] = (values[i] - centre.value) * given_back;
    return YS_OK;
}

/* The half width of the interval of `rounds` values, as the median over many draws. */
static double half_width(const double *values, size_t count, size_t rounds)
{
    double level, drawn[YS_POWER_MOST_ROUNDS], width[DRAWN];
    size_t rank = ys_signed_rank(rounds, &level);
    struct ys_rng rng;
    ys_rng_init(&rng, rounds, "power");
    for (size_t d = 0; d < DRAWN; d++) {
        struct ys_centre centre;
        for (size_t i = 0; i < rounds; i++)
            drawn[i] = values[ys_rng_below(&rng, (uint32_t)count)];
        ys_stat_sort(drawn, rounds);
        ys_signed_rank_of_sorted(drawn, rounds, rank, level, &centre);
        width[d] = (centre.interval.hi - centre.interval.lo) / 2;
    }
    ys_stat_sort(width, DRAWN);
    return ys_stat_quantile(width, DRAWN, 0.5);
}

static double difference_of(const double *values, size_t count, size_t rounds, double margin)
{
    return expm1(log1p(margin) + ys_compare_reach(rounds) * half_width(values, count, rounds));
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

ys_status ys_power_rounds(const double *ratios, size_t count, double margin, double difference, size_t *rounds)
{
    *rounds = 0;
    if (count < YS_STAT_INTERVAL_MIN)
        return YS_OK;
    double *values = ys_alloc(count, sizeof *values);
    ys_status status = values ? centred(ratios, count, values) : ys_out_of_memory();
    /* More rounds find less but for what is left of chance and of the steps between levels, so halving the range would
     * do no better than going up in small steps. */
    for (size_t n = YS_STAT_INTERVAL_MIN; status == YS_OK && !*rounds && n <= YS_POWER_MOST_ROUNDS; n += 1 + n / 20)
        if (difference_of(values, count, n, margin) <= difference)
            *rounds = n;
    ys_free(values);
    return status;
}
