#include "stat/summary.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

void ys_stat_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, by_value);
}

double ys_stat_quantile(const double *sorted, size_t n, double p)
{
    if (n == 0)
        return NAN;
    double position = p * (double)(n - 1);
    size_t below = (size_t)position;
    double part = position - (double)below;
    if (part == 0 || sorted[below] == sorted[below + 1])
        return sorted[below];
    if (part == 0.5)
        return (sorted[below] + sorted[below + 1]) / 2;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double ys_stat_median(const double *values, size_t n, double *scratch)
{
    memcpy(scratch, values, n * sizeof *scratch);
    ys_stat_sort(scratch, n);
    return ys_stat_quantile(scratch, n, 0.5);
}

size_t ys_stat_median_rank(size_t n, double *level)
{
    *level = NAN;
    if (n < YS_STAT_INTERVAL_MIN)
        return 0;
    /* tail = P(B < rank), summed from the smallest term up; terms in logarithms, since 2^-n is 0 for large n. */
    double log_term = -(double)n * log(2.0), tail = 0;
    size_t rank = 0;
    for (;;) {
        double next = tail + exp(log_term);
        if (1 - 2 * next < YS_STAT_LEVEL)
            break;
        tail = next;
        log_term += log((double)(n - rank) / (double)(rank + 1));
        rank++;
    }
    *level = 1 - 2 * tail;
    return rank;
}

struct ys_summary ys_stat_summarize(const double *values, size_t n)
{
    double *sorted = ys_alloc(n, sizeof *sorted);
    if (n)
        memcpy(sorted, values, n * sizeof *sorted);
    ys_stat_sort(sorted, n);
    struct ys_summary result = {n, NAN, NAN, NAN, NAN, NAN, {false, NAN, NAN, NAN}};
    if (n > 0 && !isnan(sorted[n - 1])) {
        result.min = sorted[0];
        result.q1 = ys_stat_quantile(sorted, n, 0.25);
        result.median = ys_stat_quantile(sorted, n, 0.5);
        result.q3 = ys_stat_quantile(sorted, n, 0.75);
        result.max = sorted[n - 1];
        double level;
        size_t rank = ys_stat_median_rank(n, &level);
        if (rank)
            result.interval = (struct ys_interval){true, sorted[rank - 1], sorted[n - rank], level};
    }
    ys_free(sorted);
    return result;
}
