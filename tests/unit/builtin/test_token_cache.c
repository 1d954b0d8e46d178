/* Rows answered by the built-in engine piece by piece: what its two engines make, and what they cannot be opened for.
 */
#include "builtin/token_cache.h"

#include "base/mem.h"
#include "base/rng.h"
#include "graph/model.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 6,
    BATCH = 3,
    POSITIONS = 10,
    WORDS = 7,
    PROMPT = 4,
    TOKENS = POSITIONS - PROMPT,
    LOGITS = BATCH * POSITIONS * WORDS
};

static int32_t tokens[ROWS * POSITIONS];
static int64_t targets[ROWS * POSITIONS];
static const uint32_t order[BATCH] = {4, 0, 3};

static struct ys_graph *build(const char *name)
{
    const struct ys_model_input input = {
        .shape = {POSITIONS},
        .dtype = YS_I32,
        .classes = WORDS,
        .vocabulary = WORDS,
        .sizes = {[YS_MODEL_WIDTH] = 16, [YS_MODEL_LAYERS] = 2, [YS_MODEL_HEADS] = strstr(name, "-char") ? 0 : 2}};
    struct ys_graph *graph = NULL;
    if (ys_model_build(ys_model_find(name), &input, &graph) != YS_OK)
        printf("# %s\n", ys_error());
    return graph;
}

static void draw(void)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 7, "rows");
    for (int i = 0; i < ROWS * POSITIONS; i++) {
        tokens[i] = (int32_t)ys_rng_below(&rng, WORDS);
        targets[i] = (int64_t)ys_rng_below(&rng, WORDS);
    }
}

/** Weights of the graph, but that `spoilt` (may be NULL) has `rows` rows, or where that is 0 is not there. */
static bool write_weights(const struct ys_graph *graph, const char *path, const char *spoilt, int64_t rows)
{
    struct ys_tensor *tensors = calloc(graph->param_count, sizeof *tensors);
    float **values = calloc(graph->param_count, sizeof *values);
    size_t count = 0;
    for (size_t p = 0; p < graph->param_count; p++) {
        const struct ys_param *param = &graph->params[p];
        const bool is_spoilt = spoilt && strcmp(param->name, spoilt) == 0;
        struct ys_tensor t = {.name = param->name, .dtype = YS_F32, .rank = param->rank};
        memcpy(t.shape, param->shape, sizeof param->shape);
        if (is_spoilt && rows == 0)
            continue;
        if (is_spoilt)
            t.shape[0] = rows;
        const size_t elements = ys_tensor_count(&t);
        float *own = values[count] = malloc(elements * sizeof *own);
        struct ys_rng rng;
        ys_rng_init(&rng, 3, param->name);
        for (size_t i = 0; i < elements; i++)
            own[i] = (float)(2 * ys_rng_uniform(&rng) - 1) / 2;
        t.data = own;
        t.size_bytes = elements * sizeof *own;
        tensors[count++] = t;
    }
    const bool written = ys_safetensors_write(path, tensors, count, NULL) == YS_OK;
    for (size_t i = 0; i < count; i++)
        free(values[i]);
    free(values);
    free(tensors);
    return written;
}

/** Graph, weights and rows as files, the rows opened again, and the network as a whole. */
struct files {
    struct ys_graph *graph;
    char *graph_path, *weights_path;
    struct ys_builtin_rows rows;
    struct ys_engine_config config;
};

static bool make_files(struct files *f, const char *model, enum ys_engine_precision precision)
{
    const struct ys_tensor data[] = {
        {"x", YS_I32, 2, {ROWS, POSITIONS}, tokens, sizeof tokens},
        {"y", YS_I64, 2, {ROWS, POSITIONS}, targets, sizeof targets},
    };
    *f = (struct files){.graph = build(model),
                        .graph_path = ys_strdup(scratch("graph.json")),
                        .weights_path = ys_strdup(scratch("weights.safetensors")),
                        .config = {.batch = BATCH, .precision = precision, .threads = 1}};
    ys_json *json = f->graph ? ys_graph_to_json(f->graph) : NULL;
    const bool made = CHECK(json && ys_json_write(f->graph_path, json) == YS_OK) &&
                      CHECK(write_weights(f->graph, f->weights_path, NULL, 0)) &&
                      CHECK(ys_safetensors_write(scratch("data.safetensors"), data, 2, NULL) == YS_OK) &&
                      CHECK(ys_builtin_rows_open(scratch("data.safetensors"), f->graph, &f->rows) == YS_OK);
    ys_json_free(json);
    return made;
}

static void free_files(struct files *f)
{
    ys_builtin_rows_close(&f->rows);
    ys_graph_free(f->graph);
    ys_free(f->graph_path);
    ys_free(f->weights_path);
}

static ys_status open_cached(const struct files *f, int64_t prompt, int64_t behind, struct ys_builtin_cached *cached)
{
    return ys_builtin_cached_open(f->graph_path, f->weights_path, prompt, behind, &f->config, &f->rows, cached);
}

static double number(const struct ys_engine *e, const void *values, size_t at)
{
    return ys_engine_real_size(e) == sizeof(double) ? ((const double *)values)[at] : ((const float *)values)[at];
}

/* Sums of at most 64 terms (the widest layer), of the order of one, in some 20 layers: below 20 * 64 units of 2^-53 or
 * 2^-24, of which errors at random leave a tenth. A row or a position in the place of another is wrong by 0.1. */
static double tolerance_of(const struct files *f)
{
    return f->config.precision == YS_ENGINE_F64 ? 2e-14 : 1e-5;
}

/** Logits and loss of all pieces against those of whole rows. */
static void check_forward(const struct files *f, int64_t prompt)
{
    struct ys_builtin_cached cached;
    struct ys_engine *whole = NULL;
    double found[LOGITS], expected = NAN, loss = NAN, most = 0; /* as large as in any format */
    REQUIRE(open_cached(f, prompt, POSITIONS - prompt, &cached) == YS_OK);
    CHECK(ys_engine_open_graph(f->graph, &f->config, &whole) == 0 && ys_engine_load(whole, f->weights_path) == 0);
    for (size_t i = 0; i < BATCH; i++)
        ys_builtin_rows_copy(&f->rows, order[i], i, whole);
    CHECK(ys_engine_forward(whole, NULL, NULL, YS_ENGINE_EVAL, &expected) == 0);
    for (int again = 0; again < 2; again++) {
        CHECK_TEXT(ys_builtin_cached_forward(&cached, order, found, &loss) == YS_OK ? "" : ys_error(), "");
        for (size_t i = 0; i < LOGITS; i++)
            most = fmax(most, fabs(number(whole, found, i) - number(whole, ys_engine_logits(whole), i)));
        CHECK_NEAR(most, 0, tolerance_of(f));
        CHECK_NEAR(loss, expected, tolerance_of(f) * expected);
    }
    ys_engine_close(whole);
    ys_builtin_cached_close(&cached);
}

static void check_extents(enum ys_engine_precision precision)
{
    static const int64_t prompts[] = {1, PROMPT, POSITIONS - 1};
    struct files f;
    draw();
    if (make_files(&f, "gpt-nano", precision))
        for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++)
            check_forward(&f, prompts[i]);
    free_files(&f);
}

static void all_pieces_are_the_whole_in_double(void)
{
    check_extents(YS_ENGINE_F64);
}

static void all_pieces_are_the_whole_in_single_precision(void)
{
    check_extents(YS_ENGINE_F32);
}

/** Rows end at different places, and behind the longest of them no row of the batch has a target. */
static void hidden_targets_count_in_no_piece(void)
{
    struct files f;
    draw();
    for (int i = 0; i < BATCH; i++)
        for (int t = PROMPT + 1 + i; t < POSITIONS; t++)
            targets[order[i] * POSITIONS + (uint32_t)t] = YS_ROWS_HIDDEN;
    if (make_files(&f, "gpt-nano", YS_ENGINE_F64))
        check_forward(&f, PROMPT);
    free_files(&f);
}

/** Once a batch of hidden targets was looked at, answering, which asks for no loss, still works. */
static void a_batch_without_a_target_has_no_loss_but_answers(void)
{
    struct files f;
    struct ys_builtin_cached cached;
    double logits[LOGITS], loss = 0;
    draw();
    for (int i = 0; i < ROWS * POSITIONS; i++)
        targets[i] = YS_ROWS_HIDDEN;
    if (make_files(&f, "gpt-nano", YS_ENGINE_F64) && CHECK(open_cached(&f, PROMPT, TOKENS, &cached) == YS_OK)) {
        CHECK_INT(ys_builtin_cached_forward(&cached, order, logits, &loss), YS_EINVAL);
        CHECK_HAS(ys_error(), "all 30 targets of the batch are hidden (-1)");
        for (int64_t piece = 0; piece <= TOKENS; piece++) {
            const void *part = NULL;
            CHECK_INT(ys_builtin_cached_answer(&cached, order, piece, &part, NULL), YS_OK);
            CHECK(part != NULL);
        }
        ys_builtin_cached_close(&cached);
    }
    free_files(&f);
}

static void pieces_are_the_prompt_and_each_token(void)
{
    const struct ys_builtin_cached cached = {.prompt = PROMPT, .tokens = TOKENS};
    int64_t first = -1, end = 0;
    for (int64_t piece = 0; piece <= TOKENS; piece++) {
        const int64_t count = ys_builtin_cached_piece(&cached, piece, &first);
        CHECK_INT(first, end);
        CHECK_INT(count, piece == 0 ? PROMPT : 1);
        end = first + count;
    }
    CHECK_INT(end, POSITIONS);
}

static void a_row_beyond_the_file_is_an_error(void)
{
    static const uint32_t beyond[BATCH] = {0, ROWS, 1};
    struct files f;
    struct ys_builtin_cached cached;
    const void *logits;
    draw();
    if (make_files(&f, "gpt-nano", YS_ENGINE_F32) && CHECK(open_cached(&f, PROMPT, TOKENS, &cached) == YS_OK)) {
        CHECK_INT(ys_builtin_cached_answer(&cached, beyond, 0, &logits, NULL), YS_EINVAL);
        CHECK_HAS(ys_error(), "the order asks for row 6 of 6");
        ys_builtin_cached_close(&cached);
    }
    free_files(&f);
}

static void extents_that_are_no_row_are_refused(void)
{
    static const int64_t wrong[][2] = {{PROMPT, TOKENS + 1}, {PROMPT, TOKENS - 1}, {POSITIONS + 1, 1}};
    struct files f;
    struct ys_builtin_cached cached;
    draw();
    if (make_files(&f, "gpt-nano", YS_ENGINE_F32))
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            CHECK_INT(open_cached(&f, wrong[i][0], wrong[i][1], &cached), YS_EINVAL);
            CHECK_HAS(ys_error(), "are not the positions of a row, 10");
            CHECK(!cached.engine[0] && !cached.engine[1] && !cached.weights);
        }
    free_files(&f);
}

static void networks_that_remember_otherwise_are_unsupported(void)
{
    static const char *const models[] = {"lstm-char", "gru-char"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct files f;
        struct ys_builtin_cached cached;
        draw();
        if (make_files(&f, models[i], YS_ENGINE_F32)) {
            CHECK_INT(open_cached(&f, PROMPT, TOKENS, &cached), YS_EUNSUPPORTED);
            CHECK_HAS(ys_error(), "is none that takes each position by itself");
        }
        free_files(&f);
    }
}

/** Rows are read out of the file's own bytes: as many as the network has, not fewer and not more. */
static void weights_of_another_network_are_refused(void)
{
    static const struct {
        const char *name;
        int64_t rows;
        const char *said;
    } wrong[] = {
        {"positions.weight", PROMPT, "the file of weights has no positions.weight of 160 floats"},
        {"positions.weight", POSITIONS + 1, "the file of weights has no positions.weight of 160 floats"},
        {"embed.weight", 2 * WORDS, "the file of weights has no embed.weight of 112 floats"},
        {"norm.bias", 0, "the file of weights has no norm.bias of 16 floats"},
    };
    struct files f;
    struct ys_builtin_cached cached;
    draw();
    if (make_files(&f, "gpt-nano", YS_ENGINE_F32))
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            CHECK(write_weights(f.graph, f.weights_path, wrong[i].name, wrong[i].rows));
            CHECK_INT(open_cached(&f, PROMPT, TOKENS, &cached), YS_EFORMAT);
            CHECK_TEXT(ys_error(), wrong[i].said);
            CHECK(!cached.engine[0] && !cached.engine[1] && !cached.weights);
        }
    free_files(&f);
}

TAP_MAIN(TAP_CASE(all_pieces_are_the_whole_in_double), TAP_CASE(all_pieces_are_the_whole_in_single_precision),
         TAP_CASE(hidden_targets_count_in_no_piece), TAP_CASE(a_batch_without_a_target_has_no_loss_but_answers),
         TAP_CASE(pieces_are_the_prompt_and_each_token), TAP_CASE(a_row_beyond_the_file_is_an_error),
         TAP_CASE(extents_that_are_no_row_are_refused), TAP_CASE(networks_that_remember_otherwise_are_unsupported),
         TAP_CASE(weights_of_another_network_are_refused))
