/* exp and what is made of it, a vector at a time, and lines of floats in such vectors, whose last may be a part of one.
 * Included by the kernels' own files. */
#ifndef YS_BACKEND_KERNELS_KERNELS_CURVE_H
#define YS_BACKEND_KERNELS_KERNELS_CURVE_H

#include "backend/kernels/kernels_tail.h"

/** `behind`: what lies behind the end. A whole vector is moved as one: a copy of as many bytes as are left takes
 * several times as long. */
static inline vector load_filled(const float *p, int64_t lanes, float behind)
{
    vector v;
    if (lanes >= LANES) {
        memcpy(&v, p, sizeof v);
    } else { /* not v[i] = p[i]: that would keep v in memory in both cases */
        float few[LANES];
        for (int64_t i = 0; i < LANES; i++)
            few[i] = i < lanes ? p[i] : behind;
        memcpy(&v, few, sizeof v);
    }
    return v;
}

static inline vector load(const float *p, int64_t lanes)
{
    return load_filled(p, lanes, 0);
}

static inline void store(float *p, vector v, int64_t lanes)
{
    if (lanes >= LANES) {
        memcpy(p, &v, sizeof v);
    } else {
        float few[LANES];
        memcpy(few, &v, sizeof v);
        for (int64_t i = 0; i < lanes; i++)
            p[i] = few[i];
    }
}

/** v with 0 from lane `lanes` on. */
static inline vector cut(vector v, int64_t lanes)
{
    if (lanes < LANES) {
        float few[LANES];
        memcpy(few, &v, sizeof v);
        for (int64_t i = lanes; i < LANES; i++)
            few[i] = 0;
        memcpy(&v, few, sizeof v);
    }
    return v;
}

/** a where `where` holds, else b. */
static inline vector choose(truth where, vector a, vector b)
{
    return (vector)((where & (truth)a) | (~where & (truth)b));
}

/* The lanes of a vector in double: two registers, which the compiler would keep in memory as one. */
typedef float half __attribute__((vector_size(2 * LANES)));
typedef double doubles __attribute__((vector_size(4 * LANES)));
struct pair {
    doubles low, high;
};

static inline struct pair widen(vector v)
{
    half part[2];
    memcpy(part, &v, sizeof part);
    return (struct pair){__builtin_convertvector(part[0], doubles), __builtin_convertvector(part[1], doubles)};
}

/** The sum of the lanes: halves of the vector side by side, since one after another they would take most of a short
 * line's time. */
static inline double total(struct pair v)
{
    double part[LANES / 2];
    v.low += v.high;
    memcpy(part, &v.low, sizeof part);
    for (int left = LANES / 4; left > 0; left /= 2)
        for (int i = 0; i < left; i++)
            part[i] += part[i + left];
    return part[0];
}

/** exp of what lies between -87 and 88, and of these beyond: 2^n times exp(rest), |rest| <= log(2) / 2, by its series
 * to the seventh power, the last coefficients those of Cephes' expf. A NaN stays one. */
static inline vector exponential(vector x)
{
    const vector shift = (vector){0} + 12582912.0F; /* 1.5 * 2^23: what is added to it is rounded to a whole number */
    x = choose(x < -87.0F, (vector){0} - 87.0F, choose(x > 88.0F, (vector){0} + 88.0F, x));
    const vector shifted = x * 1.44269504088896341F + shift, n = shifted - shift;
    const vector rest = x - n * 0.693359375F - n * -2.12194440e-4F; /* log(2) in two parts, the first one short */
    vector series = (vector){0} + 1.9875691500e-4F;
    series = series * rest + 1.3981999507e-3F;
    series = series * rest + 8.3334519073e-3F;
    series = series * rest + 4.1665795894e-2F;
    series = series * rest + 1.6666665459e-1F;
    series = series * rest + 5.0000001201e-1F;
    series = series * rest * rest + rest + 1.0F;
    const truth power = ((truth)shifted - (truth)shift + 127) << 23;
    return series * (vector)power;
}

static inline vector sigmoid(vector x)
{
    return 1.0F / (1.0F + exponential(-x));
}

/** Near 0 by Cephes' series, as the other form would lose what is small. */
static inline vector hyperbolic(vector x)
{
    const vector square = x * x, e = exponential(x + x);
    vector series = (vector){0} - 5.70498872745e-3F;
    series = series * square + 2.06390887954e-2F;
    series = series * square - 5.37397155531e-2F;
    series = series * square + 1.33314422036e-1F;
    series = series * square - 3.33332819422e-1F;
    return choose(square < 0.390625F, x + x * square * series, 1.0F - 2.0F / (e + 1.0F));
}

#endif
