/* The reference back end's kernels: plain C, one thread, canonical layouts (NCHW, OIHW, (out, in)), no fusion.
 *
 * Written once in ref_kernels.inc and the files that it includes, compiled for double (ref_f64.c) and float
 * (ref_f32.c). Every sum runs in one fixed order and nothing is contracted, so results are the same bits on every
 * machine, whatever its vector registers, as long as exp, log, pow and tanh of its C library give the same. */
#ifndef YS_BACKEND_PLAIN_REF_H
#define YS_BACKEND_PLAIN_REF_H

#include "backend/broadcast.h"
#include "backend/multiply.h"
#include "backend/padding.h"
#include "engine/backend.h"

/* The gradient by a convolution's input is made in pieces: some channels, all taps of each, at some output positions.
 */
#define YS_REF_PIECE_POSITIONS ((int64_t)512)
#define YS_REF_PIECE_TAPS      ((int64_t)256)
/** Channels of a piece; at least one. */
static inline int64_t ys_ref_piece_channels(int64_t kernel_elements)
{
    return kernel_elements < YS_REF_PIECE_TAPS ? YS_REF_PIECE_TAPS / kernel_elements : 1;
}

/** The share of a thread in `count`, cut at multiples of `grain`. */
static inline void ys_ref_share(size_t thread, int threads, int64_t count, int64_t grain, int64_t *first, int64_t *end)
{
    const int64_t grains = (count + grain - 1) / grain, at = (int64_t)thread;
    *first = grains * at / threads * grain;
    *end = grains * (at + 1) / threads * grain;
    *end = *end < count ? *end : count;
}

/** An axis: element k of line i lies at i / inner * count * inner + i % inner + k * inner. */
struct ys_ref_line {
    int64_t outer, count, inner;
};

/** A part of an array along an axis: `outer` times `length` elements. */
struct ys_ref_piece {
    int64_t outer, length;
    int64_t from_first, from_row, to_first, to_row; /* where it begins, and steps from one to the next */
};

/** How far an element's place in y moves with each index of x. */
struct ys_ref_walk {
    size_t rank;
    int64_t extent[YS_MAX_RANK], step[YS_MAX_RANK];
};

/** What a call needs to know. A kernel looks at its own part only. */
struct ys_ref_context {
    const struct ys_lowering *low;
    const struct ys_node *node;
    int64_t first_row, batch;          /* of the batch, the rows that the call is of */
    int64_t in[3], out[3];             /* channels, height, width of one row of in[0] and out[0]; lacking ones are 1 */
    int64_t in_features, out_features; /* elements of one row */
    size_t count;                      /* elements of an elementwise call */
    enum ys_dtype dtype;               /* of in[0] */
    struct ys_window window;
    bool has_bias, has_saved, has_input_gradient; /* whether the operand of that name is there */
    bool is_packed;                               /* GEMM: the weight lies in strips */
    struct ys_ref_line line;                      /* LAYERNORM, SOFTMAX, LOG_SOFTMAX */
    struct ys_ref_piece piece;                    /* CONCAT, SPLIT */
    struct ys_ref_walk walk;                      /* TRANSPOSE, MEAN */
    struct ys_broadcast broadcast;                /* ADD, SUB, MUL, DIV */
    struct ys_padding padding;                    /* PAD */
    int stretched;                                /* backward: 0 or 1, the value whose gradient it is */
};

/** An operator in one format: how its nodes are lowered (ref_lower.c), and the kernels that do the work. */
struct ys_ref_op {
    ys_status (*lower_forward)(struct ys_lowering *low, const struct ys_node *node);
    ys_status (*lower_backward)(struct ys_lowering *low, const struct ys_node *node);
    ys_call_run forward, backward; /* of products, backward by the input */
    ys_call_run weights;           /* of products: gradients of weight and bias */
    ys_call_run update;            /* NULL, or what the update segment does: running statistics */
    /** Bytes that forward keeps for backward and update; NULL for none. */
    size_t (*saved_bytes)(const struct ys_lowering *low, const struct ys_node *node);
    /** Fills the part of the context that is the operator's own; NULL where there is none. */
    void (*describe)(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *context);
};

/** The operands of each kernel stand above it in the .inc files. */
struct ys_ref_kernels {
    size_t workspace_bytes; /* that a matrix product needs, of each thread */
    int64_t strip; /* columns that a tile of a product has, in which weights may lie (ys_ref_is_packed()); 0: never */
    const struct ys_ref_op *op[YS_OP_COUNT];
    ys_call_run loss[YS_LOSS_COUNT];
    ys_call_run input, copy, accumulate, zero;
    ys_call_run update; /* the optimizer */
    ys_multiply
        multiply; /* of `simd`, whose recurrent layers, attention and optimizer are others (simd.h); else NULL */
};

extern const struct ys_ref_kernels ys_ref_kernels_f64, ys_ref_kernels_f32;

#endif
