/* Operators that files spell in several nodes: read as the operator where they are just that, and else as what they
 * are; the oracle then answers the same. */
#include "graph/op.h"
#include "unit/onnx/eval_onnx.h"

#include <math.h>

#define ELEMENTS 32 /* of a row of 2 x 4 x 4 */

static void put_number(struct made *m, const char *name, float value)
{
    made_tensor(m, name, 1, NULL, 0, &value, sizeof value);
}

static void put_axis(struct made *m, const char *name, int64_t axis)
{
    const int64_t one[] = {1};
    made_tensor(m, name, 7, one, 1, &axis, sizeof axis);
}

/* Values of both signs, and a dense layer behind `from`. */
static void begin(struct made *m)
{
    made_input(m, -1, 2, 4, 4);
    put_number(m, "ten", 10);
    put_number(m, "five", 5);
    made_node(m, "Mul", "x ten", "wide");
    made_node(m, "Sub", "wide five", "moved");
    made_node(m, "LeakyRelu", "moved", "a");
}

static size_t count_ops(const struct ys_onnx_import *import, enum ys_op op)
{
    size_t count = 0;
    for (size_t i = 0; import && i < import->graph->node_count; i++)
        count += import->graph->nodes[i].op == op;
    return count;
}

/* To within `tolerance`. Both are freed. */
static void check_same(struct ys_onnx_import *a, struct ys_onnx_import *b, double tolerance)
{
    unsigned char x[2 * ELEMENTS];
    double left[6], right[6];
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (unsigned char)(i * 61 % 256);
    if (a && b && made_evaluate(a, x, 2, left) && made_evaluate(b, x, 2, right))
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(left[i], right[i], tolerance);
    ys_onnx_import_free(a);
    ys_onnx_import_free(b);
}

/* As PyTorch's exporters spell it: over `axis`, squared by `square` (Pow or Mul). */
static void made_norm(struct made *m, int64_t axis, const char *square)
{
    const bool is_power = strcmp(square, "Pow") == 0;
    begin(m);
    put_axis(m, "axis", axis);
    put_number(m, "two", 2);
    put_number(m, "epsilon", 1e-3F);
    made_weight(m, "scale", 4, 0, 0, 0);
    made_weight(m, "bias", 4, 0, 0, 0);
    made_node(m, "ReduceMean", "a axis", "mean");
    made_node(m, "Sub", "a mean", "centred");
    made_node(m, square, is_power ? "centred two" : "centred centred", "square");
    made_node(m, "ReduceMean", "square axis", "variance");
    made_node(m, "Add", "variance epsilon", "sum");
    made_node(m, "Sqrt", "sum", "root");
    made_node(m, "Div", "centred root", "normed");
    made_node(m, "Mul", "normed scale", "scaled");
    made_node(m, "Add", "scaled bias", "b");
}

static void a_layer_normalisation_in_nine_nodes_is_one(void)
{
    struct made m = {0};
    for (int by_product = 0; by_product < 2; by_product++) {
        made_norm(&m, -1, by_product ? "Mul" : "Pow");
        end_in_dense(&m, "b", ELEMENTS);
        struct ys_onnx_import *joined = made_read(&m, "y", 18);
        made_norm(&m, 3, by_product ? "Mul" : "Pow"); /* the same axis by a number that does not say that it is last */
        end_in_dense(&m, "b", ELEMENTS);
        struct ys_onnx_import *apart = made_read(&m, "y", 18);
        CHECK_INT(count_ops(joined, YS_OP_LAYERNORM), 1);
        CHECK_INT(count_ops(joined, YS_OP_MEAN), 0);
        CHECK_INT(count_ops(apart, YS_OP_LAYERNORM), 0);
        CHECK_INT(count_ops(apart, YS_OP_MEAN), 2);
        for (size_t i = 0; joined && i < joined->graph->node_count; i++)
            if (joined->graph->nodes[i].op == YS_OP_LAYERNORM) {
                const struct ys_node *norm = &joined->graph->nodes[i];
                CHECK(norm->epsilon == 1e-3);
                CHECK_INT(norm->axis, 3);
                CHECK(norm->weight >= 0 && norm->bias >= 0);
                CHECK_TEXT(joined->graph->params[norm->weight].name, "scale");
                CHECK_TEXT(joined->graph->params[norm->bias].name, "bias");
            }
        /* The nodes have epsilon as a float, wrong by up to 6e-8 of 1e-3 beside variances above 0.01; of logits below
         * 100 that is 100 * 6e-11 / 0.02. */
        check_same(joined, apart, 3e-7);
    }
}

/* As PyTorch's exporters spell RMSNorm, by the reciprocal of the root, and as others do, divided by it. */
static void a_normalisation_without_a_mean_in_six_nodes_is_one(void)
{
    struct made m = {0};
    for (int divided = 0; divided < 2; divided++) {
        struct ys_onnx_import *read[2];
        for (int apart = 0; apart < 2; apart++) {
            begin(&m);
            put_axis(&m, "axis", apart ? 3 : -1);
            put_number(&m, "two", 2);
            put_number(&m, "epsilon", 1e-3F);
            made_weight(&m, "scale", 4, 0, 0, 0);
            made_node(&m, "Pow", "a two", "square");
            made_node(&m, "ReduceMean", "square axis", "mean");
            made_node(&m, "Add", "mean epsilon", "sum");
            made_node(&m, "Sqrt", "sum", "root");
            if (!divided && !apart) {
                made_node(&m, "Reciprocal", "root", "inverse");
                made_node(&m, "Mul", "a inverse", "normed");
            } else
                made_node(&m, "Div", "a root", "normed");
            made_node(&m, "Mul", "normed scale", "b");
            end_in_dense(&m, "b", ELEMENTS);
            read[apart] = made_read(&m, "y", 18);
        }
        CHECK_INT(count_ops(read[0], YS_OP_RMSNORM), 1);
        CHECK_INT(count_ops(read[0], YS_OP_MEAN), 0);
        CHECK_INT(count_ops(read[1], YS_OP_RMSNORM), 0);
        CHECK_INT(count_ops(read[1], YS_OP_MEAN), 1);
        check_same(read[0], read[1], 3e-7);
    }
}

/* What lies between is read by another node, the axes are not those at the end, or not the same: then it is read as it
 * stands. */
static void what_is_nearly_a_layer_normalisation_is_none(void)
{
    struct made m = {0};
    made_norm(&m, -1, "Pow");
    made_node(&m, "Add", "b root", "c");
    end_in_dense(&m, "c", ELEMENTS);
    struct ys_onnx_import *import = made_read(&m, "y", 18);
    CHECK_INT(count_ops(import, YS_OP_LAYERNORM), 0);
    ys_onnx_import_free(import);
    made_norm(&m, -2, "Pow");
    end_in_dense(&m, "b", ELEMENTS);
    import = made_read(&m, "y", 18);
    CHECK_INT(count_ops(import, YS_OP_LAYERNORM), 0);
    ys_onnx_import_free(import);
    made_norm(&m, -1, "Add"); /* twice the difference is not its square */
    end_in_dense(&m, "b", ELEMENTS);
    import = made_read(&m, "y", 18);
    CHECK_INT(count_ops(import, YS_OP_LAYERNORM), 0);
    ys_onnx_import_free(import);
}

enum spelling { AS_OPERATOR, DIVIDED_LAST, DIVIDED_FIRST, BY_A_SIXTH, GATE, GATE_AS_OPERATOR };

static struct ys_onnx_import *read_hard(enum spelling spelling, float high, int64_t opset)
{
    struct made m = {0};
    begin(&m);
    put_number(&m, "three", 3);
    put_number(&m, "zero", 0);
    put_number(&m, "high", high);
    put_number(&m, "six", 6);
    put_number(&m, "sixth", 1.0F / 6);
    if (spelling == AS_OPERATOR) {
        made_node(&m, "HardSwish", "a", "b");
    } else if (spelling == GATE_AS_OPERATOR) {
        made_node(&m, "HardSigmoid", "a", "b");
        made_real(&m, "alpha", 1.0F / 6);
    } else {
        made_node(&m, "Add", "a three", "sum");
        made_node(&m, "Clip", "sum zero high", "clipped");
        if (spelling == DIVIDED_LAST) {
            made_node(&m, "Mul", "a clipped", "product");
            made_node(&m, "Div", "product six", "b");
        } else {
            made_node(&m, spelling == BY_A_SIXTH ? "Mul" : "Div",
                      spelling == BY_A_SIXTH ? "sixth clipped" : "clipped six", spelling == GATE ? "b" : "gate");
            if (spelling != GATE)
                made_node(&m, "Mul", "gate a", "b");
        }
    }
    end_in_dense(&m, "b", ELEMENTS);
    return made_read(&m, "y", opset);
}

static void hard_swish_and_its_gate_are_known_in_their_spellings(void)
{
    static const enum spelling spellings[] = {DIVIDED_LAST, DIVIDED_FIRST, BY_A_SIXTH, GATE};
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const bool is_gate = spellings[i] == GATE;
        struct ys_onnx_import *import = read_hard(spellings[i], 6, 17);
        struct ys_onnx_import *known = read_hard(is_gate ? GATE_AS_OPERATOR : AS_OPERATOR, 6, 17);
        CHECK_INT(count_ops(import, YS_OP_HARDSWISH), !is_gate);
        CHECK_INT(count_ops(import, YS_OP_HARDSIGMOID), is_gate);
        CHECK_INT(count_ops(import, YS_OP_CLIP), 0);
        if (import && known)
            CHECK_INT(import->graph->node_count, known->graph->node_count);
        check_same(import, known, 1e-11); /* sums of 32 products of at most 3.2 * 10, in double */
        struct ys_onnx_import *another = read_hard(spellings[i], 5, 17); /* clipped at 5 */
        CHECK_INT(count_ops(another, YS_OP_CLIP), 1);
        CHECK_INT(count_ops(another, YS_OP_HARDSWISH) + count_ops(another, YS_OP_HARDSIGMOID), 0);
        ys_onnx_import_free(another);
    }
}

/* As PyTorch spells it: x / 2 first, the cube as two products; `share` in place of 0.044715. */
static struct ys_onnx_import *spelled_gelu(float share)
{
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Relu", "x", "a");
    made_node(&m, "Mul", "a half", "h");
    made_node(&m, "Mul", "a a", "square");
    made_node(&m, "Mul", "square a", "cube");
    made_node(&m, "Mul", "share cube", "part");
    made_node(&m, "Add", "a part", "sum");
    made_node(&m, "Mul", "sum root", "inner");
    made_node(&m, "Tanh", "inner", "curve");
    made_node(&m, "Add", "curve one", "lifted");
    made_node(&m, "Mul", "h lifted", "b");
    put_number(&m, "half", 0.5F);
    put_number(&m, "one", 1);
    put_number(&m, "share", share);
    put_number(&m, "root", 0.7978845608F);
    end_in_dense(&m, "b", ELEMENTS);
    return made_read(&m, "y", 17);
}

static void an_approximated_gelu_is_one_node_where_it_is_just_that(void)
{
    struct ys_onnx_import *import = spelled_gelu(0.044715F), *another = spelled_gelu(0.0447F);
    if (import && another) {
        const struct ys_node *gelu = node_called(import->graph, "b");
        CHECK_INT(import->graph->node_count, 5); /* of pixels, the first and the last two */
        CHECK(gelu && gelu->op == YS_OP_GELU && gelu->by_tanh);
        CHECK(!ys_graph_has(another->graph, YS_OP_GELU) && ys_graph_has(another->graph, YS_OP_TANH));
    }
    ys_onnx_import_free(import);
    ys_onnx_import_free(another);
}

/* Exporters that differ in what they call it write the same graph; of other axes, or without them, it stays a mean. */
static void the_mean_of_the_pixels_is_their_pool(void)
{
    static const struct {
        int64_t axes[2], keepdims;
        bool pools;
    } cases[] = {{{2, 3}, 1, true}, {{-1, -2}, 1, true}, {{1, 3}, 1, false}, {{2, 3}, 0, false}};
    static const int64_t two[] = {2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = {0};
        const int64_t left = i == 2 ? 4 : 2;
        begin(&m);
        made_tensor(&m, "axes", 7, two, 1, cases[i].axes, sizeof cases[i].axes);
        made_node(&m, "ReduceMean", "a axes", "b");
        made_integer(&m, "keepdims", cases[i].keepdims);
        end_in_dense(&m, "b", left);
        struct ys_onnx_import *import = made_read(&m, "y", 18);
        CHECK_INT(count_ops(import, YS_OP_GLOBAL_AVERAGEPOOL), cases[i].pools);
        CHECK_INT(count_ops(import, YS_OP_MEAN), !cases[i].pools);
        if (left != 2) {
            ys_onnx_import_free(import);
            continue;
        }
        begin(&m);
        made_node(&m, "GlobalAveragePool", "a", "b");
        end_in_dense(&m, "b", left);
        check_same(import, made_read(&m, "y", 18), 1e-12);
    }
}

TAP_MAIN(TAP_CASE(a_normalisation_without_a_mean_in_six_nodes_is_one), TAP_CASE(the_mean_of_the_pixels_is_their_pool),
         TAP_CASE(a_layer_normalisation_in_nine_nodes_is_one), TAP_CASE(what_is_nearly_a_layer_normalisation_is_none),
         TAP_CASE(hard_swish_and_its_gate_are_known_in_their_spellings),
         TAP_CASE(an_approximated_gelu_is_one_node_where_it_is_just_that))
