#include "data/synthetic.h"
#include "base/rng.h"
#include <stdio.h>

#define SEED 0x59535359u /* never changes: the bytes are the same on every machine */

int64_t ys_synthetic_train_count(int64_t image_bytes)
{
    int64_t count = YS_SYNTHETIC_MAX_ROWS;
    while (count > 1 && count > YS_SYNTHETIC_MAX_BYTES / image_bytes)
        count /= 2;
    return count;
}

int64_t ys_synthetic_test_count(int64_t image_bytes)
{
    int64_t count = ys_synthetic_train_count(image_bytes) / 16;
    return count > 1 ? count : 1;
}

static void init_stream(struct ys_rng *rng, const char *half, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "synthetic/%s/%s", half, what);
    ys_rng_init(rng, SEED, name);
}

void ys_synthetic_draw(const char *half, int64_t image_bytes, int64_t classes, int64_t count, uint8_t *x, int64_t *y)
{
    struct ys_rng rng;
    init_stream(&rng, half, "x");
    uint32_t word = 0;
    for (int64_t i = 0; i < count * image_bytes; i++) { /* four bytes of each word, the lowest first */
        word = i % 4 ? word >> 8 : ys_rng_u32(&rng);
        x[i] = (uint8_t)word;
    }
    init_stream(&rng, half, "y");
    for (int64_t i = 0; i < count; i++)
        y[i] = ys_rng_below(&rng, (uint32_t)classes);
}
