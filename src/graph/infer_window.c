/* Shapes of convolutions and pools. */
#include "graph/infer.h"
#include <string.h>

/** How many windows there are along axis `d` (0 height, 1 width) of `extent` pixels. */
static ys_status window_count(struct ys_site *site, size_t d, int64_t extent, int64_t *count)
{
    const struct ys_window *w = &site->node->window;
    const char *axis = d ? "width" : "height";
    int64_t reach = (w->kernel[d] - 1) * w->dilation[d];
    int64_t room = extent + w->pad[d] + w->pad[d + 2] - reach - 1 + (w->ceil ? w->stride[d] - 1 : 0);
    if (room < 0)
        return YS_FAIL_SITE(site, "a window of %s %lld does not fit into input %s of shape %s with padding %lld + %lld",
                            axis, (long long)(reach + 1), site->in->name, YS_SITE_SHAPE(site, site->in),
                            (long long)w->pad[d], (long long)w->pad[d + 2]);
    *count = room / w->stride[d] + 1;
    if (w->ceil && (*count - 1) * w->stride[d] >= extent + w->pad[d])
        --*count;
    if (site->node->op == YS_OP_CONV)
        return YS_OK;
    /* The first window must reach from the padding into the image, the last one begin in front of the image's end; a
     * window that begins in the padding may not step over the whole image. */
    bool first_holds = w->pad[d] == 0 || (w->pad[d] <= reach && w->dilation[d] <= extent);
    if (!first_holds || (*count - 1) * w->stride[d] >= extent + w->pad[d])
        return YS_FAIL_SITE(site, "padding %lld + %lld of the %s leaves windows that hold no pixel",
                            (long long)w->pad[d], (long long)w->pad[d + 2], axis);
    return YS_OK;
}

static ys_status check_window(struct ys_site *site)
{
    const struct ys_window *w = &site->node->window;
    for (size_t i = 0; i < 2; i++)
        if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 || w->pad[i] < 0 || w->pad[i + 2] < 0 ||
            w->kernel[i] > YS_GRAPH_MAX_WINDOW || w->stride[i] > YS_GRAPH_MAX_WINDOW ||
            w->dilation[i] > YS_GRAPH_MAX_WINDOW || w->pad[i] > YS_GRAPH_MAX_WINDOW ||
            w->pad[i + 2] > YS_GRAPH_MAX_WINDOW)
            return YS_FAIL_SITE(site, "kernel, stride and dilation must be 1 to %lld, padding 0 to %lld",
                                (long long)YS_GRAPH_MAX_WINDOW, (long long)YS_GRAPH_MAX_WINDOW);
    return YS_OK;
}

static ys_status infer_window(struct ys_site *site, int64_t channels)
{
    YS_TRY(check_window(site));
    struct ys_value *out = site->out;
    out->rank = 4;
    out->shape[0] = YS_BATCH;
    out->shape[1] = channels;
    YS_TRY(window_count(site, 0, site->in->shape[2], &out->shape[2]));
    return window_count(site, 1, site->in->shape[3], &out->shape[3]);
}

ys_status ys_infer_conv(struct ys_site *site)
{
    YS_TRY(ys_infer_need_nchw(site));
    const struct ys_param *weight = &site->graph->params[site->node->weight];
    const struct ys_window *w = &site->node->window;
    int64_t channels = site->in->shape[1];
    if (w->group < 1 || channels % w->group)
        return YS_FAIL_SITE(site, "group %lld does not divide the %lld channels of input %s", (long long)w->group,
                            (long long)channels, site->in->name);
    const int64_t wanted[4] = {weight->shape[0], channels / w->group, w->kernel[0], w->kernel[1]};
    if (weight->rank != 4 || memcmp(weight->shape, wanted, sizeof wanted) != 0)
        return YS_FAIL_SITE(site, "weight %s has shape %s; with input %s it must be (out channels, %lld, %lld, %lld)",
                            weight->name, YS_SITE_SHAPE(site, weight),
                            ys_shape_text(site->in->shape, site->in->rank, site->other), (long long)wanted[1],
                            (long long)wanted[2], (long long)wanted[3]);
    if (weight->shape[0] % w->group)
        return YS_FAIL_SITE(site, "group %lld does not divide the %lld output channels", (long long)w->group,
                            (long long)weight->shape[0]);
    YS_TRY(ys_infer_check_vector(site, YS_NODE_BIAS, weight->shape[0]));
    return infer_window(site, weight->shape[0]);
}

/* One axis of what a convolution with this window would make the input of. */
static ys_status spread_extent(struct ys_site *site, size_t d)
{
    const struct ys_window *w = &site->node->window;
    const int64_t extent = site->in->shape[2 + d], reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
    if (w->extra[d] < 0 || w->extra[d] >= w->stride[d])
        return YS_FAIL_SITE(site, "output_padding %lld: must be from 0 to below the stride, %lld",
                            (long long)w->extra[d], (long long)w->stride[d]);
    const int64_t made = (extent - 1) * w->stride[d] + w->extra[d] + reach - w->pad[d] - w->pad[2 + d];
    if (made < 1)
        return YS_FAIL_SITE(site, "padding %lld + %lld takes away all of the %s", (long long)w->pad[d],
                            (long long)w->pad[2 + d], d ? "width" : "height");
    site->out->shape[2 + d] = made;
    return YS_OK;
}

ys_status ys_infer_conv_transpose(struct ys_site *site)
{
    YS_TRY(ys_infer_need_nchw(site));
    const struct ys_param *weight = &site->graph->params[site->node->weight];
    const struct ys_window *w = &site->node->window;
    const int64_t channels = site->in->shape[1];
    if (w->group < 1 || channels % w->group)
        return YS_FAIL_SITE(site, "group %lld does not divide the %lld channels of input %s", (long long)w->group,
                            (long long)channels, site->in->name);
    if (weight->rank != 4 || weight->shape[0] != channels || weight->shape[2] != w->kernel[0] ||
        weight->shape[3] != w->kernel[1])
        return YS_FAIL_SITE(
            site, "weight %s has shape %s; with input %s it must be (%lld, out channels / group, %lld, %lld)",
            weight->name, YS_SITE_SHAPE(site, weight), ys_shape_text(site->in->shape, site->in->rank, site->other),
            (long long)channels, (long long)w->kernel[0], (long long)w->kernel[1]);
    YS_TRY(ys_infer_check_vector(site, YS_NODE_BIAS, weight->shape[1] * w->group));
    YS_TRY(check_window(site));
    site->out->rank = 4;
    site->out->shape[0] = YS_BATCH;
    site->out->shape[1] = weight->shape[1] * w->group;
    YS_TRY(spread_extent(site, 0));
    return spread_extent(site, 1);
}

ys_status ys_infer_pool(struct ys_site *site)
{
    YS_TRY(ys_infer_need_nchw(site));
    return infer_window(site, site->in->shape[1]);
}
