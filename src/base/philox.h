/* One round of Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11), for those who need
 * many blocks at once and so keep their words in arrays. Ten rounds make a block; after each, the key moves on. */
#ifndef YS_BASE_PHILOX_H
#define YS_BASE_PHILOX_H

#include <stdint.h>

enum { YS_PHILOX_ROUNDS = 10 };

static inline void ys_philox_round(uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3, const uint32_t key[2])
{
    uint64_t p0 = (uint64_t)0xD2511F53u * *c0;
    uint64_t p1 = (uint64_t)0xCD9E8D57u * *c2;
    *c0 = (uint32_t)(p1 >> 32) ^ *c1 ^ key[0];
    *c2 = (uint32_t)(p0 >> 32) ^ *c3 ^ key[1];
    *c1 = (uint32_t)p1;
    *c3 = (uint32_t)p0;
}

static inline void ys_philox_next_key(uint32_t key[2])
{
    key[0] += 0x9E3779B9u; /* golden ratio */
    key[1] += 0xBB67AE85u; /* sqrt(3) - 1 */
}

#endif
