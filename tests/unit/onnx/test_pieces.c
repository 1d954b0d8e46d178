/* Values in pieces, as Split, SplitToSequence and Slice say them, and norms of each channel by itself. */
#include "unit/onnx/eval_onnx.h"

#include <math.h>

#define CHANNELS 6
#define PIXELS   5 /* 1 x 5: no NHWC of 5 channels */
#define SIZE     (CHANNELS * PIXELS)
#define CLASSES  3 /* of end_in_dense() */

static void whole(struct made *m, const char *name, const int64_t *numbers, size_t count)
{
    const int64_t shape[] = {(int64_t)count};
    made_tensor(m, name, 7, shape, count > 1, numbers, count * sizeof *numbers);
}

static void list(struct made *m, const char *name, int64_t number)
{
    const int64_t shape[] = {1};
    made_tensor(m, name, 7, shape, 1, &number, sizeof number);
}

static void positions(struct made *m)
{
    static const char *const names[] = {"0", "1", "2", "3", "4"};
    for (int64_t i = 0; i < 5; i++)
        whole(m, names[i], &i, 1);
}

/* What the network behind `order` makes of the channels in that order: the dense layer's weight is 0.1 (3 i + c + 1).
 */
static void check_order(struct ys_onnx_import *import, const int order[CHANNELS], double factor)
{
    unsigned char x[SIZE];
    double logits[CLASSES];
    for (int i = 0; i < SIZE; i++)
        x[i] = (unsigned char)(i * 37 % 251);
    if (import && made_evaluate(import, x, 1, logits))
        for (int c = 0; c < CLASSES; c++) {
            double expected = 0;
            for (int i = 0; i < SIZE; i++)
                expected += (order[i / PIXELS] < 2 ? factor : 1) * x[order[i / PIXELS] * PIXELS + i % PIXELS] / 255 *
                            (double)(0.1F * (float)(3 * i + c + 1));
            CHECK_NEAR(logits[c], expected, 1e-12 * expected); /* 30 products of about 5, in double */
        }
    ys_onnx_import_free(import);
}

static void parts_of_a_sequence_are_a_split(void)
{
    static const struct {
        int64_t parts[3];
        size_t count;
        int order[CHANNELS];
    } cases[] = {{{1, 2, 3}, 3, {3, 4, 5, 0, 1, 2}}, {{2, 2, 2}, 3, {4, 5, 0, 1, 2, 3}}, {{2}, 1, {4, 5, 0, 1, 2, 3}}};
    for (size_t i = 0; i < 3; i++) {
        struct made m = {0};
        made_input(&m, -1, CHANNELS, 1, 5);
        positions(&m);
        whole(&m, "parts", cases[i].parts, cases[i].count);
        made_node(&m, "Relu", "x", "r");
        made_node(&m, "SplitToSequence", "r parts", "s");
        made_integer(&m, "axis", -3);
        made_node(&m, "SequenceAt", "s 0", "a"); /* the others come behind a node that reads this one */
        made_node(&m, "Relu", "a", "up");
        made_node(&m, "SequenceAt", "s 1", "b");
        made_node(&m, "SplitToSequence", "r parts", "t"); /* the same once more, as PyTorch writes it */
        made_integer(&m, "axis", 1);
        made_node(&m, "SequenceAt", "t 2", "c");
        made_node(&m, "Concat", "c up b", "j");
        made_integer(&m, "axis", 1);
        end_in_dense(&m, "j", SIZE);
        check_order(made_read(&m, "y", 17), cases[i].order, 1);
    }
}

static void one_split_may_make_more_values_than_a_node_of_a_graph(void)
{
    const int64_t parts[] = {1, 1, 1, 1, 2};
    const int order[CHANNELS] = {4, 5, 3, 2, 1, 0};
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 1, 5);
    whole(&m, "parts", parts, 5);
    made_node(&m, "Split", "x parts", "a b c d e");
    made_integer(&m, "axis", 1);
    made_node(&m, "Concat", "e d c b a", "j");
    made_integer(&m, "axis", 1);
    end_in_dense(&m, "j", SIZE);
    check_order(made_read(&m, "y", 17), order, 1);
}

/* It is nobody's: what stands for other names stays as it was. */
static void a_part_of_a_split_may_be_left_out(void)
{
    const int64_t parts[] = {2, 4};
    const int order[CHANNELS] = {2, 3, 4, 5, 0, 1};
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 1, 5);
    whole(&m, "parts", parts, 2);
    made_node(&m, "Split", "x parts", "a -");
    made_integer(&m, "axis", 1);
    made_node(&m, "Split", "x parts", "c b");
    made_integer(&m, "axis", 1);
    made_node(&m, "Concat", "b a", "j");
    made_integer(&m, "axis", 1);
    end_in_dense(&m, "j", SIZE);
    check_order(made_read(&m, "y", 17), order, 1);
}

/* A Slice behind who reads another piece, its bounds computed behind it too. */
static void made_late(struct made *m, size_t between)
{
    made_input(m, -1, CHANNELS, 1, 5);
    positions(m);
    list(m, "[0]", 0);
    list(m, "[1]", 1);
    list(m, "[2]", 2);
    list(m, "far", INT64_MAX);
    const float factors[] = {2, 2};
    made_tensor(m, "twice", 1, (const int64_t[]){2, 1, 1}, 3, factors, sizeof factors);
    made_node(m, "Relu", "x", "r");
    made_node(m, "Slice", "r [0] far [0]", "all");
    made_node(m, "Slice", "all [0] [2] [1]", "a");
    made_node(m, "Mul", "a twice", "c");
    for (size_t i = 0; i < between; i++) {
        char in[16], out[16];
        snprintf(in, sizeof in, i ? "c%zu" : "c", i);
        snprintf(out, sizeof out, "c%zu", i + 1);
        made_node(m, "Relu", in, out);
    }
    char last[16];
    snprintf(last, sizeof last, between ? "c%zu" : "c", between);
    made_node(m, "Reshape", "2 [1]", "start");
    made_node(m, "Slice", "r start far [1]", "b");
    char both[32];
    snprintf(both, sizeof both, "%s b", last);
    made_node(m, "Concat", both, "j");
    made_integer(m, "axis", 1);
    end_in_dense(m, "j", SIZE);
}

static void pieces_may_come_behind_who_reads_another(void)
{
    const int order[CHANNELS] = {0, 1, 2, 3, 4, 5};
    struct made m = {0};
    made_late(&m, 0);
    check_order(made_read(&m, "y", 17), order, 2);
    made_late(&m, 20);
    check_order(made_read(&m, "y", 17), order, 2);
}

static void refused(struct made *m, const char *words)
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, "y", 17, &file);
    if (!CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_EUNSUPPORTED))
        ys_onnx_import_free(import);
    else if (!CHECK(strstr(ys_error(), words) != NULL))
        printf("# \"%s\" is not in: %s\n", words, ys_error());
    ys_buf_free(&file);
    *m = (struct made){0};
}

/* Before the value is whole, and behind it: it is one of the pieces that are there. */
static void a_piece_may_be_taken_several_times(void)
{
    const int order[CHANNELS] = {2, 3, 4, 5, 0, 1};
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 1, 5);
    list(&m, "[0]", 0);
    list(&m, "[1]", 1);
    list(&m, "[2]", 2);
    list(&m, "far", INT64_MAX);
    made_node(&m, "Relu", "x", "r");
    made_node(&m, "Slice", "r [0] [2] [1]", "a");
    made_node(&m, "Slice", "r [0] [2] [1]", "again");
    made_node(&m, "Slice", "r [2] far [1]", "b");
    made_node(&m, "Slice", "r [0] [2] [1]", "late");
    made_node(&m, "Sum", "a again late", "up");
    made_node(&m, "Concat", "b up", "j");
    made_integer(&m, "axis", 1);
    end_in_dense(&m, "j", SIZE);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    size_t splits = 0;
    for (size_t i = 0; import && i < import->graph->node_count; i++)
        splits += import->graph->nodes[i].op == YS_OP_SPLIT;
    CHECK_INT(splits, 1);
    check_order(import, order, 3);
}

/* Channels `from` to `to` of the pixels as `a`. */
static void begin_slice(struct made *m, int64_t from, int64_t to)
{
    made_input(m, -1, CHANNELS, 1, 5);
    list(m, "from", from);
    list(m, "to", to);
    list(m, "one", 1);
    made_node(m, "Slice", "x from to one", "a");
}

static void pieces_that_are_not_there_are_refused(void)
{
    static const struct {
        int64_t parts[3];
        size_t count;
        const char *at, *words;
    } cases[] = {{{2, 2, 2}, 3, "3", "position 3 is none of the parts"},
                 {{2, 9, 2}, 3, "1", "position 1 is none of the parts"},
                 {{0, 4, 2}, 3, "0", "position 0 is none of the parts"},
                 {{-1}, 1, "0", "position 0 is none of the parts"},
                 {{4}, 1, "2", "position 2 is none of the parts"}};
    struct made m = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char in[16];
        made_input(&m, -1, CHANNELS, 1, 5);
        positions(&m);
        whole(&m, "parts", cases[i].parts, cases[i].count);
        made_node(&m, "SplitToSequence", "x parts", "s");
        made_integer(&m, "axis", 1);
        snprintf(in, sizeof in, "s %s", cases[i].at);
        made_node(&m, "SequenceAt", in, "a");
        end_in_dense(&m, "a", 2 * PIXELS);
        refused(&m, cases[i].words);
    }
    made_input(&m, -1, CHANNELS, 1, 5);
    positions(&m);
    made_node(&m, "SplitToSequence", "x 2", "s"); /* along the batch */
    made_node(&m, "SequenceAt", "s 0", "a");
    end_in_dense(&m, "a", 2 * PIXELS);
    refused(&m, "axis 0 of 4 dimensions");
    made_input(&m, -1, CHANNELS, 1, 5);
    positions(&m);
    made_node(&m, "SplitToSequence", "x 2", "s");
    made_integer(&m, "axis", 1);
    end_in_dense(&m, "s", SIZE);
    refused(&m, "node s (SplitToSequence): makes a sequence");
    begin_slice(&m, 3, 3);
    end_in_dense(&m, "a", PIXELS);
    refused(&m, "node a (Slice): takes nothing of axis 1, of 6: from 3 to 3");
}

/* Of which nothing else is read, in front, in the middle and at the end; and read again behind that. */
static void a_piece_may_be_all_that_is_read(void)
{
    static const int64_t ends[][2] = {{0, 2}, {1, 5}, {4, CHANNELS}};
    for (size_t i = 0; i < 3; i++) {
        const int from = (int)ends[i][0], count = (int)(ends[i][1] - ends[i][0]);
        unsigned char x[SIZE];
        double logits[CLASSES];
        struct made m = {0};
        for (int k = 0; k < SIZE; k++)
            x[k] = (unsigned char)(k * 37 % 251);
        begin_slice(&m, ends[i][0], ends[i][1]);
        made_node(&m, "Relu", "a", "b");
        made_node(&m, "Slice", "x from to one", "again");
        made_node(&m, "Add", "b again", "sum");
        end_in_dense(&m, "sum", (int64_t)count * PIXELS);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        if (import && made_evaluate(import, x, 1, logits))
            for (int c = 0; c < CLASSES; c++) {
                double expected = 0;
                for (int k = 0; k < count * PIXELS; k++)
                    expected += 2 * x[from * PIXELS + k] / 255.0 * (double)(0.1F * (float)(3 * k + c + 1));
                CHECK_NEAR(logits[c], expected, 1e-12 * expected); /* at most 20 products, in double */
            }
        ys_onnx_import_free(import);
    }
}

static const float scales[CHANNELS] = {0.5F, 1, 2, -1, 0.25F, 3}, biases[CHANNELS] = {0, 1, -1, 0.5F, 2, -2};

/* x with each run of `length` elements normalised, times its channel's scale, plus its bias. */
static void check_normed(struct ys_onnx_import *import, int length, const float *scale, const float *bias)
{
    unsigned char x[SIZE];
    double logits[CLASSES], normed[SIZE];
    for (int i = 0; i < SIZE; i++)
        x[i] = (unsigned char)(i * 37 % 251);
    for (int from = 0; from < SIZE; from += length) {
        double mean = 0, variance = 0;
        for (int i = from; i < from + length; i++)
            mean += x[i] / 255.0 / length;
        for (int i = from; i < from + length; i++)
            variance += (x[i] / 255.0 - mean) * (x[i] / 255.0 - mean) / length;
        for (int i = from; i < from + length; i++)
            normed[i] =
                (x[i] / 255.0 - mean) / sqrt(variance + 0.125) * (double)scale[i / PIXELS] + (double)bias[i / PIXELS];
    }
    if (import && made_evaluate(import, x, 1, logits))
        for (int c = 0; c < CLASSES; c++) {
            double expected = 0;
            for (int i = 0; i < SIZE; i++)
                expected += normed[i] * (double)(0.1F * (float)(3 * i + c + 1));
            CHECK_NEAR(logits[c], expected, 1e-11); /* 30 products of about 20, in double */
        }
    ys_onnx_import_free(import);
}

static void numbers_of_channels(struct made *m, const char *name, const float *values, int64_t count)
{
    made_tensor(m, name, 1, &count, 1, values, (size_t)count * sizeof *values);
}

static void each_channel_is_normalised_by_itself(void)
{
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 1, 5);
    numbers_of_channels(&m, "scale", scales, CHANNELS);
    numbers_of_channels(&m, "bias", biases, CHANNELS);
    made_node(&m, "InstanceNormalization", "x scale bias", "n");
    made_real(&m, "epsilon", 0.125F);
    end_in_dense(&m, "n", SIZE);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import)
        CHECK_INT(ys_graph_parameter_count(import->graph), 2 * CHANNELS + SIZE * CLASSES);
    check_normed(import, PIXELS, scales, biases);
}

/* Factors and shifts that no initializer holds are none: PyTorch has norms without. */
static void a_norm_without_factors_has_no_parameters(void)
{
    const float ones[CHANNELS] = {1, 1, 1, 1, 1, 1}, zeros[CHANNELS] = {0};
    const int64_t whole_ones[CHANNELS] = {1, 1, 1, 1, 1, 1}, count[] = {CHANNELS}, one[] = {1};
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 1, 5);
    made_tensor(&m, "whole", 7, count, 1, whole_ones, sizeof whole_ones);
    made_tensor(&m, "count", 7, one, 1, count, sizeof count);
    made_node(&m, "Cast", "whole", "scale");
    made_integer(&m, "to", 1);
    made_node(&m, "ConstantOfShape", "count", "bias");
    made_node(&m, "InstanceNormalization", "x scale bias", "n");
    made_real(&m, "epsilon", 0.125F);
    end_in_dense(&m, "n", SIZE);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import)
        CHECK_INT(ys_graph_parameter_count(import->graph), SIZE * CLASSES);
    check_normed(import, PIXELS, ones, zeros);
}

/* As PyTorch writes a group normalisation: of two groups, which have no numbers of their own. */
static void groups_of_channels_are_normalised_together(void)
{
    const float ones[CHANNELS] = {1, 1, 1, 1, 1, 1}, zeros[CHANNELS] = {0};
    const int64_t groups[] = {0, 2, -1}, back[] = {0, CHANNELS, 1, 5}, three[] = {3}, four[] = {4};
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 1, 5);
    numbers_of_channels(&m, "ones", ones, 2);
    numbers_of_channels(&m, "zeros", zeros, 2);
    made_tensor(&m, "groups", 7, three, 1, groups, sizeof groups);
    made_tensor(&m, "back", 7, four, 1, back, sizeof back);
    made_node(&m, "Reshape", "x groups", "g");
    made_node(&m, "InstanceNormalization", "g ones zeros", "n");
    made_real(&m, "epsilon", 0.125F);
    made_node(&m, "Reshape", "n back", "r");
    end_in_dense(&m, "r", SIZE);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import)
        CHECK_INT(ys_graph_parameter_count(import->graph), SIZE * CLASSES);
    check_normed(import, SIZE / 2, ones, zeros);
}

static void a_norm_that_does_not_fit_is_refused(void)
{
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 1, 5);
    numbers_of_channels(&m, "scale", scales, CHANNELS - 1);
    numbers_of_channels(&m, "bias", biases, CHANNELS);
    made_node(&m, "InstanceNormalization", "x scale bias", "n");
    end_in_dense(&m, "n", SIZE);
    refused(&m, "its scale has 5 elements and its bias 6, not one for each of 6 channels");
    made_input(&m, -1, CHANNELS, 1, 5);
    numbers_of_channels(&m, "scale", scales, CHANNELS);
    made_node(&m, "InstanceNormalization", "x scale scale", "n");
    made_real(&m, "epsilon", 0);
    end_in_dense(&m, "n", SIZE);
    refused(&m, "epsilon 0");
}

TAP_MAIN(TAP_CASE(parts_of_a_sequence_are_a_split), TAP_CASE(one_split_may_make_more_values_than_a_node_of_a_graph),
         TAP_CASE(a_part_of_a_split_may_be_left_out), TAP_CASE(pieces_may_come_behind_who_reads_another),
         TAP_CASE(a_piece_may_be_taken_several_times), TAP_CASE(pieces_that_are_not_there_are_refused),
         TAP_CASE(a_piece_may_be_all_that_is_read), TAP_CASE(each_channel_is_normalised_by_itself),
         TAP_CASE(a_norm_without_factors_has_no_parameters), TAP_CASE(groups_of_channels_are_normalised_together),
         TAP_CASE(a_norm_that_does_not_fit_is_refused))
