#include "judge/history.h"

#include "base/rng.h"
#include "tap.h"

#include <string.h>

enum { SEED = 20261123, HISTORIES = 600, MOST = 40 };

static size_t changes_of(const double *values, size_t n, double margin, bool *change)
{
    size_t count = 0;
    ys_history_changes(values, NULL, NULL, n, margin, change);
    for (size_t i = 0; i < n; i++)
        count += change[i];
    return count;
}

static void a_planted_change_is_found_where_it_is(void)
{
    struct ys_rng rng;
    double values[20];
    bool change[20];
    printf("# seed %d\n", SEED);
    ys_rng_init(&rng, SEED, "planted");
    for (size_t i = 0; i < 20; i++)
        values[i] = (i < 12 ? 1000 : 950) * (1 + 0.005 * ys_rng_normal(&rng));
    CHECK_INT(changes_of(values, 20, 0.02, change), 1);
    CHECK(change[12]);
    CHECK_INT(changes_of(values, 20, 0.10, change), 0); /* smaller than what counts */
}

/* A twentieth; as much may have been taken by the machine from the runs behind it, or half as much. */
static void a_change_that_the_machine_may_have_made_is_none(void)
{
    double values[20], low[20], high[20];
    bool change[20];
    for (size_t i = 0; i < 20; i++) {
        values[i] = low[i] = (i < 12 ? 1000 : 950) + (double)(i * 7 % 5);
        high[i] = values[i] * (i < 12 ? 1 : 1.05);
    }
    ys_history_changes(values, values, values, 20, 0.02, change);
    CHECK(change[12]);
    ys_history_changes(values, low, high, 20, 0.02, change);
    for (size_t i = 0; i < 20; i++)
        CHECK(!change[i]);
    for (size_t i = 12; i < 20; i++)
        high[i] = values[i] * 1.025;
    ys_history_changes(values, low, high, 20, 0.02, change);
    CHECK(change[12]);
    for (size_t i = 0; i < 12; i++) /* it was faster before: what was taken then makes the change larger */
        high[i] = values[i] * 1.05;
    ys_history_changes(values, low, high, 20, 0.02, change);
    CHECK(change[12]);
}

static void two_changes_are_two(void)
{
    double values[36];
    bool change[36];
    for (size_t i = 0; i < 36; i++)
        values[i] = (i < 12 ? 100 : i < 24 ? 120 : 90) + 0.01 * (double)(i * 7 % 5);
    CHECK_INT(changes_of(values, 36, 0.02, change), 2);
    CHECK(change[12] && change[24]);
}

static void equal_and_few_values_have_none(void)
{
    double values[MOST];
    bool change[MOST];
    for (size_t i = 0; i < MOST; i++)
        values[i] = 7;
    CHECK_INT(changes_of(values, MOST, 0, change), 0);
    for (size_t i = 0; i < YS_HISTORY_POINTS - 1; i++)
        values[i] = i < 3 ? 1 : 2;
    CHECK_INT(changes_of(values, YS_HISTORY_POINTS - 1, 0, change), 0);
    CHECK_INT(changes_of(values, 0, 0, change), 0);
}

/* One in a hundred is claimed; 1.3 more of a hundred are three standard errors of 600. */
static void without_a_change_few_histories_show_one(void)
{
    struct ys_rng rng;
    int false_ones = 0;
    printf("# seed %d\n", SEED);
    ys_rng_init(&rng, SEED, "quiet");
    for (int h = 0; h < HISTORIES; h++) {
        double values[20];
        bool change[20];
        for (size_t i = 0; i < 20; i++)
            values[i] = 100 + (h % 2 ? ys_rng_normal(&rng) : round(ys_rng_normal(&rng)));
        false_ones += changes_of(values, 20, 0, change) > 0;
    }
    printf("# %.2f %% of histories without a change show one\n", 100.0 * false_ones / HISTORIES);
    CHECK(false_ones <= HISTORIES * (0.01 + 0.013));
}

TAP_MAIN(TAP_CASE(a_planted_change_is_found_where_it_is), TAP_CASE(a_change_that_the_machine_may_have_made_is_none),
         TAP_CASE(two_changes_are_two), TAP_CASE(equal_and_few_values_have_none),
         TAP_CASE(without_a_change_few_histories_show_one))
