/* Where the time of a step of several ranks goes, of series that were made up. */
#include "run/clocks.h"
#include "run/step_parts.h"
#include "run_fixture.h"

#include <math.h>

enum { RANKS = 3, MS = 1000000 };

static void add(struct ys_series_set *set, const char *name, int64_t value)
{
    ys_series_add_int(set, name, value);
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

static void unless_all_tell_of_all_steps_data_and_rest_alone_are_known(void)
{
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts parts[RANKS];
    fill_all(records, own);
    ys_series_get(&records[2].series, "exchange_step", 0)->ints[0] = 1;
    ys_step_parts_find(own, RANKS, parts);
    for (int r = 0; r < RANKS; r++) {
        CHECK(isnan(parts[r].compute_s) && isnan(parts[r].waiting_s) && isnan(parts[r].communication_s) &&
              isnan(parts[r].optimizer_s) && isnan(parts[r].framework_s));
        CHECK_NEAR(parts[r].input_s, 1e-3, 1e-12); /* that blocks say by themselves */
        CHECK_NEAR(parts[r].rest_s, 3 * 3e-3 / 8, 1e-12);
    }
    free_all(records);
    struct ys_run_record none = {0}, *nobody[] = {&none, &none};
    ys_step_parts_find(nobody, 2, parts);
    CHECK(isnan(parts[0].compute_s) && isnan(parts[1].communication_s) && isnan(parts[1].input_s));
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

static double whole_s(const struct ys_step_parts *parts)
{
    return parts->compute_s + parts->communication_s + parts->waiting_s + parts->optimizer_s + parts->framework_s +
           parts->input_s + parts->rest_s;
}

/* The same steps as fill() makes, of a rank that also says when each begins, `around_ms` behind the update of that
 * before, its rows among them, and when its weights have changed: `update_ms` after the mean. */
static void tell_all(struct ys_run_record *record, int around_ms, int update_ms)
{
    struct ys_series_set *set = &record->series;
    const struct ys_series *reduced = ys_series_find(set, "exchange_reduced_ns"),
                           *start = ys_series_find(set, "block_start_ns");
    for (size_t i = 0; i < reduced->count; i++) {
        const bool is_first = i == 0 || i % 2 == 1; /* of its block */
        const int64_t from_ns = is_first ? start->ints[(i + 1) / 2] : reduced->ints[i - 1] + update_ms * MS;
        add(set, "exchange_began_ns", from_ns + around_ms * MS);
        add(set, "exchange_updated_ns", reduced->ints[i] + update_ms * MS);
    }
}

static void a_rank_that_tells_all_has_optimizer_and_framework_apart_from_computing(void)
{
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts before[RANKS], parts[RANKS];
    fill_all(records, own);
    ys_step_parts_find(own, RANKS, before);
    tell_all(&records[0], 3, 1); /* of 3 ms before a step begins 1 is that of its rows */
    tell_all(&records[2], 1, 2);
    ys_step_parts_find(own, RANKS, parts);
    CHECK_NEAR(parts[0].optimizer_s, 1e-3, 1e-12);
    /* 2 ms are left of what lies before a step, and of every other step 1 ms behind its update, which ends the block */
    CHECK_NEAR(parts[0].framework_s, 2e-3 + 0.5e-3, 1e-12);
    /* 10 ms from the mean of the step before; of the first of a block from its start, without an update before it */
    CHECK_NEAR(parts[0].compute_s, 10e-3 - 3e-3 - 0.5e-3, 1e-12);
    CHECK_NEAR(parts[2].optimizer_s, 2e-3, 1e-12);
    CHECK_NEAR(parts[2].framework_s, 0, 1e-12);
    CHECK_NEAR(parts[2].compute_s, 12e-3 - 1e-3 - 1e-3, 1e-12);
    CHECK(isnan(parts[1].optimizer_s) && isnan(parts[1].framework_s)); /* it tells two times a step */
    CHECK_NEAR(parts[1].compute_s, before[1].compute_s, 1e-15);
    for (int r = 0; r < RANKS; r++) {
        CHECK_NEAR(parts[r].waiting_s, before[r].waiting_s, 1e-15);
        CHECK_NEAR(parts[r].communication_s, before[r].communication_s, 1e-15);
        if (r != 1)
            CHECK_NEAR(whole_s(&parts[r]),
                       before[r].compute_s + before[r].communication_s + before[r].waiting_s + before[r].input_s +
                           before[r].rest_s,
                       1e-12);
    }
    free_all(records);
}

/* The last rank's host is a thousand seconds ahead and gains a ten thousandth. */
static void the_parts_of_a_rank_with_another_clock_add_up_as_well(void)
{
    enum { OTHER = RANKS - 1 };
    const int64_t ahead_ns = 1000000000000, since_ns = 1000000000;
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_step_parts parts[RANKS], moved[RANKS];
    fill_all(records, own);
    for (int r = 0; r < RANKS; r++) {
        tell_all(&records[r], 2, 2);
        ys_facts_init(&records[r].facts);
    }
    ys_step_parts_find(own, RANKS, parts);
    static const char *const times[] = {"block_start_ns",    "block_end_ns",        "exchange_began_ns",
                                        "exchange_ready_ns", "exchange_reduced_ns", "exchange_updated_ns"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct ys_series *column = ys_series_get(&records[OTHER].series, times[i], 0);
        for (size_t k = 0; k < column->count; k++)
            column->ints[k] += ahead_ns + (column->ints[k] - since_ns) / 10000;
    }
    struct ys_clock_pair pair = {
        .before = {.is_known = true, .at_ns = (uint64_t)since_ns, .offset_ns = ahead_ns},
        .after = {.is_known = true, .at_ns = 2 * (uint64_t)since_ns, .offset_ns = ahead_ns + since_ns / 10000}};
    ys_clock_record(&pair, &records[OTHER]);
    ys_step_parts_find(own, RANKS, moved);
    for (int r = 0; r < RANKS; r++) {
        const struct ys_series *start = ys_series_find(&records[r].series, "block_start_ns"),
                               *end = ys_series_find(&records[r].series, "block_end_ns");
        CHECK_NEAR(whole_s(&moved[r]), (double)(end->ints[end->count - 1] - start->ints[1]) * 1e-9 / 8, 1e-12);
        CHECK_NEAR(moved[r].waiting_s, parts[r].waiting_s, 1e-8); /* to the nanosecond, once there and back */
        CHECK_NEAR(moved[r].communication_s, parts[r].communication_s, 1e-8);
        CHECK_NEAR(moved[r].compute_s, parts[r].compute_s, 1e-8);
        CHECK_NEAR(moved[r].optimizer_s, parts[r].optimizer_s, 1e-8);
        CHECK_NEAR(moved[r].framework_s, parts[r].framework_s, 1e-8);
        ys_facts_fini(&records[r].facts);
    }
    free_all(records);
}

TAP_MAIN(TAP_CASE(who_is_late_computes_and_the_others_wait), TAP_CASE(the_parts_add_up_to_the_time_of_a_step),
         TAP_CASE(nobody_waits_longer_than_until_it_has_the_mean),
         TAP_CASE(unless_all_tell_of_all_steps_data_and_rest_alone_are_known),
         TAP_CASE(a_rank_that_tells_all_has_optimizer_and_framework_apart_from_computing),
         TAP_CASE(the_parts_of_a_rank_with_another_clock_add_up_as_well),
         TAP_CASE(a_rank_that_broke_off_leaves_the_steps_that_all_took))
