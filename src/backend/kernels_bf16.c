/* bfloat16 is the upper half of a float, rounded to nearest even. Compiled once for each width of vector registers. */
#include "backend/parallel.h"

#include "backend/kernels_tail.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define ELEMENT uint16_t
#define KERNELS YS_KERNELS

extern const struct ys_kernels YS_KERNELS;

typedef uint16_t half_bits __attribute__((vector_size(32)));
typedef uint32_t bits __attribute__((vector_size(64)));

static inline vector load16(const uint16_t *p)
{
    half_bits half;
    memcpy(&half, p, sizeof half);
    return (vector)(__builtin_convertvector(half, bits) << 16);
}

static inline half_vector load8(const uint16_t *p)
{
    uint16_t few[YS_LANES] = {0};
    half_vector half;
    memcpy(few, p, sizeof few / 2);
    const vector v = load16(few);
    memcpy(&half, &v, sizeof half);
    return half;
}

static inline void store16(uint16_t *p, vector v)
{
    bits b = (bits)v;
    half_bits half = __builtin_convertvector((b + 0x7fff + ((b >> 16) & 1)) >> 16, half_bits);
    memcpy(p, &half, sizeof half);
}

static inline void stream16(uint16_t *p, vector v)
{
#if defined(__SSE2__)
    uint16_t bytes[YS_LANES];
    __m128i half[2];
    store16(bytes, v);
    memcpy(half, bytes, sizeof half);
    for (int i = 0; i < 2; i++)
        _mm_stream_si128((__m128i *)(void *)(p + 8 * i), half[i]);
#else
    store16(p, v);
#endif
}

#include "backend/kernels.inc"
