/* The ONNX reader: networks in the forms of exporters against the logits that ONNX Runtime gets of them
 * (tests/fixtures/onnx/make.py), what is read as what, and what is refused. */
#include "unit/onnx/eval_onnx.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "onnx/read/onnx_read.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *fixture(const char *name, const char *ending)
{
    return ys_format("%s/tests/fixtures/onnx/%s.%s", getenv("YS_SOURCE_ROOT"), name, ending);
}

static size_t flatten(const ys_json *json, double *numbers, size_t at)
{
    for (size_t i = 0; i < ys_json_size(json); i++)
        if (ys_json_type_of(ys_json_at(json, i)) == YS_JSON_ARRAY)
            at = flatten(ys_json_at(json, i), numbers, at);
        else
            numbers[at++] = ys_json_number(ys_json_at(json, i), NAN);
    return at;
}

#define ROWS     3
#define ELEMENTS 8192

/* ONNX Runtime computes in float: a sum of up to 840 products, whose errors of 2^-24 grow as the root of that
 * (2e-6 of the largest), in up to ten layers one behind the other. */
#define TOLERANCE 2e-5

static void check_logits(const char *name)
{
    static double expected[ELEMENTS], numbers[ELEMENTS], logits[ELEMENTS];
    static unsigned char x[ELEMENTS];
    char *onnx = fixture(name, "onnx"), *json = fixture(name, "json");
    struct ys_onnx_import *import = NULL;
    ys_json *known = NULL;
    if (CHECK(ys_onnx_read(onnx, NULL, &import) == YS_OK) && CHECK(ys_json_read(json, &known) == YS_OK)) {
        size_t elements = flatten(ys_json_get(known, "rows"), numbers, 0);
        size_t count = flatten(ys_json_get(known, "logits"), expected, 0);
        const struct ys_value *input = &import->graph->values[import->graph->inputs[0]];
        CHECK_INT(elements, ROWS * ys_value_row_elements(input));
        CHECK_INT(import->graph->values[import->graph->output].shape[1], count / ROWS);
        for (size_t i = 0; i < elements; i++)
            x[i] = (unsigned char)numbers[i];
        double largest = 0, worst = 0;
        if (made_evaluate(import, x, ROWS, logits))
            for (size_t i = 0; i < count; i++) {
                largest = fmax(largest, fabs(expected[i]));
                worst = fmax(worst, fabs(logits[i] - expected[i]));
            }
        CHECK(largest > 0.01);
        if (!CHECK(worst <= TOLERANCE * fmax(1, largest)))
            printf("# %s: off by %g of %g\n", name, worst, largest);
    } else {
        printf("# %s\n", ys_error());
    }
    ys_onnx_import_free(import);
    ys_json_free(known);
    ys_free(onnx);
    ys_free(json);
}

static void exports_have_the_logits_of_onnx_runtime(void)
{
    check_logits("resnet");
    check_logits("mobilenet");
    check_logits("keras");
    check_logits("old");
    check_logits("convnext");
    check_logits("sundry");
    check_logits("upward");
    check_logits("folded");
}

static void every_operator_that_is_not_read_is_named_at_once(void)
{
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Resize", "x", "a");
    made_node(&m, "Relu", "a", "b");
    made_node(&m, "Sinh", "b", "c");
    made_node(&m, "Loop", "c", "d");
    end_in_dense(&m, "d", 32);
    check_read(&m, "y", 17, "net.onnx|node a (Resize)|node c (Sinh)|node d (Loop)|no such operator");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "If", "x", "a");
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 17, "node a (If)|its condition hangs on the data");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "RandomUniformLike", "x", "a");
    made_node(&m, "Mul", "x a", "b");
    end_in_dense(&m, "b", 32);
    check_read(&m, "y", 17, "node a (RandomUniformLike)|draws in each pass|StochasticDepth");
}

static void every_tensor_of_a_type_that_is_not_read_is_named_at_once(void)
{
    static const int64_t two[] = {2};
    const char bytes[2] = {1, 2};
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_tensor(&m, "narrow", 3, two, 1, bytes, sizeof bytes);
    made_tensor(&m, "bytes", 2, two, 1, bytes, sizeof bytes);
    made_node(&m, "Mul", "x narrow", "a");
    made_node(&m, "Add", "a bytes", "b");
    made_node(&m, "Resize", "b", "c");
    end_in_dense(&m, "c", 32);
    check_read(&m, "y", 17, "tensor narrow is of INT8: |quantised|tensor bytes is of UINT8; |node c (Resize)");
}

/* Means and sums that say of themselves that without axes they do nothing. */
static void a_reduction_of_no_axes_may_do_nothing(void)
{
    static const int64_t none[] = {0};
    static const char *const ops[] = {"ReduceMean", "ReduceSum"};
    for (size_t i = 0; i < 2; i++)
        for (int noop = 0; noop < 2; noop++) {
            struct made m = {0};
            made_input(&m, -1, 2, 4, 4);
            made_node(&m, "Relu", "x", "a");
            made_tensor(&m, "axes", 7, none, 1, none, 0);
            made_node(&m, ops[i], "a axes", "b");
            made_integer(&m, "noop_with_empty_axes", noop);
            end_in_dense(&m, "b", 32);
            check_read(&m, "y", 18, noop ? "" : "names no axes: it would mix the rows");
        }
}

/* A rest has the sign of the divisor, or with `fmod` of what is divided; it is the extent of an axis here. */
static void rests_are_computed_with_their_sign(void)
{
    static const struct {
        int64_t a, b, fmod;
        const char *words;
    } cases[] = {{-6, 8, 0, ""},
                 {-6, -4, 1, "dimension -2"},
                 {6, -8, 0, "dimension -2"},
                 {10, -8, 1, ""},
                 {INT64_MIN, -1, 0, ""}, /* 0: the extent of the value */
                 {5, 0, 0, "node two (Mod)|cannot compute Mod of the integers 5 and 0"}};
    const int64_t one[] = {1}, open[] = {-1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = {0};
        made_input(&m, -1, 4, 2, 2);
        made_tensor(&m, "a", 7, one, 1, &cases[i].a, sizeof cases[i].a);
        made_tensor(&m, "b", 7, one, 1, &cases[i].b, sizeof cases[i].b);
        made_tensor(&m, "open", 7, one, 1, open, sizeof open);
        made_tensor(&m, "zero", 7, one, 1, (const int64_t[]){0}, sizeof(int64_t));
        made_node(&m, "Mod", "a b", "two");
        made_integer(&m, "fmod", cases[i].fmod);
        made_node(&m, "Concat", "zero two open", "shape");
        made_integer(&m, "axis", 0);
        made_node(&m, "Reshape", "x shape", "r");
        end_in_dense(&m, "r", 16);
        check_read(&m, "y", 17, cases[i].words);
    }
}

enum { LONG_CHANNELS = 2, LONG_PIXELS = 16 };

/* The image with each pixel's channels over their length, and the length of each channel. */
static void lengths_and_reciprocals_of_values_are_computed(void)
{
    for (int over_pixels = 0; over_pixels < 2; over_pixels++) {
        const int64_t channels[] = {1}, pixels[] = {2, -1};
        unsigned char x[LONG_CHANNELS * LONG_PIXELS];
        double logits[3], length[LONG_PIXELS] = {0}, sums[LONG_CHANNELS] = {0};
        struct made m = {0};
        made_input(&m, -1, LONG_CHANNELS, 4, 4);
        made_node(&m, "ReduceL2", "x", "length");
        made_integers(&m, "axes", over_pixels ? pixels : channels, over_pixels ? 2 : 1);
        made_integer(&m, "keepdims", !over_pixels);
        made_node(&m, "Reciprocal", "length", "over");
        if (!over_pixels)
            made_node(&m, "Mul", "x over", "unit");
        end_in_dense(&m, over_pixels ? "over" : "unit", LONG_CHANNELS * (over_pixels ? 1 : LONG_PIXELS));
        for (int i = 0; i < LONG_CHANNELS * LONG_PIXELS; i++) {
            x[i] = (unsigned char)(1 + i * 37 % 251);
            length[i % LONG_PIXELS] += x[i] / 255.0 * (x[i] / 255.0);
            sums[i / LONG_PIXELS] += x[i] / 255.0 * (x[i] / 255.0);
        }
        struct ys_onnx_import *import = made_read(&m, "y", 13);
        if (import && made_evaluate(import, x, 1, logits))
            for (int c = 0; c < 3; c++) {
                double expected = 0;
                for (int i = 0; over_pixels && i < LONG_CHANNELS; i++)
                    expected += (double)(0.1F * (float)(3 * i + c + 1)) / sqrt(sums[i]);
                for (int i = 0; !over_pixels && i < LONG_CHANNELS * LONG_PIXELS; i++)
                    expected += x[i] / 255.0 / sqrt(length[i % LONG_PIXELS]) * (double)(0.1F * (float)(3 * i + c + 1));
                CHECK_NEAR(logits[c], expected, 1e-13 * expected); /* 32 products, in double */
            }
        ys_onnx_import_free(import);
    }
}

static void broadcasts_are_read_and_shared_matrices_tied(void)
{
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Gemm", "x s", "a");
    made_node(&m, "Gemm", "a s", "y");
    made_weight(&m, "s", 4, 4, 0, 0);
    struct ys_onnx_import *tied = made_read(&m, "y", 17);
    if (tied) {
        CHECK_INT(tied->graph->param_count, 1);
        CHECK_INT(tied->graph->nodes[0].weight, tied->graph->nodes[1].weight);
    }
    ys_onnx_import_free(tied);
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "GlobalAveragePool", "x", "a");
    made_node(&m, "Mul", "x a", "b");
    end_in_dense(&m, "b", 32);
    check_read(&m, "y", 17, "");
}

/* x (N, 2, 4, 4) through Relu, then `op` of that and constant c, in the order that `in` says. */
static struct ys_onnx_import *beside(const char *op, const char *in, int64_t a, int64_t b, int64_t c)
{
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Relu", "x", "a");
    made_node(&m, op, in, "b");
    made_weight(&m, "c", a, b, c, 0);
    end_in_dense(&m, "b", 32);
    return made_read(&m, "y", 17);
}

static void constants_beside_a_value_are_its_second_operand(void)
{
    static const struct {
        const char *op, *in;
        int64_t shape[3];
        enum ys_op made, before; /* before: the node that the value comes from */
        double lr_mult;
    } cases[] = {
        {"Add", "a c", {2, 1, 1}, YS_OP_ADD, YS_OP_RELU, 1}, {"Add", "c a", {2, 4, 4}, YS_OP_ADD, YS_OP_RELU, 1},
        {"Sub", "a c", {4, 0, 0}, YS_OP_SUB, YS_OP_RELU, 1}, {"Sub", "c a", {2, 1, 1}, YS_OP_ADD, YS_OP_CONV, 1},
        {"Mul", "c a", {4, 1, 0}, YS_OP_MUL, YS_OP_RELU, 1}, {"Mul", "a c", {1, 1, 1}, YS_OP_MUL, YS_OP_RELU, 1},
        {"Div", "a c", {2, 1, 1}, YS_OP_DIV, YS_OP_RELU, 0}, {"Div", "c a", {2, 1, 1}, YS_OP_MUL, YS_OP_POW, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_onnx_import *import =
            beside(cases[i].op, cases[i].in, cases[i].shape[0], cases[i].shape[1], cases[i].shape[2]);
        const struct ys_node *node = import ? node_called(import->graph, "b") : NULL;
        if (import && !node)
            node = node_called(import->graph, "b_2");
        if (!CHECK(node && node->weight >= 0))
            continue;
        if (node->op == YS_OP_CONV) /* the node that negates has the name first */
            node = node_called(import->graph, "b_2");
        const struct ys_param *c = &import->graph->params[node->weight];
        CHECK_INT(node->op, cases[i].made);
        CHECK_INT(import->graph->nodes[import->graph->values[node->in[0]].producer].op, cases[i].before);
        CHECK_TEXT(c->name, "c");
        CHECK(c->lr_mult == cases[i].lr_mult && c->decay_mult == cases[i].lr_mult);
        CHECK_INT(c->rank, cases[i].shape[2] ? 3 : cases[i].shape[1] ? 2 : 1);
        for (size_t d = 0; d < c->rank; d++)
            CHECK_INT(c->shape[d], cases[i].shape[d]);
        CHECK_NEAR(import->values[node->weight][0], 0.1, 1e-7);
        ys_onnx_import_free(import);
    }
}

/* Seen through a transposition its axes are those of the value, and its numbers stand in their order. */
static void constants_beside_transposed_values_are_turned(void)
{
    const int64_t last[] = {0, 2, 3, 1};
    struct made m = {0};
    made_input(&m, -1, 2, 4, 3);
    made_node(&m, "Relu", "x", "a");
    made_node(&m, "Transpose", "a", "t");
    made_integers(&m, "perm", last, 4);
    made_node(&m, "Mul", "t c", "b"); /* (N, 4, 3, 2) times (3, 2) */
    made_weight(&m, "c", 3, 2, 0, 0);
    end_in_dense(&m, "b", 24);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    const struct ys_node *node = import ? node_called(import->graph, "b") : NULL;
    if (CHECK(node && node->weight >= 0)) {
        const struct ys_param *c = &import->graph->params[node->weight];
        CHECK_INT(c->rank, 3);
        CHECK(c->shape[0] == 2 && c->shape[1] == 1 && c->shape[2] == 3);
        CHECK_NEAR(import->values[node->weight][1], 0.3, 1e-7); /* [0][0][1] of the value is [1][0] of the file */
        CHECK_NEAR(import->values[node->weight][3], 0.2, 1e-7);
    }
    ys_onnx_import_free(import);
}

/* Numbers for each channel that two nodes read are a vector, whatever their shape: each has its own. */
static void factors_of_channels_are_copied_and_tables_tied(void)
{
    for (int is_table = 0; is_table < 2; is_table++) {
        struct made m = {0};
        made_input(&m, -1, 2, 4, 4);
        made_node(&m, "Relu", "x", "a");
        made_node(&m, "Mul", "a c", "b");
        made_node(&m, "Relu", "b", "d");
        made_node(&m, "Mul", "d c", "e");
        made_weight(&m, "c", 2, is_table ? 4 : 1, is_table ? 4 : 1, 0);
        end_in_dense(&m, "e", 32);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        if (import)
            CHECK_INT(import->graph->param_count, is_table ? 2 : 3);
        ys_onnx_import_free(import);
    }
}

/* One layer at two places has one bias too. Two layers whose biases are one vector of the file have two: exporters
 * merge what is equal. */
static void the_bias_of_a_shared_matrix_is_shared_and_no_other(void)
{
    struct made m = {0};
    for (int shared = 0; shared < 2; shared++) {
        made_input(&m, -1, 4, 0, 0);
        made_node(&m, "Gemm", "x s b", "a");
        made_node(&m, "Gemm", shared ? "a s b" : "a t b", "y");
        made_integer(&m, "transB", !shared); /* so that t is another matrix than s */
        made_weight(&m, "s", 4, 4, 0, 0);
        made_weight(&m, "t", 4, 4, 0, 0);
        made_weight(&m, "b", 4, 0, 0, 0);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        if (import) {
            const struct ys_node *nodes = import->graph->nodes;
            CHECK_INT(import->graph->param_count, shared ? 2 : 4);
            CHECK_INT(nodes[0].bias == nodes[1].bias, shared);
        }
        ys_onnx_import_free(import);
    }
}

/* Also where another layer with that bias stands between its two places. */
static void a_layer_that_stands_around_another_has_one_bias(void)
{
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Gemm", "x s b", "a");
    made_node(&m, "Gemm", "a t b", "c");
    made_integer(&m, "transB", 1);
    made_node(&m, "Gemm", "c s b", "y");
    made_weight(&m, "s", 4, 4, 0, 0);
    made_weight(&m, "t", 4, 4, 0, 0);
    made_weight(&m, "b", 4, 0, 0, 0);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import) {
        const struct ys_node *nodes = import->graph->nodes;
        CHECK_INT(import->graph->param_count, 4);
        CHECK(nodes[0].bias == nodes[2].bias && nodes[0].bias != nodes[1].bias);
        CHECK(nodes[0].weight == nodes[2].weight);
    }
    ys_onnx_import_free(import);
}

static void rows_stay_apart(void)
{
    const int64_t all[] = {1, 0, 2, 3}, mixed[] = {8, -1}, whole[] = {2}, kept[] = {1, 32};
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Transpose", "x", "a");
    made_integers(&m, "perm", all, 4);
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 17, "node y (Gemm)|16 rows for each of the batch|node flat (Flatten)");
    made_input(&m, 1, 2, 4, 4);
    made_tensor(&m, "s", 7, whole, 1, mixed, sizeof mixed);
    made_node(&m, "Reshape", "x s", "a");
    end_in_dense(&m, "a", 4);
    check_read(&m, "y", 17, "node a (Reshape)|batch");
    made_input(&m, 1, 2, 4, 4); /* a fixed batch of 1 is any batch */
    made_tensor(&m, "s", 7, whole, 1, kept, sizeof kept);
    made_node(&m, "Reshape", "x s", "a");
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 17, "");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Concat", "x x", "a");
    made_integer(&m, "axis", 0);
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 17, "node a (Concat)|axis 0");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "ReduceMean", "x", "a");
    end_in_dense(&m, "a", 1);
    check_read(&m, "y", 17, "node a (ReduceMean)|axes");
}

static void shapes_are_computed_before_there_are_data(void)
{
    const int64_t one[] = {1}, none[] = {0}, minus[] = {-1}, two[] = {2};
    struct made m = {0};
    made_input(&m, -1, 4, 2, 2); /* [N * 4 / 2, ...] is refused, [N, 4 * 2 * 2] is not */
    made_tensor(&m, "0", 7, one, 1, none, sizeof none);
    made_tensor(&m, "open", 7, one, 1, minus, sizeof minus);
    made_node(&m, "Shape", "x", "s");
    made_node(&m, "Gather", "s 0", "n");
    made_node(&m, "Concat", "n open", "t");
    made_integer(&m, "axis", 0);
    made_node(&m, "Reshape", "x t", "a");
    end_in_dense(&m, "a", 16);
    check_read(&m, "y", 17, "");
    made_input(&m, -1, 4, 2, 2);
    made_tensor(&m, "0", 7, one, 1, none, sizeof none);
    made_tensor(&m, "2", 7, one, 1, two, sizeof two);
    made_tensor(&m, "open", 7, one, 1, minus, sizeof minus);
    made_node(&m, "Shape", "x", "s");
    made_node(&m, "Gather", "s 0", "n");
    made_node(&m, "Mul", "n 2", "k");
    made_node(&m, "Concat", "k open", "t");
    made_integer(&m, "axis", 0);
    made_node(&m, "Reshape", "x t", "a");
    end_in_dense(&m, "a", 8);
    check_read(&m, "y", 17, "node a (Reshape)|2 rows for each of the batch");
}

/* Networks that end in convolutions make their classes as images of one pixel. */
static void a_head_over_images_of_one_pixel_is_left_to_the_loss(void)
{
    struct made m = {0};
    for (int is_log = 0; is_log < 2; is_log++) {
        made_input(&m, -1, 2, 4, 4);
        made_node(&m, "Conv", "x w", "a");
        made_weight(&m, "w", 3, 2, 1, 1);
        made_node(&m, "GlobalAveragePool", "a", "b");
        made_node(&m, is_log ? "LogSoftmax" : "Softmax", "b", "y");
        made_integer(&m, "axis", 1);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        if (import) {
            const struct ys_graph *graph = import->graph;
            const enum ys_op last = graph->nodes[graph->node_count - 1].op;
            CHECK_INT(last, is_log ? YS_OP_LOG_SOFTMAX : YS_OP_FLATTEN);
            CHECK_INT(graph->loss, is_log ? YS_LOSS_NLL : YS_LOSS_SOFTMAX_CROSS_ENTROPY);
            CHECK_INT(graph->values[graph->output].rank, 2);
            for (size_t i = 0; i < graph->node_count; i++)
                CHECK(graph->nodes[i].op != YS_OP_SOFTMAX);
        }
        ys_onnx_import_free(import);
    }
}

/* As PyTorch writes as_strided(): all elements in a row, from which those are gathered that n * `stride` + 0, `step`,
 * ... number for each row n. `shift` moves them. */
static void gathered_rows(struct made *m, int64_t stride, int64_t step, int64_t shift)
{
    static const int64_t scalar[] = {0}, one[] = {1}, axes[] = {1, 2}, four[] = {1, 4, 1};
    const int64_t minus = -1, zero = 0, next = 1, offsets[] = {shift, shift + step, shift + 2 * step, shift + 3 * step};
    const int64_t two = 2;
    made_input(m, -1, 4, 0, 0);
    made_tensor(m, "all", 7, one, 1, &minus, sizeof minus);
    made_tensor(m, "0", 7, scalar, 0, &zero, sizeof zero);
    made_tensor(m, "1", 7, scalar, 0, &next, sizeof next);
    made_tensor(m, "stride", 7, scalar, 0, &stride, sizeof stride);
    made_tensor(m, "axes", 7, &two, 1, axes, sizeof axes);
    made_tensor(m, "offsets", 7, four, 3, offsets, sizeof offsets);
    made_node(m, "Shape", "x", "s");
    made_node(m, "Gather", "s 0", "n");
    made_node(m, "Range", "0 n 1", "rows");
    made_node(m, "Mul", "rows stride", "begins");
    made_node(m, "Unsqueeze", "begins axes", "columns");
    made_node(m, "Add", "columns offsets", "numbers");
    made_node(m, "Reshape", "x all", "laid");
}

static void a_gather_of_each_row_in_turn_is_a_reshape(void)
{
    struct made m = {0};
    gathered_rows(&m, 4, 1, 0);
    made_node(&m, "Gather", "laid numbers", "a");
    end_in_dense(&m, "a", 4);
    struct ys_onnx_import *import = made_read(&m, "y", 18);
    if (import) {
        const struct ys_graph *graph = import->graph;
        CHECK_INT(graph->nodes[0].op, YS_OP_RESHAPE);
        CHECK_INT(graph->values[graph->nodes[0].out[0]].rank, 3);
        CHECK_INT(graph->values[graph->nodes[0].out[0]].shape[1], 4);
    }
    ys_onnx_import_free(import);
    static const int64_t others[][3] = {{8, 1, 0}, {4, -1, 3}, {4, 1, 1}}; /* each other row, backwards, one too far */
    for (size_t i = 0; i < 3; i++) {
        gathered_rows(&m, others[i][0], others[i][1], others[i][2]);
        made_node(&m, "Gather", "laid numbers", "a");
        end_in_dense(&m, "a", 4);
        check_read(&m, "y", 18, "node a (Gather)|order");
    }
    gathered_rows(&m, 4, 1, 0); /* nothing else reads such values */
    made_node(&m, "Relu", "laid", "a");
    end_in_dense(&m, "a", 4);
    check_read(&m, "y", 18, "node laid (Reshape)|batch");
    gathered_rows(&m, 4, 1, 0);
    made_node(&m, "Reshape", "x rows", "a");
    end_in_dense(&m, "a", 4);
    check_read(&m, "y", 18, "node a (Reshape)|numbers of the rows");
    gathered_rows(&m, 4, 1, 0);
    made_node(&m, "Mul", "rows n", "squares");
    made_node(&m, "Reshape", "x squares", "a");
    end_in_dense(&m, "a", 4);
    check_read(&m, "y", 18, "node squares (Mul)");
}

/* As PyTorch writes the bias that a layer has not when it is told to optimize nothing. */
static void a_bias_of_zeros_is_computed_from_the_shape_of_its_weight(void)
{
    const int64_t zero = 0;
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0);
    made_tensor(&m, "0", 7, NULL, 0, &zero, sizeof zero);
    made_weight(&m, "w", 3, 4, 0, 0);
    made_node(&m, "Shape", "w", "s");
    made_integer(&m, "start", -2);
    made_integer(&m, "end", 1);
    made_node(&m, "CastLike", "0 x", "z");
    made_node(&m, "Expand", "z s", "b");
    made_node(&m, "Gemm", "x w b", "y");
    made_integer(&m, "transB", 1);
    check_read(&m, "y", 17, "");
}

static bool notes(const struct ys_onnx_import *import, const char *words)
{
    bool said = false;
    for (size_t i = 0; i < ys_json_size(import->notes); i++)
        said = said || strstr(ys_json_text(ys_json_at(import->notes, i), ""), words) != NULL;
    return said;
}

static void which_axis_has_the_channels_is_said_where_it_is_assumed(void)
{
    static const struct {
        int64_t shape[3];
        bool first, last; /* what is said */
    } cases[] = {{{2, 4, 6}, false, false}, {{8, 4, 6}, true, false}, {{8, 6, 2}, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = {0};
        const int64_t *shape = cases[i].shape;
        made_input(&m, -1, shape[0], shape[1], shape[2]);
        end_in_dense(&m, "x", shape[0] * shape[1] * shape[2]);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        if (import) {
            CHECK_INT(notes(import, "x is taken to be (N, channels, height, width)"), cases[i].first);
            CHECK_INT(notes(import, "x is (N, height, width, channels)"), cases[i].last);
        }
        ys_onnx_import_free(import);
    }
}

/* Folded into convolutions whose bias is left out, too, while it is still 0. */
static void what_an_export_of_pytorch_lost_is_said(void)
{
    for (int convolutions = 1; convolutions <= 2; convolutions++) {
        struct made m = {0};
        struct ys_buf file = {0};
        struct ys_onnx_import *import = NULL;
        made_input(&m, -1, 2, 4, 4);
        made_weight(&m, "v", 2, 2, 3, 3);
        made_node(&m, "Conv", "x v", "a");
        if (convolutions == 2) {
            made_weight(&m, "u", 2, 2, 2, 2);
            made_node(&m, "Conv", "a u", "b");
        }
        end_in_dense(&m, convolutions == 2 ? "b" : "a", convolutions == 2 ? 2 : 8);
        made_file(&m, "y", 17, &file);
        ys_wire_text(&file, 2, "pytorch");
        if (CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_OK))
            CHECK_INT(notes(import, "no batch normalisation"), convolutions == 2);
        ys_onnx_import_free(import);
        ys_buf_free(&file);
    }
}

static void files_that_are_not_right_are_refused(void)
{
    const int64_t shape[] = {4, 3}, huge[] = {(int64_t)1 << 30, (int64_t)1 << 30};
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0); /* a cycle */
    made_node(&m, "Add", "x b", "a");
    made_node(&m, "Relu", "a", "b");
    check_read(&m, "b", 17, "node a (Add)|reads b|cycle");
    made_input(&m, -1, 4, 0, 0); /* fewer bytes than the shape asks for */
    made_tensor(&m, "w", 1, shape, 2, shape, sizeof shape);
    made_node(&m, "Gemm", "x w", "y");
    check_read(&m, "y", 17, "tensor w|fewer");
    made_input(&m, -1, 4, 0, 0);
    made_tensor(&m, "w", 1, huge, 2, huge, sizeof huge);
    made_node(&m, "Gemm", "x w", "y");
    check_read(&m, "y", 17, "tensor w|2^40");
    made_input(&m, -1, 4, 0, 0); /* quantised */
    made_tensor(&m, "w", 3, shape, 2, shape, 12);
    made_node(&m, "Gemm", "x w", "y");
    check_read(&m, "y", 17, "tensor w|INT8|quantised");
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Relu", "x", "y");
    check_read(&m, "y", 17, "no weight");
    made_input(&m, -1, 4, 0, 0);
    made_value(&m, 12, "x", 1, NULL, 0);
    made_node(&m, "Relu", "x", "y");
    check_read(&m, "y", 17, "2 outputs");
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Gemm", "x w", "y");
    made_weight(&m, "w", 4, 3, 0, 0);
    check_read(&m, "y", 5, "operator set 5");
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Gemm", "x w", "y");
    made_integer(&m, "transA", 1);
    made_weight(&m, "w", 4, 3, 0, 0);
    check_read(&m, "y", 17, "transA");
}

/* A dense layer whose weight, 12 floats, lies at `offset` of the file `location`. */
static ys_status read_external(const char *folder, const char *location, const char *offset, const char *length)
{
    const int64_t shape[] = {4, 3};
    const char *const keys[] = {"location", "offset", "length"}, *const values[] = {location, offset, length};
    struct made m = {0};
    struct ys_buf file = {0}, entry = {0};
    struct ys_onnx_import *import = NULL;
    made_input(&m, -1, 4, 0, 0);
    made_tensor_head(&m, "w", 1, shape, 2);
    for (size_t i = 0; i < 3; i++) {
        ys_wire_text(&entry, 1, keys[i]);
        ys_wire_text(&entry, 2, values[i]);
        ys_wire_message(&m.part, 13, &entry);
    }
    ys_wire_integer(&m.part, 14, 1);
    ys_wire_message(&m.graph, 5, &m.part);
    made_node(&m, "Gemm", "x w", "y");
    made_file(&m, "y", 17, &file);
    char *path = ys_path_join(folder, "net.onnx");
    CHECK(ys_fs_write(path, file.data, file.size) == YS_OK);
    ys_status status = ys_onnx_read(path, NULL, &import);
    if (status == YS_OK) {
        CHECK(import->values[0][0] == 7 && import->values[0][1] == 10); /* (out, in): transposed */
        ys_onnx_import_free(import);
    }
    ys_free(path);
    ys_buf_free(&file);
    ys_buf_free(&entry);
    return status;
}

/* What results and resume know a model by: its file, and that of its values. */
static void check_hash(const char *folder, bool same, char before[65])
{
    char *path = ys_path_join(folder, "net.onnx"), hash[65] = "";
    ys_json *graph = NULL;
    CHECK(ys_onnx_read_graph(path, NULL, &graph, hash) == YS_OK);
    CHECK_INT(strcmp(hash, before) == 0, same);
    memcpy(before, hash, sizeof hash);
    ys_json_free(graph);
    ys_free(path);
}

static void the_hash_of_a_model_covers_its_external_data(void)
{
    char *folder = ys_strdup(scratch("hashed")), *data = ys_path_join(folder, "w.bin"), hash[65] = "";
    float values[16];
    for (int i = 0; i < 16; i++)
        values[i] = (float)(i + 3);
    CHECK(mkdir(folder, 0700) == 0);
    CHECK(ys_fs_write(data, values, sizeof values) == YS_OK);
    CHECK(read_external(folder, "w.bin", "16", "48") == YS_OK);
    check_hash(folder, false, hash);
    CHECK_INT(strlen(hash), 64);
    check_hash(folder, true, hash);
    values[9]++; /* of the weight */
    CHECK(ys_fs_write(data, values, sizeof values) == YS_OK);
    check_hash(folder, false, hash);
    values[0]++; /* of no tensor */
    CHECK(ys_fs_write(data, values, sizeof values) == YS_OK);
    check_hash(folder, false, hash);
    ys_free(data);
    ys_free(folder);
}

static void refused_external(const char *folder, const char *location, const char *offset, const char *length,
                             const char *word)
{
    CHECK(read_external(folder, location, offset, length) != YS_OK);
    if (!CHECK(strstr(ys_error(), word) != NULL))
        printf("# \"%s\" is not in: %s\n", word, ys_error());
}

static void external_data_lie_beside_the_file_and_nowhere_else(void)
{
    char *folder = ys_strdup(scratch("external")), *below = ys_path_join(folder, "sub");
    char *data = ys_path_join(folder, "w.bin"), *inner = ys_path_join(below, "w.bin"),
         *out = ys_path_join(below, "out");
    char *pipe = ys_path_join(below, "pipe");
    float values[16];
    for (int i = 0; i < 16; i++)
        values[i] = (float)(i + 3);
    CHECK(mkdir(folder, 0700) == 0 && mkdir(below, 0700) == 0);
    CHECK(ys_fs_write(data, values, sizeof values) == YS_OK && ys_fs_write(inner, values, sizeof values) == YS_OK);
    CHECK(symlink("../w.bin", out) == 0);
    CHECK(mkfifo(pipe, 0600) == 0);
    CHECK(read_external(below, "w.bin", "16", "48") == YS_OK);
    CHECK(read_external(folder, "sub/w.bin", "16", "48") == YS_OK);
    refused_external(below, "../w.bin", "16", "48", "outside");
    refused_external(below, data, "16", "48", "outside");
    refused_external(below, "out", "16", "48", "outside");
    refused_external(below, "pipe", "16", "48", "regular");
    refused_external(below, "none.bin", "16", "48", "none.bin");
    refused_external(below, "w.bin", "17", "48", "beyond the end");
    refused_external(below, "w.bin", "18446744073709551615", "48", "offset");
    refused_external(below, "w.bin", "16", "40", "40 bytes");
    ys_free(below);
    ys_free(data);
    ys_free(inner);
    ys_free(out);
    ys_free(pipe);
    ys_free(folder);
}

static void half_precision_is_widened(void)
{
    const uint16_t halves[] = {0x3c00, 0xc000, 0x3555, 0x0001}, brains[] = {0x3f80, 0xc000, 0x3eab, 0x0080};
    const int64_t shape[] = {2, 2};
    for (int brain = 0; brain < 2; brain++) {
        struct made m = {0};
        struct ys_buf file = {0};
        struct ys_onnx_import *import = NULL;
        made_input(&m, -1, 2, 0, 0);
        made_tensor(&m, "w", brain ? 16 : 10, shape, 2, brain ? brains : halves, sizeof halves);
        made_node(&m, "Gemm", "x w", "y");
        made_integer(&m, "transB", 1);
        made_file(&m, "y", 17, &file);
        if (CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_OK)) {
            const float *w = import->values[0];
            CHECK(w[0] == 1 && w[1] == -2);
            CHECK(w[2] == (brain ? 0x1.56p-2F : 0x1.554p-2F) && w[3] == (brain ? 0x1p-126F : 0x1p-24F));
            ys_onnx_import_free(import);
        }
        ys_buf_free(&file);
    }
}

TAP_MAIN(TAP_CASE(exports_have_the_logits_of_onnx_runtime), TAP_CASE(every_operator_that_is_not_read_is_named_at_once),
         TAP_CASE(every_tensor_of_a_type_that_is_not_read_is_named_at_once),
         TAP_CASE(a_reduction_of_no_axes_may_do_nothing), TAP_CASE(lengths_and_reciprocals_of_values_are_computed),
         TAP_CASE(rests_are_computed_with_their_sign), TAP_CASE(broadcasts_are_read_and_shared_matrices_tied),
         TAP_CASE(the_bias_of_a_shared_matrix_is_shared_and_no_other),
         TAP_CASE(a_layer_that_stands_around_another_has_one_bias),
         TAP_CASE(constants_beside_a_value_are_its_second_operand),
         TAP_CASE(constants_beside_transposed_values_are_turned),
         TAP_CASE(factors_of_channels_are_copied_and_tables_tied), TAP_CASE(rows_stay_apart),
         TAP_CASE(shapes_are_computed_before_there_are_data),
         TAP_CASE(a_head_over_images_of_one_pixel_is_left_to_the_loss),
         TAP_CASE(a_gather_of_each_row_in_turn_is_a_reshape),
         TAP_CASE(a_bias_of_zeros_is_computed_from_the_shape_of_its_weight),
         TAP_CASE(files_that_are_not_right_are_refused), TAP_CASE(external_data_lie_beside_the_file_and_nowhere_else),
         TAP_CASE(half_precision_is_widened), TAP_CASE(the_hash_of_a_model_covers_its_external_data),
         TAP_CASE(what_an_export_of_pytorch_lost_is_said),
         TAP_CASE(which_axis_has_the_channels_is_said_where_it_is_assumed))
