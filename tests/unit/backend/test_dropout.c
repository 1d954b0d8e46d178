/* The mask of dropout against its definition, and its statistics. Includes the generator's source: its blocks at a
 * given counter are no public function. */
#include "base/rng.c"

#include "backend/dropout.h"
#include "tap.h"
#include <stdlib.h>

enum { COUNT = 1 << 18 };

static struct ys_dropout dropout_of(uint64_t seed, const char *name, double ratio)
{
    struct ys_dropout d;
    ys_dropout_init(&d, seed, name, ratio);
    return d;
}

/** Element e of step t, from the words of backend/dropout.h. */
static int kept(uint64_t seed, const char *name, double ratio, uint64_t steps_done, uint64_t e)
{
    struct ys_rng rng;
    ys_rng_init(&rng, seed, name);
    uint64_t block = e / 4, t = steps_done + 1;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)t, (uint32_t)(t >> 32)}, word[4];
    philox_4x32_10(counter, rng.key, word);
    return (double)word[e % 4] >= ratio * 4294967296.0;
}

static void a_mask_is_what_its_definition_says(void)
{
    static const uint64_t firsts[] = {0, 5, 1000003, (1ULL << 34) - 7, (1ULL << 40) + 1};
    static const uint64_t steps[] = {0, 1, 77, (1ULL << 32) - 1, 1ULL << 33};
    static const double ratios[] = {0, 0.1, 0.5, 0.75, 0.999};
    enum { HERE = 300 };
    for (int k = 0; k < 5; k++) {
        struct ys_dropout d = dropout_of(42, "drop6", ratios[k]);
        unsigned char keep[HERE];
        ys_dropout_mask(&d, steps[k], firsts[k], HERE, keep);
        int wrong = 0;
        for (int i = 0; i < HERE; i++)
            wrong += keep[i] != kept(42, "drop6", ratios[k], steps[k], firsts[k] + (uint64_t)i);
        CHECK_INT(wrong, 0);
    }
}

/** The words of a block, each as the threshold of a ratio, which is exact: it is kept, by the ratio next to it dropped.
 */
static void a_word_at_the_threshold_is_kept(void)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 5, "drop");
    uint32_t counter[4] = {0, 0, 1, 0}, word[4];
    philox_4x32_10(counter, rng.key, word);
    for (int e = 0; e < 4; e++) {
        unsigned char keep[4];
        struct ys_dropout at = dropout_of(5, "drop", word[e] * 0x1p-32),
                          above = dropout_of(5, "drop", (word[e] + 1.0) * 0x1p-32);
        ys_dropout_mask(&at, 0, 0, 4, keep);
        CHECK_INT(keep[e], 1);
        ys_dropout_mask(&above, 0, 0, 4, keep);
        CHECK_INT(keep[e], 0);
    }
}

/** However the elements are split among calls: what threads and layouts do. */
static void pieces_of_a_mask_fit_together(void)
{
    struct ys_dropout d = dropout_of(7, "drop", 0.5);
    unsigned char whole[1000], part[1000];
    ys_dropout_mask(&d, 3, 0, sizeof whole, whole);
    struct ys_rng rng;
    ys_rng_init(&rng, 1, "pieces");
    for (int k = 0; k < 200; k++) {
        size_t first = ys_rng_below(&rng, 1000), count = ys_rng_below(&rng, (uint32_t)(1000 - first)) + 1;
        memset(part, 9, sizeof part);
        ys_dropout_mask(&d, 3, first, count, part);
        CHECK(memcmp(part, whole + first, count) == 0);
        CHECK(count == sizeof part || part[count] == 9);
    }
    ys_dropout_mask(&d, 3, 0, 0, NULL);
}

/** A count of `n` trials of probability `p` lies within 5 standard deviations (1 in 1.7 million falls outside; the
 * seeds are fixed, so it never does by chance later). */
static void check_binomial(int64_t count, double n, double p)
{
    CHECK_NEAR((double)count, n * p, 5 * sqrt(n * p * (1 - p)) + 1e-9);
}

static void the_share_that_is_kept_is_one_minus_ratio(void)
{
    static const double ratios[] = {0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9};
    unsigned char *keep = malloc(COUNT);
    for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; r++)
        for (uint64_t step = 0; step < 3; step++) {
            struct ys_dropout d = dropout_of(1, "drop", ratios[r]);
            ys_dropout_mask(&d, step, 0, COUNT, keep);
            int64_t sum = 0;
            for (int i = 0; i < COUNT; i++)
                sum += keep[i];
            check_binomial(sum, COUNT, 1 - ratios[r]);
        }
    free(keep);
}

/** Two masks of ratio 1/2 that have nothing to do with each other agree in half of the places. */
static void check_unrelated(const struct ys_dropout *a, uint64_t step_a, uint64_t first_a, const struct ys_dropout *b,
                            uint64_t step_b, uint64_t first_b)
{
    unsigned char *left = malloc(COUNT), *right = malloc(COUNT);
    ys_dropout_mask(a, step_a, first_a, COUNT, left);
    ys_dropout_mask(b, step_b, first_b, COUNT, right);
    int64_t agree = 0;
    for (int i = 0; i < COUNT; i++)
        agree += left[i] == right[i];
    check_binomial(agree, COUNT, 0.5);
    free(left);
    free(right);
}

static void masks_differ_by_seed_node_step_and_place(void)
{
    struct ys_dropout d = dropout_of(1, "drop6", 0.5), other_seed = dropout_of(2, "drop6", 0.5),
                      other_node = dropout_of(1, "drop7", 0.5);
    check_unrelated(&d, 0, 0, &other_seed, 0, 0);
    check_unrelated(&d, 0, 0, &other_node, 0, 0);
    check_unrelated(&d, 0, 0, &d, 1, 0);
    check_unrelated(&d, 0, 0, &d, 1ULL << 32, 0);
    check_unrelated(&d, 5, 0, &d, 5, 1);
    check_unrelated(&d, 5, 0, &d, 5, 4);
    check_unrelated(&d, 5, 0, &d, 5, 1ULL << 34);
}

TAP_MAIN(TAP_CASE(a_mask_is_what_its_definition_says), TAP_CASE(a_word_at_the_threshold_is_kept),
         TAP_CASE(pieces_of_a_mask_fit_together), TAP_CASE(the_share_that_is_kept_is_one_minus_ratio),
         TAP_CASE(masks_differ_by_seed_node_step_and_place))
