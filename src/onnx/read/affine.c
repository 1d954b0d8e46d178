/* Sums and products: of two values, or of a value and a constant. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <math.h>
#include <string.h>

/* A constant beside a value: one number, or one for each place of some axes of the value. */
struct beside_value {
    struct ys_onnx_constant *constant;
    int64_t count;
    bool is_left;                           /* constant - x */
    bool stretches;                         /* the value, along an axis where it has the extent 1 */
    size_t front[YS_MAX_RANK], front_count; /* axes of the value along which it has an extent */
};

/* Axis of the left operand, of `rank` dimensions, that axis 0 of the right one lies along. Before operator set 7 an
 * attribute said so. Ranks and axes are those of the file. */
static ys_status find_offset(struct ys_onnx_step *step, size_t right, size_t rank, int64_t *offset)
{
    int64_t axis = (int64_t)rank - (int64_t)right;
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    if (axis < 0 && axis >= -(int64_t)rank && ys_onnx_has(step->node, "axis"))
        axis += (int64_t)rank;
    *offset = axis;
    if (axis > (int64_t)rank || (axis >= 0 && axis + (int64_t)right > (int64_t)rank))
        return YS_FAIL_STEP(step, "a constant of %zu dimensions does not fit beside a value of %zu", right, rank);
    return YS_OK;
}

/* The axis of the value that an axis of a constant lies along; 0, the batch, along which none may lie. What lies along
 * k times the batch is right for the one row of the batch that the file is made for. */
static size_t axis_beside(const struct ys_onnx_step *step, const struct ys_onnx_slot *slot, int64_t axis)
{
    size_t apart = axis < 0 ? 0 : ys_onnx_apart(slot, (size_t)axis);
    if (axis < 0)
        return 0;
    if ((size_t)axis != ys_onnx_batch_axis(slot))
        return (size_t)slot->perm[apart];
    if (slot->rows.each == 0 || slot->rows.count != 2 || step->r->fixed_batch != 1)
        return 0;
    return (size_t)(slot->perm[apart] + slot->perm[apart + 1]); /* one of them is 0 */
}

static ys_status find_beside(struct ys_onnx_step *step, struct ys_onnx_slot *slot, struct ys_onnx_constant *c,
                             struct beside_value *beside)
{
    const struct ys_value *value = &step->r->graph->values[slot->value];
    const size_t rank = ys_onnx_file_rank(step->r, slot);
    int64_t offset;
    beside->constant = c;
    beside->count = c->count;
    beside->front_count = 0;
    if (c->count == 1 && c->rank <= rank)
        return YS_OK;
    YS_TRY(find_offset(step, c->rank, rank, &offset));
    for (size_t d = 0; d < c->rank; d++) {
        const int64_t axis = offset + (int64_t)d;
        if (c->shape[d] == 1 && axis >= 0)
            continue;
        const size_t at = axis_beside(step, slot, axis);
        if (at == 0 && axis >= 0 && slot->rows.each && (size_t)axis == ys_onnx_batch_axis(slot))
            return YS_FAIL_STEP(step, "reads a constant that lies along an axis of %lld rows for each of the batch",
                                (long long)slot->rows.each);
        if (at == 0 || (value->shape[at] != c->shape[d] && value->shape[at] != 1))
            return YS_FAIL_STEP(step,
                                "reads a constant whose axis %zu has the extent %lld: it must lie along an axis of the "
                                "value, of the same extent or 1, that is not the batch",
                                d, (long long)c->shape[d]);
        beside->stretches = beside->stretches || value->shape[at] != c->shape[d];
        beside->front[beside->front_count++] = at;
    }
    return YS_OK;
}

static bool is_along(const struct beside_value *beside, size_t axis)
{
    return !beside->stretches && (beside->front_count == 0 || (beside->front_count == 1 && beside->front[0] == axis));
}

static bool is_by_channel(const struct beside_value *beside)
{
    return is_along(beside, 1);
}

/* What a number of 32 bits was before it was rounded: 1 / n for a whole n, or a short decimal. */
static double plain(const struct ys_onnx_constant *c, int64_t index)
{
    double value = ys_onnx_constant_real(c, index);
    if (c->type != YS_ONNX_FLOAT || !isfinite(value) || value == 0)
        return value;
    double n = round(1 / value);
    if (fabs(n) < 1e6 && (float)(1 / n) == (float)value)
        return 1 / n;
    return ys_onnx_short_real((float)value);
}

static ys_status spread_pixels(struct ys_onnx_step *step, struct ys_onnx_pixels *p, int64_t count)
{
    const size_t room = sizeof p->mean / sizeof p->mean[0];
    if (count > (int64_t)room)
        return YS_FAIL_STEP(step, "normalises %lld channels: at most %zu are read", (long long)count, room);
    for (size_t i = 1; p->channels == 1 && (int64_t)i < count; i++) {
        p->mean[i] = p->mean[0];
        p->std[i] = p->std[0];
    }
    if (count > 1)
        p->channels = (size_t)count;
    return YS_OK;
}

/* A step of the normalisation of the input. */
static ys_status step_pixels(struct ys_onnx_step *step, const struct ys_onnx_slot *slot,
                             const struct beside_value *beside)
{
    struct ys_onnx_pixels *p = ys_onnx_file_keep(step->r->file, 1, sizeof *p);
    const char op = step->node->op[0];
    *p = *slot->pixels;
    YS_TRY(spread_pixels(step, p, beside->count));
    bool fresh = op == 'M' && beside->count == 1;
    for (size_t c = 0; c < p->channels; c++)
        fresh = fresh && p->mean[c] == 0 && p->std[c] == 1;
    if (fresh)
        p->scale *= plain(beside->constant, 0);
    for (size_t c = 0; c < p->channels && !fresh; c++) {
        double k = plain(beside->constant, beside->count == 1 ? 0 : (int64_t)c);
        if (op == 'M')
            p->std[c] /= k;
        else if (op == 'D')
            p->std[c] *= k;
        else
            p->mean[c] += (op == 'A' ? -k : k) * p->std[c];
    }
    ys_onnx_set(step, slot->value, slot);
    step->out->pixels = p;
    ys_onnx_note(step->r, "node %.100s (%s) with a constant is part of the normalisation of the input: not trained",
                 step->node->name, step->node->op);
    return YS_OK;
}

/* x + b behind a Conv or Gemm without a bias, which nothing else reads, is its bias. */
static ys_status join_bias(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct beside_value *beside)
{
    struct ys_graph *graph = step->r->graph;
    int producer = graph->values[slot->value].producer;
    YS_TRY(ys_onnx_vector(step, producer, YS_NODE_BIAS, beside->constant));
    ys_onnx_set(step, slot->value, slot);
    if (step->r->own && graph->values[slot->value].rank > 2 && graph->nodes[producer].op == YS_OP_GEMM)
        ys_onnx_rename(step, slot->value);
    ys_onnx_note(step->r, "node %.100s (Add) is the bias of node %.100s", step->node->name,
                 graph->nodes[producer].name);
    return YS_OK;
}

/* Whether what makes the slot's value has room for a bias, and the constant is one. */
static bool takes_bias(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot,
                       const struct beside_value *beside)
{
    const struct ys_value *value = &r->graph->values[slot->value];
    if (value->producer < 0 || beside->constant->rank == 0)
        return false;
    const struct ys_node *node = &r->graph->nodes[value->producer];
    const size_t axis = node->op == YS_OP_GEMM ? value->rank - 1 : 1;
    return (node->op == YS_OP_CONV || node->op == YS_OP_GEMM) && node->bias < 0 && is_along(beside, axis) &&
           beside->constant->count == value->shape[axis];
}

/* number / x */
static ys_status one_over(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct beside_value *beside)
{
    const struct ys_onnx_affine times = {.factor = plain(beside->constant, 0)};
    int in, node;
    struct ys_onnx_slot made = *slot;
    YS_TRY(ys_onnx_take(step, &made, true, &in));
    if (times.factor == 1)
        YS_TRY(ys_onnx_begin(step, YS_OP_POW, &in, 1, 1, &node));
    else
        YS_TRY(ys_onnx_begin_extra(step, YS_OP_POW, in, "/reciprocal", &node));
    step->r->graph->nodes[node].exponent = -1;
    YS_TRY(ys_onnx_end(step->r, node, &made.value));
    if (times.factor != 1)
        return ys_onnx_affine(step, &made, &times);
    ys_onnx_set(step, made.value, &made);
    return YS_OK;
}

/* The slot negated, or one over it. */
static ys_status turn(struct ys_onnx_step *step, struct ys_onnx_slot *slot, enum ys_op op, struct ys_onnx_slot *turned)
{
    const struct ys_onnx_affine minus = {.factor = -1};
    struct ys_onnx_step part = *step;
    int in, node;
    *turned = (struct ys_onnx_slot){0};
    part.out = turned;
    if (op == YS_OP_SUB)
        return ys_onnx_affine(&part, slot, &minus);
    YS_TRY(ys_onnx_take(step, slot, true, &in));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_POW, in, "/reciprocal", &node));
    step->r->graph->nodes[node].exponent = -1;
    YS_TRY(ys_onnx_end(step->r, node, &in));
    ys_onnx_set(&part, in, slot);
    return YS_OK;
}

/* Whether the value is the file's input, but for what normalises it. */
static bool is_input(const struct ys_graph *graph, const struct ys_onnx_slot *slot)
{
    int value = slot->value;
    for (int hops = 0; hops < 4 && !slot->pixels && graph->values[value].producer >= 0; hops++) {
        const struct ys_node *node = &graph->nodes[graph->values[value].producer];
        const bool is_step = ys_op_rule(node->op)->params == YS_PARAMS_OPERAND && node->in_count == 1 &&
                             graph->params[node->weight].lr_mult == 0;
        if (node->op != YS_OP_NORMALIZE && !is_step)
            return false;
        value = node->in[0];
    }
    return slot->pixels || graph->values[value].producer < 0;
}

/* Why a constant beside a value is not trained; NULL: it is. */
static const char *why_constant(const struct ys_onnx_step *step, const struct ys_onnx_slot *slot, enum ys_op op,
                                struct ys_onnx_constant *c)
{
    const bool is_sum = op == YS_OP_ADD || op == YS_OP_SUB;
    if (op == YS_OP_DIV)
        return "a divisor";
    if (step->r->own)
        return NULL;
    return is_input(step->r->graph, slot)            ? "a part of the normalisation of the input"
           : ys_onnx_constant_is_mask(c, is_sum)     ? "a mask"
           : !c->is_held && !c->tensor && !c->filled ? "computed from shapes and single numbers"
                                                     : NULL;
}

/* x + c, x * c and their like of a constant of several numbers, which is trained unless there is a reason. */
static ys_status with_operand(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct beside_value *beside)
{
    static const enum ys_op ops[] = {['A'] = YS_OP_ADD, ['S'] = YS_OP_SUB, ['M'] = YS_OP_MUL, ['D'] = YS_OP_DIV};
    const bool is_sum = strcmp(step->node->op, "Sum") == 0;
    enum ys_op op = is_sum ? YS_OP_ADD : ops[(unsigned char)step->node->op[0]];
    const struct ys_onnx_operand operand = {beside->constant, beside->front, beside->front_count};
    struct ys_onnx_slot turned = *slot;
    const size_t before = step->r->graph->param_count;
    if (beside->is_left && (op == YS_OP_SUB || op == YS_OP_DIV)) {
        YS_TRY(turn(step, slot, op, &turned));
        op = op == YS_OP_SUB ? YS_OP_ADD : YS_OP_MUL;
    }
    const char *why = why_constant(step, slot, op, beside->constant);
    YS_TRY(ys_onnx_operand(step, &turned, op, &operand));
    if (!why || step->r->graph->param_count == before)
        return YS_OK;
    struct ys_param *fixed = &step->r->graph->params[step->r->graph->param_count - 1];
    fixed->lr_mult = fixed->decay_mult = 0;
    ys_onnx_note(step->r, "node %.100s (%s) reads %.100s, which is %s and not trained", step->node->name,
                 step->node->op, fixed->name, why);
    return YS_OK;
}

/* The same of one number, as it enters. */
static ys_status scale(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct beside_value *beside)
{
    const char op = step->node->op[0] == 'S' && step->node->op[2] == 'm' ? 'A' : step->node->op[0];
    const bool is_sum = op == 'A' || op == 'S';
    struct ys_onnx_affine affine = {.factor = is_sum && beside->is_left && op == 'S' ? -1 : 1};
    if (beside->front_count > 0 || (beside->constant->rank > 2 && (op != 'D' || beside->is_left)))
        return with_operand(step, slot, beside);
    if (op == 'D' && beside->is_left)
        return one_over(step, slot, beside);
    const double number = plain(beside->constant, 0);
    if (is_sum)
        affine.shift = op == 'S' && !beside->is_left ? -number : number;
    else
        affine.factor = op == 'D' ? 1 / number : number;
    if (affine.factor == 1 && affine.shift == 0) {
        ys_onnx_alias(step, slot);
        return YS_OK;
    }
    bool done = false;
    if (affine.shift == 0)
        YS_TRY(ys_onnx_put_off(step, slot, affine.factor, &done));
    if (done)
        return YS_OK;
    ys_onnx_note(step->r, "node %.100s (%s with the number %g) is a Conv of 1x1 that is not trained", step->node->name,
                 step->node->op, number);
    return ys_onnx_affine(step, slot, &affine);
}

static ys_status with_constant(struct ys_onnx_step *step, struct ys_onnx_slot *slot, struct ys_onnx_constant *constant,
                               bool is_left)
{
    struct beside_value beside = {.is_left = is_left};
    const char *op = step->node->op;
    if (!constant->is_real)
        return YS_FAIL_STEP(step, "%s", "has integers beside a value");
    if (slot->curve == YS_ONNX_ERF && op[0] == 'A' && constant->count == 1 && ys_onnx_constant_real(constant, 0) == 1) {
        ys_onnx_alias(step, slot);
        step->out->curve = YS_ONNX_ERF1;
        return YS_OK;
    }
    if (slot->curve == YS_ONNX_SCORES && op[0] == 'A')
        return ys_onnx_mask_scores(step, slot, constant, false);
    YS_TRY(ys_onnx_make_padded(step, slot));
    if (slot->curve != YS_ONNX_ERF1 && slot->curve != YS_ONNX_SCORES &&
        (slot->curve != YS_ONNX_PLAIN || (op[0] != 'M' && op[0] != 'D')))
        YS_TRY(ys_onnx_settle(step, slot));
    YS_TRY(find_beside(step, slot, constant, &beside));
    const bool turned = is_left && (strcmp(op, "Sub") == 0 || strcmp(op, "Div") == 0);
    if (slot->pixels && is_by_channel(&beside) && !turned && strcmp(op, "Sum") != 0)
        return step_pixels(step, slot, &beside);
    const bool joins = op[0] == 'A' && takes_bias(step->r, slot, &beside) && ys_onnx_is_read_once(step->r, slot);
    return joins ? join_bias(step, slot, &beside) : scale(step, slot, &beside);
}

static bool seen_alike(const struct ys_onnx_slot *a, const struct ys_onnx_slot *b)
{
    return memcmp(a->perm, b->perm, sizeof a->perm) == 0;
}

/* A value of fewer dimensions beside one of `rank`: where its batch is that of the other it gets axes of the extent 1
 * before its own. With the batch first in both its axes are the first of `rank`: that is how operator sets before 7 may
 * say it. Later ones let the last axes be the same, where the batch of one would be another axis of the other. */
static ys_status widen(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct ys_onnx_slot *wide)
{
    const size_t before = ys_onnx_rank(step->r, slot), rank = ys_onnx_rank(step->r, wide);
    int64_t shape[YS_MAX_RANK] = {YS_BATCH}, offset;
    if (before == rank)
        return YS_OK;
    YS_TRY(find_offset(step, ys_onnx_file_rank(step->r, slot), ys_onnx_file_rank(step->r, wide), &offset));
    const bool is_behind = wide->rows.maker && offset == (int64_t)(rank - before);
    if (offset != 0 && !is_behind)
        return YS_FAIL_STEP(step,
                            "reads values of %zu and %zu dimensions: axis 0, the batch, would lie along axis %lld of "
                            "the other",
                            rank, before, (long long)offset);
    YS_TRY(is_behind ? ys_onnx_take_behind(step, slot, &slot->value) : ys_onnx_take(step, slot, false, &slot->value));
    const struct ys_value *value = &step->r->graph->values[slot->value];
    const size_t from = is_behind ? rank - before + 1 : 1; /* of its second axis */
    for (size_t i = 1; i < rank; i++)
        shape[i] = i >= from && i - from + 1 < before ? value->shape[i - from + 1] : 1;
    memcpy(slot->perm, wide->perm, sizeof slot->perm); /* the batch at that place, the others in their order */
    return ys_onnx_reshape_extra(step, "/widened", shape, rank, &slot->value);
}

static ys_status of_values(struct ys_onnx_step *step, enum ys_op op)
{
    int in[2];
    struct ys_onnx_slot *a = step->in[0], *b = step->in[1];
    bool done = false;
    if (op == YS_OP_MUL)
        YS_TRY(ys_onnx_join(step, a, b, &done));
    if (done)
        return YS_OK;
    YS_TRY(ys_onnx_settle(step, a));
    YS_TRY(ys_onnx_settle(step, b));
    const size_t left = ys_onnx_rank(step->r, a), right = ys_onnx_rank(step->r, b);
    struct ys_onnx_slot narrow = left < right ? *a : *b, *wide = left < right ? b : a;
    int *const wide_in = &in[left < right], *const narrow_in = &in[left >= right];
    const bool alike = left == right && seen_alike(wide, &narrow);
    YS_TRY(alike ? ys_onnx_take(step, wide, true, wide_in) : ys_onnx_take_behind(step, wide, wide_in));
    YS_TRY(widen(step, &narrow, wide));
    YS_TRY(alike ? ys_onnx_take(step, &narrow, true, narrow_in) : ys_onnx_take_behind(step, &narrow, narrow_in));
    return ys_onnx_emit(step, op, in, 2, wide);
}

static ys_status map_pair(struct ys_onnx_step *step, enum ys_op op)
{
    struct ys_onnx_constant *left, *right = NULL;
    if (step->node->in_count < 2 || !step->in[0] || !step->in[1])
        return YS_FAIL_STEP(step, "has %zu inputs, not 2", step->node->in_count);
    YS_TRY(ys_onnx_constant_in(step, 0, &left));
    YS_TRY(step->in[1]->kind == YS_ONNX_CONSTANT ? ys_onnx_constant_in(step, 1, &right) : YS_OK);
    if (right || left)
        return with_constant(step, step->in[right ? 0 : 1], right ? right : left, !right);
    return of_values(step, op);
}

ys_status ys_onnx_add(struct ys_onnx_step *step)
{
    if (strcmp(step->node->op, "Sum") != 0 || step->node->in_count == 2)
        return map_pair(step, YS_OP_ADD);
    int sum, value, node;
    for (size_t i = 0; i < step->node->in_count; i++)
        YS_TRY(ys_onnx_need_live(step, i));
    YS_TRY(ys_onnx_take_behind(step, step->in[0], &sum)); /* a value that is alone too */
    const struct ys_onnx_slot like = *step->in[0];
    for (size_t i = 1; i < step->node->in_count; i++) {
        const bool last = i + 1 == step->node->in_count;
        YS_TRY(ys_onnx_take_behind(step, step->in[i], &value));
        if (last)
            return ys_onnx_emit(step, YS_OP_ADD, (const int[]){sum, value}, 2, &like);
        YS_TRY(ys_onnx_begin_extra(step, YS_OP_ADD, sum, "/sum", &node));
        step->r->graph->nodes[node].in[step->r->graph->nodes[node].in_count++] = value;
        YS_TRY(ys_onnx_end(step->r, node, &sum));
    }
    ys_onnx_set(step, sum, &like);
    return YS_OK;
}

ys_status ys_onnx_sub(struct ys_onnx_step *step)
{
    return map_pair(step, YS_OP_SUB);
}

ys_status ys_onnx_mul(struct ys_onnx_step *step)
{
    return map_pair(step, YS_OP_MUL);
}

ys_status ys_onnx_div(struct ys_onnx_step *step)
{
    return map_pair(step, YS_OP_DIV);
}
