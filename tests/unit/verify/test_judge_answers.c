/* When answers were shown, against when the adapter says that it gave them. */
#include "crew/shown_answers.h"
#include "stat/series.h"
#include "verify/audits/judge_answers.h"
#include "tap.h"

static const int64_t MS = 1000000;

/* Two messages, of four requests and of three, each request of 10 ms with 1 ms behind it: requests 0 to 3 within 100 to
 * 144 ms, requests 4 to 6 within 150 to 183 ms. */
static void begin(struct ys_series_set *series)
{
    static const int64_t messages[][4] = {{0, 4, 100, 144}, {4, 3, 150, 183}};
    *series = (struct ys_series_set){0};
    for (int m = 0; m < 2; m++) {
        ys_series_add_int(series, "block_first", messages[m][0]);
        ys_series_add_int(series, "block_count", messages[m][1]);
        ys_series_add_int(series, "block_start_ns", messages[m][2] * MS);
        ys_series_add_int(series, "block_end_ns", messages[m][3] * MS);
    }
    for (int k = 0; k < 7; k++)
        ys_series_add_int(series, "latency_ns", 10 * MS);
}

/* One look at `t_ms` that found `request` the newest. */
static ys_status check(int64_t request, int64_t t_ms)
{
    struct ys_series_set series;
    struct ys_answers answers = {.is_shown = true, .count = 1};
    begin(&series);
    answers.items[0] = (struct ys_answer_seen){
        .request = request, .read_ns = (uint64_t)(t_ms * MS), .still_ns = (uint64_t)(t_ms * MS)};
    ys_status status = ys_answers_check_times(&answers, &series);
    ys_series_set_free(&series);
    return status;
}

static void what_is_shown_in_time_holds(void)
{
    static const int64_t ends[] = {110, 121, 132, 143, 160, 171, 182};
    CHECK_INT(check(-1, 100), YS_OK);
    CHECK_INT(check(-1, 112), YS_OK); /* with three more of 10 ms to come until 144 the first may end at 114 */
    for (int k = 0; k < 7; k++)
        CHECK_INT(check(k, ends[k]), YS_OK);
    CHECK_INT(check(6, 5000), YS_OK);
}

static void what_is_shown_too_late_is_found(void)
{
    CHECK_INT(check(-1, 116), YS_EFORMAT);
    CHECK_HAS(ys_error(), "it had answered 1 requests at a moment when none was shown");
    CHECK_INT(check(0, 136), YS_EFORMAT);
    CHECK_HAS(ys_error(), "it had answered 3 requests at a moment when the answer to request 0 was the last");
    CHECK_INT(check(2, 146), YS_EFORMAT); /* all of a message whose end has passed */
    CHECK_INT(check(3, 146), YS_OK);
    CHECK_INT(check(4, 175), YS_EFORMAT);
    CHECK_INT(check(5, 185), YS_EFORMAT);
}

static void what_is_shown_too_early_is_found(void)
{
    CHECK_INT(check(1, 108), YS_EFORMAT); /* it began at 110 at the earliest */
    CHECK_HAS(ys_error(), "was shown before the time at which it says that the request began");
    CHECK_INT(check(1, 110), YS_OK);
    CHECK_INT(check(4, 148), YS_EFORMAT);
    CHECK_INT(check(6, 168), YS_EFORMAT);
}

static void an_answer_to_no_request_is_found(void)
{
    CHECK_INT(check(7, 5000), YS_EFORMAT);
    CHECK_INT(check(INT64_MAX - 1, 5000), YS_EFORMAT);
}

static void begin_evenly(struct ys_series_set *series, int64_t latency_ms, int64_t span_ms)
{
    *series = (struct ys_series_set){0};
    ys_series_add_int(series, "block_first", 0);
    ys_series_add_int(series, "block_count", 100);
    ys_series_add_int(series, "block_start_ns", 0);
    ys_series_add_int(series, "block_end_ns", span_ms * MS);
    for (int k = 0; k < 100; k++)
        ys_series_add_int(series, "latency_ns", latency_ms * MS);
}

/* 100 requests within `span_ms`, each of `latency_ms`. */
static ys_status check_share(int64_t latency_ms, int64_t span_ms)
{
    struct ys_series_set series;
    const struct ys_answers answers = {.is_shown = true};
    begin_evenly(&series, latency_ms, span_ms);
    ys_status status = ys_answers_check_times(&answers, &series);
    ys_series_set_free(&series);
    return status;
}

static void latencies_that_leave_half_of_the_time_out_are_found(void)
{
    CHECK_INT(check_share(11, 2000), YS_OK);
    CHECK_INT(check_share(9, 2000), YS_EFORMAT);
    CHECK_HAS(ys_error(), "its latencies are together 0.9 s of the 2 s");
    CHECK_INT(check_share(0, 900), YS_OK); /* so short a time says nothing */
}

static void a_run_without_latencies_is_our_own_mistake(void)
{
    struct ys_series_set series = {0};
    const struct ys_answers answers = {.is_shown = true};
    CHECK_INT(ys_answers_check_times(&answers, &series), YS_EINTERNAL);
}

TAP_MAIN(TAP_CASE(what_is_shown_in_time_holds), TAP_CASE(what_is_shown_too_late_is_found),
         TAP_CASE(what_is_shown_too_early_is_found), TAP_CASE(an_answer_to_no_request_is_found),
         TAP_CASE(latencies_that_leave_half_of_the_time_out_are_found),
         TAP_CASE(a_run_without_latencies_is_our_own_mistake))
