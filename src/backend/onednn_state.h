/* The oneDNN back end while it lowers: what it decided for nodes, values and parameters (onednn.c decides and keeps
 * parameters, onednn_lower.c appends calls). */
#ifndef YS_BACKEND_ONEDNN_STATE_H
#define YS_BACKEND_ONEDNN_STATE_H

#include "backend/onednn.h"

struct onednn_value {
    bool known;         /* the layout is decided; a normalised input waits for its reader's wish */
    ys_layout layout;   /* in memory */
    ys_layout gradient; /* of its gradient, once that exists */
};

struct onednn_node {
    dnnl_primitive_desc_t forward; /* NULL where the library takes no part */
    bool fuses_relu;               /* its operation applies the ReLU behind it */
    bool is_fused;                 /* a ReLU that the operation before it applies */
    bool is_masked;                /* a ReLU whose gradient was already masked behind the pool that follows it */
    int workspace;                 /* of a pool: which element won; -1 without */
    int source;                    /* of a matrix product: the value before any Flatten */
    bool in_source_order; /* of a matrix product: it reads the rows of `source` in the order they lie in memory */
};

struct onednn_param {
    ys_layout canonical; /* C order, with the dimensions of `stored` or of `turned` */
    bool is_turned;      /* the columns stand in the order of the rows that they meet, not in C order */
    ys_layout turned;    /* then: C order but for that */
    ys_layout flattened; /* then: the same memory seen as (out, in) */
    ys_layout stored;    /* in the flat buffers */
};

struct onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct onednn_value *values;
    struct onednn_node *nodes;
    struct onednn_param *params;
};

/** Elements of a whole value: its dimensions with the batch put in. */
size_t ys_onednn_dims(const struct ys_lowering *low, int value, int64_t dims[YS_MAX_RANK]);

ys_status ys_onednn_forward(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_loss(struct ys_lowering *low);
ys_status ys_onednn_backward(struct ys_lowering *low, const struct ys_node *node);
ys_status ys_onednn_update(struct ys_lowering *low);

/** Convolution and matrix product of a node, as forward wants them described. */
ys_status ys_onednn_describe_conv(const struct ys_lowering *low, const struct ys_node *node,
                                  struct ys_onednn_conv *conv, ys_layout *bias);
ys_status ys_onednn_describe_gemm(const struct ys_lowering *low, const struct ys_node *node,
                                  struct ys_onednn_gemm *gemm, ys_layout *bias);

#endif
