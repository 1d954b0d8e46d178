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
static void check_rows(struct ys_onnx_import *import)
{
    unsigned char x[ROWS * PARTS * 4];
    double together[ROWS * CLASSES], alone[CLASSES], expected[CLASSES];
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (unsigned char)(i * 37 % 251);
    if (import && made_evaluate(import, x, ROWS, together))
        for (size_t r = 0; r < ROWS; r++) {
            expect(x + r * PARTS * 4, expected);
            if (made_evaluate(import, x + r * PARTS * 4, 1, alone))
                for (size_t c = 0; c < CLASSES; c++) {
                    CHECK(together[r * CLASSES + c] == alone[c]);
                    CHECK_NEAR(alone[c], expected[c], 1e-12); /* sums of 16 products of about 1, in double */
                }
        }
    ys_onnx_import_free(import);
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
    made_together(&m, "soft whole");
    refused(&m, "y", (const char *[]){"node soft (Softmax)", "8 rows for each of the batch"});
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

TAP_MAIN(TAP_CASE(axes_of_several_rows_for_each_of_the_batch_are_read),
         TAP_CASE(the_shape_may_be_computed_from_the_batch), TAP_CASE(norms_and_numbers_know_which_axis_is_theirs),
         TAP_CASE(three_rows_together_are_what_each_is_alone), TAP_CASE(what_would_mix_them_is_refused_by_name))
