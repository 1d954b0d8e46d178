/* Shapes, and everything that can be wrong with them. */
#include "base/mem.h"
#include "graph/compose.h"
#include <math.h>
#include <string.h>

struct site { /* where a message is about */
    struct ys_graph *graph;
    const struct ys_node *node;
    const struct ys_value *in;
    struct ys_value *out;
    const char *label;
    char shape[YS_SHAPE_TEXT], other[YS_SHAPE_TEXT];
};

/* Arguments: the code, then a format that goes on after "graph.json: node conv1 (Conv): ". */
#define FAIL(site, format, ...)                                                                                        \
    ys_fail(YS_EFORMAT, "%s: node %s (%s): " format, (site)->label, (site)->node->name, ys_op_name((site)->node->op),  \
            __VA_ARGS__)

ys_status ys_compose_check_shape(const char *label, const char *what, const int64_t *shape, size_t rank, size_t first)
{
    int64_t elements = 1;
    char text[YS_SHAPE_TEXT];
    for (size_t i = first; i < rank; i++) {
        if (shape[i] < 1)
            return ys_fail(YS_EFORMAT, "%s: %s has shape %s: every dimension must be at least 1", label, what,
                           ys_shape_text(shape, rank, text));
        if (shape[i] > YS_GRAPH_MAX_ELEMENTS / elements)
            return ys_fail(YS_EFORMAT, "%s: %s has shape %s: more than 2^40 elements", label, what,
                           ys_shape_text(shape, rank, text));
        elements *= shape[i];
    }
    return YS_OK;
}

/** The floor of how many windows fit along axis `d` (0 height, 1 width) of `extent` pixels. */
static ys_status window_count(struct site *site, size_t d, int64_t extent, int64_t *count)
{
    const struct ys_window *w = &site->node->window;
    const char *axis = d ? "width" : "height";
    int64_t reach = (w->kernel[d] - 1) * w->dilation[d];
    int64_t room = extent + w->pad[d] + w->pad[d + 2] - reach - 1;
    if (room < 0)
        return FAIL(site, "a window of %s %lld does not fit into input %s of shape %s with padding %lld + %lld", axis,
                    (long long)(reach + 1), site->in->name, ys_shape_text(site->in->shape, site->in->rank, site->shape),
                    (long long)w->pad[d], (long long)w->pad[d + 2]);
    /* Padding never wins a maximum, so every window must reach a pixel. */
    int64_t pad = w->pad[d] > w->pad[d + 2] ? w->pad[d] : w->pad[d + 2];
    if (site->node->op == YS_OP_MAXPOOL && pad > 0 && (pad > reach || w->dilation[d] > extent))
        return FAIL(site, "padding %lld of the %s leaves windows that hold no pixel", (long long)pad, axis);
    *count = room / w->stride[d] + 1;
    return YS_OK;
}

static ys_status infer_window(struct site *site, int64_t channels)
{
    const struct ys_window *w = &site->node->window;
    for (size_t i = 0; i < 2; i++)
        if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 || w->pad[i] < 0 || w->pad[i + 2] < 0 ||
            w->kernel[i] > YS_GRAPH_MAX_WINDOW || w->stride[i] > YS_GRAPH_MAX_WINDOW ||
            w->dilation[i] > YS_GRAPH_MAX_WINDOW || w->pad[i] > YS_GRAPH_MAX_WINDOW ||
            w->pad[i + 2] > YS_GRAPH_MAX_WINDOW)
            return FAIL(site, "kernel, stride and dilation must be 1 to %lld, padding 0 to %lld",
                        (long long)YS_GRAPH_MAX_WINDOW, (long long)YS_GRAPH_MAX_WINDOW);
    struct ys_value *out = site->out;
    out->rank = 4;
    out->shape[0] = YS_BATCH;
    out->shape[1] = channels;
    YS_TRY(window_count(site, 0, site->in->shape[2], &out->shape[2]));
    return window_count(site, 1, site->in->shape[3], &out->shape[3]);
}

static ys_status need_image(struct site *site)
{
    if (site->in->rank != 4)
        return FAIL(site, "input %s has shape %s, not (N, channels, height, width)", site->in->name,
                    ys_shape_text(site->in->shape, site->in->rank, site->shape));
    return YS_OK;
}

static ys_status check_bias(struct site *site, int64_t channels)
{
    if (site->node->bias < 0)
        return YS_OK;
    const struct ys_param *bias = &site->graph->params[site->node->bias];
    if (bias->rank != 1 || bias->shape[0] != channels)
        return FAIL(site, "bias %s has shape %s, not [%lld]", bias->name,
                    ys_shape_text(bias->shape, bias->rank, site->shape), (long long)channels);
    return YS_OK;
}

static ys_status infer_conv(struct site *site)
{
    YS_TRY(need_image(site));
    const struct ys_param *weight = &site->graph->params[site->node->weight];
    const struct ys_window *w = &site->node->window;
    int64_t channels = site->in->shape[1];
    if (w->group < 1 || channels % w->group)
        return FAIL(site, "group %lld does not divide the %lld channels of input %s", (long long)w->group,
                    (long long)channels, site->in->name);
    const int64_t wanted[4] = {weight->shape[0], channels / w->group, w->kernel[0], w->kernel[1]};
    if (weight->rank != 4 || memcmp(weight->shape, wanted, sizeof wanted) != 0)
        return FAIL(site, "weight %s has shape %s; with input %s it must be (out channels, %lld, %lld, %lld)",
                    weight->name, ys_shape_text(weight->shape, weight->rank, site->shape),
                    ys_shape_text(site->in->shape, site->in->rank, site->other), (long long)wanted[1],
                    (long long)wanted[2], (long long)wanted[3]);
    if (weight->shape[0] % w->group)
        return FAIL(site, "group %lld does not divide the %lld output channels", (long long)w->group,
                    (long long)weight->shape[0]);
    YS_TRY(check_bias(site, weight->shape[0]));
    return infer_window(site, weight->shape[0]);
}

static ys_status infer_maxpool(struct site *site)
{
    YS_TRY(need_image(site));
    return infer_window(site, site->in->shape[1]);
}

static ys_status infer_gemm(struct site *site)
{
    if (site->in->rank != 2)
        return FAIL(site, "input %s has shape %s, not (N, features): put a Flatten before it", site->in->name,
                    ys_shape_text(site->in->shape, site->in->rank, site->shape));
    const struct ys_param *weight = &site->graph->params[site->node->weight];
    if (weight->rank != 2 || weight->shape[1] != site->in->shape[1])
        return FAIL(site, "weight %s has shape %s; with %lld input features it must be (out, %lld)", weight->name,
                    ys_shape_text(weight->shape, weight->rank, site->shape), (long long)site->in->shape[1],
                    (long long)site->in->shape[1]);
    YS_TRY(check_bias(site, weight->shape[0]));
    site->out->rank = 2;
    site->out->shape[0] = YS_BATCH;
    site->out->shape[1] = weight->shape[0];
    return YS_OK;
}

static ys_status same_shape(struct site *site)
{
    site->out->rank = site->in->rank;
    memcpy(site->out->shape, site->in->shape, sizeof site->out->shape);
    return YS_OK;
}

static ys_status infer_normalize(struct site *site)
{
    const struct ys_normalize *n = &site->node->normalize;
    if (n->channels != 1 && (int64_t)n->channels != site->in->shape[1])
        return FAIL(site, "%zu means for the %lld channels of input %s: give one for all, or one each", n->channels,
                    (long long)site->in->shape[1], site->in->name);
    if (!(isfinite(n->scale) && n->scale > 0))
        return FAIL(site, "scale %g must be finite and above 0", n->scale);
    for (size_t i = 0; i < n->channels; i++)
        if (!isfinite(n->mean[i]) || !isfinite(n->std[i]) || !(n->std[i] > 0))
            return FAIL(site, "mean[%zu] %g must be finite, std[%zu] %g finite and above 0", i, n->mean[i], i,
                        n->std[i]);
    return same_shape(site);
}

static ys_status infer_flatten(struct site *site)
{
    site->out->rank = 2;
    site->out->shape[0] = YS_BATCH;
    site->out->shape[1] = ys_value_row_elements(site->in);
    return YS_OK;
}

static ys_status infer_op(struct site *site)
{
    switch (site->node->op) {
    case YS_OP_NORMALIZE:
        return infer_normalize(site);
    case YS_OP_CONV:
        return infer_conv(site);
    case YS_OP_RELU:
        return same_shape(site);
    case YS_OP_MAXPOOL:
        return infer_maxpool(site);
    case YS_OP_FLATTEN:
        return infer_flatten(site);
    case YS_OP_GEMM:
        return infer_gemm(site);
    default:
        break;
    }
    return ys_fail(YS_EINTERNAL, "no shape rule for operator %d", (int)site->node->op);
}

ys_status ys_compose_infer(struct ys_graph *graph, int node, const char *label)
{
    struct site site = {.graph = graph, .node = &graph->nodes[node], .label = label};
    site.in = &graph->values[site.node->in[0]];
    site.out = &graph->values[site.node->out[0]];
    if (site.in->dtype == YS_U8 && site.node->op != YS_OP_NORMALIZE)
        return FAIL(&site, "input %s is U8: put a normalize before it", site.in->name);
    YS_TRY(infer_op(&site));
    return ys_compose_check_shape(label, site.out->name, site.out->shape, site.out->rank, 1);
}

/** Fails unless every parameter is read by exactly one node; sharing would need gradients summed. */
static ys_status check_param_uses(const struct ys_graph *graph, const char *label, const struct ys_node **readers)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        const int used[2] = {node->weight, node->bias};
        for (size_t k = 0; k < 2; k++) {
            if (used[k] < 0)
                continue;
            const struct ys_param *param = &graph->params[used[k]];
            if (readers[used[k]])
                return ys_fail(
                    YS_EFORMAT,
                    "%s: parameter %s is used twice, by nodes %s and %s: shared parameters are not yet available",
                    label, param->name, readers[used[k]]->name, node->name);
            if (param->role != YS_ROLE_WEIGHT)
                return ys_fail(YS_EFORMAT, "%s: node %s (%s): parameter %s has role buffer, not weight", label,
                               node->name, ys_op_name(node->op), param->name);
            readers[used[k]] = node;
        }
    }
    for (size_t p = 0; p < graph->param_count; p++)
        if (!readers[p])
            return ys_fail(YS_EFORMAT, "%s: parameter %s is used by no node", label, graph->params[p].name);
    return YS_OK;
}

static ys_status check_totals(const struct ys_graph *graph, const char *label)
{
    int64_t sum = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        if (node->weight < 0)
            continue;
        const struct ys_param *weight = &graph->params[node->weight];
        int64_t outputs = ys_value_row_elements(&graph->values[node->out[0]]), multiply_adds;
        if (__builtin_mul_overflow(outputs, ys_param_elements(weight) / weight->shape[0], &multiply_adds) ||
            __builtin_add_overflow(sum, multiply_adds, &sum))
            return ys_fail(YS_EFORMAT, "%s: node %s (%s): more than 2^63 multiply-adds", label, node->name,
                           ys_op_name(node->op));
    }
    return YS_OK;
}

ys_status ys_compose_finish(struct ys_graph *graph, const char *label)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].in_count; k++)
            graph->values[graph->nodes[i].in[k]].uses++;
    struct ys_value *output = &graph->values[graph->output];
    output->uses++;
    for (size_t i = 0; i < graph->value_count; i++)
        if (graph->values[i].uses == 0)
            return ys_fail(YS_EFORMAT, "%s: value %s is never used", label, graph->values[i].name);
    char text[YS_SHAPE_TEXT];
    if (output->rank != 2 || output->dtype != YS_F32)
        return ys_fail(YS_EFORMAT, "%s: output %s has shape %s, type %s; %s needs (N, classes), F32", label,
                       output->name, ys_shape_text(output->shape, output->rank, text), ys_dtype_name(output->dtype),
                       ys_loss_name(graph->loss));
    const struct ys_node **readers = ys_alloc(graph->param_count, sizeof *readers);
    if (!readers)
        return ys_out_of_memory();
    ys_status status = check_param_uses(graph, label, readers);
    ys_free((void *)readers);
    return status == YS_OK ? check_totals(graph, label) : status;
}
