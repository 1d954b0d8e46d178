#define REAL    double
#define KERNELS ys_ref_kernels_f64
#define PRODUCT "backend/plain/ref_product.inc"
#include "backend/plain/ref_kernels.inc"
