/* Products, functions of one element, normalisations; and the table of all operators that are read. */
#include "base/mem.h"
#include "onnx/reading.h"

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

static ys_status map_relu(struct ys_onnx_step *step)
{
    return pointwise(step, YS_OP_RELU);
}

static ys_status map_tanh(struct ys_onnx_step *step)
{
    return pointwise(step, YS_OP_TANH);
}

static ys_status map_sigmoid(struct ys_onnx_step *step)
{
    return pointwise(step, YS_OP_SIGMOID);
}

static ys_status map_hardswish(struct ys_onnx_step *step)
{
    return pointwise(step, YS_OP_HARDSWISH);
}

static ys_status map_hardsigmoid(struct ys_onnx_step *step)
{
    double alpha = 0.2, beta = 0.5;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "alpha", &alpha));
    YS_TRY(ys_onnx_real(step->node, "beta", &beta));
    struct ys_onnx_slot *in = step->in[0];
    if ((float)alpha != (float)(1.0 / 6) || beta != 0.5 || in->gate || in->pixels || ys_onnx_is_padded(in))
        return YS_FAIL_STEP(step, "alpha %g and beta %g: graphs have it in HardSwish only, with 1/6 and 0.5", alpha,
                            beta);
    ys_onnx_set(step, in->value, in);
    step->out->gate = true;
    return YS_OK;
}

/* A node with numbers of its own, else as pointwise(). */
static ys_status with_numbers(struct ys_onnx_step *step, enum ys_op op, const struct ys_node *numbers)
{
    int in, node, value;
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, op, &in, 1, 1, &node));
    struct ys_node *made = &step->r->graph->nodes[node];
    made->low = numbers->low;
    made->high = numbers->high;
    made->slope = numbers->slope;
    made->ratio = numbers->ratio;
    made->axis = numbers->axis;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

static ys_status map_leaky(struct ys_onnx_step *step)
{
    struct ys_node numbers = {.slope = 0.01};
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "alpha", &numbers.slope));
    if (!(numbers.slope >= 0 && numbers.slope <= 1))
        return YS_FAIL_STEP(step, "attribute alpha is %g: graphs have 0 to 1", numbers.slope);
    return with_numbers(step, YS_OP_LEAKY_RELU, &numbers);
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

static ys_status map_clip(struct ys_onnx_step *step)
{
    struct ys_node numbers = {.low = -1e30, .high = 1e30};
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(read_number(step, 1, "min", &numbers.low));
    YS_TRY(read_number(step, 2, "max", &numbers.high));
    numbers.low = numbers.low < -1e30 ? -1e30 : numbers.low; /* no float of a network is as large */
    numbers.high = numbers.high > 1e30 ? 1e30 : numbers.high;
    if (!(numbers.low < numbers.high))
        return YS_FAIL_STEP(step, "min %g is not below max %g", numbers.low, numbers.high);
    if (numbers.low == 0 && numbers.high >= 1e30)
        return pointwise(step, YS_OP_RELU);
    return with_numbers(step, YS_OP_CLIP, &numbers);
}

static ys_status map_same(struct ys_onnx_step *step)
{
    YS_TRY(ys_onnx_need_live(step, 0));
    const int uses = step->out->uses;
    *step->out = *step->in[0];
    step->out->uses = uses;
    return YS_OK;
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
    if (strcmp(step->node->op, "Cast") == 0 && to != YS_ONNX_FLOAT && to != YS_ONNX_DOUBLE)
        return YS_FAIL_STEP(step, "makes %s of a value: a run's format is the job's precision",
                            ys_onnx_type_name((int)to));
    return map_same(step);
}

static ys_status map_dropout(struct ys_onnx_step *step)
{
    struct ys_node numbers = {.ratio = 0.5};
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(read_number(step, 1, "ratio", &numbers.ratio));
    if (!(numbers.ratio >= 0 && numbers.ratio < 1))
        return YS_FAIL_STEP(step, "ratio is %g: graphs have 0 to below 1", numbers.ratio);
    return numbers.ratio == 0 ? map_same(step) : with_numbers(step, YS_OP_DROPOUT, &numbers);
}

static ys_status map_softmax(struct ys_onnx_step *step)
{
    const bool is_log = step->node->op[0] == 'L';
    int64_t axis = step->r->file->opset < 13 ? 1 : -1;
    YS_TRY(ys_onnx_need_live(step, 0));
    const size_t rank = ys_onnx_rank(step->r, step->in[0]);
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    int64_t given = axis < 0 ? axis + (int64_t)rank : axis;
    if (given < 1 || given >= (int64_t)rank)
        return YS_FAIL_STEP(step, "axis %lld of %zu dimensions", (long long)axis, rank);
    if (step->r->file->opset < 13)
        for (size_t i = (size_t)given + 1; i < rank; i++)
            if (ys_onnx_extent(step->r, step->in[0], i) != 1)
                return YS_FAIL_STEP(step, "axis %lld: before operator set 13 it joins all axes from there on",
                                    (long long)axis);
    struct ys_onnx_slot *last = &step->r->slots[ys_json_get_int(step->r->names, step->r->file->outputs[0].name, 0)];
    if (!is_log && last == step->out && rank == 2 && !step->r->own) {
        step->r->head = "Softmax";
        YS_TRY(ys_onnx_note(
            step->r,
            "node %.100s (Softmax) is left to the loss: softmax cross-entropy of what it reads is the same "
            "function",
            step->node->name));
        return map_same(step);
    }
    struct ys_node numbers = {.axis = step->in[0]->perm[given]};
    return with_numbers(step, is_log ? YS_OP_LOG_SOFTMAX : YS_OP_SOFTMAX, &numbers);
}

static ys_status map_global_pool(struct ys_onnx_step *step)
{
    int in;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    return ys_onnx_emit(step, step->node->op[6] == 'A' ? YS_OP_GLOBAL_AVERAGEPOOL : YS_OP_GLOBAL_MAXPOOL, &in, 1, NULL);
}

/* A weight (out, in) from a constant that is stored so or the other way round, times `factor`. */
static ys_status dense_weight(const struct ys_onnx_constant *c, bool transposed, double factor, float **values,
                              int64_t shape[2])
{
    shape[0] = c->shape[transposed ? 0 : 1];
    shape[1] = c->shape[transposed ? 1 : 0];
    *values = ys_alloc((size_t)c->count, sizeof **values);
    if (!*values)
        return ys_out_of_memory();
    for (int64_t o = 0, at = 0; o < shape[0]; o++)
        for (int64_t i = 0; i < shape[1]; i++)
            (*values)[at++] =
                (float)(factor * ys_onnx_constant_real(c, transposed ? o * shape[1] + i : i * shape[0] + o));
    return YS_OK;
}

static ys_status dense_bias(struct ys_onnx_step *step, int node, double factor, int64_t out)
{
    struct ys_onnx_constant *bias;
    float *values = ys_alloc((size_t)out, sizeof *values);
    ys_status status = values ? ys_onnx_need_constant(step, 2, "C", &bias) : ys_out_of_memory();
    if (status == YS_OK && bias->count != 1 && (bias->count != out || bias->shape[bias->rank - 1] != out))
        status = YS_FAIL_STEP(step, "its C has %lld elements, not 1 or one for each of %lld outputs",
                              (long long)bias->count, (long long)out);
    if (status != YS_OK) {
        ys_free(values);
        return status;
    }
    for (int64_t i = 0; i < out; i++)
        values[i] = (float)(factor * ys_onnx_constant_real(bias, bias->count == 1 ? 0 : i));
    return ys_onnx_param(step, node, YS_NODE_BIAS, bias, values, &out, 1);
}

static ys_status dense(struct ys_onnx_step *step, bool transposed, double alpha, double beta, bool with_bias)
{
    struct ys_onnx_constant *weight;
    int64_t shape[2];
    int in, node, value;
    float *values;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "weight", &weight));
    if (weight->rank != 2 || !weight->is_real || ys_onnx_rank(step->r, step->in[0]) != 2)
        return YS_FAIL_STEP(
            step, "a value of %zu dimensions times a weight of %zu: only (N, features) times a matrix is read",
            ys_onnx_rank(step->r, step->in[0]), weight->rank);
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    YS_TRY(ys_onnx_begin(step, YS_OP_GEMM, &in, 1, 1, &node));
    YS_TRY(dense_weight(weight, transposed, alpha, &values, shape));
    YS_TRY(ys_onnx_param(step, node, YS_NODE_WEIGHT, weight, values, shape, 2));
    if (with_bias)
        YS_TRY(dense_bias(step, node, beta, shape[0]));
    if (!transposed)
        YS_TRY(ys_onnx_note(step->r, "node %.100s (%s): its weight is stored transposed, as (out, in)",
                            step->node->name, step->node->op));
    if (alpha != 1 || (with_bias && beta != 1))
        YS_TRY(ys_onnx_note(step->r, "node %.100s (Gemm): alpha %g and beta %g are part of the initial values",
                            step->node->name, alpha, beta));
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
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
    return dense(step, trans_b != 0, alpha, beta, step->node->in_count > 2 && step->in[2] && beta != 0);
}

static ys_status map_matmul(struct ys_onnx_step *step)
{
    return dense(step, false, 1, 1, false);
}

/* 1 minus what ONNX calls momentum, without the digits that the subtraction makes up. */
static double share_of_new(double momentum)
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", 1 - momentum);
    return strtod(text, NULL);
}

static ys_status map_batchnorm(struct ys_onnx_step *step)
{
    struct ys_batchnorm norm = {.epsilon = 1e-5, .momentum = 0.9};
    int64_t spatial = 1;
    int in, node, value;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "epsilon", &norm.epsilon));
    YS_TRY(ys_onnx_real(step->node, "momentum", &norm.momentum));
    YS_TRY(ys_onnx_integer(step->node, "spatial", &spatial));
    norm.momentum = share_of_new(norm.momentum);
    if (spatial == 0 || !(norm.epsilon > 0 && norm.epsilon < 1e30) || !(norm.momentum >= 0 && norm.momentum <= 1))
        return YS_FAIL_STEP(step, "spatial %lld, epsilon %g, momentum %g: graphs have 1, above 0, 0 to 1",
                            (long long)spatial, norm.epsilon, 1 - norm.momentum);
    YS_TRY(ys_onnx_take(step, step->in[0], false, &in));
    YS_TRY(ys_onnx_begin(step, YS_OP_BATCHNORM, &in, 1, 1, &node));
    const struct ys_value *v = &step->r->graph->values[in];
    const int64_t channels = v->rank > 1 ? v->shape[1] : 0;
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
        struct ys_onnx_constant *c;
        float *values;
        YS_TRY(ys_onnx_need_constant(step, (size_t)which + 1, ys_node_param_key((enum ys_node_param)which), &c));
        if (c->count != channels || !c->is_real)
            return YS_FAIL_STEP(step, "its %s has %lld elements, not %lld",
                                ys_node_param_key((enum ys_node_param)which), (long long)c->count, (long long)channels);
        YS_TRY(ys_onnx_floats(c, &values));
        YS_TRY(ys_onnx_param(step, node, (enum ys_node_param)which, c, values, &channels, 1));
    }
    step->r->graph->nodes[node].batchnorm = norm;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

ys_onnx_map *ys_onnx_find_map(const char *op)
{
    static const struct {
        const char *op;
        ys_onnx_map *map;
    } maps[] = {
        {"Add", ys_onnx_add},
        {"AveragePool", ys_onnx_pool},
        {"BatchNormalization", map_batchnorm},
        {"Cast", map_cast},
        {"CastLike", map_cast},
        {"Clip", map_clip},
        {"Concat", ys_onnx_concat},
        {"Conv", ys_onnx_conv},
        {"Div", ys_onnx_div},
        {"Dropout", map_dropout},
        {"Flatten", ys_onnx_flatten},
        {"Gemm", map_gemm},
        {"GlobalAveragePool", map_global_pool},
        {"GlobalMaxPool", map_global_pool},
        {"HardSigmoid", map_hardsigmoid},
        {"HardSwish", map_hardswish},
        {"Identity", map_same},
        {"LRN", ys_onnx_lrn},
        {"LeakyRelu", map_leaky},
        {"LogSoftmax", map_softmax},
        {"MatMul", map_matmul},
        {"MaxPool", ys_onnx_pool},
        {"Mul", ys_onnx_mul},
        {"Pad", ys_onnx_pad},
        {"ReduceMean", ys_onnx_mean},
        {"Relu", map_relu},
        {"Reshape", ys_onnx_reshape},
        {"Shape", ys_onnx_shape},
        {"Sigmoid", map_sigmoid},
        {"Softmax", map_softmax},
        {"Split", ys_onnx_split},
        {"Squeeze", ys_onnx_squeeze},
        {"Sub", ys_onnx_sub},
        {"Sum", ys_onnx_add},
        {"Tanh", map_tanh},
        {"Transpose", ys_onnx_transpose},
        {"Unsqueeze", ys_onnx_unsqueeze},
    };
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        if (strcmp(maps[i].op, op) == 0)
            return maps[i].map;
    return NULL;
}
