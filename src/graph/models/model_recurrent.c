/* Recurrent networks of tokens: an embedding, layers of LSTM or GRU, a dense layer of each position or of the last
 * that is no padding. */
#include "graph/models/model_list.h"
#include <stdio.h>

struct recurrent {
    const char *name;
    enum ys_op op;
    const struct ys_model_key *keys;
    struct ys_draw embedding, layers;
    bool is_classifier; /* of the last position alone that is no padding */
};

static ys_status build_recurrent(const struct recurrent *r, const struct ys_model_input *input, struct ys_graph **graph)
{
    const int64_t width = (int64_t)ys_model_size(r->keys, input, YS_MODEL_WIDTH);
    const int64_t count = (int64_t)ys_model_size(r->keys, input, YS_MODEL_LAYERS);
    struct ys_build *b;
    char layer[32];
    YS_TRY(ys_model_need(r->name, input, true));
    YS_TRY(ys_build_new(r->name, input->shape, 1, YS_I32, &b));
    ys_build_draw(b, r->embedding, YS_DRAW_CONSTANT(0));
    int v =
        ys_build_embedding(b, ys_build_input(b), r->is_classifier ? input->vocabulary : input->classes, width, "embed");
    ys_build_draw(b, r->layers, r->layers);
    for (int64_t i = 0; i < count; i++) {
        snprintf(layer, sizeof layer, "%s%lld", r->op == YS_OP_LSTM ? "lstm" : "gru", (long long)(i + 1));
        v = ys_build_recurrent(b, r->op, v, width, layer);
    }
    if (r->is_classifier)
        v = ys_build_node(b, &(struct ys_node){.op = YS_OP_LAST}, (const int[]){v, ys_build_input(b)}, 2, "last");
    else
        ys_build_target(b, YS_TARGET_CLASSES);
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "head"), graph);
}

#define KEYS(width, layers)                                                                                            \
    {                                                                                                                  \
        [YS_MODEL_WIDTH] = {"numbers that stand for a token, and of a layer's state", width, 1, 65536, 1},             \
        [YS_MODEL_LAYERS] = {"recurrent layers", layers, 1, 100, 1},                                                   \
    }
const struct ys_model_key ys_model_keys_lstm_char[YS_MODEL_SIZE_COUNT] = KEYS(128, 2);
const struct ys_model_key ys_model_keys_lstm_ptb[YS_MODEL_SIZE_COUNT] = KEYS(200, 2);
const struct ys_model_key ys_model_keys_lstm_classifier[YS_MODEL_SIZE_COUNT] = KEYS(128, 1);

/** The size that Karpathy's char-rnn comes with, drawn as PyTorch draws such layers. */
ys_status ys_model_lstm_char(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_recurrent(&(const struct recurrent){"lstm-char", YS_OP_LSTM, ys_model_keys_lstm_char,
                                                     YS_DRAW_NORMAL(1), YS_DRAW_UNIFORM_FAN_IN(1), false},
                           input, graph);
}

ys_status ys_model_gru_char(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_recurrent(&(const struct recurrent){"gru-char", YS_OP_GRU, ys_model_keys_lstm_char, YS_DRAW_NORMAL(1),
                                                     YS_DRAW_UNIFORM_FAN_IN(1), false},
                           input, graph);
}

/** Zaremba, Sutskever, Vinyals, "Recurrent neural network regularization", 2014, section 4.1: the small one, which has
 * no dropout. */
ys_status ys_model_lstm_ptb(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_recurrent(&(const struct recurrent){"lstm-ptb", YS_OP_LSTM, ys_model_keys_lstm_ptb,
                                                     YS_DRAW_UNIFORM(0.1), YS_DRAW_UNIFORM(0.1), false},
                           input, graph);
}

/** The size of Keras' example imdb_lstm (Chollet, 2015), which has 20,000 words and rows of 80, drawn as PyTorch draws
 * such layers. */
ys_status ys_model_lstm_classifier(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_recurrent(&(const struct recurrent){"lstm-classifier", YS_OP_LSTM, ys_model_keys_lstm_classifier,
                                                     YS_DRAW_NORMAL(1), YS_DRAW_UNIFORM_FAN_IN(1), true},
                           input, graph);
}
