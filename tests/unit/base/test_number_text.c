#include "base/number_text.h"

#include "tap.h"

static void whole_numbers_are_decimal_digits(void)
{
    int64_t value = 0;
    CHECK(ys_value_int("42", &value) && value == 42);
    CHECK(ys_value_int("-7", &value) && value == -7);
    CHECK(ys_value_int("+007", &value) && value == 7);
    CHECK(ys_value_int("999999999999999999", &value) && value == 999999999999999999);
    const char *bad[] = {"", "-", "1.0", "1e3", "0x10", " 1", "1 ", "1000000000000000000", "ten"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tap_check(!ys_value_int(bad[i], &value), __LINE__, "\"%s\" was taken", bad[i]);
}

static void numbers_are_decimal_with_an_exponent(void)
{
    double value = 0;
    CHECK(ys_value_real("1e-3", &value) && value == 1e-3);
    CHECK(ys_value_real(".5", &value) && value == 0.5);
    CHECK(ys_value_real("5.", &value) && value == 5);
    CHECK(ys_value_real("-2.5E+2", &value) && value == -250);
    CHECK(ys_value_real("1e999", &value) && isinf(value));
    const char *bad[] = {"", ".", "e3", "1e", "nan", "inf", "0x1p3", "1,5", "1 ", "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tap_check(!ys_value_real(bad[i], &value), __LINE__, "\"%s\" was taken", bad[i]);
}

static void durations_need_a_unit(void)
{
    double value = 0;
    const struct {
        const char *text;
        double seconds;
    } good[] = {{"30s", 30}, {"1.5h", 5400}, {"2 min", 120}, {"250ms", 0.25}, {"3us", 3e-6}, {"7ns", 7e-9},
                {"0", 0},    {"30 sec", 30}, {"5m", 300},    {"1d", 86400},   {"2H", 7200}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        tap_check(ys_value_duration(good[i].text, &value) && value == good[i].seconds, __LINE__, "%s is %g",
                  good[i].text, value);
    CHECK(!ys_value_duration("30", &value));
    CHECK(!ys_value_duration("30 secs", &value));
    CHECK(!ys_value_duration("s", &value));
    CHECK(!ys_value_duration("1h30min", &value));
}

static void sizes_tell_thousands_from_1024(void)
{
    double value = 0;
    CHECK(ys_value_size("2GiB", &value) && value == 2147483648.0);
    CHECK(ys_value_size("2GB", &value) && value == 2e9);
    CHECK(ys_value_size("1.5 KiB", &value) && value == 1536);
    CHECK(ys_value_size("3kB", &value) && value == 3000);
    CHECK(ys_value_size("12B", &value) && value == 12);
    CHECK(ys_value_size("1TiB", &value) && value == 1099511627776.0);
    CHECK(ys_value_size("2G", &value) && value == 2147483648.0);
    CHECK(ys_value_size("2gib", &value) && value == 2147483648.0);
    CHECK(ys_value_size("64k", &value) && value == 65536);
    CHECK(!ys_value_size("2Gi", &value));
    CHECK(!ys_value_size("2048", &value));
}

static void shares_are_percents_or_fractions(void)
{
    double value = 0;
    CHECK(ys_value_share("2%", &value) && value == 0.02);
    CHECK(ys_value_share("2 %", &value) && value == 0.02);
    CHECK(ys_value_share("0.02", &value) && value == 0.02);
    CHECK(!ys_value_share("%", &value));
    CHECK(!ys_value_share("2%%", &value));
}

TAP_MAIN(TAP_CASE(whole_numbers_are_decimal_digits), TAP_CASE(numbers_are_decimal_with_an_exponent),
         TAP_CASE(durations_need_a_unit), TAP_CASE(sizes_tell_thousands_from_1024),
         TAP_CASE(shares_are_percents_or_fractions))
