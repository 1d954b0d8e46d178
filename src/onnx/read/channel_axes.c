/* What works along one axis, or with one number for each place of some axes, of values of any rank: these axes become
 * the channels of an image (N, channels, 1, rest), which convolutions, pools and normalisations read. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

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
static struct ys_onnx_view view_of(const struct ys_onnx_operand *operand, const int64_t *shape, size_t rank,
                                   size_t skipped)
{
    struct ys_onnx_view view = {.factor = 1, .rank = rank - skipped};
    int64_t steps[YS_MAX_RANK] = {0}, step = 1;
    for (size_t i = operand->front_count; i-- > 0; step *= shape[operand->front[i] - 1])
        steps[operand->front[i] - 1] = step;
    memcpy(view.shape, shape + skipped, view.rank * sizeof *shape);
    memcpy(view.steps, steps + skipped, view.rank * sizeof *steps);
    return view;
}

ys_status ys_onnx_operand(struct ys_onnx_step *step, struct ys_onnx_slot *slot, enum ys_op op,
                          const struct ys_onnx_operand *operand)
{
    const struct ys_onnx_constant *c = operand->constant;
    int64_t shape[YS_MAX_RANK];
    int in, node, value;
    YS_TRY(ys_onnx_take(step, slot, true, &in));
    size_t rank = step->r->graph->values[in].rank - 1, next = 0, skipped = 0;
    for (size_t d = 0; d < rank; d++)
        shape[d] = 1;
    for (size_t d = 0; d < c->rank && next < operand->front_count; d++)
        if (c->shape[d] != 1)
            shape[operand->front[next++] - 1] = c->shape[d];
    while (skipped + 1 < rank && shape[skipped] == 1 && (rank - skipped > c->rank || !ys_onnx_is_plain(slot)))
        skipped++; /* as many axes as the file has */
    const struct ys_onnx_view view = view_of(operand, shape, rank, skipped);
    YS_TRY(ys_onnx_begin(step, op, &in, 1, 1, &node));
    YS_TRY(ys_onnx_param(step, node, YS_NODE_WEIGHT, operand->constant, &view));
    const struct ys_onnx_slot like = *slot;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

/* Extents of 1 that are repeated: zeros are added, which are not trained. */
ys_status ys_onnx_expand(struct ys_onnx_step *step)
{
    const struct ys_onnx_constant like = {.is_real = true, .type = YS_ONNX_FLOAT, .filled = true};
    struct ys_onnx_constant *wanted, *zeros;
    int64_t shape[YS_MAX_RANK];
    size_t front[YS_MAX_RANK], front_count = 0;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "shape", &wanted));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    if (wanted->is_real || wanted->rank != 1 || wanted->count > (int64_t)rank)
        return YS_FAIL_STEP(step, "makes %lld dimensions of %zu: the batch would not be the first",
                            (long long)wanted->count, rank);
    for (size_t i = 0; i < rank; i++) {
        const int64_t at = (int64_t)i - (int64_t)rank + wanted->count;
        const struct ys_onnx_whole whole = at < 0 ? (struct ys_onnx_whole){1, 0} : ys_onnx_constant_whole(wanted, at);
        const int64_t extent = i ? ys_onnx_extent(step->r, step->in[0], i) : step->r->fixed_batch;
        const bool stays = whole.each == 0 && (whole.fixed == 1 || whole.fixed == extent);
        shape[i] = 1;
        if (stays || (i == 0 && whole.fixed == 0 && whole.each == 1))
            continue;
        if (i == 0 || whole.each)
            return YS_FAIL_STEP(step, "makes axis %zu %lld long, and %lld for each row: rows must stay apart", i,
                                (long long)whole.fixed, (long long)whole.each);
        if (extent != 1 || whole.fixed < 1)
            return YS_FAIL_STEP(step, "makes axis %zu, of the extent %lld, %lld long: extents of 1 are repeated", i,
                                (long long)extent, (long long)whole.fixed);
        shape[i] = whole.fixed;
        front[front_count++] = (size_t)step->in[0]->perm[i];
    }
    if (front_count == 0) {
        ys_onnx_alias(step, step->in[0]);
        return YS_OK;
    }
    YS_TRY(ys_onnx_constant_new(&step->r->folding, &like, shape, rank, &zeros));
    YS_TRY(ys_onnx_operand(step, step->in[0], YS_OP_ADD, &(struct ys_onnx_operand){zeros, front, front_count}));
    struct ys_param *fixed = &step->r->graph->params[step->r->graph->param_count - 1];
    fixed->lr_mult = fixed->decay_mult = 0;
    ys_onnx_note(step->r, "node %.100s (Expand) adds zeros, which are not trained", step->node->name);
    return YS_OK;
}

/* Channels that become the pixels of blocks, or the other way round: axes apart, moved and joined again. */
ys_status ys_onnx_blocks(struct ys_onnx_step *step)
{
    static const int order[2][2][6] = {{{0, 3, 4, 1, 5, 2}, {0, 1, 4, 2, 5, 3}},
                                       {{0, 3, 5, 1, 2, 4}, {0, 1, 3, 5, 2, 4}}}; /* by direction, by mode */
    char mode[32] = "DCR";
    int64_t b = 0;
    int in, node, value;
    const bool is_down = step->node->op[0] == 'S';
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "blocksize", &b));
    YS_TRY(ys_onnx_word(step->node, "mode", mode));
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    const struct ys_value *x = &step->r->graph->values[in];
    const int64_t c = x->shape[1], h = x->shape[2], w = x->shape[3];
    const bool by_columns = strcmp(mode, "CRD") == 0;
    const int64_t most = is_down ? (h > w ? w : h) : c; /* so that no product of blocks overflows */
    const bool fits =
        x->rank == 4 && b > 0 && b <= most && (is_down ? h % b == 0 && w % b == 0 : c / b % b == 0 && c % b == 0);
    if (!fits || (!by_columns && strcmp(mode, "DCR") != 0))
        return YS_FAIL_STEP(step, "blocksize %lld, mode %s: blocks must divide an image, and the mode be DCR or CRD",
                            (long long)b, mode);
    const int64_t apart[3][6] = {
        {YS_BATCH, b, b, c / b / b, h, w}, {YS_BATCH, c / b / b, b, b, h, w}, {YS_BATCH, c, h / b, b, w / b, b}};
    const int64_t joined[2][4] = {{YS_BATCH, c / b / b, h * b, w * b}, {YS_BATCH, c * b * b, h / b, w / b}};
    YS_TRY(ys_onnx_reshape_extra(step, "/apart", apart[is_down ? 2 : by_columns], 6, &in));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_TRANSPOSE, in, "/moved", &node));
    memcpy(step->r->graph->nodes[node].permutation, order[is_down][by_columns], sizeof order[0][0]);
    YS_TRY(ys_onnx_end(step->r, node, &in));
    YS_TRY(ys_onnx_begin(step, YS_OP_RESHAPE, &in, 1, 1, &node));
    step->r->graph->nodes[node].shape_rank = 4;
    memcpy(step->r->graph->nodes[node].shape, joined[is_down], sizeof joined[0]);
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
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
