/* What the library that the engine computes with can do at best on this machine: matrix products. The shortest of some
 * repeats counts, since what disturbs a run only makes it longer. */
#ifndef YS_BACKEND_PRODUCT_PEAK_H
#define YS_BACKEND_PRODUCT_PEAK_H

#include "base/status.h"
#include "yardstick/engine.h"
#include <stdint.h>

/** [rows, columns] = [rows, depth] x [depth, columns] */
struct ys_peak_product {
    int64_t rows, columns, depth;
};
/** Seconds of one product, the shortest of `repeats`, or with 0 of as many as fit in some tenths of a second, after one
 * that is not timed. F32 or BF16, every layout the library's choice; on the calling thread and `threads` - 1 others. */
ys_status ys_peak_product(const struct ys_peak_product *product, enum ys_engine_precision precision, int threads,
                          int repeats, double *seconds) YS_MUST_CHECK;

#endif
