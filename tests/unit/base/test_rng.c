/* Includes the source itself: the published vectors of Philox need counters that no stream reaches. */
#include "base/rng.c"
#include "tap.h"

/* Random123 1.14, tests/kat_vectors, philox4x32 with 10 rounds. */
static void philox_gives_the_published_vectors(void)
{
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } vectors[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t v = 0; v < 3; v++) {
        uint32_t out[4];
        philox_4x32_10(vectors[v].counter, vectors[v].key, out);
        for (int i = 0; i < 4; i++)
            CHECK_INT(out[i], vectors[v].expected[i]);
    }
}

/* Expected values of this and the other pinned cases come from an implementation of the header's description in another
 * language. */
static void a_stream_is_keyed_by_seed_and_name(void)
{
    static const uint32_t expected[] = {0x09f5e7ac, 0x70201726, 0x24c02a83, 0xdbb3fcea, 0x085acb49,
                                        0x45dfe865, 0xb0665d71, 0x3de87ee6, 0xc3893ec6, 0x99358b7a};
    struct ys_rng rng, other_seed, other_name;
    ys_rng_init(&rng, 1, "conv1.weight");
    for (size_t i = 0; i < 10; i++)
        CHECK_INT(ys_rng_u32(&rng), expected[i]);
    ys_rng_init(&other_seed, 2, "conv1.weight");
    ys_rng_init(&other_name, 1, "conv1.bias");
    CHECK(ys_rng_u32(&other_seed) != expected[0]);
    CHECK(ys_rng_u32(&other_name) != expected[0]);
}

static void the_counter_carries_into_its_upper_word(void)
{
    struct ys_rng rng = {.key = {1, 2}, .counter = 0xffffffffu, .used = 4};
    for (int i = 0; i < 5; i++)
        ys_rng_u32(&rng);
    uint32_t counter[4] = {0, 1, 0, 0}, key[2] = {1, 2}, out[4];
    philox_4x32_10(counter, key, out);
    CHECK_INT(rng.word[0], out[0]);
    CHECK(rng.counter == 0x100000001u);
}

static void uniforms_lie_inside_the_unit_interval(void)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 1, "conv1.weight");
    CHECK(ys_rng_uniform(&rng) == 0.038908462156541646);
    CHECK(ys_rng_uniform(&rng) == 0.4379896611208096);
    struct ys_rng lowest = {.word = {0, 0xffffffff}};
    CHECK(ys_rng_uniform(&lowest) == 0x1p-33);
    CHECK(ys_rng_uniform(&lowest) == 1 - 0x1p-33);
}

static void bounded_numbers_stay_below_and_are_even(void)
{
    enum { BOUND = 7, DRAWS = 70000 };
    struct ys_rng rng;
    ys_rng_init(&rng, 5, "below");
    unsigned counts[BOUND] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t value = ys_rng_below(&rng, BOUND);
        REQUIRE(value < BOUND);
        counts[value]++;
    }
    for (int i = 0; i < BOUND; i++) /* 6 standard deviations of a binomial count: 6 sqrt(70000 * 1/7 * 6/7) = 555 */
        CHECK_NEAR(counts[i], DRAWS / BOUND, 555);
    CHECK_INT(ys_rng_below(&rng, 1), 0);
}

static void a_draw_that_would_bias_is_drawn_again(void)
{
    /* bound 3 * 2^30: 2^32 mod bound = 2^30 low words are refused; 0 * bound has the low word 0. */
    struct ys_rng rng = {.word = {0, 0xffffffff, 5, 5}};
    CHECK_INT(ys_rng_below(&rng, 0xc0000000u), 0xbfffffff);
    CHECK_INT(rng.used, 2);
}

static void normals_are_bit_equal_everywhere(void)
{
    enum { COUNT = 65536 };
    static double values[COUNT];
    struct ys_rng rng;
    ys_rng_init(&rng, 7, "normals");
    for (int i = 0; i < COUNT; i++)
        values[i] = ys_rng_normal(&rng);
    CHECK(values[0] == 0x1.fad8d672eba7ap+0);
    CHECK(values[3] == -0x1.6a2a75a81ea50p-4);
    char sum[YS_SHA256_TEXT];
    ys_sha256_text(values, sizeof values, sum);
    CHECK_TEXT(sum, "a890f2b1f748b92fbb2d2a6cbb1421b37379a1f5dcbad26abb744f13de53d7dd");
}

static void normals_have_mean_0_and_variance_1(void)
{
    enum { COUNT = 65536 };
    struct ys_rng rng;
    ys_rng_init(&rng, 11, "moments");
    double sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++) {
        double value = ys_rng_normal(&rng);
        sum += value;
        squares += value * value;
    }
    CHECK_NEAR(sum / COUNT, 0, 5 / 256.0);              /* 5 standard errors, 1/sqrt(65536) each */
    CHECK_NEAR(squares / COUNT, 1, 5 * 1.4143 / 256.0); /* the variance of a squared normal is 2 */
}

static void quantiles_agree_with_published_tables(void)
{
    /* Abramowitz & Stegun, table 26.5; AS 241 is good to about 1e-16, relative. */
    CHECK_NEAR(normal_quantile(0.5), 0, 0);
    CHECK_NEAR(normal_quantile(0.975), 1.959963984540054, 4e-16 * 2);
    CHECK_NEAR(normal_quantile(0.995), 2.5758293035489004, 4e-16 * 4);
    CHECK_NEAR(normal_quantile(0.001), -3.090232306167814, 4e-16 * 4);
    for (double p = 0x1p-33; p < 0.5; p *= 1.7)
        CHECK_NEAR(normal_quantile(p) + normal_quantile(1 - p), 0, 1e-15 / p); /* 1 - p is rounded to 1.1e-16 */
}

static void the_logarithm_is_good_to_a_few_units_in_the_last_place(void)
{
    for (double x = 0x1p-33; x < 1; x *= 1.000317) {
        double expected = log(x); /* glibc: below 1 ulp */
        REQUIRE(fabs(portable_log(x) - expected) <= 4 * 0x1p-53 * fabs(expected));
    }
}

static void a_shuffle_is_a_permutation_and_is_pinned(void)
{
    static const uint32_t expected[] = {3, 9, 5, 7, 6, 0, 2, 4, 8, 1};
    uint32_t values[10], seen = 0;
    for (uint32_t i = 0; i < 10; i++)
        values[i] = i;
    struct ys_rng rng;
    ys_rng_init(&rng, 3, "order");
    ys_rng_shuffle(&rng, values, 10);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(values[i], expected[i]);
        seen |= 1u << values[i];
    }
    CHECK_INT(seen, 1023);
    ys_rng_shuffle(&rng, values, 0);
}

TAP_MAIN(TAP_CASE(philox_gives_the_published_vectors), TAP_CASE(a_stream_is_keyed_by_seed_and_name),
         TAP_CASE(the_counter_carries_into_its_upper_word), TAP_CASE(uniforms_lie_inside_the_unit_interval),
         TAP_CASE(bounded_numbers_stay_below_and_are_even), TAP_CASE(a_draw_that_would_bias_is_drawn_again),
         TAP_CASE(normals_are_bit_equal_everywhere), TAP_CASE(normals_have_mean_0_and_variance_1),
         TAP_CASE(quantiles_agree_with_published_tables),
         TAP_CASE(the_logarithm_is_good_to_a_few_units_in_the_last_place),
         TAP_CASE(a_shuffle_is_a_permutation_and_is_pinned))
