/* Rows of tokens answered some positions at a time, with a cache of keys and values: in both back ends the logits are
 * those of whole rows. */
#include "engines.h"

#include "graph/builder.h"
#include "graph/sequence_part.h"

#include <string.h>

enum { BATCH = 3, POSITIONS = 7, VOCABULARY = 9, SEED = 5 };

/** Two layers of attention, one of grouped heads, whose values are wider than their keys; places told by waves and by
 * turns. */
static struct ys_graph *make_graph(void)
{
    static const struct ys_attention how[] = {{3, 3, true, 0}, {4, 2, true, 0.7}};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("cached", (const int64_t[]){POSITIONS}, 1, YS_I32, &b) != YS_OK)
        return NULL;
    ys_build_draw(b, YS_DRAW_UNIFORM(0.6), YS_DRAW_UNIFORM(0.3));
    int v = ys_build_embedding(b, ys_build_input(b), VOCABULARY, 12, "embed");
    v = ys_build_node(b, &(struct ys_node){.op = YS_OP_SINUSOID, .rotary = {.base = 100}}, &v, 1, "waves");
    for (int i = 0; i < 2; i++) {
        char name[6][8] = {"q0", "k0", "v0", "turn_q0", "turn_k0", "out0"};
        const int64_t width = i ? 4 : 2, heads = how[i].heads, kv_heads = how[i].kv_heads;
        for (int k = 0; k < 6; k++)
            name[k][strlen(name[k]) - 1] = (char)('0' + i);
        int in[] = {ys_build_gemm(b, v, heads * width, name[0]), ys_build_gemm(b, v, kv_heads * width, name[1]),
                    ys_build_gemm(b, v, kv_heads * 5, name[2])};
        for (int k = 0; k < 2; k++) {
            const struct ys_rotary turns = {.heads = k ? kv_heads : heads, .base = 50, .interleaved = i};
            in[k] = ys_build_node(b, &(struct ys_node){.op = YS_OP_ROTARY, .rotary = turns}, &in[k], 1, name[3 + k]);
        }
        const int y = ys_build_node(b, &(struct ys_node){.op = YS_OP_ATTENTION, .attention = how[i]}, in, 3,
                                    i ? "attend1" : "attend0");
        v = ys_build_add(b, v, ys_build_gemm(b, y, 12, name[5]), i ? "add1" : "add0");
    }
    v = ys_build_gemm(b, v, VOCABULARY, "head");
    ys_build_target(b, YS_TARGET_CLASSES);
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    return graph;
}

/** `positions` at a time, with a cache for all of a row; 0: whole rows. NULL where the back end lacks something. */
static struct ys_engine *open_of(struct ys_graph *graph, int64_t positions, const char *backend,
                                 enum ys_engine_precision precision)
{
    const struct ys_engine_config config = {
        .batch = BATCH, .precision = precision, .backend = backend, .threads = 2, .guarded = true};
    struct ys_engine *e = NULL;
    if (positions > 0 && !CHECK(ys_graph_window(graph, positions) == YS_OK))
        return NULL;
    const int status =
        positions ? ys_engine_open_cached(graph, &config, POSITIONS, &e) : ys_engine_open_graph(graph, &config, &e);
    tap_check(status == 0 || status == YS_EUNSUPPORTED, __LINE__, "%s: %s", backend, ys_engine_error());
    if (e)
        CHECK(ys_engine_draw(e, SEED) == 0);
    return e;
}

static double logit(const struct ys_engine *e, int64_t i)
{
    return ys_engine_real_size(e) == sizeof(double) ? ((const double *)ys_engine_logits(e))[i]
                                                    : (double)((const float *)ys_engine_logits(e))[i];
}

/** The positions from `first` on of these rows, whose logits are to be those of the whole rows. */
static void answer(struct ys_engine *e, int64_t first, int64_t count, const int32_t tokens[BATCH][POSITIONS],
                   const struct ys_engine *whole, double bound)
{
    for (int64_t row = 0; row < BATCH; row++)
        memcpy((int32_t *)ys_engine_place(e, 0) + row * count, &tokens[row][first], (size_t)count * sizeof(int32_t));
    ys_engine_seek(e, first);
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
    for (int64_t i = 0; i < BATCH * count * VOCABULARY; i++) {
        const int64_t row = i / (count * VOCABULARY), place = row * POSITIONS + first + i / VOCABULARY % count;
        CHECK_NEAR(logit(e, i), logit(whole, place * VOCABULARY + i % VOCABULARY), bound);
    }
}

/** A prompt, then `piece` positions at a time; twice, so that rows follow rows of other tokens. */
static void check_pieces(const char *backend, enum ys_engine_precision precision, int64_t prompt, int64_t piece,
                         double bound)
{
    struct ys_graph *graph[3] = {make_graph(), make_graph(), make_graph()};
    const int64_t positions[3] = {0, prompt, piece};
    struct ys_engine *e[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        REQUIRE(graph[i]);
        e[i] = open_of(graph[i], positions[i], backend, precision);
    }
    if (!e[0] || !e[1] || !e[2])
        tap_skip("%s", ys_engine_error());
    for (int again = 0; e[0] && e[1] && e[2] && again < 2; again++) {
        int32_t tokens[BATCH][POSITIONS];
        for (int i = 0; i < BATCH * POSITIONS; i++)
            (&tokens[0][0])[i] = (i * i + 3 * i + 4 * again) % VOCABULARY;
        memcpy(ys_engine_place(e[0], 0), tokens, sizeof tokens);
        CHECK(ys_engine_forward(e[0], NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
        answer(e[1], 0, prompt, tokens, e[0], bound);
        ys_engine_cache_take(e[2], e[1]);
        for (int64_t first = prompt; first < POSITIONS; first += piece)
            answer(e[2], first, piece, tokens, e[0], bound);
        for (int i = 0; i < 3; i++)
            CHECK(ys_engine_check(e[i]) == 0);
    }
    for (int i = 0; i < 3; i++) {
        ys_engine_close(e[i]);
        ys_graph_free(graph[i]);
    }
}

static void check_rows(const char *backend, enum ys_engine_precision precision, double bound)
{
    check_pieces(backend, precision, 4, 1, bound);
    check_pieces(backend, precision, 3, 2, bound);
    check_pieces(backend, precision, 1, 3, bound);
}

/* Logits are below 8; what is summed in another order has tens of terms. In bfloat16 a value may be rounded to the
 * other side, by 2^-8 of it, in each of three layers. */
static void rows_in_pieces_ref(void)
{
    check_rows("ref", YS_ENGINE_F64, 1e-13);
}

static void rows_in_pieces_onednn(void)
{
    check_rows("onednn", YS_ENGINE_F32, 1e-5);
}

static void rows_in_pieces_simd(void)
{
    check_rows("simd", YS_ENGINE_F32, 1e-5);
}

static void rows_in_pieces_onednn_bf16(void)
{
    check_rows("onednn", YS_ENGINE_BF16, 0.1);
}

TAP_MAIN(TAP_CASE(rows_in_pieces_ref), TAP_CASE(rows_in_pieces_onednn), TAP_CASE(rows_in_pieces_simd),
         TAP_CASE(rows_in_pieces_onednn_bf16))
