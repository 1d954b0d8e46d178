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
