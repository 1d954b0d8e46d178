/* What blocks of transformers are made of. */
#include "graph/models/model_list.h"
#include <stdio.h>

struct layer_name {
    char text[48];
};

static struct layer_name name_of(const char *prefix, const char *what)
{
    struct layer_name name;
    snprintf(name.text, sizeof name.text, "%s%s", prefix, what);
    return name;
}

static void draw(struct ys_build *b, const struct ys_model_block *s, double std)
{
    const struct ys_draw weights = {s->normal, YS_SPREAD_FIXED, std};
    ys_build_draw(b, weights, YS_DRAW_CONSTANT(0));
}

static int attend(struct ys_build *b, int v, const struct ys_model_block *s, const char *prefix)
{
    const struct ys_node cut = {.op = YS_OP_SPLIT, .axis = 2, .out_count = 3, .split = {s->width, s->width, s->width}};
    const struct ys_node node = {.op = YS_OP_ATTENTION,
                                 .attention = {.heads = s->heads, .kv_heads = s->heads, .causal = s->is_causal}};
    draw(b, s, 0.02);
    v = ys_build_gemm(b, v, 3 * s->width, name_of(prefix, "qkv").text);
    v = ys_build_node(b, &cut, &v, 1, name_of(prefix, "split").text);
    v = ys_build_node(b, &node, (const int[]){v, v + 1, v + 2, ys_build_input(b)}, s->is_padded ? 4 : 3,
                      name_of(prefix, "attend").text);
    draw(b, s, s->residual);
    return ys_build_gemm(b, v, s->width, name_of(prefix, "project").text);
}

static int widen(struct ys_build *b, int v, const struct ys_model_block *s, const char *prefix)
{
    const struct ys_node gelu = {.op = YS_OP_GELU, .by_tanh = s->by_tanh};
    draw(b, s, 0.02);
    v = ys_build_gemm(b, v, 4 * s->width, name_of(prefix, "widen").text);
    v = ys_build_node(b, &gelu, &v, 1, name_of(prefix, "gelu").text);
    draw(b, s, s->residual);
    return ys_build_gemm(b, v, s->width, name_of(prefix, "narrow").text);
}

int ys_model_block_before(struct ys_build *b, int in, const struct ys_model_block *s, const char *prefix)
{
    int v = attend(b, ys_build_layernorm(b, in, s->epsilon, name_of(prefix, "norm1").text), s, prefix);
    in = ys_build_add(b, in, v, name_of(prefix, "add1").text);
    v = widen(b, ys_build_layernorm(b, in, s->epsilon, name_of(prefix, "norm2").text), s, prefix);
    return ys_build_add(b, in, v, name_of(prefix, "add2").text);
}

int ys_model_block_behind(struct ys_build *b, int in, const struct ys_model_block *s, const char *prefix)
{
    int v = ys_build_add(b, in, attend(b, in, s, prefix), name_of(prefix, "add1").text);
    in = ys_build_layernorm(b, v, s->epsilon, name_of(prefix, "norm1").text);
    v = ys_build_add(b, in, widen(b, in, s, prefix), name_of(prefix, "add2").text);
    return ys_build_layernorm(b, v, s->epsilon, name_of(prefix, "norm2").text);
}

int ys_model_first(struct ys_build *b, int v)
{
    const int64_t positions = ys_build_shape(b, v)[1];
    const struct ys_node cut = {.op = YS_OP_SPLIT, .axis = 1, .out_count = 2, .split = {1, positions - 1}};
    if (positions > 1)
        v = ys_build_node(b, &cut, &v, 1, "first");
    return ys_build_flatten(b, v, "first_row");
}

ys_status ys_model_check_heads(const char *name, const struct ys_model_block *s)
{
    if (s->width % s->heads == 0)
        return YS_OK;
    return ys_fail(YS_EINVAL, "model %s: model.heads = %lld does not divide model.width = %lld", name,
                   (long long)s->heads, (long long)s->width);
}
