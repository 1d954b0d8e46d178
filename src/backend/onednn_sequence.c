/* Embedding, attention, products of two values, the last position. Values lie in C order, in float. The parts of a head
 * are products of matrices whose rows lie apart, which the library's plain product takes as they are; the table of
 * scores is made again for the backward pass, so that no more than one a thread is kept. */
#include "backend/kernels.h"
#include "backend/matrices.h"
#include "backend/onednn_state.h"
#include "backend/parallel.h"

#include <math.h>
#include <string.h>

struct tokens {
    int threads;
    int64_t count, row, vocabulary, width;
};

static ys_status check_tokens(const struct tokens *t, const int32_t *tokens)
{
    for (int64_t i = 0; i < t->count; i++)
        if (tokens[i] < 0 || tokens[i] >= t->vocabulary)
            return ys_fail(YS_EINVAL, "token %d of row %lld is not one of the %lld of the vocabulary", tokens[i],
                           (long long)(i / t->row), (long long)t->vocabulary);
    return YS_OK;
}

static void embed_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct tokens *t = context;
    const float *weight = operand[1];
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++)
        memcpy((float *)operand[2] + i * t->width, weight + ((const int32_t *)operand[0])[i] * t->width,
               (size_t)t->width * sizeof(float));
}

/** tokens, weight, y */
static ys_status embedding_run(void *context, void *const *operand)
{
    const struct tokens *t = context;
    YS_TRY(check_tokens(t, operand[0]));
    ys_parallel_for(t->threads, (size_t)t->count, 1, embed_part, context, operand);
    return YS_OK;
}

static void clear_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct tokens *t = context;
    memset((float *)operand[2] + (int64_t)first * t->width, 0, (end - first) * (size_t)t->width * sizeof(float));
}

/** Columns [first, end) of every row: no two threads write to one place, whatever the tokens. */
static void gather_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct tokens *t = context;
    for (int64_t i = 0; i < t->count; i++) {
        const float *dy = (const float *)operand[1] + i * t->width;
        float *to = (float *)operand[2] + ((const int32_t *)operand[0])[i] * t->width;
        for (size_t k = first; k < end; k++)
            to[k] += dy[k];
    }
}

/** tokens, dy, dweight */
static ys_status embedding_weights_run(void *context, void *const *operand)
{
    const struct tokens *t = context;
    ys_parallel_for(t->threads, (size_t)t->vocabulary, 1, clear_part, context, operand);
    ys_parallel_for(t->threads, (size_t)t->width, YS_ALIGNMENT / sizeof(float), gather_part, context, operand);
    return YS_OK;
}

static struct tokens tokens_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_param *weight = &low->graph->params[node->weight];
    const struct ys_value *in = &low->graph->values[node->in[0]];
    const int64_t row = ys_value_row_elements(in);
    return (struct tokens){low->config.threads, low->config.batch * row, row, weight->shape[0], weight->shape[1]};
}

ys_status ys_onednn_decide_sequence(struct ys_lowering *low, const struct ys_node *node)
{
    ys_layout plain;
    for (size_t i = 0; i < node->in_count; i++)
        if (low->graph->values[node->in[i]].dtype != YS_I32)
            YS_TRY(ys_onednn_decide_value(low, node->in[i]));
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    ys_onednn_set_layout(low, node->out[0], &plain);
    return YS_OK;
}

ys_status ys_onednn_forward_embedding(struct ys_lowering *low, const struct ys_node *node)
{
    const struct tokens t = tokens_of(low, node);
    YS_TRY(ys_onednn_output(low, node->out[0]));
    const struct ys_operand operands[] = {ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[0])]),
                                          ys_onednn_param(low, low->weights, node->weight),
                                          ys_at(low->value[node->out[0]])};
    return ys_onednn_append_own(low, node->name, embedding_run, &t, sizeof t, operands, 3);
}

ys_status ys_onednn_backward_embedding(struct ys_lowering *low, const struct ys_node *node)
{
    const struct tokens t = tokens_of(low, node);
    ys_layout plain;
    bool is_more;
    struct ys_operand operands[3] = {ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[0])])};
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[1]));
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[2], &is_more));
    YS_TRY(ys_onednn_append_own(low, node->name, embedding_weights_run, &t, sizeof t, operands, 3));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    return ys_onednn_add_param(low, node, node->weight, operands[2], is_more);
}

struct heads {
    int threads;
    int64_t rows, heads, kv_heads;
    int64_t queries, keys, room, width, value_width; /* positions; those that a row of keys has room for; extents of a
                                                        part */
    const int64_t *at; /* of a row's positions, the first query's, where those before lie in a cache; else NULL */
    float scale;
    bool causal, padded; /* the latter: tokens hide keys */
};

/** Where the parts of one head of one row begin. */
struct part {
    const float *q, *k, *v;
    const int32_t *tokens; /* of the row's keys; NULL: none is hidden */
    int64_t q_at, k_at, v_at, y_at;
    bool is_first; /* of the heads that see these keys and values */
};

/** Head `i` of all heads of all rows. Tokens are the operand behind the others. */
static struct part part_of(const struct heads *h, void *const *operand, int64_t i, size_t tokens)
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
static ys_status check_padding(const struct heads *h, const int32_t *tokens)
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

static dnnl_status_t attend(const struct heads *h, const struct part *part, float *p)
{
    dnnl_status_t status = dnnl_sgemm('N', 'T', h->queries, h->keys, h->width, 1, part->q, h->heads * h->width, part->k,
                                      h->kv_heads * h->width, 0, p, h->keys);
    for (int64_t t = 0; t < h->queries; t++)
        soften(ys_softmax_kernels(), part->tokens, p + t * h->keys, h->causal ? h->keys - h->queries + t + 1 : h->keys,
               h->keys, h->scale);
    return status;
}

/** The table of scores, or both, of the thread that does this part of the work. */
static float *scores_of(const struct heads *h, void *scores, size_t thread, int64_t tables)
{
    return (float *)scores + (int64_t)thread * tables * h->queries * h->room;
}

static void attention_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct heads *h = context;
    for (size_t thread = first; thread < end; thread++) {
        float *p = scores_of(h, operand[3], thread, 1);
        for (int64_t i = (int64_t)thread; i < h->rows * h->heads; i += h->threads) {
            const struct part part = part_of(h, operand, i, 5);
            attend(h, &part, p);
            dnnl_sgemm('N', 'N', h->queries, h->value_width, h->keys, 1, p, h->keys, part.v,
                       h->kv_heads * h->value_width, 0, (float *)operand[4] + part.y_at, h->heads * h->value_width);
        }
    }
}

/** Puts what this pass has of keys or values, `width` numbers a position, behind those of the positions before it. */
static void remember(const struct heads *h, int64_t width, const float *from, float *cache)
{
    for (int64_t row = 0; row < h->rows; row++)
        memcpy(cache + (row * h->room + *h->at) * width, from + row * h->queries * width,
               (size_t)(h->queries * width) * sizeof(float));
}

/** q, k, v, scores, y, cache */
static ys_status cached_run(void *context, void *const *operand)
{
    struct heads h = *(const struct heads *)context;
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
static ys_status attention_run(void *context, void *const *operand)
{
    const struct heads *h = context;
    YS_TRY(h->padded ? check_padding(h, operand[5]) : YS_OK);
    ys_parallel_for(h->threads, (size_t)h->threads, 1, attention_part, context, operand);
    return YS_OK;
}

static void backward_head(const struct heads *h, void *const *operand, int64_t i, float *p)
{
    const struct part part = part_of(h, operand, i, 8);
    const float *dy = (const float *)operand[3] + part.y_at, add = part.is_first ? 0 : 1;
    const int64_t q_row = h->heads * h->width, k_row = h->kv_heads * h->width;
    const int64_t y_row = h->heads * h->value_width, v_row = h->kv_heads * h->value_width;
    float *dp = p + h->queries * h->keys;
    attend(h, &part, p);
    dnnl_sgemm('T', 'N', h->keys, h->value_width, h->queries, 1, p, h->keys, dy, y_row, add,
               (float *)operand[7] + part.v_at, v_row);
    dnnl_sgemm('N', 'T', h->queries, h->keys, h->value_width, 1, dy, y_row, part.v, v_row, 0, dp, h->keys);
    for (int64_t t = 0; t < h->queries; t++) /* hidden keys have a p of 0 */
        ys_softmax_kernels()->backward(p + t * h->keys, h->keys, h->scale, dp + t * h->keys);
    dnnl_sgemm('N', 'N', h->queries, h->width, h->keys, 1, dp, h->keys, part.k, k_row, 0,
               (float *)operand[5] + part.q_at, q_row);
    dnnl_sgemm('T', 'N', h->keys, h->width, h->queries, 1, dp, h->keys, part.q, q_row, add,
               (float *)operand[6] + part.k_at, k_row);
}

/** Heads that share keys stay together: they add to one gradient. */
static void attention_backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct heads *h = context;
    const int64_t group = h->heads / h->kv_heads;
    for (size_t thread = first; thread < end; thread++)
        for (int64_t g = (int64_t)thread; g < h->rows * h->kv_heads; g += h->threads)
            for (int64_t i = g * group; i < (g + 1) * group; i++)
                backward_head(h, operand, i, scores_of(h, operand[4], thread, 2));
}

/** q, k, v, dy, scores twice, dq, dk, dv, [tokens] */
static ys_status attention_backward_run(void *context, void *const *operand)
{
    const struct heads *h = context;
    ys_parallel_for(h->threads, (size_t)h->threads, 1, attention_backward_part, context, operand);
    return YS_OK;
}

static struct heads heads_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_attention *a = &node->attention;
    const struct ys_value *q = &low->graph->values[node->in[0]], *v = &low->graph->values[node->in[2]];
    const int64_t width = q->shape[2] / a->heads;
    return (struct heads){.threads = low->config.threads,
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

static ys_status make_scores(struct ys_lowering *low, const struct heads *h, size_t tables, int *buffer)
{
    const size_t count = (size_t)(h->threads * h->queries * h->room) * tables;
    return ys_program_buffer(low->program, count * sizeof(float), false, buffer);
}

ys_status ys_onednn_forward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct heads h = heads_of(low, node);
    struct ys_operand operands[6] = {{0}};
    for (size_t i = 0; i < 3; i++)
        YS_TRY(ys_onednn_plain_value(low, node->name, node->in[i], &operands[i]));
    YS_TRY(make_scores(low, &h, 1, &operands[3].buffer));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[4] = ys_at(low->value[node->out[0]]);
    if (h.padded)
        operands[5] = ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[3])]);
    if (h.at)
        operands[5] = ys_at(low->cached[node - low->graph->nodes]);
    YS_TRY(ys_onednn_append_own(low, node->name, h.at ? cached_run : attention_run, &h, sizeof h, operands,
                                h.padded || h.at ? 6 : 5));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

ys_status ys_onednn_backward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct heads h = heads_of(low, node);
    struct ys_operand operands[9] = {{0}};
    ys_layout plain;
    for (size_t i = 0; i < 3; i++) {
        YS_TRY(ys_onednn_plain_value(low, node->name, node->in[i], &operands[i]));
        YS_TRY(ys_onednn_plain(low, node->in[i], &plain));
        YS_TRY(ys_onednn_buffer(low, &plain, &operands[5 + i].buffer));
    }
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[3]));
    YS_TRY(make_scores(low, &h, 2, &operands[4].buffer));
    if (h.padded)
        operands[8] = ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[3])]);
    YS_TRY(ys_onednn_append_own(low, node->name, attention_backward_run, &h, sizeof h, operands, h.padded ? 9 : 8));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    for (size_t i = 0; i < 3; i++) {
        YS_TRY(ys_onednn_plain(low, node->in[i], &plain));
        if (low->value_gradient[node->in[i]])
            YS_TRY(ys_onednn_give(low, node->name, node->in[i], &plain, operands[5 + i]));
    }
    return YS_OK;
}

static void matmul_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_matrices *m = context;
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++)
        dnnl_sgemm('N', 'N', m->rows, m->columns, m->inner, 1, (const float *)operand[0] + i * m->rows * m->inner,
                   m->inner, (const float *)operand[1] + i * m->inner * m->columns, m->columns, 0,
                   (float *)operand[2] + i * m->rows * m->columns, m->columns);
}

/** a, b, y */
static ys_status matmul_run(void *context, void *const *operand)
{
    const struct ys_matrices *m = context;
    ys_parallel_for(m->threads, (size_t)m->pairs, 1, matmul_part, context, operand);
    return YS_OK;
}

static void matmul_backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_matrices *m = context;
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++) {
        const float *dy = (const float *)operand[2] + i * m->rows * m->columns;
        dnnl_sgemm('N', 'T', m->rows, m->inner, m->columns, 1, dy, m->columns,
                   (const float *)operand[1] + i * m->inner * m->columns, m->columns, 0,
                   (float *)operand[3] + i * m->rows * m->inner, m->inner);
        dnnl_sgemm('T', 'N', m->inner, m->columns, m->rows, 1, (const float *)operand[0] + i * m->rows * m->inner,
                   m->inner, dy, m->columns, 0, (float *)operand[4] + i * m->inner * m->columns, m->columns);
    }
}

/** a, b, dy, da, db */
static ys_status matmul_backward_run(void *context, void *const *operand)
{
    const struct ys_matrices *m = context;
    ys_parallel_for(m->threads, (size_t)m->pairs, 1, matmul_backward_part, context, operand);
    return YS_OK;
}

ys_status ys_onednn_forward_matmul(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_matrices m = ys_matrices_of(low, node);
    struct ys_operand operands[3] = {{0}};
    for (size_t i = 0; i < 2; i++)
        YS_TRY(ys_onednn_plain_value(low, node->name, node->in[i], &operands[i]));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[2] = ys_at(low->value[node->out[0]]);
    YS_TRY(ys_onednn_append_own(low, node->name, matmul_run, &m, sizeof m, operands, 3));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

ys_status ys_onednn_backward_matmul(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_matrices m = ys_matrices_of(low, node);
    struct ys_operand operands[5] = {{0}};
    ys_layout in[2], out;
    for (size_t i = 0; i < 2; i++) {
        YS_TRY(ys_onednn_plain_value(low, node->name, node->in[i], &operands[i]));
        YS_TRY(ys_onednn_plain(low, node->in[i], &in[i]));
        YS_TRY(ys_onednn_buffer(low, &in[i], &operands[3 + i].buffer));
    }
    YS_TRY(ys_onednn_plain(low, node->out[0], &out));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &out, &operands[2]));
    YS_TRY(ys_onednn_append_own(low, node->name, matmul_backward_run, &m, sizeof m, operands, 5));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    for (size_t i = 0; i < 2; i++)
        if (low->value_gradient[node->in[i]])
            YS_TRY(ys_onednn_give(low, node->name, node->in[i], &in[i], operands[3 + i]));
    return YS_OK;
}

struct last {
    int threads;
    int64_t rows, positions, width;
};

/** The last position of a row that counts; -1 where none does. */
static int64_t last_counted(const int32_t *tokens, int64_t positions)
{
    while (positions > 0 && tokens[positions - 1] == YS_ROWS_PADDING)
        positions--;
    return positions - 1;
}

/** x, tokens, y */
static ys_status last_run(void *context, void *const *operand)
{
    const struct last *l = context;
    for (int64_t row = 0; row < l->rows; row++) {
        const int64_t at = last_counted((const int32_t *)operand[1] + row * l->positions, l->positions);
        if (at < 0)
            return ys_fail(YS_EINVAL, YS_NO_LAST, (long long)row);
        memcpy((float *)operand[2] + row * l->width, (const float *)operand[0] + (row * l->positions + at) * l->width,
               (size_t)l->width * sizeof(float));
    }
    return YS_OK;
}

static void last_backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct last *l = context;
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
        float *dx = (float *)operand[2] + row * l->positions * l->width;
        const int64_t at = last_counted((const int32_t *)operand[1] + row * l->positions, l->positions);
        memset(dx, 0, (size_t)(l->positions * l->width) * sizeof *dx);
        memcpy(dx + at * l->width, (const float *)operand[0] + row * l->width, (size_t)l->width * sizeof *dx);
    }
}

/** dy, tokens, dx: 0 at all other positions */
static ys_status last_backward_run(void *context, void *const *operand)
{
    const struct last *l = context;
    ys_parallel_for(l->threads, (size_t)l->rows, 1, last_backward_part, context, operand);
    return YS_OK;
}

static struct last last_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *x = &low->graph->values[node->in[0]];
    return (struct last){low->config.threads, low->config.batch, x->shape[1], x->shape[2]};
}

ys_status ys_onednn_forward_last(struct ys_lowering *low, const struct ys_node *node)
{
    const struct last l = last_of(low, node);
    struct ys_operand x;
    YS_TRY(ys_onednn_plain_value(low, node->name, node->in[0], &x));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    const struct ys_operand operands[] = {x, ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[1])]),
                                          ys_at(low->value[node->out[0]])};
    return ys_onednn_append_own(low, node->name, last_run, &l, sizeof l, operands, 3);
}

ys_status ys_onednn_backward_last(struct ys_lowering *low, const struct ys_node *node)
{
    const struct last l = last_of(low, node);
    struct ys_operand dy;
    ys_layout plain;
    int dx;
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &dy));
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_buffer(low, &plain, &dx));
    const struct ys_operand operands[] = {dy, ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[1])]),
                                          ys_at(dx)};
    YS_TRY(ys_onednn_append_own(low, node->name, last_backward_run, &l, sizeof l, operands, 3));
    return ys_onednn_give(low, node->name, node->in[0], &plain, ys_at(dx));
}
