/* Products, functions of one element, normalisations; and the table of all operators that are read. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ys_status pointwise(struct ys_onnx_step *step, enum ys_op op)
{
    int in;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    return ys_onnx_emit(step, op, &in, 1, step->in[0]);
}

/* The operator of graphs that is a function of one element, without attributes, and has this name in ONNX, as its
 * descriptor says; YS_OP_COUNT: none. */
static enum ys_op plain_op(const char *name)
{
    for (int op = 0; op < YS_OP_COUNT; op++) {
        const struct ys_op_rule *rule = ys_op_rule((enum ys_op)op);
        if (rule->onnx && rule->kind == YS_OPKIND_POINTWISE && rule->in_high == 1 && rule->params == YS_PARAMS_NONE &&
            !rule->attrs[0].name && strcmp(rule->onnx, name) == 0)
            return (enum ys_op)op;
    }
    return YS_OP_COUNT;
}

static ys_status map_plain(struct ys_onnx_step *step)
{
    return pointwise(step, plain_op(step->node->op));
}

static ys_status map_swish(struct ys_onnx_step *step)
{
    double alpha = 1;
    YS_TRY(ys_onnx_real(step->node, "alpha", &alpha));
    return alpha == 1 ? pointwise(step, YS_OP_SWISH) : YS_FAIL_STEP(step, "alpha is %g: graphs have 1", alpha);
}

/* A node with numbers of its own, else as pointwise(). */
static ys_status with_numbers(struct ys_onnx_step *step, const struct ys_node *numbers)
{
    int in, node, value;
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, numbers->op, &in, 1, 1, &node));
    ys_node_set_attrs(&step->r->graph->nodes[node], numbers);
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

static ys_status map_leaky(struct ys_onnx_step *step)
{
    struct ys_node numbers = {.op = YS_OP_LEAKY_RELU, .slope = 0.01};
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "alpha", &numbers.slope));
    if (!(numbers.slope >= 0 && numbers.slope <= 1))
        return YS_FAIL_STEP(step, "attribute alpha is %g: graphs have 0 to 1", numbers.slope);
    return with_numbers(step, &numbers);
}

/* Functions with numbers of their own, which ONNX has where a file says none. */
static ys_status map_curve(struct ys_onnx_step *step)
{
    static const struct ys_node curves[] = {
        {.op = YS_OP_ELU, .slope = 1},
        {.op = YS_OP_SELU, .slope = 1.67326319217681884765625, .gamma = 1.05070102214813232421875},
        {.op = YS_OP_CELU, .slope = 1}};
    size_t which = 0;
    while (strcmp(ys_op_name(curves[which].op), step->node->op) != 0)
        which++;
    struct ys_node numbers = curves[which];
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "alpha", &numbers.slope));
    if (numbers.op == YS_OP_SELU)
        YS_TRY(ys_onnx_real(step->node, "gamma", &numbers.gamma));
    if (numbers.op == YS_OP_ELU && numbers.slope == 0)
        return pointwise(step, YS_OP_RELU);
    if (!(numbers.slope > 0 && numbers.slope < 1e30) ||
        (numbers.op == YS_OP_SELU && !(numbers.gamma > 0 && numbers.gamma < 1e30)))
        return YS_FAIL_STEP(step, "alpha %g, gamma %g: graphs have numbers above 0", numbers.slope, numbers.gamma);
    return with_numbers(step, &numbers);
}

/* A number that is an attribute in old operator sets and an input in new ones. */
static ys_status read_number(struct ys_onnx_step *step, size_t i, const char *name, double *number)
{
    struct ys_onnx_constant *in;
    YS_TRY(ys_onnx_constant_in(step, i, &in));
    if (!in)
        return ys_onnx_real(step->node, name, number);
    if (in->count != 1)
        return YS_FAIL_STEP(step, "its %s has %lld elements, not 1", name, (long long)in->count);
    *number = ys_onnx_constant_real(in, 0);
    if (in->type == YS_ONNX_FLOAT)
        *number = ys_onnx_short_real((float)*number);
    return YS_OK;
}

static ys_status map_same(struct ys_onnx_step *step)
{
    YS_TRY(ys_onnx_need_live(step, 0));
    ys_onnx_alias(step, step->in[0]);
    return YS_OK;
}

/* What lies between two numbers. */
static ys_status bound(struct ys_onnx_step *step, double low, double high)
{
    struct ys_node numbers = {.op = YS_OP_CLIP, .low = fmax(low, -1e30), .high = fmin(high, 1e30)};
    if (!(low < high)) /* no float of a network is as large as the numbers above */
        return YS_FAIL_STEP(step, "min %g is not below max %g", low, high);
    if (numbers.low == 0 && numbers.high >= 1e30)
        return pointwise(step, YS_OP_RELU);
    return with_numbers(step, &numbers);
}

static ys_status map_clip(struct ys_onnx_step *step)
{
    double low = -INFINITY, high = INFINITY;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(read_number(step, 1, "min", &low));
    YS_TRY(read_number(step, 2, "max", &high));
    return bound(step, low, high);
}

/* The larger, or the smaller, of a value and of numbers. */
static ys_status map_extreme(struct ys_onnx_step *step)
{
    const bool is_max = strcmp(step->node->op, "Max") == 0;
    double number = is_max ? -INFINITY : INFINITY;
    struct ys_onnx_slot *value = NULL;
    for (size_t i = 0; i < step->node->in_count; i++) {
        struct ys_onnx_slot *in = step->in[i];
        if (in && in->kind == YS_ONNX_LIVE && value)
            return YS_FAIL_STEP(step, "%s", "compares two values: graphs compare one with a number");
        if (in && in->kind == YS_ONNX_LIVE)
            value = in;
    }
    for (size_t i = 0; i < step->node->in_count; i++) {
        struct ys_onnx_constant *c = step->in[i] == value ? NULL : step->in[i]->constant;
        if (!c)
            continue;
        YS_TRY(ys_onnx_constant_load(&step->r->folding, c));
        double one = c->is_real && c->count > 0 ? ys_onnx_constant_real(c, 0) : 0;
        if (!c->is_real || c->rank > ys_onnx_file_rank(step->r, value) || !ys_onnx_constant_is(c, one))
            return YS_FAIL_STEP(step, "%s", "compares with several numbers: graphs compare with one");
        if (c->type == YS_ONNX_FLOAT)
            one = ys_onnx_short_real((float)one);
        number = is_max ? fmax(number, one) : fmin(number, one);
    }
    step->in[0] = value;
    if (isinf(number))
        return map_same(step);
    return is_max ? bound(step, number, INFINITY) : bound(step, -INFINITY, number);
}

/* A constant in the type of a value. */
static ys_status cast_like(struct ys_onnx_step *step)
{
    double nothing = 0;
    struct ys_onnx_constant like = {.is_real = true, .type = YS_ONNX_FLOAT, .count = 1, .reals = &nothing};
    struct ys_onnx_constant *const in[] = {step->in[0]->constant, &like};
    step->out->kind = YS_ONNX_CONSTANT;
    return ys_onnx_fold(&step->r->folding, step->node, in, &step->out->constant);
}

static ys_status map_cast(struct ys_onnx_step *step)
{
    int64_t to = 0;
    if (step->node->in_count == 2 && step->in[0] && step->in[0]->kind == YS_ONNX_CONSTANT)
        return cast_like(step);
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_integer(step->node, "to", &to));
    if (step->in[0]->curve == YS_ONNX_COUNTS && step->in[0]->axis == 2 && to != YS_ONNX_BOOL) {
        ys_onnx_alias(step, step->in[0]);
        step->out->curve = YS_ONNX_ONES; /* whatever the type of its numbers */
        return YS_OK;
    }
    if (step->r->graph->values[step->in[0]->value].dtype == YS_I32 && (to == YS_ONNX_INT32 || to == YS_ONNX_INT64))
        return map_same(step); /* tokens, however wide */
    if (step->r->graph->values[step->in[0]->value].dtype == YS_I32 && to == YS_ONNX_BOOL)
        return ys_onnx_count_tokens(step);
    const bool is_short = to == YS_ONNX_FLOAT16 || to == YS_ONNX_BFLOAT16;
    step->r->narrowed += is_short;
    if (strcmp(step->node->op, "Cast") == 0 && to != YS_ONNX_FLOAT && to != YS_ONNX_DOUBLE && !is_short)
        return YS_FAIL_STEP(step, "makes %s of a value: graphs compute with reals", ys_onnx_type_name((int)to));
    return map_same(step);
}

static ys_status map_dropout(struct ys_onnx_step *step)
{
    struct ys_node numbers = {.op = YS_OP_DROPOUT, .ratio = 0.5};
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(read_number(step, 1, "ratio", &numbers.ratio));
    if (!(numbers.ratio >= 0 && numbers.ratio < 1))
        return YS_FAIL_STEP(step, "ratio is %g: graphs have 0 to below 1", numbers.ratio);
    return numbers.ratio == 0 ? map_same(step) : with_numbers(step, &numbers);
}

/* Whether what the step makes is the output of the file, perhaps in another shape, out of one number for each class:
 * (N, classes), or more axes of the extent 1. */
static bool ends_in_classes(const struct ys_onnx_step *step, size_t axis, size_t rank)
{
    const struct ys_onnx_reading *r = step->r;
    bool ends = r->last == step->out && !r->own && !step->in[0]->rows.maker;
    for (size_t i = 1; i < rank; i++)
        ends = ends && (i == axis || ys_onnx_extent(r, step->in[0], i) == 1);
    return ends;
}

static ys_status leave_to_loss(struct ys_onnx_step *step)
{
    step->r->graph->left_softmax = true;
    ys_onnx_note(step->r,
                 "node %.100s (%s) is left to the loss: softmax cross-entropy of what it reads is the same "
                 "function",
                 step->node->name, step->node->op);
    return map_same(step);
}

/* A LogSoftmax that the loss can see: of two dimensions. */
static ys_status end_in_log(struct ys_onnx_step *step)
{
    const struct ys_node numbers = {.op = YS_OP_LOG_SOFTMAX, .axis = 1};
    struct ys_onnx_slot flat = {.kind = YS_ONNX_LIVE};
    int node;
    YS_TRY(ys_onnx_take_flat(step, step->in[0], &flat.value));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_FLATTEN, flat.value, "/flat", &node));
    YS_TRY(ys_onnx_end(step->r, node, &flat.value));
    for (int i = 0; i < YS_MAX_RANK; i++)
        flat.perm[i] = i;
    step->in[0] = &flat;
    return with_numbers(step, &numbers);
}

static ys_status map_softmax(struct ys_onnx_step *step)
{
    const bool is_log = step->node->op[0] == 'L';
    int64_t given = step->r->file->opset < 13 ? 1 : -1;
    size_t axis, apart;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t rank = ys_onnx_file_rank(step->r, step->in[0]);
    YS_TRY(ys_onnx_integer(step->node, "axis", &given));
    if (step->in[0]->curve == YS_ONNX_SCORES && !is_log)
        return ys_onnx_share_scores(step, given);
    const struct ys_onnx_joined *joined = step->node->joined;
    YS_TRY(ys_onnx_axis(step, step->in[0], joined ? joined->axis : given, &axis, &apart));
    if (step->r->file->opset < 13 && !joined)
        for (size_t i = axis + 1; i < rank; i++)
            if (ys_onnx_file_extent(step->r, step->in[0], i).fixed != 1)
                return YS_FAIL_STEP(step, "axis %lld: before operator set 13 it joins all axes from there on",
                                    (long long)given);
    const bool ends = ends_in_classes(step, axis, rank);
    const bool is_output = strcmp(step->node->out[0], step->r->file->outputs[0].name) == 0;
    if (ends && is_log && is_output && rank > 2)
        return end_in_log(step);
    if (ends && !(is_log && is_output))
        return leave_to_loss(step);
    const struct ys_node numbers = {.op = is_log ? YS_OP_LOG_SOFTMAX : YS_OP_SOFTMAX, .axis = step->in[0]->perm[apart]};
    return with_numbers(step, &numbers);
}

static ys_status map_global_pool(struct ys_onnx_step *step)
{
    struct ys_onnx_image image;
    int node;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t axis = 1, rank = ys_onnx_rank(step->r, step->in[0]);
    if (rank < 3)
        return YS_FAIL_STEP(step, "reads a value of %zu dimensions, which has nothing but channels", rank);
    YS_TRY(ys_onnx_take(step, step->in[0], false, &image.value));
    YS_TRY(ys_onnx_image(step, step->in[0], &axis, 1, &image));
    const enum ys_op op = step->node->op[6] == 'A' ? YS_OP_GLOBAL_AVERAGEPOOL : YS_OP_GLOBAL_MAXPOOL;
    YS_TRY(ys_onnx_begin_image(step, op, &image, "/pool", &node));
    for (size_t i = 2; i < rank; i++)
        image.shape[i] = 1;
    return ys_onnx_end_image(step, &image, node);
}

struct gemm_product { /* alpha * x * weight + beta * bias */
    bool transposed;  /* the weight is stored (out, in) */
    double alpha, beta;
    bool with_bias;
};

/* A weight (out, in), or with `rank` 4 a kernel of 1x1, from a constant that is stored so or the other way round, times
 * a factor. `features`: of what it multiplies. *out: how many numbers it makes of them. */
static ys_status dense_weight(struct ys_onnx_step *step, int node, struct ys_onnx_constant *c, int64_t features,
                              const struct gemm_product *product, size_t rank, int64_t *out)
{
    const int64_t rows = c->shape[0], columns = c->shape[1];
    const int64_t pixel = rank == 4; /* height and width */
    const struct ys_onnx_view as_stored = {product->alpha, rank, 0, {rows, columns, pixel, pixel}, {columns, 1}, {0}},
                              turned = {product->alpha, rank, 0, {columns, rows, pixel, pixel}, {1, columns}, {0}};
    const struct ys_onnx_view *view = product->transposed ? &as_stored : &turned;
    *out = view->shape[0];
    if (view->shape[1] != features)
        return YS_FAIL_STEP(step, "its weight is for %lld features, and it reads %lld", (long long)view->shape[1],
                            (long long)features);
    return ys_onnx_param(step, node, YS_NODE_WEIGHT, c, view);
}

static ys_status dense_bias(struct ys_onnx_step *step, int node, double factor, int64_t out)
{
    struct ys_onnx_constant *bias;
    YS_TRY(ys_onnx_need_constant(step, 2, "C", &bias));
    if (bias->count != 1 && (bias->count != out || bias->shape[bias->rank - 1] != out))
        return YS_FAIL_STEP(step, "its C has %lld elements, not 1 or one for each of %lld outputs",
                            (long long)bias->count, (long long)out);
    const struct ys_onnx_view view = {factor, 1, 0, {out}, {bias->count != 1}, {0}};
    return ys_onnx_param(step, node, YS_NODE_BIAS, bias, &view);
}

/* A product of each position's numbers with a matrix. */
static ys_status dense_of_positions(struct ys_onnx_step *step, struct ys_onnx_constant *weight,
                                    const struct gemm_product *product)
{
    int64_t out;
    int in, node, value;
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, YS_OP_GEMM, &in, 1, 1, &node));
    YS_TRY(dense_weight(step, node, weight, step->r->graph->values[in].shape[2], product, 2, &out));
    if (product->with_bias)
        YS_TRY(dense_bias(step, node, product->beta, out));
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

/* Whether the last axis that the file sees, which is not the batch, is the last of a value (N, positions, width). */
static bool is_of_positions(const struct ys_onnx_step *step)
{
    const struct ys_onnx_slot *in = step->in[0];
    const size_t last = ys_onnx_file_rank(step->r, in) - 1;
    return ys_onnx_rank(step->r, in) == 3 && in->perm[2] == 2 && ys_onnx_batch_axis(in) != last;
}

/* A product with the last axis of a value of more dimensions: a convolution of 1x1 with that axis as its channels. */
static ys_status dense_along_last(struct ys_onnx_step *step, struct ys_onnx_constant *weight,
                                  const struct gemm_product *product)
{
    struct ys_onnx_image image;
    int64_t out;
    int node;
    size_t axis, last;
    YS_TRY(ys_onnx_axis(step, step->in[0], -1, &axis, &last));
    last = (size_t)step->in[0]->perm[last];
    YS_TRY(ys_onnx_image(step, step->in[0], &last, 1, &image));
    YS_TRY(ys_onnx_begin_image(step, YS_OP_CONV, &image, "/matmul", &node));
    YS_TRY(dense_weight(step, node, weight, image.channels, product, 4, &out));
    if (product->with_bias)
        YS_TRY(dense_bias(step, node, product->beta, out));
    image.shape[1] = out;
    ys_onnx_note(step->r, "node %.100s (%s along the last axis) is a Conv of 1x1, its weight stored (out, in)",
                 step->node->name, step->node->op);
    return ys_onnx_end_image(step, &image, node);
}

static ys_status dense(struct ys_onnx_step *step, const struct gemm_product *product)
{
    struct ys_onnx_constant *weight;
    int64_t out;
    int in, node, value;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "weight", &weight));
    const bool takes_more = strcmp(step->node->op, "MatMul") == 0 || step->in[0]->rows.each;
    if (weight->rank == 2 && weight->is_real && is_of_positions(step) && takes_more)
        return dense_of_positions(step, weight, product);
    if (weight->rank == 2 && weight->is_real && ys_onnx_rank(step->r, step->in[0]) > 2 && takes_more)
        return dense_along_last(step, weight, product);
    if (weight->rank != 2 || !weight->is_real || ys_onnx_rank(step->r, step->in[0]) != 2)
        return YS_FAIL_STEP(
            step, "a value of %zu dimensions times a weight of %zu: only (N, features) times a matrix is read",
            ys_onnx_rank(step->r, step->in[0]), weight->rank);
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    YS_TRY(ys_onnx_begin(step, YS_OP_GEMM, &in, 1, 1, &node));
    YS_TRY(dense_weight(step, node, weight, step->r->graph->values[in].shape[1], product, 2, &out));
    if (product->with_bias)
        YS_TRY(dense_bias(step, node, product->beta, out));
    if (!product->transposed)
        ys_onnx_note(step->r, "node %.100s (%s): its weight is stored transposed, as (out, in)", step->node->name,
                     step->node->op);
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

/* A C that is computed from data is added behind it. */
static ys_status dense_and_value(struct ys_onnx_step *step, bool transposed, double alpha, double beta)
{
    struct ys_onnx_slot made = {0};
    struct ys_onnx_step part = *step;
    int in[2];
    part.out = &made;
    if (beta != 1 || ys_onnx_rank(step->r, step->in[2]) != 2)
        return YS_FAIL_STEP(step, "adds a value of %zu dimensions, %g times: only one of 2, once, is read",
                            ys_onnx_rank(step->r, step->in[2]), beta);
    YS_TRY(dense(&part, &(struct gemm_product){transposed, alpha, 1, false}));
    in[0] = made.value;
    YS_TRY(ys_onnx_take(step, step->in[2], false, &in[1]));
    return ys_onnx_emit(step, YS_OP_ADD, in, 2, NULL);
}

static ys_status map_gemm(struct ys_onnx_step *step)
{
    double alpha = 1, beta = 1;
    int64_t trans_a = 0, trans_b = 0;
    YS_TRY(ys_onnx_real(step->node, "alpha", &alpha));
    YS_TRY(ys_onnx_real(step->node, "beta", &beta));
    YS_TRY(ys_onnx_integer(step->node, "transA", &trans_a));
    YS_TRY(ys_onnx_integer(step->node, "transB", &trans_b));
    if (trans_a)
        return YS_FAIL_STEP(step, "attribute transA is %lld: the batch would be axis 1", (long long)trans_a);
    const bool has_third = step->node->in_count > 2 && step->in[2];
    const struct gemm_product product = {trans_b != 0, alpha, beta, has_third && beta != 0};
    if (alpha != 1 || (product.with_bias && beta != 1))
        ys_onnx_note(step->r, "node %.100s (Gemm): alpha %g and beta %g are part of the initial values",
                     step->node->name, alpha, beta);
    if (has_third && step->in[2]->kind == YS_ONNX_LIVE)
        return dense_and_value(step, trans_b != 0, alpha, beta);
    return dense(step, &product);
}

static ys_status map_matmul(struct ys_onnx_step *step)
{
    const bool of_values = step->node->in_count == 2 && step->in[0] && step->in[0]->kind == YS_ONNX_LIVE &&
                           step->in[1] && step->in[1]->kind == YS_ONNX_LIVE;
    return of_values ? ys_onnx_product(step) : dense(step, &(struct gemm_product){.alpha = 1, .beta = 1});
}

/* 1 minus what ONNX calls momentum, without the digits that the subtraction makes up. */
static double share_of_new(double momentum)
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", 1 - momentum);
    return strtod(text, NULL);
}

bool ys_onnx_is_made(const struct ys_onnx_step *step, struct ys_onnx_constant *c, double value)
{
    const struct ys_onnx_file *file = step->r->file;
    const bool is_held = c->tensor && c->tensor >= file->tensors && c->tensor < file->tensors + file->tensor_count;
    return !is_held && ys_onnx_constant_is(c, value);
}

/* A norm without factors and shifts has 1 and 0 in their place, which exporters write into the node: not trained. */
static ys_status fix_plain_norm(struct ys_onnx_step *step, int node)
{
    struct ys_onnx_constant *weight, *bias = NULL;
    struct ys_graph *graph = step->r->graph;
    YS_TRY(ys_onnx_need_constant(step, 1, "weight", &weight));
    if (step->node->in_count > 2 && step->in[2])
        YS_TRY(ys_onnx_need_constant(step, 2, "bias", &bias));
    if (!ys_onnx_is_made(step, weight, 1) || (bias && !ys_onnx_is_made(step, bias, 0)))
        return YS_OK;
    for (int which = YS_NODE_WEIGHT; which <= (bias ? YS_NODE_BIAS : YS_NODE_WEIGHT); which++) {
        struct ys_param *fixed = &graph->params[ys_node_param(&graph->nodes[node], (enum ys_node_param)which)];
        fixed->lr_mult = fixed->decay_mult = 0;
    }
    ys_onnx_note(step->r, "node %.100s (%s) has the factor 1 and no shift, which no initializer holds: not trained",
                 step->node->name, step->node->op);
    return YS_OK;
}

static ys_status check_variances(const struct ys_onnx_step *step, const struct ys_onnx_constant *c)
{
    for (int64_t i = 0; i < c->count; i++)
        if (ys_onnx_constant_real(c, i) < 0)
            return YS_FAIL_STEP(step, "its running_var has %g for channel %lld: a variance is 0 or more",
                                ys_onnx_constant_real(c, i), (long long)i);
    return YS_OK;
}

static ys_status map_batchnorm(struct ys_onnx_step *step)
{
    struct ys_batchnorm norm = {.epsilon = 1e-5, .momentum = 0.9};
    int64_t spatial = 1;
    struct ys_onnx_image image = {0};
    int node;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "epsilon", &norm.epsilon));
    YS_TRY(ys_onnx_real(step->node, "momentum", &norm.momentum));
    YS_TRY(ys_onnx_integer(step->node, "spatial", &spatial));
    norm.momentum = share_of_new(norm.momentum);
    if (spatial == 0 || !(norm.epsilon > 0 && norm.epsilon < 1e30) || !(norm.momentum >= 0 && norm.momentum <= 1))
        return YS_FAIL_STEP(step, "spatial %lld, epsilon %g, momentum %g: graphs have 1, above 0, 0 to 1",
                            (long long)spatial, norm.epsilon, 1 - norm.momentum);
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    size_t at, axis;
    YS_TRY(ys_onnx_axis(step, step->in[0], 1, &at, &axis));
    axis = (size_t)step->in[0]->perm[axis];
    if (!step->in[0]->rows.maker && (rank == 2 || rank == 4)) {
        YS_TRY(ys_onnx_take(step, step->in[0], false, &image.value));
        image.as_it_is = true;
        for (int i = 0; i < YS_MAX_RANK; i++)
            image.order[i] = image.seen[i] = i;
        image.rank = rank;
    } else
        YS_TRY(ys_onnx_image(step, step->in[0], &axis, 1, &image));
    YS_TRY(ys_onnx_begin_image(step, YS_OP_BATCHNORM, &image, "/norm", &node));
    const int64_t channels = step->r->graph->values[image.value].shape[1];
    size_t input = 1;
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
        struct ys_onnx_constant *c;
        if (!ys_op_takes(YS_OP_BATCHNORM, (enum ys_node_param)which))
            continue;
        YS_TRY(ys_onnx_need_constant(step, input++, ys_node_param_key((enum ys_node_param)which), &c));
        if (c->count != channels || !c->is_real)
            return YS_FAIL_STEP(step, "its %s has %lld elements, not %lld",
                                ys_node_param_key((enum ys_node_param)which), (long long)c->count, (long long)channels);
        YS_TRY(ys_onnx_vector(step, node, (enum ys_node_param)which, c));
        if (which == YS_NODE_RUNNING_VAR)
            YS_TRY(check_variances(step, c));
    }
    step->r->graph->nodes[node].batchnorm = norm;
    YS_TRY(fix_plain_norm(step, node));
    return ys_onnx_end_image(step, &image, node);
}

/* Weight and bias of a layer normalisation over `extent` elements. */
static ys_status layernorm_params(struct ys_onnx_step *step, int node, int64_t extent)
{
    for (int which = YS_NODE_WEIGHT; which <= YS_NODE_BIAS; which++) {
        struct ys_onnx_constant *c;
        if (which == YS_NODE_BIAS && (step->node->in_count < 3 || !step->in[2]))
            break;
        YS_TRY(ys_onnx_need_constant(step, (size_t)which + 1, ys_node_param_key((enum ys_node_param)which), &c));
        if (c->count != extent || !c->is_real)
            return YS_FAIL_STEP(step, "its %s has %lld elements, not %lld",
                                ys_node_param_key((enum ys_node_param)which), (long long)c->count, (long long)extent);
        YS_TRY(ys_onnx_vector(step, node, (enum ys_node_param)which, c));
    }
    return YS_OK;
}

/* The axis of `perm` from which on a layer normalisation goes, the batch not among them. */
static ys_status first_normalised(struct ys_onnx_step *step, int64_t given, size_t *first)
{
    const size_t rank = ys_onnx_file_rank(step->r, step->in[0]);
    size_t axis = 0;
    YS_TRY(ys_onnx_axis(step, step->in[0], given, &axis, first));
    for (size_t i = axis + 1; i < rank; i++)
        YS_TRY(ys_onnx_axis(step, step->in[0], (int64_t)i, &axis, &(size_t){0}));
    return YS_OK;
}

/* Graphs normalise over the last axis: several at the end become one, and are apart again behind it. */
static ys_status map_layernorm(struct ys_onnx_step *step)
{
    double epsilon = 1e-5;
    int64_t axis = -1, joined[YS_MAX_RANK], apart[YS_MAX_RANK];
    int in, node;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    YS_TRY(ys_onnx_real(step->node, "epsilon", &epsilon));
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    if (step->node->joined) {
        epsilon = step->node->joined->epsilon;
        axis = step->node->joined->axis;
    }
    size_t last;
    YS_TRY(first_normalised(step, axis, &last));
    if (!(epsilon > 0 && epsilon < 1e30))
        return YS_FAIL_STEP(step, "epsilon is %g: graphs have one above 0", epsilon);
    YS_TRY(ys_onnx_take_behind(step, step->in[0], &in)); /* what is behind the batch in the file is so in the graph */
    const struct ys_onnx_slot like = *step->in[0];
    memcpy(apart, step->r->graph->values[in].shape, sizeof apart);
    memcpy(joined, apart, sizeof joined);
    for (size_t i = last + 1; i < rank; i++)
        joined[last] *= apart[i];
    const bool several = last + 1 < rank;
    if (several)
        YS_TRY(ys_onnx_reshape_extra(step, "/joined", joined, last + 1, &in));
    YS_TRY(several ? ys_onnx_begin_extra(step, YS_OP_LAYERNORM, in, "/norm", &node)
                   : ys_onnx_begin(step, YS_OP_LAYERNORM, &in, 1, 1, &node));
    YS_TRY(layernorm_params(step, node, joined[last]));
    YS_TRY(fix_plain_norm(step, node));
    step->r->graph->nodes[node].axis = (int)last;
    step->r->graph->nodes[node].epsilon = epsilon;
    YS_TRY(ys_onnx_end(step->r, node, &in));
    if (several)
        YS_TRY(ys_onnx_reshape_extra(step, "/apart", apart, rank, &in));
    ys_onnx_set(step, in, &like);
    return YS_OK;
}

ys_status ys_onnx_rmsnorm(struct ys_onnx_step *step)
{
    double epsilon = 1e-5;
    int64_t given = -1;
    struct ys_onnx_constant *weight;
    size_t axis, apart;
    int in, node, value;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "epsilon", &epsilon));
    YS_TRY(ys_onnx_integer(step->node, "axis", &given));
    if (step->node->joined) {
        epsilon = step->node->joined->epsilon;
        given = step->node->joined->axis;
    }
    YS_TRY(ys_onnx_axis(step, step->in[0], given, &axis, &apart));
    YS_TRY(ys_onnx_need_constant(step, 1, "scale", &weight));
    YS_TRY(ys_onnx_take_behind(step, step->in[0], &in));
    const struct ys_value *v = &step->r->graph->values[in];
    const int64_t extent = v->shape[v->rank - 1];
    if (apart + 1 != v->rank || !(epsilon > 0 && epsilon < 1e30) || !weight->is_real || weight->count != extent)
        return YS_FAIL_STEP(step,
                            "axis %lld, epsilon %g, %lld factors: graphs have it over the last axis, of %lld, alone",
                            (long long)given, epsilon, (long long)weight->count, (long long)extent);
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, YS_OP_RMSNORM, &in, 1, 1, &node));
    YS_TRY(ys_onnx_vector(step, node, YS_NODE_WEIGHT, weight));
    step->r->graph->nodes[node].axis = (int)apart;
    step->r->graph->nodes[node].epsilon = epsilon;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

static const struct {
    const char *op;
    ys_onnx_map *map;
    bool reads_rows; /* wherever the file has them: it asks batch_axis.c which axis is which */
} maps[] = {
    {"Abs", ys_onnx_negate, true},
    {"Add", ys_onnx_add, true},
    {"ArgMax", ys_onnx_last_place, false},
    {"Attention", ys_onnx_attention, true},
    {"AveragePool", ys_onnx_pool, false},
    {"BatchNormalization", map_batchnorm, true},
    {"Cast", map_cast, true},
    {"CastLike", map_cast, true},
    {"Celu", map_curve, true},
    {"Clip", map_clip, true},
    {"Concat", ys_onnx_concat, true},
    {"Conv", ys_onnx_conv, false},
    {"ConvTranspose", ys_onnx_conv_transpose, false},
    {"DepthToSpace", ys_onnx_blocks, false},
    {"Div", ys_onnx_div, true},
    {"Dropout", map_dropout, true},
    {"Elu", map_curve, true},
    {"Equal", ys_onnx_equal, false},
    {"Expand", ys_onnx_expand, false},
    {"Flatten", ys_onnx_flatten, true},
    {"GRU", ys_onnx_recurrent, true},
    {"Gather", ys_onnx_gather, true},
    {"GatherND", ys_onnx_pick_last, false},
    {"Gelu", ys_onnx_gelu, true},
    {"Gemm", map_gemm, true},
    {"GlobalAveragePool", map_global_pool, false},
    {"GlobalMaxPool", map_global_pool, false},
    {"Erf", ys_onnx_erf, true},
    {"HardSigmoid", ys_onnx_hardsigmoid, true},
    {"Identity", map_same, true},
    {"InstanceNormalization", ys_onnx_instance_norm, false},
    {"LRN", ys_onnx_lrn, false},
    {"LSTM", ys_onnx_recurrent, true},
    {"LayerNormalization", map_layernorm, true},
    {"LeakyRelu", map_leaky, true},
    {"LogSoftmax", map_softmax, true},
    {"MatMul", map_matmul, true},
    {"Max", map_extreme, true},
    {"MaxPool", ys_onnx_pool, false},
    {"Min", map_extreme, true},
    {"Mul", ys_onnx_mul, true},
    {"Neg", ys_onnx_negate, true},
    {"Not", ys_onnx_not, false},
    {"Pow", ys_onnx_pow, true},
    {"PRelu", ys_onnx_prelu, false},
    {"Pad", ys_onnx_pad, false},
    {"RMSNormalization", ys_onnx_rmsnorm, true},
    {"RotaryEmbedding", ys_onnx_rotary, true},
    {"Reciprocal", ys_onnx_reciprocal, true},
    {"ReduceL2", ys_onnx_length, true},
    {"ReduceMax", ys_onnx_max, false},
    {"ReduceMean", ys_onnx_mean, true},
    {"ReduceSum", ys_onnx_sum, true},
    {"Reshape", ys_onnx_reshape, true},
    {"SequenceAt", ys_onnx_sequence_at, false},
    {"Selu", map_curve, true},
    {"Shape", ys_onnx_shape, true},
    {"Sigmoid", ys_onnx_sigmoid, true},
    {"Slice", ys_onnx_slice, true},
    {"Softmax", map_softmax, true},
    {"SpaceToDepth", ys_onnx_blocks, false},
    {"Split", ys_onnx_split, true},
    {"SplitToSequence", ys_onnx_split_sequence, false},
    {"Squeeze", ys_onnx_squeeze, true},
    {"Sub", ys_onnx_sub, true},
    {"Sum", ys_onnx_add, true},
    {"Swish", map_swish, true},
    {"Transpose", ys_onnx_transpose, true},
    {"Unsqueeze", ys_onnx_unsqueeze, true},
    {"Where", ys_onnx_where, true},
};

ys_onnx_map *ys_onnx_find_map(const char *op)
{
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        if (strcmp(maps[i].op, op) == 0)
            return maps[i].map;
    return plain_op(op) == YS_OP_COUNT ? NULL : map_plain;
}

bool ys_onnx_reads_rows(const char *op)
{
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        if (strcmp(maps[i].op, op) == 0)
            return maps[i].reads_rows;
    return plain_op(op) != YS_OP_COUNT;
}
