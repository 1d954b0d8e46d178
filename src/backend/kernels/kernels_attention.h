/* Attention of one head of one row, in float. */
#ifndef YS_BACKEND_KERNELS_KERNELS_ATTENTION_H
#define YS_BACKEND_KERNELS_KERNELS_ATTENTION_H

#include "engine/backend.h"

struct ys_heads {
    int threads;
    int64_t rows, heads, kv_heads;
    int64_t queries, keys, room, width, value_width; /* positions; those that a row of keys has room for; extents of a
                                                        part */
    const int64_t *at; /* of a row's positions, the first query's, where those before lie in a cache; else NULL */
    float scale;
    bool causal, padded; /* the latter: tokens hide keys */
};

/** One head of one row: where its parts begin. Rows of each array have the parts of all heads. */
struct ys_head {
    const float *q, *k, *v;
    const int32_t *tokens; /* of the row's keys; NULL: none is hidden */
};

/** Likewise, of its gradients. */
struct ys_head_gradient {
    const float *dy;
    float *dq, *dk, *dv;
    bool is_more; /* dk and dv have a share already, of another head that sees these keys */
};

enum { YS_ATTENTION_STRIP = 32 /* queries at once, at most */ };

struct ys_attention_kernels {
    void (*forward)(const struct ys_heads *h, const struct ys_head *head, float *y, float *scratch);
    void (*backward)(const struct ys_heads *h, const struct ys_head *head, const struct ys_head_gradient *gradient,
                     float *scratch);
};
const struct ys_attention_kernels *ys_attention_kernels(void);

#endif
