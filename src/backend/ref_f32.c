#define REAL    float
#define KERNELS ys_ref_kernels_f32
#include "backend/ref_kernels.inc"
