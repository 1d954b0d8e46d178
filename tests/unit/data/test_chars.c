/* The data set `chars`: what its rows hold, and that its floor is a floor. */
#include "data/sets/chars.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = YS_CHARS_TEST, ROW = YS_CHARS_ROW, ALL = YS_CHARS_VOCABULARY };

static int32_t x[ROWS * ROW];
static int64_t y[ROWS * ROW];

static char text_of(int64_t token)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ([{)]}# ";
    return token >= 0 && token < (int64_t)sizeof text - 1 ? text[token] : '?';
}

/** Everything was drawn from probabilities that the text so far decides: reading it by the rules of the header alone
 * never meets a bracket that closes another than the last one, nor another key. */
static void rows_keep_the_rules(void)
{
    (void)ys_chars_draw("test", ROWS, x, y);
    int recalls = 0, closed = 0;
    for (int row = 0; row < ROWS; row++) {
        char text[ROW + 2] = "", open[ROW];
        int depth = 0;
        for (int t = 0; t < ROW; t++) {
            text[t] = text_of(x[row * ROW + t]);
            CHECK(t == 0 || x[row * ROW + t] == y[row * ROW + t - 1]);
        }
        text[ROW] = text_of(y[row * ROW + ROW - 1]);
        tap_check(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 4 && text[4] == ' ', __LINE__, "%s", text);
        for (int t = 5; text[t]; t++) {
            const char *opening = strchr("([{", text[t]), *closing = strchr(")]}", text[t]);
            if (opening)
                open[depth++] = *(strchr("()[]{}", text[t]) + 1);
            if (closing)
                tap_check(depth > 0 && open[--depth] == text[t], __LINE__, "%s", text);
            closed += closing != NULL;
            tap_check(depth <= 3, __LINE__, "%s", text);
            if (text[t] == '#' && t + 4 <= ROW) {
                tap_check(strncmp(text + t + 1, text, 4) == 0, __LINE__, "%s", text);
                recalls++;
            }
        }
    }
    CHECK(recalls > ROWS / 2 && closed > ROWS);
}

/** The same rows whatever their number, in each half others; and what the title says of them. */
static void rows_are_always_the_same(void)
{
    static int32_t few[2 * ROW], other[2 * ROW];
    static int64_t next[2 * ROW];
    char floor_text[16];
    const double bits = ys_chars_draw("test", ROWS, x, y);
    (void)ys_chars_draw("test", 2, few, next);
    (void)ys_chars_draw("train", 2, other, next);
    CHECK(memcmp(few, x, sizeof few) == 0 && memcmp(other, x, sizeof other) != 0);
    snprintf(floor_text, sizeof floor_text, "%.4f", bits);
    CHECK_TEXT(floor_text, YS_CHARS_FLOOR);
}

/** Bits a character of a table of `pairs` counts, [contexts][ALL], in the rows that it was counted from. */
static double entropy(const double *pairs, int contexts, double characters)
{
    double bits = 0;
    for (int a = 0; a < contexts; a++) {
        double sum = 0;
        for (int k = 0; k < ALL; k++)
            sum += pairs[a * ALL + k];
        for (int k = 0; k < ALL; k++)
            if (pairs[a * ALL + k] > 0)
                bits -= pairs[a * ALL + k] / characters * log2(pairs[a * ALL + k] / sum);
    }
    return bits;
}

/** Who knows but the last character needs twice the bits of who knows all of them, although counts of few rows flatter
 * it; and no reader falls below the floor. */
static void context_helps(void)
{
    static double single[ALL], pairs[ALL * ALL];
    const double bits = ys_chars_draw("test", ROWS, x, y);
    for (int i = 0; i < ROWS * ROW; i++) {
        single[y[i]]++;
        pairs[x[i] * ALL + y[i]]++;
    }
    CHECK(entropy(single, 1, ROWS * ROW) > 3 * bits);
    CHECK(entropy(pairs, ALL, ROWS * ROW) > 2 * bits);
    CHECK(bits > 1);
}

TAP_MAIN(TAP_CASE(rows_keep_the_rules), TAP_CASE(rows_are_always_the_same), TAP_CASE(context_helps))
