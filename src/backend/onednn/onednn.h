/* What the files of the oneDNN back end share about the library. Only onednn_v2.c knows how version 2 of it describes
 * an operation; another version needs another such file, and nothing else here changes but the body of ys_layout. */
#ifndef YS_BACKEND_ONEDNN_ONEDNN_H
#define YS_BACKEND_ONEDNN_ONEDNN_H

#include "backend/dropout.h"
#include "backend/kernels/kernels.h"
#include "engine/backend.h"
#include <oneapi/dnnl/dnnl.h>

/** What to do about a graph that this back end has not: `ref` has all of them, but no bf16. */
#define YS_ONEDNN_REMEDY "take the back end \"ref\", in f32 or f64"

/** Dimensions, number format (dnnl_f32, dnnl_bf16), and how the elements lie in memory ("any": the library is to
 * choose). */
typedef struct {
    dnnl_memory_desc_t md;
} ys_layout;

/** Anything but success becomes YS_EUNSUPPORTED (unimplemented), YS_ENOMEM or YS_EINTERNAL, with `what` in the message.
 */
ys_status ys_onednn_status(dnnl_status_t status, const char *what);

/* Layouts. */
ys_status ys_layout_plain(ys_layout *layout, size_t rank, const int64_t *dims) YS_MUST_CHECK; /* C order, f32 */
ys_status ys_layout_any(ys_layout *layout, size_t rank, const int64_t *dims, dnnl_data_type_t type) YS_MUST_CHECK;
/** f32; element [i, j, ...] lies i strides[0] + j strides[1] ... elements from the start. */
ys_status ys_layout_strided(ys_layout *layout, size_t rank, const int64_t *dims, const int64_t *strides) YS_MUST_CHECK;
/** `dims` elements of `whole` from `offsets` on, where they lie. */
ys_status ys_layout_part(ys_layout *part, const ys_layout *whole, const int64_t *dims,
                         const int64_t *offsets) YS_MUST_CHECK;
/** The same order of elements in another number format; of blocked layouts only. */
ys_layout ys_layout_cast(const ys_layout *layout, dnnl_data_type_t type);
/** The same order for other dimensions of the same rank, packed. */
ys_status ys_layout_like(ys_layout *layout, const ys_layout *pattern, const int64_t *dims) YS_MUST_CHECK;
/** Channels innermost; of rank 2 and 4. */
ys_status ys_layout_channels_last(ys_layout *layout, size_t rank, const int64_t *dims,
                                  dnnl_data_type_t type) YS_MUST_CHECK;
size_t ys_layout_bytes(const ys_layout *layout);
size_t ys_layout_elements(const ys_layout *layout); /* padding included */
bool ys_layout_equal(const ys_layout *a, const ys_layout *b);
bool ys_layout_is_bf16(const ys_layout *layout);
/** Whether each element lies at a place of its own; false for weights that the library has transformed. */
bool ys_layout_is_blocked(const ys_layout *layout);
/** The strides, in elements, of a layout without blocks; false for a blocked one. */
bool ys_layout_strides(const ys_layout *layout, int64_t strides[YS_MAX_RANK]);
/** Whether each row (first dimension) is one run of bytes without padding, rows following each other. */
bool ys_layout_is_dense_rows(const ys_layout *layout);
/** The same order inside a row, with another number of rows. */
ys_layout ys_layout_with_rows(const ys_layout *layout, int64_t rows);
/** As the kernels of our own see it: false when the channels do not lie side by side. Of rank 2 and 4. */
bool ys_layout_image(const ys_layout *layout, struct ys_value_layout *image);
/** The layout that an operation chose for its argument (DNNL_ARG_...). */
ys_layout ys_layout_of(const_dnnl_primitive_desc_t pd, int argument);

/* Operations. In every layout given, "any" leaves the choice to the library; `bias` may be NULL. The caller destroys
 * *pd. */
struct ys_onednn_conv {
    ys_layout src, weight, dst;
    const ys_layout *bias;
    const struct ys_window *window;
};
ys_status ys_onednn_conv_forward(dnnl_engine_t engine, const struct ys_onednn_conv *conv, bool training, bool relu,
                                 dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_conv_backward_data(dnnl_engine_t engine, const struct ys_onednn_conv *conv,
                                       const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_conv_backward_weights(dnnl_engine_t engine, const struct ys_onednn_conv *conv,
                                          const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd) YS_MUST_CHECK;

/** Whether the library has no code of its own for the operation: a plain loop, or products of unrolled images. */
bool ys_onednn_is_generic(const_dnnl_primitive_desc_t pd);

struct ys_onednn_gemm {
    ys_layout src, weight, dst;
    const ys_layout *bias;
};
ys_status ys_onednn_gemm_forward(dnnl_engine_t engine, const struct ys_onednn_gemm *gemm, bool training, bool relu,
                                 dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_gemm_backward_data(dnnl_engine_t engine, const struct ys_onednn_gemm *gemm,
                                       const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_gemm_backward_weights(dnnl_engine_t engine, const struct ys_onednn_gemm *gemm,
                                          const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd) YS_MUST_CHECK;

/** A convolution or (`window` NULL) matrix product of bytes, in sums of 32 bits: of these (int32), or
 * y = clip((sums + bias) factor) + out_zero as bytes, rounded half to even. */
struct ys_onednn_integer {
    ys_layout src, weight, dst;
    const ys_layout *bias; /* NULL, or int32 */
    const struct ys_window *window;
    int in_zero, out_zero;
    const float *factor; /* [channels]; NULL: none */
    int64_t channels;
    bool clips; /* to [low, high], before out_zero is added */
    float low, high;
};
ys_status ys_onednn_integer(dnnl_engine_t engine, const struct ys_onednn_integer *integer,
                            dnnl_primitive_desc_t *pd) YS_MUST_CHECK;

struct ys_onednn_pool {
    ys_layout src, dst;
    struct ys_window window; /* with pads enlarged so that every window lies inside */
    bool average;
};
ys_status ys_onednn_pool_forward(dnnl_engine_t engine, const struct ys_onednn_pool *pool, bool training,
                                 dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_pool_backward(dnnl_engine_t engine, const struct ys_onednn_pool *pool,
                                  const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd) YS_MUST_CHECK;

/* Operations on one value, whose gradient needs no more than the value `data`, x or y as the function says, and dy. */
ys_status ys_onednn_lrn_forward(dnnl_engine_t engine, const ys_layout *data, const struct ys_lrn *lrn, bool training,
                                dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_lrn_backward(dnnl_engine_t engine, const ys_layout *data, const struct ys_lrn *lrn,
                                 const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd) YS_MUST_CHECK; /* x */
struct ys_onednn_eltwise { /* a function of one element, with the numbers that the library documents for its kind */
    dnnl_alg_kind_t kind;
    float alpha, beta;
};
ys_status ys_onednn_eltwise_forward(dnnl_engine_t engine, const ys_layout *data,
                                    const struct ys_onednn_eltwise *eltwise, dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_eltwise_backward(dnnl_engine_t engine, const ys_layout *data,
                                     const struct ys_onednn_eltwise *eltwise, const_dnnl_primitive_desc_t forward,
                                     dnnl_primitive_desc_t *pd) YS_MUST_CHECK; /* x or y, as the kind says */
ys_status ys_onednn_softmax_forward(dnnl_engine_t engine, const ys_layout *data, bool logarithm, int axis,
                                    dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_softmax_backward(dnnl_engine_t engine, const ys_layout *data, bool logarithm, int axis,
                                     const_dnnl_primitive_desc_t forward,
                                     dnnl_primitive_desc_t *pd) YS_MUST_CHECK; /* y */
ys_status ys_onednn_concat(dnnl_engine_t engine, const ys_layout *dst, const ys_layout *sources, size_t count, int axis,
                           dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_reorder(dnnl_engine_t engine, const ys_layout *from, const ys_layout *to,
                            dnnl_primitive_desc_t *pd) YS_MUST_CHECK;

/** c = a b, of rank 2. */
ys_status ys_onednn_matmul(dnnl_engine_t engine, const ys_layout *a, const ys_layout *b, const ys_layout *c,
                           dnnl_primitive_desc_t *pd) YS_MUST_CHECK;

/* onednn_ops.c: what the library has not, or not as one pass; each runs on `threads` threads where it is worth it. */
struct ys_onednn_pixels { /* raw rows to float, normalised, into any strided layout */
    int threads;
    int64_t rows, channels, height, width;
    int64_t stride[4]; /* of the result */
    enum ys_dtype dtype;
    const struct ys_normalize *normalize; /* NULL: widened only */
    float *table;                         /* [channels or 1][256]: the result for every byte; owned */
};
ys_status ys_onednn_pixels_run(void *context, void *const *operand); /* raw x, y */
void ys_onednn_pixels_free(void *context);
/** Fills the table from `normalize`; for dtype U8. */
ys_status ys_onednn_pixels_prepare(struct ys_onednn_pixels *pixels) YS_MUST_CHECK;

struct ys_onednn_scale { /* the gradient of normalisation, in C order */
    int64_t rows, channels, area;
    const struct ys_normalize *normalize;
};
ys_status ys_onednn_scale_run(void *context, void *const *operand); /* dy, dx */

struct ys_onednn_mean { /* element [i, j, ...] of x belongs to result i stride[0] + j stride[1] ... */
    size_t rank;
    int64_t dims[YS_MAX_RANK], stride[YS_MAX_RANK], count, results;
    double share; /* 1 / how many elements make one result */
};
ys_status ys_onednn_mean_run(void *context, void *const *operand);   /* x, y */
ys_status ys_onednn_spread_run(void *context, void *const *operand); /* dy, dx */

struct ys_onednn_dropout {
    struct ys_dropout mask;
    const enum ys_engine_mode *mode; /* NULL: evaluation */
    const uint64_t *step;
    size_t count;
    float scale; /* of what is kept */
};
ys_status ys_onednn_dropout_run(void *context, void *const *operand);          /* x, y, mask */
ys_status ys_onednn_dropout_backward_run(void *context, void *const *operand); /* dy, dx, mask */

struct ys_onednn_loss {
    int threads;
    int64_t rows, classes; /* rows: every position that has a target */
    enum ys_loss kind;
    double smoothing;
    bool has_numbers; /* the targets are float [rows, classes], not labels */
    bool with_gradient;
};
ys_status
ys_onednn_loss_run(void *context,
                   void *const *operand); /* logits, targets, loss, losses of rows and their number, [dlogits] */

#endif
