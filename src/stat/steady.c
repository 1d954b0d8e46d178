#include "stat/steady.h"

#include "base/mem.h"
#include "stat/summary.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MAX_POINTS 200
#define CHANGE     1.731 /* 0.5 % of Kolmogorov's distribution, which the largest cumulative sum of ranks has */
#define BUMP       2.1   /* 0.5 % of Kuiper's, which the largest less the smallest has */
#define FENCE      3.0

struct series_part {
    const double *x;
    size_t n;
    double *sorted; /* the same values ascending; room for more than n */
};

static void sort_part(const double *x, size_t n, double *sorted)
{
    memcpy(sorted, x, n * sizeof *x);
    ys_stat_sort(sorted, n);
}

/* The rank of a value among those of the part less the mean rank; equal values share theirs. */
static double rank_of(const struct series_part *part, double value)
{
    size_t low = 0, high = part->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (part->sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    size_t last = low;
    while (last < part->n && part->sorted[last] == value)
        last++;
    return (double)(low + last) / 2 - (double)part->n / 2;
}

static double fence_of(const struct series_part *part, double *q1, double *q3)
{
    *q1 = ys_stat_quantile(part->sorted, part->n, 0.25);
    *q3 = ys_stat_quantile(part->sorted, part->n, 0.75);
    return fmax(FENCE * (*q3 - *q1), YS_STEADY_STRANGER * ys_stat_quantile(part->sorted, part->n, 0.5));
}

/* Whether the ranks wander farther than they do without a change: sums of ranks less their mean are then a Brownian
 * bridge, sqrt(sum of their squares) high. A change that is undone goes both ways. */
static bool has_change(const struct series_part *part)
{
    double sum = 0, squares = 0, most = 0, least = 0;
    for (size_t i = 0; i < part->n; i++) {
        double rank = rank_of(part, part->x[i]);
        sum += rank;
        squares += rank * rank;
        most = fmax(most, sum);
        least = fmin(least, sum);
    }
    return fmax(most, -least) > CHANGE * sqrt(squares) || most - least > BUMP * sqrt(squares);
}

/* Where two means fit the values best, those beyond the fences taken as the fences: so many are before it. */
static size_t place_of_change(const struct series_part *part)
{
    double q1, q3, fence = fence_of(part, &q1, &q3), total = 0, sum = 0, best = 0;
    size_t place = 0;
    for (size_t i = 0; i < part->n; i++)
        total += fmin(fmax(part->x[i], q1 - fence), q3 + fence);
    for (size_t i = 1; i < part->n; i++) {
        double before = (double)i, after = (double)(part->n - i);
        sum += fmin(fmax(part->x[i - 1], q1 - fence), q3 + fence);
        double step = sum / before - (total - sum) / after;
        if (step * step * before * after > best) {
            best = step * step * before * after;
            place = i;
        }
    }
    return place;
}

/* The number of values before the change that shows most, 0 when none does; *slower: those after it are longer. */
static size_t find_change(const struct series_part *part, double *scratch, bool *slower)
{
    size_t place = has_change(part) ? place_of_change(part) : 0;
    if (place == 0)
        return 0;
    double before = ys_stat_median(part->x, place, scratch);
    double after = ys_stat_median(part->x + place, part->n - place, scratch);
    *slower = after > before;
    return fabs(after / before - 1) > YS_STEADY_CHANGE ? place : 0;
}

static bool begins_strange(const struct series_part *part)
{
    double q1, q3, fence = fence_of(part, &q1, &q3);
    return part->x[0] < q1 - fence || part->x[0] > q3 + fence;
}

/* `scratch` has room for 2 n values. Returns the first point of the steady part, more than n / 2 when there is none. */
static size_t find_start(const double *x, size_t n, double *scratch)
{
    size_t k = 0;
    while (k <= n / 2) {
        struct series_part part = {x + k, n - k, scratch};
        bool slower = false;
        sort_part(part.x, part.n, part.sorted);
        size_t change = find_change(&part, scratch + n, &slower);
        if (change && slower && k + change > n / 4)
            return n;
        if (!change && !begins_strange(&part))
            return k;
        k += change ? change : 1;
    }
    return k;
}

/* By how much a step is longer than in the last third, on the straight line that fits all values best. */
static double drift_of(const double *x, size_t n, double *scratch)
{
    struct series_part part = {x, n, scratch};
    double q1, q3, mean = 0, product = 0;
    sort_part(x, n, scratch);
    const double fence = fence_of(&part, &q1, &q3), low = fmax(q1 - fence, scratch[0]), high = q3 + fence;
    const double middle = ((double)n - 1) / 2, squares = (double)n * ((double)n * (double)n - 1) / 12;
    for (size_t i = 0; i < n; i++) {
        const double value = fmin(fmax(x[i], low), high);
        mean += value / (double)n;
        product += ((double)i - middle) * value;
    }
    /* Where most of a part was slow and its end is not, the line may end below all values. */
    return log(mean / fmax(mean + product / squares * (double)n / 3, low));
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

/* So many neighbours are joined into a point. */
static size_t width_of(size_t n)
{
    size_t width = n / MAX_POINTS + (n % MAX_POINTS != 0);
    return width ? width : 1;
}

static bool all_finite(const double *step_s, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(step_s[i]);
    return finite;
}

double ys_steady_multiple(double from)
{
    const double length = (1 - from) / YS_STEADY_SLOWEST; /* of the part, in time constants */
    const double mean = (1 - exp(-length)) / length, moment = (1 - exp(-length) * (1 + length)) / (length * length);
    const double slope = 12 * (moment - mean / 2); /* of the line that fits it best, over the part */
    return mean / (-slope / 3);
}

double ys_steady_drift(const double *step_s, size_t n, size_t from)
{
    if (n < YS_STEADY_MIN_BLOCKS || !all_finite(step_s, n))
        return NAN;
    size_t width = width_of(n), first = from / width;
    double *points = ys_alloc(2 * (n / width) + 1, sizeof *points);
    size_t count = join(step_s, n, width, points);
    const double drift = drift_of(points + first, count - first, points + count);
    ys_free(points);
    return drift;
}

void ys_steady_find(const double *step_s, size_t n, struct ys_steady *steady)
{
    *steady = (struct ys_steady){YS_STEADY_NEVER, n / 2, NAN};
    if (n < YS_STEADY_MIN_BLOCKS) {
        steady->answer = YS_STEADY_TOO_SHORT;
        return;
    }
    if (!all_finite(step_s, n))
        return;
    size_t width = width_of(n);
    double *points = ys_alloc(3 * (n / width) + 1, sizeof *points);
    size_t count = join(step_s, n, width, points), start = find_start(points, count, points + count);
    ys_free(points);
    if (start <= count / 2)
        *steady = (struct ys_steady){YS_STEADY_FOUND, start * width, NAN};
    steady->left = ys_steady_drift(step_s, n, steady->from) * ys_steady_multiple((double)steady->from / (double)n);
}
