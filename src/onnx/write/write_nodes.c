/* Nodes: each operator of docs/graph.md as the ONNX operators that mean the same. */
#include "base/mem.h"
#include "onnx/file/onnx_numbers.h"
#include "onnx/write/write_parts.h"
#include "onnx/file/protobuf.h"
#include "quant/rounding.h"
#include "graph/op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct node_name {
    char text[YS_ONNX_NAME];
};

/* "whole/what": the name of something that ONNX needs and the graph has no name for. */
static struct node_name name_part(struct ys_onnx *o, const char *whole, const char *what)
{
    struct node_name name;
    snprintf(name.text, sizeof name.text, "%s/%s", whole, what);
    ys_onnx_claim(o, name.text);
    return name;
}

static void put_constant(struct ys_onnx *o, const char *name, enum ys_dtype dtype, const int64_t *shape, size_t rank,
                         const void *data, size_t size_bytes)
{
    ys_onnx_tensor(&o->part, name, dtype, shape, rank);
    ys_wire_bytes(&o->part, YS_PROTO_TENSOR_RAW, data, size_bytes);
    ys_wire_message(&o->body, YS_PROTO_GRAPH_INITIALIZER, &o->part);
}

/* Numbers in the format of the file. */
static struct node_name put_reals(struct ys_onnx *o, const char *whole, const char *what, const double *values,
                                  size_t count, const int64_t *shape, size_t rank)
{
    struct node_name name = name_part(o, whole, what);
    float *narrow = ys_alloc(count, sizeof *narrow);
    for (size_t i = 0; i < count; i++)
        narrow[i] = (float)values[i];
    const void *data = o->dtype == YS_F64 ? (const void *)values : narrow;
    put_constant(o, name.text, o->dtype, shape, rank, data, count * ys_dtype_size(o->dtype));
    ys_free(narrow);
    return name;
}

static struct node_name put_real(struct ys_onnx *o, const char *whole, const char *what, double value)
{
    return put_reals(o, whole, what, &value, 1, NULL, 0);
}

static struct node_name put_integers(struct ys_onnx *o, const char *whole, const char *what, const int64_t *values,
                                     size_t count)
{
    struct node_name name = name_part(o, whole, what);
    const int64_t shape[] = {(int64_t)count};
    put_constant(o, name.text, YS_I64, shape, 1, values, count * sizeof *values);
    return name;
}

/* A node is put together in o->node: what it reads and makes, in order, its attributes, then end(). */

static void reads(struct ys_onnx *o, const char *value)
{
    ys_wire_text(&o->node, YS_PROTO_NODE_INPUT, value);
}

static void makes(struct ys_onnx *o, const char *value)
{
    ys_wire_text(&o->node, YS_PROTO_NODE_OUTPUT, value);
}

const char *ys_onnx_value(const struct ys_onnx *o, int value)
{
    if (o->numbers && o->numbers[value][0])
        return o->numbers[value];
    int input = ys_graph_input_of(o->graph, value);
    return input >= 0 ? o->inputs[input] : o->graph->values[value].name;
}

static void reads_values(struct ys_onnx *o, const struct ys_node *node)
{
    for (size_t i = 0; i < node->in_count; i++)
        reads(o, ys_onnx_value(o, node->in[i]));
}

static void makes_values(struct ys_onnx *o, const struct ys_node *node)
{
    for (size_t i = 0; i < node->out_count; i++)
        makes(o, o->graph->values[node->out[i]].name);
}

/* Of a product in integers, whose bias has a scale of its own at each of its readers. */
static struct node_name bias_name(const struct ys_node *node)
{
    struct node_name name;
    snprintf(name.text, sizeof name.text, "%s/bias", node->name);
    return name;
}

static bool is_in_integers(const struct ys_onnx *o, const struct ys_node *node)
{
    return o->plan && o->plan->nodes[node - o->graph->nodes].way == YS_QUANT_IN_INTEGER;
}

/* weight, bias, running_mean, running_var, as far as the node has them: the order in which ONNX reads them. */
static void reads_params(struct ys_onnx *o, const struct ys_node *node)
{
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
        int param = ys_node_param(node, (enum ys_node_param)which);
        if (param >= 0 && which == YS_NODE_BIAS && is_in_integers(o, node) && o->scales->rule.kind == YS_QUANT_STATIC)
            reads(o, bias_name(node).text);
        else if (param >= 0)
            reads(o, o->graph->params[param].name);
    }
}

static void put_attribute(struct ys_onnx *o, int type)
{
    ys_wire_integer(&o->part, YS_PROTO_ATTRIBUTE_TYPE, type);
    ys_wire_message(&o->node, YS_PROTO_NODE_ATTRIBUTE, &o->part);
}

static void set_integer(struct ys_onnx *o, const char *name, int64_t value)
{
    ys_wire_text(&o->part, YS_PROTO_ATTRIBUTE_NAME, name);
    ys_wire_integer(&o->part, YS_PROTO_ATTRIBUTE_I, value);
    put_attribute(o, YS_PROTO_IS_INT);
}

static void set_integers(struct ys_onnx *o, const char *name, const int64_t *values, size_t count)
{
    ys_wire_text(&o->part, YS_PROTO_ATTRIBUTE_NAME, name);
    for (size_t i = 0; i < count; i++)
        ys_wire_integer(&o->part, YS_PROTO_ATTRIBUTE_INTS, values[i]);
    put_attribute(o, YS_PROTO_IS_INTS);
}

/* Attributes of ONNX have 32 bits, whatever the format of the values. */
static void set_real(struct ys_onnx *o, const char *name, double value)
{
    ys_wire_text(&o->part, YS_PROTO_ATTRIBUTE_NAME, name);
    ys_wire_float(&o->part, YS_PROTO_ATTRIBUTE_F, (float)value);
    put_attribute(o, YS_PROTO_IS_FLOAT);
}

static void set_text(struct ys_onnx *o, const char *name, const char *value)
{
    ys_wire_text(&o->part, YS_PROTO_ATTRIBUTE_NAME, name);
    ys_wire_text(&o->part, YS_PROTO_ATTRIBUTE_S, value);
    put_attribute(o, YS_PROTO_IS_STRING);
}

static void end(struct ys_onnx *o, const char *op, const char *name)
{
    ys_wire_text(&o->node, YS_PROTO_NODE_NAME, name);
    ys_wire_text(&o->node, YS_PROTO_NODE_OP_TYPE, op);
    ys_wire_message(&o->body, YS_PROTO_GRAPH_NODE, &o->node);
}

/* y = op(x, constant), a step of a node that ONNX has no operator for. */
static void put_step(struct ys_onnx *o, const char *op, const char *x, const char *constant, const char *y,
                     const char *name)
{
    reads(o, x);
    reads(o, constant);
    makes(o, y);
    end(o, op, name);
}

static void put_normalize(struct ys_onnx *o, const struct ys_node *node)
{
    const struct ys_normalize *n = &node->normalize;
    const char *in = ys_onnx_value(o, node->in[0]), *out = o->graph->values[node->out[0]].name;
    /* One number for each channel lines up with axis 1. */
    const int64_t shape[YS_MAX_RANK] = {(int64_t)n->channels, 1, 1, 1, 1, 1, 1, 1};
    size_t rank = n->channels == 1 ? 0 : o->graph->values[node->in[0]].rank - 1;
    struct node_name scale = put_real(o, node->name, "scale", n->scale);
    struct node_name mean = put_reals(o, node->name, "mean", n->mean, n->channels, shape, rank);
    struct node_name std = put_reals(o, node->name, "std", n->std, n->channels, shape, rank);
    struct node_name scaled = name_part(o, node->name, "scaled"), centred = name_part(o, node->name, "centred");
    put_step(o, "Mul", in, scale.text, scaled.text, scaled.text);
    put_step(o, "Sub", scaled.text, mean.text, centred.text, centred.text);
    put_step(o, "Div", centred.text, std.text, out, node->name);
}

static void set_window(struct ys_onnx *o, const struct ys_window *window, const int64_t pads[4])
{
    set_integers(o, "kernel_shape", window->kernel, 2);
    set_integers(o, "strides", window->stride, 2);
    set_integers(o, "dilations", window->dilation, 2);
    set_integers(o, "pads", pads, 4);
}

static void put_conv(struct ys_onnx *o, const struct ys_node *node)
{
    reads_values(o, node);
    reads_params(o, node);
    makes_values(o, node);
    set_window(o, &node->window, node->window.pad);
    set_integer(o, "group", node->window.group);
    end(o, "Conv", node->name);
}

/* Padding after the image that gives the pool its windows without ceil_mode, about which versions of ONNX and its
 * runtimes disagree. What a window of ceil_mode needs beyond the node's own padding is in it, and padding is left out
 * that no window sees where it would be more than runtimes take. */
static int64_t padding_behind(const struct ys_graph *graph, const struct ys_node *node, size_t axis)
{
    const struct ys_window *w = &node->window;
    int64_t extent = graph->values[node->in[0]].shape[axis + 2], count = graph->values[node->out[0]].shape[axis + 2];
    int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1;
    int64_t behind = (count - 1) * w->stride[axis] + reach - extent - w->pad[axis];
    if (!w->ceil && w->pad[axis + 2] < w->kernel[axis])
        return w->pad[axis + 2];
    return behind > 0 ? behind : 0;
}

/* A Pad before the pool; its value is what the pool reads then. */
static struct node_name put_padding(struct ys_onnx *o, const struct ys_node *node, const int64_t pads[4], double value)
{
    const int64_t all[8] = {0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3]};
    struct node_name amounts = put_integers(o, node->name, "pads", all, 8);
    struct node_name filling = put_real(o, node->name, "padding", value);
    struct node_name padded = name_part(o, node->name, "padded");
    reads(o, ys_onnx_value(o, node->in[0]));
    reads(o, amounts.text);
    reads(o, filling.text);
    makes(o, padded.text);
    end(o, "Pad", padded.text);
    return padded;
}

static void put_pool(struct ys_onnx *o, const struct ys_node *node)
{
    const struct ys_window *w = &node->window;
    const bool is_max = node->op == YS_OP_MAXPOOL;
    const int64_t own[4] = {w->pad[0], w->pad[1], w->pad[2], w->pad[3]};
    int64_t pads[4] = {w->pad[0], w->pad[1], padding_behind(o->graph, node, 0), padding_behind(o->graph, node, 1)};
    const int64_t none[4] = {0};
    bool wide = false, beyond = false; /* more padding than runtimes take; more than the node's own */
    for (size_t i = 0; i < 4; i++) {
        wide |= pads[i] >= w->kernel[i % 2];
        beyond |= pads[i] > own[i];
    }
    bool counts = !is_max && w->include_pad && memcmp(own, none, sizeof none) != 0;
    struct node_name padded = {""};
    if (is_max && wide) {
        padded = put_padding(o, node, pads, -INFINITY);
        memset(pads, 0, sizeof pads);
    } else if (counts && beyond) { /* the node's own padding counts, the rest does not */
        padded = put_padding(o, node, own, 0);
        for (size_t i = 0; i < 4; i++)
            pads[i] = pads[i] > own[i] ? pads[i] - own[i] : 0;
        counts = false;
    }
    reads(o, padded.text[0] ? padded.text : ys_onnx_value(o, node->in[0]));
    makes_values(o, node);
    set_window(o, w, pads);
    if (!is_max)
        set_integer(o, "count_include_pad", counts);
    end(o, ys_op_name(node->op), node->name);
}

static void put_batchnorm(struct ys_onnx *o, const struct ys_node *node)
{
    reads_values(o, node);
    reads_params(o, node);
    makes_values(o, node);
    set_real(o, "epsilon", node->batchnorm.epsilon);
    set_real(o, "momentum", 1 - node->batchnorm.momentum);
    end(o, "BatchNormalization", node->name);
}

static void put_lrn(struct ys_onnx *o, const struct ys_node *node)
{
    reads_values(o, node);
    makes_values(o, node);
    set_real(o, "alpha", node->lrn.alpha);
    set_real(o, "beta", node->lrn.beta);
    set_real(o, "bias", node->lrn.bias);
    set_integer(o, "size", node->lrn.size);
    end(o, "LRN", node->name);
}

static void put_clip(struct ys_onnx *o, const struct ys_node *node)
{
    struct node_name low = put_real(o, node->name, "min", node->low), high = put_real(o, node->name, "max", node->high);
    reads_values(o, node);
    reads(o, low.text);
    reads(o, high.text);
    makes_values(o, node);
    end(o, "Clip", node->name);
}

/* y = op(x), a step too. */
static void put_function(struct ys_onnx *o, const char *op, const char *x, const char *y)
{
    reads(o, x);
    makes(o, y);
    end(o, op, y);
}

/* The operator set of the file has no Swish yet. */
static void put_swish(struct ys_onnx *o, const struct ys_node *node)
{
    const char *in = ys_onnx_value(o, node->in[0]), *out = o->graph->values[node->out[0]].name;
    struct node_name share = name_part(o, node->name, "sigmoid");
    put_function(o, "Sigmoid", in, share.text);
    put_step(o, "Mul", in, share.text, out, node->name);
}

/* sqrt(2 / pi) (x + 0.044715 x^3) */
static struct node_name put_gelu_inner(struct ys_onnx *o, const struct ys_node *node, const char *in)
{
    struct node_name cube = name_part(o, node->name, "cube"), part = name_part(o, node->name, "part");
    struct node_name sum = name_part(o, node->name, "sum"), inner = name_part(o, node->name, "inner");
    struct node_name three = put_real(o, node->name, "three", 3);
    struct node_name share = put_real(o, node->name, "share", 0.044715);
    struct node_name root = put_real(o, node->name, "root", sqrt(2 / acos(-1)));
    put_step(o, "Pow", in, three.text, cube.text, cube.text);
    put_step(o, "Mul", cube.text, share.text, part.text, part.text);
    put_step(o, "Add", in, part.text, sum.text, sum.text);
    put_step(o, "Mul", sum.text, root.text, inner.text, inner.text);
    return inner;
}

/* Nor has it Gelu: (x / 2) (1 + erf(x / sqrt 2)), or with the approximation. */
static void put_gelu(struct ys_onnx *o, const struct ys_node *node)
{
    const char *in = ys_onnx_value(o, node->in[0]), *out = o->graph->values[node->out[0]].name;
    struct node_name half = put_real(o, node->name, "half", 0.5), one = put_real(o, node->name, "one", 1);
    struct node_name inner, curve = name_part(o, node->name, "curve"), lifted = name_part(o, node->name, "lifted");
    struct node_name product = name_part(o, node->name, "product");
    if (node->by_tanh) {
        inner = put_gelu_inner(o, node, in);
    } else {
        struct node_name root = put_real(o, node->name, "root", sqrt(2));
        inner = name_part(o, node->name, "inner");
        put_step(o, "Div", in, root.text, inner.text, inner.text);
    }
    put_function(o, node->by_tanh ? "Tanh" : "Erf", inner.text, curve.text);
    put_step(o, "Add", curve.text, one.text, lifted.text, lifted.text);
    put_step(o, "Mul", in, half.text, product.text, product.text);
    put_step(o, "Mul", product.text, lifted.text, out,
             node->name); /* last: who joins them finds name and result here */
}

static void put_pow(struct ys_onnx *o, const struct ys_node *node)
{
    struct node_name exponent = put_real(o, node->name, "exponent", node->exponent);
    put_step(o, "Pow", ys_onnx_value(o, node->in[0]), exponent.text, o->graph->values[node->out[0]].name, node->name);
}

/* Reshape, Split and ReduceMean read what would be their attribute. */
static void put_directed(struct ys_onnx *o, const struct ys_node *node, const char *what, const int64_t *values,
                         size_t count)
{
    struct node_name constant = put_integers(o, node->name, what, values, count);
    reads_values(o, node);
    reads(o, constant.text);
    makes_values(o, node);
    if (node->op == YS_OP_SPLIT)
        set_integer(o, "axis", node->axis);
    if (node->op == YS_OP_MEAN)
        set_integer(o, "keepdims", node->keepdims);
    end(o, ys_op_name(node->op), node->name);
}

static void put_reshape(struct ys_onnx *o, const struct ys_node *node)
{
    int64_t shape[YS_MAX_RANK] = {0}; /* a 0 takes the extent of the input: the batch */
    memcpy(shape + 1, node->shape + 1, (node->shape_rank - 1) * sizeof *shape);
    put_directed(o, node, "shape", shape, node->shape_rank);
}

static void put_pad(struct ys_onnx *o, const struct ys_node *node)
{
    const struct ys_pad *pad = &node->pad;
    int64_t pads[2 * YS_MAX_RANK];
    memcpy(pads, pad->before, pad->rank * sizeof *pads);
    memcpy(pads + pad->rank, pad->after, pad->rank * sizeof *pads);
    struct node_name amounts = put_integers(o, node->name, "pads", pads, 2 * pad->rank);
    reads_values(o, node);
    reads(o, amounts.text);
    if (pad->mode == YS_PAD_CONSTANT) {
        struct node_name filling = put_real(o, node->name, "value", pad->value);
        reads(o, filling.text);
    }
    makes_values(o, node);
    set_text(o, "mode", ys_pad_mode_name(pad->mode));
    end(o, "Pad", node->name);
}

static void put_mean(struct ys_onnx *o, const struct ys_node *node)
{
    int64_t axes[YS_MAX_RANK];
    size_t count = 0;
    for (int64_t i = 0; i < YS_MAX_RANK; i++)
        if (node->reduced[i])
            axes[count++] = i;
    put_directed(o, node, "axes", axes, count);
}

static void put_split(struct ys_onnx *o, const struct ys_node *node)
{
    put_directed(o, node, "split", node->split, node->out_count);
}

/* Evaluation passes everything on: a Dropout of ONNX does nothing unless an input says that it trains. */
static void put_dropout(struct ys_onnx *o, const struct ys_node *node)
{
    struct node_name ratio = put_real(o, node->name, "ratio", node->ratio);
    put_step(o, "Dropout", ys_onnx_value(o, node->in[0]), ratio.text, o->graph->values[node->out[0]].name, node->name);
}

/* An attribute that ONNX has in the same form. */
static void set_attr(struct ys_onnx *o, const struct ys_attr *attr, const struct ys_node *node)
{
    const void *place = (const char *)node + attr->offset;
    int64_t axes[YS_MAX_RANK];
    switch (attr->kind) {
    case YS_ATTR_ONLY:
        set_integer(o, attr->name, attr->only);
        return;
    case YS_ATTR_UNSAID:
    case YS_ATTR_NOTE: /* ONNX sees it from the shapes */
        return;
    case YS_ATTR_FLAG:
        set_integer(o, attr->name, *(const bool *)place);
        return;
    case YS_ATTR_SIZE:
        set_integer(o, attr->name, *(const int64_t *)place);
        return;
    case YS_ATTR_AXIS:
        set_integer(o, attr->name, *(const int *)place);
        return;
    case YS_ATTR_PAIR:
    case YS_ATTR_EXTRA:
        set_integers(o, attr->name, place, 2);
        return;
    case YS_ATTR_PADS:
        set_integers(o, attr->name, place, 4);
        return;
    case YS_ATTR_REAL:
        set_real(o, attr->name, *(const double *)place);
        return;
    case YS_ATTR_PERMUTATION:
    case YS_ATTR_AXES:
        set_integers(o, attr->name, axes, ys_attr_axes(attr, o->graph, node, axes));
        return;
    case YS_ATTR_SPLIT:
    case YS_ATTR_SHAPE:
    case YS_ATTR_BY_TANH:
    case YS_ATTR_PAD_MODE:
    case YS_ATTR_AXIS_PADS:
    case YS_ATTR_CHANNEL_REALS:
    case YS_ATTR_CONNECTIONS:
        break;
    }
    YS_ASSERT(!"an attribute that ONNX has in this form");
}

/* What has an operator that means the same, which reads its values, then its parameters. */
static void put_plain(struct ys_onnx *o, const struct ys_node *node)
{
    const struct ys_op_rule *rule = ys_op_rule(node->op);
    reads_values(o, node);
    reads_params(o, node);
    makes_values(o, node);
    for (const struct ys_attr *attr = rule->attrs; attr->name; attr++)
        set_attr(o, attr, node);
    end(o, rule->onnx ? rule->onnx : rule->name, node->name);
}

/* The operator set has Celu in FLOAT alone: otherwise alpha elu(x / alpha). */
static void put_celu(struct ys_onnx *o, const struct ys_node *node)
{
    if (o->dtype == YS_F32) {
        put_plain(o, node);
        return;
    }
    struct node_name alpha = put_real(o, node->name, "alpha", node->slope);
    struct node_name share = name_part(o, node->name, "share"), curve = name_part(o, node->name, "curve");
    put_step(o, "Div", ys_onnx_value(o, node->in[0]), alpha.text, share.text, share.text);
    put_function(o, "Elu", share.text, curve.text);
    put_step(o, "Mul", curve.text, alpha.text, o->graph->values[node->out[0]].name, node->name);
}

/* Gemm where the value is a matrix; of more dimensions a product with the weight turned, and the bias behind it. */
static void put_gemm(struct ys_onnx *o, const struct ys_node *node)
{
    const char *out = o->graph->values[node->out[0]].name;
    if (o->graph->values[node->in[0]].rank == 2) {
        reads_values(o, node);
        reads_params(o, node);
        makes_values(o, node);
        set_integer(o, "transB", 1);
        end(o, "Gemm", node->name);
        return;
    }
    struct node_name turned = name_part(o, node->name, "turned"), product = {""};
    reads(o, o->graph->params[node->weight].name);
    makes(o, turned.text);
    set_integers(o, "perm", (const int64_t[]){1, 0}, 2);
    end(o, "Transpose", turned.text);
    if (node->bias >= 0)
        product = name_part(o, node->name, "product");
    put_step(o, "MatMul", ys_onnx_value(o, node->in[0]), turned.text, node->bias >= 0 ? product.text : out, node->name);
    if (node->bias >= 0)
        put_step(o, "Add", product.text, o->graph->params[node->bias].name, out,
                 name_part(o, node->name, "biased").text);
}

static void put_embedding(struct ys_onnx *o, const struct ys_node *node)
{
    reads(o, o->graph->params[node->weight].name);
    reads(o, o->graph->values[node->in[0]].name);
    makes_values(o, node);
    set_integer(o, "axis", 0);
    end(o, "Gather", node->name);
}

/* A part of attention, cut into heads: (N, positions, groups, heads of a group, width), its axes then in the order
 * `perm`. */
static struct node_name put_heads(struct ys_onnx *o, const struct ys_node *node, size_t in, const char *what,
                                  int64_t heads, const int64_t perm[5])
{
    const struct ys_value *v = &o->graph->values[node->in[in]];
    const int64_t groups = node->attention.kv_heads;
    const int64_t shape[5] = {0, v->shape[1], groups, heads / groups, v->shape[2] / heads};
    char text[3][16];
    snprintf(text[0], sizeof text[0], "%s/shape", what);
    snprintf(text[1], sizeof text[1], "%s/heads", what);
    snprintf(text[2], sizeof text[2], "%s/turned", what);
    struct node_name extents = put_integers(o, node->name, text[0], shape, 5), cut = name_part(o, node->name, text[1]);
    struct node_name turned = name_part(o, node->name, text[2]);
    put_step(o, "Reshape", ys_onnx_value(o, node->in[in]), extents.text, cut.text, cut.text);
    reads(o, cut.text);
    makes(o, turned.text);
    set_integers(o, "perm", perm, 5);
    end(o, "Transpose", turned.text);
    return turned;
}

/* What is added to the scores: minus infinity where a key lies behind its query. */
static struct node_name put_mask(struct ys_onnx *o, const struct ys_node *node)
{
    const int64_t positions = o->graph->values[node->in[0]].shape[1], shape[] = {positions, positions};
    double *values = ys_alloc((size_t)(positions * positions), sizeof *values);
    for (int64_t i = 0; i < positions * positions; i++)
        values[i] = i % positions > i / positions ? -INFINITY : 0;
    struct node_name mask = put_reals(o, node->name, "mask", values, (size_t)(positions * positions), shape, 2);
    ys_free(values);
    return mask;
}

/* Which tokens are not the padding, 0: which a number is that is no truth. */
static struct node_name put_counts(struct ys_onnx *o, const struct ys_node *node)
{
    struct node_name counts = name_part(o, node->name, "counts");
    reads(o, o->graph->values[ys_node_tokens(node)].name);
    makes(o, counts.text);
    set_integer(o, "to", YS_ONNX_BOOL);
    end(o, "Cast", counts.text);
    return counts;
}

/* The scores, minus infinity where the token of a key is the padding. */
static struct node_name put_hidden(struct ys_onnx *o, const struct ys_node *node, struct node_name scores)
{
    struct node_name counts = put_counts(o, node), spread = name_part(o, node->name, "spread");
    struct node_name axes = put_integers(o, node->name, "axes", (const int64_t[]){1, 2, 3}, 3);
    struct node_name lowest = put_real(o, node->name, "lowest", -INFINITY), seen = name_part(o, node->name, "seen");
    put_step(o, "Unsqueeze", counts.text, axes.text, spread.text, spread.text);
    reads(o, spread.text);
    reads(o, scores.text);
    reads(o, lowest.text);
    makes(o, seen.text);
    end(o, "Where", seen.text);
    return seen;
}

/* The operator set of the file has no Attention yet: products of (N, groups, heads of a group, positions, width). */
static void put_attention(struct ys_onnx *o, const struct ys_node *node)
{
    const struct ys_attention *a = &node->attention;
    const struct ys_value *q = &o->graph->values[node->in[0]], *out = &o->graph->values[node->out[0]];
    const double root = sqrt((double)(q->shape[2] / a->heads)), factor = a->scale > 0 ? a->scale : 1 / root;
    struct node_name queries = put_heads(o, node, 0, "q", a->heads, (const int64_t[]){0, 2, 3, 1, 4});
    struct node_name keys = put_heads(o, node, 1, "k", a->kv_heads, (const int64_t[]){0, 2, 3, 4, 1});
    struct node_name values = put_heads(o, node, 2, "v", a->kv_heads, (const int64_t[]){0, 2, 3, 1, 4});
    struct node_name scale = put_real(o, node->name, "scale", factor), dots = name_part(o, node->name, "dots");
    struct node_name scaled = name_part(o, node->name, "scaled"), shares = name_part(o, node->name, "shares");
    put_step(o, "MatMul", queries.text, keys.text, dots.text, dots.text);
    put_step(o, "Mul", dots.text, scale.text, scaled.text, scaled.text);
    if (a->causal) {
        struct node_name mask = put_mask(o, node), masked = name_part(o, node->name, "masked");
        put_step(o, "Add", scaled.text, mask.text, masked.text, masked.text);
        scaled = masked;
    }
    if (node->in_count > 3)
        scaled = put_hidden(o, node, scaled);
    reads(o, scaled.text);
    makes(o, shares.text);
    set_integer(o, "axis", 4);
    end(o, "Softmax", shares.text);
    struct node_name sums = name_part(o, node->name, "sums"), back = name_part(o, node->name, "back");
    struct node_name extents =
        put_integers(o, node->name, "shape", (const int64_t[]){0, out->shape[1], out->shape[2]}, 3);
    put_step(o, "MatMul", shares.text, values.text, sums.text, node->name); /* who reads it back finds the name here */
    reads(o, sums.text);
    makes(o, back.text);
    set_integers(o, "perm", (const int64_t[]){0, 3, 1, 2, 4}, 5);
    end(o, "Transpose", back.text);
    put_step(o, "Reshape", back.text, extents.text, out->name, name_part(o, node->name, "joined").text);
}

/* The blocks of a parameter of `gates` parts in the order in which ONNX has the gates, as (1, rows, columns), or
 * (1, rows) of a vector. */
static struct node_name put_gates(struct ys_onnx *o, const struct ys_node *node, enum ys_node_param which)
{
    static const int64_t of_lstm[] = {0, 3, 1, 2}, of_gru[] = {1, 0, 2}; /* i o f g; z r n */
    const struct ys_param *param = &o->graph->params[ys_node_param(node, which)];
    const int64_t hidden = o->graph->values[node->out[0]].shape[2], blocks = param->shape[0] / hidden;
    const int64_t shape[] = {1, param->shape[0], param->shape[1]};
    int64_t *rows = ys_alloc((size_t)param->shape[0], sizeof *rows);
    char text[3][32];
    for (size_t i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "%s/%s", ys_node_param_key(which),
                 ((const char *[]){"rows", "turned", "shape"})[i]);
    struct node_name turned = name_part(o, node->name, text[1]),
                     made = name_part(o, node->name, ys_node_param_key(which));
    for (int64_t i = 0; i < param->shape[0]; i++)
        rows[i] = (blocks == 4   ? of_lstm
                   : blocks == 3 ? of_gru
                                 : &(const int64_t){0})[i / hidden] *
                      hidden +
                  i % hidden;
    struct node_name order = put_integers(o, node->name, text[0], rows, (size_t)param->shape[0]);
    ys_free(rows);
    reads(o, param->name);
    reads(o, order.text);
    makes(o, turned.text);
    set_integer(o, "axis", 0);
    end(o, "Gather", turned.text);
    struct node_name extents = put_integers(o, node->name, text[2], shape, param->rank + 1);
    put_step(o, "Reshape", turned.text, extents.text, made.text, made.text);
    return made;
}

/* Both biases in one row: LSTM has no second, GRU one for its last gate alone. */
static struct node_name put_biases(struct ys_onnx *o, const struct ys_node *node)
{
    const int64_t hidden = o->graph->values[node->out[0]].shape[2], count = node->op == YS_OP_LSTM ? 4 : 2;
    const int64_t shape[] = {1, count * hidden};
    struct node_name first = put_gates(o, node, YS_NODE_BIAS), second = {""}, both = name_part(o, node->name, "biases");
    double *zeros = ys_alloc((size_t)shape[1], sizeof *zeros);
    struct node_name none = put_reals(o, node->name, "none", zeros, (size_t)shape[1], shape, 2);
    ys_free(zeros);
    if (node->recurrent_bias >= 0)
        second = put_gates(o, node, YS_NODE_RECURRENT_BIAS);
    reads(o, first.text);
    reads(o, none.text);
    if (node->recurrent_bias >= 0)
        reads(o, second.text);
    makes(o, both.text);
    set_integer(o, "axis", 1);
    end(o, "Concat", both.text);
    return both;
}

/* ONNX has positions first, and an axis of directions. */
static void put_recurrent(struct ys_onnx *o, const struct ys_node *node)
{
    const struct ys_value *out = &o->graph->values[node->out[0]];
    const int64_t shape[] = {0, out->shape[1], out->shape[2]};
    struct node_name weight = put_gates(o, node, YS_NODE_WEIGHT), recurrent = put_gates(o, node, YS_NODE_RECURRENT);
    struct node_name biases = put_biases(o, node), by_position = name_part(o, node->name, "by_position");
    struct node_name states = name_part(o, node->name, "states"), by_row = name_part(o, node->name, "by_row");
    struct node_name extents = put_integers(o, node->name, "shape", shape, 3);
    reads(o, ys_onnx_value(o, node->in[0]));
    makes(o, by_position.text);
    set_integers(o, "perm", (const int64_t[]){1, 0, 2}, 3);
    end(o, "Transpose", by_position.text);
    reads(o, by_position.text);
    reads(o, weight.text);
    reads(o, recurrent.text);
    reads(o, biases.text);
    makes(o, states.text);
    set_integer(o, "hidden_size", out->shape[2]);
    if (node->op == YS_OP_GRU)
        set_integer(o, "linear_before_reset", 1);
    end(o, ys_op_name(node->op), node->name);
    reads(o, states.text);
    makes(o, by_row.text);
    set_integers(o, "perm", (const int64_t[]){2, 0, 1, 3}, 4);
    end(o, "Transpose", by_row.text);
    put_step(o, "Reshape", by_row.text, extents.text, out->name, name_part(o, node->name, "joined").text);
}

#include "onnx/write/write_places.inc"
#include "onnx/write/write_quantised.inc"

static void put_node(struct ys_onnx *o, const struct ys_node *node)
{
    /* Of those whose descriptor names no operator of ONNX. */
    static void (*const forms[YS_OP_COUNT])(struct ys_onnx * o, const struct ys_node *node) = {
        [YS_OP_NORMALIZE] = put_normalize, [YS_OP_CONV] = put_conv,
        [YS_OP_MAXPOOL] = put_pool,        [YS_OP_AVERAGEPOOL] = put_pool,
        [YS_OP_BATCHNORM] = put_batchnorm, [YS_OP_LRN] = put_lrn,
        [YS_OP_CLIP] = put_clip,           [YS_OP_SPLIT] = put_split,
        [YS_OP_RESHAPE] = put_reshape,     [YS_OP_MEAN] = put_mean,
        [YS_OP_DROPOUT] = put_dropout,     [YS_OP_SWISH] = put_swish,
        [YS_OP_GELU] = put_gelu,           [YS_OP_POW] = put_pow,
        [YS_OP_CELU] = put_celu,           [YS_OP_PAD] = put_pad,
        [YS_OP_GEMM] = put_gemm,           [YS_OP_EMBEDDING] = put_embedding,
        [YS_OP_ATTENTION] = put_attention, [YS_OP_LSTM] = put_recurrent,
        [YS_OP_GRU] = put_recurrent,       [YS_OP_RMSNORM] = put_rmsnorm,
        [YS_OP_ROTARY] = put_rotary,       [YS_OP_SINUSOID] = put_sinusoid,
        [YS_OP_LAST] = put_last,
    };
    YS_ASSERT(!ys_op_rule(node->op)->onnx == !!forms[node->op]);
    if (is_in_integers(o, node) && put_quantised_operands(o, node))
        return;
    (forms[node->op] ? forms[node->op] : put_plain)(o, node);
}

/* An input as its rows are stored, in the format of the file. */
static void put_cast(struct ys_onnx *o, size_t index, const char *input)
{
    struct node_name cast = name_part(o, input, "cast");
    reads(o, input);
    makes(o, cast.text);
    set_integer(o, "to", ys_onnx_type(o->dtype));
    end(o, "Cast", cast.text);
    memcpy(o->inputs[index], cast.text, sizeof o->inputs[index]);
}

/* Whether anything but what reads tokens as they are reads the input: an embedding, what leaves out padding. */
static bool is_computed_with(const struct ys_graph *graph, int input)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].in_count; k++)
            if (graph->nodes[i].in[k] == input && graph->nodes[i].op != YS_OP_EMBEDDING &&
                ys_node_tokens(&graph->nodes[i]) != input)
                return true;
    return false;
}

void ys_onnx_nodes(struct ys_onnx *onnx)
{
    for (size_t i = 0; i < onnx->graph->input_count; i++) {
        const struct ys_value *input = &onnx->graph->values[onnx->graph->inputs[i]];
        snprintf(onnx->inputs[i], sizeof onnx->inputs[i], "%s", input->name);
        if (input->dtype != onnx->dtype && is_computed_with(onnx->graph, onnx->graph->inputs[i]))
            put_cast(onnx, i, input->name);
        put_steps(onnx, onnx->graph->inputs[i]);
    }
    for (size_t i = 0; i < onnx->graph->node_count; i++) {
        const struct ys_node *node = &onnx->graph->nodes[i];
        put_node(onnx, node);
        for (size_t k = 0; k < node->out_count; k++)
            put_steps(onnx, node->out[k]);
    }
}
