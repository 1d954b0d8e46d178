/* Rows that are passed piece by piece, with a cache of keys and values, against the same rows as a whole. */
#include "unit/engine/open.h"

#include "graph/builder.h"
#include "graph/sequence_part.h"

enum { BATCH = 3, POSITIONS = 12, WORDS = 11, WIDTH = 16, LOGITS = BATCH * POSITIONS * WORDS };

static int dense(struct ys_build *b, int v, int64_t width, const char *name)
{
    return ys_build_gemm(b, v, width, name);
}

static int turned(struct ys_build *b, int v, int64_t heads, const char *name)
{
    const struct ys_node node = {.op = YS_OP_ROTARY, .rotary = {.heads = heads, .base = 100}};
    return ys_build_node(b, &node, &v, 1, name);
}

/** All that knows its place: a learned table, waves, turned pairs; four heads of queries over two of keys, which are
 * turned and scaled, and behind them two heads that are neither. */
static struct ys_graph *network(void)
{
    const int64_t positions = POSITIONS;
    const struct ys_node waves = {.op = YS_OP_SINUSOID, .rotary = {.base = 100}},
                         grouped = {.op = YS_OP_ATTENTION,
                                    .attention = {.heads = 4, .kv_heads = 2, .causal = true, .scale = 0.8}},
                         plain = {.op = YS_OP_ATTENTION, .attention = {.heads = 2, .kv_heads = 2, .causal = true}};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("pieces", &positions, 1, YS_I32, &b) != YS_OK)
        return NULL;
    int v = ys_build_embedding(b, ys_build_input(b), WORDS, WIDTH, "embed");
    v = ys_build_operand(b, YS_OP_ADD, v, (const int64_t[]){positions, WIDTH}, 2,
                         (struct ys_initializer){YS_INIT_NORMAL, 0, 0.02}, "places");
    v = ys_build_node(b, &waves, &v, 1, "waves");
    const int q = turned(b, dense(b, v, WIDTH, "q"), 4, "turn_q"), k = turned(b, dense(b, v, 8, "k"), 2, "turn_k");
    int y = ys_build_node(b, &grouped, (const int[]){q, k, dense(b, v, 12, "v")}, 3, "grouped");
    v = ys_build_add(b, v, dense(b, y, WIDTH, "join"), "add1");
    v = ys_build_layernorm(b, v, 1e-5, "norm");
    y = ys_build_node(b, &plain, (const int[]){v, v, v}, 3, "plain");
    v = ys_build_gemm(b, ys_build_add(b, v, y, "add2"), WORDS, "head");
    ys_build_target(b, YS_TARGET_CLASSES);
    if (ys_build_finish(b, v, &graph) != YS_OK)
        printf("# %s\n", ys_error());
    return graph;
}

/** An engine over `count` positions of a row. */
struct part {
    struct ys_graph *whole, *graph;
    struct ys_engine *engine;
    int64_t count;
};

/** Of the parameter of the whole network, from the row of position `first` on where the part has but some of them. */
static bool fill(const struct part *part, int64_t first)
{
    bool filled = true;
    for (size_t p = 0; filled && p < part->whole->param_count; p++) {
        const struct ys_param *param = &part->whole->params[p];
        const int64_t elements = ys_param_elements(param);
        const bool is_cut = elements > ys_param_elements(&part->graph->params[p]);
        double *values = malloc((size_t)elements * sizeof *values);
        struct ys_rng rng;
        ys_rng_init(&rng, 3, param->name);
        for (int64_t i = 0; i < elements; i++)
            values[i] = (2 * ys_rng_uniform(&rng) - 1) / (param->rank > 1 ? 2 : 4);
        filled = CHECK(ys_engine_param_set(part->engine, p, YS_ENGINE_F64,
                                           values + (is_cut ? first * (elements / param->shape[0]) : 0)) == 0);
        free(values);
    }
    return filled;
}

static struct ys_engine_config evaluation(const struct backend_case *b)
{
    return (struct ys_engine_config){
        .batch = BATCH, .precision = b->precision, .backend = b->name, .threads = b->threads};
}

/** count POSITIONS: whole rows, without a cache. */
static bool open_part(struct part *part, const struct backend_case *b, int64_t count)
{
    const struct ys_engine_config config = evaluation(b);
    if (is_left_out(b->name))
        return false;
    *part = (struct part){.whole = network(), .graph = network(), .count = count};
    if (!CHECK(part->whole && part->graph))
        return false;
    if (count < POSITIONS && !CHECK(ys_graph_window(part->graph, count) == YS_OK))
        return false;
    const int status = count < POSITIONS ? ys_engine_open_cached(part->graph, &config, POSITIONS, &part->engine)
                                         : ys_engine_open_graph(part->graph, &config, &part->engine);
    CHECK_TEXT(status == 0 ? "" : ys_engine_error(), "");
    return status == 0 && fill(part, 0);
}

static void close_part(struct part *part)
{
    ys_engine_close(part->engine);
    ys_graph_free(part->graph);
    ys_graph_free(part->whole);
}

static void draw(int32_t tokens[BATCH * POSITIONS], const char *name)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 5, name);
    for (int i = 0; i < BATCH * POSITIONS; i++)
        tokens[i] = (int32_t)ys_rng_below(&rng, WORDS);
}

static double logit(const struct ys_engine *e, int64_t at)
{
    const void *logits = ys_engine_logits(e);
    return ys_engine_real_size(e) == sizeof(double) ? ((const double *)logits)[at] : ((const float *)logits)[at];
}

/** Passes positions [first, first + count) of the tokens, whose logits go to their places among those of whole rows. */
static bool pass(const struct part *part, const int32_t *tokens, int64_t first, double logits[LOGITS])
{
    int32_t *x = ys_engine_place(part->engine, 0);
    for (int64_t row = 0; row < BATCH; row++)
        memcpy(x + row * part->count, tokens + row * POSITIONS + first, (size_t)part->count * sizeof *x);
    if (part->count < POSITIONS && !(fill(part, first) && CHECK(ys_engine_seek(part->engine, first) == 0)))
        return false;
    if (!CHECK(ys_engine_forward(part->engine, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0))
        return false;
    for (int64_t row = 0; row < BATCH; row++)
        for (int64_t i = 0; i < part->count * WORDS; i++)
            logits[(row * POSITIONS + first) * WORDS + i] = logit(part->engine, row * part->count * WORDS + i);
    return true;
}

/** The largest difference in positions [first, end) of all rows. */
static double apart(const double *a, const double *b, int64_t first, int64_t end)
{
    double most = 0;
    for (int64_t row = 0; row < BATCH; row++)
        for (int64_t i = (row * POSITIONS + first) * WORDS; i < (row * POSITIONS + end) * WORDS; i++)
            most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Both ways add the same terms, but for zeros, in an order that may differ: some 10 layers of sums of at most 16 terms
 * of the order of one, so 160 units of 2^-53 or 2^-24 at most. bfloat16 rounds what lies between to 2^-9, alike on both
 * ways but for values that stand at the edge between two: a few units. What is wrong by a position is wrong by 0.1. */
static double tolerance_of(const struct backend_case *b)
{
    return b->precision == YS_ENGINE_F64 ? 2e-14 : b->precision == YS_ENGINE_F32 ? 1e-5 : 0.05;
}

static void check_prompt_and_tokens(const struct backend_case *b, int64_t prompt)
{
    struct part whole = {0}, before = {0}, one = {0};
    int32_t tokens[BATCH * POSITIONS];
    double expected[LOGITS], found[LOGITS];
    if (open_part(&whole, b, POSITIONS) && open_part(&before, b, prompt) && open_part(&one, b, 1)) {
        static const char *const rounds[] = {"first", "second"}; /* the second finds what the first has left */
        for (int round = 0; round < 2; round++) {
            draw(tokens, rounds[round]);
            pass(&whole, tokens, 0, expected);
            pass(&before, tokens, 0, found);
            ys_engine_cache_take(one.engine, before.engine);
            for (int64_t at = prompt; at < POSITIONS; at++)
                pass(&one, tokens, at, found);
            CHECK_NEAR(apart(found, expected, 0, POSITIONS), 0, tolerance_of(b));
        }
    }
    close_part(&whole);
    close_part(&before);
    close_part(&one);
}

static void pieces_make_what_the_whole_makes_ref_f64(void)
{
    check_prompt_and_tokens(&ref64, 5);
    check_prompt_and_tokens(&ref64, 1);
    check_prompt_and_tokens(&ref64, POSITIONS - 1);
}

static void pieces_make_what_the_whole_makes_ref_f32(void)
{
    check_prompt_and_tokens(&ref32, 5);
}

static void pieces_make_what_the_whole_makes_onednn(void)
{
    check_prompt_and_tokens(&onednn1, 5);
    check_prompt_and_tokens(&onednn2, 1);
    check_prompt_and_tokens(&onednn2, POSITIONS - 1);
}

static void pieces_make_what_the_whole_makes_simd(void)
{
    check_prompt_and_tokens(&simd1, 5);
    check_prompt_and_tokens(&simd2, 1);
    check_prompt_and_tokens(&simd2, POSITIONS - 1);
}

static void pieces_make_what_the_whole_makes_bf16(void)
{
    if (!lacks_bf16())
        check_prompt_and_tokens(&bf16, 5);
}

/** Three positions at a time see those before them and, of their own, none behind themselves. */
static void check_windows(const struct backend_case *b)
{
    struct part whole = {0}, three = {0};
    int32_t tokens[BATCH * POSITIONS];
    double expected[LOGITS], found[LOGITS];
    draw(tokens, "windows");
    if (open_part(&whole, b, POSITIONS) && open_part(&three, b, 3)) {
        pass(&whole, tokens, 0, expected);
        for (int64_t at = 0; at < POSITIONS; at += 3)
            pass(&three, tokens, at, found);
        CHECK_NEAR(apart(found, expected, 0, POSITIONS), 0, tolerance_of(b));
    }
    close_part(&whole);
    close_part(&three);
}

static void windows_slide_over_the_row(void)
{
    check_windows(&ref64);
    check_windows(&ref32);
    check_windows(&onednn2);
    check_windows(&simd2);
}

/** Back at an earlier place, with other tokens from there on: what lay behind it counts no more. */
static void check_going_back(const struct backend_case *b)
{
    struct part whole = {0}, one = {0};
    int32_t tokens[BATCH * POSITIONS], others[BATCH * POSITIONS];
    double first[LOGITS], expected[LOGITS], found[LOGITS];
    draw(tokens, "tokens");
    draw(others, "others");
    for (int row = 0; row < BATCH; row++)
        memcpy(others + row * POSITIONS, tokens + row * POSITIONS, 4 * sizeof *tokens);
    if (open_part(&whole, b, POSITIONS) && open_part(&one, b, 1)) {
        pass(&whole, tokens, 0, first);
        pass(&whole, others, 0, expected);
        for (int64_t at = 0; at < POSITIONS; at++)
            pass(&one, tokens, at, found);
        CHECK_NEAR(apart(found, first, 0, POSITIONS), 0, tolerance_of(b));
        for (int64_t at = 4; at < POSITIONS; at++)
            pass(&one, others, at, found);
        CHECK_NEAR(apart(found, expected, 0, POSITIONS), 0, tolerance_of(b));
        CHECK(apart(first, expected, 4, POSITIONS) > 0.1);
    }
    close_part(&whole);
    close_part(&one);
}

static void earlier_places_are_passed_again(void)
{
    check_going_back(&ref64);
    check_going_back(&onednn2);
    check_going_back(&simd2);
}

/** What the other cases would see of a cache that is off by one, or that has lost its first key. */
static void a_wrong_place_shows(void)
{
    struct part whole = {0}, one = {0};
    int32_t tokens[BATCH * POSITIONS];
    double expected[LOGITS], found[LOGITS];
    draw(tokens, "wrong");
    if (open_part(&whole, &ref64, POSITIONS) && open_part(&one, &ref64, 1)) {
        pass(&whole, tokens, 0, expected);
        for (int64_t at = 0; at < POSITIONS - 1; at++)
            pass(&one, tokens, at, found);
        CHECK(fill(&one, POSITIONS - 1));
        int32_t *x = ys_engine_place(one.engine, 0);
        for (int row = 0; row < BATCH; row++)
            x[row] = tokens[row * POSITIONS + POSITIONS - 1];
        CHECK(ys_engine_seek(one.engine, POSITIONS - 2) == 0); /* over the key of the position before */
        CHECK(ys_engine_forward(one.engine, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
        for (int64_t row = 0; row < BATCH; row++)
            for (int64_t i = 0; i < WORDS; i++)
                found[(row * POSITIONS + POSITIONS - 1) * WORDS + i] = logit(one.engine, row * WORDS + i);
        CHECK(apart(found, expected, POSITIONS - 1, POSITIONS) > 1e-3);
    }
    close_part(&whole);
    close_part(&one);
}

static void what_the_cache_has_no_room_for_is_an_error(void)
{
    struct part whole = {0}, three = {0};
    if (open_part(&whole, &ref32, POSITIONS) && open_part(&three, &ref32, 3)) {
        static const int64_t beyond[] = {POSITIONS - 2, POSITIONS, INT64_MAX, -1, INT64_MIN};
        CHECK_INT(ys_engine_seek(three.engine, POSITIONS - 3), YS_OK);
        for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
            CHECK_INT(ys_engine_seek(three.engine, beyond[i]), YS_EINVAL);
            CHECK_HAS(ys_engine_error(), "the cache has room for positions 0 to 11");
        }
        CHECK_INT(ys_engine_seek(whole.engine, 0), YS_EINVAL);
        CHECK_HAS(ys_engine_error(), "this engine has no cache of keys and values");
        struct ys_engine *engine = NULL;
        struct ys_engine_config config = evaluation(&ref32);
        CHECK_INT(ys_engine_open_cached(three.graph, &config, 2, &engine), YS_EINVAL);
        CHECK_HAS(ys_engine_error(), "a cache of 2 positions has no room for the 3 of a pass of pieces");
        config.training = true;
        CHECK_INT(ys_engine_open_cached(three.graph, &config, POSITIONS, &engine), YS_EINVAL);
        CHECK_HAS(ys_engine_error(), "it does not train");
        CHECK(engine == NULL);
    }
    close_part(&whole);
    close_part(&three);
}

static void a_network_of_other_rows_has_no_cache(void)
{
    struct net n;
    struct ys_engine *engine = NULL;
    const struct ys_engine_config config = evaluation(&ref32);
    small_net(&n, BATCH);
    CHECK_INT(ys_engine_open_cached(&n.graph, &config, POSITIONS, &engine), YS_EUNSUPPORTED);
    CHECK_HAS(ys_engine_error(), "is no network of tokens");
    CHECK(engine == NULL);
}

static void check_token_beyond(const struct backend_case *b)
{
    struct part one = {0};
    if (open_part(&one, b, 1)) {
        int32_t *x = ys_engine_place(one.engine, 0);
        x[0] = x[2] = 0;
        x[1] = WORDS;
        CHECK_INT(ys_engine_forward(one.engine, NULL, NULL, YS_ENGINE_EVAL, NULL), YS_EINVAL);
        CHECK_HAS(ys_engine_error(), "token 11 of row 1 is not one of the 11 of the vocabulary");
    }
    close_part(&one);
}

static void a_token_beyond_the_vocabulary_is_an_error(void)
{
    check_token_beyond(&ref64);
    check_token_beyond(&onednn2);
    check_token_beyond(&simd2);
}

TAP_MAIN(TAP_CASE(pieces_make_what_the_whole_makes_ref_f64), TAP_CASE(pieces_make_what_the_whole_makes_ref_f32),
         TAP_CASE(pieces_make_what_the_whole_makes_onednn), TAP_CASE(pieces_make_what_the_whole_makes_simd),
         TAP_CASE(pieces_make_what_the_whole_makes_bf16), TAP_CASE(windows_slide_over_the_row),
         TAP_CASE(earlier_places_are_passed_again), TAP_CASE(a_wrong_place_shows),
         TAP_CASE(what_the_cache_has_no_room_for_is_an_error), TAP_CASE(a_network_of_other_rows_has_no_cache),
         TAP_CASE(a_token_beyond_the_vocabulary_is_an_error))
