#include "data/sets/digits.h"

#include "base/hash.h"
#include "base/mem.h"
#include "data/sets/glyph.h"
#include "tap.h"
#include <stdlib.h>

#define PIXELS (YS_DIGITS_SIDE * YS_DIGITS_SIDE)

static uint8_t train_x[YS_DIGITS_TRAIN * PIXELS], test_x[YS_DIGITS_TEST * PIXELS];
static int64_t train_y[YS_DIGITS_TRAIN], test_y[YS_DIGITS_TEST];

static void draw_both(void)
{
    static int drawn;
    if (drawn++)
        return;
    ys_digits_draw("train", YS_DIGITS_TRAIN, train_x, train_y);
    ys_digits_draw("test", YS_DIGITS_TEST, test_x, test_y);
}

static void check_hash(const uint8_t *x, const int64_t *y, size_t count, const char *expected)
{
    uint8_t digest[32];
    char text[65];
    ys_sha256_joined(x, count * PIXELS, y, count * sizeof *y, digest);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    CHECK_TEXT(text, expected);
}

static void the_bytes_are_the_same_on_every_machine(void)
{
    draw_both();
    check_hash(train_x, train_y, YS_DIGITS_TRAIN, "e15aa6628e675ff7f79357b8b59b5693c16578ef44d873483d8f4d897bb3277e");
    check_hash(test_x, test_y, YS_DIGITS_TEST, "75d3b66879e888a73a2d912e76be2b1e396550eec5912605fd8de648a9639d04");
    CHECK_TEXT(YS_DIGITS_TRAIN_HASH, "e15aa6628e675ff7f79357b8b59b5693c16578ef44d873483d8f4d897bb3277e");
    CHECK_TEXT(YS_DIGITS_TEST_HASH, "75d3b66879e888a73a2d912e76be2b1e396550eec5912605fd8de648a9639d04");
}

static void an_image_does_not_depend_on_how_many_are_drawn(void)
{
    uint8_t x[3 * PIXELS];
    int64_t y[3];
    draw_both();
    ys_digits_draw("train", 3, x, y);
    CHECK(memcmp(x, train_x, sizeof x) == 0 && memcmp(y, train_y, sizeof y) == 0);
}

static void every_digit_comes_equally_often(void)
{
    int train[10] = {0}, test[10] = {0};
    draw_both();
    for (int i = 0; i < YS_DIGITS_TRAIN; i++)
        train[train_y[i]]++;
    for (int i = 0; i < YS_DIGITS_TEST; i++)
        test[test_y[i]]++;
    for (int k = 0; k < 10; k++) {
        CHECK_INT(train[k], YS_DIGITS_TRAIN / 10);
        CHECK_INT(test[k], YS_DIGITS_TEST / 10);
    }
}

static void every_image_has_ink_and_paper(void)
{
    draw_both();
    for (int i = 0; i < YS_DIGITS_TRAIN; i++) {
        int bright = 0, dark = 0;
        for (int p = 0; p < PIXELS; p++) {
            bright += train_x[i * PIXELS + p] > 100;
            dark += train_x[i * PIXELS + p] < 90;
        }
        tap_check(bright >= 8 && dark >= PIXELS / 2, __LINE__, "image %d: %d bright and %d dark pixels", i, bright,
                  dark);
    }
}

static void no_image_of_one_set_is_in_the_other(void)
{
    draw_both();
    int same = 0;
    for (int i = 0; i < YS_DIGITS_TEST; i++)
        for (int k = 0; k < YS_DIGITS_TRAIN; k++)
            same += memcmp(test_x + i * PIXELS, train_x + k * PIXELS, PIXELS) == 0;
    CHECK_INT(same, 0);
}

/** The class whose mean training image is nearest: what the set gives away without learning. */
static int nearest_mean(double means[10][PIXELS], const uint8_t *image)
{
    int best = 0;
    double best_distance = INFINITY;
    for (int k = 0; k < 10; k++) {
        double distance = 0;
        for (int p = 0; p < PIXELS; p++)
            distance += (image[p] - means[k][p]) * (image[p] - means[k][p]);
        if (distance < best_distance) {
            best_distance = distance;
            best = k;
        }
    }
    return best;
}

static void the_set_is_neither_trivial_nor_noise(void)
{
    static double means[10][PIXELS];
    int correct = 0;
    draw_both();
    for (int i = 0; i < YS_DIGITS_TRAIN; i++)
        for (int p = 0; p < PIXELS; p++)
            means[train_y[i]][p] += train_x[i * PIXELS + p] / (YS_DIGITS_TRAIN / 10.0);
    for (int i = 0; i < YS_DIGITS_TEST; i++)
        correct += nearest_mean(means, test_x + i * PIXELS) == test_y[i];
    printf("# nearest mean: %d of %d\n", correct, YS_DIGITS_TEST);
    /* Guessing gives 100; a set that a trained network cannot better would be near 1000. */
    CHECK(correct > 400 && correct < 850);
}

static void glyphs_stay_in_their_box(void)
{
    for (int digit = 0; digit < 10; digit++) {
        uint32_t ways;
        const struct ys_glyph *glyphs = ys_glyphs(digit, &ways);
        CHECK(ways >= 2);
        for (uint32_t w = 0; w < ways; w++) {
            CHECK(glyphs[w].strokes[0].point_count >= 2);
            for (int s = 0; s < YS_GLYPH_MAX_STROKES; s++)
                for (int i = 0; i < glyphs[w].strokes[s].point_count; i++)
                    CHECK(i < YS_GLYPH_MAX_POINTS && glyphs[w].strokes[s].points[i][0] <= 100 &&
                          glyphs[w].strokes[s].points[i][1] <= 100);
        }
    }
}

TAP_MAIN(TAP_CASE(the_bytes_are_the_same_on_every_machine), TAP_CASE(an_image_does_not_depend_on_how_many_are_drawn),
         TAP_CASE(every_digit_comes_equally_often), TAP_CASE(every_image_has_ink_and_paper),
         TAP_CASE(no_image_of_one_set_is_in_the_other), TAP_CASE(the_set_is_neither_trivial_nor_noise),
         TAP_CASE(glyphs_stay_in_their_box))
