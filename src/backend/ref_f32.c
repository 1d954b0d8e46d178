#define REAL    float
#define KERNELS ys_ref_kernels_f32
#define PRODUCT "backend/ref_product.inc"
#include "backend/ref_kernels.inc"
