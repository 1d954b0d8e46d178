/* Slice of values: pieces of one axis that together are the whole of it are a Split. */
#include "base/mem.h"
#include "onnx/reading.h"

#include <stdlib.h>
#include <string.h>

static ys_status read_list(struct ys_onnx_step *step, size_t i, const char *name, int64_t *values, size_t *count)
{
    struct ys_onnx_constant *given;
    *count = 0;
    YS_TRY(ys_onnx_constant_in(step, i, &given));
    return ys_onnx_numbers(&step->r->folding, step->node, given, name, values, YS_MAX_RANK, count);
}

static int64_t clamp(int64_t at, int64_t extent)
{
    at = at < 0 ? at + extent : at;
    return at < 0 ? 0 : at > extent ? extent : at;
}

/* The one axis along which it takes a piece, as the file counts; -1: it takes all. */
static ys_status read_piece(struct ys_onnx_step *step, int64_t *axis, int64_t *start, int64_t *end)
{
    int64_t starts[YS_MAX_RANK], ends[YS_MAX_RANK], axes[YS_MAX_RANK], steps[YS_MAX_RANK];
    size_t count, end_count, axis_count, step_count;
    const int64_t rank = (int64_t)ys_onnx_rank(step->r, step->in[0]);
    YS_TRY(read_list(step, 1, "starts", starts, &count));
    YS_TRY(read_list(step, 2, "ends", ends, &end_count));
    YS_TRY(read_list(step, 3, "axes", axes, &axis_count));
    YS_TRY(read_list(step, 4, "steps", steps, &step_count));
    if (count != end_count || (axis_count && axis_count != count) || (step_count && step_count != count))
        return YS_FAIL_STEP(step, "has %zu starts, %zu ends, %zu axes and %zu steps", count, end_count, axis_count,
                            step_count);
    *axis = -1;
    for (size_t i = 0; i < count; i++) {
        int64_t along = axis_count ? axes[i] : (int64_t)i;
        along = along < 0 ? along + rank : along;
        if (along < 0 || along >= rank || (step_count && steps[i] != 1))
            return YS_FAIL_STEP(step, "axis %lld, step %lld: graphs have pieces of neighbours", (long long)along,
                                step_count ? (long long)steps[i] : 1LL);
        const int64_t extent = ys_onnx_extent(step->r, step->in[0], (size_t)along);
        if (along == 0 && starts[i] == 0 && ends[i] >= INT32_MAX)
            continue;
        if (along == 0)
            return YS_FAIL_STEP(step, "%s", "takes some rows of the batch: rows must stay apart");
        if (clamp(starts[i], extent) == 0 && clamp(ends[i], extent) == extent)
            continue;
        if (*axis >= 0)
            return YS_FAIL_STEP(step, "%s", "takes a piece of two axes");
        *axis = along;
        *start = clamp(starts[i], extent);
        *end = clamp(ends[i], extent);
    }
    return YS_OK;
}

static int by_start(const void *a, const void *b)
{
    const struct ys_onnx_slice *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* The pieces of that value and axis as a Split, once they are all there. */
static ys_status split_when_whole(struct ys_onnx_step *step, const struct ys_onnx_slice *last)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_slice parts[YS_NODE_MAX_OUT];
    size_t count = 0, kept = 0;
    int64_t at = 0;
    int node, value;
    for (size_t i = 0; i < r->slice_count && count < YS_NODE_MAX_OUT; i++)
        if (r->slices[i].value == last->value && r->slices[i].axis == last->axis)
            parts[count++] = r->slices[i];
    qsort(parts, count, sizeof *parts, by_start);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].start != at || parts[i].end <= at)
            return YS_OK;
        at = parts[i].end;
    }
    if (count < 2 || at != r->graph->values[last->value].shape[last->axis])
        return YS_OK;
    const char *names[YS_NODE_MAX_OUT];
    for (size_t i = 0; i < count; i++)
        names[i] = parts[i].node->out[0];
    struct ys_onnx_node_in both = *step->node;
    struct ys_onnx_step split = {.r = r, .node = &both};
    both.out = names;
    both.out_count = count;
    YS_TRY(ys_onnx_begin(&split, YS_OP_SPLIT, &last->value, 1, count, &node));
    r->graph->nodes[node].axis = last->axis;
    for (size_t i = 0; i < count; i++)
        r->graph->nodes[node].split[i] = parts[i].end - parts[i].start;
    YS_TRY(ys_onnx_end(r, node, &value));
    for (size_t i = 0; i < count; i++) {
        parts[i].out->value = r->graph->nodes[node].out[i];
        parts[i].out->curve = YS_ONNX_PLAIN;
    }
    for (size_t i = 0; i < r->slice_count; i++)
        if (r->slices[i].value != last->value || r->slices[i].axis != last->axis)
            r->slices[kept++] = r->slices[i];
    r->slice_count = kept;
    return ys_onnx_note(r, "node %.100s (Slice) and %zu others are one Split", step->node->name, count - 1);
}

ys_status ys_onnx_slice(struct ys_onnx_step *step)
{
    struct ys_onnx_reading *r = step->r;
    int64_t axis, start = 0, end = 0;
    int in;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(read_piece(step, &axis, &start, &end));
    if (axis < 0) {
        ys_onnx_alias(step, step->in[0]);
        return YS_OK;
    }
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    struct ys_onnx_slice *larger = ys_realloc(r->slices, r->slice_count + 1, sizeof *larger);
    if (!larger)
        return ys_out_of_memory();
    r->slices = larger;
    const struct ys_onnx_slice slice = {in, step->in[0]->perm[axis], start, end, step->out, step->node};
    larger[r->slice_count++] = slice;
    ys_onnx_set(step, in, step->in[0]);
    step->out->curve = YS_ONNX_SLICE;
    step->out->maker = step->node;
    return split_when_whole(step, &slice);
}
