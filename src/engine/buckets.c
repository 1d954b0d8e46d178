#include "engine/buckets.h"

#include "base/mem.h"

#include <stdlib.h>

/* A trained parameter, as far as buckets are concerned. */
struct parameter_part {
    size_t first, count; /* elements of the flat buffer, padding included */
    size_t end_call;
};

/** The calls that have to run before nobody writes the parameter's gradient any more: at least those of the forward
 * pass, for what no node gives is complete before. */
static size_t end_of(const struct ys_lowering *low, const struct parameter_part *part)
{
    const struct ys_program *program = low->program;
    const size_t begin = part->first * low->real_size, end = begin + part->count * low->real_size;
    for (size_t i = program->segment_end[YS_SEGMENT_BACKWARD]; i-- > program->segment_end[YS_SEGMENT_FORWARD];)
        for (size_t k = 0; k < program->calls[i].operand_count; k++) {
            const struct ys_operand *operand = &program->calls[i].operands[k];
            if (operand->buffer == low->gradients && operand->offset_bytes >= begin && operand->offset_bytes < end)
                return i + 1;
        }
    return program->segment_end[YS_SEGMENT_FORWARD];
}

static int by_completion(const void *a, const void *b)
{
    const struct parameter_part *p = a, *q = b;
    if (p->end_call != q->end_call)
        return p->end_call < q->end_call ? -1 : 1;
    return p->first > q->first ? -1 : p->first < q->first;
}

static int by_place(const void *a, const void *b)
{
    const struct parameter_part *p = a, *q = b;
    return p->first < q->first ? -1 : p->first > q->first;
}

static size_t find_parts(const struct ys_lowering *low, struct parameter_part *parts)
{
    const size_t line = YS_ALIGNMENT / low->real_size;
    size_t count = 0;
    for (size_t p = 0; p < low->graph->param_count; p++) {
        if (low->graph->params[p].role != YS_ROLE_WEIGHT)
            continue;
        parts[count] = (struct parameter_part){.first = low->param_offset[p],
                                               .count = (low->param_size[p] + line - 1) / line * line};
        parts[count].end_call = end_of(low, &parts[count]);
        count++;
    }
    qsort(parts, count, sizeof *parts, by_completion);
    return count;
}

/** Neighbours in memory become one span. */
static void add_bucket(const struct ys_lowering *low, struct parameter_part *parts, size_t count,
                       struct ys_buckets *buckets)
{
    unsigned char *gradients = ys_program_at(low->program, low->gradients);
    struct ys_bucket *bucket = &buckets->items[buckets->count];
    const struct ys_bucket *before = buckets->count ? bucket - 1 : NULL;
    *bucket = (struct ys_bucket){.first_span = before ? before->first_span + before->span_count : 0,
                                 .end_call = parts[count - 1].end_call};
    qsort(parts, count, sizeof *parts, by_place);
    for (size_t i = 0; i < count; i++) {
        struct ys_engine_span *spans = buckets->spans + bucket->first_span;
        if (i > 0 && parts[i - 1].first + parts[i - 1].count == parts[i].first)
            spans[bucket->span_count - 1].count += parts[i].count;
        else
            spans[bucket->span_count++] =
                (struct ys_engine_span){gradients + parts[i].first * low->real_size, parts[i].count};
    }
    buckets->count++;
}

ys_status ys_buckets_plan(const struct ys_lowering *low, size_t bucket_bytes, struct ys_buckets *buckets)
{
    const size_t most = low->graph->param_count + 1;
    struct parameter_part *parts = ys_alloc(most, sizeof *parts);
    *buckets = (struct ys_buckets){.items = ys_alloc(most, sizeof *buckets->items),
                                   .spans = ys_alloc(most, sizeof *buckets->spans)};
    if (!parts || !buckets->items || !buckets->spans) {
        ys_free(parts);
        ys_buckets_fini(buckets);
        return ys_out_of_memory();
    }
    const size_t count = find_parts(low, parts);
    size_t begin = 0, held_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        held_bytes += parts[i].count * low->real_size;
        if (i + 1 < count && (bucket_bytes == 0 || held_bytes < bucket_bytes))
            continue;
        add_bucket(low, parts + begin, i + 1 - begin, buckets);
        begin = i + 1;
        held_bytes = 0;
    }
    ys_free(parts);
    return YS_OK;
}

void ys_buckets_fini(struct ys_buckets *buckets)
{
    ys_free(buckets->items);
    ys_free(buckets->spans);
    *buckets = (struct ys_buckets){0};
}
