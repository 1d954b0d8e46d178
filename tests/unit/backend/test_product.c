/* The matrix product of `ref`: the same bits for every width of registers, namely those of the plain sum in order. */
#define REAL double
#include "backend/level.h"
#include "backend/plain/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/plain/ref_product.inc"

#include "base/rng.h"
#include "fenced.h"
#include "tap.h"

/* Around the edges of tiles (4 and 8 rows; 2, 4 and 8 columns and three times as many) and of blocks (256, 192). */
static const int64_t rows[] = {1, 3, 4, 8, 9, 257}, columns[] = {1, 2, 7, 8, 9, 24, 25, 50},
                     depths[] = {1, 2, 192, 193};

struct variant {
    const char *name;
    void (*run)(const struct product *p);
};

static size_t variants_of_this_machine(struct variant variants[4])
{
    size_t count = 0;
    variants[count++] = (struct variant){"the one that runs here", product};
    variants[count++] = (struct variant){"plain", product_plain};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        variants[count++] = (struct variant){"avx2", product_avx2};
    if (__builtin_cpu_supports("avx512f"))
        variants[count++] = (struct variant){"avx512", product_avx512};
#endif
    return count;
}

/** A matrix that ends at a fence, and its steps from one row and one column to the next. */
struct matrix {
    int64_t rows, columns, row, column;
    double *at;
};

enum steps { IN_ROWS, TURNED, STEPS_COUNT };

static size_t bytes_of(const struct matrix *m)
{
    return (size_t)((m->rows - 1) * m->row + (m->columns - 1) * m->column + 1) * sizeof *m->at;
}

static struct matrix drawn(int64_t row_count, int64_t column_count, enum steps steps, const char *name)
{
    struct matrix m = {.rows = row_count, .columns = column_count, .row = column_count, .column = 1};
    struct ys_rng rng;
    if (steps == TURNED)
        m = (struct matrix){.rows = row_count, .columns = column_count, .row = 1, .column = row_count};
    m.at = fenced_new(bytes_of(&m));
    ys_rng_init(&rng, 1, name);
    for (size_t i = 0; i < bytes_of(&m) / sizeof *m.at; i++)
        m.at[i] = ys_rng_normal(&rng);
    return m;
}

static void matrix_free(struct matrix *m)
{
    fenced_free(m->at, bytes_of(m));
}

static double element_of(const struct matrix *m, int64_t row, int64_t column)
{
    return m->at[row * m->row + column * m->column];
}

/** One after the other from the first, upon what is there. */
static void in_order(const struct product *p, double *c)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = p->add ? c[i * p->c_row + j] : 0;
            for (int64_t k = 0; k < p->k; k++)
                sum += p->a[i * p->a_row + k * p->a_column] * p->b[k * p->b_row + j * p->b_column];
            c[i * p->c_row + j] = sum;
        }
}

static const size_t workspace_bytes = WORKSPACE_BYTES;

/** c has a number more in each row than the product, which stays as it is. */
static void check_shape(int64_t m, int64_t n, int64_t k, enum steps steps, void *workspace)
{
    struct matrix a = drawn(m, k, steps, "a"), b = drawn(k, n, steps, "b"), start = drawn(m, n + 1, IN_ROWS, "c");
    const size_t bytes = bytes_of(&start) - sizeof *start.at;
    double *expected = malloc(bytes), *actual = fenced_new(bytes);
    const struct product p = {.m = m,
                              .n = n,
                              .k = k,
                              .a = a.at,
                              .a_row = a.row,
                              .a_column = a.column,
                              .pack = pack_matrix,
                              .b = b.at,
                              .b_row = b.row,
                              .b_column = b.column,
                              .c = actual,
                              .c_row = n + 1,
                              .add = steps != IN_ROWS,
                              .workspace = workspace};
    struct variant variants[4];
    size_t variant_count = variants_of_this_machine(variants);
    memcpy(expected, start.at, bytes);
    in_order(&p, expected);
    for (size_t i = 0; i < variant_count; i++) {
        memcpy(actual, start.at, bytes);
        memset(workspace, 0xff, workspace_bytes); /* NaNs */
        variants[i].run(&p);
        tap_check(memcmp(actual, expected, bytes) == 0, __LINE__,
                  "%s: %lld x %lld, sums of %lld, steps of kind %d: not the bits of the sum in order", variants[i].name,
                  (long long)m, (long long)n, (long long)k, steps);
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&start);
    free(expected);
    fenced_free(actual, bytes);
}

static void every_width_gives_the_sum_in_order(void)
{
    void *workspace = fenced_new(workspace_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
            for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
                for (int steps = 0; steps < STEPS_COUNT; steps++)
                    check_shape(rows[i], columns[j], depths[k], steps, workspace);
    fenced_free(workspace, workspace_bytes);
}

enum { DEPTH = 5, FIRST_K = 2 }; /* of what is copied */

static void check_panel(int64_t column_count, int64_t width, enum steps steps)
{
    enum { FIRST_COLUMN = 3 };
    struct matrix b = drawn(FIRST_K + DEPTH, FIRST_COLUMN + column_count, steps, "b");
    const struct product p = {.b = b.at, .b_row = b.row, .b_column = b.column};
    const size_t bytes = (size_t)(DEPTH * width) * sizeof *b.at;
    double *panel = fenced_new(bytes);
    for (int64_t i = 0; i < DEPTH * width; i++)
        panel[i] = 7;
    pack_matrix(&p, FIRST_K, DEPTH, FIRST_COLUMN, column_count, width, panel);
    for (int64_t i = 0; i < DEPTH * width; i++) {
        const int64_t j = i % width;
        CHECK_NEAR(panel[i], j < column_count ? element_of(&b, FIRST_K + i / width, FIRST_COLUMN + j) : 7, 0);
    }
    fenced_free(panel, bytes);
    matrix_free(&b);
}

static void a_panel_is_copied_and_nothing_behind_it(void)
{
    static const int64_t counts[] = {1, 7, 8, 23, 24};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int steps = 0; steps < STEPS_COUNT; steps++) {
            check_panel(counts[i], 24, steps);
            if (counts[i] <= 8)
                check_panel(counts[i], 8, steps);
        }
}

static void check_block(int64_t row_count, int64_t tall, enum steps steps)
{
    enum { FIRST_ROW = 3 };
    struct matrix a = drawn(FIRST_ROW + row_count, FIRST_K + DEPTH, steps, "a");
    const struct product p = {.a = a.at, .a_row = a.row, .a_column = a.column};
    const size_t bytes = (size_t)(DEPTH * row_count) * sizeof *a.at;
    double *block = fenced_new(bytes);
    pack_rows(&p, FIRST_ROW, row_count, FIRST_K, DEPTH, tall, block);
    for (int64_t i = 0; i < row_count; i++) {
        const bool is_single = i >= row_count / tall * tall;
        const int64_t strip = is_single ? 1 : tall, first = i / strip * strip;
        for (int64_t k = 0; k < DEPTH; k++)
            CHECK_NEAR(block[first * DEPTH + k * strip + i - first], element_of(&a, FIRST_ROW + i, FIRST_K + k), 0);
    }
    fenced_free(block, bytes);
    matrix_free(&a);
}

static void a_block_is_copied_in_strips(void)
{
    for (int64_t row_count = 1; row_count <= 9; row_count++)
        for (int steps = 0; steps < STEPS_COUNT; steps++)
            check_block(row_count, 4, steps);
}

TAP_MAIN(TAP_CASE(every_width_gives_the_sum_in_order), TAP_CASE(a_panel_is_copied_and_nothing_behind_it),
         TAP_CASE(a_block_is_copied_in_strips))
