/* Networks of sequences, and the shape rules of their operators. */
#include "graph/builder.h"
#include "graph/model.h"
#include "tap.h"

#include <string.h>

static struct ys_graph *build_with(const char *name, int64_t positions, int64_t vocabulary, double width, double layers,
                                   double heads)
{
    const struct ys_model_input input = {
        .shape = {positions},
        .dtype = YS_I32,
        .classes = vocabulary,
        .vocabulary = vocabulary,
        .sizes = {[YS_MODEL_WIDTH] = width, [YS_MODEL_LAYERS] = layers, [YS_MODEL_HEADS] = heads}};
    struct ys_graph *graph = NULL;
    if (ys_model_build(ys_model_find(name), &input, &graph) != YS_OK)
        printf("# %s\n", ys_error());
    return graph;
}

/** Embedding and positions, and in each block four dense layers of 4 d^2, 8 d^2 weights, 9 d biases, and two norms; the
 * tied head counts nothing more. */
static void check_gpt(const char *name, int64_t positions, int64_t vocabulary, int64_t d, int64_t layers, int64_t heads)
{
    struct ys_graph *graph = build_with(name, positions, vocabulary, (double)d, (double)layers, (double)heads);
    REQUIRE(graph);
    CHECK_INT(ys_graph_parameter_count(graph), (vocabulary + positions) * d + layers * (12 * d * d + 13 * d) + 2 * d);
    CHECK_INT(ys_graph_multiply_adds(graph), positions * (layers * (12 * d * d + 2 * positions * d) + vocabulary * d));
    const struct ys_rows rows = ys_graph_rows(graph);
    CHECK(rows.input_count == 1 && rows.inputs[0].dtype == YS_I32 && rows.inputs[0].rank == 1);
    CHECK(rows.inputs[0].shape[0] == positions && rows.inputs[0].below == vocabulary);
    CHECK(rows.kind == YS_TARGET_CLASSES && rows.classes == vocabulary && rows.target.shape[0] == positions);
    CHECK_INT(graph->nodes[0].op, YS_OP_EMBEDDING);
    CHECK_INT(graph->nodes[0].weight, graph->nodes[graph->node_count - 1].weight);
    ys_graph_free(graph);
}

/** GPT-2's published sizes: 124,439,808 parameters and 354,823,168. */
static void gpt_has_its_published_sizes(void)
{
    static const struct {
        double width, layers, heads;
        int64_t parameters;
    } sizes[] = {{0, 0, 0, 124439808}, {1024, 24, 16, 354823168}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ys_graph *graph = build_with("gpt2", 1024, 50257, sizes[i].width, sizes[i].layers, sizes[i].heads);
        REQUIRE(graph);
        CHECK_INT(ys_graph_parameter_count(graph), sizes[i].parameters);
        ys_graph_free(graph);
    }
    check_gpt("gpt-nano", 64, 64, 48, 3, 3);
    check_gpt("gpt-nano", 17, 30, 16, 2, 4);
    check_gpt("gpt2", 128, 1000, 256, 4, 8);
}

static void gpt_says_what_does_not_fit(void)
{
    CHECK(build_with("gpt-nano", 64, 64, 48, 3, 5) == NULL);
    CHECK_HAS(ys_error(), "model.heads = 5 does not divide model.width = 48");
    CHECK(build_with("gpt-nano", 64, 64, 47, 3, 3) == NULL);
    CHECK_HAS(ys_error(), "model.width = 47: must be 8, 16, 24 ... 65536 for the model gpt-nano");
    struct ys_graph *graph = NULL;
    const struct ys_model_input pixels = {.shape = {1, 28, 28}, .dtype = YS_U8, .classes = 10};
    CHECK(ys_model_build(ys_model_find("gpt2"), &pixels, &graph) == YS_EINVAL && !graph);
    CHECK_HAS(ys_error(), "model gpt2 takes rows of tokens, and those of the data are of channels, height and width");
    const struct ys_model_input tokens = {.shape = {64}, .dtype = YS_I32, .classes = 10};
    CHECK(ys_model_build(ys_model_find("lenet"), &tokens, &graph) == YS_EINVAL && !graph);
    CHECK_HAS(ys_error(), "model lenet takes rows of channels, height and width, and those of the data are of tokens");
}

/** Attention over values of (N, 4, 6), (N, `keys`, `width`) and (N, 4, 6). */
static void refuse_attention(struct ys_attention how, int64_t keys, int64_t width, const char *message)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("refused", (const int64_t[]){4, 6}, 2, YS_F32, &b) == YS_OK);
    const int k = ys_build_more_input(b, "k", (const int64_t[]){keys, width}, 2, YS_F32);
    const int v = ys_build_more_input(b, "v", (const int64_t[]){4, 6}, 2, YS_F32);
    const int in[] = {ys_build_input(b), k, v};
    const int y = ys_build_node(b, &(struct ys_node){.op = YS_OP_ATTENTION, .attention = how}, in, 3, "attend");
    ys_build_target(b, YS_TARGET_CLASSES);
    CHECK(ys_build_finish(b, y, &graph) == YS_EINVAL && !graph);
    CHECK_HAS(ys_error(), message);
}

static void attention_names_what_does_not_fit(void)
{
    refuse_attention((struct ys_attention){4, 4, false, 0}, 4, 6, "4 heads do not divide the width 6 of input x");
    refuse_attention((struct ys_attention){3, 2, false, 0}, 4, 6, "q_num_heads 3 is no multiple of kv_num_heads 2");
    refuse_attention((struct ys_attention){2, 2, false, 0}, 5, 6, "keys k of shape [N,5,6] fit neither");
    refuse_attention((struct ys_attention){2, 2, false, 0}, 4, 8, "keys k of shape [N,4,8] fit neither");
}

/** Of (N, ..., 4, 6) and a value of `shape`, of which the product is, or is refused. */
static void try_matmul(size_t rank, const int64_t *shape, const char *message)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    const int64_t left[] = {3, 4, 6};
    REQUIRE(ys_build_new("product", left + 3 - rank, rank, YS_F32, &b) == YS_OK);
    const int in[] = {ys_build_input(b), ys_build_more_input(b, "k", shape, rank, YS_F32)};
    const int y = ys_build_node(b, &(struct ys_node){.op = YS_OP_MATMUL}, in, 2, "times");
    ys_build_target(b, YS_TARGET_VECTOR);
    ys_build_loss(b, YS_LOSS_MEAN_SQUARED_ERROR);
    CHECK((ys_build_finish(b, y, &graph) == YS_OK) == !message);
    if (message)
        CHECK_HAS(ys_error(), message);
    else if (CHECK(graph != NULL)) {
        const struct ys_value *out = &graph->values[graph->output];
        CHECK(out->rank == rank + 1 && out->shape[rank - 1] == 4 && out->shape[rank] == shape[rank - 1]);
        CHECK_INT(ys_graph_multiply_adds(graph), (rank == 3 ? 3 : 1) * 4 * 6 * shape[rank - 1]);
    }
    ys_graph_free(graph);
}

static void products_of_values_are_of_matrices(void)
{
    try_matmul(2, (const int64_t[]){6, 5}, NULL);
    try_matmul(3, (const int64_t[]){3, 6, 2}, NULL);
    try_matmul(2, (const int64_t[]){4, 6}, "inputs x of shape [N,4,6] and k of shape [N,4,6] are no matrices");
    try_matmul(3, (const int64_t[]){2, 6, 4}, "x of shape [N,3,4,6] and k of shape [N,2,6,4] are no matrices");
    try_matmul(1, (const int64_t[]){6}, "x of shape [N,6] and k of shape [N,6] are no matrices");
}

/** Of an attention over (N, 4, 6): what hides its keys. */
static void refuse_tokens(enum ys_dtype dtype, int64_t count, const char *message)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("refused", (const int64_t[]){4, 6}, 2, YS_F32, &b) == YS_OK);
    const int v = ys_build_input(b), tokens = ys_build_more_input(b, "tokens", &count, 1, dtype);
    const struct ys_node attend = {.op = YS_OP_ATTENTION, .attention = {.heads = 2, .kv_heads = 2}};
    const int y = ys_build_node(b, &attend, (const int[]){v, v, v, tokens}, 4, "attend");
    ys_build_target(b, YS_TARGET_CLASSES);
    CHECK((ys_build_finish(b, y, &graph) == YS_OK) == !message);
    if (message)
        CHECK_HAS(ys_error(), message);
    ys_graph_free(graph);
}

static void attention_names_tokens_that_hide_no_keys(void)
{
    refuse_tokens(YS_I32, 4, NULL);
    refuse_tokens(YS_I32, 5, "input tokens, which hides keys, is I32 of shape [N,5], not I32 of (N, 4), a token a key");
    refuse_tokens(YS_F32, 4, "input tokens, which hides keys, is F32 of shape [N,4], not I32");
}

/** Of the last position of (N, 4, 6), or of what is not that: what tells it. */
static void refuse_last(size_t rank, enum ys_dtype dtype, int64_t count, const char *message)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("refused", (const int64_t[]){4, 6, 2}, rank, YS_F32, &b) == YS_OK);
    const int v = ys_build_input(b), tokens = ys_build_more_input(b, "tokens", &count, 1, dtype);
    const int y = ys_build_node(b, &(struct ys_node){.op = YS_OP_LAST}, (const int[]){v, tokens}, 2, "last");
    CHECK((ys_build_finish(b, ys_build_gemm(b, y, 3, "head"), &graph) == YS_OK) == !message);
    if (message)
        CHECK_HAS(ys_error(), message);
    else if (CHECK(graph->values[graph->nodes[0].out[0]].rank == 2))
        CHECK_INT(graph->values[graph->nodes[0].out[0]].shape[1], 6);
    ys_graph_free(graph);
}

static void the_last_position_is_told_by_a_token_for_each(void)
{
    refuse_last(2, YS_I32, 4, NULL);
    refuse_last(2, YS_I32, 5, "input tokens, which tells the last position, is I32 of shape [N,5], not I32 of (N, 4)");
    refuse_last(2, YS_F32, 4, "input tokens, which tells the last position, is F32 of shape [N,4], not I32");
    refuse_last(1, YS_I32, 4, "input x is F32 of shape [N,4], not F32 of (N, positions, width)");
    refuse_last(3, YS_I32, 4, "input x is F32 of shape [N,4,6,2], not F32 of (N, positions, width)");
}

static void an_embedding_reads_tokens_alone(void)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("pixels", (const int64_t[]){4}, 1, YS_U8, &b) == YS_OK);
    CHECK(ys_build_finish(b, ys_build_embedding(b, ys_build_input(b), 9, 3, "embed"), &graph) == YS_EINVAL && !graph);
    CHECK_HAS(ys_error(), "node embed (Embedding): input x is U8: tokens are I32");
    REQUIRE(ys_build_new("tokens", (const int64_t[]){4}, 1, YS_I32, &b) == YS_OK);
    CHECK(ys_build_finish(b, ys_build_gemm(b, ys_build_input(b), 9, "fc"), &graph) == YS_EINVAL && !graph);
    CHECK_HAS(ys_error(), "input x is I32: put a normalize before it, or an Embedding");
}

/** An embedding, layers of `gates` blocks with two weights and a bias, of GRU another for the last block, a dense
 * layer. */
static void check_recurrent(const char *name, int64_t positions, int64_t vocabulary, int64_t width, int64_t layers,
                            int64_t gates)
{
    struct ys_graph *graph = build_with(name, positions, vocabulary, (double)width, (double)layers, 0);
    REQUIRE(graph);
    const int64_t layer = gates * (2 * width * width + width) + (gates == 3 ? width : 0);
    CHECK_INT(ys_graph_parameter_count(graph), 2 * vocabulary * width + vocabulary + layers * layer);
    CHECK_INT(ys_graph_multiply_adds(graph), positions * (layers * gates * 2 * width * width + vocabulary * width));
    ys_graph_free(graph);
}

/** The small network of Zaremba and others has 4.65 million weights. */
static void recurrent_networks_have_their_sizes(void)
{
    struct ys_graph *graph = build_with("lstm-ptb", 20, 10000, 0, 0, 0);
    REQUIRE(graph);
    CHECK_INT(ys_graph_parameter_count(graph), 4651600);
    ys_graph_free(graph);
    check_recurrent("lstm-ptb", 20, 10000, 200, 2, 4);
    check_recurrent("lstm-char", 50, 64, 128, 2, 4);
    check_recurrent("lstm-char", 7, 30, 5, 3, 4);
    check_recurrent("gru-char", 50, 64, 128, 2, 3);
    const struct ys_model_input pixels = {.shape = {1, 28, 28}, .dtype = YS_U8, .classes = 10};
    CHECK(ys_model_build(ys_model_find("lstm-char"), &pixels, &graph) == YS_EINVAL);
    CHECK_HAS(ys_error(),
              "model lstm-char takes rows of tokens, and those of the data are of channels, height and width");
}

/** An operator that tells values their places, over (N, 4, `width`); `message`: NULL where it fits. */
static void check_places(const char *op, const char *attrs, int width, const char *message)
{
    char text[1024];
    ys_json *json;
    struct ys_graph *graph = NULL;
    snprintf(
        text, sizeof text,
        "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"g\",\"inputs\":[{\"name\":\"x\",\"shape\":[\"N\",4,"
        "%d],\"dtype\":\"F32\"}],\"nodes\":[{\"op\":\"%s\",\"name\":\"n\",\"in\":[\"x\"],\"out\":[\"y\"],\"attrs\":{%s}"
        ","
        "\"params\":{}}],\"params\":[],\"output\":\"y\",\"target\":{\"kind\":\"vector\",\"shape\":[\"N\",4,%d]},"
        "\"loss\":\"mean_squared_error\"}",
        width, op, attrs, width);
    REQUIRE(ys_json_parse(text, strlen(text), "file", &json) == YS_OK);
    const ys_status status = ys_graph_from_json(json, "g.json", &graph);
    if (message) {
        CHECK(status == YS_EFORMAT && !graph);
        CHECK_HAS(ys_error(), message);
    } else if (CHECK(status == YS_OK)) {
        CHECK(graph->nodes[0].rotary.base == 10000 && !graph->nodes[0].rotary.interleaved);
        CHECK(graph->values[graph->output].rank == 3 && graph->values[graph->output].shape[2] == width);
    }
    ys_graph_free(graph);
    ys_json_free(json);
}

static void places_name_what_does_not_fit(void)
{
    check_places("RotaryEmbedding", "\"num_heads\":3", 12, NULL);
    check_places("sinusoid", "", 6, NULL);
    check_places("RotaryEmbedding", "", 12, "attribute num_heads");
    check_places("RotaryEmbedding", "\"num_heads\":5", 12, "5 heads do not divide the width 12 of input x");
    check_places("RotaryEmbedding", "\"num_heads\":4", 12, "a head of input x has 3 numbers: they are turned in pairs");
    check_places("RotaryEmbedding", "\"num_heads\":3,\"base\":0", 12, "attribute base is 0: must be a number above 0");
    check_places("sinusoid", "", 5, "input x has shape [N,4,5], not (N, positions, width) with an even width");
    check_places("sinusoid", "\"num_heads\":1", 6, "num_heads");
}

/** Angles grow with the position by a step of their pair: 1, then less, down to the base's reciprocal at the end. */
static void angles_are_their_formula(void)
{
    CHECK(ys_rotary_angle(10000, 0, 3, 8) == 0);
    CHECK_NEAR(ys_rotary_angle(10000, 7, 0, 8), 7, 0);
    CHECK_NEAR(ys_rotary_angle(10000, 7, 2, 8), 0.07, 1e-16);
    CHECK_NEAR(ys_rotary_angle(100, 5, 1, 2), 0.05, 1e-16);
}

static struct ys_graph *build_classifier(const char *name, int64_t positions, int64_t vocabulary, int64_t classes,
                                         double width, double layers, double heads)
{
    const struct ys_model_input input = {
        .shape = {positions},
        .dtype = YS_I32,
        .classes = classes,
        .vocabulary = vocabulary,
        .sizes = {[YS_MODEL_WIDTH] = width, [YS_MODEL_LAYERS] = layers, [YS_MODEL_HEADS] = heads}};
    struct ys_graph *graph = NULL;
    if (!CHECK(ys_model_build(ys_model_find(name), &input, &graph) == YS_OK))
        return NULL;
    const struct ys_rows rows = ys_graph_rows(graph);
    CHECK(rows.inputs[0].dtype == YS_I32 && rows.inputs[0].shape[0] == positions && rows.inputs[0].below == vocabulary);
    CHECK(rows.kind == YS_TARGET_CLASS && rows.classes == classes);
    return graph;
}

/** An embedding, positions, a segment and a norm; in each block what GPT has; a dense layer of one position, and the
 * head. Of 11,170,560 published parameters nothing but the other segment is left out. */
static void check_bert(int64_t positions, int64_t vocabulary, int64_t classes, int64_t d, int64_t layers, int64_t heads,
                       int64_t published)
{
    struct ys_graph *graph =
        build_classifier("bert-mini", positions, vocabulary, classes, (double)d, (double)layers, (double)heads);
    REQUIRE(graph);
    const int64_t parameters =
        (vocabulary + positions + 1 + 2) * d + layers * (12 * d * d + 13 * d) + d * d + d + (d + 1) * classes;
    CHECK_INT(ys_graph_parameter_count(graph), parameters);
    CHECK(!published || parameters - (d + 1) * classes + d == published);
    CHECK_INT(ys_graph_multiply_adds(graph),
              positions * layers * (12 * d * d + 2 * positions * d) + d * d + d * classes);
    ys_graph_free(graph);
}

static void bert_has_its_published_size(void)
{
    check_bert(512, 30522, 2, 256, 4, 4, 11170560);
    check_bert(128, 30522, 2, 256, 4, 4, 0);
    check_bert(1, 9, 3, 8, 1, 2, 0);
    CHECK(build_with("bert-mini", 64, 64, 48, 3, 5) == NULL);
    CHECK_HAS(ys_error(), "model bert-mini: model.heads = 5 does not divide model.width = 48");
}

/** Embedding, one gate after the other, and a dense layer of the last position that is no padding. Keras' example has
 * one output, 129 parameters, where there are two classes here. */
static void a_classifier_reads_the_last_position(void)
{
    struct ys_graph *graph = build_classifier("lstm-classifier", 80, 20000, 2, 0, 0, 0);
    REQUIRE(graph);
    CHECK_INT(ys_graph_parameter_count(graph), 2691713 + 129);
    CHECK_INT(ys_graph_multiply_adds(graph), 80 * 4 * 2 * 128 * 128 + 128 * 2);
    const struct ys_node *last = &graph->nodes[2];
    CHECK(last->op == YS_OP_LAST && last->in[1] == graph->inputs[0]);
    CHECK(ys_graph_rows(graph).inputs[0].padded);
    ys_graph_free(graph);
    graph = build_classifier("lstm-classifier", 1, 7, 3, 5, 2, 0);
    REQUIRE(graph);
    ys_graph_free(graph);
}

/** A layer in the JSON form whose parameters have these shapes. */
static void refuse_recurrent(const char *op, const char *rank, const char *weight, const char *bias,
                             const char *recurrent, const char *message)
{
    char text[2048];
    ys_json *json;
    struct ys_graph *graph = NULL;
    snprintf(text, sizeof text,
             "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"g\",\"inputs\":[{\"name\":\"x\",\"shape\":%s,"
             "\"dtype\":\"F32\"}],\"nodes\":[{\"op\":\"%s\",\"name\":\"n\",\"in\":[\"x\"],\"out\":[\"y\"],\"attrs\":{},"
             "\"params\":{\"weight\":\"w\",\"bias\":\"b\",\"recurrent\":\"r\"}}],\"params\":["
             "{\"name\":\"w\",\"shape\":%s,\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":0}},"
             "{\"name\":\"b\",\"shape\":%s,\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":0}},"
             "{\"name\":\"r\",\"shape\":%s,\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":0}}],"
             "\"output\":\"y\",\"target\":{\"kind\":\"vector\"},\"loss\":\"mean_squared_error\"}",
             rank, op, weight, bias, recurrent);
    REQUIRE(ys_json_parse(text, strlen(text), "file", &json) == YS_OK);
    CHECK(ys_graph_from_json(json, "g.json", &graph) == YS_EFORMAT && !graph);
    CHECK_HAS(ys_error(), message);
    ys_json_free(json);
}

static void recurrent_layers_name_what_does_not_fit(void)
{
    static const char rows[] = "[\"N\",4,3]";
    refuse_recurrent("LSTM", "[\"N\",3]", "[8,3]", "[8]", "[8,2]",
                     "input x has shape [N,3], not (N, positions, width)");
    refuse_recurrent("LSTM", rows, "[8,3]", "[8]", "[6,2]", "recurrent r has shape [6,2], not (4 * hidden, hidden)");
    refuse_recurrent("LSTM", rows, "[8,4]", "[8]", "[8,2]", "weight w has shape [8,4], not (8, 3)");
    refuse_recurrent("LSTM", rows, "[8,3]", "[16]", "[8,2]", "bias b has shape [16], not [8]");
    refuse_recurrent("GRU", rows, "[6,3]", "[6]", "[6,2]", "params.recurrent_bias is missing");
}

TAP_MAIN(TAP_CASE(gpt_has_its_published_sizes), TAP_CASE(gpt_says_what_does_not_fit),
         TAP_CASE(attention_names_what_does_not_fit), TAP_CASE(products_of_values_are_of_matrices),
         TAP_CASE(attention_names_tokens_that_hide_no_keys), TAP_CASE(the_last_position_is_told_by_a_token_for_each),
         TAP_CASE(an_embedding_reads_tokens_alone), TAP_CASE(recurrent_networks_have_their_sizes),
         TAP_CASE(recurrent_layers_name_what_does_not_fit), TAP_CASE(bert_has_its_published_size),
         TAP_CASE(a_classifier_reads_the_last_position), TAP_CASE(places_name_what_does_not_fit),
         TAP_CASE(angles_are_their_formula))
