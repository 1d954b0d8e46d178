/* What moves elements: shapes, transpositions, concatenations; and means over axes. */
#include "onnx/reading.h"

#include <string.h>

static ys_status wrap_axis(struct ys_onnx_step *step, int64_t *axis, size_t rank)
{
    int64_t given = *axis;
    if (*axis < 0 && *axis >= -(int64_t)rank)
        *axis += (int64_t)rank;
    if (*axis < 0 || *axis >= (int64_t)rank)
        return YS_FAIL_STEP(step, "axis %lld is beyond the %zu dimensions of its input", (long long)given, rank);
    if (*axis == 0)
        return YS_FAIL_STEP(step, "%s", "works along axis 0, the batch: rows must stay apart");
    return YS_OK;
}

/* Everything that gives the elements of input 0 another shape; shape[0] is the batch. */
static ys_status reshape_to(struct ys_onnx_step *step, const int64_t *shape, size_t rank)
{
    struct ys_onnx_reading *r = step->r;
    int in, node, value;
    if (rank < 2)
        return YS_FAIL_STEP(step, "%s", "leaves nothing but the batch");
    YS_TRY(ys_onnx_take_flat(step, step->in[0], &in));
    const struct ys_value *v = &r->graph->values[in];
    if (!r->own && v->rank == rank && memcmp(v->shape, shape, rank * sizeof *shape) == 0) {
        ys_onnx_set(step, in, NULL);
        return YS_OK;
    }
    const bool flat = rank == 2 && !r->own;
    YS_TRY(ys_onnx_begin(step, flat ? YS_OP_FLATTEN : YS_OP_RESHAPE, &in, 1, 1, &node));
    if (!flat) {
        r->graph->nodes[node].shape_rank = rank;
        memcpy(r->graph->nodes[node].shape, shape, rank * sizeof *shape);
    }
    YS_TRY(ys_onnx_end(r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

struct target { /* of a Reshape */
    int64_t shape[YS_MAX_RANK];
    size_t rank, open; /* which one is -1; YS_MAX_RANK: none */
    int64_t known;     /* product of those behind the first */
    int64_t folded;    /* rows of axis 0 for each of the batch, where the shape is computed from it; else 0 */
};

/* Rank and extents as the file has them, also where its axis 0 is two of the value's. */
static size_t rank_in_file(const struct ys_onnx_step *step)
{
    return ys_onnx_rank(step->r, step->in[0]) - (step->in[0]->folded > 0);
}

static struct ys_onnx_whole extent_in_file(const struct ys_onnx_step *step, size_t axis)
{
    const int64_t folded = step->in[0]->folded;
    if (axis == 0)
        return (struct ys_onnx_whole){0, folded > 0 ? folded : 1};
    return (struct ys_onnx_whole){ys_onnx_extent(step->r, step->in[0], axis + (folded > 0)), 0};
}

/* The shape that a Reshape asks for, the batch as YS_BATCH where it stands as such. */
static ys_status read_target(struct ys_onnx_step *step, struct target *t)
{
    struct ys_onnx_constant *shape = NULL;
    int64_t allowzero = 0, old[YS_MAX_RANK];
    *t = (struct target){.open = YS_MAX_RANK, .known = 1};
    YS_TRY(ys_onnx_integer(step->node, "allowzero", &allowzero));
    YS_TRY(ys_onnx_constant_in(step, 1, &shape));
    if (!shape)
        YS_TRY(ys_onnx_integers(step->node, "shape", old, YS_MAX_RANK, &t->rank));
    else if (shape->is_real || shape->rank != 1 || shape->count > YS_MAX_RANK)
        return YS_FAIL_STEP(step, "its shape has %lld numbers, more than %d", (long long)shape->count, YS_MAX_RANK);
    else
        t->rank = (size_t)shape->count;
    for (size_t i = 0; i < t->rank; i++) {
        struct ys_onnx_whole n = shape ? ys_onnx_constant_whole(shape, (int64_t)i) : (struct ys_onnx_whole){old[i], 0};
        if (n.fixed == 0 && n.each == 0 && !allowzero && i < rank_in_file(step))
            n = extent_in_file(step, i);
        const bool open = n.fixed == -1 && n.each == 0;
        const int64_t extent = n.each ? YS_BATCH : n.fixed;
        if (n.each && (n.fixed || n.each < 0 || (i > 0 && n.each > 1)))
            return YS_FAIL_STEP(step,
                                "makes axis %zu of %lld times the batch and %lld: only axis 0 may be, and no more", i,
                                (long long)n.each, (long long)n.fixed);
        if (i == 0)
            t->folded = n.each;
        if ((i > 0 && extent == YS_BATCH && !open) || (open && t->open < YS_MAX_RANK) || (extent < 1 && extent != -1))
            return YS_FAIL_STEP(step,
                                "asks for dimension %lld as axis %zu: the batch must be axis 0, and one may be open",
                                (long long)extent, i);
        t->shape[i] = extent;
        if (open)
            t->open = i;
        else if (i > 0 && __builtin_mul_overflow(t->known, extent, &t->known))
            return YS_FAIL_STEP(step, "%s", "asks for a shape of more than 2^63 elements");
    }
    return YS_OK;
}

/* All elements in a row: a value that waits for its Gather. */
static ys_status lay_flat(struct ys_onnx_step *step)
{
    int value;
    YS_TRY(ys_onnx_take_flat(step, step->in[0], &value));
    ys_onnx_set(step, value, NULL);
    step->out->curve = YS_ONNX_FLAT;
    step->out->maker = step->node;
    return YS_OK;
}

/* PyTorch's exporter writes as_strided() as a Gather of all elements, by their numbers: where these are those of each
 * row in turn, it is a Reshape. */
ys_status ys_onnx_gather(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *index = NULL;
    int64_t axis = 0, shape[YS_MAX_RANK];
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    if (step->in[0] && step->in[0]->kind == YS_ONNX_LIVE)
        YS_TRY(ys_onnx_constant_in(step, 1, &index));
    if (!index || step->in[0]->curve != YS_ONNX_FLAT || !index->per_row || axis != 0)
        return YS_FAIL_STEP(step, "%s", "is read of constants and shapes only, and this one depends on the data");
    const int64_t row = ys_value_row_elements(&step->r->graph->values[step->in[0]->value]);
    bool in_turn = index->count == row;
    for (int64_t i = 0; in_turn && i < row; i++) {
        const struct ys_onnx_whole at = ys_onnx_constant_whole(index, i);
        in_turn = at.each == row && at.fixed == i;
    }
    if (!in_turn)
        return YS_FAIL_STEP(step, "takes the elements of a row in another order, or not all %lld", (long long)row);
    memcpy(shape, index->shape, sizeof shape);
    shape[0] = YS_BATCH;
    struct ys_onnx_slot whole = *step->in[0];
    whole.curve = YS_ONNX_PLAIN;
    step->in[0] = &whole;
    return reshape_to(step, shape, index->rank);
}

/* How many rows axis 0 gets for each of the batch, and what an open axis is. A batch that the file fixes stands in the
 * shape as a number, or as a factor of it. */
static ys_status find_folded(struct ys_onnx_step *step, struct target *t)
{
    const int64_t row = ys_value_row_elements(&step->r->graph->values[step->in[0]->value]);
    const int64_t fixed = step->r->fixed_batch;
    int64_t made = 0;
    if (t->open == 0)
        t->folded = t->known > 0 ? row / t->known : 0;
    else if (t->folded == 0 && fixed > 0 && t->shape[0] % fixed == 0)
        t->folded = t->shape[0] / fixed;
    if (t->folded > 0 && t->open > 0 && t->open < YS_MAX_RANK && !__builtin_mul_overflow(t->known, t->folded, &made) &&
        made > 0) {
        t->shape[t->open] = row / made;
        t->known *= t->shape[t->open];
    }
    if (t->folded < 1 || __builtin_mul_overflow(t->known, t->folded, &made) || made != row)
        return YS_FAIL_STEP(step,
                            "mixes the batch with other axes: each row has %lld elements, and its shape keeps %lld of "
                            "them apart",
                            (long long)row, (long long)t->known);
    t->shape[0] = YS_BATCH;
    return YS_OK;
}

/* Several rows for each of the batch are an axis of their own behind it. */
static ys_status fold_rows(struct ys_onnx_step *step, struct target *t)
{
    if (t->folded == 1)
        return reshape_to(step, t->shape, t->rank);
    if (t->rank == YS_MAX_RANK)
        return YS_FAIL_STEP(step, "makes %zu dimensions, the first of %lld rows for each of the batch: at most %d",
                            t->rank, (long long)t->folded, YS_MAX_RANK - 1);
    memmove(t->shape + 2, t->shape + 1, (t->rank - 1) * sizeof *t->shape);
    t->shape[1] = t->folded;
    YS_TRY(reshape_to(step, t->shape, t->rank + 1));
    step->out->folded = t->folded;
    step->out->folder = step->in[0]->folded == t->folded ? step->in[0]->folder : step->node;
    if (step->out->folder != step->node)
        return YS_OK;
    return ys_onnx_note(step->r, "node %.100s (%s) makes %lld rows of each: they are an axis behind the batch",
                        step->node->name, step->node->op, (long long)t->folded);
}

ys_status ys_onnx_reshape(struct ys_onnx_step *step)
{
    struct target t;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(read_target(step, &t));
    if (t.rank == 1 && t.open == 0)
        return lay_flat(step);
    if (t.rank < 2)
        return YS_FAIL_STEP(step, "makes a value of %zu dimensions: the batch and another must stay", t.rank);
    YS_TRY(find_folded(step, &t));
    return fold_rows(step, &t);
}

ys_status ys_onnx_flatten(struct ys_onnx_step *step)
{
    int64_t axis = 1;
    int in;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    if (axis < 0)
        axis += (int64_t)rank_in_file(step);
    if (axis != 1)
        return YS_FAIL_STEP(step, "attribute axis is %lld: only 1 keeps the rows apart", (long long)axis);
    if (step->in[0]->folded) {
        const int64_t row = ys_value_row_elements(&step->r->graph->values[step->in[0]->value]);
        struct target t = {{YS_BATCH, row / step->in[0]->folded}, .rank = 2, .folded = step->in[0]->folded};
        return fold_rows(step, &t);
    }
    YS_TRY(ys_onnx_take_flat(step, step->in[0], &in));
    return ys_onnx_emit(step, YS_OP_FLATTEN, &in, 1, NULL);
}

static ys_status read_axes(struct ys_onnx_step *step, size_t rank, bool marked[2 * YS_MAX_RANK], size_t *count)
{
    struct ys_onnx_constant *in;
    int64_t axes[YS_MAX_RANK];
    *count = 0;
    YS_TRY(ys_onnx_constant_in(step, 1, &in));
    YS_TRY(ys_onnx_numbers(&step->r->folding, step->node, in, "axes", axes, YS_MAX_RANK, count));
    for (size_t i = 0; i < *count; i++) {
        YS_TRY(wrap_axis(step, &axes[i], rank + (step->node->op[0] == 'U' ? *count : 0)));
        marked[axes[i]] = true;
    }
    return YS_OK;
}

ys_status ys_onnx_squeeze(struct ys_onnx_step *step)
{
    bool marked[2 * YS_MAX_RANK] = {false};
    int64_t shape[YS_MAX_RANK];
    size_t count, rank = 0;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t before = ys_onnx_rank(step->r, step->in[0]);
    YS_TRY(read_axes(step, before, marked, &count));
    for (size_t i = 0; i < before; i++) {
        int64_t extent = ys_onnx_extent(step->r, step->in[0], i);
        if (marked[i] && extent != 1)
            return YS_FAIL_STEP(step, "axis %zu has the extent %lld, not 1", i, (long long)extent);
        if (!(count ? marked[i] : extent == 1))
            shape[rank++] = extent;
    }
    return reshape_to(step, shape, rank);
}

ys_status ys_onnx_unsqueeze(struct ys_onnx_step *step)
{
    bool marked[2 * YS_MAX_RANK] = {false};
    int64_t shape[YS_MAX_RANK];
    size_t count, next = 0;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t before = ys_onnx_rank(step->r, step->in[0]);
    YS_TRY(read_axes(step, before, marked, &count));
    if (before + count > YS_MAX_RANK)
        return YS_FAIL_STEP(step, "makes more than %d dimensions", YS_MAX_RANK);
    for (size_t i = 0; i < before + count; i++)
        shape[i] = marked[i] || next == before ? 1 : ys_onnx_extent(step->r, step->in[0], next++);
    return reshape_to(step, shape, before + count);
}

/* A graph's own transpositions stay where they are. */
static ys_status transpose_now(struct ys_onnx_step *step, const int64_t *perm, size_t rank)
{
    int in, node, value;
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    YS_TRY(ys_onnx_begin(step, YS_OP_TRANSPOSE, &in, 1, 1, &node));
    for (size_t i = 0; i < rank; i++)
        step->r->graph->nodes[node].permutation[i] = (int)perm[i];
    YS_TRY(ys_onnx_end(step->r, node, &value));
    step->out->pixels = NULL;
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

ys_status ys_onnx_transpose(struct ys_onnx_step *step)
{
    int64_t perm[YS_MAX_RANK];
    unsigned seen = 0;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    size_t count = rank;
    for (size_t i = 0; i < rank; i++)
        perm[i] = (int64_t)(rank - 1 - i);
    YS_TRY(ys_onnx_integers(step->node, "perm", perm, YS_MAX_RANK, &count));
    for (size_t i = 0; i < count; i++) {
        if (count != rank || perm[i] < 0 || perm[i] >= (int64_t)rank || seen & 1U << perm[i])
            return YS_FAIL_STEP(step, "attribute perm does not name each of %zu axes once", rank);
        seen |= 1U << perm[i];
    }
    if (perm[0] != 0)
        return YS_FAIL_STEP(step, "%s", "attribute perm moves the batch from axis 0");
    YS_TRY(ys_onnx_settle(step, step->in[0]));
    const struct ys_onnx_slot in = *step->in[0];
    ys_onnx_set(step, in.value, &in);
    for (size_t i = 0; i < rank; i++)
        step->out->perm[i] = in.perm[perm[i]];
    memcpy(step->out->pads, in.pads, sizeof in.pads);
    step->out->pixels = in.pixels;
    return step->r->own ? transpose_now(step, perm, rank) : YS_OK;
}

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

ys_status ys_onnx_concat(struct ys_onnx_step *step)
{
    int64_t axis = 1; /* the default of operator sets below 4 */
    int in[YS_NODE_MAX_IN], value = -1;
    size_t held = 0;
    bool alike = true;
    for (size_t i = 0; i < step->node->in_count; i++) {
        YS_TRY(ys_onnx_need_live(step, i));
        alike = alike && memcmp(step->in[i]->perm, step->in[0]->perm, sizeof step->in[0]->perm) == 0;
    }
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    YS_TRY(wrap_axis(step, &axis, ys_onnx_rank(step->r, step->in[0])));
    const struct ys_onnx_slot like = *step->in[0];
    if (alike)
        axis = like.perm[axis];
    for (size_t i = 0; i < step->node->in_count; i++) {
        YS_TRY(ys_onnx_take(step, step->in[i], alike, &in[held++]));
        const bool last = i + 1 == step->node->in_count;
        if (held == 1 && last) {
            value = in[0];
        } else if (held == YS_NODE_MAX_IN || last) {
            YS_TRY(concat_some(step, in, held, axis, last, &value));
            in[0] = value;
            held = 1;
        }
    }
    ys_onnx_set(step, value, alike ? &like : NULL);
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
    int64_t axis = 0, parts[YS_ONNX_MAX_PIECES];
    int in, made[YS_ONNX_MAX_PIECES];
    const size_t count = step->node->out_count;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    YS_TRY(wrap_axis(step, &axis, ys_onnx_rank(step->r, step->in[0])));
    if (count < 2 || count > YS_ONNX_MAX_PIECES)
        return YS_FAIL_STEP(step, "makes %zu values: 2 to %d are read", count, YS_ONNX_MAX_PIECES);
    YS_TRY(read_parts(step, ys_onnx_extent(step->r, step->in[0], (size_t)axis), parts));
    for (size_t k = 0; k < count; k++)
        if (step->r->slots[ys_json_get_int(step->r->names, step->node->out[k], 0)].uses == 0)
            return YS_FAIL_STEP(step, "nothing reads its output %.100s: every output of a Split must be read",
                                step->node->out[k]);
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_split_into(step, in, like.perm[axis], parts, step->node->out, count, made));
    for (size_t k = 0; k < count; k++) {
        struct ys_onnx_step one = *step;
        one.out = &step->r->slots[ys_json_get_int(step->r->names, step->node->out[k], 0)];
        ys_onnx_set(&one, made[k], &like);
    }
    return YS_OK;
}

/* Whether the node has no axes, and says that it then does nothing. */
static ys_status find_noop(struct ys_onnx_step *step, bool *is_noop)
{
    bool marked[2 * YS_MAX_RANK] = {false};
    int64_t noop = 0;
    size_t count;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "noop_with_empty_axes", &noop));
    YS_TRY(read_axes(step, ys_onnx_rank(step->r, step->in[0]), marked, &count));
    *is_noop = noop != 0 && count == 0;
    return YS_OK;
}

/* Without its axes a mean is over all of them, the batch too. */
static ys_status mean(struct ys_onnx_step *step, int64_t *joined)
{
    bool marked[2 * YS_MAX_RANK] = {false}, in_order = true;
    int64_t keepdims = 1;
    int in, node, value, last = 0;
    size_t count;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    YS_TRY(ys_onnx_integer(step->node, "keepdims", &keepdims));
    YS_TRY(read_axes(step, rank, marked, &count));
    if (count == 0)
        return YS_FAIL_STEP(step, "%s", "names no axes: it would mix the rows of the batch");
    for (size_t i = 1; i < rank; i++) {
        if (marked[i])
            continue;
        in_order = in_order && step->in[0]->perm[i] > last;
        last = step->in[0]->perm[i];
    }
    YS_TRY(ys_onnx_take(step, step->in[0], keepdims || in_order, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, YS_OP_MEAN, &in, 1, 1, &node));
    for (size_t i = 0; i < rank; i++)
        if (marked[i]) {
            step->r->graph->nodes[node].reduced[like.perm[i]] = true;
            *joined *= step->r->graph->values[like.value].shape[like.perm[i]];
        }
    step->r->graph->nodes[node].keepdims = keepdims != 0;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, keepdims ? &like : NULL);
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
    return ys_onnx_affine(step, &made, &times);
}

ys_status ys_onnx_mean(struct ys_onnx_step *step)
{
    return reduce(step, false);
}

/* The sum is the mean times how many there are. */
ys_status ys_onnx_sum(struct ys_onnx_step *step)
{
    return reduce(step, true);
}

ys_status ys_onnx_shape(struct ys_onnx_step *step)
{
    const struct ys_onnx_constant like = {.type = YS_ONNX_INT64};
    YS_TRY(ys_onnx_need_live(step, 0));
    if (step->in[0]->curve == YS_ONNX_SLICE || step->in[0]->curve == YS_ONNX_SEQUENCE ||
        step->in[0]->curve == YS_ONNX_FLAT)
        YS_TRY(ys_onnx_settle(step, step->in[0]));
    YS_TRY(ys_onnx_make_padded(step, step->in[0]));
    const int64_t rank = (int64_t)rank_in_file(step);
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
        step->out->constant->wholes[i] = extent_in_file(step, (size_t)(start + i));
    step->out->kind = YS_ONNX_CONSTANT;
    return YS_OK;
}
