#include "backend/plain/simd.h"
#include "backend/level.h"

YS_FORMS(const struct ys_ref_kernels, ys_kernels_simd);
YS_FORMS(const struct ys_curve_kernels, ys_kernels_curves);

const struct ys_ref_kernels *ys_simd_kernels(void)
{
    return YS_FORM(ys_kernels_simd);
}

const struct ys_curve_kernels *ys_curve_kernels(void)
{
    return YS_FORM(ys_kernels_curves);
}
