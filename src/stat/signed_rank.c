#include "stat/signed_rank.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

#define SORTED_MAX 16 /* so few values have so few averages that sorting them is the quickest */

/* The signed-rank statistic is the sum of a random part of 1..n: P(V = v) by adding one number after the other. */
static size_t exact_rank(size_t n, double least, double *level)
{
    double chance[YS_SIGNED_RANK_EXACT * (YS_SIGNED_RANK_EXACT + 1) / 2 + 1] = {1};
    size_t top = 0, rank = 0;
    for (size_t i = 1; i <= n; i++) {
        top += i;
        for (size_t v = top + 1; v-- > 0;)
            chance[v] = (chance[v] + (v >= i ? chance[v - i] : 0)) / 2;
    }
    double tail = 0;
    while (1 - 2 * (tail + chance[rank]) >= least)
        tail += chance[rank++];
    *level = rank ? 1 - 2 * tail : NAN;
    return rank;
}

double ys_normal_reach(double level)
{
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        if (1 - erfc(middle / sqrt(2)) < level)
            low = middle;
        else
            high = middle;
    }
    return high;
}

size_t ys_signed_rank(size_t n, double least, double *level)
{
    *level = NAN;
    if (n < YS_STAT_INTERVAL_MIN)
        return 0;
    if (n <= YS_SIGNED_RANK_EXACT)
        return exact_rank(n, least, level);
    double count = (double)n, mean = count * (count + 1) / 4, sd = sqrt(count * (count + 1) * (2 * count + 1) / 24);
    double rank = floor(mean - 0.5 - ys_normal_reach(least) * sd) + 1;
    *level = 1 - erfc((mean - (rank - 0.5)) / sd / sqrt(2));
    return (size_t)rank;
}

/* As i grows, the last j with (x[i] + x[j]) / 2 <= t falls. */
size_t ys_signed_rank_count(const double *sorted, size_t n, double t)
{
    size_t count = 0, end = n;
    for (size_t i = 0; i < n; i++) {
        while (end > i && (sorted[i] + sorted[end - 1]) / 2 > t)
            end--;
        if (end <= i)
            break;
        count += end - i;
    }
    return count;
}

/* The rank-th smallest Walsh average: bisection down to neighbouring numbers, so it is one of them, to the bit. */
static double walsh_bisect(const double *sorted, size_t n, size_t rank)
{
    double below = sorted[0], at = sorted[n - 1];
    if (ys_signed_rank_count(sorted, n, below) >= rank)
        return below;
    for (;;) {
        double middle = below + (at - below) / 2;
        if (middle <= below || middle >= at)
            return at;
        if (ys_signed_rank_count(sorted, n, middle) >= rank)
            at = middle;
        else
            below = middle;
    }
}

/* All Walsh averages, ascending. */
static void walsh_sort(const double *sorted, size_t n, double *averages)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            double average = (sorted[i] + sorted[j]) / 2;
            size_t place = count++;
            for (; place > 0 && averages[place - 1] > average; place--)
                averages[place] = averages[place - 1];
            averages[place] = average;
        }
    }
}

void ys_signed_rank_of_sorted(const double *sorted, size_t n, size_t rank, double level, struct ys_centre *centre)
{
    double averages[SORTED_MAX * (SORTED_MAX + 1) / 2];
    size_t count = n * (n + 1) / 2;
    *centre = (struct ys_centre){NAN, {false, NAN, NAN, NAN}};
    if (n == 0)
        return;
    if (n <= SORTED_MAX) {
        walsh_sort(sorted, n, averages);
        centre->value = ys_stat_quantile(averages, count, 0.5);
        if (rank)
            centre->interval = (struct ys_interval){true, averages[rank - 1], averages[count - rank], level};
        return;
    }
    centre->value = (walsh_bisect(sorted, n, (count + 1) / 2) + walsh_bisect(sorted, n, count / 2 + 1)) / 2;
    if (rank)
        centre->interval =
            (struct ys_interval){true, walsh_bisect(sorted, n, rank), walsh_bisect(sorted, n, count + 1 - rank), level};
}

void ys_signed_rank_centre(const double *values, size_t n, double least, struct ys_centre *centre)
{
    double level, *sorted = ys_alloc(n, sizeof *sorted);
    if (n)
        memcpy(sorted, values, n * sizeof *sorted);
    ys_stat_sort(sorted, n);
    size_t rank = ys_signed_rank(n, least, &level);
    ys_signed_rank_of_sorted(sorted, n, rank, level, centre);
    ys_free(sorted);
}

/* Twice the middle rank of |values[at]| among all. */
static size_t doubled_rank(const double *values, size_t n, size_t at)
{
    size_t below = 0, equal = 0;
    for (size_t i = 0; i < n; i++) {
        below += fabs(values[i]) < fabs(values[at]);
        equal += fabs(values[i]) == fabs(values[at]);
    }
    return 2 * below + equal + 1;
}

/* P(the sum of a random part of `ranks` lies as far from the middle as `sum`). */
static double exact_p(const size_t *ranks, size_t n, size_t sum)
{
    const size_t most = n * (n + 1); /* doubled */
    double *chance = ys_alloc(most + 1, sizeof *chance);
    size_t top = 0;
    chance[0] = 1;
    for (size_t i = 0; i < n; i++) {
        top += ranks[i];
        for (size_t v = top + 1; v-- > 0;)
            chance[v] = (chance[v] + (v >= ranks[i] ? chance[v - ranks[i]] : 0)) / 2;
    }
    const size_t low = sum < top - sum ? sum : top - sum;
    double tail = 0;
    for (size_t v = 0; v <= low; v++)
        tail += chance[v];
    ys_free(chance);
    return fmin(1, 2 * tail);
}

/* With half a unit of continuity; ties make the true spread smaller, and so this p too large. */
static double normal_p(size_t n, size_t doubled_sum)
{
    const double count = (double)n, mean = count * (count + 1) / 4,
                 sd = sqrt(count * (count + 1) * (2 * count + 1) / 24);
    return fmin(1, erfc(fmax(0, fabs((double)doubled_sum / 2 - mean) - 0.5) / sd / sqrt(2)));
}

double ys_signed_rank_p(const double *values, size_t n)
{
    double *kept = ys_alloc(n + 1, sizeof *kept);
    size_t *ranks = ys_alloc(n + 1, sizeof *ranks), count = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (values[i] != 0)
            kept[count++] = values[i];
    for (size_t i = 0; i < count; i++) {
        ranks[i] = doubled_rank(kept, count, i);
        sum += kept[i] > 0 ? ranks[i] : 0;
    }
    const double p = count > YS_SIGNED_RANK_EXACT ? normal_p(count, sum) : count ? exact_p(ranks, count, sum) : 1;
    ys_free(kept);
    ys_free(ranks);
    return p;
}
