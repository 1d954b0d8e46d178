/* What the files of the oneDNN back end share. Only onednn_v2.c knows how version 2 of the library describes an
 * operation; another version needs another such file, and nothing else here changes but the body of ys_layout. */
#ifndef YS_BACKEND_ONEDNN_H
#define YS_BACKEND_ONEDNN_H

#include "engine/backend.h"
#include <oneapi/dnnl/dnnl.h>

/** Dimensions, format float32, and how the elements lie in memory ("any": the library is to choose). */
typedef struct {
    dnnl_memory_desc_t md;
} ys_layout;

/** Anything but success becomes YS_EUNSUPPORTED (unimplemented), YS_ENOMEM or YS_EINTERNAL, with `what` in the message.
 */
ys_status ys_onednn_status(dnnl_status_t status, const char *what);

/* onednn_v2.c: layouts */
ys_status ys_layout_plain(ys_layout *layout, size_t rank, const int64_t *dims) YS_MUST_CHECK; /* C order */
ys_status ys_layout_any(ys_layout *layout, size_t rank, const int64_t *dims) YS_MUST_CHECK;
size_t ys_layout_bytes(const ys_layout *layout);
bool ys_layout_equal(const ys_layout *a, const ys_layout *b);
/** The strides, in elements, of a layout without blocks; false for a blocked one. */
bool ys_layout_strides(const ys_layout *layout, int64_t strides[YS_MAX_RANK]);
/** Whether each row (first dimension) is one run of bytes without padding, rows following each other. */
bool ys_layout_is_dense_rows(const ys_layout *layout);
/** The same order inside a row, with another number of rows. */
ys_layout ys_layout_with_rows(const ys_layout *layout, int64_t rows);
/** The layout that an operation chose for its argument (DNNL_ARG_...). */
ys_layout ys_layout_of(const_dnnl_primitive_desc_t pd, int argument);

/* onednn_v2.c: operations. In every layout given, "any" leaves the choice to the library; `bias` may be NULL. The
 * caller destroys *pd. */
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

ys_status ys_onednn_maxpool_forward(dnnl_engine_t engine, const ys_layout *src, const ys_layout *dst,
                                    const struct ys_window *window, bool training,
                                    dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_maxpool_backward(dnnl_engine_t engine, const ys_layout *src, const ys_layout *dst,
                                     const struct ys_window *window, const_dnnl_primitive_desc_t forward,
                                     dnnl_primitive_desc_t *pd) YS_MUST_CHECK;
ys_status ys_onednn_reorder(dnnl_engine_t engine, const ys_layout *from, const ys_layout *to,
                            dnnl_primitive_desc_t *pd) YS_MUST_CHECK;

/* onednn_ops.c: what the library has not, or not as one pass; each runs on `threads` threads. */
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

struct ys_onednn_elements {
    int threads;
    size_t count;
};
ys_status ys_onednn_relu_run(void *context, void *const *operand); /* x, y; may be the same */
ys_status ys_onednn_mask_run(void *context, void *const *operand); /* y, gradient: zero where y is not above zero */

struct ys_onednn_scale { /* the gradient of normalisation, in C order */
    int64_t rows, channels, area;
    const struct ys_normalize *normalize;
};
ys_status ys_onednn_scale_run(void *context, void *const *operand); /* dy, dx */

struct ys_onednn_loss {
    int64_t rows, classes;
    bool with_gradient;
};
ys_status ys_onednn_loss_run(void *context, void *const *operand); /* logits, labels, loss, [dlogits] */

struct ys_onednn_update {
    int threads;
    const struct ys_lowering *low;
};
ys_status ys_onednn_update_run(void *context, void *const *operand); /* w, g, [momenta] */

#endif
