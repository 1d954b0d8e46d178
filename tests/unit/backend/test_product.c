/* The matrix product of `ref`: the same bits for every width of registers, namely those of the plain sum in order. */
#define REAL double
#include "backend/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ref_product.inc"

#include "base/rng.h"
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

static double *drawn(size_t count, const char *name)
{
    double *values = malloc(count * sizeof *values);
    struct ys_rng rng;
    ys_rng_init(&rng, 1, name);
    for (size_t i = 0; i < count; i++)
        values[i] = ys_rng_normal(&rng);
    return values;
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

static void check_shape(int64_t m, int64_t n, int64_t k, bool turned, void *workspace)
{
    size_t count = (size_t)(m * n);
    double *a = drawn((size_t)(m * k), "a"), *b = drawn((size_t)(k * n), "b"), *start = drawn(count, "c");
    double *expected = malloc(count * sizeof *expected), *actual = malloc(count * sizeof *actual);
    struct product p = {.m = m,
                        .n = n,
                        .k = k,
                        .a = a,
                        .a_row = turned ? 1 : k,
                        .a_column = turned ? m : 1,
                        .pack = pack_matrix,
                        .b = b,
                        .b_row = turned ? 1 : n,
                        .b_column = turned ? k : 1,
                        .c = actual,
                        .c_row = n,
                        .add = turned,
                        .workspace = workspace};
    struct variant variants[4];
    size_t variant_count = variants_of_this_machine(variants);
    memcpy(expected, start, count * sizeof *expected);
    in_order(&p, expected);
    for (size_t i = 0; i < variant_count; i++) {
        memcpy(actual, start, count * sizeof *actual);
        variants[i].run(&p);
        tap_check(memcmp(actual, expected, count * sizeof *actual) == 0, __LINE__,
                  "%s: %lld x %lld, sums of %lld%s: not the bits of the sum in order", variants[i].name, (long long)m,
                  (long long)n, (long long)k, turned ? ", turned" : "");
    }
    free(a);
    free(b);
    free(start);
    free(expected);
    free(actual);
}

static void every_width_gives_the_sum_in_order(void)
{
    void *workspace = aligned_alloc(64, YS_REF_WORKSPACE_BYTES(sizeof(double)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
            for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
                for (int turned = 0; turned < 2; turned++)
                    check_shape(rows[i], columns[j], depths[k], turned, workspace);
    free(workspace);
}

TAP_MAIN(TAP_CASE(every_width_gives_the_sum_in_order))
