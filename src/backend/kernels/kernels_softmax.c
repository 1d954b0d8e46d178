/* Lines of a softmax, a vector at a time. YS_KERNELS names the table: compiled once for each width of vector
 * registers. */
#include "backend/kernels/kernels_curve.h"

#include <math.h>

extern const struct ys_softmax_kernels YS_KERNELS;

static float largest(const float *z, int64_t count)
{
    vector top = load_filled(z, count, -INFINITY);
    for (int64_t k = LANES; k < count; k += LANES) {
        const vector v = load_filled(z + k, count - k, -INFINITY);
        top = choose(v > top, v, top);
    }
    float all = top[0];
    for (int i = 1; i < LANES; i++)
        all = top[i] > all ? top[i] : all;
    return all;
}

/* The vectors of one sum in float: beyond them it is kept in double. */
#define RUN (64 * (int64_t)LANES)

static double exponents(const float *z, int64_t count, float top, float *to)
{
    double sum = 0;
    for (int64_t first = 0; first < count; first += RUN) {
        const int64_t end = first + RUN < count ? first + RUN : count;
        vector part = {0};
        for (int64_t k = first; k < end; k += LANES) {
            const vector e = cut(exponential(load(z + k, end - k) - top), end - k);
            if (to)
                store(to + k, e, end - k);
            part += e;
        }
        sum += total(widen(part));
    }
    return sum;
}

static void times(float *z, int64_t count, float factor, float shift)
{
    for (int64_t k = 0; k < count; k += LANES)
        store(z + k, load(z + k, count - k) * factor + shift, count - k);
}

const struct ys_softmax_kernels YS_KERNELS = {.largest = largest, .exponents = exponents, .times = times};
