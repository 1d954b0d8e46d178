/* What is read of tokens besides their rows of a table: which of them are no padding, as what hides keys of an
 * attention, and how long each row so is. */
#include "onnx/read/reader_state.h"

/* Tokens as truths: whether each is no padding, or is. */
static ys_status make_truths(struct ys_onnx_step *step, enum ys_onnx_curve curve)
{
    struct ys_onnx_slot *in = step->in[0];
    const struct ys_value *v = &step->r->graph->values[in->value];
    if (v->producer >= 0 || v->rank != 2 || v->dtype != YS_I32 || in->curve != YS_ONNX_PLAIN || in->perm[0] != 0 ||
        in->rows.each)
        return YS_FAIL_STEP(step, "%s", "makes truths of what is not a token for each position");
    ys_onnx_alias(step, in);
    step->out->curve = curve;
    step->out->maker = step->node;
    step->out->axis = 2;
    return YS_OK;
}

ys_status ys_onnx_count_tokens(struct ys_onnx_step *step)
{
    return make_truths(step, YS_ONNX_COUNTS);
}

ys_status ys_onnx_equal(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *padding;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "second input", &padding));
    if (padding->is_real || padding->count != 1 || padding->rank > 2 || ys_onnx_constant_whole(padding, 0).each ||
        ys_onnx_constant_whole(padding, 0).fixed != YS_ROWS_PADDING)
        return YS_FAIL_STEP(step, "compares tokens with another than %d: that is the padding", YS_ROWS_PADDING);
    return make_truths(step, YS_ONNX_BLANKS);
}

ys_status ys_onnx_not(struct ys_onnx_step *step)
{
    YS_TRY(ys_onnx_need_live(step, 0));
    const enum ys_onnx_curve curve = step->in[0]->curve;
    if (curve != YS_ONNX_BLANKS && curve != YS_ONNX_COUNTS)
        return YS_FAIL_STEP(step, "%s", "is read of tokens that are the padding or are not alone");
    ys_onnx_alias(step, step->in[0]);
    step->out->curve = curve == YS_ONNX_BLANKS ? YS_ONNX_COUNTS : YS_ONNX_BLANKS;
    return YS_OK;
}

ys_status ys_onnx_measure_rows(struct ys_onnx_step *step)
{
    ys_onnx_alias(step, step->in[0]);
    step->out->curve = YS_ONNX_LENGTHS;
    return YS_OK;
}

void ys_onnx_spread_counts(struct ys_onnx_step *step, size_t count)
{
    ys_onnx_alias(step, step->in[0]);
    step->out->axis += (int64_t)count;
}

ys_status ys_onnx_last_place(struct ys_onnx_step *step)
{
    int64_t axis = 0, stays = 1, from_behind = 0;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    YS_TRY(ys_onnx_integer(step->node, "keepdims", &stays));
    YS_TRY(ys_onnx_integer(step->node, "select_last_index", &from_behind));
    if (step->in[0]->curve != YS_ONNX_ONES || (axis != 1 && axis != -1) || !stays || !from_behind)
        return YS_FAIL_STEP(step, "%s",
                            "is read as the last position of a row whose token is no padding alone: of tokens as "
                            "truths as numbers, along axis 1, which stays, select_last_index 1");
    ys_onnx_alias(step, step->in[0]);
    step->out->curve = YS_ONNX_PLACE;
    return YS_OK;
}

ys_status ys_onnx_pick_last(struct ys_onnx_step *step)
{
    struct ys_onnx_reading *r = step->r;
    int64_t batch_dims = 0;
    int in[2], node, value;
    YS_TRY(ys_onnx_integer(step->node, "batch_dims", &batch_dims));
    for (size_t i = 0; i < 2; i++)
        YS_TRY(ys_onnx_need_live(step, i));
    if (step->in[1]->curve != YS_ONNX_PLACE || batch_dims != 1)
        return YS_FAIL_STEP(step, "%s",
                            "takes places that are computed from data: graphs have each row's last position that is "
                            "no padding alone, by ArgMax, and batch_dims 1");
    YS_TRY(ys_onnx_take_behind(step, step->in[0], &in[0]));
    in[1] = step->in[1]->value;
    if (r->graph->values[in[0]].rank != 3)
        return YS_FAIL_STEP(step, "%s", "reads what is not (N, positions, width)");
    YS_TRY(ys_onnx_begin(step, YS_OP_LAST, in, 2, 1, &node));
    YS_TRY(ys_onnx_end(r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}
