#define REAL    double
#define KERNELS ys_ref_kernels_f64
#include "backend/ref_kernels.inc"
