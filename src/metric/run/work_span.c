#include "metric/run/work_span.h"

#include "base/mem.h"

#include <math.h>
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

int64_t ys_span_group(const struct ys_series_set *series)
{
    const struct ys_series *group = ys_series_find(series, "latency_group");
    int64_t most = 1;
    for (size_t i = 0; group && i < group->count; i++)
        most = group->ints[i] > most ? group->ints[i] : most;
    return most;
}

/* What a process took over its blocks after the first. */
static int64_t measure_process(const struct ys_series_set *series)
{
    const struct ys_series *end = ys_series_find(series, "block_end_ns");
    size_t count = end ? end->count : 0;
    int64_t *spans = ys_alloc(count + 1, sizeof *spans), took_ns = 0;
    ys_span_of_blocks(series, count, spans);
    for (size_t i = 1; i < count; i++)
        took_ns += spans[i];
    ys_free(spans);
    return took_ns;
}

void ys_span_slowest(const struct ys_series_set *series, int64_t ranks, struct ys_series_set *slowest)
{
    int64_t longest_ns = -1;
    *slowest = (struct ys_series_set){0};
    for (int64_t r = 0; r < ranks; r++) {
        struct ys_series_set own;
        ys_series_take_process(series, r, &own);
        const int64_t took_ns = measure_process(&own);
        if (took_ns > longest_ns) {
            ys_series_set_free(slowest);
            *slowest = own;
            longest_ns = took_ns;
        } else {
            ys_series_set_free(&own);
        }
    }
}

double ys_span_cpu_s(const struct ys_series_set *series, int64_t from_ns, int64_t to_ns)
{
    const struct ys_series *t = ys_series_find(series, "sample_t_ns"), *cpu = ys_series_find(series, "sample_cpu_ns");
    int64_t before_ns = 0;
    for (size_t i = 0; t && cpu && i < t->count && i < cpu->count; i++) {
        if (t->ints[i] >= to_ns)
            return (double)(cpu->ints[i] - before_ns) * 1e-9;
        if (t->ints[i] <= from_ns)
            before_ns = cpu->ints[i];
    }
    return NAN;
}
