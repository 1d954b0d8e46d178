/* bfloat16 is the upper half of a float, rounded to nearest even. Compiled for AVX-512 alone: where that is missing
 * nothing computes in such numbers (backend/level.h). */
#include "backend/parallel.h"

#include "backend/kernels/kernels_tail.h"
#include <math.h>
#include <immintrin.h>

#define ELEMENT uint16_t
#define KERNELS YS_KERNELS

extern const struct ys_kernels YS_KERNELS;

typedef uint16_t half_bits __attribute__((vector_size(2 * LANES)));
typedef uint32_t bits __attribute__((vector_size(4 * LANES)));

static inline vector load_all(const uint16_t *p)
{
    half_bits half;
    memcpy(&half, p, sizeof half);
    return (vector)(__builtin_convertvector(half, bits) << 16);
}

static inline float number(const uint16_t *p)
{
    const uint32_t b = (uint32_t)*p << 16;
    float v;
    memcpy(&v, &b, sizeof v);
    return v;
}

static inline half_bits rounded(vector v)
{
    bits b = (bits)v;
    return __builtin_convertvector((b + 0x7fff + ((b >> 16) & 1)) >> 16, half_bits);
}

static inline void store_all(uint16_t *p, vector v)
{
    half_bits half = rounded(v);
    memcpy(p, &half, sizeof half);
}

static inline void stream_all(uint16_t *p, vector v)
{
    _mm256_stream_si256((__m256i *)(void *)p, (__m256i)rounded(v));
}

#include "backend/kernels/kernels.inc"
