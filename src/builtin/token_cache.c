#include "builtin/token_cache.h"

#include "base/mem.h"
#include "graph/sequence_part.h"
#include <string.h>

enum { PROMPT, TOKEN, ENGINES };

int64_t ys_builtin_cached_piece(const struct ys_builtin_cached *c, int64_t piece, int64_t *first)
{
    *first = piece == 0 ? 0 : c->prompt + piece - 1;
    return piece == 0 ? c->prompt : 1;
}

static ys_status find_tensor(const struct ys_builtin_cached *c, int which, size_t param, const struct ys_tensor **found)
{
    const struct ys_param *p = &c->graph[which]->params[param];
    *found = ys_safetensors_find(c->weights, p->name);
    if (*found && ((*found)->dtype == YS_F32 || (*found)->dtype == YS_F64) &&
        ys_tensor_count(*found) == (size_t)c->elements[param])
        return YS_OK;
    return ys_fail(YS_EFORMAT, "the file of weights has no %s of %lld floats", p->name, (long long)c->elements[param]);
}

/** Sets the parameters: all of them, or those alone of which the engine has but the rows of its positions, the first of
 * which is `first`. */
static ys_status load(const struct ys_builtin_cached *c, int which, bool all, int64_t first)
{
    for (size_t i = 0; i < c->graph[which]->param_count; i++) {
        const struct ys_param *p = &c->graph[which]->params[i];
        const struct ys_tensor *tensor;
        YS_TRY(find_tensor(c, which, i, &tensor));
        const size_t count = (size_t)ys_param_elements(p);
        const bool is_part = (size_t)c->elements[i] > count;
        if (!is_part && !all)
            continue;
        const size_t row = count / (size_t)p->shape[0] * ys_dtype_size(tensor->dtype);
        YS_TRY(ys_engine_param_set(c->engine[which], i, tensor->dtype == YS_F64 ? YS_ENGINE_F64 : YS_ENGINE_F32,
                                   (const unsigned char *)tensor->data + (is_part ? (size_t)first * row : 0)));
    }
    return YS_OK;
}

/** What the file has of each parameter: the engines may have but some rows of it. */
static ys_status note_elements(struct ys_builtin_cached *c, const struct ys_graph *whole)
{
    c->elements = ys_alloc(whole->param_count, sizeof *c->elements);
    if (!c->elements)
        return ys_out_of_memory();
    for (size_t i = 0; i < whole->param_count; i++)
        c->elements[i] = ys_param_elements(&whole->params[i]);
    return YS_OK;
}

static ys_status open_one(struct ys_builtin_cached *c, int which, const char *graph_path,
                          const struct ys_engine_config *config)
{
    YS_TRY(ys_graph_read(graph_path, &c->graph[which]));
    if (!c->elements)
        YS_TRY(note_elements(c, c->graph[which]));
    YS_TRY(ys_graph_window(c->graph[which], which == PROMPT ? c->prompt : 1));
    YS_TRY(ys_engine_open_cached(c->graph[which], config, c->prompt + c->tokens, &c->engine[which]));
    return load(c, which, true, which == PROMPT ? 0 : c->prompt);
}

static ys_status check_extent(const struct ys_builtin_rows *rows, int64_t prompt, int64_t tokens)
{
    const struct ys_tensor *x = rows->array[0];
    if (rows->feed)
        return ys_fail(YS_EUNSUPPORTED, "a prompt is not fed by a ring: write input = file");
    if (x->rank == 2 && x->shape[1] == prompt + tokens)
        return YS_OK;
    return ys_fail(YS_EINVAL, "a prompt of %lld positions and %lld tokens are not the positions of a row, %lld",
                   (long long)prompt, (long long)tokens, (long long)(x->rank == 2 ? x->shape[1] : 0));
}

ys_status ys_builtin_cached_open(const char *graph_path, const char *weights_path, int64_t prompt, int64_t tokens,
                                 const struct ys_engine_config *config, const struct ys_builtin_rows *rows,
                                 struct ys_builtin_cached *c)
{
    *c = (struct ys_builtin_cached){.rows = rows, .batch = config->batch, .prompt = prompt, .tokens = tokens};
    ys_status status = check_extent(rows, prompt, tokens);
    if (status == YS_OK)
        status = ys_safetensors_open(weights_path, &c->weights);
    for (int which = 0; status == YS_OK && which < ENGINES; which++)
        status = open_one(c, which, graph_path, config);
    if (status != YS_OK)
        ys_builtin_cached_close(c);
    return status;
}

void ys_builtin_cached_close(struct ys_builtin_cached *c)
{
    for (int which = 0; which < ENGINES; which++) {
        ys_engine_close(c->engine[which]);
        ys_graph_free(c->graph[which]);
    }
    ys_safetensors_close(c->weights);
    ys_free(c->elements);
    *c = (struct ys_builtin_cached){0};
}

/** Positions [first, first + count) of array `array` of each row, one row after the other. */
static ys_status gather(const struct ys_builtin_cached *c, const uint32_t *rows, size_t array, int64_t first,
                        int64_t count, unsigned char *to)
{
    const size_t each = c->rows->row_bytes[array] / (size_t)(c->prompt + c->tokens), size = (size_t)count * each;
    for (int64_t i = 0; i < c->batch; i++) {
        if (rows[i] >= c->rows->count)
            return ys_fail(YS_EINVAL, "the order asks for row %u of %zu", rows[i], c->rows->count);
        memcpy(to + (size_t)i * size,
               (const unsigned char *)c->rows->array[array]->data + rows[i] * c->rows->row_bytes[array] +
                   (size_t)first * each,
               size);
    }
    return YS_OK;
}

/** The targets of a piece, and how many of them are shown. Where none is, the engine, which has no mean of nothing,
 * gets others in their place: its loss is not looked at. */
static ys_status gather_targets(const struct ys_builtin_cached *c, const uint32_t *rows, int64_t first, int64_t count,
                                int64_t *y, int64_t *shown)
{
    const int64_t all = c->batch * count;
    YS_TRY(gather(c, rows, 1, first, count, (unsigned char *)y));
    *shown = 0;
    for (int64_t i = 0; i < all; i++)
        *shown += y[i] != YS_ROWS_HIDDEN;
    if (*shown == 0)
        memset(y, 0, (size_t)all * sizeof *y);
    return YS_OK;
}

ys_status ys_builtin_cached_answer(struct ys_builtin_cached *c, const uint32_t *rows, int64_t piece,
                                   const void **logits, struct ys_builtin_piece_loss *loss)
{
    const int which = piece == 0 ? PROMPT : TOKEN;
    struct ys_engine *engine = c->engine[which];
    int64_t first, count = ys_builtin_cached_piece(c, piece, &first);
    double mean;
    YS_TRY(gather(c, rows, 0, first, count, ys_engine_place(engine, 0)));
    if (loss)
        YS_TRY(gather_targets(c, rows, first, count, ys_engine_target(engine), &loss->targets));
    if (piece > 0)
        YS_TRY(load(c, which, false, first));
    YS_TRY(ys_engine_seek(engine, first));
    YS_TRY(ys_engine_forward(engine, NULL, NULL, YS_ENGINE_EVAL, &mean));
    if (loss)
        loss->mean = loss->targets > 0 ? mean : 0;
    if (piece == 0)
        ys_engine_cache_take(c->engine[TOKEN], engine);
    *logits = ys_engine_logits(engine);
    return YS_OK;
}

ys_status ys_builtin_cached_forward(struct ys_builtin_cached *c, const uint32_t *rows, void *logits, double *loss)
{
    const size_t each = (size_t)ys_engine_classes(c->engine[TOKEN]) * ys_engine_real_size(c->engine[TOKEN]);
    const size_t row = (size_t)(c->prompt + c->tokens) * each;
    int64_t targets = 0;
    double sum = 0;
    for (int64_t piece = 0; piece <= c->tokens; piece++) {
        int64_t first, count = ys_builtin_cached_piece(c, piece, &first);
        const void *part;
        struct ys_builtin_piece_loss own;
        YS_TRY(ys_builtin_cached_answer(c, rows, piece, &part, &own));
        for (int64_t i = 0; i < c->batch; i++)
            memcpy((unsigned char *)logits + (size_t)i * row + (size_t)first * each,
                   (const unsigned char *)part + (size_t)(i * count) * each, (size_t)count * each);
        sum += own.mean * (double)own.targets;
        targets += own.targets;
    }
    if (targets == 0)
        return ys_fail(YS_EINVAL, "all %lld targets of the batch are hidden (%d): there is nothing to take a mean of",
                       (long long)(c->batch * (c->prompt + c->tokens)), YS_ROWS_HIDDEN);
    *loss = sum / (double)targets;
    return YS_OK;
}
