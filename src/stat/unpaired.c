#include "stat/unpaired.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* Mann and Whitney's recurrence, by which group the largest value is of:
 * P(i, j; u) = i / (i + j) P(i - 1, j; u - j) + j / (i + j) P(i, j - 1; u). Row j of `chance` is P(i, j; .), i going
 * up; from the highest u on down a row becomes the next in its place. */
static void count_ranks(size_t n, size_t m, size_t width, double *chance)
{
    for (size_t j = 0; j <= m; j++)
        chance[j * width] = 1;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            double *row = chance + j * width;
            const double *fewer = row - width, all = (double)(i + j);
            for (size_t u = width; u-- > 0;)
                row[u] = (double)i / all * (u >= j ? row[u - j] : 0) + (double)j / all * fewer[u];
        }
    }
}

static void exact_rank(size_t n, size_t m, size_t *rank, double *level)
{
    size_t width = n * m + 1, found = 0;
    double *chance = ys_alloc((m + 1) * width, sizeof *chance), tail = 0;
    count_ranks(n, m, width, chance);
    const double *last = chance + m * width;
    while (1 - 2 * (tail + last[found]) >= YS_STAT_LEVEL)
        tail += last[found++];
    *rank = found;
    *level = 1 - 2 * tail;
    ys_free(chance);
}

void ys_unpaired_rank(size_t n, size_t m, size_t *rank, double *level)
{
    *rank = 0;
    *level = NAN;
    if (n < YS_STAT_INTERVAL_MIN || m < YS_STAT_INTERVAL_MIN)
        return;
    if (n <= YS_UNPAIRED_EXACT && m <= YS_UNPAIRED_EXACT) {
        exact_rank(n, m, rank, level);
        return;
    }
    double pairs = (double)n * (double)m, mean = pairs / 2, sd = sqrt(pairs * (double)(n + m + 1) / 12);
    double place = floor(mean - 0.5 - 1.959964 * sd) + 1;
    *rank = (size_t)place;
    *level = 1 - erfc((mean - (place - 0.5)) / sd / sqrt(2));
}

/* The regularised incomplete beta function I_x(a, b) by Lentz's evaluation of its continued fraction, for x below
 * (a + 1) / (a + b + 2). Source: Abramowitz and Stegun, 26.5.8. */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 / fmax(1 - (a + b) * x / (a + 1), tiny), sum = d;
    for (int k = 1; k < 500; k++) {
        double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
        double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        sum *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        double step = c * d;
        sum *= step;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) * sum / a;
}

static double beta_share(double x, double a, double b)
{
    return x < (a + 1) / (a + b + 2) ? beta_fraction(x, a, b) : 1 - beta_fraction(1 - x, b, a);
}

double ys_student_t95(double freedom)
{
    double low = 1.9, high = 12.8; /* t of infinitely many degrees is 1.960, of one 12.706 */
    while (high - low > 1e-10) {
        double t = (low + high) / 2;
        if (beta_share(freedom / (freedom + t * t), freedom / 2, 0.5) > 1 - YS_STAT_LEVEL)
            low = t;
        else
            high = t;
    }
    return (low + high) / 2;
}

/* How many differences a[i] - b[j] are at most t. As i grows, so does the first j that is counted. */
static size_t count_upto(const double *a, size_t n, const double *b, size_t m, double t)
{
    size_t count = 0, from = 0;
    for (size_t i = 0; i < n; i++) {
        while (from < m && a[i] - b[from] > t)
            from++;
        count += m - from;
    }
    return count;
}

/* The rank-th smallest difference: bisection down to neighbouring numbers, so it is one of them, to the bit. */
static double difference_at(const double *a, size_t n, const double *b, size_t m, size_t rank)
{
    double below = a[0] - b[m - 1], at = a[n - 1] - b[0];
    if (count_upto(a, n, b, m, below) >= rank)
        return below;
    for (;;) {
        double middle = below + (at - below) / 2;
        if (middle <= below || middle >= at)
            return at;
        if (count_upto(a, n, b, m, middle) >= rank)
            at = middle;
        else
            below = middle;
    }
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* The variance of the mean of n values. */
static double variance_of_mean(const double *values, size_t n, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum / (double)(n - 1) / (double)n;
}

/* Makes `interval` reach over Welch's. */
static void reach_welch(const double *a, size_t n, const double *b, size_t m, struct ys_interval *interval)
{
    double mean_a = mean_of(a, n), mean_b = mean_of(b, m);
    double va = variance_of_mean(a, n, mean_a), vb = variance_of_mean(b, m, mean_b);
    double half = 0;
    if (va + vb > 0)
        half = sqrt(va + vb) *
               ys_student_t95((va + vb) * (va + vb) / (va * va / (double)(n - 1) + vb * vb / (double)(m - 1)));
    interval->lo = fmin(interval->lo, mean_a - mean_b - half);
    interval->hi = fmax(interval->hi, mean_a - mean_b + half);
}

static void centre_of_sorted(const double *a, size_t n, const double *b, size_t m, size_t rank, double level,
                             struct ys_centre *centre)
{
    size_t count = n * m;
    centre->value = (difference_at(a, n, b, m, (count + 1) / 2) + difference_at(a, n, b, m, count / 2 + 1)) / 2;
    if (!rank)
        return;
    centre->interval =
        (struct ys_interval){true, difference_at(a, n, b, m, rank), difference_at(a, n, b, m, count + 1 - rank), level};
    reach_welch(a, n, b, m, &centre->interval);
}

void ys_unpaired_centre(const double *a, size_t n, const double *b, size_t m, struct ys_centre *centre)
{
    size_t rank;
    double level;
    *centre = (struct ys_centre){NAN, {false, NAN, NAN, NAN}};
    if (n == 0 || m == 0)
        return;
    ys_unpaired_rank(n, m, &rank, &level);
    double *sorted = ys_alloc(n + m, sizeof *sorted);
    memcpy(sorted, a, n * sizeof *sorted);
    memcpy(sorted + n, b, m * sizeof *sorted);
    ys_stat_sort(sorted, n);
    ys_stat_sort(sorted + n, m);
    centre_of_sorted(sorted, n, sorted + n, m, rank, level, centre);
    ys_free(sorted);
}
