/* Random numbers from a counter: the same (seed, name, index) gives the same number in any order, on any machine, with
 * any number of threads. Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11), keyed by
 * the first 8 bytes of SHA-256 over the seed (8 bytes, little-endian) and the name. Floating-point results
 * use only IEEE additions, multiplications, divisions and square roots, without contraction, so they are bit-equal
 * everywhere. */
#ifndef YS_BASE_RNG_H
#define YS_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct ys_rng {
    uint32_t key[2];
    uint64_t counter; /* index of the next block of four words */
    uint32_t word[4];
    unsigned used; /* words of `word` already handed out; 4 when it is empty */
};

/** The stream of (seed, name), at its start. */
void ys_rng_init(struct ys_rng *rng, uint64_t seed, const char *name);

uint32_t ys_rng_u32(struct ys_rng *rng);
/** Uniform in [0, bound), without bias; bound at least 1. */
uint32_t ys_rng_below(struct ys_rng *rng, uint32_t bound);
/** Uniform in (0, 1): (k + 0.5) / 2^32. */
double ys_rng_uniform(struct ys_rng *rng);
/** Standard normal, by the inverse of the distribution function (Wichura, algorithm AS 241, 1988). */
double ys_rng_normal(struct ys_rng *rng);
/** Fisher-Yates over `n` entries. */
void ys_rng_shuffle(struct ys_rng *rng, uint32_t *values, size_t n);

#endif
