/* Tokens, attention and recurrent layers: what is read, with the oracle's numbers beside those of the formulas, and
 * what is refused by name. */
#include "graph/op.h"
#include "unit/onnx/eval_onnx.h"

#include <math.h>

/* An input `x` of tokens, INT64, and an embedding `e` of (5, width). */
static void begin(struct made *m, int64_t positions, int64_t width)
{
    const int64_t shape[] = {-1, positions};
    made_value(m, 11, "x", 7, shape, 2);
    made_weight(m, "table", 5, width, 0, 0);
    made_node(m, "Gather", "table x", "e");
}

static void refused(struct made *m, const char *output, const char *word)
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, output, 17, &file);
    CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_EUNSUPPORTED);
    if (!CHECK(strstr(ys_error(), word) != NULL))
        printf("# \"%s\" is not in: %s\n", word, ys_error());
    ys_onnx_import_free(import);
    ys_buf_free(&file);
    *m = (struct made){0};
}

static const struct ys_node *node_of(const struct ys_graph *graph, enum ys_op op)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].op == op)
            return &graph->nodes[i];
    return NULL;
}

/* (positions, N, 4) through an LSTM or GRU of 2, its last state. */
static void made_layer(struct made *m, const char *op, const char *more)
{
    const int64_t gates = op[0] == 'L' ? 4 : 3, turn[] = {1, 0, 2};
    char in[64];
    begin(m, 3, 4);
    made_node(m, "Transpose", "e", "t");
    made_integers(m, "perm", turn, 3);
    made_weight(m, "W", 1, gates * 2, 4, 0);
    made_weight(m, "R", 1, gates * 2, 2, 0);
    made_weight(m, "B", 1, gates * 4, 0, 0);
    made_weight(m, "h", 1, 1, 2, 0);
    snprintf(in, sizeof in, "t W R B%s", more);
    made_node(m, op, in, "- last");
}

static void a_recurrent_layer_has_its_gates_in_order_and_one_bias(void)
{
    static const int first[4] = {0, 2, 3, 1}, gru[3] = {1, 0, 2}; /* i f g o of i o f c; r z n of z r h */
    struct made m = {0};
    for (int lstm = 0; lstm < 2; lstm++) {
        made_layer(&m, lstm ? "LSTM" : "GRU", "");
        if (!lstm)
            made_integer(&m, "linear_before_reset", 1);
        const int64_t none[] = {0};
        made_tensor(&m, "axis", 7, (const int64_t[]){1}, 1, none, sizeof none);
        made_node(&m, "Squeeze", "last axis", "s");
        made_node(&m, "Gemm", "s w", "y");
        made_weight(&m, "w", 2, 3, 0, 0);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        const struct ys_node *layer = import ? node_of(import->graph, lstm ? YS_OP_LSTM : YS_OP_GRU) : NULL;
        if (CHECK(layer != NULL)) {
            const float *weight = import->values[layer->weight], *bias = import->values[layer->bias];
            for (int gate = 0; gate < 3 + lstm; gate++) {
                const int from = lstm ? first[gate] : gru[gate], count = (3 + lstm) * 2;
                CHECK_NEAR(weight[gate * 8], 0.1 * (from * 8 + 1), 1e-6);
                const bool apart = !lstm && gate == 2; /* whose second bias is its own */
                CHECK_NEAR(bias[gate * 2], 0.1 * (from * 2 + 1) + (apart ? 0 : 0.1 * (count + from * 2 + 1)), 1e-6);
                if (apart)
                    CHECK_NEAR(import->values[layer->recurrent_bias][0], 0.1 * (count + from * 2 + 1), 1e-6);
            }
        }
        ys_onnx_import_free(import);
    }
}

/* A layer of 4 upon itself: with its biases, without, and the second time with another R. */
static void one_layer_used_twice_has_each_parameter_once(void)
{
    static const char *const second[] = {"t2 W R B", "t2 W R", "t2 W other B"};
    for (int lstm = 0; lstm < 2; lstm++)
        for (int how = 0; how < 3; how++) {
            const int64_t gates = 3 + lstm, turn[] = {1, 0, 2}, none[] = {1};
            const char *op = lstm ? "LSTM" : "GRU";
            struct made m = {0};
            begin(&m, 3, 4);
            made_node(&m, "Transpose", "e", "t");
            made_integers(&m, "perm", turn, 3);
            made_weight(&m, "W", 1, gates * 4, 4, 0);
            made_weight(&m, "R", 1, gates * 4, 4, 0);
            made_weight(&m, "other", 1, gates * 4, 4, 0);
            made_weight(&m, "B", 1, gates * 8, 0, 0);
            made_node(&m, op, how == 1 ? "t W R" : "t W R B", "all -");
            if (!lstm)
                made_integer(&m, "linear_before_reset", 1);
            made_tensor(&m, "axis", 7, (const int64_t[]){1}, 1, none, sizeof none);
            made_node(&m, "Squeeze", "all axis", "t2");
            made_node(&m, op, second[how], "- last");
            if (!lstm)
                made_integer(&m, "linear_before_reset", 1);
            const int64_t front[] = {0};
            made_tensor(&m, "front", 7, (const int64_t[]){1}, 1, front, sizeof front);
            made_node(&m, "Squeeze", "last front", "s");
            made_node(&m, "Gemm", "s w", "y");
            made_weight(&m, "w", 4, 3, 0, 0);
            struct ys_onnx_import *import = made_read(&m, "y", 17);
            const struct ys_node *layers[2] = {NULL, NULL};
            int found = 0;
            for (size_t i = 0; import && i < import->graph->node_count; i++)
                if (import->graph->nodes[i].op == (lstm ? YS_OP_LSTM : YS_OP_GRU) && found < 2)
                    layers[found++] = &import->graph->nodes[i];
            if (CHECK(found == 2)) {
                CHECK_INT(layers[1]->weight, layers[0]->weight);
                CHECK((layers[1]->recurrent == layers[0]->recurrent) == (how < 2));
                CHECK((layers[1]->bias == layers[0]->bias) == (how < 2));
                if (!lstm)
                    CHECK((layers[1]->recurrent_bias == layers[0]->recurrent_bias) == (how < 2));
            }
            ys_onnx_import_free(import);
        }
}

static void what_recurrent_layers_have_not_is_refused_by_name(void)
{
    struct made m = {0};
    made_layer(&m, "LSTM", " - h");
    end_in_dense(&m, "last", 2);
    refused(&m, "y", "(LSTM): has initial_h: graphs begin each row with zeros");
    made_layer(&m, "LSTM", " h");
    end_in_dense(&m, "last", 2);
    refused(&m, "y", "has sequence_lens that are neither 3, all positions of each row, nor how many of its 3 tokens");
    made_layer(&m, "LSTM", " - - - h");
    end_in_dense(&m, "last", 2);
    refused(&m, "y", "has peepholes");
    made_layer(&m, "LSTM", "");
    made_real(&m, "clip", 1);
    end_in_dense(&m, "last", 2);
    refused(&m, "y", "clip 1");
    made_layer(&m, "GRU", "");
    end_in_dense(&m, "last", 2);
    refused(&m, "y", "linear_before_reset is 0");
    made_layer(&m, "LSTM", "");
    made_integer(&m, "hidden_size", (INT64_C(1) << 62) + 2); /* four times it is 8, in 64 bits */
    end_in_dense(&m, "last", 2);
    refused(&m, "y", "its weights do not fit 4 gates of 4611686018427387906 numbers");
}

/* How many tokens of `x` count, `lens`, by truths of which a Cast or an Equal is the first. */
static void made_lengths(struct made *m, bool by_equal)
{
    made_tensor(m, "along", 7, (const int64_t[]){1}, 1, (const int64_t[]){1}, sizeof(int64_t));
    made_tensor(m, "padding", 7, NULL, 0, (const int64_t[]){0}, sizeof(int64_t));
    made_node(m, by_equal ? "Equal" : "Cast", by_equal ? "x padding" : "x", by_equal ? "blanks" : "counts");
    if (by_equal)
        made_node(m, "Not", "blanks", "counts");
    else
        made_integer(m, "to", 9);
    made_node(m, "Cast", "counts", "ones");
    made_integer(m, "to", 7);
    made_node(m, "ReduceSum", "ones along", "sums");
    made_integer(m, "keepdims", 0);
    made_node(m, "Cast", "sums", "lens");
    made_integer(m, "to", 6);
}

/* Two layers of 2 behind an embedding of 4, the second with `second` as its sequence_lens, and a dense layer. */
static void made_ended(struct made *m, bool lstm, int64_t positions, const char *first, const char *second)
{
    const int64_t gates = 3 + lstm, turn[] = {1, 0, 2}, zero[] = {0};
    const char *op = lstm ? "LSTM" : "GRU";
    char in[64];
    begin(m, positions, 4);
    made_lengths(m, lstm);
    made_node(m, "Transpose", "e", "t");
    made_integers(m, "perm", turn, 3);
    made_weight(m, "W", 1, gates * 2, 4, 0);
    made_weight(m, "R", 1, gates * 2, 2, 0);
    made_weight(m, "B", 1, gates * 4, 0, 0);
    snprintf(in, sizeof in, "t W R B %s", first);
    made_node(m, op, in, "all -");
    if (!lstm)
        made_integer(m, "linear_before_reset", 1);
    made_node(m, "Squeeze", "all along", "t2");
    made_weight(m, "W2", 1, gates * 2, 2, 0);
    snprintf(in, sizeof in, "t2 W2 R B %s", second);
    made_node(m, op, in, "- last");
    if (!lstm)
        made_integer(m, "linear_before_reset", 1);
    made_tensor(m, "front", 7, (const int64_t[]){1}, 1, zero, sizeof zero);
    made_node(m, "Squeeze", "last front", "s");
    made_node(m, "Gemm", "s w", "y");
    made_weight(m, "w", 2, 3, 0, 0);
}

/* Each row as a network of as many positions as it has tokens says it. */
static void how_many_tokens_count_ends_the_rows_of_layers(void)
{
    static const int32_t rows[3][3] = {{1, 2, 0}, {3, 0, 0}, {4, 1, 2}};
    static const int64_t lengths[3] = {2, 1, 3};
    struct made m = {0};
    for (int lstm = 0; lstm < 2; lstm++) {
        double ended[9] = {0}, alone[3];
        made_ended(&m, lstm, 3, "lens", "lens");
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        const struct ys_node *last = import ? node_of(import->graph, YS_OP_LAST) : NULL;
        if (CHECK(last != NULL && last->in[1] == import->graph->inputs[0]))
            made_evaluate(import, (const unsigned char *)rows, 3, ended);
        ys_onnx_import_free(import);
        for (int n = 0; n < 3; n++) {
            made_ended(&m, lstm, lengths[n], "-", "-");
            import = made_read(&m, "y", 17);
            if (import && CHECK(made_evaluate(import, (const unsigned char *)rows[n], 1, alone)))
                for (int i = 0; i < 3; i++)
                    CHECK_NEAR(ended[3 * n + i], alone[i], 1e-12);
            ys_onnx_import_free(import);
        }
    }
    made_ended(&m, true, 3, "three", "three"); /* all positions, as a constant says it */
    made_tensor(&m, "three", 6, (const int64_t[]){2}, 1, (const int32_t[]){3, 3}, 2 * sizeof(int32_t));
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    CHECK(import && !ys_graph_has(import->graph, YS_OP_LAST));
    ys_onnx_import_free(import);
}

static void other_lengths_are_refused_by_name(void)
{
    const int64_t turn[] = {1, 0, 2};
    struct made m = {0};
    made_ended(&m, true, 3, "-", "other");
    made_tensor(&m, "other", 6, (const int64_t[]){2}, 1, (const int32_t[]){3, 2}, 2 * sizeof(int32_t));
    refused(&m, "y", "has sequence_lens that are neither 3");
    made_ended(&m, true, 3, "lens", "-");
    refused(&m, "y", "(LSTM): reads t2, whose rows end, with other sequence_lens than the layer before it");
    made_ended(&m, true, 3, "lens", "lens");
    made_node(&m, "Transpose", "t2", "back");
    made_integers(&m, "perm", turn, 3);
    made_node(&m, "Flatten", "back", "z");
    refused(&m, "z", "(Flatten): reads back, states that sequence_lens make zeros behind the last token of a row");
    made_ended(&m, true, 3, "lens", "lens");
    made_node(&m, "Transpose", "t2", "back");
    made_integers(&m, "perm", turn, 3);
    refused(&m, "back", "its output back has zeros behind the last token of a row");
    made_ended(&m, true, 3, "lens", "lens");
    made_node(&m, "Flatten", "lens", "z");
    refused(&m, "z", "(Equal): makes truths of tokens");
    begin(&m, 3, 4);
    made_tensor(&m, "one", 7, NULL, 0, (const int64_t[]){1}, sizeof(int64_t));
    made_node(&m, "Equal", "x one", "ones");
    refused(&m, "ones", "(Equal): compares tokens with another than 0: that is the padding");
    begin(&m, 3, 4);
    made_node(&m, "Not", "e", "z");
    refused(&m, "z", "(Not): is read of tokens that are the padding or are not alone");
}

/* The truths that Equal and Not make hide keys: where they hold scores stay, or are as low as can be. */
static void an_equal_hides_padding_from_an_attention(void)
{
    static const char *const wheres[] = {"counts3 dots low", "blanks3 low dots"};
    const int64_t turn[] = {0, 2, 1};
    const float low = -INFINITY;
    struct made m = {0};
    for (int how = 0; how < 2; how++) {
        begin(&m, 2, 4);
        made_lengths(&m, true);
        made_node(&m, "Unsqueeze", how ? "blanks along" : "counts along", how ? "blanks3" : "counts3");
        made_node(&m, "Transpose", "e", "k");
        made_integers(&m, "perm", turn, 3);
        made_node(&m, "MatMul", "e k", "dots");
        made_tensor(&m, "low", 1, NULL, 0, &low, sizeof low);
        made_node(&m, "Where", wheres[how], "masked");
        made_node(&m, "Softmax", "masked", "shares");
        made_node(&m, "MatMul", "shares e", "a");
        end_in_dense(&m, "a", 8);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        const struct ys_node *node = import ? node_of(import->graph, YS_OP_ATTENTION) : NULL;
        CHECK(node != NULL && node->in_count == 4 && node->in[3] == import->graph->inputs[0]);
        ys_onnx_import_free(import);
    }
}

/* Softmax of e e^T times `factor`, plus a mask, times e: (N, 2, 4) of one head. */
static void made_attention(struct made *m, const char *masked, const float mask[4])
{
    const int64_t turn[] = {0, 2, 1}, square[] = {2, 2};
    const float factor = 0.25F;
    begin(m, 2, 4);
    made_node(m, "Transpose", "e", "k");
    made_integers(m, "perm", turn, 3);
    made_node(m, "MatMul", "e k", "dots");
    made_tensor(m, "factor", 1, NULL, 0, &factor, sizeof factor);
    made_node(m, "Mul", "dots factor", "scores");
    made_tensor(m, "mask", 1, square, 2, mask, 4 * sizeof *mask);
    if (strcmp(masked, "masked") == 0)
        made_node(m, "Add", "scores mask", "masked");
    made_node(m, "Softmax", masked, "shares");
    made_node(m, "MatMul", "shares e", "a");
}

static void a_softmax_between_two_products_is_an_attention(void)
{
    static const float open[4] = {0}, causal[4] = {0, -INFINITY, 0, 0}, odd[4] = {0, 0, -INFINITY, 0};
    const int64_t two[] = {2}, laid[] = {0, 4};
    struct made m = {0};
    for (int is_causal = 0; is_causal < 2; is_causal++) {
        made_attention(&m, is_causal ? "masked" : "scores", is_causal ? causal : open);
        end_in_dense(&m, "a", 8);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        const struct ys_node *node = import ? node_of(import->graph, YS_OP_ATTENTION) : NULL;
        if (CHECK(node != NULL)) {
            CHECK(node->attention.heads == 1 && node->attention.kv_heads == 1);
            CHECK_INT(node->attention.causal, is_causal);
            CHECK_NEAR(node->attention.scale, 0.25, 1e-12);
            CHECK(node->in[0] == node->in[1] && node->in[0] == node->in[2]);
            CHECK(!ys_graph_has(import->graph, YS_OP_TRANSPOSE)); /* looked behind, and left out */
        }
        ys_onnx_import_free(import);
    }
    made_attention(&m, "masked", odd);
    end_in_dense(&m, "a", 8);
    refused(&m, "y", "node masked (Add): has a mask that hides other than what lies behind each position");
    made_attention(&m, "masked", causal);
    made_node(&m, "Relu", "masked", "b");
    end_in_dense(&m, "b", 4);
    refused(&m, "y", "node scores (Mul): is part of a product of two values that is no attention");
    for (int i = 0; i < 3; i++) { /* nothing is hidden, and no product with values follows */
        static const char *const ops[] = {"Relu", "Reshape", "Relu"}, *const in[] = {"dots", "dots laid", "shares"};
        made_attention(&m, "scores", open);
        made_tensor(&m, "laid", 7, two, 1, laid, sizeof laid);
        made_node(&m, ops[i], in[i], "b");
        end_in_dense(&m, "b", 4);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        CHECK(import && ys_graph_has(import->graph, YS_OP_MATMUL) && !ys_graph_has(import->graph, YS_OP_ATTENTION));
        CHECK(import && ys_graph_has(import->graph, YS_OP_SOFTMAX) == (i == 2));
        ys_onnx_import_free(import);
    }
}

static void the_embedding_and_its_transposed_copy_are_one_and_tokens_tell_classes_of_positions(void)
{
    struct made m = {0};
    const int64_t turned[] = {4, 5};
    float copy[20];
    begin(&m, 3, 4);
    for (int i = 0; i < 20; i++)
        copy[i % 4 * 5 + i / 4] = 0.1F * (float)(i + 1);
    made_node(&m, "Relu", "e", "r");
    made_tensor(&m, "head", 1, turned, 2, copy, sizeof copy);
    made_node(&m, "MatMul", "r head", "y");
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import) {
        const struct ys_graph *graph = import->graph;
        CHECK_INT(graph->param_count, 1);
        CHECK_TEXT(graph->params[0].name, "table");
        CHECK_INT(graph->target, YS_TARGET_CLASSES);
        CHECK_INT(graph->values[graph->output].rank, 3);
        CHECK_INT(graph->values[graph->inputs[0]].dtype, YS_I32);
    }
    ys_onnx_import_free(import);
}

/* Of an embedding of three positions of 4 the last whose token is no padding, as numbers of that type; `axis` of
 * ArgMax, and whether it takes the last of equal ones. */
static void made_last(struct made *m, int64_t type, int64_t axis, int64_t from_behind)
{
    begin(m, 3, 4);
    made_node(m, "Cast", "x", "counts");
    made_integer(m, "to", 9);
    made_node(m, "Cast", "counts", "ones");
    made_integer(m, "to", type);
    made_node(m, "ArgMax", "ones", "at");
    made_integer(m, "axis", axis);
    made_integer(m, "select_last_index", from_behind);
}

static void the_last_token_is_found_by_an_argmax_from_behind(void)
{
    static const int64_t types[] = {1, 6, 7}, axes[] = {1, -1, 1};
    struct made m = {0};
    for (int i = 0; i < 3; i++) {
        made_last(&m, types[i], axes[i], 1);
        made_node(&m, "GatherND", "e at", "l");
        made_integer(&m, "batch_dims", 1);
        end_in_dense(&m, "l", 4);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        const struct ys_node *node = import ? node_of(import->graph, YS_OP_LAST) : NULL;
        if (CHECK(node != NULL)) {
            CHECK_INT(node->in[1], import->graph->inputs[0]);
            CHECK_INT(import->graph->values[node->in[0]].rank, 3);
        }
        ys_onnx_import_free(import);
    }
    made_last(&m, 1, 1, 0);
    made_node(&m, "GatherND", "e at", "l");
    made_integer(&m, "batch_dims", 1);
    end_in_dense(&m, "l", 4);
    refused(&m, "y", "node at (ArgMax): is read as the last position of a row whose token is no padding alone");
    made_last(&m, 1, 1, 1);
    made_node(&m, "GatherND", "e at", "l");
    end_in_dense(&m, "l", 4);
    refused(&m, "y", "node l (GatherND): takes places that are computed from data");
    made_last(&m, 1, 1, 1);
    made_node(&m, "Relu", "ones", "r");
    end_in_dense(&m, "r", 3);
    refused(&m, "y", "node counts (Cast): makes truths of tokens");
}

static void made_table(struct made *m, const char *name, double base, bool sines, float more)
{
    const int64_t shape[] = {3, 4};
    float values[12];
    for (int i = 0; i < 12; i++) {
        const double angle = i / 4 * pow(base, -2.0 * (i % 2) / 4);
        values[i] = (float)(sines ? sin(angle) : cos(angle)) + more;
    }
    made_tensor(m, name, 1, shape, 2, values, sizeof values);
}

static void made_list(struct made *m, const char *name, const int64_t *values, int64_t count)
{
    made_tensor(m, name, 7, &count, 1, values, (size_t)count * sizeof *values);
}

/* Two heads of four numbers, turned as Llama's code in PyTorch does it: the halves exchanged, the first of them less
 * than nothing. */
static struct ys_onnx_import *read_turned(double base, float more, bool is_computed)
{
    const int64_t heads[] = {0, 3, 2, 4}, whole[] = {0, 3, 8}, turn[] = {0, 2, 1, 3};
    struct made m = {0};
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    begin(&m, 3, 8);
    made_list(&m, "heads", heads, 4);
    made_list(&m, "whole", whole, 3);
    made_list(&m, "nothing", (const int64_t[]){0}, 1);
    if (is_computed) { /* bounds of another shape, as PyTorch's newer exporter writes them */
        made_tensor(&m, "two", 7, NULL, 0, (const int64_t[]){2}, sizeof(int64_t));
        made_list(&m, "open", (const int64_t[]){-1}, 1);
        made_node(&m, "Cast", "two", "wide");
        made_integer(&m, "to", 7);
        made_node(&m, "Reshape", "wide open", "half");
    } else {
        made_list(&m, "half", (const int64_t[]){2}, 1);
    }
    made_list(&m, "end", (const int64_t[]){INT64_MAX}, 1);
    made_list(&m, "last", (const int64_t[]){3}, 1);
    made_table(&m, "cosines", base, false, 0);
    made_table(&m, "sines", base, true, more);
    made_node(&m, "Reshape", "e heads", "cut");
    made_node(&m, "Transpose", "cut", "h");
    made_integers(&m, "perm", turn, 4);
    made_node(&m, "Slice", "h nothing half last", "left");
    made_node(&m, "Slice", "h half end last", "right");
    made_node(&m, "Neg", "right", "less");
    made_node(&m, "Concat", "less left", "others");
    made_integer(&m, "axis", -1);
    made_node(&m, "Mul", "h cosines", "own");
    made_node(&m, "Mul", "others sines", "other");
    made_node(&m, "Add", "own other", "turned");
    made_node(&m, "Transpose", "turned", "back");
    made_integers(&m, "perm", turn, 4);
    made_node(&m, "Reshape", "back whole", "a");
    end_in_dense(&m, "a", 24);
    made_file(&m, "y", 17, &file);
    const ys_status status = ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import);
    if (more == 0 && !CHECK(status == YS_OK))
        printf("# %s\n", ys_error());
    ys_buf_free(&file);
    return import;
}

static void halves_exchanged_and_turned_are_a_rotary_embedding(void)
{
    static const double bases[] = {10000, 500};
    for (int i = 0; i < 2; i++) {
        struct ys_onnx_import *import = read_turned(bases[i], 0, i > 0);
        const struct ys_node *node = import ? node_of(import->graph, YS_OP_ROTARY) : NULL;
        if (CHECK(node != NULL)) {
            CHECK(node->rotary.heads == 2 && !node->rotary.interleaved && node->rotary.base == bases[i]);
            CHECK(!ys_graph_has(import->graph, YS_OP_MUL) && !ys_graph_has(import->graph, YS_OP_CONCAT));
            CHECK_INT(import->graph->values[node->in[0]].rank, 3);
        }
        ys_onnx_import_free(import);
    }
    struct ys_onnx_import *odd = read_turned(500, 1e-3F, false); /* whose sines are none */
    CHECK(!odd || !ys_graph_has(odd->graph, YS_OP_ROTARY));
    ys_onnx_import_free(odd);
}

TAP_MAIN(TAP_CASE(the_last_token_is_found_by_an_argmax_from_behind),
         TAP_CASE(halves_exchanged_and_turned_are_a_rotary_embedding),
         TAP_CASE(a_recurrent_layer_has_its_gates_in_order_and_one_bias),
         TAP_CASE(one_layer_used_twice_has_each_parameter_once),
         TAP_CASE(what_recurrent_layers_have_not_is_refused_by_name),
         TAP_CASE(how_many_tokens_count_ends_the_rows_of_layers), TAP_CASE(other_lengths_are_refused_by_name),
         TAP_CASE(an_equal_hides_padding_from_an_attention), TAP_CASE(a_softmax_between_two_products_is_an_attention),
         TAP_CASE(the_embedding_and_its_transposed_copy_are_one_and_tokens_tell_classes_of_positions))
