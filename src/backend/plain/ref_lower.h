/* How the reference back end lowers a node, by operator. */
#ifndef YS_BACKEND_PLAIN_REF_LOWER_H
#define YS_BACKEND_PLAIN_REF_LOWER_H

#include "backend/plain/ref.h"

/* The most threads that are taken. */
#define YS_REF_MOST_THREADS 256

/** The back end's state. */
struct ys_ref {
    const struct ys_ref_kernels *kernels;
    struct ys_ref_op op[YS_OP_COUNT]; /* the kernels', or what `simd` has in their place */
    int *saved;    /* [node_count]: what forward keeps for backward (winners, statistics), -1 for nothing */
    int workspace; /* of every matrix product: a part for each thread */
};

/** Whether a weight lies in strips of kernels->strip of its rows, [strip][in][row of the strip], and rows that fill
 * none as they are: as products read it, packed when it is set and not by each request. So it is where nothing trains
 * it and no other node reads it. */
bool ys_ref_is_packed(const struct ys_lowering *low, size_t param);
/** A new context, the shapes of the node filled in. NULL without memory. */
struct ys_ref_context *ys_ref_context(const struct ys_lowering *low, const struct ys_node *node);
/** The operator of a node. */
const struct ys_ref_op *ys_ref_op(const struct ys_lowering *low, const struct ys_node *node);
/** The optimizer's counterpart of batch normalisation: moves its running statistics. */
ys_status ys_ref_running(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
/** A buffer for the first share of a value's gradient. */
ys_status ys_ref_gradient(struct ys_lowering *low, int value) YS_MUST_CHECK;

/* What lowering a node is put together from. */
static inline struct ys_operand ys_ref_at(int buffer)
{
    return (struct ys_operand){.buffer = buffer};
}
/** `c` may be NULL: without memory. It is the program's from here on. */
ys_status ys_ref_call(struct ys_lowering *low, const struct ys_node *node, ys_call_run run, struct ys_ref_context *c,
                      const struct ys_operand *operands, size_t count) YS_MUST_CHECK;
/** The same where rows of the batch do not see each other: threads share them. `moves`, a letter an operand: r, a part
 * of it belongs to each row; t, to each thread; -, all threads see all of it. */
ys_status ys_ref_call_rows(struct ys_lowering *low, const struct ys_node *node, ys_call_run run,
                           struct ys_ref_context *c, const char *moves, const struct ys_operand *operands,
                           size_t count) YS_MUST_CHECK;
/** Makes sure that every input of the node has a buffer: an input of the graph is widened for the first that computes
 * on it. */
ys_status ys_ref_inputs(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
/** The buffer for a result: the logits have a place of their own. */
ys_status ys_ref_output(struct ys_lowering *low, int value) YS_MUST_CHECK;
ys_status ys_ref_value_buffer(struct ys_lowering *low, int value, int *buffer) YS_MUST_CHECK;
/** A node's share of a gradient that others may add to: begin says in which buffer it is to be made, end adds it to
 * what is there. */
ys_status ys_ref_begin_share(struct ys_lowering *low, int value, int *share) YS_MUST_CHECK;
ys_status ys_ref_end_share(struct ys_lowering *low, const struct ys_node *node, int value, int share) YS_MUST_CHECK;
/** Adds the gradient of a parameter that lies in `share` to what other nodes gave. */
ys_status ys_ref_end_param(struct ys_lowering *low, const struct ys_node *node, int param,
                           struct ys_operand share) YS_MUST_CHECK;

/* How nodes are lowered. Forward sets value[out], backward adds its share to gradient[in] (engine/backend.h). */
ys_status ys_ref_forward_product(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_product(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_transposed(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_transposed(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_unary(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_unary(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_batchnorm(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_batchnorm(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_layernorm(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_layernorm(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_embedding(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_embedding(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_attention(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_attention(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_matmul(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_matmul(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_last(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_last(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_recurrent(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_recurrent(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_pair(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_pair(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_view(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_view(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_concat(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_concat(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_forward_split(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
ys_status ys_ref_backward_split(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;

/* What forward keeps. */
size_t ys_ref_save_winners(const struct ys_lowering *low, const struct ys_node *node); /* of a maximum */
size_t ys_ref_save_outputs(const struct ys_lowering *low, const struct ys_node *node); /* one number for each */
size_t ys_ref_save_statistics(const struct ys_lowering *low, const struct ys_node *node);

/* Parts of the context: the lines along an axis; where elements go, or come from; a window as large as the image. */
void ys_ref_describe_line(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *context);
void ys_ref_describe_walk(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *context);
void ys_ref_describe_padding(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *context);
void ys_ref_describe_whole(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *context);

#endif
