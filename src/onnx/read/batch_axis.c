/* Where the batch is among the axes that a file sees, and what gives values other axes: Reshape and its like,
 * Transpose.
 *
 * In a graph the batch is axis 0 of every value, alone. A file may have it anywhere: as another axis, behind a
 * Transpose, or as a part of one, k times N, behind a Reshape. The value of the graph is the same then, and the slot
 * says how the file sees it (struct ys_onnx_rows); a node reads it where it does the same to each row. So whatever is
 * read keeps the rows apart, and what would let them meet is refused by name. */
#include "onnx/read/reader_state.h"

#include <string.h>

size_t ys_onnx_file_rank(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot)
{
    return ys_onnx_rank(r, slot) - (slot->rows.each ? slot->rows.count - 1 : 0);
}

size_t ys_onnx_apart(const struct ys_onnx_slot *slot, size_t axis)
{
    const struct ys_onnx_rows *rows = &slot->rows;
    return rows->each && axis > rows->first ? axis + rows->count - 1 : axis;
}

size_t ys_onnx_batch_axis(const struct ys_onnx_slot *slot)
{
    size_t at = 0;
    while (slot->perm[at] != 0)
        at++;
    return slot->rows.each ? slot->rows.first : at;
}

struct ys_onnx_whole ys_onnx_file_extent(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, size_t axis)
{
    if (axis == ys_onnx_batch_axis(slot))
        return (struct ys_onnx_whole){0, slot->rows.each ? slot->rows.each : 1};
    return (struct ys_onnx_whole){ys_onnx_extent(r, slot, ys_onnx_apart(slot, axis)), 0};
}

ys_status ys_onnx_axis(struct ys_onnx_step *step, const struct ys_onnx_slot *slot, int64_t given, size_t *axis,
                       size_t *apart)
{
    const int64_t rank = (int64_t)ys_onnx_file_rank(step->r, slot), along = given < 0 ? given + rank : given;
    if (along < 0 || along >= rank)
        return YS_FAIL_STEP(step, "axis %lld is beyond the %lld dimensions of its input", (long long)given,
                            (long long)rank);
    if ((size_t)along == ys_onnx_batch_axis(slot))
        return slot->rows.each
                   ? YS_FAIL_STEP(step,
                                  "works along axis %lld, of %lld rows for each of the batch since node "
                                  "%.100s (%s): rows must stay apart",
                                  (long long)along, (long long)slot->rows.each, slot->rows.maker->name,
                                  slot->rows.maker->op)
                   : YS_FAIL_STEP(step, "works along axis %lld, the batch: rows must stay apart", (long long)along);
    *axis = (size_t)along;
    *apart = ys_onnx_apart(slot, *axis);
    return YS_OK;
}

/* Of two values that lie beside each other, whose last axes are the same. */
static ys_status check_beside(struct ys_onnx_step *step, const struct ys_onnx_slot *a, const struct ys_onnx_slot *b)
{
    const struct ys_onnx_slot *made = a->rows.maker ? a : b;
    size_t batch[2] = {0, 0};
    while (a->perm[batch[0]] != 0)
        batch[0]++;
    while (b->perm[batch[1]] != 0)
        batch[1]++;
    const size_t left = ys_onnx_batch_axis(a), right = ys_onnx_batch_axis(b);
    if (a->rows.each != b->rows.each)
        return YS_FAIL_STEP(step,
                            "reads values of several numbers of rows for each of the batch, %lld since node %.100s "
                            "(%s): rows must stay apart",
                            (long long)made->rows.each, made->rows.maker->name, made->rows.maker->op);
    if (ys_onnx_file_rank(step->r, a) - left != ys_onnx_file_rank(step->r, b) - right ||
        (a->rows.each && (a->rows.count != b->rows.count || batch[0] - left != batch[1] - right)))
        return YS_FAIL_STEP(step,
                            "reads values whose batch is axis %zu and axis %zu, not in the same way since node %.100s "
                            "(%s): rows must stay apart",
                            left, right, made->rows.maker->name, made->rows.maker->op);
    return YS_OK;
}

ys_status ys_onnx_check_rows(struct ys_onnx_step *step, const struct ys_onnx_rows **rows)
{
    const struct ys_onnx_slot *widest = NULL, *made = NULL;
    const size_t count = strcmp(step->node->op, "CastLike") == 0 ? 1 : step->node->in_count; /* it reads a type alone */
    *rows = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct ys_onnx_slot *in = step->in[i];
        if (!in || in->kind != YS_ONNX_LIVE)
            continue;
        if (!widest || ys_onnx_file_rank(step->r, in) > ys_onnx_file_rank(step->r, widest))
            widest = in;
        made = in->rows.maker ? in : made;
    }
    if (!made)
        return YS_OK;
    for (size_t i = 0; i < count; i++)
        if (step->in[i] && step->in[i]->kind == YS_ONNX_LIVE)
            YS_TRY(check_beside(step, widest, step->in[i]));
    const struct ys_onnx_rows *found = &made->rows;
    if (!ys_onnx_reads_rows(step->node->op) && found->each)
        return YS_FAIL_STEP(step,
                            "reads a value of %lld rows for each of the batch, since node %.100s (%s): of such only "
                            "what does the same to each row is read",
                            (long long)found->each, found->maker->name, found->maker->op);
    if (!ys_onnx_reads_rows(step->node->op))
        return YS_FAIL_STEP(step,
                            "reads a value whose axis %zu is the batch, since node %.100s (%s): of such only what does "
                            "the same to each row is read",
                            ys_onnx_batch_axis(made), found->maker->name, found->maker->op);
    *rows = &widest->rows;
    return YS_OK;
}

bool ys_onnx_makes_rows(const char *op)
{
    static const char *const ops[] = {"Reshape", "Flatten",    "Squeeze",  "Unsqueeze", "Transpose", "ReduceSum",
                                      "Gather",  "ReduceMean", "ReduceL2", "LSTM",      "GRU"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i], op) == 0)
            return true;
    return false;
}

/* Input 0 in another shape, the batch first. */
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
    const int before = v->producer < 0 ? -1 : r->graph->nodes[v->producer].in[0];
    const struct ys_value *whole = before < 0 ? NULL : &r->graph->values[before];
    if (whole && r->graph->nodes[v->producer].op == YS_OP_RESHAPE && whole->rank == rank &&
        memcmp(whole->shape, shape, rank * sizeof *shape) == 0) { /* back to what it was */
        ys_onnx_set(step, before, NULL);
        if (r->own)
            ys_onnx_rename(step, before);
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

struct target { /* the axes that a node gives a value */
    struct ys_onnx_whole shape[YS_MAX_RANK];
    size_t rank, open; /* which one is -1; YS_MAX_RANK: none */
};

/* Where the batch lies in it. */
struct batch_place {
    size_t axis;            /* of the target */
    int64_t outer, inner;   /* what else is in that axis: outer * N * inner */
    int64_t before, behind; /* elements of a row along the axes of the value in front of the batch and behind it */
};

/* Input 0, of which the extents are asked. */
static ys_status need_whole(struct ys_onnx_step *step)
{
    YS_TRY(ys_onnx_need_live(step, 0));
    return ys_onnx_make_padded(step, step->in[0]);
}

/* The shape that a Reshape asks for. */
static ys_status read_target(struct ys_onnx_step *step, struct target *t)
{
    struct ys_onnx_constant *shape = NULL;
    int64_t allowzero = 0, old[YS_MAX_RANK];
    bool has_batch = false;
    *t = (struct target){.open = YS_MAX_RANK};
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
        if (n.fixed == 0 && n.each == 0 && !allowzero && i < ys_onnx_file_rank(step->r, step->in[0]))
            n = ys_onnx_file_extent(step->r, step->in[0], i);
        const bool open = n.fixed == -1 && n.each == 0;
        if (n.each && (n.fixed || n.each < 0 || has_batch))
            return YS_FAIL_STEP(step,
                                "makes axis %zu of %lld times the batch and %lld: one axis may be several times the "
                                "batch, and no more",
                                i, (long long)n.each, (long long)n.fixed);
        if ((open && t->open < YS_MAX_RANK) || (!n.each && n.fixed < 1 && !open))
            return YS_FAIL_STEP(step, "asks for dimension %lld as axis %zu: all must be above 0, and one may be open",
                                (long long)n.fixed, i);
        has_batch = has_batch || n.each;
        t->shape[i] = n;
        if (open)
            t->open = i;
    }
    return YS_OK;
}

static int64_t extent_of(const struct ys_onnx_whole *n)
{
    return n->each ? n->each : n->fixed;
}

/* The product of the extents from one axis to before another, k for k times the batch; 0: beyond 63 bits. */
static int64_t product(const struct target *t, size_t from, size_t to)
{
    int64_t all = 1;
    for (size_t i = from; i < to; i++)
        if (i != t->open && __builtin_mul_overflow(all, extent_of(&t->shape[i]), &all))
            return 0;
    return all;
}

/* Whether axis `axis` may be the batch, `each` times: the elements of a row that come before it and behind it are what
 * the axes of the target there have. */
static bool may_be_batch(const struct target *t, size_t axis, int64_t each, struct batch_place *p)
{
    const int64_t before = product(t, 0, axis), behind = product(t, axis + 1, t->rank);
    if (before < 1 || behind < 1 || p->before % before || p->behind % behind)
        return false;
    p->axis = axis;
    p->outer = p->before / before;
    p->inner = p->behind / behind;
    return p->outer <= each && p->outer * p->inner == each;
}

/* Which axis is the batch where the shape has it as a number: that of the rows that the file is fixed at, or else the
 * first that is several times as many. */
static bool find_fixed(const struct target *t, int64_t fixed, struct batch_place *p)
{
    for (int several = 0; several < 2; several++)
        for (size_t i = 0; i < t->rank; i++) {
            const int64_t extent = t->shape[i].fixed;
            if (extent % fixed == 0 && (extent == fixed) == !several && may_be_batch(t, i, extent / fixed, p))
                return true;
        }
    return false;
}

/* Fills in an open axis, and finds the batch: as the shape says, as the open axis of a file for any number of rows, or
 * among the numbers of a file for so many. */
static ys_status find_place(struct ys_onnx_step *step, struct target *t, struct batch_place *p)
{
    const int64_t row = ys_value_row_elements(&step->r->graph->values[step->in[0]->value]);
    const int64_t fixed = step->r->fixed_batch, known = product(t, 0, t->rank);
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    size_t batch = t->rank;
    bool found = known > 0;
    *p = (struct batch_place){.before = 1, .behind = 1};
    for (size_t i = 0; i < rank; i++) {
        const bool is_batch = step->in[0]->perm[i] == 0;
        p->before = is_batch ? p->behind : p->before;
        p->behind = is_batch ? 1 : p->behind * ys_onnx_extent(step->r, step->in[0], i);
    }
    for (size_t i = 0; i < t->rank; i++)
        batch = t->shape[i].each ? i : batch;
    const bool is_open = t->open < YS_MAX_RANK, of_any = batch == t->rank && fixed == 0;
    if (is_open && found) { /* what is left for it, with the batch, if it stands as a number, in what is known */
        const int64_t times = batch == t->rank && fixed > 0 ? fixed : 1;
        found = row <= INT64_MAX / times && row * times % known == 0;
        t->shape[t->open].fixed = found ? row * times / known : 0;
    }
    if (is_open && of_any) {
        batch = t->open;
        t->shape[batch] = (struct ys_onnx_whole){0, t->shape[batch].fixed};
    }
    t->open = YS_MAX_RANK;
    if (found && batch < t->rank)
        found = may_be_batch(t, batch, t->shape[batch].each, p);
    else
        found = found && fixed > 0 && find_fixed(t, fixed, p);
    if (!found)
        return YS_FAIL_STEP(step,
                            "mixes the batch with other axes: each row has %lld elements, and its shape keeps %lld of "
                            "them apart",
                            (long long)row, (long long)known);
    return YS_OK;
}

static void note_rows(struct ys_onnx_step *step, const struct ys_onnx_rows *before)
{
    const struct ys_onnx_slot *out = step->out;
    if (!out->rows.maker || (before->maker && before->each == out->rows.each))
        return;
    if (out->rows.each) {
        ys_onnx_note(step->r, "node %.100s (%s) makes %lld rows of each: they are an axis behind the batch",
                     step->node->name, step->node->op, (long long)out->rows.each);
        return;
    }
    ys_onnx_note(step->r, "node %.100s (%s) makes the batch axis %zu: in the graph it stays axis 0", step->node->name,
                 step->node->op, ys_onnx_batch_axis(out));
}

/* Input 0 with the axes of the target. What is one axis with the batch in the file is one behind it, or two, in the
 * graph. */
static ys_status reshape_rows(struct ys_onnx_step *step, struct target *t)
{
    struct batch_place p;
    int64_t shape[YS_MAX_RANK + 2] = {YS_BATCH};
    size_t rank = 1, batch = 0;
    const struct ys_onnx_rows before = step->in[0]->rows;
    YS_TRY(find_place(step, t, &p));
    for (size_t i = 0; i < t->rank; i++) {
        if (i != p.axis) {
            shape[rank++] = t->shape[i].fixed;
            continue;
        }
        if (p.outer > 1)
            shape[rank++] = p.outer;
        batch = rank - 1;
        if (p.inner > 1)
            shape[rank++] = p.inner;
    }
    if (rank > YS_MAX_RANK)
        return YS_FAIL_STEP(step, "makes %zu dimensions, one of %lld rows for each of the batch: at most %zu", t->rank,
                            (long long)(p.outer * p.inner), YS_MAX_RANK - (rank - t->rank));
    YS_TRY(reshape_to(step, shape, rank));
    for (size_t i = 0; i < rank; i++)
        step->out->perm[i] = i < batch ? (int)i + 1 : i == batch ? 0 : (int)i;
    const bool is_same = before.maker && before.each == p.outer * p.inner;
    step->out->rows = (struct ys_onnx_rows){is_same ? before.maker : step->node, p.outer * p.inner, p.axis,
                                            1 + (p.outer > 1) + (p.inner > 1)};
    if (p.outer * p.inner == 1)
        step->out->rows = (struct ys_onnx_rows){p.axis > 0 ? step->node : NULL, 0, 0, 0};
    note_rows(step, &before);
    return YS_OK;
}

/* All elements in a row: a value that waits for its Gather. */
static ys_status lay_flat(struct ys_onnx_step *step)
{
    int value;
    YS_TRY(ys_onnx_take_flat(step, step->in[0], &value));
    ys_onnx_set(step, value, NULL);
    step->out->rows = (struct ys_onnx_rows){0};
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
    if (step->in[0] && step->in[0]->kind == YS_ONNX_CONSTANT)
        return ys_onnx_embed(step);
    if (step->node->in_count > 1 && step->in[1] && step->in[1]->kind == YS_ONNX_CONSTANT)
        YS_TRY(ys_onnx_constant_in(step, 1, &index));
    if (index && !index->is_real && index->rank == 0 && !index->per_row && step->in[0]->curve != YS_ONNX_FLAT &&
        ys_onnx_constant_whole(index, 0).each == 0)
        return ys_onnx_pick(step, step->in[0], axis, ys_onnx_constant_whole(index, 0).fixed);
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

ys_status ys_onnx_reshape(struct ys_onnx_step *step)
{
    struct target t;
    YS_TRY(need_whole(step));
    YS_TRY(read_target(step, &t));
    if (t.rank == 1 && t.open == 0 && step->in[0]->perm[0] == 0)
        return lay_flat(step);
    if (t.rank < 2)
        return YS_FAIL_STEP(step, "makes a value of %zu dimensions: the batch and another must stay", t.rank);
    return reshape_rows(step, &t);
}

/* The axes before `axis` are one, and those from there on. */
ys_status ys_onnx_flatten(struct ys_onnx_step *step)
{
    struct target t = {.shape = {{1, 0}, {1, 0}}, .rank = 2, .open = YS_MAX_RANK};
    int64_t axis = 1;
    int in;
    YS_TRY(need_whole(step));
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    const int64_t rank = (int64_t)ys_onnx_file_rank(step->r, step->in[0]);
    const int64_t from = axis < 0 ? axis + rank : axis;
    if (from < 0 || from > rank)
        return YS_FAIL_STEP(step, "attribute axis is %lld of %lld dimensions", (long long)axis, (long long)rank);
    if (from == 1 && !step->in[0]->rows.maker) {
        YS_TRY(ys_onnx_take_flat(step, step->in[0], &in));
        return ys_onnx_emit(step, YS_OP_FLATTEN, &in, 1, NULL);
    }
    for (int64_t i = 0; i < rank; i++) {
        struct ys_onnx_whole *of = &t.shape[i >= from], n = ys_onnx_file_extent(step->r, step->in[0], (size_t)i);
        const int64_t all = extent_of(of) * extent_of(&n);
        *of = of->each || n.each ? (struct ys_onnx_whole){0, all} : (struct ys_onnx_whole){all, 0};
    }
    return reshape_rows(step, &t);
}

/* Which axes a Squeeze or Unsqueeze names, of `rank`. */
static ys_status read_axes(struct ys_onnx_step *step, size_t rank, bool marked[2 * YS_MAX_RANK], size_t *count)
{
    struct ys_onnx_constant *in;
    int64_t axes[YS_MAX_RANK];
    *count = 0;
    YS_TRY(ys_onnx_constant_in(step, 1, &in));
    YS_TRY(ys_onnx_numbers(&step->r->folding, step->node, in, "axes", axes, YS_MAX_RANK, count));
    const int64_t all = (int64_t)(rank + (step->node->op[0] == 'U' ? *count : 0));
    for (size_t i = 0; i < *count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + all : axes[i];
        if (axis < 0 || axis >= all)
            return YS_FAIL_STEP(step, "axis %lld is beyond the %lld dimensions of its input", (long long)axes[i],
                                (long long)all);
        if (marked[axis])
            return YS_FAIL_STEP(step, "axes has axis %lld twice", (long long)axis);
        marked[axis] = true;
    }
    return YS_OK;
}

ys_status ys_onnx_squeeze(struct ys_onnx_step *step)
{
    struct target t = {.open = YS_MAX_RANK};
    bool marked[2 * YS_MAX_RANK] = {false};
    size_t count;
    YS_TRY(need_whole(step));
    const size_t before = ys_onnx_file_rank(step->r, step->in[0]);
    YS_TRY(read_axes(step, before, marked, &count));
    for (size_t i = 0; i < before; i++) {
        const struct ys_onnx_whole n = ys_onnx_file_extent(step->r, step->in[0], i);
        if (marked[i] && n.each)
            return YS_FAIL_STEP(step, "takes away axis %zu, the batch", i);
        if (marked[i] && n.fixed != 1)
            return YS_FAIL_STEP(step, "axis %zu has the extent %lld, not 1", i, (long long)n.fixed);
        if (!(count ? marked[i] : n.fixed == 1))
            t.shape[t.rank++] = n;
    }
    return reshape_rows(step, &t);
}

ys_status ys_onnx_unsqueeze(struct ys_onnx_step *step)
{
    struct target t = {.open = YS_MAX_RANK};
    bool marked[2 * YS_MAX_RANK] = {false};
    size_t count, next = 0;
    if (step->in[0] && step->in[0]->kind == YS_ONNX_LIVE &&
        (step->in[0]->curve == YS_ONNX_COUNTS || step->in[0]->curve == YS_ONNX_BLANKS)) {
        const size_t axes = (size_t)step->in[0]->axis;
        YS_TRY(read_axes(step, axes, marked, &count));
        if (!marked[0] && axes + count <= YS_MAX_RANK && !marked[axes + count - 1]) {
            ys_onnx_spread_counts(step, count);
            return YS_OK;
        }
    }
    YS_TRY(need_whole(step));
    const size_t before = ys_onnx_file_rank(step->r, step->in[0]);
    YS_TRY(read_axes(step, before, marked, &count));
    if (before + count > YS_MAX_RANK)
        return YS_FAIL_STEP(step, "makes more than %d dimensions", YS_MAX_RANK);
    for (; t.rank < before + count; t.rank++)
        t.shape[t.rank] = marked[t.rank] || next == before ? (struct ys_onnx_whole){1, 0}
                                                           : ys_onnx_file_extent(step->r, step->in[0], next++);
    return reshape_rows(step, &t);
}

/* How the file sees the value behind the move. */
static void move_axes(struct ys_onnx_step *step, const struct ys_onnx_slot *in, const int64_t *perm, size_t rank)
{
    struct ys_onnx_slot *out = step->out;
    const size_t batch = ys_onnx_batch_axis(in);
    size_t at = 0;
    out->rows = in->rows;
    for (size_t i = 0; i < rank; i++) {
        const bool is_joined = in->rows.each && (size_t)perm[i] == batch;
        const size_t first = ys_onnx_apart(in, (size_t)perm[i]);
        if (is_joined)
            out->rows.first = at;
        for (size_t k = 0; k < (is_joined ? in->rows.count : 1); k++)
            out->perm[at++] = in->perm[first + k];
    }
    if (out->rows.each)
        return;
    out->rows.maker = ys_onnx_batch_axis(out) == 0 ? NULL : in->rows.maker ? in->rows.maker : step->node;
}

ys_status ys_onnx_transpose(struct ys_onnx_step *step)
{
    int64_t perm[YS_MAX_RANK];
    unsigned seen = 0;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t rank = ys_onnx_file_rank(step->r, step->in[0]);
    size_t count = rank;
    for (size_t i = 0; i < rank; i++)
        perm[i] = (int64_t)(rank - 1 - i);
    YS_TRY(ys_onnx_integers(step->node, "perm", perm, YS_MAX_RANK, &count));
    for (size_t i = 0; i < count; i++) {
        if (count != rank || perm[i] < 0 || perm[i] >= (int64_t)rank || seen & 1U << perm[i])
            return YS_FAIL_STEP(step, "attribute perm does not name each of %zu axes once", rank);
        seen |= 1U << perm[i];
    }
    int value;
    YS_TRY(step->r->own ? ys_onnx_take(step, step->in[0], true, &value) : ys_onnx_settle(step, step->in[0]));
    const struct ys_onnx_slot in = *step->in[0];
    ys_onnx_set(step, in.value, &in);
    move_axes(step, &in, perm, rank);
    memcpy(step->out->pads, in.pads, sizeof in.pads);
    step->out->pixels = in.pixels;
    if (step->r->own) /* a graph's own transpositions stay where they are, but for those that are part of an operator */
        step->out->turned = ys_onnx_is_plain(&in) || !ys_onnx_is_plain(step->out) ? step->node : NULL;
    note_rows(step, &in.rows);
    return YS_OK;
}

ys_status ys_onnx_make_turned(struct ys_onnx_step *step)
{
    const struct ys_onnx_node_in *node = step->node;
    size_t live = 0;
    int value;
    for (size_t i = 0; i < node->in_count; i++)
        live += step->in[i] && step->in[i]->kind == YS_ONNX_LIVE;
    if (strcmp(node->op, "LSTM") == 0 || strcmp(node->op, "GRU") == 0 || (strcmp(node->op, "MatMul") == 0 && live > 1))
        return YS_OK;
    for (size_t i = 0; i < node->in_count; i++)
        if (step->in[i] && step->in[i]->turned)
            YS_TRY(ys_onnx_take(step, step->in[i], true, &value));
    return YS_OK;
}
