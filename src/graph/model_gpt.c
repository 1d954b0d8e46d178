/* Transformers: the decoder of GPT-2. */
#include "graph/model_list.h"
#include <math.h>
#include <stdio.h>

#define EPSILON 1e-5

/** What a block is made of. */
struct shape {
    int64_t width, heads;
    double residual; /* deviation of the weights that end a branch */
};

struct name {
    char text[48];
};

static struct name name_of(const char *prefix, const char *what)
{
    struct name name;
    snprintf(name.text, sizeof name.text, "%s%s", prefix, what);
    return name;
}

/** Queries, keys and values of one dense layer, each position attending to itself and those before. */
static int attend(struct ys_build *b, int v, const struct shape *s, const char *prefix)
{
    const struct ys_node cut = {.op = YS_OP_SPLIT, .axis = 2, .out_count = 3, .split = {s->width, s->width, s->width}};
    const struct ys_node node = {.op = YS_OP_ATTENTION,
                                 .attention = {.heads = s->heads, .kv_heads = s->heads, .causal = true}};
    ys_build_draw(b, YS_DRAW_NORMAL(0.02), YS_DRAW_CONSTANT(0));
    v = ys_build_gemm(b, v, 3 * s->width, name_of(prefix, "qkv").text);
    v = ys_build_node(b, &cut, &v, 1, name_of(prefix, "split").text);
    v = ys_build_node(b, &node, (const int[]){v, v + 1, v + 2}, 3, name_of(prefix, "attend").text);
    ys_build_draw(b, YS_DRAW_NORMAL(s->residual), YS_DRAW_CONSTANT(0));
    return ys_build_gemm(b, v, s->width, name_of(prefix, "project").text);
}

static int widen(struct ys_build *b, int v, const struct shape *s, const char *prefix)
{
    const struct ys_node gelu = {.op = YS_OP_GELU, .by_tanh = true};
    ys_build_draw(b, YS_DRAW_NORMAL(0.02), YS_DRAW_CONSTANT(0));
    v = ys_build_gemm(b, v, 4 * s->width, name_of(prefix, "widen").text);
    v = ys_build_node(b, &gelu, &v, 1, name_of(prefix, "gelu").text);
    ys_build_draw(b, YS_DRAW_NORMAL(s->residual), YS_DRAW_CONSTANT(0));
    return ys_build_gemm(b, v, s->width, name_of(prefix, "narrow").text);
}

static int block(struct ys_build *b, int in, const struct shape *s, const char *prefix)
{
    int v = attend(b, ys_build_layernorm(b, in, EPSILON, name_of(prefix, "norm1").text), s, prefix);
    in = ys_build_add(b, in, v, name_of(prefix, "add1").text);
    v = widen(b, ys_build_layernorm(b, in, EPSILON, name_of(prefix, "norm2").text), s, prefix);
    return ys_build_add(b, in, v, name_of(prefix, "add2").text);
}

/** Radford, Wu, Child, Luan, Amodei, Sutskever, "Language models are unsupervised multitask learners", 2019, section
 * 2.3, and its code: learned positions, normalisation before each branch, the embedding's weight again at the end. */
static ys_status build_gpt(const char *name, const struct ys_model_key *keys, const struct ys_model_input *input,
                           struct ys_graph **graph)
{
    const int64_t positions = input->shape[0];
    const int64_t layers = (int64_t)ys_model_size(keys, input, YS_MODEL_LAYERS);
    struct shape s = {.width = (int64_t)ys_model_size(keys, input, YS_MODEL_WIDTH),
                      .heads = (int64_t)ys_model_size(keys, input, YS_MODEL_HEADS)};
    struct ys_build *b;
    char prefix[32];
    if (input->dtype != YS_I32)
        return ys_fail(YS_EINVAL, "model %s takes tokens, and the data have images", name);
    if (s.width % s.heads != 0)
        return ys_fail(YS_EINVAL, "model %s: model.heads = %lld does not divide model.width = %lld", name,
                       (long long)s.heads, (long long)s.width);
    s.residual = 0.02 / sqrt(2 * (double)layers);
    YS_TRY(ys_build_new(name, &positions, 1, YS_I32, &b));
    ys_build_draw(b, YS_DRAW_NORMAL(0.02), YS_DRAW_CONSTANT(0));
    const int table = ys_build_embedding(b, ys_build_input(b), input->classes, s.width, "embed");
    int v = ys_build_operand(b, YS_OP_ADD, table, (const int64_t[]){positions, s.width}, 2,
                             (struct ys_initializer){YS_INIT_NORMAL, 0, 0.02}, "positions");
    for (int64_t i = 0; i < layers; i++) {
        snprintf(prefix, sizeof prefix, "block%lld.", (long long)(i + 1));
        v = block(b, v, &s, prefix);
    }
    v = ys_build_gemm_tied(b, table, ys_build_layernorm(b, v, EPSILON, "norm"), "head");
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
