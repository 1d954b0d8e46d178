/* The oneDNN back end while it lowers: what it decided for nodes, values and parameters, and how its files append
 * calls.
 *
 *   lower_graph.c         decides layouts and fusion before the first call, keeps parameters
 *   onednn_append.c  calls, changes of layout, gradients that several nodes share
 *   onednn_dense.c   convolution, matrix product
 *   onednn_tail.c    batch normalisation, sum and activation, as one pass where they follow each other
 *   onednn_pair.c    differences and quotients; sums and products of values of different shapes, or with a parameter
 *   onednn_line.c    layer normalisation
 *   onednn_sequence.c  embedding, attention, products of two values, the last position
 *   onednn_padding.c, onednn_transposed.c   Pad; transposed convolution
 *   onednn_pool.c    pools
 *   onednn_shape.c   input, flatten, reshape, transpose, concat, split
 *   onednn_misc.c    what no network spends its time on: LRN, softmax, tanh, mean, dropout, loss, update ...
 *   onednn_integer.c convolutions and matrix products of quantised networks
 *   onednn_ops.c     the loops behind some of them */
#ifndef YS_BACKEND_ONEDNN_ONEDNN_STATE_H
#define YS_BACKEND_ONEDNN_ONEDNN_STATE_H

#include "backend/integer/integer.h"
#include "backend/onednn/onednn.h"

struct onednn_value {
    bool known; /* the layout is decided; the input of a first convolution waits for its wish */
    ys_layout layout;
    ys_layout gradient; /* of its gradient, and of the second share */
    int second;         /* buffer of a share that is to be added by whoever takes the gradient; -1 without */
    int rebuilt;        /* buffer of it, made again for the backward pass; -1 before */
};

/* Batch normalisation, sum and activation that follow each other, y = act(bn(x) + z): node indices, -1 where a part is
 * missing. What any of them would do alone is done at the last. */
struct onednn_tail {
    int norm, sum, act, last;
    int x, z, y;      /* values; z is -1 without a sum */
    bool in_producer; /* an activation that the convolution or product before it applies as it writes */
    bool is_masked;   /* a ReLU whose gradient was masked already, behind the pool that follows it */
    ys_layout layout; /* of x, z, y and their gradients inside */
    int stats;        /* buffer; -1 without norm */
    int x_buffer;     /* x in `layout` */
    bool rebuilds;    /* y is not kept for the backward pass but made again from x */
    struct ys_tail kernel;
};

struct onednn_node {
    dnnl_primitive_desc_t forward; /* NULL where the library takes no part */
    int tail;                      /* index, -1 for a node of no tail */
    bool fuses_relu;               /* its operation applies the ReLU behind it */
    int workspace;                 /* of a pool: which element won; of LRN; mask of dropout; -1 without */
    int source;                    /* of a matrix product: the value before any Flatten */
    bool in_source_order; /* of a matrix product: it reads the rows of `source` in the order they lie in memory */
};

struct onednn_param {
    bool is_shared;      /* several nodes read it: kept in C order, whatever each of them likes */
    ys_layout canonical; /* C order, with the dimensions of `stored` or of `turned` */
    bool is_turned;      /* the columns stand in the order of the rows that they meet, not in C order */
    ys_layout turned;    /* then: C order but for that */
    ys_layout flattened; /* then: the same memory seen as (out, in) */
    ys_layout stored;    /* in the flat buffers: float */
    ys_layout packed;    /* as the forward pass reads it: made with every step, in evaluation when it is set */
    int packed_buffer;   /* -1 without: where it is read as stored */
};

struct onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_data_type_t type; /* of values between operations: dnnl_f32 or dnnl_bf16 */
    struct onednn_value *values;
    struct onednn_node *nodes;
    struct onednn_param *params;
    struct onednn_tail *tails;
    size_t tail_count;
};

/** An operator: how its nodes are decided and lowered, and, of those that the library does as one operation on one
 * value (ys_onednn_forward_unary), which. */
struct onednn_operator {
    ys_status (*decide)(struct ys_lowering *low, const struct ys_node *node);
    ys_status (*forward)(struct ys_lowering *low, const struct ys_node *node);
    ys_status (*backward)(struct ys_lowering *low, const struct ys_node *node);
    ys_status (*describe)(const struct ys_lowering *low, const struct ys_node *node, dnnl_primitive_desc_t *pd);
    ys_status (*describe_backward)(const struct ys_lowering *low, const struct ys_node *node,
                                   const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd);
    dnnl_alg_kind_t eltwise, eltwise_backward; /* of a function of one element */
};
const struct onednn_operator *ys_onednn_operator(enum ys_op op);

/* Deciding: the layouts of the node's results, from those of its inputs. */
ys_status ys_onednn_decide_conv(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_gemm(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_transposed(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_sequence(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_pool(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_tail(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_normalize(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_flatten(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_plain(struct ys_lowering *low, const struct ys_node *node); /* results in C order, float */
ys_status ys_onednn_decide_same(struct ys_lowering *low, const struct ys_node *node);  /* as the input, float */
ys_status ys_onednn_decide_parts(struct ys_lowering *low, const struct ys_node *node); /* concat, split */
/** Finds the tails of the graph; before any node is decided. */
ys_status ys_onednn_find_tails(struct ys_lowering *low);
/** The value's layout, C order in float if nobody had a wish. */
ys_status ys_onednn_decide_value(struct ys_lowering *low, int value);
void ys_onednn_set_layout(struct ys_lowering *low, int value, const ys_layout *layout);

/* Lowering. */
ys_status ys_onednn_forward_dense(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_embedding(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_attention(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_matmul(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_last(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_transposed(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_recurrent(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_recurrent(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_embedding(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_attention(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_matmul(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_last(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_transposed(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_padding(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_padding(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_pool(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_tail(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_normalize(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_flatten(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_transpose(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_concat(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_split(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_unary(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_multiply(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_layernorm(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_rotary(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_sinusoid(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_function(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_mean(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_dropout(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_conv(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_gemm(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_pool(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_tail(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_normalize(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_flatten(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_transpose(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_concat(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_split(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_unary(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_multiply(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_layernorm(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_rotary(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_sinusoid(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_function(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_mean(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_dropout(struct ys_lowering *low, const struct ys_node *node);
/* Sums and products, of values of one shape or not; differences and quotients (onednn_pair.c). */
bool ys_onednn_is_even(const struct ys_node *node); /* two values of one shape */
ys_status ys_onednn_forward_pair(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_pair(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_sum(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_sum(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_sum(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_decide_product(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_product(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_backward_product(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_loss(struct ys_lowering *low);
ys_status ys_onednn_update(struct ys_lowering *low);
/** Moves the running statistics of every normalisation. */
ys_status ys_onednn_update_running(struct ys_lowering *low);
/** Now, from one layout to another. */
ys_status ys_onednn_change_layout(struct onednn *o, const ys_layout *from, const void *source, const ys_layout *to,
                                  void *target);
/* Quantised networks (backend/integer/integer.h). */
ys_status ys_onednn_decide_integer(struct ys_lowering *low, const struct ys_node *node);
enum ys_integer_own ys_onednn_integer_own(const struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_forward_integer(struct ys_lowering *low, const struct ys_node *node, int sums);
/** The bytes of a weight's integers; and the parameter of a product into its place. */
size_t ys_onednn_integer_bytes(const struct ys_lowering *low, size_t param);
ys_status ys_onednn_integer_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat);
/* Describing. */
ys_status ys_onednn_describe_lrn(const struct ys_lowering *low, const struct ys_node *node, dnnl_primitive_desc_t *pd);
ys_status ys_onednn_describe_lrn_backward(const struct ys_lowering *low, const struct ys_node *node,
                                          const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd);
ys_status ys_onednn_describe_softmax(const struct ys_lowering *low, const struct ys_node *node,
                                     dnnl_primitive_desc_t *pd);
ys_status ys_onednn_describe_softmax_backward(const struct ys_lowering *low, const struct ys_node *node,
                                              const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd);
ys_status ys_onednn_describe_eltwise(const struct ys_lowering *low, const struct ys_node *node,
                                     dnnl_primitive_desc_t *pd);
ys_status ys_onednn_describe_eltwise_backward(const struct ys_lowering *low, const struct ys_node *node,
                                              const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd);
/** y of a tail once more, from x, into a buffer of its own. */
ys_status ys_onednn_rebuild(struct ys_lowering *low, struct onednn_tail *tail, int *buffer);

/** Any elements, side by side in memory, as an image. */
void ys_onednn_flat_image(size_t count, struct ys_value_layout *image);

/* Appending (onednn_append.c). */
struct onednn_argument {
    int id; /* DNNL_ARG_... */
    struct ys_operand operand;
};
static inline struct ys_operand ys_at(int buffer)
{
    return (struct ys_operand){.buffer = buffer};
}
static inline struct onednn_node *ys_onednn_node(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    return &o->nodes[node - low->graph->nodes];
}
struct ys_operand ys_onednn_param(const struct ys_lowering *low, int flat, int param);
/** Adds a gradient that lies in `share` to what other nodes gave the parameter, where `is_more`
 * (ys_lower_param_share()).
 */
ys_status ys_onednn_add_param(struct ys_lowering *low, const struct ys_node *node, int param, struct ys_operand share,
                              bool is_more);
/** Elements of a whole value: its dimensions with the batch put in. */
size_t ys_onednn_dims(const struct ys_lowering *low, int value, int64_t dims[YS_MAX_RANK]);
ys_status ys_onednn_plain(const struct ys_lowering *low, int value, ys_layout *layout); /* C order, float */
ys_status ys_onednn_buffer(struct ys_lowering *low, const ys_layout *layout, int *buffer);
/** Where the node's result goes: the logits' own place if that fits, else a new buffer. */
ys_status ys_onednn_output(struct ys_lowering *low, int value);
/** Appends an operation; where it wants a scratchpad it gets a buffer for the time of its call. */
ys_status ys_onednn_append(struct ys_lowering *low, const char *name, const_dnnl_primitive_desc_t pd,
                           const struct onednn_argument *arguments, size_t count);
ys_status ys_onednn_append_reorder(struct ys_lowering *low, const char *name, const ys_layout *from,
                                   struct ys_operand source, const ys_layout *to, struct ys_operand target);
/** *operand holds data laid out `have`; afterwards it names a place where the same data are laid out `want`. */
ys_status ys_onednn_need(struct ys_lowering *low, const char *name, const ys_layout *have, const ys_layout *want,
                         struct ys_operand *operand);
/** The value laid out `want`; in the backward pass as it was kept, or made again. */
ys_status ys_onednn_value(struct ys_lowering *low, const char *name, int value, const ys_layout *want,
                          struct ys_operand *operand);
/** The same in C order, in float. */
ys_status ys_onednn_plain_value(struct ys_lowering *low, const char *name, int value, struct ys_operand *operand);
/** A share of the gradient of `value` lies in `share`, laid out `layout`: added to what other nodes gave. */
ys_status ys_onednn_give(struct ys_lowering *low, const char *name, int value, const ys_layout *layout,
                         struct ys_operand share);
/** The finished gradient of `value` laid out `want`. */
ys_status ys_onednn_take(struct ys_lowering *low, const char *name, int value, const ys_layout *want,
                         struct ys_operand *operand);

/** ys_multiply. */
ys_status ys_onednn_multiply(char turn_a, char turn_b, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
                             const float *b, int64_t b_row, float beta, float *c, int64_t c_row, int threads,
                             void *workspace);

#endif
