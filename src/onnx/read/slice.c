/* Slice of values, and parts of a sequence: pieces of one axis that together are the whole of it are a Split. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <stdio.h>
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

/* The one axis of `perm` along which it takes a piece; -1: it takes all. */
static ys_status read_piece(struct ys_onnx_step *step, int64_t *axis, int64_t *start, int64_t *end)
{
    int64_t starts[YS_MAX_RANK], ends[YS_MAX_RANK], axes[YS_MAX_RANK], steps[YS_MAX_RANK];
    size_t count, end_count, axis_count, step_count;
    unsigned seen = 0;
    const int64_t rank = (int64_t)ys_onnx_file_rank(step->r, step->in[0]);
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
        if (seen & 1U << along)
            return YS_FAIL_STEP(step, "axes has axis %lld twice", (long long)along);
        seen |= 1U << along;
        const bool is_batch = (size_t)along == ys_onnx_batch_axis(step->in[0]);
        if (is_batch && starts[i] == 0 && ends[i] >= INT32_MAX)
            continue;
        if (is_batch)
            return YS_FAIL_STEP(step, "%s", "takes some rows of the batch: rows must stay apart");
        const size_t apart = ys_onnx_apart(step->in[0], (size_t)along);
        const int64_t extent = ys_onnx_extent(step->r, step->in[0], apart);
        if (clamp(starts[i], extent) == 0 && clamp(ends[i], extent) == extent)
            continue;
        if (*axis >= 0)
            return YS_FAIL_STEP(step, "%s", "takes a piece of two axes");
        *axis = (int64_t)apart;
        *start = clamp(starts[i], extent);
        *end = clamp(ends[i], extent);
    }
    return YS_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct ys_onnx_slice *left = a, *right = b;
    const int by_end = (left->end > right->end) - (left->end < right->end);
    return left->start != right->start ? (left->start > right->start) - (left->start < right->start) : by_end;
}

ys_status ys_onnx_split_into(struct ys_onnx_step *step, int value, int axis, const int64_t *extents,
                             const char *const *names, size_t count, int *made)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_node_in part = *step->node;
    struct ys_onnx_step some = {.r = r, .node = &part};
    const char *called[YS_NODE_MAX_OUT];
    int node, first;
    for (size_t at = 0; at < count;) {
        const bool is_last = count - at <= YS_NODE_MAX_OUT;
        const size_t outs = is_last ? count - at : YS_NODE_MAX_OUT, whole = is_last ? outs : outs - 1;
        for (size_t k = 0; k < whole; k++)
            called[k] = names[at + k];
        if (!is_last)
            called[whole] = "rest";
        part.out = called;
        part.out_count = outs;
        YS_TRY(ys_onnx_begin(&some, YS_OP_SPLIT, &value, 1, outs, &node));
        r->graph->nodes[node].axis = axis;
        for (size_t k = 0; k < whole; k++)
            r->graph->nodes[node].split[k] = extents[at + k];
        for (size_t k = at + whole; k < count; k++)
            r->graph->nodes[node].split[whole] += extents[k];
        YS_TRY(ys_onnx_end(r, node, &first));
        for (size_t k = 0; k < whole; k++)
            made[at + k] = r->graph->nodes[node].out[k];
        value = r->graph->nodes[node].out[outs - 1];
        at += whole;
    }
    return YS_OK;
}

struct slice_key {
    char text[96];
};

/* By what the newest piece of a value and axis that waits is found, and with `start` the value that a piece became. */
static struct slice_key key_of(const struct ys_onnx_slice *slice, bool is_made)
{
    struct slice_key key;
    const int size = snprintf(key.text, sizeof key.text, "%d %d", slice->value, slice->axis);
    if (is_made)
        snprintf(key.text + size, sizeof key.text - (size_t)size, " %lld %lld", (long long)slice->start,
                 (long long)slice->end);
    return key;
}

/* Lets the pieces be the values of their Split, and whoever asks for one of them again. */
static void set_pieces(struct ys_onnx_reading *r, const struct ys_onnx_slice *parts, const size_t *which, size_t count,
                       const int *made)
{
    for (size_t i = 0; i < count; i++) {
        parts[i].out->value = made[which[i]];
        parts[i].out->curve = YS_ONNX_PLAIN;
        ys_onnx_count_reads(r, parts[i].out);
        ys_json_set_int(r->pieces, key_of(&parts[i], true).text, made[which[i]]);
    }
    ys_json_set_int(r->pieces, key_of(parts, false).text, 0);
}

/* The pieces of that value and axis as a Split, once they are all there. One may be there several times. */
static ys_status split_when_whole(struct ys_onnx_step *step, const struct ys_onnx_slice *last)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_slice parts[YS_ONNX_MAX_PIECES];
    int64_t extents[YS_ONNX_MAX_PIECES], at = 0;
    const char *names[YS_ONNX_MAX_PIECES];
    int made[YS_ONNX_MAX_PIECES];
    size_t which[YS_ONNX_MAX_PIECES], count = 0, kinds = 0;
    for (size_t i = r->slice_count, looked = 0; i > 0 && looked < YS_ONNX_MAX_PIECES; i = r->slices[i - 1].next) {
        if (r->slices[i - 1].out->curve == YS_ONNX_SLICE) /* else it was made alone */
            parts[count++] = r->slices[i - 1];
        looked++;
    }
    qsort(parts, count, sizeof *parts, by_place);
    for (size_t i = 0; i < count; i++) {
        const bool again = i > 0 && parts[i].start == parts[i - 1].start && parts[i].end == parts[i - 1].end;
        if (!again && (parts[i].start != at || parts[i].end <= at))
            return YS_OK;
        if (!again) {
            at = parts[i].end;
            extents[kinds] = parts[i].end - parts[i].start;
            names[kinds++] = parts[i].node->out[0];
        }
        which[i] = kinds - 1;
    }
    if (kinds < 2 || at != r->graph->values[last->value].shape[last->axis])
        return YS_OK;
    YS_TRY(ys_onnx_split_into(step, last->value, last->axis, extents, names, kinds, made));
    set_pieces(r, parts, which, count, made);
    ys_onnx_note(r, "node %.100s (%s) and %zu others are one Split", step->node->name, step->node->op, count - 1);
    return YS_OK;
}

ys_status ys_onnx_piece_alone(struct ys_onnx_reading *r, struct ys_onnx_slot *slot)
{
    const struct ys_onnx_slice slice = r->slices[slot->axis];
    const int64_t extent = r->graph->values[slice.value].shape[slice.axis];
    const int64_t parts[] = {slice.start, slice.end - slice.start, extent - slice.end};
    struct ys_onnx_step step = {.r = r, .node = slice.node};
    const char *const names[] = {"before", slice.node->out[0], "behind"};
    const size_t first = slice.start == 0;
    int made[3];
    if (parts[1] < 1)
        return YS_FAIL_STEP(&step, "takes nothing of axis %d, of %lld: from %lld to %lld", slice.axis,
                            (long long)extent, (long long)slice.start, (long long)slice.end);
    YS_TRY(ys_onnx_split_into(&step, slice.value, slice.axis, parts + first, names + first,
                              3 - first - (slice.end == extent), made + first));
    slot->value = made[1];
    slot->curve = YS_ONNX_PLAIN;
    ys_onnx_count_reads(r, slot);
    ys_json_set_int(r->pieces, key_of(&slice, true).text, made[1]);
    return YS_OK;
}

/* One of the pieces of the value `in`, seen as the step's first input is; made when the others are there. */
static ys_status add_piece(struct ys_onnx_step *step, int in, int64_t axis, int64_t start, int64_t end)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_slice slice = {in, step->in[0]->perm[axis], start, end, step->out, step->node, 0};
    const int made = (int)ys_json_get_int(r->pieces, key_of(&slice, true).text, -1);
    ys_onnx_set(step, made < 0 ? in : made, step->in[0]);
    if (made >= 0)
        return YS_OK;
    struct ys_onnx_slice *larger = ys_grown(r->slices, r->slice_count, &r->slice_room, sizeof *larger);
    r->slices = larger;
    slice.next = (size_t)ys_json_get_int(r->pieces, key_of(&slice, false).text, 0);
    larger[r->slice_count++] = slice;
    ys_json_set_int(r->pieces, key_of(&slice, false).text, (int64_t)r->slice_count);
    step->out->curve = YS_ONNX_SLICE;
    step->out->axis = (int64_t)r->slice_count - 1;
    step->out->maker = step->node;
    return split_when_whole(step, &slice);
}

ys_status ys_onnx_slice(struct ys_onnx_step *step)
{
    int64_t axis, start = 0, end = 0;
    int in;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(read_piece(step, &axis, &start, &end));
    if (axis < 0) {
        ys_onnx_alias(step, step->in[0]);
        return YS_OK;
    }
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    return add_piece(step, in, axis, start, end);
}

ys_status ys_onnx_split_sequence(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *parts;
    int64_t axis = 0;
    int in;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    const int64_t rank = (int64_t)ys_onnx_rank(step->r, step->in[0]), along = axis < 0 ? axis + rank : axis;
    if (along < 1 || along >= rank)
        return YS_FAIL_STEP(step, "axis %lld of %lld dimensions: must be one behind the batch", (long long)axis,
                            (long long)rank);
    YS_TRY(ys_onnx_need_constant(step, 1, "split", &parts));
    if (parts->is_real || parts->rank > 1 || parts->count < 1)
        return YS_FAIL_STEP(step, "%s", "its split is neither an integer nor a list of them");
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    ys_onnx_set(step, in, step->in[0]);
    step->out->curve = YS_ONNX_SEQUENCE;
    step->out->maker = step->node;
    step->out->axis = along;
    step->out->parts = parts;
    return YS_OK;
}

ys_status ys_onnx_sequence_at(struct ys_onnx_step *step)
{
    struct ys_onnx_slot *in = step->in[0];
    struct ys_onnx_constant *index;
    int64_t start = 0, end = 0;
    YS_TRY(ys_onnx_need_live(step, 0));
    if (in->curve != YS_ONNX_SEQUENCE)
        return YS_FAIL_STEP(step, "%s", "reads no sequence of SplitToSequence");
    YS_TRY(ys_onnx_need_constant(step, 1, "position", &index));
    const struct ys_onnx_constant *parts = in->parts;
    const int64_t extent = ys_onnx_extent(step->r, in, (size_t)in->axis);
    const int64_t at = index->is_real || index->count != 1 ? -1 : ys_onnx_constant_whole(index, 0).fixed;
    const bool is_listed = parts->rank && parts->count < YS_ONNX_MAX_PIECES; /* of more no Split is made */
    const int64_t count = is_listed ? parts->count : YS_ONNX_MAX_PIECES;
    bool is_there = at >= 0 && at < count;
    for (int64_t i = 0; is_there && i <= at; i++) {
        const int64_t part = ys_onnx_constant_whole(parts, parts->rank ? i : 0).fixed;
        start = end;
        is_there = part > 0 && start < extent && (!parts->rank || part <= extent - start);
        end = part > extent - start ? extent : start + part;
    }
    if (!is_there)
        return YS_FAIL_STEP(step, "position %lld is none of the parts along axis %lld of %lld", (long long)at,
                            (long long)in->axis, (long long)extent);
    return add_piece(step, in->value, in->axis, start, end);
}
