/* bfloat16 is the upper half of a float, rounded to nearest even. Compiled once for each width of vector registers. */
#include "backend/parallel.h"

#include "backend/kernels_tail.h"

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

static inline void store16(uint16_t *p, vector v)
{
    bits b = (bits)v;
    half_bits half = __builtin_convertvector((b + 0x7fff + ((b >> 16) & 1)) >> 16, half_bits);
    memcpy(p, &half, sizeof half);
}

#include "backend/kernels.inc"
