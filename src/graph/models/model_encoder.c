/* Transformers that tell a class: of images, ViT; of tokens, BERT. */
#include "graph/models/model_list.h"
#include <stdio.h>

#define PATCH 16 /* pixels of its height and width */
static const struct ys_pixels half = {1, 0.5, 0.5};

/** Patches as positions: (N, width, rows, columns) to (N, positions, width). */
static int to_positions(struct ys_build *b, int v)
{
    const int64_t *shape = ys_build_shape(b, v);
    const struct ys_node flat = {
        .op = YS_OP_RESHAPE, .shape_rank = 3, .shape = {YS_BATCH, shape[1], shape[2] * shape[3]}};
    const struct ys_node turn = {.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 1}};
    v = ys_build_node(b, &flat, &v, 1, "grid");
    return ys_build_node(b, &turn, &v, 1, "positions_first");
}

/** One position more in front, a parameter. What is added to begins as zeros. */
static int with_class_token(struct ys_build *b, int v)
{
    const int64_t positions = ys_build_shape(b, v)[1], width = ys_build_shape(b, v)[2];
    const struct ys_node pad = {.op = YS_OP_PAD, .pad = {.mode = YS_PAD_CONSTANT, .rank = 3, .before = {0, 1, 0}}};
    const struct ys_node cut = {.op = YS_OP_SPLIT, .axis = 1, .out_count = 2, .split = {1, positions}};
    const struct ys_node join = {.op = YS_OP_CONCAT, .axis = 1};
    v = ys_build_node(b, &pad, &v, 1, "room");
    v = ys_build_node(b, &cut, &v, 1, "front");
    const int token =
        ys_build_operand(b, YS_OP_ADD, v, &width, 1, (struct ys_initializer){YS_INIT_NORMAL, 0, 1e-6}, "class_token");
    return ys_build_node(b, &join, (const int[]){token, v + 1}, 2, "tokens");
}

static int add_positions(struct ys_build *b, int v)
{
    const int64_t extents[] = {ys_build_shape(b, v)[1], ys_build_shape(b, v)[2]};
    return ys_build_operand(b, YS_OP_ADD, v, extents, 2, (struct ys_initializer){YS_INIT_TRUNCATED_NORMAL, 0, 0.02},
                            "positions");
}

static struct ys_model_block block_of(const struct ys_model_key *keys, const struct ys_model_input *input,
                                      double epsilon)
{
    return (struct ys_model_block){.width = (int64_t)ys_model_size(keys, input, YS_MODEL_WIDTH),
                                   .heads = (int64_t)ys_model_size(keys, input, YS_MODEL_HEADS),
                                   .normal = YS_INIT_TRUNCATED_NORMAL,
                                   .residual = 0.02,
                                   .epsilon = epsilon};
}

/** Dosovitskiy and others, "An image is worth 16x16 words", ICLR 2021; the tiny size of Touvron and others, "Training
 * data-efficient image transformers", ICML 2021, as timm has it. */
ys_status ys_model_vit_tiny(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const char name[] = "vit-tiny";
    const struct ys_model_block s = block_of(ys_model_keys_vit_tiny, input, 1e-6);
    const int64_t layers = (int64_t)ys_model_size(ys_model_keys_vit_tiny, input, YS_MODEL_LAYERS);
    struct ys_build *b;
    char prefix[32];
    int v;
    YS_TRY(ys_model_need(name, input, false));
    YS_TRY(ys_model_check_heads(name, &s));
    if (input->shape[1] % PATCH || input->shape[2] % PATCH)
        return ys_fail(YS_EINVAL, "model %s cuts its rows into patches of %dx%d, and those of the data have %lldx%lld",
                       name, PATCH, PATCH, (long long)input->shape[1], (long long)input->shape[2]);
    YS_TRY(ys_model_begin(name, input, half, &b, &v));
    ys_model_draw_as_torch(b);
    v = with_class_token(b, to_positions(b, ys_build_conv(b, v, s.width, PATCH, PATCH, 0, "patches")));
    v = add_positions(b, v);
    for (int64_t i = 0; i < layers; i++) {
        snprintf(prefix, sizeof prefix, "block%lld.", (long long)(i + 1));
        v = ys_model_block_before(b, v, &s, prefix);
    }
    v = ys_model_first(b, ys_build_layernorm(b, v, s.epsilon, "norm"));
    ys_build_draw(b, YS_DRAW_TRUNCATED(0.02), YS_DRAW_CONSTANT(0));
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "head"), graph);
}

/** Devlin, Chang, Lee, Toutanova, "BERT", NAACL 2019; the mini size of Turc and others, "Well-read students learn
 * better", 2019. One segment, whose row of that table is a parameter; the other row, which nothing would read, is left
 * out. */
ys_status ys_model_bert_mini(const struct ys_model_input *input, struct ys_graph **graph)
{
    static const char name[] = "bert-mini";
    struct ys_model_block s = block_of(ys_model_keys_bert_mini, input, 1e-12);
    const int64_t layers = (int64_t)ys_model_size(ys_model_keys_bert_mini, input, YS_MODEL_LAYERS);
    struct ys_build *b;
    char prefix[32];
    YS_TRY(ys_model_need(name, input, true));
    YS_TRY(ys_model_check_heads(name, &s));
    s.is_padded = true;
    YS_TRY(ys_build_new(name, input->shape, 1, YS_I32, &b));
    ys_build_draw(b, YS_DRAW_TRUNCATED(0.02), YS_DRAW_CONSTANT(0));
    int v = ys_build_embedding(b, ys_build_input(b), input->vocabulary, s.width, "embed");
    v = add_positions(b, v);
    v = ys_build_operand(b, YS_OP_ADD, v, &s.width, 1, (struct ys_initializer){YS_INIT_TRUNCATED_NORMAL, 0, 0.02},
                         "segment");
    v = ys_build_layernorm(b, v, s.epsilon, "norm");
    for (int64_t i = 0; i < layers; i++) {
        snprintf(prefix, sizeof prefix, "block%lld.", (long long)(i + 1));
        v = ys_model_block_behind(b, v, &s, prefix);
    }
    v = ys_build_gemm(b, ys_model_first(b, v), s.width, "pool");
    v = ys_build_plain(b, YS_OP_TANH, v, "tanh");
    return ys_build_finish(b, ys_build_gemm(b, v, input->classes, "head"), graph);
}

#define KEYS(layers, width, heads)                                                                                     \
    {                                                                                                                  \
        [YS_MODEL_WIDTH] = {"numbers that stand for a position", width, 8, 65536, 8},                                  \
        [YS_MODEL_LAYERS] = {"blocks", layers, 1, 1000, 1},                                                            \
        [YS_MODEL_HEADS] = {"parts into which the width is cut", heads, 1, 1024, 1},                                   \
    }
const struct ys_model_key ys_model_keys_vit_tiny[YS_MODEL_SIZE_COUNT] = KEYS(12, 192, 3);
const struct ys_model_key ys_model_keys_bert_mini[YS_MODEL_SIZE_COUNT] = KEYS(4, 256, 4);
