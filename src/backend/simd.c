#include "backend/simd.h"
#include "backend/level.h"

extern const struct ys_ref_kernels ys_kernels_simd;
extern const struct ys_curve_kernels ys_kernels_curves;
#ifdef __x86_64__
extern const struct ys_ref_kernels ys_kernels_simd_v3, ys_kernels_simd_v4;
extern const struct ys_curve_kernels ys_kernels_curves_v3, ys_kernels_curves_v4;
#endif

const struct ys_ref_kernels *ys_simd_kernels(void)
{
    switch (ys_level_width()) {
#ifdef __x86_64__
    case 4:
        return &ys_kernels_simd_v4;
    case 3:
        return &ys_kernels_simd_v3;
#endif
    default:
        return &ys_kernels_simd;
    }
}

const struct ys_curve_kernels *ys_curve_kernels(void)
{
    switch (ys_level_width()) {
#ifdef __x86_64__
    case 4:
        return &ys_kernels_curves_v4;
    case 3:
        return &ys_kernels_curves_v3;
#endif
    default:
        return &ys_kernels_curves;
    }
}
