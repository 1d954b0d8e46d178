/* How a page's clock becomes ours: errors, drift, stamps that never shrink. */
#include "bridge/page_clock.h"
#include "tap.h"

static void of_several_answers_the_quickest_counts(void)
{
    struct ys_page_look look = {0};
    struct ys_page_clock clock = {.tick_ns = 5000};
    ys_page_look_take(&look, 1000000, 51500000, 2000000);
    ys_page_look_take(&look, 3000000, 53010000, 3020000);
    ys_page_look_take(&look, 4000000, 59000000, 9000000);
    ys_page_clock_set(&clock, &look);
    CHECK_INT(clock.offset_ns, 50000000);
    CHECK_INT(clock.error_ns, 10000);
    CHECK_INT(ys_page_clock_error_ns(&clock), 15000);
}

static void a_span_is_a_tick_longer_at_each_end(void)
{
    struct ys_page_clock clock = {.is_known = true, .offset_ns = 1000, .error_ns = 10, .tick_ns = 5};
    int64_t start_ns = 2000, end_ns = 3000;
    ys_page_clock_span(&clock, 0, 9000, &start_ns, &end_ns);
    CHECK_INT(start_ns, 995);
    CHECK_INT(end_ns, 2005);
    start_ns = 3001; /* a nanosecond later by the page's clock: behind the first all the same, and as long */
    end_ns = 4000;
    ys_page_clock_span(&clock, 0, 9000, &start_ns, &end_ns);
    CHECK_INT(start_ns, 2005);
    CHECK_INT(end_ns, 2005 + 999 + 10);
}

static void a_span_lies_between_question_and_answer(void)
{
    struct ys_page_clock clock = {.is_known = true, .error_ns = 400, .tick_ns = 5};
    int64_t start_ns = 900, end_ns = 1500;
    ys_page_clock_span(&clock, 1000, 9000, &start_ns, &end_ns);
    CHECK_INT(start_ns, 1000);
    CHECK_INT(end_ns, 1610);
    start_ns = 8000;
    end_ns = 9200;
    ys_page_clock_span(&clock, 1000, 9000, &start_ns, &end_ns);
    CHECK_INT(end_ns, 9000);
    CHECK_INT(start_ns, 9000 - 1210);
}

static void a_clock_that_drifts_has_a_larger_error_and_spans_as_long_as_before(void)
{
    struct ys_page_clock clock = {.tick_ns = 100000};
    ys_page_clock_set(&clock, &(struct ys_page_look){true, 0, 10000});
    ys_page_clock_check(&clock, &(struct ys_page_look){true, 100000, 20000}); /* which the tick explains */
    CHECK_INT(clock.error_ns, 10000);
    ys_page_clock_check(&clock, &(struct ys_page_look){true, 500000, 20000});
    CHECK_INT(clock.error_ns, 500000 - 20000 - 100000);
    CHECK_INT(clock.offset_ns, 0);
    int64_t start_ns = 1000000, end_ns = 2000000;
    ys_page_clock_span(&clock, 0, 9000000, &start_ns, &end_ns);
    CHECK_INT(end_ns - start_ns, 1200000);
    ys_page_clock_set(&clock, &(struct ys_page_look){true, 500000, 20000});
    CHECK_INT(clock.error_ns, 20000);
}

static void without_an_answer_it_stays_as_it_was(void)
{
    struct ys_page_clock clock = {.is_known = true, .offset_ns = 7, .error_ns = 3};
    ys_page_clock_set(&clock, &(struct ys_page_look){0});
    ys_page_clock_check(&clock, &(struct ys_page_look){0});
    CHECK_INT(clock.offset_ns, 7);
    CHECK_INT(clock.error_ns, 3);
}

TAP_MAIN(TAP_CASE(of_several_answers_the_quickest_counts), TAP_CASE(a_span_is_a_tick_longer_at_each_end),
         TAP_CASE(a_span_lies_between_question_and_answer),
         TAP_CASE(a_clock_that_drifts_has_a_larger_error_and_spans_as_long_as_before),
         TAP_CASE(without_an_answer_it_stays_as_it_was))
