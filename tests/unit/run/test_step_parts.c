/* Where the time of a step of several ranks goes, of series that were made up. */
#include "run/step_parts.h"
#include "run_fixture.h"

#include <math.h>

enum { RANKS = 3, MS = 1000000 };

static void add(struct ys_series_set *set, const char *name, int64_t value)
{
    REQUIRE(ys_series_add_int(set, name, value) == YS_OK);
}

/* Steps of `steps`, the first alone, then in blocks of two: each computes `compute_ms` from the time when the one
 * before had been reduced, of which 1 ms is its rows, and is reduced 4 ms after the slowest, which takes `slowest_ms`;
 * the update after it takes 2 ms, and 3 ms lie between blocks. */
static void fill(struct ys_run_record *record, int steps, int compute_ms, int slowest_ms)
{
    *record = (struct ys_run_record){0};
    add(&record->series, "request_first", 0);
    add(&record->series, "request_first", 1);
    int64_t t_ns = 1000 * (int64_t)MS;
    for (int step = 0; step < steps;) {
        const int count = step == 0 ? 1 : 2;
        const int64_t start_ns = t_ns;
        for (int i = 0; i < count; i++) {
            add(&record->series, "exchange_step", step + i);
            add(&record->series, "exchange_ready_ns", t_ns + compute_ms * (int64_t)MS);
            t_ns += (slowest_ms + 4) * (int64_t)MS;
            add(&record->series, "exchange_reduced_ns", t_ns);
        }
        t_ns += 2 * MS;
        add(&record->series, "block_first", step);
        add(&record->series, "block_count", count);
        add(&record->series, "block_start_ns", start_ns);
        add(&record->series, "block_end_ns", t_ns);
        add(&record->series, "block_input_ns", count * MS);
        t_ns += 3 * MS;
        step += count;
    }
}

static void fill_all(struct ys_run_record *records, struct ys_run_record **own)
{
    static const int compute_ms[RANKS] = {10, 30, 12};
    for (int r = 0; r < RANKS; r++) {
        fill(&records[r], 9, compute_ms[r], 30);
        own[r] = &records[r];
    }
}

static void free_all(struct ys_run_record *records)
{
    for (int r = 0; r < RANKS; r++)
        ys_run_record_fini(&records[r]);
}

static void who_is_late_computes_and_the_others_wait(void)
{
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts parts[RANKS];
    static const double waiting_ms[RANKS] = {20, 0, 18};
    fill_all(records, own);
    ys_step_parts_find(own, RANKS, parts);
    for (int r = 0; r < RANKS; r++) {
        CHECK_NEAR(parts[r].waiting_s, waiting_ms[r] * 1e-3, 1e-12);
        CHECK_NEAR(parts[r].communication_s, 4e-3, 1e-12);
        CHECK_NEAR(parts[r].input_s, 1e-3, 1e-12);
        /* the update, half of 2 ms a step, counts as computing, and the rows do not */
        CHECK_NEAR(parts[r].compute_s, (30 - waiting_ms[r] + 1 - 1) * 1e-3, 1e-12);
        /* three of the four blocks follow another of their question, 3 ms behind it: of eight steps */
        CHECK_NEAR(parts[r].rest_s, 3 * 3e-3 / 8, 1e-12);
    }
    free_all(records);
}

static void the_parts_add_up_to_the_time_of_a_step(void)
{
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts parts[RANKS];
    fill_all(records, own);
    ys_step_parts_find(own, RANKS, parts);
    for (int r = 0; r < RANKS; r++) {
        const struct ys_series *start = ys_series_find(&records[r].series, "block_start_ns"),
                               *end = ys_series_find(&records[r].series, "block_end_ns");
        const double all_s = (double)(end->ints[end->count - 1] - start->ints[1]) * 1e-9 / 8;
        CHECK_NEAR(parts[r].compute_s + parts[r].communication_s + parts[r].waiting_s + parts[r].input_s +
                       parts[r].rest_s,
                   all_s, 1e-12);
    }
    free_all(records);
}

static void nobody_waits_longer_than_until_it_has_the_mean(void)
{
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts parts[RANKS];
    fill_all(records, own);
    struct ys_series *ready = ys_series_get(&records[1].series, "exchange_ready_ns", 0);
    for (size_t i = 0; i < ready->count; i++)
        ready->ints[i] += 100 * MS; /* after the others had what it says it had not given yet */
    ys_step_parts_find(own, RANKS, parts);
    CHECK_NEAR(parts[0].waiting_s, 24e-3, 1e-12);
    CHECK_NEAR(parts[0].communication_s, 0, 1e-12);
    free_all(records);
}

static void unless_all_tell_of_all_steps_nothing_is_known(void)
{
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts parts[RANKS];
    fill_all(records, own);
    ys_series_get(&records[2].series, "exchange_step", 0)->ints[0] = 1;
    ys_step_parts_find(own, RANKS, parts);
    for (int r = 0; r < RANKS; r++)
        CHECK(isnan(parts[r].compute_s) && isnan(parts[r].waiting_s) && isnan(parts[r].rest_s));
    free_all(records);
    struct ys_run_record none = {0}, *nobody[] = {&none, &none};
    ys_step_parts_find(nobody, 2, parts);
    CHECK(isnan(parts[0].compute_s) && isnan(parts[1].communication_s));
}

static void a_rank_that_broke_off_leaves_the_steps_that_all_took(void)
{
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts parts[RANKS];
    fill_all(records, own);
    ys_run_record_fini(&records[2]);
    fill(&records[2], 5, 12, 30);
    ys_step_parts_find(own, RANKS, parts);
    CHECK_NEAR(parts[0].waiting_s, 20e-3, 1e-12);
    CHECK_NEAR(parts[0].rest_s, 3e-3 / 4, 1e-12);
    free_all(records);
}

TAP_MAIN(TAP_CASE(who_is_late_computes_and_the_others_wait), TAP_CASE(the_parts_add_up_to_the_time_of_a_step),
         TAP_CASE(nobody_waits_longer_than_until_it_has_the_mean),
         TAP_CASE(unless_all_tell_of_all_steps_nothing_is_known),
         TAP_CASE(a_rank_that_broke_off_leaves_the_steps_that_all_took))
