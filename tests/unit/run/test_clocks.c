/* How the clock of another host relates to this one's. */
#include "run/clocks.h"
#include "run_fixture.h"

#include <math.h>

static const int64_t S = 1000000000;

/* Of clocks of which theirs is ahead by `offset_ns`, gains `drift`, and was set by our time 0. */
static int64_t theirs(int64_t ours_ns, int64_t offset_ns, double drift)
{
    return ours_ns + offset_ns + (int64_t)llround(drift * (double)ours_ns);
}

/* An answer that took `there_ns` to get there and `back_ns` to come back. */
static void ask(struct ys_clock_look *look, int64_t at_ns, int64_t there_ns, int64_t back_ns, int64_t offset_ns,
                double drift)
{
    ys_clock_take(look, (uint64_t)at_ns, theirs(at_ns + there_ns, offset_ns, drift),
                  (uint64_t)(at_ns + there_ns + back_ns));
}

static void the_answer_that_took_least_is_taken_and_its_error_holds(void)
{
    static const struct {
        int64_t there_ns, back_ns;
    } ways[] = {{90000, 5000}, {20000, 20000}, {1000, 30000}, {400000, 400000}};
    struct ys_clock_look look = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        ask(&look, (int64_t)(i + 1) * S, ways[i].there_ns, ways[i].back_ns, -7 * S, 0);
    CHECK(look.is_known);
    CHECK_INT(look.error_ns, 15500); /* half of 31 us */
    CHECK(look.offset_ns != -7 * S && llabs(look.offset_ns + 7 * S) <= look.error_ns);
    /* All of the way there, and nothing back: the error is all that was feared. */
    look = (struct ys_clock_look){0};
    ask(&look, S, 40000, 0, 3 * S, 0);
    CHECK_INT(look.offset_ns - 3 * S, look.error_ns);
}

static void times_are_related_by_both_looks(void)
{
    const double drift = 50e-6;
    struct ys_clock_pair pair = {0};
    ask(&pair.before, 10 * S, 10000, 10000, 1000 * S, drift);
    ask(&pair.after, 110 * S, 10000, 10000, 1000 * S, drift);
    CHECK_NEAR(ys_clock_drift(&pair), drift, 1e-9);
    CHECK_INT(ys_clock_error_ns(&pair), 10000);
    for (int64_t at_ns = 10 * S; at_ns <= 110 * S; at_ns += 25 * S) /* to a nanosecond or two, of rounding */
        CHECK(llabs(ys_clock_ours(&pair, theirs(at_ns, 1000 * S, drift)) - at_ns) <= 2);
    pair.after.is_known = false; /* it was gone before the second look: what it gained is not known */
    CHECK(isnan(ys_clock_drift(&pair)));
    CHECK(llabs(ys_clock_ours(&pair, theirs(110 * S, 1000 * S, drift)) - 110 * S - 5000000) <= 2);
}

/* A clock that was set in the midst is found by the look behind that: at least by so much as its error leaves. */
static void a_clock_that_was_set_is_found_by_a_look_between(void)
{
    struct ys_clock_pair pair = {0};
    ask(&pair.before, 10 * S, 10000, 10000, 1000 * S, 0);
    ask(&pair.after, 110 * S, 10000, 10000, 1000 * S, 0);
    for (int64_t at_ns = 20 * S; at_ns < 60 * S; at_ns += 10 * S) /* slow answers, which say nothing against it */
        ys_clock_take_during(&pair, (uint64_t)at_ns, theirs(at_ns + 100000, 1000 * S, 0), (uint64_t)(at_ns + 100000));
    CHECK_INT(pair.count, 4);
    CHECK_INT(ys_clock_error_ns(&pair), 10000);
    ys_clock_take_during(&pair, (uint64_t)(60 * S), theirs(60 * S + 10000, 1003 * S, 0), (uint64_t)(60 * S + 20000));
    CHECK_INT(ys_clock_error_ns(&pair), 10000 + 3 * S - 10000);
    ys_clock_free(&pair);
}

static void add(struct ys_series_set *set, const char *name, int64_t value)
{
    ys_series_add_int(set, name, value);
}

static int64_t first_of(const struct ys_run_record *record, const char *name)
{
    const struct ys_series *series = ys_series_find(&record->series, name);
    return series && series->count == 1 ? series->ints[0] : -1;
}

static void a_record_gets_our_times_and_keeps_its_spans(void)
{
    static const char *const times[] = {"block_start_ns",    "block_end_ns",        "request_sent_ns",
                                        "request_done_ns",   "sample_t_ns",         "exchange_began_ns",
                                        "exchange_ready_ns", "exchange_reduced_ns", "exchange_updated_ns"};
    struct ys_run_record record = {.has_facts = true};
    const struct ys_clock_pair pair = {.before = {.is_known = true, .at_ns = 1, .offset_ns = 1000}};
    ys_facts_init(&record.facts);
    record.facts.times.exec_ns = 1500;
    record.facts.times.end_ns = 9000;
    REQUIRE(ys_json_parse("[[2000,2500],[3000,3100]]", 25, "pauses", &record.facts.times.pauses) == YS_OK);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        add(&record.series, times[i], 4000 + (int64_t)i);
    add(&record.series, "block_input_ns", 70);
    add(&record.series, "sample_cpu_ns", 80);
    ys_clock_record(&pair, &record);
    CHECK_INT(record.facts.times.exec_ns, 500);
    CHECK_INT(record.facts.times.end_ns, 8000);
    CHECK_INT(record.facts.times.open_ns, YS_FIELD_NONE);
    char *pauses = ys_json_dump(record.facts.times.pauses, YS_JSON_COMPACT);
    CHECK_TEXT(pauses, "[[1000,1500],[2000,2100]]");
    ys_free(pauses);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        CHECK_INT(first_of(&record, times[i]), 3000 + (int64_t)i);
    CHECK_INT(first_of(&record, "block_input_ns"), 70);
    CHECK_INT(first_of(&record, "sample_cpu_ns"), 80);
    const struct ys_clock_pair one = {.is_one = true};
    ys_clock_record(&one, &record);
    CHECK_INT(record.facts.times.exec_ns, 500);
    CHECK(ys_clock_drift(&one) == 0 && ys_clock_error_ns(&one) == 0);
    ys_run_record_fini(&record);
}

TAP_MAIN(TAP_CASE(the_answer_that_took_least_is_taken_and_its_error_holds), TAP_CASE(times_are_related_by_both_looks),
         TAP_CASE(a_clock_that_was_set_is_found_by_a_look_between),
         TAP_CASE(a_record_gets_our_times_and_keeps_its_spans))
