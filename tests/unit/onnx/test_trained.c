/* Which constants beside a value are trained: weights are, masks, tables that are computed and what normalises the
 * input are not. */
#include "unit/onnx/eval_onnx.h"

#define FEATURES 6

static void put_floats(struct made *m, const char *name, const float values[FEATURES])
{
    const int64_t shape[] = {FEATURES};
    made_tensor(m, name, 1, shape, 1, values, FEATURES * sizeof *values);
}

/* The factors of the parameter that node `b` reads besides its value, and whether a note has `why`, if there is one. */
static void check_factor(struct made *m, double factor, const char *why)
{
    made_node(m, "Gemm", "b w", "y");
    made_weight(m, "w", FEATURES, 3, 0, 0);
    struct ys_onnx_import *import = made_read(m, "y", 17);
    const struct ys_param *found = NULL;
    bool said = false;
    for (size_t i = 0; import && i < import->graph->node_count; i++)
        if (strcmp(import->graph->nodes[i].name, "b") == 0)
            found = &import->graph->params[import->graph->nodes[i].weight];
    for (size_t i = 0; import && i < ys_json_size(import->notes); i++)
        said = said || strstr(ys_json_text(ys_json_at(import->notes, i), ""), *why ? why : "not trained");
    if (CHECK(found != NULL))
        CHECK(found->lr_mult == factor && found->decay_mult == factor);
    CHECK(said == (*why != 0));
    ys_onnx_import_free(import);
}

/* A Relu of features, with `op` of it and floats `c` behind it. */
static void check_beside(const char *op, const float values[FEATURES], double factor, const char *why)
{
    struct made m = {0};
    made_input(&m, -1, FEATURES, 0, 0);
    made_node(&m, "Relu", "x", "a");
    put_floats(&m, "c", values);
    made_node(&m, op, "a c", "b");
    ys_wire_text(&m.node, 3, "b");
    check_factor(&m, factor, why);
}

static void masks_are_not_trained(void)
{
    const float mask[] = {1, 0, 0, 1, 1, 0}, ones[] = {1, 1, 1, 1, 1, 1}, zeros[] = {0, 0, 0, 0, 0, 0};
    const float away[] = {0, -1e9F, 0, 0, -1e9F, 0}, shares[] = {1, 0, 0.5F, 1, 1, 0}, low[] = {0, -1, 0, 0, -1, 0};
    check_beside("Mul", mask, 0, "a mask and not trained");
    check_beside("Add", away, 0, "a mask and not trained");
    check_beside("Mul", shares, 1, "");
    check_beside("Mul", ones, 1, ""); /* scales as they begin */
    check_beside("Add", zeros, 1, "");
    check_beside("Add", mask, 1, ""); /* numbers that are added are no mask of 0 and 1 */
    check_beside("Add", low, 1, "");
}

/* As position tables are: Range, made real, times one number. */
static void what_is_computed_of_shapes_is_not_trained(void)
{
    const int64_t scalar[] = {0}, numbers[] = {0, FEATURES, 1};
    const float tenth = 0.1F;
    const float values[FEATURES] = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F};
    for (int held = 0; held < 2; held++) {
        struct made m = {0};
        made_input(&m, -1, FEATURES, 0, 0);
        made_tensor(&m, "from", 7, scalar, 0, &numbers[0], sizeof *numbers);
        made_tensor(&m, "to", 7, scalar, 0, &numbers[1], sizeof *numbers);
        made_tensor(&m, "by", 7, scalar, 0, &numbers[2], sizeof *numbers);
        made_tensor(&m, "tenth", 1, scalar, 0, &tenth, sizeof tenth);
        if (held)
            put_floats(&m, "values", values);
        made_node(&m, "Relu", "x", "a");
        made_node(&m, "Range", "from to by", "range");
        made_node(&m, "Cast", "range", "real");
        made_integer(&m, "to", 1);
        made_node(&m, "Mul", held ? "real values" : "real tenth", "c");
        made_node(&m, "Add", "a c", "b");
        ys_wire_text(&m.node, 3, "b");
        check_factor(&m, held, held ? "" : "computed from shapes and single numbers and not trained");
    }
}

/* Of images (N, 2, 4, 4): `c` of three axes or two, then numbers that divide by a deviation of each pixel. */
static void mean_images_are_not_trained(void)
{
    for (int axes = 2; axes <= 3; axes++) {
        struct made m = {0};
        made_input(&m, -1, 2, 4, 4);
        made_weight(&m, "c", axes == 3 ? 2 : 4, 4, axes == 3 ? 4 : 0, 0);
        made_weight(&m, "d", 2, 4, 4, 0);
        made_node(&m, "Sub", "x c", "s");
        made_node(&m, "Mul", "s d", "t");
        made_node(&m, "Relu", "t", "u");
        made_node(&m, "Mul", "u d", "v");
        made_node(&m, "Flatten", "v", "f");
        made_node(&m, "Gemm", "f w", "y");
        made_weight(&m, "w", 32, 3, 0, 0);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        size_t fixed = 0, trained = 0;
        for (size_t i = 0; import && i < import->graph->param_count; i++) {
            fixed += import->graph->params[i].lr_mult == 0;
            trained += import->graph->params[i].lr_mult != 0;
        }
        CHECK_INT(fixed, 2);
        CHECK(trained >= 1);
        ys_onnx_import_free(import);
    }
}

/* Two dense layers of 4 x 4 whose weights are `a`, (out, in), and `b`, (in, out): how many parameters they have. */
static size_t count_of_two(const float a[16], const float b[16])
{
    static const int64_t square[] = {4, 4};
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0);
    made_tensor(&m, "a", 1, square, 2, a, 16 * sizeof *a);
    made_tensor(&m, "b", 1, square, 2, b, 16 * sizeof *b);
    made_node(&m, "Gemm", "x a", "u");
    made_integer(&m, "transB", 1);
    made_node(&m, "Gemm", "u b", "y");
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    const size_t count = import ? import->graph->param_count : 0;
    ys_onnx_import_free(import);
    return count;
}

/* A copy that lies the other way round in the file, and is the same matrix in the graph, is tied; another is not. */
static void transposed_copies_are_tied(void)
{
    float a[16], turned[16], other[16], even[16];
    for (int i = 0; i < 16; i++) {
        a[i] = other[i] = 0.25F * (float)(i * i % 11) + 0.5F;
        even[i] = 0.5F;
    }
    for (int i = 0; i < 16; i++)
        turned[i] = a[i % 4 * 4 + i / 4];
    other[7] += 1;
    CHECK_INT(count_of_two(a, turned), 1);
    CHECK_INT(count_of_two(a, a), 2); /* its transposition, in the graph */
    CHECK_INT(count_of_two(a, other), 2);
    CHECK_INT(count_of_two(even, even), 2); /* of equal numbers it is no sign of anything */
}

/* Copies that lie the same way round are what exporters merge or leave apart as they like. */
static void equal_square_matrices_are_not_tied(void)
{
    static const int64_t square[] = {4, 4};
    float a[16];
    struct made m = {0};
    for (int i = 0; i < 16; i++)
        a[i] = (float)(i % 5);
    made_input(&m, -1, 4, 0, 0);
    made_tensor(&m, "a", 1, square, 2, a, sizeof a);
    made_tensor(&m, "b", 1, square, 2, a, sizeof a);
    made_node(&m, "Gemm", "x a", "u");
    made_node(&m, "Gemm", "u b", "y");
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import)
        CHECK_INT(import->graph->param_count, 2);
    ys_onnx_import_free(import);
}

/* A dense layer `d` of x, numbers that are added to it by one name and, if any, a Relu of it by another, all together.
 */
static struct ys_onnx_import *read_sum(const char *added, const char *other)
{
    static const float bias[] = {0.5F, 1, 2};
    const int64_t three[] = {3};
    char in[16];
    struct made m = {0};
    made_input(&m, -1, 2, 0, 0);
    made_weight(&m, "w", 2, 3, 0, 0);
    made_tensor(&m, "bias", 1, three, 1, bias, sizeof bias);
    made_node(&m, "MatMul", "x w", "d");
    made_node(&m, "Identity", "d", "e");
    if (other)
        made_node(&m, "Relu", other, "r");
    snprintf(in, sizeof in, "%s bias", added);
    made_node(&m, "Add", in, other ? "s" : "y");
    ys_wire_text(&m.node, 3, "sum");
    if (other)
        made_node(&m, "Add", "s r", "y");
    return made_read(&m, "y", 17);
}

/* Else what reads the product would read the sum. The weight is 0.1 (3 i + c + 1). */
static void numbers_are_a_bias_where_nothing_else_reads_the_product(void)
{
    static const struct {
        const char *added, *other;
    } cases[] = {{"d", NULL}, {"e", NULL}, {"d", "d"}, {"e", "d"}, {"d", "e"}, {"e", "e"}};
    static const double bias[] = {0.5, 1, 2};
    const float x[] = {0.25F, 0.75F}; /* of two axes: as they are */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_onnx_import *import = read_sum(cases[i].added, cases[i].other);
        double logits[3];
        if (import && made_evaluate(import, (const unsigned char *)x, 1, logits))
            for (int c = 0; c < 3; c++) {
                const double dense = 0.25 * (double)(0.1F * (float)(c + 1)) + 0.75 * (double)(0.1F * (float)(c + 4));
                CHECK_NEAR(logits[c], dense * (cases[i].other ? 2 : 1) + bias[c], 1e-14); /* four roundings of 2 */
            }
        if (import)
            CHECK((node_called(import->graph, "sum") == NULL) == (i < 2)); /* else the numbers are an operand */
        ys_onnx_import_free(import);
    }
}

/* x times a matrix, `count` times, each with numbers added to it: at once, or behind all of the products. The sums are
 * added up. */
static void made_sums(struct made *m, int count, bool is_late)
{
    char in[32], out[16];
    struct ys_buf all = {0};
    made_input(m, -1, 4, 0, 0);
    made_weight(m, "s", 4, 4, 0, 0);
    made_weight(m, "b", 4, 0, 0, 0);
    made_weight(m, "w", 4, 3, 0, 0);
    for (int i = 0; i < 2 * count; i++) {
        const bool is_sum = is_late ? i >= count : i % 2 == 1;
        const int at = is_late ? i % count : i / 2;
        snprintf(in, sizeof in, "p%d b", at);
        snprintf(out, sizeof out, "%c%d", is_sum ? 's' : 'p', at);
        made_node(m, is_sum ? "Add" : "MatMul", is_sum ? in : "x s", out);
        if (is_sum)
            ys_buf_printf(&all, "%ss%d", at ? " " : "", at);
    }
    made_node(m, "Sum", ys_buf_text(&all), "all");
    made_node(m, "Gemm", "all w", "y");
    ys_buf_free(&all);
}

static void each_of_many_sums_is_a_bias(void)
{
    const int count = 3000;
    for (int is_late = 0; is_late < 2; is_late++) {
        struct made m = {0};
        made_sums(&m, count, is_late);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        int biases = 0, sums = 0;
        for (size_t i = 0; import && i < import->graph->node_count; i++) {
            const struct ys_node *node = &import->graph->nodes[i];
            biases += node->op == YS_OP_GEMM && node->bias >= 0;
            sums += node->op == YS_OP_ADD;
        }
        CHECK_INT(biases, count);
        CHECK_INT(sums, count - 1);
        if (import)
            CHECK_INT(import->graph->param_count, 3); /* one layer at all these places */
        ys_onnx_import_free(import);
    }
}

/* What reads a value by any of its names is found, wherever it stands: of the two products the first is read by a
 * Relu behind the sum, through two names more; the second only by its sum. */
static void who_reads_a_product_later_is_known_before(void)
{
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0);
    made_weight(&m, "s", 4, 4, 0, 0);
    made_weight(&m, "t", 4, 4, 0, 0);
    made_weight(&m, "b", 4, 0, 0, 0);
    made_weight(&m, "w", 4, 3, 0, 0);
    made_node(&m, "MatMul", "x s", "p");
    made_node(&m, "Identity", "p", "q");
    made_node(&m, "Identity", "q", "r");
    made_node(&m, "Add", "r b", "kept");
    ys_wire_text(&m.node, 3, "kept");
    made_node(&m, "MatMul", "kept t", "u");
    made_node(&m, "Identity", "u", "v");
    made_node(&m, "Add", "v b", "joined");
    ys_wire_text(&m.node, 3, "joined");
    made_node(&m, "Relu", "q", "late");
    made_node(&m, "Add", "joined late", "all");
    made_node(&m, "Gemm", "all w", "y");
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import) {
        CHECK(node_called(import->graph, "kept") != NULL);
        CHECK(node_called(import->graph, "joined") == NULL);
    }
    ys_onnx_import_free(import);
}

/* The second place of a transposed copy is as good as the first. */
static void a_transposed_copy_may_stand_at_two_places(void)
{
    static const int64_t square[] = {4, 4};
    float a[16], turned[16];
    struct made m = {0};
    for (int i = 0; i < 16; i++) {
        a[i] = (float)i;
        turned[i % 4 * 4 + i / 4] = (float)i;
    }
    made_input(&m, -1, 4, 0, 0);
    made_weight(&m, "first", 4, 4, 0, 0); /* so that the tied one is not parameter 0 */
    made_tensor(&m, "a", 1, square, 2, a, sizeof a);
    made_tensor(&m, "turned", 1, square, 2, turned, sizeof turned);
    made_node(&m, "Gemm", "x first", "u");
    made_node(&m, "Gemm", "u a", "v");
    made_node(&m, "Gemm", "v turned", "z");
    made_integer(&m, "transB", 1);
    made_node(&m, "Gemm", "z turned", "y");
    made_integer(&m, "transB", 1);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import)
        CHECK_INT(import->graph->param_count, 2);
    ys_onnx_import_free(import);
}

/* What several nodes read and each trains by itself begins with the same numbers, which are there once: a vector, and a
 * matrix of zeros. Twice the vector is not the same numbers. */
static void copies_begin_with_the_same_memory(void)
{
    static const int64_t square[] = {FEATURES, FEATURES};
    const float values[FEATURES] = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}, zeros[FEATURES * FEATURES] = {0};
    const char *const names[] = {"norm", "factor", "twice", "zero", "again"};
    int read[5] = {0};
    struct made m = {0};
    made_input(&m, -1, FEATURES, 0, 0);
    put_floats(&m, "v", values);
    made_tensor(&m, "z", 1, square, 2, zeros, sizeof zeros);
    made_node(&m, "Relu", "x", "a");
    made_node(&m, "LayerNormalization", "a v", "b");
    ys_wire_text(&m.node, 3, "norm");
    made_node(&m, "Mul", "b v", "c");
    ys_wire_text(&m.node, 3, "factor");
    made_node(&m, "Gemm", "c z v", "d");
    made_real(&m, "beta", 2);
    ys_wire_text(&m.node, 3, "twice");
    made_node(&m, "Gemm", "d z", "e");
    ys_wire_text(&m.node, 3, "zero");
    made_node(&m, "Gemm", "e z", "f");
    ys_wire_text(&m.node, 3, "again");
    made_node(&m, "Gemm", "f w", "y");
    made_weight(&m, "w", FEATURES, 3, 0, 0);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    bool is_whole = import != NULL;
    for (size_t i = 0; import && i < 5; i++) {
        const struct ys_node *node = node_called(import->graph, names[i]);
        is_whole = CHECK(node != NULL) && is_whole;
        read[i] = !node ? 0 : i == 2 ? node->bias : node->weight;
    }
    if (is_whole) {
        float *const *held = import->values;
        CHECK(read[0] != read[1] && held[read[0]] == held[read[1]]);
        CHECK(held[read[2]] != held[read[0]]);
        CHECK_NEAR(held[read[2]][4], 1.0, 1e-6);
        CHECK(read[3] != read[4] && held[read[3]] == held[read[4]]);
    }
    ys_onnx_import_free(import);
}

TAP_MAIN(TAP_CASE(transposed_copies_are_tied), TAP_CASE(copies_begin_with_the_same_memory),
         TAP_CASE(each_of_many_sums_is_a_bias), TAP_CASE(who_reads_a_product_later_is_known_before),
         TAP_CASE(a_transposed_copy_may_stand_at_two_places), TAP_CASE(equal_square_matrices_are_not_tied),
         TAP_CASE(masks_are_not_trained), TAP_CASE(what_is_computed_of_shapes_is_not_trained),
         TAP_CASE(mean_images_are_not_trained), TAP_CASE(numbers_are_a_bias_where_nothing_else_reads_the_product))
