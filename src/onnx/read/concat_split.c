/* Values joined and taken apart along an axis, means over axes, and shapes as constants. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <string.h>

static ys_status concat_some(struct ys_onnx_step *step, const int *in, size_t count, int64_t axis, bool last,
                             int *value)
{
    int node;
    if (last) {
        YS_TRY(ys_onnx_begin(step, YS_OP_CONCAT, in, count, 1, &node));
    } else {
        YS_TRY(ys_onnx_begin_extra(step, YS_OP_CONCAT, in[0], "/part", &node));
        step->r->graph->nodes[node].in_count = count;
        memcpy(step->r->graph->nodes[node].in, in, count * sizeof *in);
    }
    step->r->graph->nodes[node].axis = (int)axis;
    return ys_onnx_end(step->r, node, value);
}

/* Constants that are the same in every row, as values: what is joined to each row, as a class token is. */
static ys_status spread_constants(struct ys_onnx_step *step, int64_t given)
{
    struct ys_onnx_slot *live = NULL, *made;
    size_t axis, apart;
    for (size_t i = step->node->in_count; i-- > 0;)
        live = step->in[i] && step->in[i]->kind == YS_ONNX_LIVE ? step->in[i] : live;
    for (size_t i = 0; live && i < step->node->in_count; i++) {
        if (!step->in[i] || step->in[i]->kind != YS_ONNX_CONSTANT || !step->in[i]->constant->rows_axis)
            continue;
        YS_TRY(ys_onnx_axis(step, live, given, &axis, &apart));
        made = ys_onnx_file_keep(step->r->file, 1, sizeof *made);
        YS_TRY(ys_onnx_of_rows(step, step->in[i]->constant, live, apart, made));
        step->in[i] = made;
    }
    return YS_OK;
}

ys_status ys_onnx_concat(struct ys_onnx_step *step)
{
    int64_t given = 1; /* the default of operator sets below 4 */
    int in[YS_NODE_MAX_IN], value = -1, along;
    size_t held = 0, axis, apart;
    bool alike = true;
    YS_TRY(ys_onnx_integer(step->node, "axis", &given));
    YS_TRY(spread_constants(step, given));
    for (size_t i = 0; i < step->node->in_count; i++) {
        YS_TRY(ys_onnx_need_live(step, i));
        alike = alike && memcmp(step->in[i]->perm, step->in[0]->perm, sizeof step->in[0]->perm) == 0;
    }
    YS_TRY(ys_onnx_axis(step, step->in[0], given, &axis, &apart));
    for (size_t i = 0; i < step->node->in_count && !alike; i++)
        YS_TRY(ys_onnx_take_behind(step, step->in[i], &along)); /* all are seen in one way then */
    const struct ys_onnx_slot like = *step->in[0];
    along = like.perm[apart];
    for (size_t i = 0; i < step->node->in_count; i++) {
        YS_TRY(ys_onnx_take(step, step->in[i], true, &in[held++]));
        const bool last = i + 1 == step->node->in_count;
        if (held == 1 && last) {
            value = in[0];
        } else if (held == YS_NODE_MAX_IN || last) {
            YS_TRY(concat_some(step, in, held, along, last, &value));
            in[0] = value;
            held = 1;
        }
    }
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

/* The extents of a Split: as given, or equal parts, the last one smaller where they do not come out even. */
static ys_status read_parts(struct ys_onnx_step *step, int64_t extent, int64_t *parts)
{
    struct ys_onnx_constant *given;
    size_t wanted = step->node->out_count, count = 0;
    YS_TRY(ys_onnx_constant_in(step, 1, &given));
    YS_TRY(ys_onnx_numbers(&step->r->folding, step->node, given, "split", parts, YS_ONNX_MAX_PIECES, &count));
    int64_t part = (extent + (int64_t)wanted - 1) / (int64_t)wanted;
    for (size_t i = count; i < wanted && count == 0; i++)
        parts[i] = i + 1 < wanted ? part : extent - part * (int64_t)(wanted - 1);
    if (count && count != wanted)
        return YS_FAIL_STEP(step, "has %zu outputs and %zu extents", wanted, count);
    for (size_t i = 0; i < wanted; i++)
        if (parts[i] < 1 || parts[i] > extent)
            return YS_FAIL_STEP(step, "output %zu has the extent %lld of %lld", i, (long long)parts[i],
                                (long long)extent);
    return YS_OK;
}

ys_status ys_onnx_split(struct ys_onnx_step *step)
{
    int64_t given = 0, parts[YS_ONNX_MAX_PIECES];
    int in, made[YS_ONNX_MAX_PIECES];
    size_t axis, apart;
    const size_t count = step->node->out_count;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "axis", &given));
    YS_TRY(ys_onnx_axis(step, step->in[0], given, &axis, &apart));
    if (count < 2 || count > YS_ONNX_MAX_PIECES)
        return YS_FAIL_STEP(step, "makes %zu values: 2 to %d are read", count, YS_ONNX_MAX_PIECES);
    YS_TRY(read_parts(step, ys_onnx_extent(step->r, step->in[0], apart), parts));
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_split_into(step, in, like.perm[apart], parts, step->node->out, count, made));
    for (size_t k = 0; k < count; k++) {
        struct ys_onnx_step one = *step;
        if (!step->node->out[k][0]) /* left out: nothing reads it */
            continue;
        one.out = &step->r->slots[ys_json_get_int(step->r->names, step->node->out[k], 0)];
        ys_onnx_set(&one, made[k], &like);
        one.out->rows = like.rows;
    }
    return YS_OK;
}

/* The axes of a mean, as the file has them: marked where `perm` has them. */
static ys_status read_axes(struct ys_onnx_step *step, bool marked[YS_MAX_RANK], size_t *count)
{
    struct ys_onnx_constant *in;
    int64_t axes[YS_MAX_RANK];
    size_t axis, apart;
    *count = 0;
    YS_TRY(ys_onnx_constant_in(step, 1, &in));
    YS_TRY(ys_onnx_numbers(&step->r->folding, step->node, in, "axes", axes, YS_MAX_RANK, count));
    for (size_t i = 0; i < *count; i++) {
        YS_TRY(ys_onnx_axis(step, step->in[0], axes[i], &axis, &apart));
        if (marked[apart])
            return YS_FAIL_STEP(step, "axes has axis %zu twice", axis);
        marked[apart] = true;
    }
    return YS_OK;
}

/* Whether the node has no axes, and says that it then does nothing. */
static ys_status find_noop(struct ys_onnx_step *step, bool *is_noop)
{
    bool marked[YS_MAX_RANK] = {false};
    int64_t noop = 0;
    size_t count;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "noop_with_empty_axes", &noop));
    YS_TRY(read_axes(step, marked, &count));
    *is_noop = noop != 0 && count == 0;
    return YS_OK;
}

/* How the file sees the means without the axes that are gone. */
static void leave_out(struct ys_onnx_step *step, const struct ys_onnx_slot *like, const bool *marked, size_t rank)
{
    struct ys_onnx_slot *out = step->out;
    size_t left = 0, before = 0;
    for (size_t i = 0; i < rank; i++) {
        int lower = 0;
        for (size_t k = 0; k < rank; k++)
            lower += marked[k] && like->perm[k] < like->perm[i];
        before += marked[i] && i < like->rows.first;
        if (!marked[i])
            out->perm[left++] = like->perm[i] - lower;
    }
    out->rows.first -= before;
    if (!out->rows.each && out->perm[0] == 0)
        out->rows.maker = NULL;
}

/* Whether a mean is that of each channel's pixels, by another name. Of yardstick's own files it keeps its name. */
static bool is_pool(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, const bool *marked)
{
    bool fits = !r->own && ys_onnx_rank(r, slot) == 4;
    for (int i = 0; fits && i < 4; i++)
        fits = marked[i] == (slot->perm[i] >= 2);
    return fits;
}

/* Without its axes a mean is over all of them, the batch too. */
static ys_status mean(struct ys_onnx_step *step, int64_t *joined)
{
    bool marked[YS_MAX_RANK] = {false}, in_order = true;
    int64_t keepdims = 1;
    int in, node, value, last = 0;
    size_t count;
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    YS_TRY(ys_onnx_integer(step->node, "keepdims", &keepdims));
    YS_TRY(read_axes(step, marked, &count));
    if (count == 0)
        return YS_FAIL_STEP(step, "%s", "names no axes: it would mix the rows of the batch");
    for (size_t i = 0; i < rank; i++) {
        if (marked[i] || step->in[0]->perm[i] == 0)
            continue;
        in_order = in_order && step->in[0]->perm[i] > last;
        last = step->in[0]->perm[i];
    }
    YS_TRY(keepdims || in_order ? ys_onnx_take(step, step->in[0], true, &in)
                                : ys_onnx_take_behind(step, step->in[0], &in));
    const struct ys_onnx_slot like = *step->in[0];
    const bool pools = keepdims && is_pool(step->r, &like, marked);
    YS_TRY(ys_onnx_begin(step, pools ? YS_OP_GLOBAL_AVERAGEPOOL : YS_OP_MEAN, &in, 1, 1, &node));
    for (size_t i = 0; i < rank; i++)
        if (marked[i]) {
            if (!pools)
                step->r->graph->nodes[node].reduced[like.perm[i]] = true;
            *joined *= step->r->graph->values[like.value].shape[like.perm[i]];
        }
    if (!pools)
        step->r->graph->nodes[node].keepdims = keepdims != 0;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, keepdims ? &like : NULL);
    step->out->rows = like.rows;
    if (!keepdims)
        leave_out(step, &like, marked, rank);
    return YS_OK;
}

static ys_status reduce(struct ys_onnx_step *step, bool is_sum)
{
    struct ys_onnx_slot made = {0};
    struct ys_onnx_step part = *step;
    int64_t joined = 1;
    bool is_noop;
    YS_TRY(find_noop(step, &is_noop));
    if (is_noop) {
        ys_onnx_alias(step, step->in[0]);
        return YS_OK;
    }
    if (!is_sum)
        return mean(step, &joined);
    part.out = &made;
    YS_TRY(mean(&part, &joined));
    const struct ys_onnx_affine times = {.factor = (double)joined};
    step->out->rows = made.rows;
    return ys_onnx_affine(step, &made, &times);
}

ys_status ys_onnx_mean(struct ys_onnx_step *step)
{
    return reduce(step, false);
}

/* The sum is the mean times how many there are; of truths of tokens it is how long rows are. */
ys_status ys_onnx_sum(struct ys_onnx_step *step)
{
    bool marked[YS_MAX_RANK] = {false};
    int64_t keepdims = 1;
    size_t count;
    YS_TRY(ys_onnx_need_live(step, 0));
    if (step->in[0]->curve == YS_ONNX_ONES) {
        YS_TRY(ys_onnx_integer(step->node, "keepdims", &keepdims));
        YS_TRY(read_axes(step, marked, &count));
        if (count == 1 && !keepdims)
            return ys_onnx_measure_rows(step);
    }
    return reduce(step, true);
}

/* The root of the sum of squares. */
ys_status ys_onnx_length(struct ys_onnx_step *step)
{
    struct ys_onnx_slot squares, made = {0}, *in[2] = {&squares, step->node->in_count > 1 ? step->in[1] : NULL};
    struct ys_onnx_step part = *step;
    int value, node;
    bool is_noop;
    YS_TRY(find_noop(step, &is_noop));
    if (is_noop)
        return YS_FAIL_STEP(step, "%s", "names no axes and is the absolute value then: write Abs");
    YS_TRY(ys_onnx_take(step, step->in[0], true, &value));
    squares = *step->in[0];
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_POW, value, "/squares", &node));
    step->r->graph->nodes[node].exponent = 2;
    YS_TRY(ys_onnx_end(step->r, node, &squares.value));
    part.in = in;
    part.out = &made;
    YS_TRY(reduce(&part, true));
    YS_TRY(ys_onnx_take(step, &made, true, &value));
    YS_TRY(ys_onnx_emit(step, YS_OP_SQRT, &value, 1, &made));
    step->out->rows = made.rows;
    return YS_OK;
}

/* The largest along some axes: of an image whose channels are the other ones. */
ys_status ys_onnx_max(struct ys_onnx_step *step)
{
    struct ys_onnx_slot made = {0};
    struct ys_onnx_step part = *step;
    struct ys_onnx_image image;
    bool marked[YS_MAX_RANK] = {false}, reduced[YS_MAX_RANK] = {false}, is_noop;
    size_t front[YS_MAX_RANK], front_count = 0, count, left = 0;
    int64_t keepdims = 1, shape[YS_MAX_RANK];
    int node, value;
    YS_TRY(find_noop(step, &is_noop));
    if (is_noop) {
        ys_onnx_alias(step, step->in[0]);
        return YS_OK;
    }
    YS_TRY(ys_onnx_integer(step->node, "keepdims", &keepdims));
    YS_TRY(read_axes(step, marked, &count));
    if (count == 0)
        return YS_FAIL_STEP(step, "%s", "names no axes: it would mix the rows of the batch");
    YS_TRY(ys_onnx_take(step, step->in[0], true, &value));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    for (size_t i = 0; i < rank; i++)
        reduced[step->in[0]->perm[i]] = marked[i];
    for (size_t i = 1; i < rank; i++)
        if (!reduced[i])
            front[front_count++] = i;
    YS_TRY(ys_onnx_image(step, step->in[0], front, front_count, &image));
    YS_TRY(ys_onnx_begin_image(step, YS_OP_GLOBAL_MAXPOOL, &image, "/max", &node));
    for (size_t i = 1 + front_count; i < rank; i++)
        image.shape[i] = 1;
    if (keepdims)
        return ys_onnx_end_image(step, &image, node);
    part.out = &made;
    YS_TRY(ys_onnx_end_image(&part, &image, node));
    YS_TRY(ys_onnx_take_behind(step, &made, &value));
    for (size_t i = 0; i < rank; i++)
        if (!marked[i])
            shape[left++] = step->r->graph->values[value].shape[i];
    if (left < 2)
        return YS_FAIL_STEP(step, "%s", "leaves nothing but the batch: keep the axes of extent 1 (keepdims)");
    YS_TRY(ys_onnx_reshape_extra(step, "/squeezed", shape, left, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

ys_status ys_onnx_shape(struct ys_onnx_step *step)
{
    const struct ys_onnx_constant like = {.type = YS_ONNX_INT64};
    YS_TRY(ys_onnx_need_live(step, 0));
    if (step->in[0]->curve == YS_ONNX_SLICE || step->in[0]->curve == YS_ONNX_SEQUENCE ||
        step->in[0]->curve == YS_ONNX_FLAT)
        YS_TRY(ys_onnx_settle(step, step->in[0]));
    YS_TRY(ys_onnx_make_padded(step, step->in[0]));
    const int64_t rank = (int64_t)ys_onnx_file_rank(step->r, step->in[0]);
    int64_t start = 0, end = rank;
    YS_TRY(ys_onnx_integer(step->node, "start", &start));
    YS_TRY(ys_onnx_integer(step->node, "end", &end));
    start = start < 0 ? start + rank : start;
    end = end < 0 ? end + rank : end > rank ? rank : end;
    if (start < 0 || start > rank || end < start)
        return YS_FAIL_STEP(step, "start %lld and end %lld of a shape of %lld", (long long)start, (long long)end,
                            (long long)rank);
    const int64_t count = end - start;
    YS_TRY(ys_onnx_constant_new(&step->r->folding, &like, &count, 1, &step->out->constant));
    for (int64_t i = 0; i < count; i++)
        step->out->constant->wholes[i] = ys_onnx_file_extent(step->r, step->in[0], (size_t)(start + i));
    const struct ys_onnx_slot *in = step->in[0];
    if ((in->curve == YS_ONNX_SCORES || in->curve == YS_ONNX_SHARES) && count > 0 && end == rank) /* the keys */
        step->out->constant->wholes[count - 1].fixed =
            step->r->graph->values[in->attending->key.value].shape[in->attending->key.perm[rank - 1]];
    step->out->kind = YS_ONNX_CONSTANT;
    return YS_OK;
}
