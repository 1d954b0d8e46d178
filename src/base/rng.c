#include "base/rng.h"
#include "base/hash.h"
#include "base/philox.h"
#include "base/status.h"
#include <math.h>
#include <string.h>

/* AS 241 (PPND16), highest power first. The two ratios hold for |p - 1/2| <= 0.425 and for the tails down to
 * p = exp(-25); the third one of the paper, for what lies beyond, is not needed: no uniform here is below
 * 2^-33 = exp(-22.9). */
static const double central_num[8] = {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                                      4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                      1.3314166789178437745e+2, 3.3871328727963666080e+0};
static const double central_den[8] = {
    5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4, 2.1213794301586595867e+4,
    5.3941960214247511077e+3, 6.8718700749205790830e+2, 4.2313330701600911252e+1, 1.0};
static const double tail_num[8] = {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                                   1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                   4.63033784615654529590e+0, 1.42343711074968357734e+0};
static const double tail_den[8] = {
    1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940e+0, 2.05319162663775882187e+0, 1.0};

static void philox_4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t moving[2] = {key[0], key[1]};
    memcpy(out, counter, 4 * sizeof *out);
    for (int round = 0; round < YS_PHILOX_ROUNDS; round++) {
        ys_philox_round(&out[0], &out[1], &out[2], &out[3], moving);
        ys_philox_next_key(moving);
    }
}

static uint32_t load_u32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void ys_rng_init(struct ys_rng *rng, uint64_t seed, const char *name)
{
    uint8_t seed_bytes[8], digest[32];
    for (int i = 0; i < 8; i++)
        seed_bytes[i] = (uint8_t)(seed >> (8 * i));
    ys_sha256_joined(seed_bytes, sizeof seed_bytes, name, strlen(name), digest);
    *rng = (struct ys_rng){.key = {load_u32(digest), load_u32(digest + 4)}, .used = 4};
}

uint32_t ys_rng_u32(struct ys_rng *rng)
{
    if (rng->used >= 4) {
        uint32_t counter[4] = {(uint32_t)rng->counter, (uint32_t)(rng->counter >> 32), 0, 0};
        philox_4x32_10(counter, rng->key, rng->word);
        rng->counter++;
        rng->used = 0;
    }
    return rng->word[rng->used++];
}

/* Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019): the high word of x * bound, drawn
 * again while the low word lies in the part that would make some results likelier. */
uint32_t ys_rng_below(struct ys_rng *rng, uint32_t bound)
{
    YS_ASSERT(bound > 0);
    uint32_t unfair = -bound % bound;
    uint64_t product;
    do
        product = (uint64_t)ys_rng_u32(rng) * bound;
    while ((uint32_t)product < unfair);
    return (uint32_t)(product >> 32);
}

double ys_rng_uniform(struct ys_rng *rng)
{
    return (ys_rng_u32(rng) + 0.5) * 0x1p-32;
}

/* Natural logarithm for 0 < x < 1, within a few ulp. Not libm's, whose last bit differs between versions.
 * log m = 2 atanh(s) with s = (m - 1) / (m + 1); m in [sqrt(1/2), sqrt(2)) gives s^2 < 0.0295, so that the first term
 * left out, s^22 / 23, is below 1e-17 of the sum. */
static double portable_log(double x)
{
    static const double ln2_high = 0x1.62e42fefa38p-1; /* 43 bits: its product with an exponent is exact */
    static const double ln2_low = 0x1.ef35793c7673p-45;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1);
    double z = s * s;
    double series = 0;
    for (int k = 21; k >= 3; k -= 2)
        series = (series + 1.0 / k) * z;
    return exponent * ln2_high + (2 * s + (2 * s * series + exponent * ln2_low));
}

static double polynomial(const double coefficients[8], double x)
{
    double sum = coefficients[0];
    for (int i = 1; i < 8; i++)
        sum = sum * x + coefficients[i];
    return sum;
}

/** The quantile of the standard normal distribution at `p`, 2^-33 <= p <= 1 - 2^-33. */
static double normal_quantile(double p)
{
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(central_num, r) / polynomial(central_den, r);
    }
    double r = sqrt(-portable_log(q < 0 ? p : 1 - p)) - 1.6;
    double magnitude = polynomial(tail_num, r) / polynomial(tail_den, r);
    return q < 0 ? -magnitude : magnitude;
}

double ys_rng_normal(struct ys_rng *rng)
{
    return normal_quantile(ys_rng_uniform(rng));
}

void ys_rng_shuffle(struct ys_rng *rng, uint32_t *values, size_t n)
{
    YS_ASSERT(n <= UINT32_MAX);
    for (size_t i = n; i > 1; i--) {
        size_t j = ys_rng_below(rng, (uint32_t)i);
        uint32_t swapped = values[i - 1];
        values[i - 1] = values[j];
        values[j] = swapped;
    }
}
