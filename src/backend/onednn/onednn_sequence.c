/* Embedding, attention, products of two values, the last position. Values lie in C order, in float. */
#include "backend/attention.h"
#include "backend/matrices.h"
#include "backend/onednn/onednn_state.h"
#include "backend/parallel.h"

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
    return ys_lower_call_own(low, node->name, embedding_run, &t, sizeof t, operands, 3);
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
    YS_TRY(ys_lower_call_own(low, node->name, embedding_weights_run, &t, sizeof t, operands, 3));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    return ys_onednn_add_param(low, node, node->weight, operands[2], is_more);
}

ys_status ys_onednn_multiply(char turn_a, char turn_b, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
                             const float *b, int64_t b_row, float beta, float *c, int64_t c_row, int threads,
                             void *workspace)
{
    (void)threads; /* the library takes all outside a loop of threads, and one within */
    (void)workspace;
    return ys_onednn_status(dnnl_sgemm(turn_a, turn_b, m, n, k, 1, a, a_row, b, b_row, beta, c, c_row), "product");
}

ys_status ys_onednn_forward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_heads h = ys_heads_of(low, node);
    struct ys_operand operands[6] = {{0}};
    for (size_t i = 0; i < 3; i++)
        YS_TRY(ys_onednn_plain_value(low, node->name, node->in[i], &operands[i]));
    YS_TRY(ys_program_buffer(low->program, ys_heads_scratch_bytes(&h), false, &operands[3].buffer));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[4] = ys_at(low->value[node->out[0]]);
    if (h.padded)
        operands[5] = ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[3])]);
    if (h.at)
        operands[5] = ys_at(low->cached[node - low->graph->nodes]);
    YS_TRY(ys_lower_call_own(low, node->name, h.at ? ys_attention_cached_run : ys_attention_run, &h, sizeof h, operands,
                             h.padded || h.at ? 6 : 5));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

ys_status ys_onednn_backward_attention(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_heads h = ys_heads_of(low, node);
    struct ys_operand operands[9] = {{0}};
    ys_layout plain;
    for (size_t i = 0; i < 3; i++) {
        YS_TRY(ys_onednn_plain_value(low, node->name, node->in[i], &operands[i]));
        YS_TRY(ys_onednn_plain(low, node->in[i], &plain));
        YS_TRY(ys_onednn_buffer(low, &plain, &operands[5 + i].buffer));
    }
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[3]));
    YS_TRY(ys_program_buffer(low->program, ys_heads_scratch_bytes(&h), false, &operands[4].buffer));
    if (h.padded)
        operands[8] = ys_at(low->inputs[ys_graph_input_of(low->graph, node->in[3])]);
    YS_TRY(ys_lower_call_own(low, node->name, ys_attention_backward_run, &h, sizeof h, operands, h.padded ? 9 : 8));
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
    YS_TRY(ys_lower_call_own(low, node->name, matmul_run, &m, sizeof m, operands, 3));
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
    YS_TRY(ys_lower_call_own(low, node->name, matmul_backward_run, &m, sizeof m, operands, 5));
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
    return ys_lower_call_own(low, node->name, last_run, &l, sizeof l, operands, 3);
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
    YS_TRY(ys_lower_call_own(low, node->name, last_backward_run, &l, sizeof l, operands, 3));
    return ys_onednn_give(low, node->name, node->in[0], &plain, ys_at(dx));
}
