#include "backend/dropout.h"

#include "base/philox.h"
#include "base/rng.h"
#include "base/status.h"
#include <string.h>

enum { BLOCKS = 32, WORDS = 4 * BLOCKS }; /* made at once: loops of this length become vector code */

void ys_dropout_init(struct ys_dropout *dropout, uint64_t seed, const char *node_name, double ratio)
{
    YS_ASSERT(ratio >= 0 && ratio < 1);
    struct ys_rng rng;
    ys_rng_init(&rng, seed, node_name);
    *dropout = (struct ys_dropout){.key = {rng.key[0], rng.key[1]}, .threshold = (uint32_t)(ratio * 0x1p32)};
}

/** The elements of blocks [block, block + BLOCKS). */
static void mask_blocks(const struct ys_dropout *dropout, uint64_t step, uint64_t block,
                        unsigned char keep[restrict WORDS])
{
    uint32_t c0[BLOCKS], c1[BLOCKS], c2[BLOCKS], c3[BLOCKS], key[2] = {dropout->key[0], dropout->key[1]};
    for (unsigned i = 0; i < BLOCKS; i++) {
        c0[i] = (uint32_t)(block + i);
        c1[i] = (uint32_t)((block + i) >> 32);
        c2[i] = (uint32_t)step;
        c3[i] = (uint32_t)(step >> 32);
    }
    for (int round = 0; round < YS_PHILOX_ROUNDS; round++) {
        for (int i = 0; i < BLOCKS; i++)
            ys_philox_round(&c0[i], &c1[i], &c2[i], &c3[i], key);
        ys_philox_next_key(key);
    }
    uint32_t threshold = dropout->threshold;
    for (int i = 0; i < BLOCKS; i++) {
        keep[4 * i] = c0[i] >= threshold;
        keep[4 * i + 1] = c1[i] >= threshold;
        keep[4 * i + 2] = c2[i] >= threshold;
        keep[4 * i + 3] = c3[i] >= threshold;
    }
}

void ys_dropout_mask(const struct ys_dropout *dropout, uint64_t steps_done, uint64_t first, size_t count,
                     unsigned char *keep)
{
    while (count > 0) {
        uint64_t block = first / WORDS * BLOCKS;
        size_t skipped = (size_t)(first % WORDS), here = count < WORDS - skipped ? count : WORDS - skipped;
        if (here == WORDS) {
            mask_blocks(dropout, steps_done + 1, block, keep);
        } else {
            unsigned char part[WORDS];
            mask_blocks(dropout, steps_done + 1, block, part);
            memcpy(keep, part + skipped, here);
        }
        first += here;
        count -= here;
        keep += here;
    }
}
