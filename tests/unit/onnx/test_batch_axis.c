/* Axes that are several times the batch: read where each row of the batch stays apart, which the oracle is asked about,
 * else refused. */
#include "unit/onnx/eval_onnx.h"

#include <math.h>
#include <stdlib.h>

#define ROWS    3
#define PARTS   8 /* rows that each row of 2 x 4 x 4 becomes, of 4 elements */
#define OUT     2
#define CLASSES 3

static float weights[OUT * 4], biases[OUT], head[PARTS * OUT * CLASSES];

static void fill(float *values, size_t count, double phase)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)sin(phase + 1.7 * (double)i);
}

/* x, open or fixed at `fixed` rows, laid out as rows of 4 by `target`, through a dense layer. */
static void made_parts(struct made *m, int64_t fixed, const int64_t target[2])
{
    const int64_t two[] = {2}, matrix[] = {OUT, 4}, bias[] = {OUT};
    fill(weights, OUT * 4, 0);
    fill(biases, OUT, 4);
    fill(head, sizeof head / sizeof head[0], 5);
    made_input(m, fixed, 2, 4, 4);
    made_tensor(m, "parts", 7, two, 1, target, 2 * sizeof *target);
    made_tensor(m, "w", 1, matrix, 2, weights, sizeof weights);
    made_tensor(m, "b", 1, bias, 1, biases, sizeof biases);
    made_node(m, "Reshape", "x parts", "apart");
    made_node(m, "Gemm", "apart w b", "dense");
    made_integer(m, "transB", 1);
}

/* And back to one row for each of the batch, of which come the classes. */
static void made_together(struct made *m, const char *from)
{
    const int64_t two[] = {2}, whole[] = {-1, PARTS * OUT}, matrix[] = {PARTS * OUT, CLASSES};
    made_tensor(m, "whole", 7, two, 1, whole, sizeof whole);
    made_tensor(m, "head", 1, matrix, 2, head, sizeof head);
    made_node(m, "Reshape", from, "together");
    made_node(m, "MatMul", "together head", "y");
}

static void expect(const unsigned char *x, double *logits)
{
    for (int c = 0; c < CLASSES; c++)
        logits[c] = 0;
    for (int p = 0; p < PARTS; p++)
        for (int o = 0; o < OUT; o++) {
            double sum = biases[o];
            for (int i = 0; i < 4; i++)
                sum += (double)weights[o * 4 + i] * (x[p * 4 + i] * (1.0 / 255));
            for (int c = 0; c < CLASSES; c++)
                logits[c] += (sum > 0 ? sum : 0) * (double)head[(p * OUT + o) * CLASSES + c];
        }
}

/* Three rows together are what each is alone, and what the file says. The import is freed. */
static void check_against(struct ys_onnx_import *import, void (*expect_row)(const unsigned char *x, double *logits))
{
    unsigned char x[ROWS * PARTS * 4];
    double together[ROWS * CLASSES], alone[CLASSES], expected[CLASSES];
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (unsigned char)(i * 37 % 251);
    if (import && made_evaluate(import, x, ROWS, together))
        for (size_t r = 0; r < ROWS; r++) {
            expect_row(x + r * PARTS * 4, expected);
            if (made_evaluate(import, x + r * PARTS * 4, 1, alone))
                for (size_t c = 0; c < CLASSES; c++) {
                    CHECK(together[r * CLASSES + c] == alone[c]);
                    CHECK_NEAR(alone[c], expected[c], 1e-12); /* sums of 16 products of about 1, in double */
                }
        }
    ys_onnx_import_free(import);
}

static void check_rows(struct ys_onnx_import *import)
{
    check_against(import, expect);
}

static void axes_of_several_rows_for_each_of_the_batch_are_read(void)
{
    static const struct {
        int64_t fixed, target[2];
    } forms[] = {{-1, {-1, 4}}, {1, {PARTS, 4}}, {1, {-1, 4}}, {1, {PARTS, -1}}, {2, {2 * PARTS, 4}}};
    for (size_t i = 0; i < 5; i++) {
        struct made m = {0};
        made_parts(&m, forms[i].fixed, forms[i].target);
        made_node(&m, "Relu", "dense", "a");
        made_together(&m, "a whole");
        check_rows(made_read(&m, "y", 17));
    }
}

/* Of which CastLike asks the type alone. */
static void a_constant_may_take_the_type_of_such_a_value(void)
{
    const int64_t parts[] = {-1, 4}, two = 2;
    struct made m = {0};
    made_parts(&m, -1, parts);
    made_tensor(&m, "2", 7, NULL, 0, &two, sizeof two);
    made_node(&m, "CastLike", "2 dense", "real");
    made_node(&m, "Mul", "dense real", "twice");
    made_node(&m, "CastLike", "twice dense", "same");
    made_node(&m, "Div", "same real", "once");
    made_node(&m, "Relu", "once", "a");
    made_together(&m, "a whole");
    check_rows(made_read(&m, "y", 17));
}

/* The shape is computed from that of the input: [N * 8, 4]. */
static void the_shape_may_be_computed_from_the_batch(void)
{
    const int64_t one[] = {1}, zero[] = {0}, parts[] = {PARTS}, four[] = {4}, unused[] = {-1, 4};
    struct made m = {0};
    made_tensor(&m, "0", 7, one, 1, zero, sizeof zero);
    made_tensor(&m, "8", 7, one, 1, parts, sizeof parts);
    made_tensor(&m, "4", 7, one, 1, four, sizeof four);
    made_node(&m, "Shape", "x", "s");
    made_node(&m, "Gather", "s 0", "n");
    made_node(&m, "Mul", "n 8", "k");
    made_node(&m, "Concat", "k 4", "t");
    made_integer(&m, "axis", 0);
    made_node(&m, "Reshape", "x t", "counted");
    made_parts(&m, -1, unused); /* its Reshape finds the shape that is there already */
    m.node.size = 0;
    made_node(&m, "Gemm", "counted w b", "dense");
    made_integer(&m, "transB", 1);
    made_node(&m, "Relu", "dense", "a");
    made_together(&m, "a whole");
    check_rows(made_read(&m, "y", 17));
}

static void integers(struct made *m, const char *name, const int64_t *numbers, size_t count)
{
    const int64_t shape[] = {(int64_t)count};
    made_tensor(m, name, 7, shape, 1, numbers, count * sizeof *numbers);
}

static const int64_t swapped[] = {1, 0, 2};

/* x, open or fixed at `fixed` rows, as `seq`: (PARTS, N, 4), the batch in the middle. */
static void made_sequence(struct made *m, int64_t fixed)
{
    const int64_t rows[] = {0, PARTS, 4};
    made_input(m, fixed, 2, 4, 4);
    integers(m, "rows", rows, 3);
    made_node(m, "Reshape", "x rows", "first");
    made_node(m, "Transpose", "first", "seq");
    made_integers(m, "perm", swapped, 3);
}

/* `seq` through a dense layer: a value called `from` of (PARTS, N, OUT), and back to the classes. */
static void end_sequence(struct made *m, const char *from)
{
    const int64_t whole[] = {-1, PARTS * OUT}, matrix[] = {PARTS * OUT, CLASSES};
    fill(head, sizeof head / sizeof head[0], 5);
    integers(m, "whole", whole, 2);
    made_tensor(m, "head", 1, matrix, 2, head, sizeof head);
    made_node(m, "Relu", from, "a");
    made_node(m, "Transpose", "a", "batch_first");
    made_integers(m, "perm", swapped, 3);
    made_node(m, "Reshape", "batch_first whole", "together");
    made_node(m, "MatMul", "together head", "y");
}

static void dense_weights(struct made *m)
{
    const int64_t matrix[] = {OUT, 4}, bias[] = {OUT};
    fill(weights, OUT * 4, 0);
    fill(biases, OUT, 4);
    made_tensor(m, "w", 1, matrix, 2, weights, sizeof weights);
    made_tensor(m, "b", 1, bias, 1, biases, sizeof biases);
}

/* (PARTS, N, 4) to (PARTS * N, 4), a dense layer, and to (PARTS, N, OUT), as networks have it whose sequences come
 * first; of an open batch, and of one that is fixed, where nothing but numbers say it. */
static void axes_in_which_the_batch_comes_last_are_read(void)
{
    static const struct {
        int64_t fixed, there[2], back[3];
    } forms[] = {{-1, {-1, 4}, {PARTS, -1, OUT}}, {1, {PARTS, 4}, {PARTS, 1, OUT}},
                 {1, {-1, 4}, {PARTS, -1, OUT}},  {2, {2 * PARTS, 4}, {PARTS, 2, OUT}},
                 {2, {-1, 4}, {-1, 2, OUT}},      {3, {3 * PARTS, -1}, {PARTS, 3, -1}}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct made m = {0};
        made_sequence(&m, forms[i].fixed);
        dense_weights(&m);
        integers(&m, "there", forms[i].there, 2);
        integers(&m, "back", forms[i].back, 3);
        made_node(&m, "Reshape", "seq there", "joined");
        made_node(&m, "Gemm", "joined w b", "dense");
        made_integer(&m, "transB", 1);
        made_node(&m, "Reshape", "dense back", "again");
        end_sequence(&m, "again");
        check_rows(made_read(&m, "y", 17));
    }
}

/* The same without joining them; the bias beside a value, and as a value of fewer axes. */
static void an_axis_in_the_middle_may_be_the_batch(void)
{
    const int64_t turned[] = {4, OUT}, bias[] = {OUT};
    float other[4 * OUT];
    struct made m = {0};
    made_sequence(&m, -1);
    fill(weights, OUT * 4, 0);
    fill(biases, OUT, 4);
    for (int o = 0; o < OUT; o++)
        for (int i = 0; i < 4; i++)
            other[i * OUT + o] = weights[o * 4 + i];
    made_tensor(&m, "w", 1, turned, 2, other, sizeof other);
    made_tensor(&m, "b", 1, bias, 1, biases, sizeof biases);
    made_node(&m, "MatMul", "seq w", "product");
    made_node(&m, "Add", "product b", "dense");
    end_sequence(&m, "dense");
    check_rows(made_read(&m, "y", 17));
}

/* In each row of 4 a softmax over 2 and 2, to which the mean of the row's eight is added. */
static void expect_halves(const unsigned char *x, double *logits)
{
    double mean[4] = {0}, made[PARTS * OUT];
    for (int i = 0; i < PARTS * 4; i++)
        mean[i % 4] += x[i] / (255.0 * PARTS);
    for (int p = 0; p < PARTS; p++)
        for (int o = 0; o < OUT; o++) {
            const double a = x[p * 4 + 2 * o] / 255.0, b = x[p * 4 + 2 * o + 1] / 255.0;
            made[p * OUT + o] = exp(a) / (exp(a) + exp(b)) + mean[2 * o];
        }
    for (int c = 0; c < CLASSES; c++) {
        logits[c] = 0;
        for (int i = 0; i < PARTS * OUT; i++)
            logits[c] += (made[i] > 0 ? made[i] : 0) * (double)head[i * CLASSES + c];
    }
}

/* (PARTS, N, 4) as (PARTS, N * 2, 2), as attention has its heads: a softmax, and back; (N, 4), the mean over PARTS,
 * beside it; the first of each two is taken. */
static void a_part_of_an_axis_in_the_middle_may_be_the_batch(void)
{
    const int64_t heads[] = {PARTS, -1, 2}, back[] = {PARTS, -1, OUT, 2}, pairs[] = {-1, OUT, 2}, zero[] = {0};
    const int64_t ones[] = {1, 1}, last[] = {-1};
    struct made m = {0};
    made_sequence(&m, -1);
    integers(&m, "heads", heads, 3);
    integers(&m, "back", back, 4);
    integers(&m, "pairs", pairs, 3);
    integers(&m, "zero", zero, 1);
    integers(&m, "ones", ones, 2);
    integers(&m, "last", last, 1);
    made_node(&m, "Reshape", "seq heads", "apart");
    made_node(&m, "Softmax", "apart", "soft");
    made_integer(&m, "axis", -1);
    made_node(&m, "Reshape", "soft back", "again");
    made_node(&m, "ReduceMean", "seq zero", "mean");
    made_integer(&m, "keepdims", 0);
    made_node(&m, "Reshape", "mean pairs", "mean_pairs");
    made_node(&m, "Add", "again mean_pairs", "sum");
    made_node(&m, "Split", "sum ones", "left right");
    made_integer(&m, "axis", 3);
    made_node(&m, "Relu", "right", "unused");
    made_node(&m, "Squeeze", "left last", "dense");
    /* both parts of a Split must be read: the other is multiplied by 0 */
    made_node(&m, "Squeeze", "unused last", "rest");
    made_node(&m, "Sub", "rest rest", "nothing");
    made_node(&m, "Add", "dense nothing", "both");
    end_sequence(&m, "both");
    check_against(made_read(&m, "y", 18), expect_halves);
}

static void normed(struct made *m, const float *scale, const float *table)
{
    const int64_t two[] = {2}, parts[] = {PARTS, 4}, four[] = {4}, whole[] = {-1, PARTS * 4};
    const int64_t matrix[] = {PARTS * 4, CLASSES};
    static float last[PARTS * 4 * CLASSES];
    fill(last, sizeof last / sizeof last[0], 2);
    made_input(m, 1, 2, 4, 4);
    made_tensor(m, "parts", 7, two, 1, parts, sizeof parts);
    made_tensor(m, "whole", 7, two, 1, whole, sizeof whole);
    made_tensor(m, "scale", 1, four, 1, scale, 4 * sizeof *scale);
    made_tensor(m, "table", 1, parts, 2, table, PARTS * 4 * sizeof *table);
    made_tensor(m, "last", 1, matrix, 2, last, sizeof last);
    made_node(m, "Reshape", "x parts", "apart");
    made_node(m, "LayerNormalization", "apart scale", "a");
    made_integer(m, "axis", 1);
    made_node(m, "BatchNormalization", "a scale scale scale scale", "b");
    made_node(m, "Add", "b table", "c");
    made_node(m, "Neg", "c", "d");
    made_node(m, "Mul", "d scale", "e");
    made_node(m, "Flatten", "e", "f");
    made_node(m, "Reshape", "f whole", "together");
    made_node(m, "MatMul", "together last", "y");
}

/* Norms, numbers for each feature and a table for the rows of each: the file is made for one row of the batch. */
static void norms_and_numbers_know_which_axis_is_theirs(void)
{
    float scale[4] = {0.5F, 1.5F, 0.25F, 2}, table[PARTS * 4], last[PARTS * 4 * CLASSES];
    unsigned char x[PARTS * 4];
    double logits[CLASSES], expected[CLASSES] = {0};
    struct made m = {0};
    fill(table, PARTS * 4, 3);
    fill(last, PARTS * 4 * CLASSES, 2);
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (unsigned char)(i * 37 % 251);
    for (int p = 0; p < PARTS; p++) {
        double mean = 0, var = 0;
        for (int i = 0; i < 4; i++)
            mean += x[p * 4 + i] / (255.0 * 4);
        for (int i = 0; i < 4; i++)
            var += (x[p * 4 + i] / 255.0 - mean) * (x[p * 4 + i] / 255.0 - mean) / 4;
        for (int i = 0; i < 4; i++) {
            const double s = scale[i], a = (x[p * 4 + i] / 255.0 - mean) / sqrt(var + 1e-5) * s;
            const double b = (a - s) / sqrt(s + 1e-5) * s + s + (double)table[p * 4 + i];
            for (int c = 0; c < CLASSES; c++)
                expected[c] -= b * s * (double)last[(p * 4 + i) * CLASSES + c];
        }
    }
    normed(&m, scale, table);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import && made_evaluate(import, x, 1, logits))
        for (int c = 0; c < CLASSES; c++)
            CHECK_NEAR(logits[c], expected[c], 1e-6); /* epsilon is a float: 1e-5 is wrong by 3e-8 of itself */
    ys_onnx_import_free(import);
}

/* Of the networks in the forms of exporters, whose own shapes have the batch in many ways. */
static void three_rows_together_are_what_each_is_alone(void)
{
    static const char *const names[] = {"resnet",   "mobilenet", "keras",  "old",
                                        "convnext", "sundry",    "upward", "folded"};
    static unsigned char x[ROWS * 4096];
    static double together[ROWS * 64], alone[64];
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (unsigned char)(i * 41 % 239);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = ys_format("%s/tests/fixtures/onnx/%s.onnx", getenv("YS_SOURCE_ROOT"), names[i]);
        struct ys_onnx_import *import = NULL;
        if (CHECK(ys_onnx_read(path, NULL, &import) == YS_OK)) {
            const struct ys_graph *graph = import->graph;
            const size_t row = (size_t)ys_value_row_elements(&graph->values[graph->inputs[0]]);
            const size_t count = (size_t)graph->values[graph->output].shape[1];
            if (CHECK(row <= 4096 && count <= 64) && made_evaluate(import, x, ROWS, together))
                for (size_t r = 0; r < ROWS; r++)
                    if (made_evaluate(import, x + r * row, 1, alone) &&
                        !CHECK(memcmp(together + r * count, alone, count * sizeof *alone) == 0))
                        printf("# %s: row %zu\n", names[i], r);
        }
        ys_onnx_import_free(import);
        ys_free(path);
    }
}

static void refused(struct made *m, const char *output, const char *words[2])
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, output, 17, &file);
    if (CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_EUNSUPPORTED)) {
        for (size_t i = 0; i < 2; i++)
            if (!CHECK(strstr(ys_error(), words[i]) != NULL))
                printf("# \"%s\" is not in: %s\n", words[i], ys_error());
    } else {
        ys_onnx_import_free(import);
    }
    ys_buf_free(&file);
    *m = (struct made){0};
}

static void what_would_mix_them_is_refused_by_name(void)
{
    const int64_t parts[] = {PARTS, 4}, axis[] = {0}, one[] = {1}, eight[] = {PARTS, 1}, uneven[] = {5, -1};
    struct made m = {0};
    made_parts(&m, 1, parts);
    refused(&m, "dense", (const char *[]){"output dense has 8 rows for each of the batch", "node apart (Reshape)"});
    made_parts(&m, 1, parts); /* over the rows of each, which is no row of the batch by itself */
    made_tensor(&m, "axes", 7, one, 1, axis, sizeof axis);
    made_node(&m, "ReduceMean", "dense axes", "mean");
    refused(&m, "mean", (const char *[]){"node mean (ReduceMean)", "8 rows for each of the batch"});
    made_parts(&m, 1, parts);
    made_node(&m, "Softmax", "dense", "soft");
    made_integer(&m, "axis", 0);
    made_together(&m, "soft whole");
    refused(&m, "y", (const char *[]){"node soft (Softmax)", "8 rows for each of the batch"});
    made_parts(&m, 1, parts);
    made_node(&m, "GlobalAveragePool", "dense", "pool");
    made_together(&m, "pool whole");
    refused(&m, "y", (const char *[]){"node pool (GlobalAveragePool)", "8 rows for each of the batch"});
    made_parts(&m, -1, parts); /* of an open batch 8 rows are no 8 N */
    made_together(&m, "dense whole");
    refused(&m, "y", (const char *[]){"node apart (Reshape)", "mixes the batch"});
    made_parts(&m, 1, uneven);
    made_together(&m, "dense whole");
    refused(&m, "y", (const char *[]){"node apart (Reshape)", "mixes the batch"});
    made_parts(&m, -1, (const int64_t[]){-1, 4});
    made_weight(&m, "c", eight[0], eight[1], 0, 0);
    made_node(&m, "Add", "dense c", "moved");
    made_together(&m, "moved whole");
    refused(&m, "y", (const char *[]){"node moved (Add)", "along an axis of 8 rows"});
    made_parts(&m, 1, parts);
    made_node(&m, "Flatten", "x", "flat");
    made_node(&m, "Add", "dense flat", "both");
    made_together(&m, "both whole");
    refused(&m, "y", (const char *[]){"node both (Add)", "8 since node apart (Reshape)"});
}

static void what_would_mix_a_batch_elsewhere_is_refused_by_name(void)
{
    const int64_t across[] = {16, -1}, heads[] = {PARTS, -1, 2}, axis[] = {1}, sums[] = {PARTS, 1, 4};
    struct made m = {0};
    static float square[16 * 3];
    made_sequence(&m, -1);
    refused(&m, "seq", (const char *[]){"output seq has the batch as axis 1", "node seq (Transpose)"});
    made_sequence(&m, -1); /* of 8 in front of the batch 16 cannot be made */
    integers(&m, "across", across, 2);
    made_node(&m, "Reshape", "seq across", "mixed");
    refused(&m, "mixed", (const char *[]){"node mixed (Reshape)", "mixes the batch"});
    made_sequence(&m, -1);
    made_node(&m, "Softmax", "seq", "soft");
    made_integer(&m, "axis", 1);
    end_sequence(&m, "soft");
    refused(&m, "y", (const char *[]){"node soft (Softmax)", "works along axis 1, the batch"});
    made_sequence(&m, -1);
    integers(&m, "heads", heads, 3);
    integers(&m, "axis", axis, 1);
    made_node(&m, "Reshape", "seq heads", "apart");
    made_node(&m, "ReduceMean", "apart axis", "mean");
    refused(&m, "mean", (const char *[]){"node mean (ReduceMean)", "axis 1, of 2 rows for each of the batch"});
    made_sequence(&m, -1); /* the batch becomes what is summed over */
    fill(square, 48, 0);
    made_tensor(&m, "square", 1, (const int64_t[]){3, 16}, 2, square, sizeof square);
    made_node(&m, "Transpose", "seq", "turned");
    made_integers(&m, "perm", (const int64_t[]){0, 2, 1}, 3);
    made_node(&m, "MatMul", "turned square", "y");
    refused(&m, "y", (const char *[]){"node y (MatMul)", "works along axis 2, the batch"});
    made_sequence(&m, -1);
    made_node(&m, "Concat", "seq first", "both");
    made_integer(&m, "axis", 2);
    refused(&m, "both", (const char *[]){"node both (Concat)", "whose batch is axis 1 and axis 0"});
    made_sequence(&m, -1);
    made_tensor(&m, "c", 1, sums, 3, square, PARTS * 4 * sizeof *square);
    made_node(&m, "Add", "seq c", "sum"); /* for any number of rows: that is no mistake */
    made_node(&m, "Conv", "sum w", "images");
    made_weight(&m, "w", 2, 2, 1, 1);
    refused(&m, "images", (const char *[]){"node images (Conv)", "axis 1 is the batch, since node seq (Transpose)"});
}

TAP_MAIN(TAP_CASE(axes_of_several_rows_for_each_of_the_batch_are_read),
         TAP_CASE(a_constant_may_take_the_type_of_such_a_value), TAP_CASE(the_shape_may_be_computed_from_the_batch),
         TAP_CASE(axes_in_which_the_batch_comes_last_are_read), TAP_CASE(an_axis_in_the_middle_may_be_the_batch),
         TAP_CASE(a_part_of_an_axis_in_the_middle_may_be_the_batch),
         TAP_CASE(norms_and_numbers_know_which_axis_is_theirs), TAP_CASE(three_rows_together_are_what_each_is_alone),
         TAP_CASE(what_would_mix_them_is_refused_by_name),
         TAP_CASE(what_would_mix_a_batch_elsewhere_is_refused_by_name))
