/* Which rows each step takes. */
#ifndef YS_DATA_ROW_ORDER_H
#define YS_DATA_ROW_ORDER_H

#include "base/status.h"
#include "base/stored/safetensors.h"
#include <stdbool.h>
#include <stdint.h>

#define YS_ORDER_MAX_ROWS ((int64_t)1 << 30) /* steps * batch: a file of 4 GiB */

/** Writes the order of rows and the learning rates of a run as safetensors: `order`, U32 [steps, batch], `epoch`, U32
 * [steps], and `lr`, F64 [steps].
 *
 * With `streams`, row r of the batches is one stretch of the rows, one after the other, in every epoch: with m =
 * floor(n / batch) batch b has row r m + b there. Otherwise epoch k is a permutation of the n rows drawn from the
 * stream (seed, "order/k"); it gives floor(n / batch) batches, and the rest of it is dropped.
 * @param lr    [in] steps numbers, copied into the file
 * @param hash  [out] SHA-256 of the bytes of `order` followed by those of `lr` (little-endian)
 * YS_EINVAL: batch larger than n, a number below 1, n of 2^32 or more, more than YS_ORDER_MAX_ROWS. */
ys_status ys_order_write(const char *path, uint64_t seed, bool streams, int64_t n, int64_t batch, int64_t steps,
                         const double *lr, char hash[65]) YS_MUST_CHECK;

/** Which `kept` of `n` rows are kept from training, drawn from the stream (seed, "tune.rows"): rows[0 .. kept - 1]
 * [out], ascending; behind them the others, ascending. 0 <= kept <= n < 2^32. */
void ys_order_kept(uint64_t seed, int64_t n, int64_t kept, uint32_t *rows);
/** As ys_order_write(), of the n - kept rows that are not kept from training: epochs permute these. */
ys_status ys_order_write_kept(const char *path, uint64_t seed, int64_t kept, int64_t n, int64_t batch, int64_t steps,
                              const double *lr, char hash[65]) YS_MUST_CHECK;

/** Writes a given order, [steps, batch], with its `steps` epochs (NULL: all of them the first, 0) and learning rates,
 * in the same form. Rows are not checked. */
ys_status ys_order_save(const char *path, const uint32_t *order, const uint32_t *epochs, int64_t batch, int64_t steps,
                        const double *lr) YS_MUST_CHECK;

/** The epochs of a file of that form, one for each of its `steps`; NULL where it says none. Borrowed from it. */
const uint32_t *ys_order_epochs(const struct ys_safetensors *file, int64_t steps);

#endif
