#include "backend/attention.h"

#include "backend/kernels/kernels.h"
#include "backend/parallel.h"

#include <math.h>
#include <string.h>

/** Where the parts of one head of one row begin. */
struct place {
    int64_t row, q, k, v, y;
};

/** Head `i` of all heads of all rows. */
static struct place place_of(const struct ys_heads *h, int64_t i)
{
    const int64_t row = i / h->heads, head = i % h->heads, kv = head / (h->heads / h->kv_heads);
    return (struct place){.row = row,
                          .q = (row * h->queries * h->heads + head) * h->width,
                          .k = (row * h->room * h->kv_heads + kv) * h->width,
                          .v = (row * h->room * h->kv_heads + kv) * h->value_width,
                          .y = (row * h->queries * h->heads + head) * h->value_width};
}

/** Tokens are the operand behind the others. */
static struct ys_head head_at(const struct ys_heads *h, void *const *operand, const struct place *at, size_t tokens)
{
    return (struct ys_head){.q = (const float *)operand[0] + at->q,
                            .k = (const float *)operand[1] + at->k,
                            .v = (const float *)operand[2] + at->v,
                            .tokens = h->padded ? (const int32_t *)operand[tokens] + at->row * h->keys : NULL};
}

/** YS_EINVAL where a query sees no key: a causal one has the first key alone. */
static ys_status check_padding(const struct ys_heads *h, const int32_t *tokens)
{
    for (int64_t row = 0; row < h->rows; row++, tokens += h->keys) {
        bool any = false;
        for (int64_t s = 0; s < (h->causal ? 1 : h->keys); s++)
            any = any || tokens[s] != YS_ROWS_PADDING;
        if (!any)
            return ys_fail(YS_EINVAL, YS_ALL_HIDDEN, 0LL, (long long)row);
    }
    return YS_OK;
}

/** Numbers of the scratch of a thread: two strips of scores, and one of queries, whose rows are whole vectors. */
static size_t scratch_count(const struct ys_heads *h)
{
    const int64_t wider = h->width > h->value_width ? h->width : h->value_width;
    const int64_t whole = (wider + YS_LANES - 1) / YS_LANES * YS_LANES;
    return (size_t)(YS_ATTENTION_STRIP * (2 * h->room + whole));
}

size_t ys_heads_scratch_bytes(const struct ys_heads *h)
{
    return (size_t)h->threads * scratch_count(h) * sizeof(float);
}

static float *scratch_of(const struct ys_heads *h, void *scratch, size_t thread)
{
    return (float *)scratch + thread * scratch_count(h);
}

static void attention_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_heads *h = context;
    for (size_t thread = first; thread < end; thread++)
        for (int64_t i = (int64_t)thread; i < h->rows * h->heads; i += h->threads) {
            const struct place at = place_of(h, i);
            const struct ys_head head = head_at(h, operand, &at, 5);
            ys_attention_kernels()->forward(h, &head, (float *)operand[4] + at.y, scratch_of(h, operand[3], thread));
        }
}

/** Puts what this pass has of keys or values, `width` numbers a position, behind those of the positions before it. */
static void remember(const struct ys_heads *h, int64_t width, const float *from, float *cache)
{
    for (int64_t row = 0; row < h->rows; row++)
        memcpy(cache + (row * h->room + *h->at) * width, from + row * h->queries * width,
               (size_t)(h->queries * width) * sizeof(float));
}

/** q, k, v, scratch, y, cache */
ys_status ys_attention_cached_run(void *context, void *const *operand)
{
    struct ys_heads h = *(const struct ys_heads *)context;
    const int64_t width = h.kv_heads * h.width;
    float *keys = operand[5], *values = keys + h.rows * h.room * width;
    h.keys = *h.at + h.queries;
    remember(&h, width, operand[1], keys);
    remember(&h, h.kv_heads * h.value_width, operand[2], values);
    void *const seen[] = {operand[0], keys, values, operand[3], operand[4]};
    ys_parallel_for(h.threads, (size_t)h.threads, 1, attention_part, &h, seen);
    return YS_OK;
}

/** q, k, v, scratch, y, [tokens] */
ys_status ys_attention_run(void *context, void *const *operand)
{
    const struct ys_heads *h = context;
    YS_TRY(h->padded ? check_padding(h, operand[5]) : YS_OK);
    ys_parallel_for(h->threads, (size_t)h->threads, 1, attention_part, context, operand);
    return YS_OK;
}

static void backward_head(const struct ys_heads *h, void *const *operand, int64_t i, float *scratch)
{
    const struct place at = place_of(h, i);
    const struct ys_head head = head_at(h, operand, &at, 8);
    ys_attention_kernels()->backward(h, &head,
                                     &(struct ys_head_gradient){.dy = (const float *)operand[3] + at.y,
                                                                .dq = (float *)operand[5] + at.q,
                                                                .dk = (float *)operand[6] + at.k,
                                                                .dv = (float *)operand[7] + at.v,
                                                                .is_more = i % (h->heads / h->kv_heads) != 0},
                                     scratch);
}

/** Heads that share keys stay together: they add to one gradient. */
static void attention_backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_heads *h = context;
    const int64_t group = h->heads / h->kv_heads;
    for (size_t thread = first; thread < end; thread++)
        for (int64_t g = (int64_t)thread; g < h->rows * h->kv_heads; g += h->threads)
            for (int64_t i = g * group; i < (g + 1) * group; i++)
                backward_head(h, operand, i, scratch_of(h, operand[4], thread));
}

/** q, k, v, dy, scratch, dq, dk, dv, [tokens] */
ys_status ys_attention_backward_run(void *context, void *const *operand)
{
    const struct ys_heads *h = context;
    ys_parallel_for(h->threads, (size_t)h->threads, 1, attention_backward_part, context, operand);
    return YS_OK;
}

struct ys_heads ys_heads_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_attention *a = &node->attention;
    const struct ys_value *q = &low->graph->values[node->in[0]], *v = &low->graph->values[node->in[2]];
    const int64_t width = q->shape[2] / a->heads;
    return (struct ys_heads){.threads = low->config.threads,
                             .rows = low->config.batch,
                             .heads = a->heads,
                             .kv_heads = a->kv_heads,
                             .queries = q->shape[1],
                             .keys = v->shape[1],
                             .room = low->cache_positions ? low->cache_positions : v->shape[1],
                             .width = width,
                             .value_width = v->shape[2] / a->kv_heads,
                             .scale = (float)(a->scale > 0 ? a->scale : 1 / sqrt((double)width)),
                             .causal = a->causal,
                             .padded = node->in_count > 3,
                             .at = low->cache_positions ? low->at : NULL};
}
