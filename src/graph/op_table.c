/* The descriptors of the operators, in the order of YS_OPS. */
#include "graph/op.h"
#include "graph/infer.h"
#include <string.h>

#define AT(member) offsetof(struct ys_node, member)
#define END                                                                                                            \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
/* Attributes that several operators have, or that are of a frequent kind. */
#define REAL(name, where, range)                                                                                       \
    {                                                                                                                  \
        name, YS_ATTR_REAL, AT(where), false, YS_RANGE_##range, 0                                                      \
    }
#define REALS(name, where, range)                                                                                      \
    {                                                                                                                  \
        name, YS_ATTR_CHANNEL_REALS, AT(where), false, YS_RANGE_##range, 0                                             \
    }
#define GIVEN(name, kind, where)                                                                                       \
    {                                                                                                                  \
        name, YS_ATTR_##kind, AT(where), false, YS_RANGE_ANY, 0                                                        \
    }
#define MAYBE(name, kind, where)                                                                                       \
    {                                                                                                                  \
        name, YS_ATTR_##kind, AT(where), true, YS_RANGE_ANY, 0                                                         \
    }
#define ONLY(name, kind, value)                                                                                        \
    {                                                                                                                  \
        name, YS_ATTR_##kind, 0, true, YS_RANGE_ANY, value                                                             \
    }
#define WINDOW                                                                                                         \
    GIVEN("kernel_shape", PAIR, window.kernel), MAYBE("strides", PAIR, window.stride),                                 \
        MAYBE("dilations", PAIR, window.dilation), MAYBE("pads", PADS, window.pad)
#define CEIL      MAYBE("ceil_mode", FLAG, window.ceil)
#define AXIS      GIVEN("axis", AXIS, axis)
#define BROADCAST ATTRS(MAYBE("broadcast", NOTE, broadcast))

#define ATTRS(...)                                                                                                     \
    (const struct ys_attr[])                                                                                           \
    {                                                                                                                  \
        __VA_ARGS__, END                                                                                               \
    }
#define NO_ATTRS ((const struct ys_attr[]){END})

/* How many values are read and made. */
#define UNARY .in_low = 1, .in_high = 1, .out_low = 1, .out_high = 1
/* Two values, or one and a parameter. */
#define PAIR .in_low = 1, .in_high = 2, .out_low = 1, .out_high = 1, .params = YS_PARAMS_OPERAND

static size_t at_zero(const struct ys_node *node, double at[YS_OP_MAX_KINKS])
{
    (void)node;
    at[0] = 0;
    return 1;
}

static size_t at_bounds(const struct ys_node *node, double at[YS_OP_MAX_KINKS])
{
    at[0] = node->low;
    at[1] = node->high;
    return 2;
}

static const struct ys_op_rule rule_NORMALIZE = {
    .name = "normalize",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .takes_integers = true,
    .attrs = ATTRS(REAL("scale", normalize.scale, POSITIVE), REALS("mean", normalize.mean, ANY),
                   REALS("std", normalize.std, POSITIVE)),
    .infer = ys_infer_normalize,
};

static const struct ys_op_rule rule_CONV = {
    .name = "Conv",
    UNARY,
    .params = YS_PARAMS_WEIGHT,
    .kind = YS_OPKIND_PRODUCT,
    .attrs = ATTRS(WINDOW, MAYBE("group", SIZE, window.group), MAYBE("connections", CONNECTIONS, connected)),
    .infer = ys_infer_conv,
    .multiply_adds = ys_compose_count_product,
    .reads_x = true,
};

static const struct ys_op_rule rule_CONV_TRANSPOSE = {
    .name = "ConvTranspose",
    UNARY,
    .params = YS_PARAMS_WEIGHT,
    .kind = YS_OPKIND_PRODUCT,
    .attrs = ATTRS(WINDOW, MAYBE("group", SIZE, window.group), MAYBE("output_padding", EXTRA, window.extra)),
    .infer = ys_infer_conv_transpose,
    .multiply_adds = ys_compose_count_transposed,
    .reads_x = true,
    .onnx = "ConvTranspose",
};

static const struct ys_op_rule rule_RELU = {
    .name = "Relu",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = NO_ATTRS,
    .infer = ys_infer_same,
    .reads_y = true,
    .onnx = "Relu",
    .kinks = at_zero,
};

static const struct ys_op_rule rule_MAXPOOL = {
    .name = "MaxPool", UNARY, .kind = YS_OPKIND_POOL, .attrs = ATTRS(WINDOW, CEIL), .infer = ys_infer_pool};

static const struct ys_op_rule rule_FLATTEN = {
    .name = "Flatten",
    UNARY,
    .kind = YS_OPKIND_LAYOUT,
    .attrs = ATTRS(ONLY("axis", ONLY, 1)),
    .infer = ys_infer_flatten,
    .onnx = "Flatten",
};

static const struct ys_op_rule rule_GEMM = {
    .name = "Gemm",
    UNARY,
    .params = YS_PARAMS_WEIGHT,
    .kind = YS_OPKIND_PRODUCT,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(ONLY("transB", ONLY, 1), ONLY("transA", UNSAID, 0), ONLY("alpha", UNSAID, 1),
                   ONLY("beta", UNSAID, 1), MAYBE("positions", NOTE, positions)),
    .infer = ys_infer_gemm,
    .multiply_adds = ys_compose_count_product,
    .reads_x = true,
};

static const struct ys_op_rule rule_EMBEDDING = {
    .name = "Embedding",
    UNARY,
    .params = YS_PARAMS_WEIGHT,
    .kind = YS_OPKIND_LAYOUT,
    .reach = YS_REACH_OWN,
    .takes_integers = true,
    .attrs = NO_ATTRS,
    .infer = ys_infer_embedding,
    .reads_x = true,
};

static const struct ys_op_rule rule_ATTENTION = {
    .name = "Attention",
    .in_low = 3,
    .in_high = 4,
    .out_low = 1,
    .out_high = 1,
    .kind = YS_OPKIND_PRODUCT,
    .takes_integers = true, /* the tokens that hide keys */
    .attrs = ATTRS(GIVEN("q_num_heads", SIZE, attention.heads), GIVEN("kv_num_heads", SIZE, attention.kv_heads),
                   MAYBE("is_causal", FLAG, attention.causal),
                   {"scale", YS_ATTR_REAL, AT(attention.scale), true, YS_RANGE_NOT_NEGATIVE, 0}),
    .infer = ys_infer_attention,
    .multiply_adds = ys_compose_count_attention,
    .reads_x = true,
};

static const struct ys_op_rule rule_MATMUL = {
    .name = "MatMul",
    .in_low = 2,
    .in_high = 2,
    .out_low = 1,
    .out_high = 1,
    .kind = YS_OPKIND_PRODUCT,
    .attrs = NO_ATTRS,
    .infer = ys_infer_matmul,
    .multiply_adds = ys_compose_count_matmul,
    .reads_x = true,
    .onnx = "MatMul",
};

static const struct ys_op_rule rule_LSTM = {
    .name = "LSTM",
    UNARY,
    .params = YS_PARAMS_LSTM,
    .kind = YS_OPKIND_PRODUCT,
    .attrs = NO_ATTRS,
    .infer = ys_infer_recurrent,
    .multiply_adds = ys_compose_count_recurrent,
    .reads_x = true,
    .reads_y = true,
};

static const struct ys_op_rule rule_GRU = {
    .name = "GRU",
    UNARY,
    .params = YS_PARAMS_GRU,
    .kind = YS_OPKIND_PRODUCT,
    .attrs = ATTRS(ONLY("linear_before_reset", ONLY, 1)),
    .infer = ys_infer_recurrent,
    .multiply_adds = ys_compose_count_recurrent,
    .reads_x = true,
    .reads_y = true,
};

static const struct ys_op_rule rule_ROTARY = {
    .name = "RotaryEmbedding",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(GIVEN("num_heads", SIZE, rotary.heads), MAYBE("interleaved", FLAG, rotary.interleaved),
                   {"base", YS_ATTR_REAL, AT(rotary.base), true, YS_RANGE_POSITIVE, 0}),
    .infer = ys_infer_rotary,
};

static const struct ys_op_rule rule_SINUSOID = {
    .name = "sinusoid",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS({"base", YS_ATTR_REAL, AT(rotary.base), true, YS_RANGE_POSITIVE, 0}),
    .infer = ys_infer_sinusoid,
};

static const struct ys_op_rule rule_LAST = {
    .name = "last",
    .in_low = 2,
    .in_high = 2,
    .out_low = 1,
    .out_high = 1,
    .kind = YS_OPKIND_LAYOUT,
    .takes_integers = true, /* the tokens */
    .attrs = NO_ATTRS,
    .infer = ys_infer_last,
};

static const struct ys_op_rule rule_AVERAGEPOOL = {
    .name = "AveragePool",
    UNARY,
    .kind = YS_OPKIND_POOL,
    .attrs = ATTRS(WINDOW, CEIL, MAYBE("count_include_pad", FLAG, window.include_pad)),
    .infer = ys_infer_pool,
};

static const struct ys_op_rule rule_GLOBAL_AVERAGEPOOL = {
    .name = "GlobalAveragePool",
    UNARY,
    .kind = YS_OPKIND_POOL,
    .attrs = NO_ATTRS,
    .infer = ys_infer_global_pool,
    .onnx = "GlobalAveragePool",
};

static const struct ys_op_rule rule_GLOBAL_MAXPOOL = {
    .name = "GlobalMaxPool",
    UNARY,
    .kind = YS_OPKIND_POOL,
    .attrs = NO_ATTRS,
    .infer = ys_infer_global_pool,
    .onnx = "GlobalMaxPool",
};

static const struct ys_op_rule rule_BATCHNORM = {
    .name = "BatchNormalization",
    UNARY,
    .params = YS_PARAMS_BATCHNORM,
    .kind = YS_OPKIND_POINTWISE,
    .attrs = ATTRS(REAL("epsilon", batchnorm.epsilon, POSITIVE), REAL("momentum", batchnorm.momentum, SHARE)),
    .infer = ys_infer_batchnorm,
    .reads_x = true,
};

static const struct ys_op_rule rule_LAYERNORM = {
    .name = "LayerNormalization",
    UNARY,
    .params = YS_PARAMS_WEIGHT,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN_ALONG_LAST,
    .attrs = ATTRS(AXIS, REAL("epsilon", epsilon, POSITIVE)),
    .infer = ys_infer_layernorm,
    .reads_x = true,
    .onnx = "LayerNormalization",
};

static const struct ys_op_rule rule_RMSNORM = {
    .name = "RMSNormalization",
    UNARY,
    .params = YS_PARAMS_SCALE,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN_ALONG_LAST,
    .attrs = ATTRS(AXIS, REAL("epsilon", epsilon, POSITIVE)),
    .infer = ys_infer_layernorm,
    .reads_x = true,
};

static const struct ys_op_rule rule_LRN = {
    .name = "LRN",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .attrs = ATTRS(GIVEN("size", SIZE, lrn.size), REAL("alpha", lrn.alpha, NOT_NEGATIVE),
                   REAL("beta", lrn.beta, NOT_NEGATIVE), REAL("bias", lrn.bias, POSITIVE)),
    .infer = ys_infer_lrn,
    .reads_x = true,
    .reads_y = true,
};

static const struct ys_op_rule rule_CLIP = {
    .name = "Clip",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(REAL("min", low, ANY), REAL("max", high, ANY)),
    .infer = ys_infer_clip,
    .reads_x = true,
    .kinks = at_bounds,
};

static const struct ys_op_rule rule_LEAKY_RELU = {
    .name = "LeakyRelu",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(REAL("alpha", slope, SHARE)),
    .infer = ys_infer_same,
    .reads_x = true,
    .onnx = "LeakyRelu",
    .kinks = at_zero,
};

static const struct ys_op_rule rule_TANH = {
    .name = "Tanh",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = NO_ATTRS,
    .infer = ys_infer_same,
    .reads_y = true,
    .onnx = "Tanh",
};

static const struct ys_op_rule rule_SIGMOID = {
    .name = "Sigmoid",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = NO_ATTRS,
    .infer = ys_infer_same,
    .reads_y = true,
    .onnx = "Sigmoid",
};

static size_t at_three(const struct ys_node *node, double at[YS_OP_MAX_KINKS])
{
    (void)node;
    at[0] = -3;
    at[1] = 3;
    return 2;
}

static const struct ys_op_rule rule_HARDSWISH = {
    .name = "HardSwish",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = NO_ATTRS,
    .infer = ys_infer_same,
    .reads_x = true,
    .onnx = "HardSwish",
    .kinks = at_three,
};

/* Where alpha x + beta is 0 and 1. */
static size_t at_ends(const struct ys_node *node, double at[YS_OP_MAX_KINKS])
{
    at[0] = -node->shift / node->slope;
    at[1] = (1 - node->shift) / node->slope;
    return 2;
}

static const struct ys_op_rule rule_HARDSIGMOID = {
    .name = "HardSigmoid",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(REAL("alpha", slope, POSITIVE), REAL("beta", shift, ANY)),
    .infer = ys_infer_same,
    .reads_x = true,
    .onnx = "HardSigmoid",
    .kinks = at_ends,
};

static const struct ys_op_rule rule_SWISH = {
    .name = "Swish",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = NO_ATTRS,
    .infer = ys_infer_same,
    .reads_x = true,
};

static const struct ys_op_rule rule_GELU = {
    .name = "Gelu",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(MAYBE("approximate", BY_TANH, by_tanh)),
    .infer = ys_infer_same,
    .reads_x = true,
};

static const struct ys_op_rule rule_SQRT = {
    .name = "Sqrt",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = NO_ATTRS,
    .infer = ys_infer_same,
    .reads_y = true,
    .onnx = "Sqrt",
};

static const struct ys_op_rule rule_POW = {
    .name = "Pow",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(REAL("exponent", exponent, ANY)),
    .infer = ys_infer_pow,
    .reads_x = true,
};

/* Functions of one element. */
#define FUNCTION(op, called, ...)                                                                                      \
    static const struct ys_op_rule rule_##op = {.name = called,                                                        \
                                                UNARY,                                                                 \
                                                .kind = YS_OPKIND_POINTWISE,                                           \
                                                .reach = YS_REACH_OWN,                                                 \
                                                .infer = ys_infer_same,                                                \
                                                __VA_ARGS__}
#define ALPHA REAL("alpha", slope, POSITIVE)

FUNCTION(EXP, "Exp", .attrs = NO_ATTRS, .reads_y = true, .onnx = "Exp");
FUNCTION(ELU, "Elu", .attrs = ATTRS(ALPHA), .reads_x = true, .onnx = "Elu", .kinks = at_zero);
FUNCTION(SELU, "Selu", .attrs = ATTRS(ALPHA, REAL("gamma", gamma, POSITIVE)), .reads_x = true, .onnx = "Selu",
         .kinks = at_zero);
FUNCTION(CELU, "Celu", .attrs = ATTRS(ALPHA), .reads_x = true);
FUNCTION(SOFTPLUS, "Softplus", .attrs = NO_ATTRS, .reads_x = true, .onnx = "Softplus");
FUNCTION(SOFTSIGN, "Softsign", .attrs = NO_ATTRS, .reads_x = true, .onnx = "Softsign");
FUNCTION(MISH, "Mish", .attrs = NO_ATTRS, .reads_x = true, .onnx = "Mish");

static const struct ys_op_rule rule_SOFTMAX = {
    .name = "Softmax",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN_ALONG_LAST,
    .attrs = ATTRS(AXIS),
    .infer = ys_infer_softmax,
    .reads_y = true,
    .onnx = "Softmax",
};

static const struct ys_op_rule rule_LOG_SOFTMAX = {
    .name = "LogSoftmax",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN_ALONG_LAST,
    .attrs = ATTRS(AXIS),
    .infer = ys_infer_softmax,
    .reads_y = true,
    .onnx = "LogSoftmax",
};

static const struct ys_op_rule rule_ADD = {.name = "Add",
                                           PAIR,
                                           .kind = YS_OPKIND_POINTWISE,
                                           .reach = YS_REACH_OWN,
                                           .attrs = BROADCAST,
                                           .infer = ys_infer_pair,
                                           .onnx = "Add"};

static const struct ys_op_rule rule_SUB = {.name = "Sub",
                                           PAIR,
                                           .kind = YS_OPKIND_POINTWISE,
                                           .reach = YS_REACH_OWN,
                                           .attrs = BROADCAST,
                                           .infer = ys_infer_pair,
                                           .onnx = "Sub"};

static const struct ys_op_rule rule_MUL = {
    .name = "Mul",
    PAIR,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = BROADCAST,
    .infer = ys_infer_pair,
    .reads_x = true,
    .onnx = "Mul",
};

static const struct ys_op_rule rule_DIV = {
    .name = "Div",
    PAIR,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = BROADCAST,
    .infer = ys_infer_pair,
    .reads_x = true,
    .onnx = "Div",
};

static const struct ys_op_rule rule_CONCAT = {
    .name = "Concat",
    .in_low = 2,
    .in_high = YS_NODE_MAX_IN,
    .out_low = 1,
    .out_high = 1,
    .kind = YS_OPKIND_LAYOUT,
    .reach = YS_REACH_OWN_ALONG_LAST,
    .attrs = ATTRS(AXIS),
    .infer = ys_infer_concat,
    .onnx = "Concat",
};

static const struct ys_op_rule rule_SPLIT = {
    .name = "Split",
    .in_low = 1,
    .in_high = 1,
    .out_low = 2,
    .out_high = YS_NODE_MAX_OUT,
    .kind = YS_OPKIND_LAYOUT,
    .reach = YS_REACH_OWN_ALONG_LAST,
    .attrs = ATTRS(AXIS, GIVEN("split", SPLIT, split)),
    .infer = ys_infer_split,
};

static const struct ys_op_rule rule_RESHAPE = {
    .name = "Reshape",
    UNARY,
    .kind = YS_OPKIND_LAYOUT,
    .attrs = ATTRS(GIVEN("shape", SHAPE, shape)),
    .infer = ys_infer_reshape,
};

static const struct ys_op_rule rule_PAD = {
    .name = "Pad",
    UNARY,
    .kind = YS_OPKIND_LAYOUT,
    .attrs = ATTRS(MAYBE("mode", PAD_MODE, pad.mode), GIVEN("pads", AXIS_PADS, pad),
                   {"value", YS_ATTR_REAL, AT(pad.value), true, YS_RANGE_ANY, 0}),
    .infer = ys_infer_padded,
};

static const struct ys_op_rule rule_TRANSPOSE = {
    .name = "Transpose",
    UNARY,
    .kind = YS_OPKIND_LAYOUT,
    .attrs = ATTRS(GIVEN("perm", PERMUTATION, permutation)),
    .infer = ys_infer_transpose,
    .onnx = "Transpose",
};

static const struct ys_op_rule rule_MEAN = {
    .name = "ReduceMean",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .attrs = ATTRS(GIVEN("axes", AXES, reduced), GIVEN("keepdims", FLAG, keepdims)),
    .infer = ys_infer_mean,
};

static const struct ys_op_rule rule_DROPOUT = {
    .name = "Dropout",
    UNARY,
    .kind = YS_OPKIND_POINTWISE,
    .reach = YS_REACH_OWN,
    .attrs = ATTRS(REAL("ratio", ratio, SHARE_BELOW_1)),
    .infer = ys_infer_same,
};

const struct ys_op_rule *ys_op_rule(enum ys_op op)
{
#define ENTRY(op) [YS_OP_##op] = &rule_##op,
    static const struct ys_op_rule *const rules[YS_OP_COUNT] = {YS_OPS(ENTRY)};
    YS_ASSERT((int)op >= 0 && op < YS_OP_COUNT);
    return rules[op];
}

static const struct ys_attr *attribute_of(enum ys_op op, enum ys_attr_kind kind)
{
    const struct ys_attr *attr = ys_op_rule(op)->attrs;
    while (attr->name && attr->kind != kind)
        attr++;
    return attr->name ? attr : NULL;
}

void ys_node_set_attrs(struct ys_node *node, const struct ys_node *as)
{
    const size_t first = AT(window);
    YS_ASSERT(node->op == as->op);
    memcpy((char *)node + first, (const char *)as + first, sizeof *node - first);
}

const struct ys_window *ys_node_window(const struct ys_node *node)
{
    return attribute_of(node->op, YS_ATTR_PAIR) ? &node->window : NULL;
}

const unsigned char *ys_node_connections(const struct ys_node *node)
{
    return attribute_of(node->op, YS_ATTR_CONNECTIONS) ? node->connected : NULL;
}

#define HAS(which) (1U << YS_NODE_##which)
/* Parameters that nodes can have, and must have. */
static const struct {
    unsigned takes, needs;
} params_of[] = {
    [YS_PARAMS_NONE] = {0, 0},
    [YS_PARAMS_WEIGHT] = {HAS(WEIGHT) | HAS(BIAS), HAS(WEIGHT)},
    [YS_PARAMS_SCALE] = {HAS(WEIGHT), HAS(WEIGHT)},
    [YS_PARAMS_OPERAND] = {HAS(WEIGHT), 0},
    [YS_PARAMS_BATCHNORM] = {HAS(WEIGHT) | HAS(BIAS) | HAS(RUNNING_MEAN) | HAS(RUNNING_VAR), ~0U},
    [YS_PARAMS_LSTM] = {HAS(WEIGHT) | HAS(BIAS) | HAS(RECURRENT), ~0U},
    [YS_PARAMS_GRU] = {HAS(WEIGHT) | HAS(BIAS) | HAS(RECURRENT) | HAS(RECURRENT_BIAS), ~0U},
};

bool ys_op_takes(enum ys_op op, enum ys_node_param which)
{
    return params_of[ys_op_rule(op)->params].takes >> which & 1;
}

bool ys_op_needs(enum ys_op op, enum ys_node_param which)
{
    return ys_op_takes(op, which) && params_of[ys_op_rule(op)->params].needs >> which & 1;
}

const char *ys_op_name(enum ys_op op)
{
    return ys_op_rule(op)->name;
}

size_t ys_attr_axes(const struct ys_attr *attr, const struct ys_graph *graph, const struct ys_node *node,
                    int64_t axes[YS_MAX_RANK])
{
    size_t count = 0, rank = graph->values[node->in[0]].rank;
    for (size_t i = 0; i < rank; i++)
        if (attr->kind == YS_ATTR_PERMUTATION)
            axes[count++] = node->permutation[i];
        else if (node->reduced[i])
            axes[count++] = (int64_t)i;
    return count;
}
