/* Attention, in float, by kernels of ours (kernels/kernels_attention.c). */
#ifndef YS_BACKEND_ATTENTION_H
#define YS_BACKEND_ATTENTION_H

#include "backend/kernels/kernels_attention.h"

struct ys_heads ys_heads_of(const struct ys_lowering *low, const struct ys_node *node);

/** Bytes of the scratch of all threads. */
size_t ys_heads_scratch_bytes(const struct ys_heads *h);

/* Each takes the struct as its context. */
ys_status ys_attention_run(void *context, void *const *operand);        /* q, k, v, scratch, y, [tokens] */
ys_status ys_attention_cached_run(void *context, void *const *operand); /* q, k, v, scratch, y, cache */
/* q, k, v, dy, scratch, dq, dk, dv, [tokens] */
ys_status ys_attention_backward_run(void *context, void *const *operand);

#endif
