/* Operators whose inputs are all constants. */
#include "onnx/file/constant.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

struct folding { /* one node's */
    struct ys_onnx_folding *f;
    const struct ys_onnx_node_in *node;
    struct ys_onnx_constant *const *in;
    struct ys_onnx_constant *out;
};

#define FAIL(fold, ...) YS_FAIL_NODE((fold)->node, YS_EUNSUPPORTED, __VA_ARGS__)

/* Input `i`, NULL where the node has none. */
static struct ys_onnx_constant *input(const struct folding *fold, size_t i)
{
    return i < fold->node->in_count ? fold->in[i] : NULL;
}

static ys_status make(struct folding *fold, const struct ys_onnx_constant *like, const int64_t *shape, size_t rank)
{
    return ys_onnx_constant_new(fold->f, like, shape, rank, &fold->out);
}

static void copy(struct ys_onnx_constant *to, int64_t at, const struct ys_onnx_constant *from, int64_t index)
{
    if (to->filled)
        at = 0;
    if (from->filled)
        index = 0;
    if (to->is_real)
        to->reals[at] = from->is_real ? from->reals[index] : (double)from->wholes[index].fixed;
    else
        to->wholes[at] = ys_onnx_constant_whole(from, index);
}

static ys_status copy_all(struct folding *fold, const int64_t *shape, size_t rank)
{
    const struct ys_onnx_constant *in = fold->in[0];
    YS_TRY(make(fold, in, shape, rank));
    if (fold->out->count != in->count)
        return FAIL(fold, "%lld elements do not fit into a shape of %lld", (long long)in->count,
                    (long long)fold->out->count);
    for (int64_t i = 0; i < (in->filled ? 1 : in->count); i++)
        copy(fold->out, i, in, i);
    return YS_OK;
}

static bool wrap(int64_t *axis, size_t rank)
{
    if (*axis < 0)
        *axis += (int64_t)rank;
    return *axis >= 0 && *axis < (int64_t)rank;
}

static ys_status bad_axis(const struct folding *fold, int64_t axis)
{
    return FAIL(fold, "axis %lld is beyond the rank of its input", (long long)axis);
}

/* Whether some of its integers depend on how many rows there are. */
static bool depends_on_rows(const struct ys_onnx_constant *c)
{
    bool some = false;
    for (int64_t i = 0; !c->is_real && !some && i < (c->filled ? 1 : c->count); i++)
        some = c->wholes[i].each != 0;
    return some;
}

static ys_status fold_identity(struct folding *fold)
{
    return copy_all(fold, NULL, 0);
}

/* A shape of which one extent may be the batch: `*rows` is 1 more than that axis, whose extent here is 1. */
static ys_status read_extents(const struct folding *fold, const struct ys_onnx_constant *in, int64_t *shape,
                              size_t *rank, size_t *rows)
{
    *rows = 0;
    *rank = in && in->rank == 1 ? (size_t)in->count : 0;
    if (!in || in->is_real || in->rank != 1 || in->count > YS_MAX_RANK)
        return FAIL(fold, "%s", "its shape is no list of integers, or of too many");
    for (size_t i = 0; i < *rank; i++) {
        const struct ys_onnx_whole n = ys_onnx_constant_whole(in, (int64_t)i);
        if (n.each && (n.each != 1 || n.fixed || *rows))
            return FAIL(fold, "its shape has an extent of %lld times the batch and %lld: one may be the batch alone",
                        (long long)n.each, (long long)n.fixed);
        shape[i] = n.each ? 1 : n.fixed;
        *rows = n.each ? i + 1 : *rows;
    }
    return YS_OK;
}

static ys_status fold_cast(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0], *like = input(fold, 1);
    int64_t to = YS_ONNX_FLOAT;
    YS_TRY(ys_onnx_integer(fold->node, "to", &to));
    struct ys_onnx_constant wanted = {.filled = in->filled, .type = like ? like->type : (int)to};
    wanted.is_real = wanted.type == YS_ONNX_FLOAT || wanted.type == YS_ONNX_DOUBLE || wanted.type == YS_ONNX_FLOAT16 ||
                     wanted.type == YS_ONNX_BFLOAT16;
    if (!wanted.is_real && wanted.type != YS_ONNX_INT32 && wanted.type != YS_ONNX_INT64 && wanted.type != YS_ONNX_BOOL)
        return FAIL(fold, "cannot compute a constant of %s", ys_onnx_type_name(wanted.type));
    YS_TRY(make(fold, &wanted, in->shape, in->rank));
    for (int64_t i = 0; i < (in->filled ? 1 : in->count); i++) {
        if ((wanted.is_real || wanted.type == YS_ONNX_BOOL) && !in->is_real && in->wholes[i].each)
            return FAIL(fold, "the number of rows becomes %s: only integers may depend on the batch",
                        ys_onnx_type_name(wanted.type));
        if (!wanted.is_real && in->is_real && wanted.type != YS_ONNX_BOOL && !(fabs(in->reals[i]) < 9e18))
            return FAIL(fold, "makes an integer of %g", in->reals[i]);
        copy(fold->out, i, in, i);
        if (wanted.type == YS_ONNX_BOOL)
            fold->out->wholes[i].fixed = ys_onnx_constant_real(in, i) != 0;
    }
    return YS_OK;
}

static ys_status fold_shape(struct folding *fold)
{
    const struct ys_onnx_constant integers = {.type = YS_ONNX_INT64}, *in = fold->in[0];
    const int64_t rank = (int64_t)in->rank;
    int64_t start = 0, end = rank;
    YS_TRY(ys_onnx_integer(fold->node, "start", &start));
    YS_TRY(ys_onnx_integer(fold->node, "end", &end));
    start = start < 0 ? start + rank : start;
    end = end < 0 ? end + rank : end > rank ? rank : end;
    if (start < 0 || start > rank || end < start)
        return FAIL(fold, "start %lld and end %lld of a shape of %zu", (long long)start, (long long)end, in->rank);
    const int64_t count = end - start;
    YS_TRY(make(fold, &integers, &count, 1));
    for (int64_t i = 0; i < count; i++)
        fold->out->wholes[i].fixed = in->shape[start + i];
    return YS_OK;
}

static ys_status fold_reshape(struct folding *fold)
{
    int64_t shape[YS_MAX_RANK], known = 1, allowzero = 0;
    size_t rank = 0, open = YS_MAX_RANK;
    const struct ys_onnx_constant *in = fold->in[0];
    YS_TRY(ys_onnx_integer(fold->node, "allowzero", &allowzero));
    YS_TRY(ys_onnx_numbers(fold->f, fold->node, input(fold, 1), "shape", shape, YS_MAX_RANK, &rank));
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] == 0 && !allowzero && i < in->rank)
            shape[i] = in->shape[i];
        if (shape[i] == -1 && open == YS_MAX_RANK)
            open = i;
        else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
            return FAIL(fold, "dimension %lld of its shape", (long long)shape[i]);
    }
    if (open < YS_MAX_RANK)
        shape[open] = known ? in->count / known : 0;
    return copy_all(fold, shape, rank);
}

static ys_status read_axes(struct folding *fold, size_t rank, bool marked[2 * YS_MAX_RANK], size_t *count)
{
    int64_t axes[YS_MAX_RANK];
    YS_TRY(ys_onnx_numbers(fold->f, fold->node, input(fold, 1), "axes", axes, YS_MAX_RANK, count));
    for (size_t i = 0; i < *count; i++) {
        if (!wrap(&axes[i], rank + (fold->node->op[0] == 'U' ? *count : 0)))
            return bad_axis(fold, axes[i]);
        if (marked[axes[i]])
            return FAIL(fold, "axes has axis %lld twice", (long long)axes[i]);
        marked[axes[i]] = true;
    }
    return YS_OK;
}

static ys_status fold_unsqueeze(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0];
    bool marked[2 * YS_MAX_RANK] = {false};
    int64_t shape[YS_MAX_RANK];
    size_t count = 0, next = 0;
    YS_TRY(read_axes(fold, in->rank, marked, &count));
    if (in->rank + count > YS_MAX_RANK)
        return FAIL(fold, "more than %d dimensions", YS_MAX_RANK);
    for (size_t i = 0; i < in->rank + count; i++)
        shape[i] = marked[i] || next == in->rank ? 1 : in->shape[next++];
    return copy_all(fold, shape, in->rank + count);
}

static ys_status fold_squeeze(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0];
    bool marked[2 * YS_MAX_RANK] = {false};
    int64_t shape[YS_MAX_RANK];
    size_t count = 0, rank = 0;
    YS_TRY(read_axes(fold, in->rank, marked, &count));
    for (size_t i = 0; i < in->rank; i++)
        if (!(count ? marked[i] : in->shape[i] == 1))
            shape[rank++] = in->shape[i];
    return copy_all(fold, shape, rank);
}

/* out[i] = in[j], where j is found by strides: a view that is copied. */
static void copy_view(struct ys_onnx_constant *out, const struct ys_onnx_constant *in, int64_t first,
                      const int64_t *strides)
{
    int64_t index[YS_MAX_RANK] = {0}, from = first;
    for (int64_t i = 0; i < (out->filled ? (out->count > 0) : out->count); i++) {
        copy(out, i, in, from);
        for (size_t d = out->rank; d-- > 0;) {
            from += strides[d];
            if (++index[d] < out->shape[d])
                break;
            from -= strides[d] * out->shape[d];
            index[d] = 0;
        }
    }
}

static void row_strides(const struct ys_onnx_constant *c, int64_t *strides)
{
    int64_t stride = 1;
    for (size_t d = c->rank; d-- > 0; stride *= c->shape[d])
        strides[d] = stride;
}

static ys_status fold_transpose(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0];
    int64_t perm[YS_MAX_RANK], shape[YS_MAX_RANK], own[YS_MAX_RANK], strides[YS_MAX_RANK];
    size_t count = in->rank;
    unsigned seen = 0;
    for (size_t i = 0; i < in->rank; i++)
        perm[i] = (int64_t)(in->rank - 1 - i);
    YS_TRY(ys_onnx_integers(fold->node, "perm", perm, YS_MAX_RANK, &count));
    row_strides(in, own);
    if (count != in->rank)
        return FAIL(fold, "perm names %zu axes, not %zu", count, in->rank);
    for (size_t i = 0; i < count; i++) {
        if (perm[i] < 0 || perm[i] >= (int64_t)count || seen & 1U << perm[i])
            return FAIL(fold, "perm does not name each of %zu axes once", in->rank);
        seen |= 1U << perm[i];
        shape[i] = in->shape[perm[i]];
        strides[i] = own[perm[i]];
    }
    YS_TRY(make(fold, in, shape, in->rank));
    copy_view(fold->out, in, 0, strides);
    return YS_OK;
}

static ys_status fold_expand(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0];
    int64_t wanted[YS_MAX_RANK], shape[YS_MAX_RANK], own[YS_MAX_RANK], strides[YS_MAX_RANK];
    size_t count = 0;
    size_t rows;
    YS_TRY(read_extents(fold, input(fold, 1), wanted, &count, &rows));
    row_strides(in, own);
    size_t rank = count > in->rank ? count : in->rank;
    for (size_t i = 0; i < rank; i++) {
        int64_t here = i + in->rank < rank ? 1 : in->shape[i + in->rank - rank];
        int64_t there = i + count < rank ? 1 : wanted[i + count - rank];
        if (rows && i + count == rank + rows - 1 && here != 1)
            return FAIL(fold, "an extent of %lld does not spread to the batch", (long long)here);
        if (here != there && here != 1 && there != 1)
            return FAIL(fold, "an extent of %lld does not spread to %lld", (long long)here, (long long)there);
        shape[i] = here == 1 ? there : here;
        strides[i] = here == 1 ? 0 : own[i + in->rank - rank];
    }
    YS_TRY(make(fold, in, shape, rank));
    fold->out->rows_axis = rows ? rows + rank - count : 0;
    if (in->count > 0)
        copy_view(fold->out, in, 0, strides);
    return YS_OK;
}

static ys_status fold_gather(struct folding *fold)
{
    struct ys_onnx_constant *in = fold->in[0], *which = input(fold, 1);
    int64_t axis = 0, shape[YS_MAX_RANK], before = 1, behind = 1;
    YS_TRY(ys_onnx_integer(fold->node, "axis", &axis));
    if (!which || !wrap(&axis, in->rank))
        return bad_axis(fold, axis);
    if (in->rank - 1 + which->rank > YS_MAX_RANK)
        return FAIL(fold, "more than %d dimensions", YS_MAX_RANK);
    if (depends_on_rows(which) && !which->per_row)
        return FAIL(fold, "%s", "takes places that depend on how many rows there are");
    for (size_t i = 0; i < in->rank; i++)
        *((int64_t)i < axis ? &before : &behind) *= (int64_t)i == axis ? 1 : in->shape[i];
    memcpy(shape, in->shape, (size_t)axis * sizeof *shape);
    memcpy(shape + axis, which->shape, which->rank * sizeof *shape);
    memcpy(shape + (size_t)axis + which->rank, in->shape + axis + 1, (in->rank - 1 - (size_t)axis) * sizeof *shape);
    struct ys_onnx_constant like = *in;
    like.filled = false;
    YS_TRY(make(fold, &like, shape, in->rank - 1 + which->rank));
    for (int64_t b = 0, at = 0; b < before && fold->out->count > 0; b++)
        for (int64_t w = 0; w < which->count; w++) {
            int64_t index = ys_onnx_constant_whole(which, w).fixed;
            if (!wrap(&index, (size_t)in->shape[axis]))
                return FAIL(fold, "index %lld is beyond the extent %lld", (long long)index, (long long)in->shape[axis]);
            for (int64_t k = 0; k < behind; k++)
                copy(fold->out, at++, in, (b * in->shape[axis] + index) * behind + k);
        }
    return YS_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static ys_status fold_slice(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0];
    int64_t starts[YS_MAX_RANK], ends[YS_MAX_RANK], axes[YS_MAX_RANK], steps[YS_MAX_RANK], shape[YS_MAX_RANK],
        strides[YS_MAX_RANK], first = 0;
    size_t count = 0, end_count = 0, axis_count, step_count;
    unsigned seen = 0;
    YS_TRY(ys_onnx_numbers(fold->f, fold->node, input(fold, 1), "starts", starts, YS_MAX_RANK, &count));
    YS_TRY(ys_onnx_numbers(fold->f, fold->node, input(fold, 2), "ends", ends, YS_MAX_RANK, &end_count));
    for (size_t i = 0; i < YS_MAX_RANK; i++) {
        axes[i] = (int64_t)i;
        steps[i] = 1;
    }
    axis_count = step_count = count;
    YS_TRY(ys_onnx_numbers(fold->f, fold->node, input(fold, 3), "axes", axes, YS_MAX_RANK, &axis_count));
    YS_TRY(ys_onnx_numbers(fold->f, fold->node, input(fold, 4), "steps", steps, YS_MAX_RANK, &step_count));
    if (count != end_count || count != axis_count || count != step_count)
        return FAIL(fold, "%zu starts, but another number of ends, axes or steps", count);
    row_strides(in, strides);
    memcpy(shape, in->shape, sizeof shape);
    for (size_t i = 0; i < count; i++) {
        if (!wrap(&axes[i], in->rank))
            return bad_axis(fold, axes[i]);
        if (steps[i] == 0 || steps[i] == INT64_MIN)
            return FAIL(fold, "steps has the number %lld: must be above -2^63, and not 0", (long long)steps[i]);
        if (seen & 1U << axes[i])
            return FAIL(fold, "axes has axis %lld twice", (long long)axes[i]);
        seen |= 1U << axes[i];
        int64_t extent = in->shape[axes[i]], step = steps[i];
        if (in->rows_axis == (size_t)axes[i] + 1)
            return FAIL(fold, "%s", "takes some rows of the batch: rows must stay apart");
        int64_t start = starts[i] < 0 ? starts[i] + extent : starts[i], end = ends[i] < 0 ? ends[i] + extent : ends[i];
        start = step > 0 ? clamp(start, 0, extent) : clamp(start, 0, extent - 1);
        end = step > 0 ? clamp(end, 0, extent) : clamp(end, -1, extent - 1);
        int64_t span = step > 0 ? end - start : start - end, size = step > 0 ? step : -step;
        shape[axes[i]] = span > 0 && extent > 0 ? (span - 1) / size + 1 : 0;
        first += start * strides[axes[i]];
        if (shape[axes[i]] > 1)
            strides[axes[i]] *= step;
    }
    YS_TRY(make(fold, in, shape, in->rank));
    fold->out->rows_axis = in->rows_axis;
    if (fold->out->count > 0)
        copy_view(fold->out, in, first, strides);
    return YS_OK;
}

static ys_status fold_concat(struct folding *fold)
{
    struct ys_onnx_constant like = *fold->in[0];
    int64_t axis = 0, before = 1;
    YS_TRY(ys_onnx_integer(fold->node, "axis", &axis));
    if (!wrap(&axis, like.rank))
        return bad_axis(fold, axis);
    int64_t shape[YS_MAX_RANK], rest = 1;
    memcpy(shape, like.shape, sizeof shape);
    shape[axis] = 0;
    for (size_t i = 0; i < fold->node->in_count; i++) {
        const struct ys_onnx_constant *in = fold->in[i];
        bool fits = in && in->rank == like.rank && in->is_real == like.is_real;
        for (size_t d = 0; fits && d < in->rank; d++)
            fits = (int64_t)d == axis || in->shape[d] == shape[d];
        if (!fits)
            return FAIL(fold, "its input %zu does not fit the first", i);
        shape[axis] += in->shape[axis];
    }
    for (size_t d = 0; d < like.rank; d++)
        *((int64_t)d < axis ? &before : &rest) *= (int64_t)d == axis ? 1 : shape[d];
    like.filled = false;
    YS_TRY(make(fold, &like, shape, like.rank));
    for (int64_t b = 0, at = 0; b < before && fold->out->count > 0; b++)
        for (size_t i = 0; i < fold->node->in_count; i++)
            for (int64_t k = 0, part = fold->in[i]->shape[axis] * rest; k < part; k++)
                copy(fold->out, at++, fold->in[i], b * part + k);
    return YS_OK;
}

static ys_status fold_constant_of_shape(struct folding *fold)
{
    struct ys_onnx_tensor_in *tensor = ys_onnx_file_keep(fold->f->file, 1, sizeof *tensor);
    struct ys_onnx_constant zero = {.is_real = true, .type = YS_ONNX_FLOAT, .count = 1}, *value = &zero;
    int64_t shape[YS_MAX_RANK];
    size_t rank = 0, rows;
    struct ys_span message;
    double nothing = 0;
    zero.reals = &nothing;
    YS_TRY(ys_onnx_message(fold->node, "value", &message));
    if (message.data) {
        YS_TRY(ys_onnx_tensor_parse(fold->f->file, message, tensor));
        YS_TRY(ys_onnx_constant_of(fold->f, tensor, &value));
        if (value->count != 1)
            return FAIL(fold, "its value has %lld elements, not 1", (long long)value->count);
        YS_TRY(ys_onnx_constant_load(fold->f, value));
    }
    YS_TRY(read_extents(fold, fold->in[0], shape, &rank, &rows));
    struct ys_onnx_constant like = *value;
    like.filled = true;
    YS_TRY(make(fold, &like, shape, rank));
    fold->out->rows_axis = rows;
    copy(fold->out, 0, value, 0);
    return YS_OK;
}

static ys_status fold_constant(struct folding *fold)
{
    struct ys_onnx_tensor_in *tensor = ys_onnx_file_keep(fold->f->file, 1, sizeof *tensor);
    struct ys_span message;
    YS_TRY(ys_onnx_message(fold->node, "value", &message));
    if (message.data) {
        YS_TRY(ys_onnx_tensor_parse(fold->f->file, message, tensor));
        tensor->name = fold->node->name;
        return ys_onnx_constant_of(fold->f, tensor, &fold->out);
    }
    bool list = ys_onnx_has(fold->node, "value_ints") || ys_onnx_has(fold->node, "value_floats");
    bool real = ys_onnx_has(fold->node, "value_float") || ys_onnx_has(fold->node, "value_floats");
    const struct ys_onnx_constant like = {.is_real = real, .type = real ? YS_ONNX_FLOAT : YS_ONNX_INT64};
    int64_t wholes[64] = {0}, count = list ? 0 : 1;
    size_t whole_count = 0;
    if (!list && !real && !ys_onnx_has(fold->node, "value_int"))
        return FAIL(fold, "%s", "its value is neither a tensor nor numbers");
    YS_TRY(ys_onnx_integers(fold->node, "value_ints", wholes, 64, &whole_count));
    YS_TRY(ys_onnx_integer(fold->node, "value_int", wholes));
    if (list)
        count = real ? (int64_t)ys_onnx_listed_reals(fold->node, "value_floats", NULL) : (int64_t)whole_count;
    YS_TRY(make(fold, &like, &count, list ? 1 : 0));
    if (real && list)
        ys_onnx_listed_reals(fold->node, "value_floats", fold->out->reals);
    for (int64_t i = 0; i < count && !real; i++)
        fold->out->wholes[i].fixed = wholes[i];
    return real && !list ? ys_onnx_real(fold->node, "value_float", fold->out->reals) : YS_OK;
}

/* What is left of a division: with the sign of the divisor, or with `fmod` of what it divides. */
static ys_status find_rest(const struct folding *fold, int64_t a, int64_t b, int64_t *rest)
{
    int64_t fmod = 0;
    YS_TRY(ys_onnx_integer(fold->node, "fmod", &fmod));
    *rest = b == -1 ? 0 : a % b;
    if (!fmod && *rest != 0 && (*rest < 0) != (b < 0))
        *rest += b;
    return YS_OK;
}

/* Of which orders of two numbers it is true: bit 0 below, 1 equal, 2 above; 0 where it is no comparison. */
static int compares(const char *op)
{
    static const char *const ops[] = {"", "Less", "Equal", "LessOrEqual", "Greater", "", "GreaterOrEqual"};
    for (int orders = 6; orders > 0; orders--)
        if (strcmp(ops[orders], op) == 0)
            return orders;
    return 0;
}

static ys_status compute_whole(const struct folding *fold, struct ys_onnx_whole a, struct ys_onnx_whole b,
                               struct ys_onnx_whole *y)
{
    const char *op = fold->node->op;
    bool over = false;
    *y = (struct ys_onnx_whole){0, 0};
    if (op[0] == 'A')
        over = __builtin_add_overflow(a.fixed, b.fixed, &y->fixed) || __builtin_add_overflow(a.each, b.each, &y->each);
    else if (op[0] == 'S')
        over = __builtin_sub_overflow(a.fixed, b.fixed, &y->fixed) || __builtin_sub_overflow(a.each, b.each, &y->each);
    else if (strcmp(op, "Equal") == 0)
        y->fixed = a.fixed == b.fixed && a.each == b.each;
    else if (compares(op) && !a.each && !b.each)
        y->fixed = compares(op) >> (1 + (a.fixed > b.fixed) - (a.fixed < b.fixed)) & 1;
    else if (strcmp(op, "Mod") == 0 && !a.each && !b.each && b.fixed != 0)
        return find_rest(fold, a.fixed, b.fixed, &y->fixed);
    else if (strcmp(op, "Mul") == 0 && (!a.each || !b.each)) {
        int64_t left, right;
        over = __builtin_mul_overflow(a.fixed, b.fixed, &y->fixed) || __builtin_mul_overflow(a.each, b.fixed, &left) ||
               __builtin_mul_overflow(a.fixed, b.each, &right) || __builtin_add_overflow(left, right, &y->each);
    } else if (op[0] == 'D' && !b.each && b.fixed > 0 && (!a.each || (a.each % b.fixed == 0 && a.fixed % b.fixed == 0)))
        *y = (struct ys_onnx_whole){a.fixed / b.fixed, a.each / b.fixed};
    else
        return FAIL(fold, "cannot compute %s of the integers %lld and %lld%s", op, (long long)a.fixed,
                    (long long)b.fixed, a.each || b.each ? ", to which numbers of rows come" : "");
    return over ? FAIL(fold, "%s goes beyond 63 bits", "an integer") : YS_OK;
}

static double compute_real(const char *op, double a, double b)
{
    switch (op[0]) {
    case 'A':
        return a + b;
    case 'S':
        return a - b;
    case 'M':
        return a * b;
    case 'D':
        return a / b;
    default:
        YS_ASSERT(op[0] == 'P');
        return pow(a, b);
    }
}

static ys_status spread(const struct folding *fold, const struct ys_onnx_constant *c, const int64_t *shape, size_t rank,
                        int64_t *strides)
{
    int64_t own[YS_MAX_RANK];
    row_strides(c, own);
    for (size_t i = 0; i < rank; i++) {
        int64_t extent = i + c->rank < rank ? 1 : c->shape[i + c->rank - rank];
        if (extent != 1 && extent != shape[i])
            return FAIL(fold, "extents %lld and %lld do not fit together", (long long)extent, (long long)shape[i]);
        strides[i] = extent == 1 ? 0 : own[i + c->rank - rank];
    }
    return YS_OK;
}

static ys_status fold_pair(struct folding *fold)
{
    struct ys_onnx_constant *a = fold->in[0], *b = input(fold, 1);
    if (!b || a->is_real != b->is_real || (a->is_real && strcmp(fold->node->op, "Mod") == 0))
        return FAIL(fold, "%s", "needs two inputs of one type, Mod integers");
    int64_t shape[YS_MAX_RANK], left[YS_MAX_RANK], right[YS_MAX_RANK], from = 0, with = 0, index[YS_MAX_RANK] = {0};
    size_t rank = a->rank > b->rank ? a->rank : b->rank;
    for (size_t i = 0; i < rank; i++) {
        int64_t x = i + a->rank < rank ? 1 : a->shape[i + a->rank - rank];
        shape[i] = x != 1 ? x : i + b->rank < rank ? 1 : b->shape[i + b->rank - rank];
    }
    YS_TRY(spread(fold, a, shape, rank, left));
    YS_TRY(spread(fold, b, shape, rank, right));
    struct ys_onnx_constant like = {.is_real = a->is_real, .type = a->type, .filled = a->filled && b->filled};
    const int orders = compares(fold->node->op);
    if (orders)
        like = (struct ys_onnx_constant){.type = YS_ONNX_BOOL};
    YS_TRY(make(fold, &like, shape, rank));
    for (int64_t i = 0; i < (like.filled ? 1 : fold->out->count); i++) {
        const double x = a->is_real ? ys_onnx_constant_real(a, from) : 0,
                     y = a->is_real ? ys_onnx_constant_real(b, with) : 0;
        if (a->is_real && orders)
            fold->out->wholes[i].fixed = orders >> (1 + (x > y) - (x < y)) & 1;
        else if (a->is_real)
            fold->out->reals[i] = compute_real(fold->node->op, x, y);
        else
            YS_TRY(compute_whole(fold, ys_onnx_constant_whole(a, from), ys_onnx_constant_whole(b, with),
                                 &fold->out->wholes[i]));
        for (size_t d = rank; d-- > 0;) {
            from += left[d];
            with += right[d];
            if (++index[d] < shape[d])
                break;
            from -= left[d] * shape[d];
            with -= right[d] * shape[d];
            index[d] = 0;
        }
    }
    return YS_OK;
}

/* The parts of the matrices on the last two axes that lie below a diagonal, or above it; the rest is 0. */
static ys_status fold_trilu(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0], *given = input(fold, 1);
    int64_t upper = 1;
    struct ys_onnx_constant like = *in;
    YS_TRY(ys_onnx_integer(fold->node, "upper", &upper));
    if (in->rank < 2 || (given && (given->is_real || given->count != 1 || depends_on_rows(given))))
        return FAIL(fold, "%s", "needs matrices and one number that does not depend on the batch");
    const int64_t k = given ? ys_onnx_constant_whole(given, 0).fixed : 0;
    const int64_t rows = in->shape[in->rank - 2], columns = in->shape[in->rank - 1];
    like.filled = false;
    YS_TRY(make(fold, &like, in->shape, in->rank));
    for (int64_t i = 0; i < in->count; i++) {
        const int64_t ahead = i % columns - i / columns % rows;
        if (upper ? ahead >= k : ahead <= k)
            copy(fold->out, i, in, i);
    }
    return YS_OK;
}

/* Of two, that which the truths name. */
static ys_status fold_where(struct folding *fold)
{
    const struct ys_onnx_constant *in[3] = {fold->in[0], input(fold, 1), input(fold, 2)};
    int64_t shape[YS_MAX_RANK], strides[3][YS_MAX_RANK], at[3] = {0}, index[YS_MAX_RANK] = {0};
    size_t rank = 0;
    if (!in[1] || !in[2] || in[0]->is_real || in[1]->is_real != in[2]->is_real)
        return FAIL(fold, "%s", "needs truths and two inputs of one type");
    for (size_t k = 0; k < 3; k++)
        rank = in[k]->rank > rank ? in[k]->rank : rank;
    for (size_t i = 0; i < rank; i++) {
        shape[i] = 1;
        for (size_t k = 0; k < 3; k++)
            if (i + in[k]->rank >= rank && in[k]->shape[i + in[k]->rank - rank] != 1)
                shape[i] = in[k]->shape[i + in[k]->rank - rank];
    }
    for (size_t k = 0; k < 3; k++)
        YS_TRY(spread(fold, in[k], shape, rank, strides[k]));
    struct ys_onnx_constant like = *in[1];
    like.filled = false;
    YS_TRY(make(fold, &like, shape, rank));
    for (int64_t i = 0; i < fold->out->count; i++) {
        const size_t from = ys_onnx_constant_whole(in[0], at[0]).fixed ? 1 : 2;
        copy(fold->out, i, in[from], at[from]);
        for (size_t d = rank; d-- > 0;) {
            for (size_t k = 0; k < 3; k++)
                at[k] += strides[k][d];
            if (++index[d] < shape[d])
                break;
            for (size_t k = 0; k < 3; k++)
                at[k] -= strides[k][d] * shape[d];
            index[d] = 0;
        }
    }
    return YS_OK;
}

static ys_status fold_range(struct folding *fold)
{
    struct ys_onnx_whole start, end, delta, *const ends[3] = {&start, &end, &delta};
    const struct ys_onnx_constant integers = {.type = YS_ONNX_INT64};
    for (size_t i = 0; i < 3; i++) {
        const struct ys_onnx_constant *in = input(fold, i);
        if (!in || in->is_real || in->count != 1)
            return FAIL(fold, "%s", "needs three integers");
        *ends[i] = ys_onnx_constant_whole(in, 0);
    }
    const bool of_rows = start.fixed == 0 && end.fixed == 0 && end.each == 1 && delta.fixed == 1;
    const int64_t limit = YS_ONNX_MAX_COMPUTED;
    if (start.each || delta.each || (end.each && !of_rows))
        return FAIL(fold, "%s", "depends on the batch in another way than 0, 1, ... to the number of rows");
    if (delta.fixed < 1 || delta.fixed > limit || start.fixed < -limit || start.fixed > limit || end.fixed < -limit ||
        end.fixed > limit)
        return FAIL(fold, "start %lld, limit %lld and delta %lld: these go upwards, to 2^26 at most",
                    (long long)start.fixed, (long long)end.fixed, (long long)delta.fixed);
    const int64_t way = end.fixed - start.fixed;
    const int64_t count = of_rows ? 1 : way <= 0 ? 0 : (way + delta.fixed - 1) / delta.fixed;
    YS_TRY(make(fold, &integers, &count, 1));
    fold->out->per_row = of_rows;
    for (int64_t i = 0; i < count; i++)
        fold->out->wholes[i] = (struct ys_onnx_whole){start.fixed + i * delta.fixed, of_rows};
    return YS_OK;
}

/* What is computed of integers of each row is of each row too, where axis 0 stays what it was. */
static ys_status carry_rows(struct folding *fold)
{
    const struct ys_onnx_constant *of_row = NULL;
    bool marked[2 * YS_MAX_RANK] = {false}, beside = false;
    size_t count;
    for (size_t i = 0; i < fold->node->in_count; i++) {
        const struct ys_onnx_constant *in = fold->in[i];
        if (in && in->per_row)
            of_row = in;
        else
            for (int64_t k = 0; in && !in->is_real && in->wholes && k < (in->filled ? 1 : in->count); k++)
                beside = beside || in->wholes[k].each;
    }
    if (!of_row)
        return YS_OK;
    const char *op = fold->node->op;
    const bool is_pair = strcmp(op, "Add") == 0 || strcmp(op, "Sub") == 0 || strcmp(op, "Mul") == 0;
    if (strcmp(op, "Unsqueeze") == 0)
        YS_TRY(read_axes(fold, of_row->rank, marked, &count));
    else if (!is_pair || fold->out->rank != of_row->rank)
        return FAIL(fold, "%s", "cannot be computed of the numbers of the rows");
    if (beside || marked[0] || fold->out->shape[0] != 1)
        return FAIL(fold, "%s", "mixes the numbers of the rows with another axis, or with how many there are");
    fold->out->per_row = true;
    return YS_OK;
}

static double compute_function(const char *op, double x)
{
    static const struct {
        const char *op;
        double (*of)(double x);
    } functions[] = {{"Abs", fabs}, {"Cos", cos}, {"Sin", sin}, {"Sqrt", sqrt}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].op, op) == 0)
            return functions[i].of(x);
    return op[0] == 'N' ? -x : 1 / x; /* Neg, Reciprocal */
}

static ys_status fold_function(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0];
    const char *op = fold->node->op;
    if (!in->is_real)
        return FAIL(fold, "%s", "computes reals only");
    YS_TRY(make(fold, in, NULL, 0));
    for (int64_t i = 0; i < (in->filled ? 1 : in->count); i++) {
        double x = in->reals[i];
        fold->out->reals[i] = compute_function(op, x);
    }
    return YS_OK;
}

static ys_status fold_not(struct folding *fold)
{
    const struct ys_onnx_constant *in = fold->in[0];
    if (in->is_real || depends_on_rows(in))
        return FAIL(fold, "%s", "computes truths only");
    YS_TRY(make(fold, in, NULL, 0));
    for (int64_t i = 0; i < (in->filled ? 1 : in->count); i++)
        fold->out->wholes[i].fixed = !in->wholes[i].fixed;
    return YS_OK;
}

static const struct {
    const char *op;
    ys_status (*run)(struct folding *fold);
} folds[] = {
    {"Constant", fold_constant}, {"ConstantOfShape", fold_constant_of_shape},
    {"Identity", fold_identity}, {"Cast", fold_cast},
    {"CastLike", fold_cast},     {"Shape", fold_shape},
    {"Reshape", fold_reshape},   {"Unsqueeze", fold_unsqueeze},
    {"Squeeze", fold_squeeze},   {"Transpose", fold_transpose},
    {"Expand", fold_expand},     {"Gather", fold_gather},
    {"Slice", fold_slice},       {"Concat", fold_concat},
    {"Add", fold_pair},          {"Sub", fold_pair},
    {"Mul", fold_pair},          {"Div", fold_pair},
    {"Pow", fold_pair},          {"Equal", fold_pair},
    {"Less", fold_pair},         {"LessOrEqual", fold_pair},
    {"Greater", fold_pair},      {"GreaterOrEqual", fold_pair},
    {"Not", fold_not},           {"Neg", fold_function},
    {"Sqrt", fold_function},     {"Reciprocal", fold_function},
    {"Abs", fold_function},      {"Cos", fold_function},
    {"Sin", fold_function},      {"Range", fold_range},
    {"Mod", fold_pair},          {"Trilu", fold_trilu},
    {"Where", fold_where},
};

static size_t find(const char *op)
{
    size_t i = 0;
    while (i < sizeof folds / sizeof folds[0] && strcmp(folds[i].op, op) != 0)
        i++;
    return i;
}

bool ys_onnx_folds(const char *op)
{
    return find(op) < sizeof folds / sizeof folds[0];
}

ys_status ys_onnx_fold(struct ys_onnx_folding *f, const struct ys_onnx_node_in *node,
                       struct ys_onnx_constant *const *in, struct ys_onnx_constant **out)
{
    struct folding fold = {.f = f, .node = node, .in = in};
    size_t which = find(node->op);
    if (which == sizeof folds / sizeof folds[0] || node->out_count != 1)
        return FAIL(&fold, "%s", "cannot be computed from constants before the run");
    if (folds[which].run != fold_constant && (node->in_count == 0 || !in[0]))
        return FAIL(&fold, "%s", "has no input");
    for (size_t i = 0; i < node->in_count; i++)
        if (in[i] && strcmp(node->op, "Shape") != 0)
            YS_TRY(ys_onnx_constant_load(f, in[i]));
    for (size_t i = 0; i < node->in_count; i++)
        if (in[i] && in[i]->rows_axis && strcmp(node->op, "Slice") != 0)
            return FAIL(&fold, "%s", "reads a constant that was spread over the batch");
    const ys_status status = folds[which].run(&fold);
    if (status == YS_EUNSUPPORTED && strncmp(ys_error(), "node ", 5) != 0)
        return ys_fail_in(status, "node %.100s (%.60s)", node->name, node->op);
    YS_TRY(status);
    YS_TRY(carry_rows(&fold));
    const bool reads_values = strcmp(node->op, "Shape") != 0 && strcmp(node->op, "ConstantOfShape") != 0;
    for (size_t i = 0; i < node->in_count && reads_values; i++)
        fold.out->is_held = fold.out->is_held || (in[i] && in[i]->is_held);
    fold.out->is_held = fold.out->is_held || ys_onnx_has(node, "value_floats");
    if (strcmp(node->op, "Cos") == 0 || strcmp(node->op, "Sin") == 0) /* a table of angles, whatever they are made of */
        fold.out->is_held = false;
    const bool moves = strcmp(node->op, "Transpose") == 0 || strcmp(node->op, "Reshape") == 0;
    if (moves && in[0] && !fold.out->filled)
        fold.out->origin = in[0]->tensor ? in[0]->tensor : in[0]->origin;
    *out = fold.out;
    return YS_OK;
}
