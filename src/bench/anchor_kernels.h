/* The anchor, version 1: three fixed pieces of work by which a machine is told from itself at another time.
 *
 * Frozen. What stands here and in anchor_kernels.c is never changed, not to be faster and not to be nicer: a test holds
 * both files to their hashes (tests/unit/bench/test_anchor.c). Other kernels get other files and another version.
 *
 * Each does a slice of its work and returns what it computed, so that no compiler leaves it out. */
#ifndef YS_BENCH_ANCHOR_KERNELS_H
#define YS_BENCH_ANCHOR_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define YS_ANCHOR_VERSION 1

#define YS_ANCHOR_OPERATIONS (1 << 20)  /* of a slice of arithmetic: multiplications and additions in double */
#define YS_ANCHOR_BYTES      (32 << 20) /* of a slice of memory: each read once */
#define YS_ANCHOR_BRANCHES   (1 << 17)  /* of a slice of branches: jumps that no predictor knows */

/** Eight chains of x = x a + b, which stay between 0 and 2. */
double ys_anchor_arithmetic(void);
/** The sum of YS_ANCHOR_BYTES / 8 words. */
uint64_t ys_anchor_memory(const uint64_t *words);
/** A machine of eight instructions, drawn by a generator that `seed` begins, goes through YS_ANCHOR_BRANCHES of them.
 */
uint64_t ys_anchor_branches(uint64_t seed);

#endif
