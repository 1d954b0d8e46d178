/* The kernels of the back end `simd`: the text of the reference back end's, in float, compiled once for each width of
 * vector registers and with leave to multiply and add at once and to add up in vectors (src/meson.build). Its products
 * have tiles and threads of their own. YS_KERNELS names the table. */
#define REAL    float
#define KERNELS YS_KERNELS
#define PRODUCT "backend/plain/simd_product.inc"
#include "backend/plain/ref_lower.h"
extern const struct ys_ref_kernels YS_KERNELS;
#include "backend/plain/ref_kernels.inc"
