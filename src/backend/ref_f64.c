#define REAL    double
#define KERNELS ys_ref_kernels_f64
#define PRODUCT "backend/ref_product.inc"
#include "backend/ref_kernels.inc"
