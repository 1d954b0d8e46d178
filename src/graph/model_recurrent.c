/* Recurrent networks of tokens: an embedding, layers of LSTM or GRU, a dense layer of each position. */
#include "graph/model_list.h"
#include <stdio.h>

static ys_status build_recurrent(const char *name, enum ys_op op, const struct ys_model_key *keys,
                                 const struct ys_model_input *input, struct ys_draw embedding, struct ys_draw layers,
                                 struct ys_graph **graph)
{
    const int64_t width = (int64_t)ys_model_size(keys, input, YS_MODEL_WIDTH);
    const int64_t count = (int64_t)ys_model_size(keys, input, YS_MODEL_LAYERS);
    struct ys_build *b;
    char layer[32];
    if (input->dtype != YS_I32)
        return ys_fail(YS_EINVAL, "model %s takes tokens, and the data have images", name);
    YS_TRY(ys_build_new(name, input->shape, 1, YS_I32, &b));
    ys_build_draw(b, embedding, YS_DRAW_CONSTANT(0));
    int v = ys_build_embedding(b, ys_build_input(b), input->classes, width, "embed");
    ys_build_draw(b, layers, layers);
    for (int64_t i = 0; i < count; i++) {
        snprintf(layer, sizeof layer, "%s%lld", op == YS_OP_LSTM ? "lstm" : "gru", (long long)(i + 1));
        v = ys_build_recurrent(b, op, v, width, layer);
    }
    v = ys_build_gemm(b, v, input->classes, "head");
    ys_build_target(b, YS_TARGET_CLASSES);
    return ys_build_finish(b, v, graph);
}

#define KEYS(width, layers)                                                                                            \
    {                                                                                                                  \
        [YS_MODEL_WIDTH] = {"numbers that stand for a token, and of a layer's state", width, 1, 65536, 1},             \
        [YS_MODEL_LAYERS] = {"recurrent layers", layers, 1, 100, 1},                                                   \
    }
const struct ys_model_key ys_model_keys_lstm_char[YS_MODEL_SIZE_COUNT] = KEYS(128, 2);
const struct ys_model_key ys_model_keys_lstm_ptb[YS_MODEL_SIZE_COUNT] = KEYS(200, 2);

/** The size that Karpathy's char-rnn comes with, drawn as PyTorch draws such layers. */
ys_status ys_model_lstm_char(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_recurrent("lstm-char", YS_OP_LSTM, ys_model_keys_lstm_char, input, YS_DRAW_NORMAL(1),
                           YS_DRAW_UNIFORM_FAN_IN(1), graph);
}

ys_status ys_model_gru_char(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_recurrent("gru-char", YS_OP_GRU, ys_model_keys_lstm_char, input, YS_DRAW_NORMAL(1),
                           YS_DRAW_UNIFORM_FAN_IN(1), graph);
}

/** Zaremba, Sutskever, Vinyals, "Recurrent neural network regularization", 2014, section 4.1: the small one, which has
 * no dropout. */
ys_status ys_model_lstm_ptb(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_recurrent("lstm-ptb", YS_OP_LSTM, ys_model_keys_lstm_ptb, input, YS_DRAW_UNIFORM(0.1),
                           YS_DRAW_UNIFORM(0.1), graph);
}
