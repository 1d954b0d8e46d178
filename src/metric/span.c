#include "metric/span.h"

#include <stdbool.h>

struct messages {
    const struct ys_series *first, *count, *start, *end; /* of blocks, or of messages of latencies */
    const struct ys_series *sent, *done, *sent_first;    /* of questions; NULL in runs of before they were kept */
    size_t n;
};

static struct messages find(const struct ys_series_set *series)
{
    struct messages found = {
        .first = ys_series_find(series, "block_first"),
        .count = ys_series_find(series, "block_count"),
        .start = ys_series_find(series, "block_start_ns"),
        .end = ys_series_find(series, "block_end_ns"),
        .sent = ys_series_find(series, "request_sent_ns"),
        .done = ys_series_find(series, "request_done_ns"),
        .sent_first = ys_series_find(series, "request_first"),
    };
    if (found.first && found.count && found.start && found.end && found.first->count == found.end->count &&
        found.count->count == found.end->count && found.start->count == found.end->count)
        found.n = found.end->count;
    if (!found.sent || !found.done || !found.sent_first || found.sent->count != found.sent_first->count)
        found.sent = found.done = NULL;
    return found;
}

/** From when to when message `i` reaches. `question` is the one that it answers, as for the message before it. */
static void reach(const struct messages *all, size_t i, size_t *question, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = all->start->ints[i];
    *to_ns = all->end->ints[i];
    if (!all->sent)
        return;
    bool is_first = i == 0;
    while (*question + 1 < all->sent->count && all->sent_first->ints[*question + 1] <= all->first->ints[i]) {
        ++*question;
        is_first = true;
    }
    const bool is_last = i + 1 == all->n || (*question + 1 < all->sent->count &&
                                             all->sent_first->ints[*question + 1] <= all->first->ints[i + 1]);
    int64_t begun_ns = is_first ? all->sent->ints[*question] : all->end->ints[i - 1];
    if (begun_ns < *from_ns)
        *from_ns = begun_ns;
    if (is_last && *question < all->done->count && all->done->ints[*question] > *to_ns)
        *to_ns = all->done->ints[*question];
}

void ys_span_of_blocks(const struct ys_series_set *series, size_t count, int64_t *spans)
{
    struct messages all = find(series);
    size_t question = 0;
    for (size_t i = 0; i < count && i < all.n; i++) {
        int64_t from_ns, to_ns;
        reach(&all, i, &question, &from_ns, &to_ns);
        spans[i] = to_ns - from_ns;
    }
}

void ys_span_of_latencies(const struct ys_series_set *series, size_t count, int64_t *spans)
{
    struct messages all = find(series);
    const struct ys_series *latency = ys_series_find(series, "latency_ns");
    size_t question = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        spans[i] = latency->ints[i];
    for (size_t i = 0; all.sent && i < all.n; i++) {
        int64_t from_ns, to_ns, beside_ns, requests = all.count->ints[i];
        reach(&all, i, &question, &from_ns, &to_ns);
        if (requests <= 0 || (uint64_t)requests > count - at)
            return;
        beside_ns = to_ns - from_ns;
        for (int64_t k = 0; k < requests; k++)
            beside_ns -= latency->ints[at + (size_t)k];
        for (int64_t k = 0; k < requests && beside_ns > 0; k++) {
            int64_t share_ns = beside_ns / (requests - k);
            spans[at + (size_t)k] += share_ns;
            beside_ns -= share_ns;
        }
        at += (size_t)requests;
    }
}
