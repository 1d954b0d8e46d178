/* YS_KERNELS names the table: this file is compiled once for each width of vector registers. */
#include "backend/parallel.h"

#include "backend/kernels/kernels_tail.h"
#include <math.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define ELEMENT float
#define KERNELS YS_KERNELS

extern const struct ys_kernels YS_KERNELS;

static inline vector load_all(const float *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline float number(const float *p)
{
    return *p;
}

static inline void store_all(float *p, vector v)
{
    memcpy(p, &v, sizeof v);
}

static inline void stream_all(float *p, vector v)
{
#if defined(__AVX512F__)
    _mm512_stream_ps(p, (__m512)v);
#elif defined(__AVX2__)
    _mm256_stream_ps(p, (__m256)v);
#elif defined(__SSE2__)
    _mm_stream_ps(p, (__m128)v);
#else
    store_all(p, v);
#endif
}

#include "backend/kernels/kernels.inc"
