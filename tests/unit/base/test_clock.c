#include "base/clock.h"
#include "tap.h"

static void time_does_not_run_backwards(void)
{
    uint64_t before_ns = ys_time_ns();
    for (int i = 0; i < 10000; i++) {
        uint64_t now_ns = ys_time_ns();
        REQUIRE(now_ns >= before_ns);
        before_ns = now_ns;
    }
    CHECK(before_ns > 0);
}

static void dates_are_written_in_utc(void)
{
    char text[21];
    ys_date_text(0, text, sizeof text);
    CHECK_TEXT(text, "1970-01-01T00:00:00Z");
    ys_date_text(951868799, text, sizeof text); /* 29 February 2000, one second before midnight */
    CHECK_TEXT(text, "2000-02-29T23:59:59Z");
    ys_date_text(4102444800, text, sizeof text); /* beyond 32 bits of signed seconds */
    CHECK_TEXT(text, "2100-01-01T00:00:00Z");
    CHECK(ys_date_s() > 1577836800); /* later than 2020 */
}

static void check_span(double span_s, const char *expected)
{
    char text[32];
    CHECK_TEXT(ys_span_text(span_s, text, sizeof text), expected);
}

static void spans_are_written_for_people(void)
{
    check_span(0, "0 s");
    check_span(12e-9, "12 ns");
    check_span(3.25e-6, "3.25 us");
    check_span(0.32, "320 ms");
    check_span(1.5, "1.5 s");
    check_span(59.9, "59.9 s");
    check_span(125, "2 min 05 s");
    check_span(3599.4, "59 min 59 s");
    check_span(7384, "2 h 03 min");
    check_span(-1.5, "-1.5 s");
    check_span(NAN, "unknown");
    check_span(INFINITY, "unknown");
}

static void a_span_that_rounds_up_goes_to_the_next_unit(void)
{
    check_span(0.99949, "999 ms");
    check_span(0.9996, "1 s");
    check_span(59.97, "1 min 00 s");
    check_span(119.7, "2 min 00 s");
    check_span(3599.7, "1 h 00 min");
}

TAP_MAIN(TAP_CASE(time_does_not_run_backwards), TAP_CASE(dates_are_written_in_utc),
         TAP_CASE(spans_are_written_for_people), TAP_CASE(a_span_that_rounds_up_goes_to_the_next_unit))
