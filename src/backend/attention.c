#include "backend/attention.h"

#include "backend/kernels/kernels.h"
#include "backend/parallel.h"

#include <math.h>
#include <string.h>

/** Where the parts of one head of one row begin. */
struct part {
    const float *q, *k, *v;
    const int32_t *tokens; /* of the row's keys; NULL: none is hidden */
    int64_t q_at, k_at, v_at, y_at;
    bool is_first; /* of the heads that see these keys and values */
};

/** Head `i` of all heads of all rows. Tokens are the operand behind the others. */
static struct part part_of(const struct ys_heads *h, void *const *operand, int64_t i, size_t tokens)
{
    const int64_t row = i / h->heads, head = i % h->heads, group = h->heads / h->kv_heads, kv = head / group;
    struct part p = {.q_at = (row * h->queries * h->heads + head) * h->width,
                     .k_at = (row * h->room * h->kv_heads + kv) * h->width,
                     .v_at = (row * h->room * h->kv_heads + kv) * h->value_width,
                     .y_at = (row * h->queries * h->heads + head) * h->value_width,
                     .is_first = head % group == 0};
    p.q = (const float *)operand[0] + p.q_at;
    p.k = (const float *)operand[1] + p.k_at;
    p.v = (const float *)operand[2] + p.v_at;
    p.tokens = h->padded ? (const int32_t *)operand[tokens] + row * h->keys : NULL;
    return p;
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

/** Puts `number` where a key is hidden. */
static void put_hidden(const int32_t *tokens, int64_t visible, float number, float *p)
{
    for (int64_t s = 0; tokens && s < visible; s++)
        p[s] = tokens[s] == YS_ROWS_PADDING ? number : p[s];
}

/** The softmax of a line of scores, of which `visible` count, where their token is not the padding. */
static void soften(const struct ys_softmax_kernels *kernels, const int32_t *tokens, float *p, int64_t visible,
                   int64_t keys, float scale)
{
    int64_t end =
        visible; /* whole vectors, where the line has them: beside the largest, exp of what is hidden adds no bit */
    put_hidden(tokens, visible, -INFINITY, p);
    while (end < keys && end % YS_LANES != 0)
        p[end++] = -INFINITY;
    const double sum = kernels->exponents(p, end, kernels->largest(p, end), scale, p);
    kernels->times(p, end, (float)(1 / sum), 0);
    memset(p + visible, 0, (size_t)(keys - visible) * sizeof *p);
    put_hidden(tokens, visible, 0, p);
}

static void attend(const struct ys_heads *h, const struct part *part, float *p, void *workspace)
{
    h->multiply('N', 'T', h->queries, h->keys, h->width, part->q, h->heads * h->width, part->k, h->kv_heads * h->width,
                0, p, h->keys, 1, workspace);
    for (int64_t t = 0; t < h->queries; t++)
        soften(ys_softmax_kernels(), part->tokens, p + t * h->keys, h->causal ? h->keys - h->queries + t + 1 : h->keys,
               h->keys, h->scale);
}

/** The table of scores, or both, of the thread that does this part of the work; its products' workspace is behind. */
static float *scores_of(const struct ys_heads *h, void *scores, size_t thread, int64_t tables)
{
    return (float *)((char *)scores + thread * ys_heads_scratch(h, tables));
}

static void *workspace_of(const struct ys_heads *h, float *scores, int64_t tables)
{
    return (char *)scores + ys_heads_scratch(h, tables) - h->workspace_bytes;
}

static void attention_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_heads *h = context;
    for (size_t thread = first; thread < end; thread++) {
        float *p = scores_of(h, operand[3], thread, 1);
        void *workspace = workspace_of(h, p, 1);
        for (int64_t i = (int64_t)thread; i < h->rows * h->heads; i += h->threads) {
            const struct part part = part_of(h, operand, i, 5);
            attend(h, &part, p, workspace);
            h->multiply('N', 'N', h->queries, h->value_width, h->keys, p, h->keys, part.v, h->kv_heads * h->value_width,
                        0, (float *)operand[4] + part.y_at, h->heads * h->value_width, 1, workspace);
        }
    }
}

/** Puts what this pass has of keys or values, `width` numbers a position, behind those of the positions before it. */
static void remember(const struct ys_heads *h, int64_t width, const float *from, float *cache)
{
    for (int64_t row = 0; row < h->rows; row++)
        memcpy(cache + (row * h->room + *h->at) * width, from + row * h->queries * width,
               (size_t)(h->queries * width) * sizeof(float));
}

/** q, k, v, scores, y, cache */
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

/** q, k, v, scores, y, [tokens] */
ys_status ys_attention_run(void *context, void *const *operand)
{
    const struct ys_heads *h = context;
    YS_TRY(h->padded ? check_padding(h, operand[5]) : YS_OK);
    ys_parallel_for(h->threads, (size_t)h->threads, 1, attention_part, context, operand);
    return YS_OK;
}

static void backward_head(const struct ys_heads *h, void *const *operand, int64_t i, float *p)
{
    const struct part part = part_of(h, operand, i, 8);
    const float *dy = (const float *)operand[3] + part.y_at, add = part.is_first ? 0 : 1;
    const int64_t q_row = h->heads * h->width, k_row = h->kv_heads * h->width;
    const int64_t y_row = h->heads * h->value_width, v_row = h->kv_heads * h->value_width;
    float *dp = p + h->queries * h->keys;
    void *workspace = workspace_of(h, p, 2);
    attend(h, &part, p, workspace);
    h->multiply('T', 'N', h->keys, h->value_width, h->queries, p, h->keys, dy, y_row, add,
                (float *)operand[7] + part.v_at, v_row, 1, workspace);
    h->multiply('N', 'T', h->queries, h->keys, h->value_width, dy, y_row, part.v, v_row, 0, dp, h->keys, 1, workspace);
    for (int64_t t = 0; t < h->queries; t++) /* hidden keys have a p of 0 */
        ys_softmax_kernels()->backward(p + t * h->keys, h->keys, h->scale, dp + t * h->keys);
    h->multiply('N', 'N', h->queries, h->width, h->keys, dp, h->keys, part.k, k_row, 0, (float *)operand[5] + part.q_at,
                q_row, 1, workspace);
    h->multiply('T', 'N', h->keys, h->width, h->queries, dp, h->keys, part.q, q_row, add,
                (float *)operand[6] + part.k_at, k_row, 1, workspace);
}

/** Heads that share keys stay together: they add to one gradient. */
static void attention_backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_heads *h = context;
    const int64_t group = h->heads / h->kv_heads;
    for (size_t thread = first; thread < end; thread++)
        for (int64_t g = (int64_t)thread; g < h->rows * h->kv_heads; g += h->threads)
            for (int64_t i = g * group; i < (g + 1) * group; i++)
                backward_head(h, operand, i, scores_of(h, operand[4], thread, 2));
}

/** q, k, v, dy, scores twice, dq, dk, dv, [tokens] */
ys_status ys_attention_backward_run(void *context, void *const *operand)
{
    const struct ys_heads *h = context;
    ys_parallel_for(h->threads, (size_t)h->threads, 1, attention_backward_part, context, operand);
    return YS_OK;
}

struct ys_heads ys_heads_of(const struct ys_lowering *low, const struct ys_node *node, ys_multiply multiply,
                            size_t workspace_bytes)
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
                             .at = low->cache_positions ? low->at : NULL,
                             .multiply = multiply,
                             .workspace_bytes = workspace_bytes};
}
