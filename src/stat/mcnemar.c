#include "stat/mcnemar.h"

#include <math.h>

double ys_mcnemar_p(size_t only_a, size_t only_b)
{
    const size_t n = only_a + only_b, few = only_a < only_b ? only_a : only_b;
    double log_term = -(double)n * log(2.0), tail = 0; /* of the binomial distribution of n at one half */
    for (size_t k = 0; k <= few; k++) {
        tail += exp(log_term);
        log_term += log((double)(n - k) / (double)(k + 1));
    }
    return fmin(1, 2 * tail);
}

#define NORMAL_975 1.959963984540054 /* quantile of the standard normal distribution */

/* The score statistic of the hypothesis that the difference is `delta`, with the likeliest probability under it that
 * only the second stands; falls as delta rises. */
static double tango_score(double only_a, double only_b, double rows, double delta)
{
    const double a = 2 * rows, b = -only_a - only_b + (2 * rows - only_a + only_b) * delta,
                 c = -only_b * delta * (1 - delta);
    const double second = (sqrt(fmax(b * b - 4 * a * c, 0)) - b) / (2 * a);
    const double variance = rows * (2 * second + delta * (1 - delta)), above = only_a - only_b - rows * delta;
    return variance > 0 ? above / sqrt(variance) : above > 0 ? INFINITY : above < 0 ? -INFINITY : 0;
}

/* The delta at which the statistic is `score`. */
static double tango_bound(double only_a, double only_b, double rows, double score)
{
    enum { HALVINGS = 60 }; /* of [-1, 1]: below what a double near 1 tells apart */
    double lo = -1, hi = 1;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (lo + hi) / 2;
        if (tango_score(only_a, only_b, rows, middle) > score)
            lo = middle;
        else
            hi = middle;
    }
    return (lo + hi) / 2;
}

void ys_tango_interval(double only_a, double only_b, double rows, double *lo, double *hi)
{
    *lo = rows > 0 ? tango_bound(only_a, only_b, rows, NORMAL_975) : NAN;
    *hi = rows > 0 ? tango_bound(only_a, only_b, rows, -NORMAL_975) : NAN;
}

void ys_holm_correct(const double *p, size_t count, double *corrected)
{
    for (size_t i = 0; i < count; i++) {
        corrected[i] = 0;
        for (size_t j = 0; j < count; j++) {
            size_t smaller = 0;
            for (size_t k = 0; k < count; k++)
                smaller += p[k] < p[j];
            if (p[j] <= p[i])
                corrected[i] = fmax(corrected[i], fmin(1, p[j] * (double)(count - smaller)));
        }
    }
}
