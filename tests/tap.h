/* A test program is a list of named cases; each prints one TAP line. `PROGRAM NAME...` runs only those cases (names may
 * be patterns of the shell: 'conv_*_ref'), and ends with 2 where one of them fits no case; `PROGRAM --list` names them.
 * A case fails by any CHECK that does not hold, and goes on; REQUIRE ends the case.
 *
 *     static void median_of_even_count_is_the_mean_of_the_two_middle_values(void) { CHECK(...); }
 *     TAP_MAIN(TAP_CASE(median_of_even_count_is_the_mean_of_the_two_middle_values), ...)
 */
#ifndef YS_TESTS_TAP_H
#define YS_TESTS_TAP_H

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct tap_case {
    const char *name;
    void (*run)(void);
};

static int tap_failures;
static char tap_skip_reason[256];

__attribute__((format(printf, 3, 4), unused)) static bool tap_check(bool holds, int line, const char *format, ...)
{
    if (!holds) {
        tap_failures++;
        printf("#   line %d: ", line);
        va_list arguments;
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
    }
    return holds;
}

/** Marks the running case as skipped: it needs something that this machine, or this build, does not have. Return right
 * after it. */
__attribute__((format(printf, 1, 2), unused)) static void tap_skip(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tap_skip_reason, sizeof tap_skip_reason, format, arguments);
    va_end(arguments);
}

#define CHECK(expression) tap_check((expression), __LINE__, "%s", #expression)
/** Ends the case where the expression does not hold; in one that was marked as skipped that is no failure. */
#define REQUIRE(expression)                                                                                            \
    do {                                                                                                               \
        if (!(expression)) {                                                                                           \
            tap_check(tap_skip_reason[0], __LINE__, "%s", #expression);                                                \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)
#define CHECK_INT(actual, expected)                                                                                    \
    do {                                                                                                               \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected);                                    \
        tap_check(actual_ == expected_, __LINE__, "%s is %lld, not %lld", #actual, actual_, expected_);                \
    } while (0)
#define CHECK_TEXT(actual, expected)                                                                                   \
    do {                                                                                                               \
        const char *actual_ = (actual), *expected_ = (expected);                                                       \
        tap_check(actual_ &&strcmp(actual_, expected_) == 0, __LINE__, "%s is \"%s\", not \"%s\"", #actual,            \
                  actual_ ? actual_ : "(null)", expected_);                                                            \
    } while (0)
#define CHECK_HAS(actual, part)                                                                                        \
    do {                                                                                                               \
        const char *actual_ = (actual), *part_ = (part);                                                               \
        tap_check(actual_ &&strstr(actual_, part_), __LINE__, "%s is \"%s\", which lacks \"%s\"", #actual,             \
                  actual_ ? actual_ : "(null)", part_);                                                                \
    } while (0)
/** |actual - expected| <= tolerance; say in a comment where the tolerance comes from. */
#define CHECK_NEAR(actual, expected, tolerance)                                                                        \
    do {                                                                                                               \
        double actual_ = (actual), expected_ = (expected);                                                             \
        tap_check(fabs(actual_ - expected_) <= (tolerance), __LINE__, "%s is %.17g, not %.17g within %g", #actual,     \
                  actual_, expected_, (double)(tolerance));                                                            \
    } while (0)

#define TAP_CASE(function)                                                                                             \
    {                                                                                                                  \
#function, function                                                                                            \
    }

static int tap_main(const struct tap_case *cases, int count, int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < count; i++)
            printf("%s\n", cases[i].name);
        return 0;
    }
    int failed = 0, number = 0;
    for (int a = 1; a < argc; a++) {
        int fitting = 0;
        for (int i = 0; i < count; i++)
            fitting += fnmatch(argv[a], cases[i].name, 0) == 0;
        if (fitting == 0) {
            fprintf(stderr, "%s: there is no case %s: --list names them\n", argv[0], argv[a]);
            return 2;
        }
    }
    for (int i = 0; i < count; i++) {
        bool wanted = argc < 2;
        for (int a = 1; a < argc; a++)
            wanted |= fnmatch(argv[a], cases[i].name, 0) == 0;
        if (!wanted)
            continue;
        tap_failures = 0;
        tap_skip_reason[0] = 0;
        cases[i].run();
        failed += tap_failures > 0;
        printf("%sok %d - %s", tap_failures ? "not " : "", ++number, cases[i].name);
        printf(tap_skip_reason[0] ? " # SKIP %s\n" : "%s\n", tap_skip_reason);
    }
    printf("1..%d\n", number);
    return failed ? 1 : 0;
}

#define TAP_MAIN(...)                                                                                                  \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        static const struct tap_case cases[] = {__VA_ARGS__};                                                          \
        return tap_main(cases, (int)(sizeof cases / sizeof cases[0]), argc, argv);                                     \
    }

#endif
