#include "data/sets/synthetic.h"
#include "base/rng.h"
#include <stdio.h>

#define SEED 0x59535359u /* never changes: the bytes are the same on every machine */

int64_t ys_synthetic_train_count(int64_t row_bytes, int64_t max_bytes)
{
    int64_t count = YS_SYNTHETIC_MAX_ROWS;
    while (count > 1 && count > max_bytes / row_bytes)
        count /= 2;
    return count;
}

int64_t ys_synthetic_test_count(int64_t row_bytes, int64_t max_bytes)
{
    int64_t count = ys_synthetic_train_count(row_bytes, max_bytes) / 16;
    return count > 1 ? count : 1;
}

void ys_synthetic_draw(const char *half, const struct ys_rows *form, int64_t count, void *const *arrays)
{
    struct ys_rng rng;
    char name[YS_ROWS_MAX_NAME + 32];
    for (size_t i = 0; i <= form->input_count; i++) {
        const struct ys_row_array *array = ys_rows_array(form, i);
        snprintf(name, sizeof name, "synthetic/%s/%s", half, array->name);
        ys_rng_init(&rng, SEED, name);
        ys_rows_draw(array, i < form->input_count ? 0 : form->classes, &rng, count, arrays[i]);
    }
}
