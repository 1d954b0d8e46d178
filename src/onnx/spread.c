/* What works along one axis, or with one number for each place of some axes, of values of any rank: these axes become
 * the channels of an image (N, channels, 1, rest), which convolutions, pools and normalisations read. */
#include "base/mem.h"
#include "onnx/reading.h"

#include <string.h>

static bool is_front(const size_t *front, size_t count, size_t axis)
{
    for (size_t i = 0; i < count; i++)
        if (front[i] == axis)
            return true;
    return false;
}

/* Axes of the value in the order that the image needs: the batch, those in front, the others as they are. */
static void find_order(struct ys_onnx_image *image, const size_t *front, size_t count, size_t rank)
{
    size_t at = 1;
    image->rank = rank;
    for (size_t i = 0; i < count; i++)
        image->order[at++] = (int)front[i];
    for (size_t i = 1; i < rank; i++)
        if (!is_front(front, count, i))
            image->order[at++] = (int)i;
}

static ys_status move_axes(struct ys_onnx_step *step, struct ys_onnx_image *image)
{
    int node;
    bool moved = false;
    for (size_t i = 0; i < image->rank; i++)
        moved = moved || image->order[i] != (int)i;
    if (!moved)
        return YS_OK;
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_TRANSPOSE, image->value, "/moved", &node));
    memcpy(step->r->graph->nodes[node].permutation, image->order, image->rank * sizeof *image->order);
    return ys_onnx_end(step->r, node, &image->value);
}

ys_status ys_onnx_reshape_extra(struct ys_onnx_step *step, const char *suffix, const int64_t *shape, size_t rank,
                                int *value)
{
    int node;
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_RESHAPE, *value, suffix, &node));
    struct ys_node *made = &step->r->graph->nodes[node];
    made->shape_rank = rank;
    memcpy(made->shape, shape, rank * sizeof *shape);
    return ys_onnx_end(step->r, node, value);
}

ys_status ys_onnx_image(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const size_t *front, size_t front_count,
                        struct ys_onnx_image *image)
{
    int64_t shape[4] = {YS_BATCH, 1, 1, 1};
    *image = (struct ys_onnx_image){0};
    YS_TRY(ys_onnx_take(step, slot, true, &image->value));
    find_order(image, front, front_count, step->r->graph->values[image->value].rank);
    memcpy(image->seen, slot->perm, sizeof slot->perm);
    YS_TRY(move_axes(step, image));
    const struct ys_value *value = &step->r->graph->values[image->value];
    memcpy(image->shape, value->shape, sizeof value->shape);
    for (size_t i = 1; i < value->rank; i++)
        shape[i <= front_count ? 1 : 3] *= value->shape[i];
    image->channels = shape[1];
    image->as_it_is = value->rank == 4 && front_count == 1;
    return image->as_it_is ? YS_OK : ys_onnx_reshape_extra(step, "/image", shape, 4, &image->value);
}

ys_status ys_onnx_begin_image(struct ys_onnx_step *step, enum ys_op op, const struct ys_onnx_image *image,
                              const char *suffix, int *node)
{
    return image->as_it_is ? ys_onnx_begin(step, op, &image->value, 1, 1, node)
                           : ys_onnx_begin_extra(step, op, image->value, suffix, node);
}

ys_status ys_onnx_end_image(struct ys_onnx_step *step, const struct ys_onnx_image *image, int node)
{
    struct ys_onnx_slot seen = {0};
    int value, last;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    if (!image->as_it_is) {
        YS_TRY(ys_onnx_begin(step, YS_OP_RESHAPE, &value, 1, 1, &last));
        struct ys_node *made = &step->r->graph->nodes[last];
        made->shape_rank = image->rank;
        memcpy(made->shape, image->shape, image->rank * sizeof *image->shape);
        YS_TRY(ys_onnx_end(step->r, last, &value));
    }
    for (int i = 0; i < YS_MAX_RANK; i++)
        seen.perm[i] = i;
    for (size_t i = 0; i < image->rank; i++)
        for (size_t k = 0; k < image->rank; k++)
            if (image->order[k] == image->seen[i])
                seen.perm[i] = (int)k;
    ys_onnx_set(step, value, &seen);
    return YS_OK;
}

ys_status ys_onnx_affine(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const struct ys_onnx_affine *affine)
{
    struct ys_onnx_image image;
    int node;
    const size_t channels = 1;
    YS_TRY(ys_onnx_image(step, slot, &channels, step->r->graph->values[slot->value].rank == 4, &image));
    YS_TRY(ys_onnx_begin_image(step, YS_OP_CONV, &image, "/affine", &node));
    const int64_t shape[4] = {image.channels, 1, 1, 1};
    step->r->graph->nodes[node].window.group = image.channels;
    YS_TRY(ys_onnx_fixed(step, node, YS_NODE_WEIGHT, affine->factor, shape, 4));
    if (affine->shift != 0)
        YS_TRY(ys_onnx_fixed(step, node, YS_NODE_BIAS, affine->shift, shape, 1));
    return ys_onnx_end_image(step, &image, node);
}

/* The numbers of a constant in the order of the value's axes, which are those of `shape`. */
static ys_status turn_numbers(struct ys_onnx_step *part, const struct ys_onnx_operand *operand, const int64_t *shape,
                              size_t rank, float **values)
{
    const struct ys_onnx_constant *c = operand->constant;
    int64_t steps[YS_MAX_RANK] = {0}, step = 1;
    YS_TRY(ys_onnx_room(part, c, values));
    for (size_t i = operand->front_count; i-- > 0; step *= shape[operand->front[i] - 1])
        steps[operand->front[i] - 1] = step;
    for (int64_t at = 0; at < c->count; at++) {
        int64_t from = 0, rest = at;
        for (size_t d = rank; d-- > 0; rest /= shape[d])
            from += rest % shape[d] * steps[d];
        (*values)[at] = (float)ys_onnx_constant_real(c, from);
    }
    return YS_OK;
}

ys_status ys_onnx_operand(struct ys_onnx_step *step, struct ys_onnx_slot *slot, enum ys_op op,
                          const struct ys_onnx_operand *operand)
{
    const struct ys_onnx_constant *c = operand->constant;
    int64_t shape[YS_MAX_RANK];
    int in, node, value;
    float *values;
    YS_TRY(ys_onnx_take(step, slot, true, &in));
    size_t rank = step->r->graph->values[in].rank - 1, next = 0, skipped = 0;
    for (size_t d = 0; d < rank; d++)
        shape[d] = 1;
    for (size_t d = 0; d < c->rank && next < operand->front_count; d++)
        if (c->shape[d] != 1)
            shape[operand->front[next++] - 1] = c->shape[d];
    YS_TRY(turn_numbers(step, operand, shape, rank, &values));
    while (skipped + 1 < rank && shape[skipped] == 1 && (rank - skipped > c->rank || !ys_onnx_is_plain(slot)))
        skipped++; /* as many axes as the file has */
    ys_status status = ys_onnx_begin(step, op, &in, 1, 1, &node);
    if (status != YS_OK) {
        ys_free(values);
        return status;
    }
    YS_TRY(ys_onnx_param(step, node, YS_NODE_WEIGHT, operand->constant, values, shape + skipped, rank - skipped));
    const struct ys_onnx_slot like = *slot;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

static ys_status find_slope(struct ys_onnx_step *step, int in, struct ys_onnx_operand *operand)
{
    static const size_t channels_axis = 1;
    struct ys_onnx_constant *slope;
    const size_t rank = step->r->graph->values[in].rank;
    const int64_t channels = step->r->graph->values[in].shape[1];
    YS_TRY(ys_onnx_need_constant(step, 1, "slope", &slope));
    *operand = (struct ys_onnx_operand){slope, &channels_axis, slope->count != 1};
    size_t along = slope->rank == 1 && step->r->file->opset < 7 ? 1 : 0;
    for (size_t i = 0; i < slope->rank && along == 0 && slope->rank <= rank; i++)
        if (slope->shape[i] != 1)
            along = i + rank - slope->rank;
    if (!slope->is_real || (slope->count != 1 && (slope->count != channels || along != 1)))
        return YS_FAIL_STEP(step, "its slope has %lld elements, not 1 or one for each of %lld channels",
                            (long long)slope->count, (long long)channels);
    return YS_OK;
}

/* PRelu is max(x, 0) - slope * max(-x, 0). */
ys_status ys_onnx_prelu(struct ys_onnx_step *step)
{
    const struct ys_onnx_affine minus = {.factor = -1};
    struct ys_onnx_operand by_slope;
    struct ys_onnx_slot made = {0};
    struct ys_onnx_step part = *step;
    int in, node, sum[2];
    YS_TRY(ys_onnx_need_live(step, 0));
    struct ys_onnx_slot seen = *step->in[0];
    YS_TRY(ys_onnx_take(step, &seen, false, &in));
    YS_TRY(find_slope(step, in, &by_slope));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_RELU, in, "/up", &node));
    YS_TRY(ys_onnx_end(step->r, node, &sum[0]));
    part.out = &made;
    YS_TRY(ys_onnx_affine(&part, &seen, &minus));
    YS_TRY(ys_onnx_take(step, &made, false, &in));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_RELU, in, "/down", &node));
    YS_TRY(ys_onnx_end(step->r, node, &in));
    ys_onnx_set(&part, in, NULL);
    YS_TRY(ys_onnx_operand(&part, &made, YS_OP_MUL, &by_slope));
    YS_TRY(ys_onnx_take(step, &made, false, &sum[1]));
    return ys_onnx_emit(step, YS_OP_SUB, sum, 2, NULL);
}

/* Neg, and Abs as max(x, 0) + max(-x, 0). */
ys_status ys_onnx_negate(struct ys_onnx_step *step)
{
    const struct ys_onnx_affine minus = {.factor = -1};
    struct ys_onnx_slot made = {0};
    struct ys_onnx_step part = *step;
    int in, node, sum[2];
    YS_TRY(ys_onnx_need_live(step, 0));
    if (step->node->op[0] == 'N')
        return ys_onnx_affine(step, step->in[0], &minus);
    struct ys_onnx_slot seen = *step->in[0];
    YS_TRY(ys_onnx_take_behind(step, &seen, &in));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_RELU, in, "/up", &node));
    YS_TRY(ys_onnx_end(step->r, node, &sum[0]));
    part.out = &made;
    YS_TRY(ys_onnx_affine(&part, &seen, &minus));
    YS_TRY(ys_onnx_take_behind(step, &made, &in));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_RELU, in, "/down", &node));
    YS_TRY(ys_onnx_end(step->r, node, &sum[1]));
    return ys_onnx_emit(step, YS_OP_ADD, sum, 2, &seen);
}
