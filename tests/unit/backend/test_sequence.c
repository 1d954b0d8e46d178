/* Embedding, attention, the last position, and dense layers of each: `ref` against the formulas of docs/graph.md and
 * against differences of its loss, `onednn` against `ref`. */
#include "engines.h"

#include "backend/attention.h"
#include "backend/kernels/kernels.h"
#include "graph/builder.h"

#include <string.h>

enum { BATCH = 2, POSITIONS = 5, VOCABULARY = 7, SEED = 5 };

/** Tokens through an embedding, dense layers of each position, attention, and the embedding's own weight as the last
 * layer: a class for each position. Each of `how` is one attention, one behind the other. */
static struct ys_graph *make_graph(const struct ys_attention *how, size_t count, bool of_itself, bool is_padded)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("sequence", (const int64_t[]){POSITIONS}, 1, YS_I32, &b) != YS_OK)
        return NULL;
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.3));
    const int table = ys_build_embedding(b, ys_build_input(b), VOCABULARY, 12, "embed");
    int v = ys_build_operand(b, YS_OP_ADD, table, (const int64_t[]){POSITIONS, 12}, 2,
                             (struct ys_initializer){YS_INIT_UNIFORM, -0.5, 0.5}, "place");
    for (size_t i = 0; i < count; i++) {
        const int64_t keys = 12 / how[i].heads * how[i].kv_heads;
        char name[3][16] = {"q0", "k0", "v0"};
        int in[4] = {v, v, v, ys_build_input(b)};
        for (size_t k = 0; k < 3 && !of_itself; k++) {
            name[k][1] = (char)('0' + i);
            in[k] = ys_build_gemm(b, v, k ? keys : 12, name[k]);
        }
        const int made = ys_build_node(b, &(struct ys_node){.op = YS_OP_ATTENTION, .attention = how[i]}, in,
                                       is_padded ? 4 : 3, i ? "attend1" : "attend0");
        v = ys_build_add(b, v, made, i ? "add1" : "add0");
    }
    v = ys_build_layernorm(b, v, 1e-5, "norm");
    v = ys_build_gemm_tied(b, table, v, "head");
    ys_build_target(b, YS_TARGET_CLASSES);
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    return graph;
}

/* What is added to every key moves no softmax, so that the gradient of the keys' bias is but what rounding leaves; that
 * of bfloat16 is 4e-3. */
static void compare_attention(const struct ys_attention *how, size_t count, bool of_itself)
{
    static const struct drawing tokens = {
        .purpose = "tokens", .seed = SEED, .batch = BATCH, .vocabulary = VOCABULARY, .tried = 9};
    for (int is_padded = 0; is_padded < 2; is_padded++)
        try_out(make_graph(how, count, of_itself, is_padded), &tokens, &(const struct allowed){0.06, 6e-4});
}

static void attention_of_heads(void)
{
    compare_attention((const struct ys_attention[]){{1, 1, false, 0}, {3, 3, false, 0.7}}, 2, false);
}

static void attention_is_causal(void)
{
    compare_attention((const struct ys_attention[]){{2, 2, true, 0}, {4, 4, true, 0.9}}, 2, false);
}

static void attention_of_grouped_heads(void)
{
    compare_attention((const struct ys_attention[]){{4, 2, true, 0}, {6, 1, false, 0}}, 2, false);
}

static void attention_of_one_value(void)
{
    compare_attention((const struct ys_attention[]){{2, 2, true, 0}}, 1, true);
}

/** Keys and values that are the rows themselves, whose gradient nobody wants. */
static void attention_to_what_is_given(void)
{
    static const struct drawing numbers = {.purpose = "given", .seed = SEED, .batch = BATCH, .tried = 9};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("given", (const int64_t[]){POSITIONS, 6}, 2, YS_F32, &b) == YS_OK);
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.3));
    const int x = ys_build_input(b), in[] = {ys_build_gemm(b, x, 6, "q"), x, x};
    const int v =
        ys_build_node(b, &(struct ys_node){.op = YS_OP_ATTENTION, .attention = {2, 2, false, 0}}, in, 3, "attend");
    ys_build_target(b, YS_TARGET_CLASSES);
    REQUIRE(ys_build_finish(b, ys_build_gemm(b, v, 5, "head"), &graph) == YS_OK);
    try_out(graph, &numbers, &(const struct allowed){0.06, 6e-4});
}

/** x (N, 5, 6) through a dense layer, times x turned, whose gradient nobody wants, times the layer again; of heads side
 * by side, (N, 2, 5, 3). */
static void compare_products(bool of_heads)
{
    static const struct drawing numbers = {.purpose = "products", .seed = SEED, .batch = BATCH, .tried = 9};
    const struct ys_node times = {.op = YS_OP_MATMUL},
                         apart = {.op = YS_OP_RESHAPE, .shape_rank = 4, .shape = {YS_BATCH, POSITIONS, 2, 3}},
                         first = {.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 1, 3}},
                         turn = {.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 3, 1}},
                         plain_turn = {.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 1}},
                         beside = {.op = YS_OP_RESHAPE, .shape_rank = 3, .shape = {YS_BATCH, POSITIONS, 6}};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("products", (const int64_t[]){POSITIONS, 6}, 2, YS_F32, &b) == YS_OK);
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.3));
    int x = ys_build_input(b), a = ys_build_gemm(b, x, 6, "a");
    if (of_heads) {
        a = ys_build_node(b, &apart, &a, 1, "a_apart");
        a = ys_build_node(b, &first, &a, 1, "a_first");
        x = ys_build_node(b, &apart, &x, 1, "x_apart");
    }
    const int turned = ys_build_node(b, of_heads ? &turn : &plain_turn, &x, 1, "turned");
    const int square = ys_build_node(b, &times, (const int[]){a, turned}, 2, "square");
    int y = ys_build_node(b, &times, (const int[]){square, a}, 2, "twice");
    if (of_heads) {
        y = ys_build_node(b, &first, &y, 1, "y_first");
        y = ys_build_node(b, &beside, &y, 1, "y_beside");
    }
    ys_build_target(b, YS_TARGET_CLASSES);
    REQUIRE(ys_build_finish(b, ys_build_gemm(b, y, 5, "head"), &graph) == YS_OK);
    try_out(graph, &numbers, &(const struct allowed){0.06, 6e-4});
}

static void products_of_values(void)
{
    compare_products(false);
    compare_products(true);
}

static double element_of(const void *values, enum ys_engine_precision precision, int i)
{
    return precision == YS_ENGINE_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

/** Of whole numbers, whose products are exact: rows of two pairs of matrices (2, 3) and (3, 4). */
static void check_product(const char *backend, enum ys_engine_precision precision)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    struct ys_engine *e = NULL;
    REQUIRE(ys_build_new("product", (const int64_t[]){2, 2, 3}, 3, YS_F32, &b) == YS_OK);
    const int in[] = {ys_build_input(b), ys_build_more_input(b, "b", (const int64_t[]){2, 3, 4}, 3, YS_F32)};
    const int y = ys_build_node(b, &(struct ys_node){.op = YS_OP_MATMUL}, in, 2, "times");
    ys_build_target(b, YS_TARGET_VECTOR);
    ys_build_loss(b, YS_LOSS_MEAN_SQUARED_ERROR);
    REQUIRE(ys_build_finish(b, y, &graph) == YS_OK);
    const struct ys_engine_config config = {.batch = BATCH, .precision = precision, .backend = backend, .threads = 2};
    if (ys_engine_open_graph(graph, &config, &e) != 0) {
        tap_skip("%s", ys_engine_error());
        ys_graph_free(graph);
        return;
    }
    float *left = ys_engine_place(e, 0), *right = ys_engine_place(e, 1);
    for (int i = 0; i < BATCH * 2 * 2 * 3; i++)
        left[i] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < BATCH * 2 * 3 * 4; i++)
        right[i] = (float)(i * 5 % 13 - 6);
    memset(ys_engine_target(e), 0, BATCH * 2 * 2 * 4 * sizeof(float));
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
    for (int i = 0; i < BATCH * 2 * 2 * 4; i++) {
        const float *row = left + i / 4 * 3, *column = right + i / 8 * 12 + i % 4;
        CHECK_NEAR(element_of(ys_engine_logits(e), precision, i),
                   (double)(row[0] * column[0] + row[1] * column[4] + row[2] * column[8]), 0);
    }
    ys_engine_close(e);
    ys_graph_free(graph);
}

static void a_product_is_its_formula(void)
{
    check_product("ref", YS_ENGINE_F64);
    check_product("onednn", YS_ENGINE_F32);
    check_product("simd", YS_ENGINE_F32);
}

static void compare_classes(int64_t classes, int64_t positions, int64_t width, double smoothing)
{
    const struct drawing tokens = {
        .purpose = "many", .seed = SEED, .batch = BATCH, .vocabulary = (int32_t)classes, .tried = 9};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (!CHECK(ys_build_new("many", (const int64_t[]){positions}, 1, YS_I32, &b) == YS_OK))
        return;
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.3));
    const int v = ys_build_embedding(b, ys_build_input(b), classes, width, "embed");
    ys_build_target(b, YS_TARGET_CLASSES);
    if (!CHECK(ys_build_finish(b, ys_build_gemm(b, v, classes, "head"), &graph) == YS_OK))
        return;
    graph->label_smoothing = smoothing;
    try_out(graph, &tokens, &(const struct allowed){0.06, 6e-4});
}

/** So many classes that the back end takes their exponentials in float, and a line of them that ends within a vector.
 */
static void the_loss_of_many_classes(void)
{
    compare_classes(155, POSITIONS, 12, 0);
    compare_classes(155, POSITIONS, 12, 0.1);
}

/** So many classes that the gradient behind them is a product with the weight in C order: in float of 128 lines, and in
 * bf16 where a single tile of its result would be left unwritten. */
static void the_gradient_of_many_classes_and_lines(void)
{
    compare_classes(8195, 64, 12, 0);
    compare_classes(2051, POSITIONS, 12, 0);
    compare_classes(2051, POSITIONS, 64, 0); /* the widest such tile */
}

/** Lines of lengths around a vector's and around what is summed in float: to 4 units in the last place of a float, and
 * one more for each 16 of what is summed there. */
static void lines_of_a_softmax(void)
{
    static const int64_t counts[] = {1, 15, 16, 17, 64, 1000, 1025, 2100};
    static float z[2100], e[2101];
    const struct ys_softmax_kernels *kernels = ys_softmax_kernels();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double sum = 0, top = -INFINITY;
        for (int64_t k = 0; k < counts[i]; k++) {
            z[k] = (float)((k * 37 + 5) % 101) * 0.2F - 7;
            top = z[k] > top ? z[k] : top;
        }
        for (int64_t k = 0; k < counts[i]; k++)
            sum += exp(z[k] - top);
        e[counts[i]] = -3;
        CHECK(kernels->largest(z, counts[i]) == (float)top);
        CHECK_NEAR(kernels->exponents(z, counts[i], (float)top, NULL) / sum, 1, 68 * 0x1p-24);
        CHECK_NEAR(kernels->exponents(z, counts[i], (float)top, e) / sum, 1, 68 * 0x1p-24);
        kernels->times(e, counts[i], 2, 1);
        for (int64_t k = 0; k < counts[i]; k++)
            CHECK_NEAR(e[k], 2 * exp(z[k] - top) + 1, 3 * 8 * 0x1p-24);
        CHECK(e[counts[i]] == -3); /* nothing behind the end is written */
    }
    for (int64_t at = 0; at < 40; at++) { /* wherever the largest lies, in whole vectors and the last */
        for (int64_t k = 0; k < 40; k++)
            z[k] = k == at ? -1 : -2;
        CHECK(kernels->largest(z, 40) == -1);
    }
}

/* The most of what the cases of long_attention have. */
enum { LONG_KEYS = 131, LONG_ROW = 2 * 4 * 35 * LONG_KEYS };

/** What the kernels are to give in double, and of each sum what its terms come to without their signs. */
struct attended {
    double p[LONG_KEYS], y[LONG_ROW], dq[LONG_ROW], dk[LONG_ROW], dv[LONG_ROW];
    double y_terms[LONG_ROW], dq_terms[LONG_ROW], dk_terms[LONG_ROW], dv_terms[LONG_ROW];
};

static void add(double *sum, double *terms, double term, double most)
{
    *sum += term;
    *terms += most;
}

/** One query of one head of one row, q, k, v and dy at `at`. */
static void attend_plainly(const struct ys_heads *h, float *const operand[], int64_t row, int64_t head, int64_t t,
                           struct attended *a)
{
    const int64_t kv = head / (h->heads / h->kv_heads), visible = h->causal ? h->keys - h->queries + t + 1 : h->keys;
    const int64_t q = ((row * h->queries + t) * h->heads + head) * h->width, y = q / h->width * h->value_width;
    const int32_t *tokens = (const int32_t *)(const void *)operand[4] + row * h->keys;
    double sum = 0, mean = 0, terms = 0, dp[LONG_KEYS] = {0}, dp_terms[LONG_KEYS] = {0};
    for (int64_t s = 0; s < visible; s++) {
        const int64_t at = (row * h->keys + s) * h->kv_heads + kv;
        double dot = 0;
        for (int64_t i = 0; i < h->width; i++)
            dot += (double)operand[0][q + i] * operand[1][at * h->width + i];
        for (int64_t i = 0; i < h->value_width; i++)
            add(&dp[s], &dp_terms[s], (double)operand[3][y + i] * operand[2][at * h->value_width + i],
                fabs((double)operand[3][y + i] * operand[2][at * h->value_width + i]));
        a->p[s] = h->padded && tokens[s] == YS_ROWS_PADDING ? 0 : exp(dot * (double)h->scale);
        sum += a->p[s];
    }
    for (int64_t s = 0; s < visible; s++) {
        a->p[s] /= sum;
        add(&mean, &terms, a->p[s] * dp[s], a->p[s] * dp_terms[s]);
    }
    for (int64_t s = 0; s < visible; s++) {
        const int64_t at = (row * h->keys + s) * h->kv_heads + kv;
        const double ds = (double)h->scale * a->p[s] * (dp[s] - mean);
        const double most = (double)h->scale * a->p[s] * (dp_terms[s] + terms);
        for (int64_t i = 0, k = at * h->width; i < h->width; i++, k++) {
            add(&a->dq[q + i], &a->dq_terms[q + i], ds * operand[1][k], most * fabs((double)operand[1][k]));
            add(&a->dk[k], &a->dk_terms[k], ds * operand[0][q + i], most * fabs((double)operand[0][q + i]));
        }
        for (int64_t i = 0, v = at * h->value_width; i < h->value_width; i++, v++) {
            add(&a->y[y + i], &a->y_terms[y + i], a->p[s] * operand[2][v], a->p[s] * fabs((double)operand[2][v]));
            add(&a->dv[v], &a->dv_terms[v], a->p[s] * operand[3][y + i], a->p[s] * fabs((double)operand[3][y + i]));
        }
    }
}

/** A sum is wrong by a unit of a float of all its terms for each factor and each addition behind a term. */
static void check_sums(const char *what, const float *got, const double *sums, const double *terms, int64_t count,
                       double steps)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - sums[i]) <= steps * 0x1p-24 * terms[i])) {
            CHECK_TEXT(what, "right");
            CHECK_NEAR(got[i], sums[i], steps * 0x1p-24 * terms[i]);
            return;
        }
}

/* Scratch of two threads, with as much on both sides of it, which stays what it is. */
enum { SCRATCH = 2 * YS_ATTENTION_STRIP * (2 * LONG_KEYS + 3 * 48) };
static float scratch_room[3 * SCRATCH];
static float *const scratch = scratch_room + SCRATCH;

static void check_scratch(const struct ys_heads *h)
{
    const size_t count = ys_heads_scratch_bytes(h) / sizeof(float);
    REQUIRE(count <= SCRATCH);
    for (size_t i = 0; i < 3 * SCRATCH; i++)
        if ((i < SCRATCH || i >= SCRATCH + count) && scratch_room[i] != -3) {
            CHECK_INT((int64_t)i - SCRATCH, 0); /* a place beyond the scratch was written to */
            return;
        }
}

/** Rows of more queries than the kernels take at once, parts that are no whole vectors, fewer queries than keys. */
static void check_long(struct ys_heads h)
{
    static float numbers[4][LONG_ROW], got[4][LONG_ROW], tokens[2 * LONG_KEYS];
    static struct attended a;
    float *const given[] = {numbers[0], numbers[1], numbers[2], numbers[3], tokens};
    const int64_t queries = h.rows * h.queries * h.heads, keys = h.rows * h.keys * h.kv_heads;
    struct ys_rng rng;
    ys_rng_init(&rng, SEED, "long attention");
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < LONG_ROW; i++)
            numbers[k][i] = (float)(ys_rng_uniform(&rng) * 2 - 1);
    for (int64_t i = 0; i < h.rows * h.keys; i++) /* the first key of a row is never hidden */
        ((int32_t *)(void *)tokens)[i] = i % h.keys % 7 == 3 ? YS_ROWS_PADDING : 1;
    a = (struct attended){{0}};
    for (int64_t i = 0; i < queries; i++)
        attend_plainly(&h, given, i / h.heads / h.queries, i % h.heads, i / h.heads % h.queries, &a);
    for (size_t i = 0; i < 3 * SCRATCH; i++)
        scratch_room[i] = -3;
    void *const forward[] = {given[0], given[1], given[2], scratch, got[0], tokens};
    void *const backward[] = {given[0], given[1], given[2], given[3], scratch, got[1], got[2], got[3], tokens};
    CHECK(ys_attention_run(&h, forward) == YS_OK);
    CHECK(ys_attention_backward_run(&h, backward) == YS_OK);
    check_scratch(&h);
    /* A score of at most sqrt(width) is wrong by width + 2 units, and so is its exponential, twice in a softmax, whose
     * own error is 8 units; the sums behind it follow. */
    const double softmax = 2 * sqrt((double)h.width) * (double)(h.width + 2) + 8 + 64 + 3;
    const double steps = 2 * softmax + (double)(h.keys + h.queries * h.heads + h.value_width);
    check_sums("y", got[0], a.y, a.y_terms, queries * h.value_width, steps);
    check_sums("dq", got[1], a.dq, a.dq_terms, queries * h.width, steps);
    check_sums("dk", got[2], a.dk, a.dk_terms, keys * h.width, steps);
    check_sums("dv", got[3], a.dv, a.dv_terms, keys * h.value_width, steps);
}

static void long_attention(void)
{
    const struct ys_heads some = {.threads = 2, .rows = 2, .heads = 4, .kv_heads = 2, .scale = 0.3F};
    static const int64_t extents[][4] = {
        {131, 131, 16, 16}, {70, 131, 20, 35}, {33, 65, 5, 3}, {1, 9, 16, 8}, {32, 64, 8, 33}};
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        for (int how = 0; how < 4; how++) {
            struct ys_heads h = some;
            h.queries = extents[i][0];
            h.keys = h.room = extents[i][1];
            h.width = extents[i][2];
            h.value_width = extents[i][3];
            h.causal = how & 1;
            h.padded = how & 2;
            check_long(h);
        }
}

enum { KEYS = 3, WIDTH = 4 };

/** One head's result by its formula: sum over visible s of exp(scale q . k) v over the sum of exp(scale q . k). */
static double formula(const float *q, const float *k, const float *v, const int32_t *tokens,
                      const struct ys_attention *how, int64_t t, int64_t at)
{
    const int64_t part = WIDTH / how->heads, kv_row = WIDTH / how->heads * how->kv_heads;
    const int64_t head = at / part, kv = head * how->kv_heads / how->heads;
    double sum = 0, total = 0, top = -INFINITY, dots[KEYS] = {0};
    const double scale = how->scale != 0 ? how->scale : pow((double)part, -0.5);
    const int64_t visible = how->causal ? t + 1 : KEYS;
    for (int64_t s = 0; s < visible; s++) {
        if (tokens && tokens[s] == 0)
            continue;
        for (int64_t i = 0; i < part; i++)
            dots[s] += (double)q[t * WIDTH + head * part + i] * k[s * kv_row + kv * part + i];
        top = fmax(top, scale * dots[s]);
    }
    for (int64_t s = 0; s < visible; s++) { /* of both sums the largest term has the factor 1 */
        if (tokens && tokens[s] == 0)
            continue;
        sum += exp(scale * dots[s] - top);
        total += exp(scale * dots[s] - top) * v[s * kv_row + kv * part + at % part];
    }
    return total / sum;
}

/** `tokens`, of all rows: which keys they hide; NULL: none. */
static void check_formula_of(struct ys_attention how, const int32_t *tokens, const char *backend,
                             enum ys_engine_precision precision, double bound)
{
    const int64_t kv_row = WIDTH / how.heads * how.kv_heads;
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_build_new("formula", (const int64_t[]){KEYS, WIDTH}, 2, YS_F32, &b) == YS_OK);
    const int k = ys_build_more_input(b, "k", (const int64_t[]){KEYS, kv_row}, 2, YS_F32);
    const int v = ys_build_more_input(b, "v", (const int64_t[]){KEYS, kv_row}, 2, YS_F32);
    const size_t count = tokens ? 4 : 3;
    const int in[] = {ys_build_input(b), k, v,
                      tokens ? ys_build_more_input(b, "tokens", (const int64_t[]){KEYS}, 1, YS_I32) : -1};
    const int y = ys_build_node(b, &(struct ys_node){.op = YS_OP_ATTENTION, .attention = how}, in, count, "attend");
    ys_build_target(b, YS_TARGET_VECTOR);
    ys_build_loss(b, YS_LOSS_MEAN_SQUARED_ERROR);
    REQUIRE(ys_build_finish(b, y, &graph) == YS_OK);
    CHECK(ys_graph_multiply_adds(graph) == KEYS * (KEYS * WIDTH + KEYS * WIDTH));
    struct ys_engine_config config = {.batch = BATCH, .precision = precision, .backend = backend, .threads = 1};
    struct ys_engine *e = NULL;
    struct ys_rng rng;
    const struct ys_rows rows = ys_graph_rows(graph);
    if (ys_engine_open_graph(graph, &config, &e) != 0) {
        tap_skip("%s", ys_engine_error());
        ys_graph_free(graph);
        return;
    }
    ys_rng_init(&rng, SEED, "formula");
    for (size_t i = 0; i < 3; i++)
        ys_rows_draw(&rows.inputs[i], 0, &rng, BATCH, ys_engine_place(e, i));
    if (tokens)
        memcpy(ys_engine_place(e, 3), tokens, BATCH * KEYS * sizeof *tokens);
    memset(ys_engine_target(e), 0, BATCH * KEYS * WIDTH * sizeof(float));
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
    const void *result = ys_engine_logits(e);
    for (int64_t i = 0; i < BATCH * KEYS * WIDTH; i++) {
        const int64_t row = i / (KEYS * WIDTH);
        CHECK_NEAR(precision == YS_ENGINE_F64 ? ((const double *)result)[i] : (double)((const float *)result)[i],
                   formula((const float *)ys_engine_place(e, 0) + row * KEYS * WIDTH,
                           (const float *)ys_engine_place(e, 1) + row * KEYS * kv_row,
                           (const float *)ys_engine_place(e, 2) + row * KEYS * kv_row,
                           tokens ? tokens + row * KEYS : NULL, &how, i / WIDTH % KEYS, i % WIDTH),
                   bound);
    }
    ys_engine_close(e);
    ys_graph_free(graph);
}

static void check_formula_by(struct ys_attention how, const char *backend, enum ys_engine_precision precision,
                             double bound)
{
    check_formula_of(how, NULL, backend, precision, bound);
}

static void check_formula(struct ys_attention how)
{
    check_formula_by(how, "ref", YS_ENGINE_F64, 1e-14);
}

/** Scores of hundreds to thousands, whose exponentials are no numbers, and of which those that are hidden are larger
 * than those that are seen. They are wrong by up to four unit roundoffs of 6000 and so is twice the share of a value of
 * at most 5. */
static void check_large_scores(const char *backend, enum ys_engine_precision precision)
{
    const double bound = 4 * (precision == YS_ENGINE_F64 ? 0x1p-53 : 0x1p-24) * 6000 * 2 * 5;
    check_formula_by((struct ys_attention){1, 1, false, 300}, backend, precision, bound);
    check_formula_by((struct ys_attention){2, 2, true, 600}, backend, precision, bound);
    check_formula_by((struct ys_attention){4, 2, true, 900}, backend, precision, bound);
}

static void attention_of_large_scores_ref(void)
{
    check_large_scores("ref", YS_ENGINE_F64);
}

static void attention_of_large_scores_onednn(void)
{
    check_large_scores("onednn", YS_ENGINE_F32);
}

static void attention_of_large_scores_simd(void)
{
    check_large_scores("simd", YS_ENGINE_F32);
}

/** Keys hidden at the end of a row, and in its middle. */
static const int32_t some_hidden[BATCH * KEYS] = {5, 2, 0, 1, 0, -3};

static void attention_hides_padding_ref(void)
{
    check_formula_of((struct ys_attention){2, 1, false, 0}, some_hidden, "ref", YS_ENGINE_F64, 1e-14);
    check_formula_of((struct ys_attention){4, 2, true, 0.5}, some_hidden, "ref", YS_ENGINE_F64, 1e-14);
}

/** Of numbers of at most 1: four unit roundoffs of scores of at most 4, and so of the shares of values of at most 1. */
static void attention_hides_padding_onednn(void)
{
    check_formula_of((struct ys_attention){2, 1, false, 0}, some_hidden, "onednn", YS_ENGINE_F32, 32 * 0x1p-24);
    check_formula_of((struct ys_attention){4, 2, true, 0.5}, some_hidden, "onednn", YS_ENGINE_F32, 32 * 0x1p-24);
}

static void attention_hides_padding_simd(void)
{
    check_formula_of((struct ys_attention){2, 1, false, 0}, some_hidden, "simd", YS_ENGINE_F32, 32 * 0x1p-24);
    check_formula_of((struct ys_attention){4, 2, true, 0.5}, some_hidden, "simd", YS_ENGINE_F32, 32 * 0x1p-24);
}

/** What the engine says of rows that hide all keys, or the first, which a causal query has alone. */
static void refuse_hidden(const char *backend, bool causal, const int32_t tokens[BATCH * POSITIONS], const char *said)
{
    struct ys_graph *graph = make_graph(&(struct ys_attention){2, 2, causal, 0}, 1, true, true);
    const struct ys_engine_config config = {.batch = BATCH,
                                            .precision = strcmp(backend, "ref") == 0 ? YS_ENGINE_F64 : YS_ENGINE_F32,
                                            .backend = backend,
                                            .threads = 1,
                                            .training = true};
    struct ys_engine *e = NULL;
    REQUIRE(graph);
    if (ys_engine_open_graph(graph, &config, &e) != 0)
        tap_skip("%s", ys_engine_error());
    else {
        memcpy(ys_engine_place(e, 0), tokens, BATCH * POSITIONS * sizeof *tokens);
        memset(ys_engine_target(e), 0, BATCH * POSITIONS * sizeof(int64_t));
        const int status = ys_engine_forward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL);
        CHECK(said ? status != 0 : status == 0);
        if (said)
            CHECK_HAS(ys_engine_error(), said);
        ys_engine_close(e);
    }
    ys_graph_free(graph);
}

static void padding_that_hides_everything_is_refused(void)
{
    static const int32_t last[BATCH * POSITIONS] = {1, 2, 0, 0, 0, 0, 0, 0, 0, 6}, none[BATCH * POSITIONS] = {6, 1};
    static const int32_t first[BATCH * POSITIONS] = {0, 5, 4, 3, 2, 1, 2, 3, 4, 5}, row[BATCH * POSITIONS] = {[5] = 6};
    static const char *const backends[] = {"ref", "onednn", "simd"};
    for (size_t i = 0; i < 3; i++) {
        refuse_hidden(backends[i], false, last, NULL);
        refuse_hidden(backends[i], true, last,
                      "query 0 of row 1 sees no key: all tokens that it could see are the padding");
        refuse_hidden(backends[i], false, none, "query 0 of row 1 sees no key");
        refuse_hidden(backends[i], true, first, "query 0 of row 0 sees no key");
        refuse_hidden(backends[i], false, row, "query 0 of row 0 sees no key");
    }
}

static void attention_is_its_formula(void)
{
    check_formula((struct ys_attention){1, 1, false, 0});
    check_formula((struct ys_attention){2, 2, true, 0});
    check_formula((struct ys_attention){4, 2, false, 2.5});
    check_formula((struct ys_attention){4, 1, true, 0.25});
}

/** The rows that tokens name; a token twice gives its row two gradients, a row that none names gets 0. */
static void check_embedding(const char *backend, enum ys_engine_precision precision)
{
    static const int32_t tokens[2][3] = {{4, 0, 4}, {1, 4, 2}};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    struct ys_engine *e = NULL;
    double w[5][2], g[5][2], expected[5][2] = {{0}};
    REQUIRE(ys_build_new("embedding", (const int64_t[]){3}, 1, YS_I32, &b) == YS_OK);
    const int v = ys_build_embedding(b, ys_build_input(b), 5, 2, "embed");
    ys_build_target(b, YS_TARGET_VECTOR);
    ys_build_loss(b, YS_LOSS_MEAN_SQUARED_ERROR);
    REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
    struct ys_engine_config config = {
        .batch = 2, .precision = precision, .backend = backend, .threads = 2, .training = true, .guarded = true};
    if (ys_engine_open_graph(graph, &config, &e) != 0) {
        tap_skip("%s", ys_engine_error());
        ys_graph_free(graph);
        return;
    }
    CHECK(ys_engine_draw(e, SEED) == 0);
    memcpy(ys_engine_place(e, 0), tokens, sizeof tokens);
    memset(ys_engine_target(e), 0, 12 * sizeof(float));
    CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
    CHECK(ys_engine_param_get(e, 0, YS_ENGINE_F64, w) == 0);
    CHECK(ys_engine_gradient_get(e, 0, YS_ENGINE_F64, g) == 0);
    for (int i = 0; i < 12; i++) {
        const int token = (&tokens[0][0])[i / 2];
        const double y = precision == YS_ENGINE_F64 ? ((const double *)ys_engine_logits(e))[i]
                                                    : (double)((const float *)ys_engine_logits(e))[i];
        CHECK_NEAR(y, w[token][i % 2], 0);
        expected[token][i % 2] += 2 * w[token][i % 2] / 12; /* of the mean of squares */
    }
    for (int i = 0; i < 10; i++)
        CHECK_NEAR((&g[0][0])[i], (&expected[0][0])[i], precision == YS_ENGINE_F64 ? 1e-15 : 1e-7);
    ((int32_t *)ys_engine_place(e, 0))[4] = 5;
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) != 0);
    CHECK_HAS(ys_engine_error(), "token 5 of row 1 is not one of the 5 of the vocabulary");
    ((int32_t *)ys_engine_place(e, 0))[4] = -1;
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) != 0);
    ((int32_t *)ys_engine_place(e, 0))[4] = 4;
    ((int32_t *)ys_engine_place(e, 0))[0] = 5;
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) != 0);
    CHECK_HAS(ys_engine_error(), "token 5 of row 0 is not one of the 5 of the vocabulary");
    CHECK(ys_engine_check(e) == 0);
    ys_engine_close(e);
    config.input_gradient = true;
    CHECK(ys_engine_open_graph(graph, &config, &e) != 0);
    CHECK_HAS(ys_engine_error(), "tokens have no gradient");
    ys_graph_free(graph);
}

static void embedding_ref(void)
{
    check_embedding("ref", YS_ENGINE_F64);
}

static void embedding_onednn(void)
{
    check_embedding("onednn", YS_ENGINE_F32);
}

static void embedding_simd(void)
{
    check_embedding("simd", YS_ENGINE_F32);
}

enum { LAST_ROWS = 4, LAST_WIDTH = 3 };
/* The last place of a row, the first, one behind a hole, one before it; and a negative token, which is none. */
static const int32_t ended[LAST_ROWS * POSITIONS] = {3, 1, 2, 6, 5, 4, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 5, -3, 0, 0};
static const int64_t last_places[LAST_ROWS] = {4, 0, 3, 2};

/** Numbers of which each row's last position that counts goes, with itself doubled where `is_summed`, into a distance
 * from a vector: what a position is read twice has the sum of both gradients. */
static struct ys_graph *last_graph(bool is_summed)
{
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("last", (const int64_t[]){POSITIONS, LAST_WIDTH}, 2, YS_F32, &b) != YS_OK)
        return NULL;
    const int x = ys_build_input(b), tokens = ys_build_more_input(b, "tokens", (const int64_t[]){POSITIONS}, 1, YS_I32);
    const struct ys_node node = {.op = YS_OP_LAST};
    int v = ys_build_node(b, &node, (const int[]){x, tokens}, 2, "last");
    if (is_summed)
        v = ys_build_add(b, v, ys_build_node(b, &node, (const int[]){x, tokens}, 2, "again"), "sum");
    ys_build_target(b, YS_TARGET_VECTOR);
    ys_build_loss(b, YS_LOSS_MEAN_SQUARED_ERROR);
    CHECK(ys_build_finish(b, v, &graph) == YS_OK);
    return graph;
}

/** What stands there, to the bit, and the gradient at that place alone: of the mean of squares over all elements. */
static void check_last(const char *backend, enum ys_engine_precision precision, bool is_summed)
{
    struct ys_graph *graph = last_graph(is_summed);
    struct ys_engine *e = NULL;
    const double times = is_summed ? 2 : 1, bound = precision == YS_ENGINE_F64 ? 1e-15 : 1e-7;
    const struct ys_engine_config config = {.batch = LAST_ROWS,
                                            .precision = precision,
                                            .backend = backend,
                                            .threads = 2,
                                            .training = true,
                                            .guarded = true,
                                            .input_gradient = true};
    REQUIRE(graph);
    CHECK_INT(ys_graph_multiply_adds(graph), 0);
    if (ys_engine_open_graph(graph, &config, &e) != 0) {
        tap_skip("%s", ys_engine_error());
        ys_graph_free(graph);
        return;
    }
    float *x = ys_engine_place(e, 0);
    for (int i = 0; i < LAST_ROWS * POSITIONS * LAST_WIDTH; i++)
        x[i] = (float)sin(i + 1);
    memset(ys_engine_target(e), 0, LAST_ROWS * LAST_WIDTH * sizeof(float));
    for (int pass = 0; pass < 2; pass++) { /* what the first leaves behind, of whole rows, is gone after the second */
        for (int i = 0; i < LAST_ROWS * POSITIONS; i++)
            ((int32_t *)ys_engine_place(e, 1))[i] = pass ? ended[i] : 1;
        CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
    }
    const void *y = ys_engine_logits(e), *dx = ys_engine_input_gradient(e);
    for (int i = 0; i < LAST_ROWS * POSITIONS * LAST_WIDTH; i++) {
        const int row = i / (POSITIONS * LAST_WIDTH), at = i / LAST_WIDTH % POSITIONS, k = i % LAST_WIDTH;
        const bool is_last = at == last_places[row];
        const double gradient = is_last ? 2 * times * times * (double)x[i] / (LAST_ROWS * LAST_WIDTH) : 0;
        if (is_last)
            CHECK_NEAR(element_of(y, precision, row * LAST_WIDTH + k), times * (double)x[i], 0);
        CHECK_NEAR(element_of(dx, precision, i), gradient, is_last ? bound : 0);
    }
    for (int row = 2; row >= 0; row -= 2) { /* nothing lies before the first */
        char said[80];
        memset((int32_t *)ys_engine_place(e, 1) + (size_t)row * POSITIONS, 0, POSITIONS * sizeof(int32_t));
        CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) != 0);
        snprintf(said, sizeof said, "row %d has no last position: all its tokens are the padding, 0", row);
        CHECK_HAS(ys_engine_error(), said);
    }
    CHECK(ys_engine_check(e) == 0);
    ys_engine_close(e);
    ys_graph_free(graph);
}

static void last_position_ref(void)
{
    check_last("ref", YS_ENGINE_F64, false);
    check_last("ref", YS_ENGINE_F64, true);
    check_last("ref", YS_ENGINE_F32, true);
}

static void last_position_onednn(void)
{
    check_last("onednn", YS_ENGINE_F32, false);
    check_last("onednn", YS_ENGINE_F32, true);
}

static void last_position_simd(void)
{
    check_last("simd", YS_ENGINE_F32, false);
    check_last("simd", YS_ENGINE_F32, true);
}

/** The state behind the last token of rows that end somewhere, as lstm-classifier reads it. */
static void last_position_of_states(void)
{
    static const struct drawing tokens = {
        .purpose = "states", .seed = SEED, .batch = LAST_ROWS, .vocabulary = VOCABULARY, .tried = 9};
    for (int is_lstm = 0; is_lstm < 2; is_lstm++) {
        struct ys_build *b;
        struct ys_graph *graph = NULL;
        REQUIRE(ys_build_new("states", (const int64_t[]){POSITIONS}, 1, YS_I32, &b) == YS_OK);
        ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.3));
        int v = ys_build_embedding(b, ys_build_input(b), VOCABULARY, 6, "embed");
        v = ys_build_recurrent(b, is_lstm ? YS_OP_LSTM : YS_OP_GRU, v, 5, "layer");
        v = ys_build_node(b, &(struct ys_node){.op = YS_OP_LAST}, (const int[]){v, ys_build_input(b)}, 2, "last");
        REQUIRE(ys_build_finish(b, ys_build_gemm(b, v, 3, "head"), &graph) == YS_OK);
        try_out(graph, &tokens, &(const struct allowed){0.06, 6e-4});
    }
}

/** A dense layer of each position is the dense layer of as many rows. */
static void dense_of_positions_is_that_of_rows(void)
{
    double loss[2] = {0};
    for (int shape = 0; shape < 2; shape++) {
        struct ys_build *b;
        struct ys_graph *graph = NULL;
        struct ys_engine *e = NULL;
        const int64_t positions[] = {3, 4}, rows[] = {4};
        REQUIRE(ys_build_new("dense", shape ? rows : positions, shape ? 1 : 2, YS_F32, &b) == YS_OK);
        const int v = ys_build_gemm(b, ys_build_input(b), 5, "fc");
        ys_build_target(b, shape ? YS_TARGET_CLASS : YS_TARGET_CLASSES);
        REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
        CHECK(ys_graph_multiply_adds(graph) == (shape ? 20 : 60));
        struct ys_engine_config config = {
            .batch = shape ? 6 : 2, .precision = YS_ENGINE_F64, .backend = "ref", .threads = 1, .training = true};
        REQUIRE(ys_engine_open_graph(graph, &config, &e) == 0);
        CHECK(ys_engine_draw(e, SEED) == 0);
        for (int i = 0; i < 24; i++)
            ((float *)ys_engine_place(e, 0))[i] = (float)sin(i);
        for (int i = 0; i < 6; i++)
            ((int64_t *)ys_engine_target(e))[i] = i % 5;
        for (int step = 0; step < 3; step++)
            CHECK(ys_engine_step(e, NULL, NULL, 0.1, &loss[shape]) == 0);
        ys_engine_close(e);
        ys_graph_free(graph);
    }
    CHECK(loss[0] > 0 && loss[0] == loss[1]);
}

TAP_MAIN(TAP_CASE(the_loss_of_many_classes), TAP_CASE(the_gradient_of_many_classes_and_lines),
         TAP_CASE(lines_of_a_softmax), TAP_CASE(long_attention), TAP_CASE(attention_is_its_formula),
         TAP_CASE(attention_of_large_scores_ref), TAP_CASE(attention_hides_padding_ref),
         TAP_CASE(attention_hides_padding_onednn), TAP_CASE(attention_hides_padding_simd),
         TAP_CASE(padding_that_hides_everything_is_refused), TAP_CASE(attention_of_large_scores_onednn),
         TAP_CASE(attention_of_large_scores_simd), TAP_CASE(attention_of_heads), TAP_CASE(attention_is_causal),
         TAP_CASE(attention_of_grouped_heads), TAP_CASE(attention_of_one_value), TAP_CASE(products_of_values),
         TAP_CASE(a_product_is_its_formula), TAP_CASE(attention_to_what_is_given), TAP_CASE(last_position_ref),
         TAP_CASE(last_position_onednn), TAP_CASE(last_position_simd), TAP_CASE(last_position_of_states),
         TAP_CASE(embedding_ref), TAP_CASE(embedding_onednn), TAP_CASE(embedding_simd),
         TAP_CASE(dense_of_positions_is_that_of_rows))
