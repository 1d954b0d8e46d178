#include "data/sets/fire.h"

#include "base/hash.h"
#include "base/mem.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { COUNT = 30, BYTES = 3 * YS_FIRE_SIDE * YS_FIRE_SIDE };

static uint8_t *x;
static int64_t y[COUNT];

static void draw(const char *half)
{
    ys_free(x);
    x = ys_alloc(COUNT, BYTES);
    if (!x)
        exit(1);
    ys_fire_draw(half, COUNT, x, y);
}

/** Written down when this was made: other bytes on another machine or by another version are an error, or want another
 * YS_FIRE_EDITION. */
static void the_bytes_are_the_same_on_every_machine(void)
{
    char hash[YS_SHA256_TEXT];
    draw("train");
    ys_sha256_text(x, (size_t)COUNT * BYTES, hash);
    CHECK_TEXT(hash, "24a41ef3f1b9a0d701c7251e7d2fa03c2c0013f759fa8e271a9595b8dd16aa77");
    draw("test");
    ys_sha256_text(x, (size_t)COUNT * BYTES, hash);
    CHECK_TEXT(hash, "2aa9b7ad8bfcd03bd0894b7fbc39c6b0c75d6d8c456ed7ca3ebeffd296814b87");
}

static void a_row_does_not_hang_on_how_many_there_are(void)
{
    int64_t label[2];
    uint8_t *two = ys_alloc(2, BYTES);
    REQUIRE(two);
    draw("train");
    ys_fire_draw("train", 2, two, label);
    CHECK(memcmp(two, x, 2 * (size_t)BYTES) == 0);
    CHECK(label[0] == 0 && label[1] == 1 && y[2] == 2 && y[3] == 0);
    ys_free(two);
}

/* How much redder than bluer the reddest pixel of an image is. */
static int reddest(const uint8_t *image)
{
    int most = 0;
    for (size_t at = 0; at < BYTES / 3; at++) {
        const int red = image[at], blue = image[2 * (BYTES / 3) + at];
        most = red - blue > most ? red - blue : most;
    }
    return most;
}

static void every_fire_is_orange_somewhere(void)
{
    draw("test");
    for (int row = 0; row < COUNT; row += YS_FIRE_CLASSES)
        CHECK(reddest(x + (size_t)row * BYTES) > 100);
}

TAP_MAIN(TAP_CASE(the_bytes_are_the_same_on_every_machine), TAP_CASE(a_row_does_not_hang_on_how_many_there_are),
         TAP_CASE(every_fire_is_orange_somewhere))
