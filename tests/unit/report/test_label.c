#include "report/label.h"
#include "report/view/view.h"
#include "tap.h"

static void values_have_three_digits_and_a_unit(void)
{
    CHECK_TEXT(ys_label_value(YS_KIND_SPAN, 0.00518).text, "5.18 ms");
    CHECK_TEXT(ys_label_value(YS_KIND_SPAN, 1.6).text, "1.60 s");
    CHECK_TEXT(ys_label_value(YS_KIND_SPAN, 531e-6).text, "531 us");
    CHECK_TEXT(ys_label_value(YS_KIND_SPAN, 0).text, "0 s");
    CHECK_TEXT(ys_label_value(YS_KIND_SPAN, 3600).text, "60.0 min");
    CHECK_TEXT(ys_label_value(YS_KIND_BYTES, 312345678).text, "312 MB");
    CHECK_TEXT(ys_label_value(YS_KIND_BYTES, 8216354816).text, "8.22 GB");
    CHECK_TEXT(ys_label_value(YS_KIND_RATE, 12345).text, "12300");
    CHECK_TEXT(ys_label_value(YS_KIND_COUNT, 3274634).text, "3.27 M");
    CHECK_TEXT(ys_label_value(YS_KIND_COUNT, 168).text, "168");
    CHECK_TEXT(ys_label_value(YS_KIND_NUMBER, 0.0123).text, "0.0123");
}

static void rounding_up_to_the_next_unit_changes_the_unit(void)
{
    CHECK_TEXT(ys_label_value(YS_KIND_SPAN, 0.9996).text, "1.00 s");
    CHECK_TEXT(ys_label_value(YS_KIND_BYTES, 999.6e6).text, "1.00 GB");
    CHECK_TEXT(ys_label_value(YS_KIND_NUMBER, 9.996).text, "10.0");
}

static void accuracy_is_percent_with_two_decimals(void)
{
    CHECK_TEXT(ys_label_value(YS_KIND_SHARE, 0.98125).text, "98.12 %");
    CHECK_TEXT(ys_label_value(YS_KIND_SHARE, 1).text, "100.00 %");
}

static void unknown_is_a_dash(void)
{
    CHECK_TEXT(ys_label_value(YS_KIND_SPAN, NAN).text, "-");
    CHECK_TEXT(ys_label_value(YS_KIND_BYTES, INFINITY).text, "-");
    CHECK_TEXT(ys_label_ratio(NAN).text, "-");
    CHECK_TEXT(ys_label_error(NAN).text, "-");
    CHECK_TEXT(ys_label_share(NAN).text, "-");
}

static void huge_and_tiny_numbers_stay_short(void)
{
    CHECK_TEXT(ys_label_value(YS_KIND_NUMBER, 1e300).text, "1.00e+300");
    CHECK(strlen(ys_label_value(YS_KIND_SPAN, -1e300).text) < 16);
    CHECK(strlen(ys_label_value(YS_KIND_BYTES, 1e-300).text) < 16);
}

static void interval_and_value_share_unit_and_place(void)
{
    struct ys_measure m = ys_measure(YS_KIND_SPAN, 0.00518, 0.0051, 0.00525);
    CHECK_TEXT(m.value.text, "5.18");
    CHECK_TEXT(m.unit.text, "ms");
    CHECK_TEXT(m.interval.text, "[5.10, 5.25]");
    m = ys_measure(YS_KIND_RATE, 12345, 12100, 12612);
    CHECK_TEXT(m.interval.text, "[12100, 12600]");
    m = ys_measure(YS_KIND_RATE, 12345, NAN, NAN);
    CHECK_TEXT(m.interval.text, "");
}

static void tight_intervals_get_more_places(void)
{
    struct ys_measure m = ys_measure(YS_KIND_RATE, 12344, 12341, 12349);
    CHECK_TEXT(m.value.text, "12340");
    CHECK_TEXT(m.interval.text, "[12340, 12350]");
    m = ys_measure(YS_KIND_RATE, 12345, 12345, 12345); /* no more than there is */
    CHECK_TEXT(m.interval.text, "[12300, 12300]");
}

static void ratios_have_more_places_near_one(void)
{
    CHECK_TEXT(ys_label_ratio(1.934).text, "1.93");
    CHECK_TEXT(ys_label_ratio(1.0042).text, "1.004");
    CHECK_TEXT(ys_label_ratio(12.44).text, "12.4");
    CHECK_TEXT(ys_label_ratio(204.44).text, "204");
    CHECK_TEXT(ys_label_ratio_range(1.93, 1.849, 2.01).text, "1.85 to 2.01");
    CHECK_TEXT(ys_label_ratio_range(0.96, 0.9412, 0.983).text, "0.941 to 0.983");
    CHECK_TEXT(ys_label_ratio_range(0.96, 0.029, 2.047).text, "0.03 to 2.05");
    CHECK_TEXT(ys_label_ratio_range(1.93, NAN, 2).text, "");
}

static void small_words(void)
{
    CHECK_TEXT(ys_label_plural(1, "round").text, "1 round");
    CHECK_TEXT(ys_label_plural(6, "round").text, "6 rounds");
    CHECK_TEXT(ys_label_share(0.02).text, "2.0 %");
    CHECK_TEXT(ys_label_share(0.0034).text, "0.34 %");
    CHECK_TEXT(ys_label_share(0.00001).text, "below 0.01 %");
    CHECK_TEXT(ys_label_error(4.1e-13).text, "4.1e-13");
    CHECK_TEXT(ys_label_error(0).text, "0");
}

static void kinds_have_words(void)
{
    static const char *const words[] = {"number", "count", "rate", "span", "bytes", "share"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK_INT(ys_name_find(&ys_kinds, words[i]), i);
}

static void both_of_two_and_all_of_more(void)
{
    CHECK_TEXT(ys_label_all(2, "trials").text, "Both trials");
    CHECK_TEXT(ys_label_all(16, "trials").text, "All 16 trials");
}

TAP_MAIN(TAP_CASE(both_of_two_and_all_of_more), TAP_CASE(values_have_three_digits_and_a_unit),
         TAP_CASE(rounding_up_to_the_next_unit_changes_the_unit), TAP_CASE(accuracy_is_percent_with_two_decimals),
         TAP_CASE(unknown_is_a_dash), TAP_CASE(huge_and_tiny_numbers_stay_short),
         TAP_CASE(interval_and_value_share_unit_and_place), TAP_CASE(tight_intervals_get_more_places),
         TAP_CASE(ratios_have_more_places_near_one), TAP_CASE(small_words), TAP_CASE(kinds_have_words))
