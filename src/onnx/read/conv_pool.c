/* Convolutions, pools and what stands around images. */
#include "onnx/read/reader_state.h"

#include <string.h>

/* Windows over 1 to 3 axes, as the file has them. */
struct windows {
    size_t axes;
    int64_t extent[3], kernel[3], stride[3], dilation[3], pad[6];
};

static ys_status read_sizes(struct ys_onnx_step *step, const char *name, int64_t low, int64_t *values, size_t wanted)
{
    size_t count = wanted;
    YS_TRY(ys_onnx_integers(step->node, name, values, wanted, &count));
    if (count != wanted)
        return YS_FAIL_STEP(step, "attribute %s has %zu numbers, not %zu", name, count, wanted);
    for (size_t i = 0; i < wanted; i++)
        if (values[i] < low || values[i] > YS_GRAPH_MAX_WINDOW)
            return YS_FAIL_STEP(step, "attribute %s has the number %lld: must be %lld to 2^20", name,
                                (long long)values[i], (long long)low);
    return YS_OK;
}

/* auto_pad in numbers: SAME makes ceil(extent / stride) windows, the odd one of the padding behind or before. */
static ys_status pad_itself(struct ys_onnx_step *step, struct windows *w)
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
    for (size_t d = 0; d < w->axes; d++) {
        int64_t windows = (w->extent[d] + w->stride[d] - 1) / w->stride[d];
        int64_t total = (windows - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - w->extent[d];
        if (total < 0)
            total = 0;
        w->pad[d] = upper ? total / 2 : total - total / 2;
        w->pad[d + w->axes] = total - w->pad[d];
    }
    return YS_OK;
}

/* `kernel`: where no attribute says it; NULL: one must. */
static ys_status read_unpadded(struct ys_onnx_step *step, const int64_t *shape, size_t rank, const int64_t *kernel,
                               struct windows *w)
{
    *w = (struct windows){.axes = rank - 2, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    memcpy(w->extent, shape + 2, w->axes * sizeof *shape);
    if (kernel)
        memcpy(w->kernel, kernel, w->axes * sizeof *kernel);
    else if (!ys_onnx_has(step->node, "kernel_shape"))
        return YS_FAIL_STEP(step, "%s", "has no kernel_shape");
    YS_TRY(read_sizes(step, "kernel_shape", 1, w->kernel, w->axes));
    YS_TRY(read_sizes(step, "strides", 1, w->stride, w->axes));
    YS_TRY(read_sizes(step, "dilations", 1, w->dilation, w->axes));
    YS_TRY(read_sizes(step, "pads", 0, w->pad, 2 * w->axes));
    for (size_t d = 0; kernel && d < w->axes; d++)
        if (w->kernel[d] != kernel[d])
            return YS_FAIL_STEP(step, "attribute kernel_shape has the number %lld, its weight %lld",
                                (long long)w->kernel[d], (long long)kernel[d]);
    return YS_OK;
}

static ys_status read_windows(struct ys_onnx_step *step, const int64_t *shape, size_t rank, const int64_t *kernel,
                              struct windows *w)
{
    YS_TRY(read_unpadded(step, shape, rank, kernel, w));
    return pad_itself(step, w);
}

/* Axes from `from` on as those of a window from `to` on: 0 is its height, 1 its width. */
static void set_window(const struct windows *w, size_t from, size_t to, size_t count, struct ys_window *window)
{
    for (size_t i = 0; i < count; i++) {
        window->kernel[to + i] = w->kernel[from + i];
        window->stride[to + i] = w->stride[from + i];
        window->dilation[to + i] = w->dilation[from + i];
        window->pad[to + i] = w->pad[from + i];
        window->pad[to + i + 2] = w->pad[from + i + w->axes];
    }
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
    if (!ys_onnx_is_plain(slot)) {
        memset(pads, 0, sizeof slot->pads);
        return ys_onnx_take(step, slot, false, value);
    }
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
    if (!(*bias)->tensor && ys_onnx_constant_is(*bias, 0)) /* PyTorch computes zeros where its convolution has none */
        *bias = NULL;
    return YS_OK;
}

/* A value (N, channels, length) as an image of height 1, or an image; `around`: zeros that a Pad put there. */
static ys_status take_image(struct ys_onnx_step *step, struct ys_onnx_image *image, int64_t around[4])
{
    const size_t axis = 1;
    memset(around, 0, 4 * sizeof *around);
    YS_TRY(ys_onnx_need_live(step, 0));
    if (ys_onnx_rank(step->r, step->in[0]) == 3) {
        YS_TRY(ys_onnx_take(step, step->in[0], false, &image->value));
        return ys_onnx_image(step, step->in[0], &axis, 1, image);
    }
    YS_TRY(need_image(step, 0));
    YS_TRY(take_padded(step, &image->value, around));
    image->as_it_is = true;
    image->rank = 4;
    for (int i = 0; i < YS_MAX_RANK; i++)
        image->order[i] = image->seen[i] = i;
    return YS_OK;
}

/* A node that reads it, with its window. */
static ys_status end_windows(struct ys_onnx_step *step, struct ys_onnx_image *image, int node)
{
    struct ys_graph *graph = step->r->graph;
    if (image->rank == 3) {
        YS_TRY(ys_compose_infer(graph, node, graph->name));
        const struct ys_value *made = &graph->values[graph->nodes[node].out[0]];
        image->shape[1] = made->shape[1];
        image->shape[2] = made->shape[3];
    }
    return ys_onnx_end_image(step, image, node);
}

static ys_status conv_params(struct ys_onnx_step *step, int node, struct ys_onnx_constant *weight,
                             struct ys_onnx_constant *bias)
{
    const int64_t *given = weight->shape, length = given[weight->rank - 1];
    const int64_t shape[4] = {given[0], given[1], weight->rank == 3 ? 1 : given[2], length};
    YS_TRY(ys_onnx_plain_param(step, node, YS_NODE_WEIGHT, weight, shape, 4));
    return bias ? ys_onnx_vector(step, node, YS_NODE_BIAS, bias) : YS_OK;
}

ys_status ys_onnx_conv(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *weight, *bias;
    struct ys_onnx_image image = {0};
    struct windows windows;
    int64_t around[4];
    int node;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "weight", &weight));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    if (rank != 3)
        YS_TRY(need_image(step, 0));
    if (weight->rank != rank || !weight->is_real)
        return YS_FAIL_STEP(step, "its weight has %zu dimensions, not %zu", weight->rank, rank);
    YS_TRY(need_bias(step, weight->shape[0], &bias));
    YS_TRY(take_image(step, &image, around));
    int64_t shape[4];
    memcpy(shape, step->r->graph->values[image.value].shape, sizeof shape);
    for (size_t i = 0; i < 4; i++)
        shape[2 + i % 2] += around[i];
    YS_TRY(read_windows(step, rank == 3 ? shape + 1 : shape, rank, weight->shape + 2, &windows));
    YS_TRY(ys_onnx_begin_image(step, YS_OP_CONV, &image, "/conv", &node));
    struct ys_window *w = &step->r->graph->nodes[node].window;
    set_window(&windows, 0, rank == 3, windows.axes, w);
    YS_TRY(ys_onnx_integer(step->node, "group", &w->group));
    if (w->group < 1 || w->group > YS_GRAPH_MAX_WINDOW)
        return YS_FAIL_STEP(step, "attribute group is %lld", (long long)w->group);
    for (size_t i = 0; i < 4; i++)
        w->pad[i] += around[i];
    YS_TRY(conv_params(step, node, weight, bias));
    return end_windows(step, &image, node);
}

/* Operator sets and runtimes disagree about ceil_mode where a window would begin behind the image, and where it counts
 * what lies beyond the padding. Elsewhere it says the same everywhere. */
static ys_status check_ceil(struct ys_onnx_step *step, const struct windows *w, bool counts)
{
    for (size_t d = 0; d < w->axes; d++) {
        int64_t room = w->extent[d] + w->pad[d] + w->pad[d + w->axes] - (w->kernel[d] - 1) * w->dilation[d] - 1;
        int64_t last = (room + w->stride[d] - 1) / w->stride[d] * w->stride[d];
        if (room < 0)
            return YS_OK; /* the shape rule says so */
        if (last >= w->extent[d] + w->pad[d])
            return YS_FAIL_STEP(step, "%s",
                                "attribute ceil_mode makes a window that begins behind the image: export without "
                                "it");
        if (counts && last > room)
            return YS_FAIL_STEP(step, "%s",
                                "attributes ceil_mode and count_include_pad: operator sets disagree about what "
                                "they mean together");
    }
    return YS_OK;
}

/* A pool over three axes is one over height and width, then one over depth: the largest of the largest, the mean of
 * means over as many, and what counts is a box in either case. */
static ys_status pool_volume(struct ys_onnx_step *step, enum ys_op op, const struct windows *windows,
                             const struct ys_window *flags)
{
    struct ys_graph *graph = step->r->graph;
    int value, node;
    YS_TRY(ys_onnx_take(step, step->in[0], false, &value));
    const int64_t *in = graph->values[value].shape;
    const int64_t channels = in[1], depth = in[2];
    const int64_t slices[4] = {YS_BATCH, channels * depth, in[3], in[4]};
    YS_TRY(ys_onnx_reshape_extra(step, "/slices", slices, 4, &value));
    YS_TRY(ys_onnx_begin_extra(step, op, value, "/slice", &node));
    graph->nodes[node].window = *flags;
    set_window(windows, 1, 0, 2, &graph->nodes[node].window);
    YS_TRY(ys_onnx_end(step->r, node, &value));
    const int64_t height = graph->values[value].shape[2], width = graph->values[value].shape[3];
    const int64_t columns[4] = {YS_BATCH, channels, depth, height * width};
    YS_TRY(ys_onnx_reshape_extra(step, "/columns", columns, 4, &value));
    YS_TRY(ys_onnx_begin_extra(step, op, value, "/column", &node));
    graph->nodes[node].window = *flags;
    set_window(windows, 0, 0, 1, &graph->nodes[node].window);
    YS_TRY(ys_onnx_end(step->r, node, &value));
    YS_TRY(ys_onnx_begin(step, YS_OP_RESHAPE, &value, 1, 1, &node));
    const int64_t made[5] = {YS_BATCH, channels, graph->values[value].shape[2], height, width};
    graph->nodes[node].shape_rank = 5;
    memcpy(graph->nodes[node].shape, made, sizeof made);
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

/* What a pool says beside its windows. */
static ys_status read_pool(struct ys_onnx_step *step, bool is_max, struct ys_window *w)
{
    int64_t ceil_mode = 0, include_pad = 0, order = 0;
    *w = (struct ys_window){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};
    YS_TRY(ys_onnx_integer(step->node, "ceil_mode", &ceil_mode));
    YS_TRY(ys_onnx_integer(step->node, "count_include_pad", &include_pad));
    YS_TRY(ys_onnx_integer(step->node, "storage_order", &order));
    if (order != 0)
        return YS_FAIL_STEP(step, "attribute storage_order is %lld", (long long)order);
    w->ceil = ceil_mode != 0;
    w->include_pad = !is_max && include_pad != 0;
    return YS_OK;
}

/* Zeros of a Pad before a pool, which count. */
static ys_status count_padding(struct ys_onnx_step *step, const int64_t around[4], struct ys_window *w)
{
    if ((w->pad[0] || w->pad[1] || w->pad[2] || w->pad[3]) && !w->include_pad)
        return YS_FAIL_STEP(step, "%s", "has padding that does not count, behind a Pad, whose zeros do");
    for (size_t i = 0; i < 4; i++)
        w->pad[i] += around[i];
    w->include_pad = true;
    return YS_OK;
}

ys_status ys_onnx_pool(struct ys_onnx_step *step)
{
    const bool is_max = step->node->op[0] == 'M';
    const enum ys_op op = is_max ? YS_OP_MAXPOOL : YS_OP_AVERAGEPOOL;
    struct ys_onnx_image image = {0};
    struct ys_window w;
    struct windows windows;
    int64_t around[4];
    int node;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    if (rank != 3 && rank != 5)
        YS_TRY(need_image(step, 0));
    if (is_max) /* in which zeros of a Pad could win */
        YS_TRY(ys_onnx_make_padded(step, step->in[0]));
    const bool padded = ys_onnx_is_padded(step->in[0]);
    int64_t shape[YS_MAX_RANK] = {YS_BATCH};
    for (size_t i = 1; i < rank; i++)
        shape[i] = ys_onnx_extent(step->r, step->in[0], i);
    for (size_t i = 0; padded && i < 2; i++)
        shape[i + 2] += step->in[0]->pads[i] + step->in[0]->pads[i + 2];
    YS_TRY(read_pool(step, is_max, &w));
    YS_TRY(read_windows(step, shape, rank, NULL, &windows));
    if (w.ceil)
        YS_TRY(check_ceil(step, &windows, !is_max && (w.include_pad || padded)));
    if (rank == 5)
        return pool_volume(step, op, &windows, &w);
    set_window(&windows, 0, rank == 3, windows.axes, &w);
    YS_TRY(take_image(step, &image, around));
    if (padded)
        YS_TRY(count_padding(step, around, &w));
    YS_TRY(ys_onnx_begin_image(step, op, &image, "/pool", &node));
    step->r->graph->nodes[node].window = w;
    return end_windows(step, &image, node);
}

/* What a Pad says, by axes of the value that it reads. */
static ys_status read_pads(struct ys_onnx_step *step, struct ys_pad *pad)
{
    char mode[32] = "constant";
    int64_t pads[2 * YS_MAX_RANK], axes[YS_MAX_RANK];
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    size_t count = 0, named = rank;
    unsigned seen = 0;
    struct ys_onnx_constant *amounts, *value, *which;
    YS_TRY(ys_onnx_word(step->node, "mode", mode));
    YS_TRY(ys_onnx_constant_in(step, 1, &amounts));
    YS_TRY(ys_onnx_constant_in(step, 2, &value));
    YS_TRY(ys_onnx_constant_in(step, 3, &which));
    YS_TRY(ys_onnx_numbers(&step->r->folding, step->node, amounts, step->r->file->opset < 2 ? "paddings" : "pads", pads,
                           2 * YS_MAX_RANK, &count));
    YS_TRY(ys_onnx_real(step->node, "value", &pad->value));
    if (value && value->count == 1)
        pad->value = ys_onnx_constant_real(value, 0);
    for (size_t i = 0; i < rank; i++)
        axes[i] = (int64_t)i;
    if (which)
        YS_TRY(ys_onnx_numbers(&step->r->folding, step->node, which, "axes", axes, YS_MAX_RANK, &named));
    while (pad->mode < YS_PAD_MODE_COUNT && strcmp(mode, ys_pad_mode_name(pad->mode)) != 0)
        pad->mode++;
    if (pad->mode == YS_PAD_MODE_COUNT || !(pad->value > -1e30 && pad->value < 1e30))
        return YS_FAIL_STEP(step,
                            "mode %s with the value %g: graphs have constant, reflect and edge, and finite values",
                            mode, pad->value);
    if (count != 2 * named)
        return YS_FAIL_STEP(step, "has %zu pads, not %zu", count, 2 * named);
    pad->rank = rank;
    for (size_t i = 0; i < named; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i];
        if (axis < 0 || axis >= (int64_t)rank || pads[i] < 0 || pads[i + named] < 0 || pads[i] > YS_GRAPH_MAX_WINDOW ||
            pads[i + named] > YS_GRAPH_MAX_WINDOW || (axis == 0 && (pads[i] || pads[i + named])))
            return YS_FAIL_STEP(step, "pads by %lld and %lld along axis %lld: must be 0 or more, and 0 for the batch",
                                (long long)pads[i], (long long)pads[i + named], (long long)axes[i]);
        if (seen & 1U << axis)
            return YS_FAIL_STEP(step, "axes has axis %lld twice", (long long)axis);
        seen |= 1U << axis;
        pad->before[step->in[0]->perm[axis]] = pads[i];
        pad->after[step->in[0]->perm[axis]] = pads[i + named];
    }
    return YS_OK;
}

/* Zeros around images may be padding of the node behind it. Yardstick's own files say apart what is apart in the graph.
 */
static bool may_join(const struct ys_onnx_step *step, const struct ys_pad *pad)
{
    static const char marked[] = "/padded";
    const size_t length = strlen(step->node->name);
    const bool is_own = step->r->own && (length < sizeof marked ||
                                         strcmp(step->node->name + length - (sizeof marked - 1), marked) != 0);
    return !is_own && pad->rank == 4 && pad->mode == YS_PAD_CONSTANT && pad->value == 0 && !pad->before[1] &&
           !pad->after[1];
}

ys_status ys_onnx_pad(struct ys_onnx_step *step)
{
    struct ys_pad pad = {.mode = YS_PAD_CONSTANT};
    int in, node, value;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_settle(step, step->in[0]));
    YS_TRY(read_pads(step, &pad));
    if (may_join(step, &pad)) {
        const struct ys_onnx_slot *slot = step->in[0];
        ys_onnx_set(step, slot->value, slot);
        for (size_t i = 0; i < 2; i++) {
            step->out->pads[i] = slot->pads[i] + pad.before[2 + i];
            step->out->pads[2 + i] = slot->pads[2 + i] + pad.after[2 + i];
        }
        step->out->pixels = slot->pixels;
        step->out->maker = step->node;
        ys_onnx_note(step->r, "node %.100s (Pad) is padding of the node behind it, where that has one",
                     step->node->name);
        return YS_OK;
    }
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, YS_OP_PAD, &in, 1, 1, &node));
    step->r->graph->nodes[node].pad = pad;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

/* Paddings that give the output of a transposed convolution the extent that its attributes ask for. */
static ys_status find_output(struct ys_onnx_step *step, const struct windows *w, int64_t extra[2], int64_t pad[4])
{
    char how[32] = "NOTSET";
    int64_t shape[2] = {0};
    size_t count = 0;
    YS_TRY(ys_onnx_word(step->node, "auto_pad", how));
    YS_TRY(ys_onnx_integers(step->node, "output_shape", shape, 2, &count));
    if (count != 0 && count != w->axes)
        return YS_FAIL_STEP(step, "attribute output_shape has %zu numbers, not %zu", count, w->axes);
    const bool is_same = strncmp(how, "SAME", 4) == 0;
    for (size_t d = 0; d < w->axes && (count || is_same); d++) {
        const int64_t wanted = count ? shape[d] : w->extent[d] * w->stride[d];
        const int64_t whole = (w->extent[d] - 1) * w->stride[d] + extra[d] + (w->kernel[d] - 1) * w->dilation[d] + 1;
        if (wanted < 1 || wanted > whole + w->stride[d] - 1 - extra[d])
            return YS_FAIL_STEP(step, "attribute output_shape asks for %lld of %lld", (long long)wanted,
                                (long long)whole);
        const int64_t cut = whole - wanted;
        extra[d] += cut < 0 ? -cut : 0;
        const int64_t small = cut > 0 ? cut / 2 : 0, large = cut > 0 ? cut - small : 0;
        pad[d] = strcmp(how, "SAME_UPPER") == 0 ? small : large;
        pad[d + 2] = strcmp(how, "SAME_UPPER") == 0 ? large : small;
    }
    return YS_OK;
}

ys_status ys_onnx_conv_transpose(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *weight, *bias;
    struct windows windows;
    int64_t extra[2] = {0};
    int in, node, value;
    YS_TRY(need_image(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "weight", &weight));
    if (weight->rank != 4 || !weight->is_real)
        return YS_FAIL_STEP(step, "its weight has %zu dimensions, not 4", weight->rank);
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    int64_t group = 1;
    YS_TRY(ys_onnx_integer(step->node, "group", &group));
    if (group < 1 || group > YS_GRAPH_MAX_WINDOW)
        return YS_FAIL_STEP(step, "attribute group is %lld", (long long)group);
    YS_TRY(need_bias(step, weight->shape[1] * group, &bias));
    YS_TRY(read_unpadded(step, step->r->graph->values[in].shape, 4, weight->shape + 2, &windows));
    YS_TRY(read_sizes(step, "output_padding", 0, extra, 2));
    YS_TRY(find_output(step, &windows, extra, windows.pad));
    YS_TRY(ys_onnx_begin(step, YS_OP_CONV_TRANSPOSE, &in, 1, 1, &node));
    struct ys_window *w = &step->r->graph->nodes[node].window;
    set_window(&windows, 0, 0, 2, w);
    w->group = group;
    memcpy(w->extra, extra, sizeof extra);
    YS_TRY(conv_params(step, node, weight, bias));
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
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
