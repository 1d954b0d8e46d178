/* Descriptions of layouts and operations as version 2 of oneDNN wants them.
 * https://oneapi-src.github.io/oneDNN/v2/ ; its dilations count the gaps: one less than ONNX's. */
#include "backend/onednn/onednn.h"

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
        return ys_fail(YS_EUNSUPPORTED, "oneDNN has no %s of this kind; " YS_ONEDNN_REMEDY, what);
    default:
        return ys_fail(YS_EINTERNAL, "oneDNN refuses %s (status %d)", what, (int)status);
    }
}

ys_status ys_layout_strided(ys_layout *layout, size_t rank, const int64_t *dims, const int64_t *strides)
{
    return ys_onednn_status(dnnl_memory_desc_init_by_strides(&layout->md, (int)rank, dims, dnnl_f32, strides),
                            "layout");
}

ys_status ys_layout_plain(ys_layout *layout, size_t rank, const int64_t *dims)
{
    dnnl_dims_t strides = {0};
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0; stride *= dims[i])
        strides[i] = stride;
    return ys_layout_strided(layout, rank, dims, strides);
}

ys_status ys_layout_any(ys_layout *layout, size_t rank, const int64_t *dims, dnnl_data_type_t type)
{
    return ys_onednn_status(dnnl_memory_desc_init_by_tag(&layout->md, (int)rank, dims, type, dnnl_format_tag_any),
                            "layout");
}

ys_status ys_layout_part(ys_layout *part, const ys_layout *whole, const int64_t *dims, const int64_t *offsets)
{
    return ys_onednn_status(dnnl_memory_desc_init_submemory(&part->md, &whole->md, dims, offsets), "part of a layout");
}

ys_layout ys_layout_cast(const ys_layout *layout, dnnl_data_type_t type)
{
    ys_layout other = *layout;
    other.md.data_type = type;
    return other;
}

/** A blocked axis grows to whole blocks; the strides keep their order and close up. */
ys_status ys_layout_like(ys_layout *layout, const ys_layout *pattern, const int64_t *dims)
{
    dnnl_memory_desc_t *md = &layout->md;
    const dnnl_blocking_desc_t *blocking = &pattern->md.format_desc.blocking;
    bool placed[DNNL_MAX_NDIMS] = {false};
    int64_t inner[DNNL_MAX_NDIMS], stride = 1;
    *layout = *pattern;
    for (int i = 0; i < md->ndims; i++)
        inner[i] = 1;
    for (int i = 0; i < blocking->inner_nblks; i++) {
        inner[blocking->inner_idxs[i]] *= blocking->inner_blks[i];
        stride *= blocking->inner_blks[i];
    }
    for (int i = 0; i < md->ndims; i++) {
        md->dims[i] = dims[i];
        md->padded_dims[i] = (dims[i] + inner[i] - 1) / inner[i] * inner[i];
    }
    for (int k = 0; k < md->ndims; k++) {
        int next = -1;
        for (int i = 0; i < md->ndims; i++)
            if (!placed[i] && (next < 0 || blocking->strides[i] < blocking->strides[next] ||
                               (blocking->strides[i] == blocking->strides[next] && i > next)))
                next = i;
        placed[next] = true;
        md->format_desc.blocking.strides[next] = stride;
        stride *= md->padded_dims[next] / inner[next];
    }
    return YS_OK;
}

size_t ys_layout_bytes(const ys_layout *layout)
{
    return dnnl_memory_desc_get_size(&layout->md);
}

size_t ys_layout_elements(const ys_layout *layout)
{
    return ys_layout_bytes(layout) / (ys_layout_is_bf16(layout) ? 2 : sizeof(float));
}

bool ys_layout_equal(const ys_layout *a, const ys_layout *b)
{
    return dnnl_memory_desc_equal(&a->md, &b->md);
}

bool ys_layout_is_blocked(const ys_layout *layout)
{
    return layout->md.format_kind == dnnl_blocked;
}

bool ys_layout_is_bf16(const ys_layout *layout)
{
    return layout->md.data_type == dnnl_bf16;
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
           ys_layout_elements(layout) == (size_t)(md->dims[0] * row);
}

bool ys_layout_image(const ys_layout *layout, struct ys_value_layout *im)
{
    const dnnl_memory_desc_t *md = &layout->md;
    const dnnl_blocking_desc_t *blocking = &md->format_desc.blocking;
    if (md->format_kind != dnnl_blocked || (md->ndims != 4 && md->ndims != 2) || blocking->inner_nblks > 1)
        return false;
    bool flat = md->ndims == 2;
    *im = (struct ys_value_layout){.rows = md->dims[0],
                                   .channels = md->dims[1],
                                   .positions = flat ? 1 : md->dims[2] * md->dims[3],
                                   .lanes = YS_LANES,
                                   .row = blocking->strides[0],
                                   .block = YS_LANES,
                                   .position = flat ? 1 : blocking->strides[3]};
    if (!flat && blocking->strides[2] != md->dims[3] * blocking->strides[3])
        return false;
    if (blocking->inner_nblks == 0)
        return blocking->strides[1] == 1;
    im->lanes = blocking->inner_blks[0];
    im->block = blocking->strides[1];
    im->has_padding = true;
    return blocking->inner_idxs[0] == 1 && (im->lanes == 16 || im->lanes == 8);
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
static dnnl_status_t try_to_create(dnnl_engine_t engine, const_dnnl_op_desc_t op, bool relu,
                                   const_dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *pd)
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
    return status;
}

static ys_status create(dnnl_engine_t engine, const_dnnl_op_desc_t op, bool relu, const_dnnl_primitive_desc_t hint,
                        const char *what, dnnl_primitive_desc_t *pd)
{
    return ys_onednn_status(try_to_create(engine, op, relu, hint, pd), what);
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

/** Minimal filtering of 4x4 results at a time, F(4x4, 3x3) of Lavin and Gray, "Fast algorithms for convolutional neural
 * networks", 2015: a quarter of the multiplications, paid for with transforms of values and weights and with five times
 * the rounding. With fewer channels the transforms of the values cost what it saves, with fewer tiles those of the
 * weights (docs/performance.md). The gradient of the weights is summed transformed, four times their size, on each
 * thread: where the values have not half as many elements as the weights it is not worth the memory. */
static bool suits_winograd(dnnl_prop_kind_t pass, const struct ys_onednn_conv *c)
{
    enum { TILE = 4, FEWEST_CHANNELS = 32, FEWEST_TILES = 32 };
    const struct ys_window *w = c->window;
    const dnnl_dim_t *src = c->src.md.dims, *dst = c->dst.md.dims;
    int64_t tiles = dst[0] * ((dst[2] + TILE - 1) / TILE) * ((dst[3] + TILE - 1) / TILE);
    bool is_square = w->group == 1 && w->kernel[0] == 3 && w->kernel[1] == 3 && w->stride[0] == 1 &&
                     w->stride[1] == 1 && w->dilation[0] == 1 && w->dilation[1] == 1;
    bool is_wide = src[1] >= FEWEST_CHANNELS && dst[1] >= FEWEST_CHANNELS;
    bool has_room = pass != dnnl_backward_weights || 2 * dst[0] * dst[2] * dst[3] >= src[1] * 9;
    return c->src.md.data_type == dnnl_f32 && is_square && is_wide && tiles >= FEWEST_TILES && has_room;
}

static dnnl_status_t init_conv(dnnl_prop_kind_t pass, dnnl_alg_kind_t algorithm, const struct ys_onednn_conv *c,
                               dnnl_convolution_desc_t *op)
{
    const struct window w = window_of(c->window);
    const dnnl_memory_desc_t *bias = c->bias ? &c->bias->md : NULL;
    if (pass == dnnl_backward_data)
        return dnnl_dilated_convolution_backward_data_desc_init(op, algorithm, &c->src.md, &c->weight.md, &c->dst.md,
                                                                w.stride, w.gap, w.before, w.after);
    if (pass == dnnl_backward_weights)
        return dnnl_dilated_convolution_backward_weights_desc_init(op, algorithm, &c->src.md, &c->weight.md, bias,
                                                                   &c->dst.md, w.stride, w.gap, w.before, w.after);
    return dnnl_dilated_convolution_forward_desc_init(op, pass, algorithm, &c->src.md, &c->weight.md, bias, &c->dst.md,
                                                      w.stride, w.gap, w.before, w.after);
}

/** Directly where the other way does not suit, or the library has it not. */
static ys_status create_conv(dnnl_engine_t engine, dnnl_prop_kind_t pass, const struct ys_onednn_conv *c, bool relu,
                             const_dnnl_primitive_desc_t hint, const char *what, dnnl_primitive_desc_t *pd)
{
    static const dnnl_alg_kind_t algorithms[] = {dnnl_convolution_winograd, dnnl_convolution_direct};
    dnnl_status_t status = dnnl_unimplemented;
    for (int i = suits_winograd(pass, c) ? 0 : 1; status == dnnl_unimplemented && i < 2; i++) {
        dnnl_convolution_desc_t op;
        status = init_conv(pass, algorithms[i], c, &op);
        if (status == dnnl_success)
            status = try_to_create(engine, &op, relu, hint, pd);
    }
    return ys_onednn_status(status, what);
}

ys_status ys_onednn_conv_forward(dnnl_engine_t engine, const struct ys_onednn_conv *c, bool training, bool relu,
                                 dnnl_primitive_desc_t *pd)
{
    return create_conv(engine, training ? dnnl_forward_training : dnnl_forward_inference, c, relu, NULL, "convolution",
                       pd);
}

ys_status ys_onednn_conv_backward_data(dnnl_engine_t engine, const struct ys_onednn_conv *c,
                                       const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    return create_conv(engine, dnnl_backward_data, c, false, forward, "convolution backward data", pd);
}

ys_status ys_onednn_conv_backward_weights(dnnl_engine_t engine, const struct ys_onednn_conv *c,
                                          const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    return create_conv(engine, dnnl_backward_weights, c, false, forward, "convolution backward weights", pd);
}

bool ys_onednn_is_generic(const_dnnl_primitive_desc_t pd)
{
    const char *how = "";
    (void)dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &how);
    if (strncmp(how, "x64:", 4) == 0) /* whose product it is that unrolled images are put through */
        how += 4;
    return strncmp(how, "ref", 3) == 0 || strncmp(how, "gemm", 4) == 0 || strncmp(how, "simple", 6) == 0;
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

static dnnl_alg_kind_t pool_kind(const struct ys_onednn_pool *p)
{
    return !p->average             ? dnnl_pooling_max
           : p->window.include_pad ? dnnl_pooling_avg_include_padding
                                   : dnnl_pooling_avg_exclude_padding;
}

ys_status ys_onednn_pool_forward(dnnl_engine_t engine, const struct ys_onednn_pool *p, bool training,
                                 dnnl_primitive_desc_t *pd)
{
    struct window w = window_of(&p->window);
    dnnl_pooling_v2_desc_t op;
    YS_TRY(ys_onednn_status(
        dnnl_pooling_v2_forward_desc_init(&op, training ? dnnl_forward_training : dnnl_forward_inference, pool_kind(p),
                                          &p->src.md, &p->dst.md, w.stride, w.kernel, w.gap, w.before, w.after),
        "pooling"));
    return create(engine, &op, false, NULL, "pooling", pd);
}

ys_status ys_onednn_pool_backward(dnnl_engine_t engine, const struct ys_onednn_pool *p,
                                  const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    struct window w = window_of(&p->window);
    dnnl_pooling_v2_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_pooling_v2_backward_desc_init(&op, pool_kind(p), &p->src.md, &p->dst.md, w.stride,
                                                               w.kernel, w.gap, w.before, w.after),
                            "pooling backward"));
    return create(engine, &op, false, forward, "pooling backward", pd);
}

ys_status ys_onednn_lrn_forward(dnnl_engine_t engine, const ys_layout *data, const struct ys_lrn *lrn, bool training,
                                dnnl_primitive_desc_t *pd)
{
    dnnl_lrn_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_lrn_forward_desc_init(&op, training ? dnnl_forward_training : dnnl_forward_inference,
                                                       dnnl_lrn_across_channels, &data->md, lrn->size,
                                                       (float)lrn->alpha, (float)lrn->beta, (float)lrn->bias),
                            "local response normalisation"));
    return create(engine, &op, false, NULL, "local response normalisation", pd);
}

ys_status ys_onednn_lrn_backward(dnnl_engine_t engine, const ys_layout *data, const struct ys_lrn *lrn,
                                 const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    dnnl_lrn_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_lrn_backward_desc_init(&op, dnnl_lrn_across_channels, &data->md, &data->md, lrn->size,
                                                        (float)lrn->alpha, (float)lrn->beta, (float)lrn->bias),
                            "local response normalisation backward"));
    return create(engine, &op, false, forward, "local response normalisation backward", pd);
}

ys_status ys_onednn_eltwise_forward(dnnl_engine_t engine, const ys_layout *data,
                                    const struct ys_onednn_eltwise *eltwise, dnnl_primitive_desc_t *pd)
{
    dnnl_eltwise_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_eltwise_forward_desc_init(&op, dnnl_forward_training, eltwise->kind, &data->md,
                                                           eltwise->alpha, eltwise->beta),
                            "activation"));
    return create(engine, &op, false, NULL, "activation", pd);
}

ys_status ys_onednn_eltwise_backward(dnnl_engine_t engine, const ys_layout *data,
                                     const struct ys_onednn_eltwise *eltwise, const_dnnl_primitive_desc_t forward,
                                     dnnl_primitive_desc_t *pd)
{
    dnnl_eltwise_desc_t op;
    YS_TRY(ys_onednn_status(
        dnnl_eltwise_backward_desc_init(&op, eltwise->kind, &data->md, &data->md, eltwise->alpha, eltwise->beta),
        "activation backward"));
    return create(engine, &op, false, forward, "activation backward", pd);
}

ys_status ys_onednn_softmax_forward(dnnl_engine_t engine, const ys_layout *data, bool logarithm, int axis,
                                    dnnl_primitive_desc_t *pd)
{
    dnnl_softmax_v2_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_softmax_v2_forward_desc_init(&op, dnnl_forward_training,
                                                              logarithm ? dnnl_softmax_log : dnnl_softmax_accurate,
                                                              &data->md, &data->md, axis),
                            "softmax"));
    return create(engine, &op, false, NULL, "softmax", pd);
}

ys_status ys_onednn_softmax_backward(dnnl_engine_t engine, const ys_layout *data, bool logarithm, int axis,
                                     const_dnnl_primitive_desc_t forward, dnnl_primitive_desc_t *pd)
{
    dnnl_softmax_v2_desc_t op;
    YS_TRY(
        ys_onednn_status(dnnl_softmax_v2_backward_desc_init(&op, logarithm ? dnnl_softmax_log : dnnl_softmax_accurate,
                                                            &data->md, &data->md, &data->md, axis),
                         "softmax backward"));
    return create(engine, &op, false, forward, "softmax backward", pd);
}

static ys_status scratchpad_of_ours(dnnl_primitive_attr_t *attributes)
{
    dnnl_status_t status = dnnl_primitive_attr_create(attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
    return ys_onednn_status(status, "attributes");
}

ys_status ys_onednn_concat(dnnl_engine_t engine, const ys_layout *dst, const ys_layout *sources, size_t count, int axis,
                           dnnl_primitive_desc_t *pd)
{
    dnnl_memory_desc_t md[YS_CALL_MAX_OPERANDS];
    dnnl_primitive_attr_t attributes = NULL;
    YS_ASSERT(count <= YS_CALL_MAX_OPERANDS);
    for (size_t i = 0; i < count; i++)
        md[i] = sources[i].md;
    ys_status status = scratchpad_of_ours(&attributes);
    if (status == YS_OK)
        status = ys_onednn_status(
            dnnl_concat_primitive_desc_create(pd, &dst->md, (int)count, axis, md, attributes, engine), "concatenation");
    dnnl_primitive_attr_destroy(attributes);
    return status;
}

ys_status ys_onednn_reorder(dnnl_engine_t engine, const ys_layout *from, const ys_layout *to, dnnl_primitive_desc_t *pd)
{
    dnnl_primitive_attr_t attributes = NULL;
    ys_status status = scratchpad_of_ours(&attributes);
    if (status == YS_OK)
        status = ys_onednn_status(
            dnnl_reorder_primitive_desc_create(pd, &from->md, engine, &to->md, engine, attributes), "change of layout");
    dnnl_primitive_attr_destroy(attributes);
    return status;
}

ys_status ys_onednn_matmul(dnnl_engine_t engine, const ys_layout *a, const ys_layout *b, const ys_layout *c,
                           dnnl_primitive_desc_t *pd)
{
    dnnl_matmul_desc_t op;
    YS_TRY(ys_onednn_status(dnnl_matmul_desc_init(&op, &a->md, &b->md, NULL, &c->md), "matrix product"));
    return create(engine, &op, false, NULL, "matrix product", pd);
}

/** What a product of bytes is to do as it writes. */
static dnnl_status_t set_integer(const struct ys_onednn_integer *i, dnnl_primitive_attr_t attributes,
                                 dnnl_post_ops_t after)
{
    const int32_t in = i->in_zero, out = i->out_zero;
    dnnl_status_t status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (status == dnnl_success && i->factor)
        status = dnnl_primitive_attr_set_output_scales(attributes, i->channels, 1 << 1, i->factor);
    if (status == dnnl_success && in)
        status = dnnl_primitive_attr_set_zero_points(attributes, DNNL_ARG_SRC, 1, 0, &in);
    if (status == dnnl_success && out)
        status = dnnl_primitive_attr_set_zero_points(attributes, DNNL_ARG_DST, 1, 0, &out);
    if (status == dnnl_success && i->clips)
        status = dnnl_post_ops_append_eltwise(after, 1.0F, dnnl_eltwise_clip, i->low, i->high);
    return status == dnnl_success ? dnnl_primitive_attr_set_post_ops(attributes, after) : status;
}

ys_status ys_onednn_integer(dnnl_engine_t engine, const struct ys_onednn_integer *i, dnnl_primitive_desc_t *pd)
{
    const dnnl_memory_desc_t *bias = i->bias ? &i->bias->md : NULL;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_post_ops_t after = NULL;
    dnnl_convolution_desc_t conv;
    dnnl_inner_product_desc_t product;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (status == dnnl_success)
        status = dnnl_post_ops_create(&after);
    if (status == dnnl_success)
        status = set_integer(i, attributes, after);
    if (status == dnnl_success && i->window) {
        const struct window w = window_of(i->window);
        status = dnnl_dilated_convolution_forward_desc_init(&conv, dnnl_forward_inference, dnnl_convolution_direct,
                                                            &i->src.md, &i->weight.md, bias, &i->dst.md, w.stride,
                                                            w.gap, w.before, w.after);
    } else if (status == dnnl_success) {
        status = dnnl_inner_product_forward_desc_init(&product, dnnl_forward_inference, &i->src.md, &i->weight.md, bias,
                                                      &i->dst.md);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(pd, i->window ? (const_dnnl_op_desc_t)&conv : &product, attributes, engine,
                                            NULL);
    dnnl_post_ops_destroy(after);
    dnnl_primitive_attr_destroy(attributes);
    return ys_onednn_status(status, "product of bytes");
}

ys_status ys_layout_channels_last(ys_layout *layout, size_t rank, const int64_t *dims, dnnl_data_type_t type)
{
    return ys_onednn_status(
        dnnl_memory_desc_init_by_tag(&layout->md, (int)rank, dims, type, rank == 4 ? dnnl_nhwc : dnnl_ab), "layout");
}
