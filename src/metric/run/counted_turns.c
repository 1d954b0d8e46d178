#include "metric/run/counted_turns.h"

#include <string.h>

struct questions {
    const int64_t *first, *sent_ns, *done_ns, *settles, *ahead_ns, *dropped;
    size_t count;
};

static bool find(const struct ys_series_set *series, struct questions *all)
{
    *all = (struct questions){.count = SIZE_MAX};
    all->first = ys_series_column(series, "request_first", &all->count);
    all->sent_ns = ys_series_column(series, "request_sent_ns", &all->count);
    all->done_ns = ys_series_column(series, "request_done_ns", &all->count);
    all->settles = ys_series_column(series, "request_settles", &all->count);
    all->ahead_ns = ys_series_column(series, "request_ahead_ns", &all->count);
    all->dropped = ys_series_column(series, "request_dropped", &all->count);
    return all->first && all->sent_ns && all->done_ns && all->settles && all->ahead_ns && all->dropped;
}

static bool counts(const struct questions *all, size_t i)
{
    return !all->settles[i] && !all->dropped[i];
}

static void keep_blocks(const struct ys_series_set *series, const struct questions *all, struct ys_series_set *kept)
{
    size_t blocks = SIZE_MAX, question = 0;
    const int64_t *first = ys_series_column(series, "block_first", &blocks);
    for (size_t i = 0; first && i < blocks; i++) {
        while (question + 1 < all->count && all->first[question + 1] <= first[i])
            question++;
        if (question >= all->count || !counts(all, question))
            continue;
        for (size_t s = 0; s < series->count; s++) {
            const struct ys_series *column = &series->items[s];
            if (strncmp(column->name, "block_", 6) == 0 && !column->is_real && i < column->count)
                ys_series_add_int(kept, column->name, column->ints[i]);
        }
    }
}

bool ys_kept_find(const struct ys_series_set *series, struct ys_series_set *kept, int64_t *left_ns)
{
    struct questions all;
    *kept = (struct ys_series_set){0};
    *left_ns = 0;
    if (!find(series, &all))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        const int64_t sent_ns = all.sent_ns[i] - all.ahead_ns[i];
        if (!counts(&all, i)) {
            *left_ns += all.done_ns[i] - sent_ns;
            continue;
        }
        ys_series_add_int(kept, "request_first", all.first[i]);
        ys_series_add_int(kept, "request_sent_ns", sent_ns);
        ys_series_add_int(kept, "request_done_ns", all.done_ns[i]);
    }
    keep_blocks(series, &all, kept);
    return true;
}
