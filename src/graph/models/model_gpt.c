/* Transformers: the decoder of GPT-2. */
#include "graph/models/model_list.h"
#include <math.h>
#include <stdio.h>

/** Radford, Wu, Child, Luan, Amodei, Sutskever, "Language models are unsupervised multitask learners", 2019, section
 * 2.3, and its code: learned positions, normalisation before each branch, the embedding's weight again at the end. */
static ys_status build_gpt(const char *name, const struct ys_model_key *keys, const struct ys_model_input *input,
                           struct ys_graph **graph)
{
    const int64_t positions = input->shape[0];
    const int64_t layers = (int64_t)ys_model_size(keys, input, YS_MODEL_LAYERS);
    const struct ys_model_block s = {.width = (int64_t)ys_model_size(keys, input, YS_MODEL_WIDTH),
                                     .heads = (int64_t)ys_model_size(keys, input, YS_MODEL_HEADS),
                                     .normal = YS_INIT_NORMAL,
                                     .residual = 0.02 / sqrt(2 * (double)layers),
                                     .epsilon = 1e-5,
                                     .is_causal = true,
                                     .by_tanh = true};
    struct ys_build *b;
    char prefix[32];
    YS_TRY(ys_model_need(name, input, true));
    YS_TRY(ys_model_check_heads(name, &s));
    YS_TRY(ys_build_new(name, &positions, 1, YS_I32, &b));
    ys_build_draw(b, YS_DRAW_NORMAL(0.02), YS_DRAW_CONSTANT(0));
    const int table = ys_build_embedding(b, ys_build_input(b), input->classes, s.width, "embed");
    int v = ys_build_operand(b, YS_OP_ADD, table, (const int64_t[]){positions, s.width}, 2,
                             (struct ys_initializer){YS_INIT_NORMAL, 0, 0.02}, "positions");
    for (int64_t i = 0; i < layers; i++) {
        snprintf(prefix, sizeof prefix, "block%lld.", (long long)(i + 1));
        v = ys_model_block_before(b, v, &s, prefix);
    }
    v = ys_build_gemm_tied(b, table, ys_build_layernorm(b, v, s.epsilon, "norm"), "head");
    ys_build_target(b, YS_TARGET_CLASSES);
    return ys_build_finish(b, v, graph);
}

#define KEYS(layers, width, heads)                                                                                     \
    {                                                                                                                  \
        [YS_MODEL_WIDTH] = {"numbers that stand for a token", width, 8, 65536, 8},                                     \
        [YS_MODEL_LAYERS] = {"blocks", layers, 1, 1000, 1},                                                            \
        [YS_MODEL_HEADS] = {"parts into which the width is cut", heads, 1, 1024, 1},                                   \
    }
const struct ys_model_key ys_model_keys_gpt_nano[YS_MODEL_SIZE_COUNT] = KEYS(3, 48, 3);
const struct ys_model_key ys_model_keys_gpt2[YS_MODEL_SIZE_COUNT] = KEYS(12, 768, 12);

ys_status ys_model_gpt_nano(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_gpt("gpt-nano", ys_model_keys_gpt_nano, input, graph);
}

ys_status ys_model_gpt2(const struct ys_model_input *input, struct ys_graph **graph)
{
    return build_gpt("gpt2", ys_model_keys_gpt2, input, graph);
}
