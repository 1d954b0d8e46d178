/* Attention, in float: its products, by the function that a back end has for them, and a softmax between them. The
 * table of scores is made again for the backward pass, so that no more than one a thread is kept. */
#ifndef YS_BACKEND_ATTENTION_H
#define YS_BACKEND_ATTENTION_H

#include "backend/multiply.h"
#include "engine/backend.h"

struct ys_heads {
    int threads;
    int64_t rows, heads, kv_heads;
    int64_t queries, keys, room, width, value_width; /* positions; those that a row of keys has room for; extents of a
                                                        part */
    const int64_t *at; /* of a row's positions, the first query's, where those before lie in a cache; else NULL */
    float scale;
    bool causal, padded; /* the latter: tokens hide keys */
    ys_multiply multiply;
    size_t workspace_bytes; /* of each thread's products */
};

struct ys_heads ys_heads_of(const struct ys_lowering *low, const struct ys_node *node, ys_multiply multiply,
                            size_t workspace_bytes);

/** Bytes of a thread's scratch: so many tables of scores, and the workspace; a multiple of YS_ALIGNMENT. */
static inline size_t ys_heads_scratch(const struct ys_heads *h, int64_t tables)
{
    const size_t bytes = (size_t)(tables * h->queries * h->room) * sizeof(float);
    return (bytes + YS_ALIGNMENT - 1) / YS_ALIGNMENT * YS_ALIGNMENT + h->workspace_bytes;
}

/* Each takes the struct as its context. */
ys_status ys_attention_run(void *context, void *const *operand);        /* q, k, v, scratch of a table, y, [tokens] */
ys_status ys_attention_cached_run(void *context, void *const *operand); /* q, k, v, scratch of a table, y, cache */
/* q, k, v, dy, scratch of two tables, dq, dk, dv, [tokens] */
ys_status ys_attention_backward_run(void *context, void *const *operand);

#endif
