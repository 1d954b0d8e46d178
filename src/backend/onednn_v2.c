/* Descriptions of layouts and operations as version 2 of oneDNN wants them.
 * https://oneapi-src.github.io/oneDNN/v2/ ; its dilations count the gaps: one less than ONNX's. */
#include "backend/onednn.h"

#include <string.h>

#if DNNL_VERSION_MAJOR != 2
#error "this file is for version 2 of oneDNN"
#endif

ys_status ys_onednn_status(dnnl_status_t status, const char *what)
{
    switch (status) {
    case dnnl_success:
        return YS_OK;
    case dnnl_out_of_memory:
        return ys_fail(YS_ENOMEM, "oneDNN has no memory for %s", what);
    case dnnl_unimplemented:
        return ys_fail(YS_EUNSUPPORTED, "oneDNN has no %s of this kind; take the back end \"ref\"", what);
    default:
        return ys_fail(YS_EINTERNAL, "oneDNN refuses %s (status %d)", what, (int)status);
    }
}

ys_status ys_layout_plain(ys_layout *layout, size_t rank, const int64_t *dims)
{
    dnnl_dims_t strides = {0};
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0; stride *= dims[i])
        strides[i] = stride;
    return ys_onednn_status(dnnl_memory_desc_init_by_strides(&layout->md, (int)rank, dims, dnnl_f32, strides),
                            "layout");
}

ys_status ys_layout_any(ys_layout *layout, size_t rank, const int64_t *dims)
{
    return ys_onednn_status(dnnl_memory_desc_init_by_tag(&layout->md, (int)rank, dims, dnnl_f32, dnnl_format_tag_any),
                            "layout");
}

size_t ys_layout_bytes(const ys_layout *layout)
{
    return dnnl_memory_desc_get_size(&layout->md);
}

bool ys_layout_equal(const ys_layout *a, const ys_layout *b)
{
    return dnnl_memory_desc_equal(&a->md, &b->md);
}

bool ys_layout_strides(const ys_layout *layout, int64_t strides[YS_MAX_RANK])
{
    const dnnl_blocking_desc_t *blocking = &layout->md.format_desc.blocking;
    if (layout->md.format_kind != dnnl_blocked || blocking->inner_nblks > 0)
        return false;
    memcpy(strides, blocking->strides, (size_t)layout->md.ndims * sizeof *strides);
    return true;
}

bool ys_layout_is_dense_rows(const ys_layout *layout)
{
    const dnnl_memory_desc_t *md = &layout->md;
    int64_t row = 1;
    for (int i = 1; i < md->ndims; i++)
        row *= md->dims[i];
    for (int i = 0; i < md->format_desc.blocking.inner_nblks; i++)
        if (md->format_desc.blocking.inner_idxs[i] == 0)
            return false;
    return md->format_kind == dnnl_blocked && md->format_desc.blocking.strides[0] == row &&
           ys_layout_bytes(layout) == (size_t)(md->dims[0] * row) * sizeof(float);
}

ys_layout ys_layout_with_rows(const ys_layout *layout, int64_t rows)
{
    ys_layout other = *layout;
    other.md.dims[0] = other.md.padded_dims[0] = rows;
    return other;
}

ys_layout ys_layout_of(const_dnnl_primitive_desc_t pd, int argument)
{
    const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, argument);
    YS_ASSERT(md);
    return (ys_layout){*md};
}

/** Creates the operation with a scratchpad of ours and, where wanted, ReLU behind it. */
static ys_status create(dnnl_engine_t engine, const_dnnl_op_desc_t op, bool relu, const_dnnl_primitive_desc_t hint,
                        const char *what, dnnl_primitive_desc_t *pd)
{
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_post_ops_t after = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (status == dnnl_success && relu) {
        status = dnnl_post_ops_create(&after);
        if (status == dnnl_success)
            status = dnnl_post_ops_append_eltwise(after, 1.0F, dnnl_eltwise_relu, 0.0F, 0.0F);
        if (status == dnnl_success)
            status = dnnl_primitive_attr_set_post_ops(attributes, after);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(pd, op, attributes, engine, hint);
    dnnl_post_ops_destroy(after);
    dnnl_primitive_attr_destroy(attributes);
    return ys_onednn_status(status, what);
}

struct window {
    dnnl_dims_t kernel, stride, gap, before, after;
};

static struct window window_of(const struct ys_window *w)
{
    return (struct window){.kernel = {w->kernel[0], w->kernel[1]},
                           .stride = {w->stride[0], w->stride[1]},
                           .gap = {w->dilation[0] - 1, w->dilation[1] - 1},
                           .before = {w->pad[0], w->pad[1]},
                           .after = {w->pad[2], w->pad[3]}};
}

ys_status ys_onednn_conv_forward(dnnl_engine_t engine, const struct ys_onednn_conv *c, bool training, bool relu,
                                 dnnl_primitive_desc_t *pd)
{
    struct window w = window_of(c->window);
    dnnl_convolution_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_dilated_convolution_forward_desc_init(
                                &op, training ? dnnl_forward_training : dnnl_forward_inference, dnnl_convolution_direct,
                                &c->src.md, &c->weight.md, c->bias ? &c->bias->md : NULL, &c->dst.md, w.stride, w.gap,
                                w.before, w.after),
                            "convolution"));
    return create(engine, &op, relu, NULL, "convolution", pd);
}

ys_status ys_onednn_conv_backward_data(dnnl_engine_t engine, const struct ys_onednn_conv *c,
                                       const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    struct window w = window_of(c->window);
    dnnl_convolution_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_dilated_convolution_backward_data_desc_init(&op, dnnl_convolution_direct, &c->src.md,
                                                                             &c->weight.md, &c->dst.md, w.stride, w.gap,
                                                                             w.before, w.after),
                            "convolution backward data"));
    return create(engine, &op, false, forward, "convolution backward data", pd);
}

ys_status ys_onednn_conv_backward_weights(dnnl_engine_t engine, const struct ys_onednn_conv *c,
                                          const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    struct window w = window_of(c->window);
    dnnl_convolution_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_dilated_convolution_backward_weights_desc_init(
                                &op, dnnl_convolution_direct, &c->src.md, &c->weight.md, c->bias ? &c->bias->md : NULL,
                                &c->dst.md, w.stride, w.gap, w.before, w.after),
                            "convolution backward weights"));
    return create(engine, &op, false, forward, "convolution backward weights", pd);
}

ys_status ys_onednn_gemm_forward(dnnl_engine_t engine, const struct ys_onednn_gemm *g, bool training, bool relu,
                                 dnnl_primitive_desc_t *pd)
{
    dnnl_inner_product_desc_t op;
    YS_TRY(ys_onednn_status(
        dnnl_inner_product_forward_desc_init(&op, training ? dnnl_forward_training : dnnl_forward_inference, &g->src.md,
                                             &g->weight.md, g->bias ? &g->bias->md : NULL, &g->dst.md),
        "matrix product"));
    return create(engine, &op, relu, NULL, "matrix product", pd);
}

ys_status ys_onednn_gemm_backward_data(dnnl_engine_t engine, const struct ys_onednn_gemm *g,
                                       const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    dnnl_inner_product_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_inner_product_backward_data_desc_init(&op, &g->src.md, &g->weight.md, &g->dst.md),
                            "matrix product backward data"));
    return create(engine, &op, false, forward, "matrix product backward data", pd);
}

ys_status ys_onednn_gemm_backward_weights(dnnl_engine_t engine, const struct ys_onednn_gemm *g,
                                          const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    dnnl_inner_product_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_inner_product_backward_weights_desc_init(&op, &g->src.md, &g->weight.md,
                                                                          g->bias ? &g->bias->md : NULL, &g->dst.md),
                            "matrix product backward weights"));
    return create(engine, &op, false, forward, "matrix product backward weights", pd);
}

ys_status ys_onednn_maxpool_forward(dnnl_engine_t engine, const ys_layout *src, const ys_layout *dst,
                                    const struct ys_window *window, bool training, dnnl_primitive_desc_t *pd)
{
    struct window w = window_of(window);
    dnnl_pooling_v2_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_pooling_v2_forward_desc_init(
                                &op, training ? dnnl_forward_training : dnnl_forward_inference, dnnl_pooling_max,
                                &src->md, &dst->md, w.stride, w.kernel, w.gap, w.before, w.after),
                            "maximum pooling"));
    return create(engine, &op, false, NULL, "maximum pooling", pd);
}

ys_status ys_onednn_maxpool_backward(dnnl_engine_t engine, const ys_layout *src, const ys_layout *dst,
                                     const struct ys_window *window, const_dnnl_primitive_desc_t forward,
                                     dnnl_primitive_desc_t *pd)
{
    struct window w = window_of(window);
    dnnl_pooling_v2_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_pooling_v2_backward_desc_init(&op, dnnl_pooling_max, &src->md, &dst->md, w.stride,
                                                               w.kernel, w.gap, w.before, w.after),
                            "maximum pooling backward"));
    return create(engine, &op, false, forward, "maximum pooling backward", pd);
}

ys_status ys_onednn_reorder(dnnl_engine_t engine, const ys_layout *from, const ys_layout *to, dnnl_primitive_desc_t *pd)
{
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (status == dnnl_success)
        status = dnnl_reorder_primitive_desc_create(pd, &from->md, engine, &to->md, engine, attributes);
    dnnl_primitive_attr_destroy(attributes);
    return ys_onednn_status(status, "change of layout");
}
