#include "backend/level.h"
#include "backend/ref.h"

extern const struct ys_ref_kernels ys_kernels_simd;
#ifdef __x86_64__
extern const struct ys_ref_kernels ys_kernels_simd_v3, ys_kernels_simd_v4;
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
