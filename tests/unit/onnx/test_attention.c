/* What leads into an attention and reads its scores: padded values, shapes, factors, masks of none. */
#include "graph/op.h"
#include "unit/onnx/eval_onnx.h"

#include <math.h>

#define WIDTH   4
#define MOST    4 /* positions */
#define CLASSES 3 /* of end_in_dense() */

/* Tokens (N, 2), and an embedding `e` of (N, 2, 4) whose row t is 0.1 (4 t + 1), 0.1 (4 t + 2), ... */
static void begin(struct made *m)
{
    const int64_t shape[] = {-1, 2};
    made_value(m, 11, "x", 7, shape, 2);
    made_weight(m, "table", 5, WIDTH, 0, 0);
    made_node(m, "Gather", "table x", "e");
}

static const int32_t tokens[2] = {3, 1};

static void embed(double rows[][WIDTH])
{
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < WIDTH; i++)
            rows[p][i] = (double)(0.1F * (float)(tokens[p] * WIDTH + i + 1));
}

/* Softmax of `from` times `keys` turned, times the keys. */
static void made_attention(struct made *m, const char *from, const char *keys)
{
    const int64_t turn[] = {0, 2, 1};
    char pair[16];
    made_node(m, "Transpose", keys, "turned");
    made_integers(m, "perm", turn, 3);
    snprintf(pair, sizeof pair, "%s turned", from);
    made_node(m, "MatMul", pair, "scores");
    made_node(m, "Softmax", "scores", "shares");
    snprintf(pair, sizeof pair, "shares %s", keys);
    made_node(m, "MatMul", pair, "a");
}

/* The same by its formula, into the first `queries` rows of `out`. */
static void attend(double q[][WIDTH], int queries, double k[][WIDTH], int keys, double out[][WIDTH])
{
    for (int p = 0; p < queries; p++) {
        double share[MOST], sum = 0;
        for (int s = 0; s < keys; s++) {
            double dot = 0;
            for (int i = 0; i < WIDTH; i++)
                dot += q[p][i] * k[s][i];
            sum += share[s] = exp(dot);
        }
        for (int i = 0; i < WIDTH; i++) {
            out[p][i] = 0;
            for (int s = 0; s < keys; s++)
                out[p][i] += share[s] / sum * k[s][i];
        }
    }
}

/* The dense layer of end_in_dense() of what lies in `flat`. The import is freed. */
static void check_dense(struct ys_onnx_import *import, const double *flat, int count)
{
    double logits[CLASSES];
    if (import && made_evaluate(import, (const unsigned char *)tokens, 1, logits))
        for (int c = 0; c < CLASSES; c++) {
            double expected = 0;
            for (int i = 0; i < count; i++)
                expected += flat[i] * (double)(0.1F * (float)(CLASSES * i + c + 1));
            CHECK_NEAR(logits[c], expected, 1e-12 * expected); /* sums of at most 24 products above 0, in double */
        }
    ys_onnx_import_free(import);
}

/* A position of zeros before the two, as query, key and value: of three axes, and of four with one head, where zeros
 * around an image are put off. */
static void padding_is_put_before_the_products(void)
{
    const int64_t six[] = {6}, eight[] = {8}, four[] = {4}, head[] = {0, 1, 2, WIDTH};
    const int64_t pads[] = {0, 1, 0, 0, 0, 0}, wide[] = {0, 0, 1, 0, 0, 0, 0, 0}, turn[] = {0, 1, 3, 2};
    for (int form = 0; form < 3; form++) { /* the products of three axes, of four, and ONNX's own operator */
        double rows[MOST][WIDTH] = {{0}}, out[MOST][WIDTH];
        struct made m = {0};
        begin(&m);
        if (form == 0) {
            made_tensor(&m, "pads", 7, six, 1, pads, sizeof pads);
            made_node(&m, "Pad", "e pads", "p");
            made_attention(&m, "p", "p");
        } else {
            made_tensor(&m, "pads", 7, eight, 1, wide, sizeof wide);
            made_tensor(&m, "head", 7, four, 1, head, sizeof head);
            made_node(&m, "Reshape", "e head", "h");
            made_node(&m, "Pad", "h pads", "p");
        }
        if (form == 1) {
            made_node(&m, "Transpose", "p", "turned");
            made_integers(&m, "perm", turn, 4);
            made_node(&m, "MatMul", "p turned", "scores");
            made_node(&m, "Softmax", "scores", "shares");
            made_node(&m, "MatMul", "shares p", "a");
        } else if (form == 2) {
            made_node(&m, "Attention", "p p p", "a");
            made_real(&m, "scale", 1);
        }
        end_in_dense(&m, "a", 3L * WIDTH);
        embed(rows + 1);
        attend(rows, 3, rows, 3, out);
        check_dense(made_read(&m, "y", form == 2 ? 23 : 17), out[0], 3 * WIDTH);
    }
}

/* Two queries of four keys: the last extent of the scores says how long the keys are side by side. */
static void the_last_extent_of_scores_is_that_of_the_keys(void)
{
    const int64_t one[] = {1}, last[] = {2}, width[] = {WIDTH}, open[] = {-1};
    double q[MOST][WIDTH], all[2 + MOST][WIDTH];
    for (int shares = 0; shares < 2; shares++) {
        struct made m = {0};
        begin(&m);
        made_node(&m, "Concat", "e e", "k");
        made_integer(&m, "axis", 1);
        made_attention(&m, "e", "k");
        made_tensor(&m, "last", 7, one, 1, last, sizeof last);
        made_tensor(&m, "width", 7, one, 1, width, sizeof width);
        made_tensor(&m, "open", 7, one, 1, open, sizeof open);
        made_node(&m, "Shape", shares ? "shares" : "scores", "s");
        made_node(&m, "Gather", "s last", "count");
        made_node(&m, "Mul", "count width", "whole");
        made_node(&m, "Concat", "open whole", "target");
        made_integer(&m, "axis", 0);
        made_node(&m, "Reshape", "k target", "keys");
        made_node(&m, "Flatten", "a", "answers");
        made_node(&m, "Concat", "answers keys", "j");
        made_integer(&m, "axis", 1);
        end_in_dense(&m, "j", (2L + 4) * WIDTH);
        embed(q);
        embed(all + 2);
        embed(all + 4);
        attend(q, 2, all + 2, 4, all);
        check_dense(made_read(&m, "y", 17), all[0], (2 + 4) * WIDTH);
    }
}

/* A product that no softmax follows, and one of it with a third value. */
static void a_product_of_two_values_is_one_of_matrices(void)
{
    for (int is_twice = 0; is_twice < 2; is_twice++) {
        double e[2][WIDTH], square[2][2] = {{0}}, twice[2][WIDTH] = {{0}};
        struct made m = {0};
        begin(&m);
        made_node(&m, "Transpose", "e", "turned");
        made_integers(&m, "perm", (const int64_t[]){0, 2, 1}, 3);
        made_node(&m, "MatMul", "e turned", "square");
        made_node(&m, "MatMul", "square e", "twice");
        end_in_dense(&m, is_twice ? "twice" : "square", is_twice ? 2L * WIDTH : 4);
        embed(e);
        for (int p = 0; p < 2; p++)
            for (int s = 0; s < 2; s++)
                for (int i = 0; i < WIDTH; i++)
                    square[p][s] += e[p][i] * e[s][i];
        for (int p = 0; p < 2; p++)
            for (int i = 0; i < WIDTH; i++)
                twice[p][i] = square[p][0] * e[0][i] + square[p][1] * e[1][i];
        check_dense(made_read(&m, "y", 17), is_twice ? twice[0] : square[0], is_twice ? 2 * WIDTH : 4);
    }
}

/* A number times the queries, or the scores themselves, which are no operator without the softmax. */
static void scores_times_0_or_less_are_refused(void)
{
    static const struct {
        float factor;
        bool is_late;
        const char *words;
    } cases[] = {{-0.25F, false, "node a (MatMul)|multiplies scores by -0.25: graphs have a scale above 0"},
                 {-0.25F, true, "node a (MatMul)|multiplies scores by -0.25: graphs have a scale above 0"},
                 {0, true, "node late (Mul)|multiplies by 0"},
                 {NAN, true, "nan"},
                 {INFINITY, false, "inf"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = {0};
        begin(&m);
        made_tensor(&m, "factor", 1, NULL, 0, &cases[i].factor, sizeof cases[i].factor);
        made_node(&m, "Mul", "e factor", "f");
        made_node(&m, "Transpose", "e", "turned");
        made_integers(&m, "perm", (const int64_t[]){0, 2, 1}, 3);
        made_node(&m, "MatMul", cases[i].is_late ? "e turned" : "f turned", "scores");
        made_node(&m, "Mul", "scores factor", "late");
        made_node(&m, "Softmax", cases[i].is_late ? "late" : "scores", "shares");
        made_node(&m, "MatMul", "shares e", "a");
        end_in_dense(&m, "a", 2L * WIDTH);
        check_read(&m, "y", 17, cases[i].words);
    }
}

/* ONNX's own operator, of heads side by side. */
static void the_scale_of_the_operator_is_above_0_or_left_out(void)
{
    static const float scales[] = {0, 0.25F, -1, NAN};
    static const char *const words[] = {"", "", "(Attention)|scale is -1: graphs have one above 0", "scale is nan"};
    for (size_t i = 0; i < 4; i++) {
        struct made m = {0};
        begin(&m);
        made_node(&m, "Attention", "e e e", "a");
        made_integer(&m, "q_num_heads", 2);
        made_integer(&m, "kv_num_heads", 2);
        made_real(&m, "scale", scales[i]);
        end_in_dense(&m, "a", 2L * WIDTH);
        check_read(&m, "y", 23, words[i]);
    }
}

/* Of two heads that the file has before the positions, and that lie side by side in the inputs: nothing is made first.
 */
static void an_attention_may_be_the_first_node(void)
{
    const int64_t shape[] = {-1, 3, 2, WIDTH}, turn[] = {0, 2, 1, 3};
    struct made m = {0};
    made_value(&m, 11, "q", 1, shape, 4);
    made_value(&m, 11, "k", 1, shape, 4);
    made_node(&m, "Transpose", "q", "queries");
    made_integers(&m, "perm", turn, 4);
    made_node(&m, "Transpose", "k", "keys");
    made_integers(&m, "perm", turn, 4);
    made_node(&m, "Attention", "queries keys keys", "a");
    end_in_dense(&m, "a", 3L * 2 * WIDTH);
    check_read(&m, "y", 23, "");
}

/* Pixels are normalised before it, as before any other node. */
static void an_attention_of_pixels_is_one_of_what_they_stand_for(void)
{
    struct made m = {0};
    made_input(&m, -1, 2, 3, WIDTH);
    made_node(&m, "Attention", "x x x", "a");
    end_in_dense(&m, "a", 2L * 3 * WIDTH);
    struct ys_onnx_import *import = made_read(&m, "y", 23);
    if (import)
        CHECK_INT(import->graph->nodes[0].op, YS_OP_NORMALIZE);
    ys_onnx_import_free(import);
}

/* An embedding has one axis more than its tokens. */
static void tokens_of_all_axes_are_refused(void)
{
    const int64_t shape[YS_MAX_RANK] = {-1, 2, 1, 1, 1, 1, 1, 1};
    struct made m = {0};
    made_value(&m, 11, "x", 7, shape, YS_MAX_RANK);
    made_weight(&m, "table", 5, WIDTH, 0, 0);
    made_node(&m, "Gather", "table x", "e");
    end_in_dense(&m, "e", 2L * WIDTH);
    check_read(&m, "y", 17, "node e (Gather)|graphs have an Embedding");
}

/* Two windows of each row, which are 2 N in the file: their positions see those of their own window. */
static void windows_of_a_row_attend_apart(void)
{
    const int64_t three[] = {3}, two[] = {2}, four[] = {4}, window[] = {-1, 2, WIDTH}, row[] = {-1, 4L * WIDTH};
    const int64_t apart[] = {-1, 2, 2, WIDTH}, turn[] = {1, 0, 2, 3};
    for (int moved = 0; moved < 2; moved++) { /* the second time the rows of the batch side by side, then the windows */
        double windows[2][MOST][WIDTH], out[4][WIDTH];
        struct made m = {0};
        begin(&m);
        made_tensor(&m, "window", 7, three, 1, window, sizeof window);
        made_tensor(&m, "row", 7, two, 1, row, sizeof row);
        made_tensor(&m, "apart", 7, four, 1, apart, sizeof apart);
        made_node(&m, "Add", "e e", "d");
        made_node(&m, "Concat", "e d", "j");
        made_integer(&m, "axis", 1);
        if (moved) {
            made_node(&m, "Reshape", "j apart", "k");
            made_node(&m, "Transpose", "k", "t");
            made_integers(&m, "perm", turn, 4);
        }
        made_node(&m, "Reshape", moved ? "t window" : "j window", "r");
        made_attention(&m, "r", "r");
        made_node(&m, "Reshape", "a row", "b");
        end_in_dense(&m, "b", 4L * WIDTH);
        if (moved) {
            check_read(&m, "y", 17, "node scores (MatMul): is a product of two values that is no attention");
            continue;
        }
        embed(windows[0]);
        for (int i = 0; i < 2 * WIDTH; i++)
            windows[1][i / WIDTH][i % WIDTH] = 2 * windows[0][i / WIDTH][i % WIDTH];
        for (int w = 0; w < 2; w++)
            attend(windows[w], 2, windows[w], 2, out + 2 * w);
        check_dense(made_read(&m, "y", 17), out[0], 4 * WIDTH);
    }
}

TAP_MAIN(TAP_CASE(padding_is_put_before_the_products), TAP_CASE(the_last_extent_of_scores_is_that_of_the_keys),
         TAP_CASE(a_product_of_two_values_is_one_of_matrices), TAP_CASE(scores_times_0_or_less_are_refused),
         TAP_CASE(the_scale_of_the_operator_is_above_0_or_left_out), TAP_CASE(an_attention_may_be_the_first_node),
         TAP_CASE(an_attention_of_pixels_is_one_of_what_they_stand_for), TAP_CASE(tokens_of_all_axes_are_refused),
         TAP_CASE(windows_of_a_row_attend_apart))
