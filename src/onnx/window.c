/* Convolutions, pools and what stands around images. */
#include "onnx/reading.h"

#include <string.h>

static ys_status read_sizes(struct ys_onnx_step *step, const char *name, int64_t low, int64_t *values, size_t wanted)
{
    size_t count = wanted;
    YS_TRY(ys_onnx_integers(step->node, name, values, wanted, &count));
    if (count != wanted)
        return YS_FAIL_STEP(step, "attribute %s has %zu numbers, not %zu: only images have windows", name, count,
                            wanted);
    for (size_t i = 0; i < wanted; i++)
        if (values[i] < low || values[i] > YS_GRAPH_MAX_WINDOW)
            return YS_FAIL_STEP(step, "attribute %s has the number %lld: must be %lld to 2^20", name,
                                (long long)values[i], (long long)low);
    return YS_OK;
}

/* auto_pad in numbers: SAME makes ceil(extent / stride) windows, the odd one of the padding behind or before. */
static ys_status pad_itself(struct ys_onnx_step *step, const int64_t *shape, struct ys_window *w)
{
    char how[32] = "NOTSET";
    YS_TRY(ys_onnx_word(step->node, "auto_pad", how));
    const bool upper = strcmp(how, "SAME_UPPER") == 0;
    if (strcmp(how, "NOTSET") == 0 || !how[0])
        return YS_OK;
    memset(w->pad, 0, sizeof w->pad);
    if (strcmp(how, "VALID") == 0)
        return YS_OK;
    if (!upper && strcmp(how, "SAME_LOWER") != 0)
        return YS_FAIL_STEP(step, "attribute auto_pad is %s", how);
    for (size_t d = 0; d < 2; d++) {
        int64_t windows = (shape[d + 2] + w->stride[d] - 1) / w->stride[d];
        int64_t total = (windows - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - shape[d + 2];
        if (total < 0)
            total = 0;
        w->pad[d] = upper ? total / 2 : total - total / 2;
        w->pad[d + 2] = total - w->pad[d];
    }
    return YS_OK;
}

static ys_status read_window(struct ys_onnx_step *step, const int64_t *shape, struct ys_window *w)
{
    YS_TRY(read_sizes(step, "kernel_shape", 1, w->kernel, 2));
    YS_TRY(read_sizes(step, "strides", 1, w->stride, 2));
    YS_TRY(read_sizes(step, "dilations", 1, w->dilation, 2));
    YS_TRY(read_sizes(step, "pads", 0, w->pad, 4));
    return pad_itself(step, shape, w);
}

static ys_status need_image(struct ys_onnx_step *step, size_t i)
{
    YS_TRY(ys_onnx_need_live(step, i));
    if (step->r->graph->values[step->in[i]->value].rank != 4)
        return YS_FAIL_STEP(step,
                            "reads a value of %zu dimensions: only images (N, channels, height, width) have windows",
                            step->r->graph->values[step->in[i]->value].rank);
    return YS_OK;
}

/* The image that a node reads, and the zeros that a Pad put around it: others may read that image too, as it is. */
static ys_status take_padded(struct ys_onnx_step *step, int *value, int64_t pads[4])
{
    struct ys_onnx_slot *slot = step->in[0], bare = *slot;
    memcpy(pads, slot->pads, sizeof slot->pads);
    if (!ys_onnx_is_padded(slot))
        return ys_onnx_take(step, slot, false, value);
    if (!ys_onnx_is_plain(slot))
        return YS_FAIL_STEP(step, "%s", "reads a Pad of a value whose axes are not (N, channels, height, width)");
    memset(bare.pads, 0, sizeof bare.pads);
    return ys_onnx_take(step, &bare, false, value);
}

static ys_status need_bias(struct ys_onnx_step *step, int64_t channels, struct ys_onnx_constant **bias)
{
    *bias = NULL;
    if (step->node->in_count < 3 || !step->in[2])
        return YS_OK;
    YS_TRY(ys_onnx_need_constant(step, 2, "bias", bias));
    if ((*bias)->count != channels)
        return YS_FAIL_STEP(step, "its bias has %lld elements, not %lld", (long long)(*bias)->count,
                            (long long)channels);
    return YS_OK;
}

ys_status ys_onnx_conv(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *weight, *bias;
    struct ys_graph *graph = step->r->graph;
    int64_t around[4];
    int in, node, value;
    float *values;
    YS_TRY(need_image(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "weight", &weight));
    if (weight->rank != 4 || !weight->is_real)
        return YS_FAIL_STEP(step, "its weight has %zu dimensions, not 4", weight->rank);
    YS_TRY(need_bias(step, weight->shape[0], &bias));
    YS_TRY(take_padded(step, &in, around));
    YS_TRY(ys_onnx_begin(step, YS_OP_CONV, &in, 1, 1, &node));
    struct ys_window w = graph->nodes[node].window;
    w.kernel[0] = weight->shape[2];
    w.kernel[1] = weight->shape[3];
    YS_TRY(ys_onnx_integer(step->node, "group", &w.group));
    if (w.group < 1 || w.group > YS_GRAPH_MAX_WINDOW)
        return YS_FAIL_STEP(step, "attribute group is %lld", (long long)w.group);
    YS_TRY(read_window(step, graph->values[in].shape, &w));
    if (w.kernel[0] != weight->shape[2] || w.kernel[1] != weight->shape[3])
        return YS_FAIL_STEP(step, "attribute kernel_shape is not that of its weight, %lld x %lld",
                            (long long)weight->shape[2], (long long)weight->shape[3]);
    for (size_t i = 0; i < 4; i++)
        w.pad[i] += around[i];
    graph->nodes[node].window = w;
    YS_TRY(ys_onnx_floats(weight, &values));
    YS_TRY(ys_onnx_param(step, node, YS_NODE_WEIGHT, weight, values, weight->shape, 4));
    if (bias) {
        YS_TRY(ys_onnx_floats(bias, &values));
        YS_TRY(ys_onnx_param(step, node, YS_NODE_BIAS, bias, values, weight->shape, 1));
    }
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

/* Operator sets and runtimes disagree about ceil_mode where a window would begin behind the image, and where it counts
 * what lies beyond the padding. Elsewhere it says the same everywhere. */
static ys_status check_ceil(struct ys_onnx_step *step, const int64_t *shape, const struct ys_window *w, bool is_max)
{
    for (size_t d = 0; d < 2; d++) {
        int64_t room = shape[d + 2] + w->pad[d] + w->pad[d + 2] - (w->kernel[d] - 1) * w->dilation[d] - 1;
        int64_t last = (room + w->stride[d] - 1) / w->stride[d] * w->stride[d];
        if (room < 0)
            return YS_OK; /* the shape rule says so */
        if (last >= shape[d + 2] + w->pad[d])
            return YS_FAIL_STEP(step, "%s",
                                "attribute ceil_mode makes a window that begins behind the image: export without "
                                "it");
        if (!is_max && w->include_pad && last > room)
            return YS_FAIL_STEP(step, "%s",
                                "attributes ceil_mode and count_include_pad: operator sets disagree about what "
                                "they mean together");
    }
    return YS_OK;
}

ys_status ys_onnx_pool(struct ys_onnx_step *step)
{
    const bool is_max = step->node->op[0] == 'M';
    struct ys_graph *graph = step->r->graph;
    int64_t ceil_mode = 0, include_pad = 0, order = 0, around[4];
    int in, node, value;
    YS_TRY(need_image(step, 0));
    const bool padded = ys_onnx_is_padded(step->in[0]);
    if (padded && is_max)
        return YS_FAIL_STEP(step, "%s",
                            "reads the result of a Pad, whose zeros could win: only Conv and AveragePool do");
    YS_TRY(take_padded(step, &in, around));
    YS_TRY(ys_onnx_begin(step, is_max ? YS_OP_MAXPOOL : YS_OP_AVERAGEPOOL, &in, 1, 1, &node));
    struct ys_window w = graph->nodes[node].window;
    if (!ys_onnx_has(step->node, "kernel_shape"))
        return YS_FAIL_STEP(step, "%s", "has no kernel_shape");
    YS_TRY(read_window(step, graph->values[in].shape, &w));
    YS_TRY(ys_onnx_integer(step->node, "ceil_mode", &ceil_mode));
    YS_TRY(ys_onnx_integer(step->node, "count_include_pad", &include_pad));
    YS_TRY(ys_onnx_integer(step->node, "storage_order", &order));
    if (order != 0)
        return YS_FAIL_STEP(step, "attribute storage_order is %lld", (long long)order);
    w.ceil = ceil_mode != 0;
    w.include_pad = !is_max && include_pad != 0;
    if (padded) {
        if ((w.pad[0] || w.pad[1] || w.pad[2] || w.pad[3]) && !w.include_pad)
            return YS_FAIL_STEP(step, "%s", "has padding that does not count, behind a Pad, whose zeros do");
        for (size_t i = 0; i < 4; i++)
            w.pad[i] += around[i];
        w.include_pad = true;
    }
    if (w.ceil)
        YS_TRY(check_ceil(step, graph->values[in].shape, &w, is_max));
    graph->nodes[node].window = w;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

ys_status ys_onnx_pad(struct ys_onnx_step *step)
{
    char mode[32] = "constant";
    int64_t pads[2 * YS_MAX_RANK];
    size_t count = 0;
    double filling = 0;
    struct ys_onnx_constant *amounts, *value;
    YS_TRY(need_image(step, 0));
    YS_TRY(ys_onnx_word(step->node, "mode", mode));
    YS_TRY(ys_onnx_constant_in(step, 1, &amounts));
    YS_TRY(ys_onnx_constant_in(step, 2, &value));
    YS_TRY(ys_onnx_numbers(&step->r->folding, step->node, amounts, "pads", pads, 2 * YS_MAX_RANK, &count));
    YS_TRY(ys_onnx_real(step->node, "value", &filling));
    if (value && value->count == 1)
        filling = ys_onnx_constant_real(value, 0);
    if (strcmp(mode, "constant") != 0 || filling != 0 || (step->node->in_count > 3 && step->in[3]))
        return YS_FAIL_STEP(step, "mode %s with the value %g: only zeros on all axes are read", mode, filling);
    if (count != 8)
        return YS_FAIL_STEP(step, "has %zu pads, not 8", count);
    const struct ys_onnx_slot *in = step->in[0];
    ys_onnx_set(step, in->value, in);
    memcpy(step->out->pads, in->pads, sizeof in->pads);
    step->out->pixels = in->pixels;
    for (size_t i = 0; i < 4; i++) {
        int axis = in->perm[i];
        if (pads[i] < 0 || pads[i + 4] < 0 || pads[i] > YS_GRAPH_MAX_WINDOW || pads[i + 4] > YS_GRAPH_MAX_WINDOW ||
            (axis < 2 && (pads[i] || pads[i + 4])))
            return YS_FAIL_STEP(step,
                                "pads by %lld and %lld along axis %zu: only height and width are padded, by 0 or more",
                                (long long)pads[i], (long long)pads[i + 4], i);
        if (axis >= 2) {
            step->out->pads[axis - 2] += pads[i];
            step->out->pads[axis] += pads[i + 4];
        }
    }
    return ys_onnx_note(step->r, "node %.100s (Pad) is padding of the node behind it", step->node->name);
}

ys_status ys_onnx_lrn(struct ys_onnx_step *step)
{
    struct ys_lrn lrn = {.alpha = 0.0001, .beta = 0.75, .bias = 1};
    int in, node, value;
    YS_TRY(need_image(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "size", &lrn.size));
    YS_TRY(ys_onnx_real(step->node, "alpha", &lrn.alpha));
    YS_TRY(ys_onnx_real(step->node, "beta", &lrn.beta));
    YS_TRY(ys_onnx_real(step->node, "bias", &lrn.bias));
    if (lrn.size < 1 || lrn.size > YS_GRAPH_MAX_WINDOW || !(lrn.alpha >= 0 && lrn.alpha <= 1e30) ||
        !(lrn.beta >= 0 && lrn.beta <= 1e30) || !(lrn.bias > 0 && lrn.bias <= 1e30))
        return YS_FAIL_STEP(step, "size %lld, alpha %g, beta %g, bias %g: beyond what graphs have", (long long)lrn.size,
                            lrn.alpha, lrn.beta, lrn.bias);
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    YS_TRY(ys_onnx_begin(step, YS_OP_LRN, &in, 1, 1, &node));
    step->r->graph->nodes[node].lrn = lrn;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}
