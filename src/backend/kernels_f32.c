/* YS_KERNELS names the table: this file is compiled once for each width of vector registers. */
#include "backend/parallel.h"

#include "backend/kernels_tail.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define ELEMENT float
#define KERNELS YS_KERNELS

extern const struct ys_kernels YS_KERNELS;

static inline vector load16(const float *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline half_vector load8(const float *p)
{
    half_vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store16(float *p, vector v)
{
    memcpy(p, &v, sizeof v);
}

static inline void stream16(float *p, vector v)
{
#if defined(__AVX512F__)
    _mm512_stream_ps(p, (__m512)v);
#elif defined(__SSE2__)
    __m128 quarter[4];
    memcpy(quarter, &v, sizeof quarter);
    for (int i = 0; i < 4; i++)
        _mm_stream_ps(p + 4 * i, quarter[i]);
#else
    store16(p, v);
#endif
}

#include "backend/kernels.inc"
