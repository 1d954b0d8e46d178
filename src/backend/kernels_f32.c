/* YS_KERNELS names the table: this file is compiled once for each width of vector registers. */
#include "backend/parallel.h"

#include "backend/kernels_tail.h"

#define ELEMENT float
#define KERNELS YS_KERNELS

extern const struct ys_kernels YS_KERNELS;

static inline vector load16(const float *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store16(float *p, vector v)
{
    memcpy(p, &v, sizeof v);
}

#include "backend/kernels.inc"
