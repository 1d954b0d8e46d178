/* Sums and products: of two values, or of a value and a constant. */
#include "base/mem.h"
#include "onnx/reading.h"

#include <math.h>
#include <string.h>

/* A constant beside a value: one number, or one for each channel of the value. */
struct beside {
    struct ys_onnx_constant *constant;
    int64_t count;
};

/* Axis of the file's value that axis `d` of the constant lies along. Before operator set 7 an attribute said so. */
static ys_status find_offset(struct ys_onnx_step *step, const struct ys_onnx_constant *c, size_t rank, int64_t *offset)
{
    int64_t broadcast = 0, axis = (int64_t)rank - (int64_t)c->rank;
    YS_TRY(ys_onnx_integer(step->node, "broadcast", &broadcast));
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    if (axis < 0 && axis >= -(int64_t)rank && ys_onnx_has(step->node, "axis"))
        axis += (int64_t)rank;
    *offset = axis;
    if (axis < 0 || axis > (int64_t)rank || axis + (int64_t)c->rank > (int64_t)rank)
        return YS_FAIL_STEP(step, "a constant of %zu dimensions does not fit beside a value of %zu", c->rank, rank);
    return YS_OK;
}

static ys_status find_beside(struct ys_onnx_step *step, struct ys_onnx_slot *slot, struct ys_onnx_constant *c,
                             struct beside *beside)
{
    const struct ys_onnx_reading *r = step->r;
    const struct ys_value *value = &r->graph->values[slot->value];
    const int64_t channels = value->rank > 1 ? value->shape[1] : 1;
    int64_t offset;
    *beside = (struct beside){c, 1};
    if (c->count == 1)
        return YS_OK;
    YS_TRY(find_offset(step, c, value->rank, &offset));
    for (size_t d = 0; d < c->rank; d++) {
        if (c->shape[d] == 1)
            continue;
        if (slot->perm[(size_t)offset + d] != 1 || c->shape[d] != channels)
            return YS_FAIL_STEP(
                step,
                "reads a constant of %lld elements that are not one for each channel: graphs do not repeat "
                "values to make shapes equal",
                (long long)c->count);
        beside->count = channels;
    }
    return YS_OK;
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
static ys_status step_pixels(struct ys_onnx_step *step, const struct ys_onnx_slot *slot, const struct beside *beside)
{
    struct ys_onnx_pixels *p = ys_onnx_file_keep(step->r->file, 1, sizeof *p);
    const char op = step->node->op[0];
    if (!p)
        return ys_out_of_memory();
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
    return ys_onnx_note(step->r,
                        "node %.100s (%s) with a constant is part of the normalisation of the input: not trained",
                        step->node->name, step->node->op);
}

/* x + b behind a Conv or Gemm without a bias, which nothing else reads, is its bias. */
static ys_status join_bias(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct beside *beside)
{
    struct ys_graph *graph = step->r->graph;
    int producer = graph->values[slot->value].producer;
    float *values;
    const int64_t shape[] = {graph->values[slot->value].shape[1]};
    YS_TRY(ys_onnx_floats(beside->constant, &values));
    YS_TRY(ys_onnx_param(step, producer, YS_NODE_BIAS, beside->constant, values, shape, 1));
    ys_onnx_set(step, slot->value, slot);
    return ys_onnx_note(step->r, "node %.100s (Add) is the bias of node %.100s", step->node->name,
                        graph->nodes[producer].name);
}

static bool takes_bias(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, const struct beside *beside)
{
    const struct ys_value *value = &r->graph->values[slot->value];
    if (value->producer < 0 || slot->uses != 1 || beside->constant->rank == 0)
        return false;
    const struct ys_node *node = &r->graph->nodes[value->producer];
    return (node->op == YS_OP_CONV || node->op == YS_OP_GEMM) && node->bias < 0 &&
           beside->constant->count == value->shape[1];
}

/* A factor for each channel that is trained: a convolution of 1x1 with a group for each channel. */
static ys_status scale_channels(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct beside *beside)
{
    struct ys_onnx_reading *r = step->r;
    int value, node;
    float *values;
    YS_TRY(ys_onnx_take(step, slot, true, &value));
    const int64_t shape[4] = {r->graph->values[value].shape[1], 1, 1, 1};
    YS_TRY(ys_onnx_begin(step, YS_OP_CONV, &value, 1, 1, &node));
    r->graph->nodes[node].window.group = shape[0];
    YS_TRY(ys_onnx_floats(beside->constant, &values));
    YS_TRY(ys_onnx_param(step, node, YS_NODE_WEIGHT, beside->constant, values, shape, 4));
    YS_TRY(ys_onnx_end(r, node, &value));
    ys_onnx_set(step, value, slot);
    return ys_onnx_note(r, "node %.100s (Mul by one number for each channel) is a Conv of 1x1 in %lld groups",
                        step->node->name, (long long)shape[0]);
}

static ys_status with_constant(struct ys_onnx_step *step, struct ys_onnx_slot *slot, struct ys_onnx_constant *constant)
{
    struct beside beside;
    const char op = step->node->op[0];
    if (ys_onnx_is_padded(slot) || slot->gate)
        return YS_FAIL_STEP(step, "%s", "reads the result of a Pad or HardSigmoid beside a constant");
    YS_TRY(find_beside(step, slot, constant, &beside));
    if (slot->pixels)
        return step_pixels(step, slot, &beside);
    if (op == 'A' && takes_bias(step->r, slot, &beside))
        return join_bias(step, slot, &beside);
    if (op == 'M' && step->r->graph->values[slot->value].rank == 4 && constant->rank > 0 &&
        beside.count == step->r->graph->values[slot->value].shape[1])
        return scale_channels(step, slot, &beside);
    if (constant->count == 1 && (op == 'M' || op == 'D') && ys_onnx_constant_real(constant, 0) == 1) {
        ys_onnx_set(step, slot->value, slot);
        return YS_OK;
    }
    return YS_FAIL_STEP(step,
                        "has a constant beside a value: that is read where it normalises the input, is the bias of a "
                        "Conv or Gemm of its own, or is a factor for each channel of an image, not with %lld elements",
                        (long long)constant->count);
}

static bool seen_alike(const struct ys_onnx_slot *a, const struct ys_onnx_slot *b)
{
    return memcmp(a->perm, b->perm, sizeof a->perm) == 0;
}

static ys_status of_values(struct ys_onnx_step *step, enum ys_op op)
{
    int in[2];
    struct ys_onnx_slot *a = step->in[0], *b = step->in[1];
    if (op == YS_OP_MUL && (a->gate || b->gate) && a->value == b->value && a->gate != b->gate && seen_alike(a, b)) {
        struct ys_onnx_slot *x = a->gate ? b : a;
        YS_TRY(ys_onnx_take(step, x, true, in));
        YS_TRY(ys_onnx_note(step->r, "node %.100s (Mul by a HardSigmoid) is a HardSwish", step->node->name));
        return ys_onnx_emit(step, YS_OP_HARDSWISH, in, 1, x);
    }
    const bool alike = seen_alike(a, b);
    YS_TRY(ys_onnx_take(step, a, alike, &in[0]));
    YS_TRY(ys_onnx_take(step, b, alike, &in[1]));
    return ys_onnx_emit(step, op, in, 2, alike ? a : NULL);
}

static ys_status map_pair(struct ys_onnx_step *step, enum ys_op op)
{
    struct ys_onnx_constant *left, *right;
    if (step->node->in_count < 2 || !step->in[0] || !step->in[1])
        return YS_FAIL_STEP(step, "has %zu inputs, not 2", step->node->in_count);
    YS_TRY(ys_onnx_constant_in(step, 0, &left));
    YS_TRY(ys_onnx_constant_in(step, 1, &right));
    if (right)
        return with_constant(step, step->in[0], right);
    if (left && (op == YS_OP_ADD || op == YS_OP_MUL) && step->node->op[0] != 'S' && step->node->op[0] != 'D')
        return with_constant(step, step->in[1], left);
    if (left || step->node->op[0] == 'S' || step->node->op[0] == 'D')
        return YS_FAIL_STEP(step, "%s",
                            "is no operator of yardstick's graphs, unless it takes a constant from pixels or "
                            "divides them by one");
    return of_values(step, op);
}

ys_status ys_onnx_add(struct ys_onnx_step *step)
{
    if (strcmp(step->node->op, "Sum") != 0 || step->node->in_count == 2)
        return map_pair(step, YS_OP_ADD);
    int sum, value, node;
    for (size_t i = 0; i < step->node->in_count; i++)
        YS_TRY(ys_onnx_need_live(step, i));
    YS_TRY(ys_onnx_take(step, step->in[0], false, &sum));
    for (size_t i = 1; i < step->node->in_count; i++) {
        const bool last = i + 1 == step->node->in_count;
        YS_TRY(ys_onnx_take(step, step->in[i], false, &value));
        if (last)
            return ys_onnx_emit(step, YS_OP_ADD, (const int[]){sum, value}, 2, NULL);
        YS_TRY(ys_onnx_begin_extra(step, YS_OP_ADD, sum, "/sum", &node));
        step->r->graph->nodes[node].in[step->r->graph->nodes[node].in_count++] = value;
        YS_TRY(ys_onnx_end(step->r, node, &sum));
    }
    ys_onnx_set(step, sum, NULL);
    return YS_OK;
}

ys_status ys_onnx_sub(struct ys_onnx_step *step)
{
    return map_pair(step, YS_OP_ADD);
}

ys_status ys_onnx_mul(struct ys_onnx_step *step)
{
    return map_pair(step, YS_OP_MUL);
}

ys_status ys_onnx_div(struct ys_onnx_step *step)
{
    return map_pair(step, YS_OP_MUL);
}
