#include "feeder/augment.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "feeder/image_rows.h"

#include "picture_files.h"
#include "tap.h"
#include "unit/base/scratch.h"

enum { SIDE = 32, ROW = 24, PIXELS = 3 * ROW * ROW };

static const uint64_t seed = 19; /* of the images; the bytes below hang on it */

static struct ys_image picture(int64_t height, int64_t width)
{
    struct ys_image image = {0};
    struct ys_rng rng;
    if (ys_image_init(&image, "picture", height, width, 3) != YS_OK)
        exit(1);
    ys_rng_init(&rng, seed, "picture");
    for (int64_t i = 0; i < 3 * height * width; i++)
        image.pixels[i] = (uint8_t)ys_rng_below(&rng, 256);
    return image;
}

static const struct ys_augmentation *named(const char *name)
{
    const struct ys_augmentation *found = ys_augmentation_find(name);
    if (!found)
        exit(1);
    return found;
}

/* What a row's stream gives, in the order that docs/data.md says. */
struct drawn {
    bool flip;
    double brightness, contrast;
    uint32_t top, left;
};

static struct drawn draw_again(const struct ys_augment_draw *draw)
{
    struct ys_rng rng;
    struct drawn drawn;
    char name[64];
    snprintf(name, sizeof name, "augment/%d/%d", (int)draw->epoch, (int)draw->row);
    ys_rng_init(&rng, draw->seed, name);
    drawn.flip = ys_rng_uniform(&rng) < 0.5;
    drawn.brightness = (2 * ys_rng_uniform(&rng) - 1) * 63;
    drawn.contrast = 0.2 + 1.6 * ys_rng_uniform(&rng);
    drawn.top = ys_rng_below(&rng, SIDE - ROW + 1);
    drawn.left = ys_rng_below(&rng, SIDE - ROW + 1);
    return drawn;
}

static double pixel(const struct ys_image *image, const struct drawn *drawn, int c, int y, int x)
{
    const int column = drawn->flip ? ROW - 1 - x : x;
    return image->pixels[((drawn->top + (uint32_t)y) * SIDE + drawn->left + (uint32_t)column) * 3 + (uint32_t)c];
}

/* In long double, as one formula a step. */
static void expect_cifar(const struct ys_image *image, const struct drawn *drawn, long double *values)
{
    long double all = 0, squares = 0;
    for (int c = 0; c < 3; c++) {
        long double mean = 0;
        for (int i = 0; i < ROW * ROW; i++)
            mean += pixel(image, drawn, c, i / ROW, i % ROW) / (ROW * ROW);
        for (int i = 0; i < ROW * ROW; i++)
            values[c * ROW * ROW + i] =
                (pixel(image, drawn, c, i / ROW, i % ROW) - mean) * drawn->contrast + mean + drawn->brightness;
    }
    for (int i = 0; i < PIXELS; i++)
        all += values[i] / PIXELS;
    for (int i = 0; i < PIXELS; i++)
        squares += (values[i] - all) * (values[i] - all) / PIXELS;
    for (int i = 0; i < PIXELS; i++)
        values[i] = (values[i] - all) / fmaxl(sqrtl(squares), 1 / sqrtl(PIXELS));
}

static void cifar_is_what_its_formulas_say(void)
{
    struct ys_image image = picture(SIDE, SIDE);
    int flips = 0;
    for (int row = 0; row < 40; row++) {
        const struct ys_augment_draw draw = {.seed = 3, .epoch = 2, .row = (uint64_t)row};
        const struct drawn drawn = draw_again(&draw);
        static float planes[PIXELS];
        static long double values[PIXELS];
        REQUIRE(ys_augment(named("cifar"), &image, "a", &draw, ROW, ROW, planes) == YS_OK);
        expect_cifar(&image, &drawn, values);
        flips += drawn.flip;
        for (int i = 0; i < PIXELS; i++) {
            /* Rounding to float is half of 2^-23 of the value. Sums of 1728 numbers below 700 in double are off by less
             * than 1728 * 2^-53 of the largest, which dividing by a deviation above 1 does not enlarge. */
            const double bound = ldexp(fabs((double)values[i]), -24) + 1728 * 700 * ldexp(1, -53);
            tap_check(fabs((double)(planes[i] - values[i])) <= bound, __LINE__, "row %d, value %d: %.9g, not %.9g", row,
                      i, planes[i], (double)values[i]);
        }
    }
    CHECK(flips > 8 && flips < 32);
    ys_image_fini(&image);
}

static void a_row_of_one_colour_is_zero(void)
{
    struct ys_image image = picture(SIDE, SIDE);
    static float planes[PIXELS];
    memset(image.pixels, 90, SIDE * SIDE * 3);
    REQUIRE(ys_augment(named("cifar"), &image, "a", &(struct ys_augment_draw){.seed = 1}, ROW, ROW, planes) == YS_OK);
    for (int i = 0; i < PIXELS; i++)
        CHECK(fabsf(planes[i]) < 1e-9f); /* what is left of a sum of equal numbers, times sqrt(1728) */
    ys_image_fini(&image);
}

static void evaluation_draws_nothing(void)
{
    struct ys_image image = picture(SIDE, SIDE);
    static float first[PIXELS], other[PIXELS];
    const struct drawn middle = {.contrast = 1, .top = 4, .left = 4};
    static long double values[PIXELS];
    const struct ys_augment_draw draws[] = {{.seed = 1, .evaluates = true},
                                            {.seed = 9, .epoch = 8, .row = 7, .evaluates = true}};
    REQUIRE(ys_augment(named("cifar"), &image, "a", &draws[0], ROW, ROW, first) == YS_OK);
    REQUIRE(ys_augment(named("cifar"), &image, "a", &draws[1], ROW, ROW, other) == YS_OK);
    CHECK(memcmp(first, other, sizeof first) == 0);
    expect_cifar(&image, &middle, values);
    for (int i = 0; i < PIXELS; i++)
        CHECK_NEAR(first[i], (double)values[i], 1e-6); /* values are below 4: 2^-22 for rounding, and far less */
    ys_image_fini(&image);
}

static void a_place_keeps_pixels_and_area_and_centre_resample(void)
{
    struct ys_image image = picture(SIDE, SIDE + 9);
    static float planes[PIXELS];
    static uint8_t middle[PIXELS];
    const struct ys_augment_draw draw = {.seed = 4, .row = 5}, evaluating = {.evaluates = true};
    const struct ys_box box = ys_box_centre(image.full_height, image.full_width, ROW, ROW);
    ys_image_resize(&image, &box, ROW, ROW, middle);
    REQUIRE(ys_augment(named("centre"), &image, "a", &draw, ROW, ROW, planes) == YS_OK);
    for (int i = 0; i < PIXELS; i++)
        CHECK(planes[i] == middle[i]);
    REQUIRE(ys_augment(named("area"), &image, "a", &evaluating, ROW, ROW, planes) == YS_OK);
    for (int i = 0; i < PIXELS; i++)
        CHECK(planes[i] == middle[i]);
    REQUIRE(ys_augment(named("area"), &image, "a", &draw, ROW, ROW, planes) == YS_OK);
    int same = 0;
    for (int i = 0; i < PIXELS; i++) {
        CHECK(planes[i] >= 0 && planes[i] <= 255 && planes[i] == floorf(planes[i]));
        same += planes[i] == middle[i];
    }
    CHECK(same < PIXELS / 2);
    CHECK(ys_augment(named("place"), &image, "b.png", &draw, SIDE + 1, ROW, planes) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "b.png: an image of 41x32 pixels is too small for a crop of 24x33");
    CHECK(!ys_augmentation_find("other"));
    ys_image_fini(&image);
}

/* The same box, turned alike, of which brightness and contrast are others; rounded, and cut to what a byte holds. */
static void colours_are_what_their_formulas_say(void)
{
    struct ys_image image = picture(SIDE, SIDE + 9);
    static uint8_t plain[PIXELS], changed[PIXELS];
    int dark = 0, light = 0;
    for (uint64_t row = 0; row < 20; row++) {
        const struct ys_augment_draw draw = {.seed = 6, .epoch = 1, .row = row};
        const struct drawn drawn = draw_again(&draw);
        static float numbers[PIXELS];
        const double brightness = drawn.brightness / 63 * 51, contrast = 0.6 + (drawn.contrast - 0.2) / 2;
        REQUIRE(ys_augment_bytes(named("area"), &image, "a", &draw, ROW, ROW, plain) == YS_OK);
        REQUIRE(ys_augment_bytes(named("area+colour"), &image, "a", &draw, ROW, ROW, changed) == YS_OK);
        REQUIRE(ys_augment(named("area+colour"), &image, "a", &draw, ROW, ROW, numbers) == YS_OK);
        for (int c = 0; c < 3; c++) {
            double mean = brightness;
            for (int i = 0; i < ROW * ROW; i++)
                mean += (double)plain[c * ROW * ROW + i] / (ROW * ROW);
            for (int i = c * ROW * ROW; i < (c + 1) * ROW * ROW; i++) {
                const double value = (plain[i] + brightness - mean) * contrast + mean;
                dark += value < 0;
                light += value > 255;
                /* Half for the rounding; sums of 576 numbers below 306 in another order differ far less than 1e-9. */
                CHECK(fabs(changed[i] - fmin(fmax(value, 0), 255)) <= 0.5 + 1e-9);
                CHECK(numbers[i] == changed[i]);
            }
        }
    }
    CHECK(dark > 0 && light > 0);
    const struct ys_augment_draw evaluating = {.evaluates = true};
    REQUIRE(ys_augment_bytes(named("area"), &image, "a", &evaluating, ROW, ROW, plain) == YS_OK);
    REQUIRE(ys_augment_bytes(named("area+colour"), &image, "a", &evaluating, ROW, ROW, changed) == YS_OK);
    CHECK(memcmp(plain, changed, sizeof plain) == 0);
    ys_image_fini(&image);
}

/* Of rows of every width: eight pixels are turned at a time, and what is left. */
static void turned_rows_are_read_from_right_to_left(void)
{
    struct ys_image image = picture(2, 70);
    uint64_t turned = 0;
    while (!draw_again(&(struct ys_augment_draw){.row = turned}).flip)
        turned++;
    for (int64_t width = 1; width <= 70; width++) {
        uint8_t bytes[3 * 2 * 70];
        image.width = image.full_width = width;
        REQUIRE(ys_augment_bytes(named("flip"), &image, "a", &(struct ys_augment_draw){.row = turned}, 2, width,
                                 bytes) == YS_OK);
        for (int64_t i = 0; i < 3 * 2 * width; i++) {
            const int64_t c = i / (2 * width), y = i / width % 2, x = width - 1 - i % width;
            CHECK_INT(bytes[i], image.pixels[(y * width + x) * 3 + c]);
        }
    }
    ys_image_fini(&image);
}

/* Of boxes of 8 to 100 % of the area, whose proportions are 3/4 to 4/3: every one lies inside, or what is resampled
 * would read beside the image (which the sanitizers would see); and an image of any form gives a row. */
static void areas_fit_images_of_any_form(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 200}, {200, 1}, {7, 300}, {33, 31}};
    static float planes[3 * 4 * 5];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ys_image image = picture(sizes[i][0], sizes[i][1]);
        for (uint64_t row = 0; row < 100; row++)
            CHECK(ys_augment(named("area"), &image, "a", &(struct ys_augment_draw){.row = row}, 4, 5, planes) == YS_OK);
        ys_image_fini(&image);
    }
}

/** Written down when this was made: other bytes on another machine or by another version are an error. */
static void the_numbers_are_the_same_on_every_machine(void)
{
    struct ys_image image = picture(40, 50);
    static float planes[2][PIXELS];
    char hash[YS_SHA256_TEXT];
    const struct ys_augment_draw draw = {.seed = 1, .epoch = 1, .row = 1};
    REQUIRE(ys_augment(named("cifar"), &image, "a", &draw, ROW, ROW, planes[0]) == YS_OK);
    REQUIRE(ys_augment(named("area"), &image, "a", &draw, ROW, ROW, planes[1]) == YS_OK);
    ys_sha256_text(planes, sizeof planes, hash);
    CHECK_TEXT(hash, "1cd53ded26865f82a44c4f6ca3b60a7ed592156e7dd4fcfa3eb10c5043dea8f6");
    ys_image_fini(&image);
}

static void note_bad(void *context, size_t row, const char *message)
{
    (void)message;
    *(size_t *)context = row;
}

/* Any rows can be asked for by number, with any number of threads. */
static void rows_do_not_hang_on_what_is_asked_with_them(void)
{
    enum { FILES = 7 };
    static float whole[FILES][PIXELS], some[2][PIXELS];
    char *paths[FILES];
    size_t bad = FILES;
    for (int i = 0; i < FILES; i++) {
        struct ys_buf file = {0};
        uint8_t *pixels = smooth_colors(SIDE + i, SIDE);
        put_png(&file, pixels, SIDE + i, SIDE, PNG_COLOR_TYPE_RGB, 8, false);
        char name[16];
        snprintf(name, sizeof name, "%d.png", i);
        paths[i] = ys_strdup(scratch(name));
        REQUIRE(paths[i] && ys_fs_write(paths[i], ys_buf_text(&file), i == 6 ? 9 : file.size) == YS_OK);
        ys_buf_free(&file);
        free(pixels);
    }
    struct ys_feeder_preparation p = {.paths = (const char *const *)paths,
                                      .count = FILES,
                                      .channels = 3,
                                      .height = ROW,
                                      .width = ROW,
                                      .threads = 3,
                                      .augmentation = named("cifar"),
                                      .draw = {.seed = 2, .epoch = 5},
                                      .on_bad = note_bad,
                                      .context = &bad};
    REQUIRE(ys_feeder_prepare(&p, whole) == YS_OK);
    CHECK_INT(bad, 6);
    p.paths += 3;
    p.count = 2;
    p.threads = 1;
    p.draw.row = 3;
    REQUIRE(ys_feeder_prepare(&p, some) == YS_OK);
    CHECK(memcmp(some, whole[3], sizeof some) == 0);
    p.draw.epoch = 6;
    REQUIRE(ys_feeder_prepare(&p, some) == YS_OK);
    CHECK(memcmp(some, whole[3], sizeof some) != 0);
    for (int i = 0; i < FILES; i++)
        ys_free(paths[i]);
}

TAP_MAIN(TAP_CASE(cifar_is_what_its_formulas_say), TAP_CASE(a_row_of_one_colour_is_zero),
         TAP_CASE(evaluation_draws_nothing), TAP_CASE(a_place_keeps_pixels_and_area_and_centre_resample),
         TAP_CASE(colours_are_what_their_formulas_say), TAP_CASE(turned_rows_are_read_from_right_to_left),
         TAP_CASE(areas_fit_images_of_any_form), TAP_CASE(the_numbers_are_the_same_on_every_machine),
         TAP_CASE(rows_do_not_hang_on_what_is_asked_with_them))
