#define REAL    float
#define KERNELS ys_ref_kernels_f32
#define PRODUCT "backend/plain/ref_product.inc"
#include "backend/plain/ref_kernels.inc"
