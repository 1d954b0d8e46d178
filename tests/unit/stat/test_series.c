#include "stat/series.h"

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>

static const struct ys_series *round_trip(const struct ys_series *series, struct ys_series_set *set)
{
    unsigned char *data = NULL;
    size_t size = 0;
    ys_series_encode(series, &data, &size);
    ys_status status = ys_series_decode(series->name, series->is_real, data, size, series->count, set);
    ys_free(data);
    return CHECK(status == YS_OK) ? ys_series_find(set, series->name) : NULL;
}

static void added_numbers_come_back_in_order(void)
{
    struct ys_series_set set = {0};
    for (int i = 0; i < 1000; i++) {
        ys_series_add_int(&set, "t_ns", i * 7);
        ys_series_add_real(&set, "loss", i / 8.0);
    }
    const struct ys_series *t = ys_series_find(&set, "t_ns"), *loss = ys_series_find(&set, "loss");
    REQUIRE(t && loss);
    CHECK_INT(t->count, 1000);
    CHECK_INT(t->ints[999], 6993);
    CHECK(loss->reals[4] == 0.5);
    CHECK(!ys_series_find(&set, "absent"));
    ys_series_set_free(&set);
    CHECK_INT(set.count, 0);
}

static void integers_of_every_size_survive(void)
{
    static const int64_t values[] = {0,   INT64_MAX, INT64_MIN,           -1, 1, INT64_MIN, INT64_MAX, 63,
                                     -64, 64,        1234567890123456789, 0};
    struct ys_series_set set = {0}, back = {0};
    size_t n = sizeof values / sizeof values[0];
    for (size_t i = 0; i < n; i++)
        ys_series_add_int(&set, "extreme", values[i]);
    const struct ys_series *decoded = round_trip(ys_series_find(&set, "extreme"), &back);
    REQUIRE(decoded);
    CHECK_INT(decoded->count, n);
    for (size_t i = 0; i < n; i++)
        CHECK(decoded->ints[i] == values[i]);
    ys_series_set_free(&set);
    ys_series_set_free(&back);
}

static void random_integers_survive(void)
{
    struct ys_rng rng;
    struct ys_series_set set = {0}, back = {0};
    printf("# seed 11\n");
    ys_rng_init(&rng, 11, "series");
    for (int i = 0; i < 5000; i++) {
        uint64_t word = (uint64_t)ys_rng_u32(&rng) << 32 | ys_rng_u32(&rng);
        ys_series_add_int(&set, "random", (int64_t)(word >> ys_rng_below(&rng, 64)));
    }
    const struct ys_series *series = ys_series_find(&set, "random"), *decoded = round_trip(series, &back);
    REQUIRE(decoded);
    CHECK(memcmp(series->ints, decoded->ints, 5000 * sizeof(int64_t)) == 0);
    ys_series_set_free(&set);
    ys_series_set_free(&back);
}

static void nan_and_infinities_survive(void)
{
    static const double values[] = {0.1, -0.0, NAN, INFINITY, -INFINITY, 5e-324, 1.7976931348623157e308};
    struct ys_series_set set = {0}, back = {0};
    for (size_t i = 0; i < 7; i++)
        ys_series_add_real(&set, "step_loss", values[i]);
    const struct ys_series *decoded = round_trip(ys_series_find(&set, "step_loss"), &back);
    REQUIRE(decoded);
    CHECK(memcmp(decoded->reals, values, sizeof values) == 0);
    ys_series_set_free(&set);
    ys_series_set_free(&back);
}

static void an_empty_series_survives(void)
{
    struct ys_series_set set = {0}, back = {0};
    REQUIRE(ys_series_get(&set, "none", 0));
    const struct ys_series *decoded = round_trip(ys_series_find(&set, "none"), &back);
    REQUIRE(decoded);
    CHECK_INT(decoded->count, 0);
    ys_series_set_free(&set);
    ys_series_set_free(&back);
}

static void even_times_take_one_byte_each(void)
{
    struct ys_series_set set = {0};
    for (int i = 0; i < 1000; i++)
        ys_series_add_int(&set, "sample_t_ns", 7200000000000 + i * INT64_C(100000000));
    unsigned char *data = NULL;
    size_t size = 0;
    ys_series_encode(ys_series_find(&set, "sample_t_ns"), &data, &size);
    /* The first two differences need at most ten bytes each, the 998 second differences are 0. */
    CHECK(size <= 998 + 20);
    ys_free(data);
    ys_series_set_free(&set);
}

static void reserved_numbers_need_no_memory(void)
{
    struct ys_series_set set = {0};
    ys_series_reserve(&set, "t_ns", 0, 10000);
    ys_mem_fail_at(1);
    for (int i = 0; i < 10000; i++)
        ys_series_add_int(&set, "t_ns", i);
    ys_mem_fail_at(0);
    CHECK_INT(ys_series_find(&set, "t_ns")->count, 10000);
    ys_series_set_free(&set);
}

static void damaged_bytes_are_refused_and_leave_the_set_alone(void)
{
    static const unsigned char endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const unsigned char good[] = {2, 2, 2};
    struct ys_series_set set = {0};
    CHECK(ys_series_decode("a", 0, endless, sizeof endless, 1, &set) == YS_EFORMAT);
    CHECK(ys_series_decode("a", 0, good, 3, 2, &set) == YS_EFORMAT);
    CHECK(ys_series_decode("a", 0, good, 3, 4, &set) == YS_EFORMAT);
    CHECK(ys_series_decode("a", 0, good, 3, SIZE_MAX, &set) == YS_EFORMAT);
    CHECK(ys_series_decode("a", 1, good, 3, 1, &set) == YS_EFORMAT);
    CHECK(ys_series_decode("a", 1, good, 0, SIZE_MAX / 8 + 1, &set) == YS_EFORMAT);
    CHECK(ys_series_decode("", 0, good, 3, 3, &set) == YS_EFORMAT);
    CHECK(ys_series_decode("a name that is longer than thirty-nine bytes", 0, good, 3, 3, &set) == YS_EFORMAT);
    CHECK_INT(set.count, 0);
    CHECK(ys_series_decode("a", 0, good, 3, 3, &set) == YS_OK);
    CHECK(ys_series_decode("a", 0, good, 3, 3, &set) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "exists twice");
    CHECK_INT(set.count, 1);
    CHECK_INT(set.items[0].ints[2], 6); /* second differences 1, 1, 1: values 1, 3, 6 */
    ys_series_set_free(&set);
}

static void a_rank_is_noted_where_it_is_not_0(void)
{
    static const int64_t ranks[] = {0, 0, 1, 0, 2, 0};
    struct ys_series_set set = {0};
    ys_series_add_rank(&set, "block_rank", 0, 0);
    CHECK_INT(set.count, 0);
    for (size_t i = 0; i < 6; i++)
        ys_series_add_rank(&set, "block_rank", i, ranks[i]);
    const struct ys_series *column = ys_series_find(&set, "block_rank");
    CHECK(column && column->count == 5);
    for (size_t i = 0; i < 6; i++)
        CHECK_INT(ys_series_rank(column, i), ranks[i]);
    CHECK_INT(ys_series_rank(NULL, 3), 0); /* what was stored before there were ranks */
    ys_series_set_free(&set);
}

TAP_MAIN(TAP_CASE(a_rank_is_noted_where_it_is_not_0), TAP_CASE(added_numbers_come_back_in_order),
         TAP_CASE(integers_of_every_size_survive), TAP_CASE(random_integers_survive),
         TAP_CASE(nan_and_infinities_survive), TAP_CASE(an_empty_series_survives),
         TAP_CASE(even_times_take_one_byte_each), TAP_CASE(reserved_numbers_need_no_memory),
         TAP_CASE(damaged_bytes_are_refused_and_leave_the_set_alone))
