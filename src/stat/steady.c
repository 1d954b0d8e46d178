#include "stat/steady.h"

#include "base/mem.h"
#include "stat/summary.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MAX_POINTS 200
#define TREND_Z    2.576 /* two-sided 1 % of the standard normal distribution */
#define FENCE      3.0

/* Mann-Kendall: S = sum over i < j of sign(x[j] - x[i]), its variance under no trend corrected for ties, one unit of
 * continuity. `sorted` holds the same values ascending. */
static double trend_z(const double *x, const double *sorted, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            s += (x[j] > x[i]) - (x[j] < x[i]);
    }
    double variance = (double)n * (double)(n - 1) * (double)(2 * n + 5);
    for (size_t i = 0; i < n;) {
        size_t ties = 1;
        while (i + ties < n && sorted[i + ties] == sorted[i])
            ties++;
        variance -= (double)ties * (double)(ties - 1) * (double)(2 * ties + 5);
        i += ties;
    }
    variance /= 18;
    if (variance <= 0 || s == 0)
        return 0;
    return (s > 0 ? s - 1 : s + 1) / sqrt(variance);
}

static double median_of(const double *x, size_t n, double *scratch)
{
    memcpy(scratch, x, n * sizeof *x);
    ys_stat_sort(scratch, n);
    return ys_stat_quantile(scratch, n, 0.5);
}

/* The middle value of an odd tail belongs to the second half. */
static double drift_of(const double *x, size_t n, double *scratch)
{
    if (n < 2)
        return NAN;
    double first = median_of(x, n / 2, scratch);
    double second = median_of(x + n / 2, n - n / 2, scratch);
    return second / first - 1;
}

static bool is_steady(const double *x, size_t n, double *scratch)
{
    double drift = drift_of(x, n, scratch);
    memcpy(scratch, x, n * sizeof *x);
    ys_stat_sort(scratch, n);
    if (fabs(drift) > YS_STEADY_DRIFT && fabs(trend_z(x, scratch, n)) > TREND_Z)
        return false;
    double q1 = ys_stat_quantile(scratch, n, 0.25), q3 = ys_stat_quantile(scratch, n, 0.75);
    double fence = fmax(FENCE * (q3 - q1), YS_STEADY_DRIFT * ys_stat_quantile(scratch, n, 0.5));
    return x[0] >= q1 - fence && x[0] <= q3 + fence;
}

/* Joins `width` neighbours into their mean; what does not fill a point at the end joins the last one. Returns the
 * number of points. */
static size_t join(const double *step_s, size_t n, size_t width, double *points)
{
    size_t count = n / width;
    for (size_t i = 0; i < count; i++) {
        size_t end = i + 1 == count ? n : (i + 1) * width;
        double sum = 0;
        for (size_t j = i * width; j < end; j++)
            sum += step_s[j];
        points[i] = sum / (double)(end - i * width);
    }
    return count;
}

ys_status ys_steady_find(const double *step_s, size_t n, struct ys_steady *steady)
{
    struct ys_steady result = {YS_STEADY_NEVER, n / 2, NAN};
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(step_s[i]);
    size_t width = n / MAX_POINTS + (n % MAX_POINTS != 0);
    if (width == 0)
        width = 1;
    double *points = ys_alloc(2 * (n / width) + 1, sizeof *points);
    if (!points)
        return ys_out_of_memory();
    size_t count = join(step_s, n, width, points);
    double *scratch = points + count;
    if (n < YS_STEADY_MIN_BLOCKS)
        result.answer = YS_STEADY_TOO_SHORT;
    for (size_t k = 0; finite && result.answer == YS_STEADY_NEVER && k <= count / 2; k++) {
        if (is_steady(points + k, count - k, scratch)) {
            result.answer = YS_STEADY_FOUND;
            result.from = k * width;
        }
    }
    size_t from = result.from / width;
    if (finite)
        result.drift = drift_of(points + from, count - from, scratch);
    ys_free(points);
    *steady = result;
    return YS_OK;
}
