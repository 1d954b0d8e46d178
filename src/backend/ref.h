/* The reference back end's kernels: plain C, one thread, canonical layouts (NCHW, OIHW, (out, in)), no fusion.
 *
 * Written once in ref_kernels.inc, compiled for double (ref_f64.c) and float (ref_f32.c). Every sum runs in one fixed
 * order and nothing is contracted, so results are the same bits on every machine, whatever its vector registers. */
#ifndef YS_BACKEND_REF_H
#define YS_BACKEND_REF_H

#include "engine/backend.h"

/** What a call needs to know. Operands, in order; those in brackets are there when the flag says so. */
struct ys_ref_context {
    int64_t batch;
    int64_t in[3], out[3]; /* channels, height, width of one row before and after */
    int64_t in_features, out_features;
    size_t count;        /* elements of an elementwise call */
    enum ys_dtype dtype; /* of the raw input */
    bool has_bias, has_weight_gradient, has_input_gradient;
    const struct ys_window *window;
    const struct ys_normalize *normalize;
    const struct ys_lowering *low;
};

struct ys_ref_kernels {
    ys_call_run input;              /* raw x, y: widened */
    ys_call_run copy;               /* x, y */
    ys_call_run normalize;          /* raw x, y */
    ys_call_run normalize_backward; /* dy, dx */
    ys_call_run conv;               /* x, w, y, scratch, [bias] */
    ys_call_run conv_backward;      /* x, w, dy, dw, scratch, [dbias], [dx] */
    ys_call_run relu;               /* x, y */
    ys_call_run relu_backward;      /* y, dy, dx */
    ys_call_run maxpool;            /* x, y, [winners, int32, -1 for none: has_input_gradient] */
    ys_call_run maxpool_backward;   /* winners, dy, dx */
    ys_call_run gemm;               /* x, w, y, scratch, [bias] */
    ys_call_run gemm_backward;      /* x, w, dy, dw, [dbias], [dx] */
    ys_call_run loss;               /* logits, labels, loss, [dlogits: has_input_gradient] */
    ys_call_run update;             /* w, g, [momenta: low->momenta >= 0] */
};

extern const struct ys_ref_kernels ys_ref_kernels_f64, ys_ref_kernels_f32;

#endif
