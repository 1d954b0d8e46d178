#include "base/size_text.h"

#include "tap.h"

static void a_size_has_the_unit_that_shows_it(void)
{
    static const struct {
        uint64_t size_bytes;
        const char *text;
    } known[] = {{0, "0 B"},
                 {1, "1 B"},
                 {999, "999 B"},
                 {1000, "1 kB"},
                 {4200, "4.2 kB"},
                 {12345, "12.3 kB"},
                 {999499, "999 kB"},
                 {999500, "1 MB"},
                 {4200000, "4.2 MB"},
                 {999499999, "999 MB"},
                 {999500000, "1 GB"},
                 {1250000000, "1.25 GB"},
                 {999999000000000, "999.999 TB"},
                 {9007199254740991, "9007.1993 TB"},
                 {UINT64_MAX, "18446744 TB"}};
    char text[YS_SIZE_TEXT];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK_TEXT(ys_size_text(known[i].size_bytes, text), known[i].text);
}

static void sizes_that_differ_look_different(void)
{
    char a[YS_SIZE_TEXT], b[YS_SIZE_TEXT];
    ys_size_texts(4287168, 12288, a, b);
    CHECK_TEXT(a, "4.29 MB");
    CHECK_TEXT(b, "12.3 kB");
    ys_size_texts(1000100000, 1000000000, a, b);
    CHECK_TEXT(a, "1.0001 GB");
    CHECK_TEXT(b, "1 GB");
    ys_size_texts(5000, 5000, a, b);
    CHECK_TEXT(a, b);
    for (int shift = 10; shift < 53; shift += 3) {
        ys_size_texts(((uint64_t)1 << shift) + 1, (uint64_t)1 << shift, a, b);
        tap_check(strcmp(a, b) != 0, __LINE__, "%s is %s", a, b);
    }
}

TAP_MAIN(TAP_CASE(a_size_has_the_unit_that_shows_it), TAP_CASE(sizes_that_differ_look_different))
