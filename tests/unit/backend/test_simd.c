/* The matrix product of `simd`: sums of whole numbers that float holds exactly, around the edges of tiles, panels and
 * blocks, by any number of threads; and that a whole network gives the same bits with any number of them. */
#define REAL float
#include "backend/level.h"
#include "backend/parallel.h"
#include "backend/plain/ref.h"

#include <stdlib.h>
#include <string.h>

#include "backend/plain/simd_product.inc"

#include "engines.h"
#include "fenced.h"
#include "graph/builder.h"

enum { THREADS = 3 };

/** A number from -4 to 4: sums of hundreds of products of two are far below 2^24. */
static float number_at(int64_t i, int64_t salt)
{
    return (float)((i * i % 23 + i * salt) % 9 - 4);
}

static float *drawn(int64_t count, int64_t salt)
{
    float *at = fenced_new((size_t)count * sizeof *at);
    for (int64_t i = 0; i < count; i++)
        at[i] = number_at(i, salt);
    return at;
}

struct shape {
    int64_t m, n, k;
    char turn_a, turn_b;
};

/** Rows of c have a number more than the product, which stays as it is. */
static void check_shape(const struct shape *s, float beta, int threads, void *workspace)
{
    const int64_t c_row = s->n + 1;
    const bool a_turned = s->turn_a == 'T', b_turned = s->turn_b == 'T';
    const int64_t a_row = a_turned ? s->m : s->k, b_row = b_turned ? s->k : s->n;
    float *a = drawn(s->m * s->k, 3), *b = drawn(s->k * s->n, 5), *c = drawn(s->m * c_row, 7);
    int wrong = 0;
    memset(workspace, 0xff, THREADS * WORKSPACE_BYTES); /* NaNs */
    CHECK(multiply_floats(s->turn_a, s->turn_b, s->m, s->n, s->k, a, a_row, b, b_row, beta, c, c_row, threads,
                          workspace) == YS_OK);
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            float sum = beta * number_at(i * c_row + j, 7);
            for (int64_t k = 0; k < s->k; k++)
                sum += a[a_turned ? k * a_row + i : i * a_row + k] * b[b_turned ? j * b_row + k : k * b_row + j];
            wrong += c[i * c_row + j] != sum;
        }
        wrong += c[i * c_row + s->n] != number_at(i * c_row + s->n, 7);
    }
    tap_check(wrong == 0, __LINE__, "%c%c, %lld x %lld, sums of %lld, beta %g, %d threads: %d numbers are wrong",
              s->turn_a, s->turn_b, (long long)s->m, (long long)s->n, (long long)s->k, (double)beta, threads, wrong);
    fenced_free(a, (size_t)(s->m * s->k) * sizeof *a);
    fenced_free(b, (size_t)(s->k * s->n) * sizeof *b);
    fenced_free(c, (size_t)(s->m * c_row) * sizeof *c);
}

static void products_are_exact(void)
{
    static const int64_t rows[] = {1, 2, 3, 4, 5, 9, 13, BLOCK_ROWS + 1},
                         columns[] = {1, 3, 4, 7, 8, 9, 33, BLOCK_COLUMNS + 5},
                         depths[] = {1, 2, 5, BLOCK_DEPTH, BLOCK_DEPTH + 1, 2 * BLOCK_DEPTH + 3};
    void *workspace = fenced_new(THREADS * WORKSPACE_BYTES);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
            for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
                for (int kind = 0; kind < 4; kind++) {
                    const struct shape s = {rows[i], columns[j], depths[k], "NT"[kind / 2], "NT"[kind % 2]};
                    check_shape(&s, (float)((i + j + k) % 2), 1 + (int)(i + j + k) % THREADS, workspace);
                }
    fenced_free(workspace, THREADS * WORKSPACE_BYTES);
}

static void one_row_and_one_column_of_many(void)
{
    void *workspace = fenced_new(THREADS * WORKSPACE_BYTES);
    for (int threads = 1; threads <= THREADS; threads++) {
        check_shape(&(struct shape){1, 1000, 300, 'N', 'N'}, 0, threads, workspace);
        check_shape(&(struct shape){1000, 1, 300, 'N', 'T'}, 1, threads, workspace);
    }
    fenced_free(workspace, THREADS * WORKSPACE_BYTES);
}

static struct ys_graph *make_graph(void)
{
    struct ys_build *b = NULL;
    struct ys_graph *graph = NULL;
    if (ys_build_new("threads", (const int64_t[]){3, 19, 17}, 3, YS_F32, &b) != YS_OK)
        return NULL;
    struct ys_window each = ys_build_window(3, 2, 1);
    each.group = 20;
    int v = ys_build_conv(b, ys_build_input(b), 20, 5, 1, 2, "conv");
    v = ys_build_relu(b, ys_build_batchnorm(b, v, "norm"), "relu");
    v = ys_build_maxpool(b, ys_build_conv_window(b, v, 20, &each, NULL, 1, "each"), 2, 2, 0, "pool");
    v = ys_build_conv(b, v, 70, 3, 1, 1, "wide");
    v = ys_build_gemm(b, ys_build_plain(b, YS_OP_TANH, ys_build_flatten(b, v, "flatten"), "tanh"), 300, "fc");
    v = ys_build_gemm(b, ys_build_plain(b, YS_OP_GELU, v, "gelu"), 7, "head");
    return ys_build_finish(b, v, &graph) == YS_OK ? graph : NULL;
}

/** The loss of the third step and the parameters behind it, of so many threads. */
static double train(const struct ys_graph *graph, int threads, float *weights)
{
    static const struct drawing rows = {.purpose = "threads", .seed = 5, .batch = 7};
    struct ys_engine *e = open_engine_of(graph, "simd", YS_ENGINE_F32, threads, &rows);
    double loss = NAN;
    CHECK(e != NULL);
    for (int step = 0; e && step < 3; step++)
        CHECK(ys_engine_step(e, NULL, NULL, 0.05, &loss) == 0);
    for (size_t p = 0; e && p < ys_engine_param_count(e); p++) {
        struct ys_engine_param param;
        CHECK(ys_engine_param(e, p, &param) == 0 && ys_engine_param_get(e, p, YS_ENGINE_F32, weights) == 0);
        weights += param.elements;
    }
    CHECK(e && ys_engine_check(e) == 0);
    ys_engine_close(e);
    return loss;
}

static void the_number_of_threads_changes_no_bit(void)
{
    struct ys_graph *graph = make_graph();
    REQUIRE(graph);
    size_t count = 0;
    for (size_t p = 0; p < graph->param_count; p++)
        count += (size_t)ys_param_elements(&graph->params[p]);
    float *one = calloc(count, sizeof *one), *others = calloc(count, sizeof *others);
    const double loss = train(graph, 1, one);
    for (int threads = 2; threads <= 9; threads++) {
        CHECK(train(graph, threads, others) == loss);
        tap_check(memcmp(one, others, count * sizeof *one) == 0, __LINE__, "%d threads: other parameters", threads);
    }
    free(one);
    free(others);
    ys_graph_free(graph);
}

/** Where the network is only evaluated, weights of dense layers are packed when they are set: logits are those of a
 * network that trains, which packs them anew in each pass, and weights come back as they were given. */
static void packed_weights_change_no_bit(void)
{
    enum { BATCH = 7, CLASSES = 7 };
    struct drawing rows = {.purpose = "packed", .seed = 5, .batch = BATCH};
    struct ys_graph *graph = make_graph();
    REQUIRE(graph);
    struct ys_engine *trains = open_engine_of(graph, "simd", YS_ENGINE_F32, 1, &rows);
    REQUIRE(trains);
    CHECK(ys_engine_forward(trains, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
    rows.evaluates = true;
    for (int threads = 1; threads <= 4; threads++) {
        struct ys_engine *e = open_engine_of(graph, "simd", YS_ENGINE_F32, threads, &rows);
        REQUIRE(e);
        CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, NULL) == 0);
        CHECK(memcmp(ys_engine_logits(e), ys_engine_logits(trains), sizeof(float[BATCH * CLASSES])) == 0);
        for (size_t p = 0; p < graph->param_count; p++) {
            const size_t count = (size_t)ys_param_elements(&graph->params[p]);
            float *given = calloc(count, sizeof *given), *found = calloc(count, sizeof *found);
            CHECK(ys_engine_param_get(trains, p, YS_ENGINE_F32, given) == 0 &&
                  ys_engine_param_get(e, p, YS_ENGINE_F32, found) == 0);
            tap_check(memcmp(given, found, count * sizeof *found) == 0, __LINE__, "%s", graph->params[p].name);
            free(given);
            free(found);
        }
        CHECK(ys_engine_check(e) == 0);
        ys_engine_close(e);
    }
    ys_engine_close(trains);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(products_are_exact), TAP_CASE(one_row_and_one_column_of_many),
         TAP_CASE(the_number_of_threads_changes_no_bit), TAP_CASE(packed_weights_change_no_bit))
