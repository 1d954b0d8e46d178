#include "base/stored/row_form.h"

#include <string.h>

const char *ys_target_kind_name(enum ys_target_kind kind)
{
    static const char *const names[] = {"class", "classes", "vector"};
    _Static_assert(sizeof names / sizeof names[0] == YS_TARGET_KIND_COUNT, "one name a kind");
    return names[kind];
}

int64_t ys_row_elements(const struct ys_row_array *array)
{
    int64_t elements = 1;
    for (size_t i = 0; i < array->rank; i++)
        elements *= array->shape[i];
    return elements;
}

size_t ys_row_bytes(const struct ys_row_array *array)
{
    return (size_t)ys_row_elements(array) * ys_dtype_size(array->dtype);
}

static bool arrays_equal(const struct ys_row_array *a, const struct ys_row_array *b)
{
    return strcmp(a->name, b->name) == 0 && a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

const struct ys_row_array *ys_rows_array(const struct ys_rows *rows, size_t index)
{
    return index < rows->input_count ? &rows->inputs[index] : &rows->target;
}

static void draw_bytes(struct ys_rng *rng, int64_t count, uint8_t *values)
{
    uint32_t word = 0;
    for (int64_t i = 0; i < count; i++) {
        word = i % 4 ? word >> 8 : ys_rng_u32(rng);
        values[i] = (uint8_t)word;
    }
}

/** A row of tokens that ends before it is full; the padding is no token. */
static void draw_padded(struct ys_rng *rng, int64_t positions, uint32_t below, int32_t *row)
{
    const int64_t length = 1 + ys_rng_below(rng, (uint32_t)positions);
    for (int64_t i = 0; i < positions; i++)
        row[i] = i < length ? 1 + (int32_t)ys_rng_below(rng, below - 1) : YS_ROWS_PADDING;
}

void ys_rows_draw(const struct ys_row_array *array, int64_t classes, struct ys_rng *rng, int64_t count, void *values)
{
    const uint32_t below = classes > 0 ? (uint32_t)classes : array->below > 0 ? (uint32_t)array->below : 256;
    for (int64_t i = 0; array->padded && i < count; i++)
        draw_padded(rng, array->shape[0], below, (int32_t *)values + i * array->shape[0]);
    if (array->padded)
        return;
    count *= ys_row_elements(array);
    if (array->dtype == YS_U8)
        draw_bytes(rng, count, values);
    else if (array->dtype == YS_F32)
        for (int64_t i = 0; i < count; i++)
            ((float *)values)[i] = (float)(2 * ys_rng_uniform(rng) - 1);
    else if (array->dtype == YS_I32)
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)values)[i] = (int32_t)ys_rng_below(rng, below);
    else
        for (int64_t i = 0; i < count; i++)
            ((int64_t *)values)[i] = ys_rng_below(rng, below);
}

bool ys_rows_equal(const struct ys_rows *a, const struct ys_rows *b)
{
    bool equal = a->input_count == b->input_count && a->kind == b->kind && a->classes == b->classes;
    for (size_t i = 0; equal && i <= a->input_count; i++)
        equal = arrays_equal(ys_rows_array(a, i), ys_rows_array(b, i));
    return equal;
}
