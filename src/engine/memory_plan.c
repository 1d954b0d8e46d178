#include "engine/program.h"

#include "base/mem.h"
#include <stdlib.h>

static size_t round_up(size_t size)
{
    return (size + YS_ALIGNMENT - 1) / YS_ALIGNMENT * YS_ALIGNMENT;
}

static bool is_placed(const struct ys_buffer *b)
{
    return b->persistent || b->first >= 0;
}

bool ys_plan_conflict(const struct ys_buffer *a, const struct ys_buffer *b)
{
    if (!is_placed(a) || !is_placed(b))
        return false;
    if (a->persistent || b->persistent)
        return true;
    return a->first <= b->last && b->first <= a->last;
}

/** Persistent ones first, so that they stand together; then by falling size, then by index: the order is total. */
static int by_falling_size(const void *left, const void *right)
{
    const struct ys_buffer *a = *(const struct ys_buffer *const *)left, *b = *(const struct ys_buffer *const *)right;
    if (a->persistent != b->persistent)
        return a->persistent ? -1 : 1;
    if (a->size_bytes != b->size_bytes)
        return a->size_bytes > b->size_bytes ? -1 : 1;
    return a < b ? -1 : a > b;
}

/** The buffer among the first `count` that conflicts with `b` at `offset` and ends last, or NULL. */
static const struct ys_buffer *obstacle(struct ys_buffer *const *order, size_t count, const struct ys_buffer *b,
                                        bool share, size_t gap_bytes, size_t offset)
{
    const struct ys_buffer *found = NULL;
    size_t begin = offset - gap_bytes, end = offset + round_up(b->size_bytes) + gap_bytes;
    for (size_t i = 0; i < count; i++) {
        const struct ys_buffer *other = order[i];
        if (!is_placed(other) || (share && !ys_plan_conflict(other, b)))
            continue;
        size_t other_end = other->offset_bytes + round_up(other->size_bytes);
        if (begin < other_end && other->offset_bytes < end &&
            (!found || other_end > found->offset_bytes + round_up(found->size_bytes)))
            found = other;
    }
    return found;
}

ys_status ys_plan_memory(struct ys_buffer *buffers, size_t count, bool share, size_t gap_bytes, size_t *arena_bytes)
{
    struct ys_buffer **order = ys_alloc(count, sizeof *order);
    if (!order)
        return ys_out_of_memory();
    for (size_t i = 0; i < count; i++)
        order[i] = &buffers[i];
    qsort(order, count, sizeof *order, by_falling_size);
    gap_bytes = round_up(gap_bytes);
    size_t end = gap_bytes;
    for (size_t i = 0; i < count; i++) {
        struct ys_buffer *b = order[i];
        if (!is_placed(b))
            continue;
        size_t offset = gap_bytes;
        const struct ys_buffer *other;
        while ((other = obstacle(order, i, b, share, gap_bytes, offset)))
            offset = other->offset_bytes + round_up(other->size_bytes) + gap_bytes;
        b->offset_bytes = offset;
        if (offset + round_up(b->size_bytes) + gap_bytes > end)
            end = offset + round_up(b->size_bytes) + gap_bytes;
    }
    *arena_bytes = end;
    ys_free(order);
    return YS_OK;
}
