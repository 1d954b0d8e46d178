#include "feeder/resize.h"
#include "base/mem.h"
#include "base/rng.h"

#include "tap.h"
#include <stdlib.h>

static const uint64_t seed = 20; /* of the pixels and boxes; printed where a case fails */

static struct ys_image random_image(struct ys_rng *rng, int64_t height, int64_t width, int channels)
{
    struct ys_image image = {0};
    if (ys_image_init(&image, "random", height, width, channels) != YS_OK)
        abort();
    for (int64_t i = 0; i < height * width * channels; i++)
        image.pixels[i] = (uint8_t)ys_rng_below(rng, 256);
    return image;
}

/* The formula of docs/data.md, as one sum over all pixels of the image. */
static double resampled(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width, int c,
                        int64_t y, int64_t x)
{
    const double down = box->height / (double)height, across = box->width / (double)width;
    const double v = box->top + ((double)y + 0.5) * down, u = box->left + ((double)x + 0.5) * across;
    double sum = 0, weights = 0;
    for (int64_t j = 0; j < image->height; j++) {
        for (int64_t i = 0; i < image->width; i++) {
            const double dy = fabs((double)j + 0.5 - v) / fmax(down, 1);
            const double dx = fabs((double)i + 0.5 - u) / fmax(across, 1);
            const double weight = fmax(0, 1 - dy) * fmax(0, 1 - dx);
            sum += weight * image->pixels[(j * image->width + i) * image->channels + c];
            weights += weight;
        }
    }
    return sum / weights;
}

static void every_pixel_is_what_the_formula_says(void)
{
    struct ys_rng rng;
    ys_rng_init(&rng, seed, "resize");
    for (int round = 0; round < 40; round++) {
        const int channels = round % 2 ? 3 : 1;
        struct ys_image image = random_image(&rng, 1 + ys_rng_below(&rng, 40), 1 + ys_rng_below(&rng, 40), channels);
        const int64_t height = 1 + ys_rng_below(&rng, 30), width = 1 + ys_rng_below(&rng, 30);
        struct ys_box box = {.height = (double)image.height * ys_rng_uniform(&rng),
                             .width = (double)image.width * ys_rng_uniform(&rng)};
        box.top = ((double)image.height - box.height) * ys_rng_uniform(&rng);
        box.left = ((double)image.width - box.width) * ys_rng_uniform(&rng);
        uint8_t *planes = ys_alloc((size_t)(height * width), (size_t)channels);
        REQUIRE(planes);
        ys_image_resize(&image, &box, height, width, planes);
        for (int64_t i = 0; i < channels * height * width; i++) {
            const int64_t c = i / (height * width), y = i / width % height, x = i % width;
            const double exact = resampled(&image, &box, height, width, (int)c, y, x);
            /* Half for the rounding; sums of at most 80 terms up to 255 in another order differ below 1e-10. */
            tap_check(fabs(planes[i] - exact) <= 0.5 + 1e-10, __LINE__, "seed %llu, round %d, %lld: %d, not %.12g",
                      (unsigned long long)seed, round, (long long)i, planes[i], exact);
        }
        ys_free(planes);
        ys_image_fini(&image);
    }
}

/* The weights of docs/data.md in one direction: of `size` pixels, for result i. */
static void weigh(double start, double length, int64_t made, int64_t size, int64_t i, double *weight)
{
    const double s = length / (double)made, r = fmax(s, 1), c = start + ((double)i + 0.5) * s;
    double sum = 0;
    for (int64_t j = 0; j < size; j++)
        sum += weight[j] = fmax(0, 1 - fabs(((double)j + 0.5 - c) / r));
    for (int64_t j = 0; j < size; j++)
        weight[j] /= sum;
}

enum { SIDE = 96 };

/* Value i of a row: across, then down, in double, as it is said there. */
static double in_order(const struct ys_image *image, const double *across, const double *down, int64_t c)
{
    double sum = 0;
    for (int64_t y = 0; y < image->height; y++) {
        double value = 0;
        for (int64_t x = 0; x < image->width; x++)
            value += across[x] * image->pixels[(y * image->width + x) * image->channels + c];
        sum += down[y] * value;
    }
    return sum;
}

/* How many of the results lie in the middle between two bytes, or next to it. */
static int check_bytes(const struct ys_image *image, const struct ys_box *box, int64_t height, int64_t width)
{
    static uint8_t planes[3 * SIDE * SIDE];
    int ties = 0;
    ys_image_resize(image, box, height, width, planes);
    for (int64_t i = 0; i < image->channels * height * width; i++) {
        double across[SIDE], down[SIDE];
        weigh(box->left, box->width, width, image->width, i % width, across);
        weigh(box->top, box->height, height, image->height, i / width % height, down);
        const double sum = in_order(image, across, down, i / (height * width));
        ties += fabs(sum - floor(sum) - 0.5) < 1e-9;
        tap_check(planes[i] == (uint8_t)floor(sum + 0.5), __LINE__, "%lldx%lld to %lldx%lld, value %lld: %d, not %.17g",
                  (long long)image->width, (long long)image->height, (long long)width, (long long)height, (long long)i,
                  planes[i], sum);
    }
    return ties;
}

/* Of pixels at random, and of those whose means lie between two bytes. */
static void every_byte_is_that_of_the_formula_in_its_order(void)
{
    static const struct {
        int64_t from_height, from_width, height, width;
    } sizes[] = {{96, 96, 48, 48}, {36, 72, 6, 12}, {20, 24, 40, 48}, {90, 7, 9, 7}, {50, 96, 24, 32}, {1, 1, 5, 70}};
    struct ys_rng rng;
    int ties = 0;
    ys_rng_init(&rng, seed, "order");
    for (size_t i = 0; i < 4 * sizeof sizes / sizeof sizes[0]; i++) {
        struct ys_image image = random_image(&rng, sizes[i / 4].from_height, sizes[i / 4].from_width, i % 2 ? 3 : 1);
        const struct ys_box box = {.height = (double)image.height, .width = (double)image.width};
        for (int64_t j = 0; i % 4 >= 2 && j < image.height * image.width * image.channels; j++)
            image.pixels[j] &= 1;
        ties += check_bytes(&image, &box, sizes[i / 4].height, sizes[i / 4].width);
        ys_image_fini(&image);
    }
    CHECK(ties > 500);
}

static void the_same_size_changes_nothing(void)
{
    struct ys_rng rng;
    ys_rng_init(&rng, seed, "same");
    struct ys_image image = random_image(&rng, 17, 23, 1);
    uint8_t planes[17 * 23];
    const struct ys_box box = ys_box_centre(image.full_height, image.full_width, 17, 23);
    CHECK(box.top == 0 && box.left == 0 && box.height == 17 && box.width == 23);
    ys_image_resize(&image, &box, 17, 23, planes);
    CHECK(memcmp(planes, image.pixels, sizeof planes) == 0);
    ys_image_fini(&image);
}

/* Bytes around a window that nothing is to be put into. */
enum { AROUND = 3, UNTOUCHED = 0xA5 };

static void check_window(const struct ys_image *image, const struct ys_resampling *r, const uint8_t *whole)
{
    const struct ys_pixel_window *w = &r->window;
    const int64_t row = w->width + 2 * AROUND, plane = (w->height + 2) * row, size = image->channels * plane;
    uint8_t *planes = ys_alloc((size_t)size, 1);
    REQUIRE(planes);
    memset(planes, UNTOUCHED, (size_t)size);
    const struct ys_planes to = {planes + row + AROUND, row, plane};
    ys_image_resample(image, r, &to);
    for (int64_t i = 0; i < size; i++) {
        const int64_t y = i % plane / row - 1, x = i % row - AROUND;
        const bool inside = y >= 0 && y < w->height && x >= 0 && x < w->width;
        const int expected = inside ? whole[(i / plane * r->height + w->top + y) * r->width + w->left + x] : UNTOUCHED;
        tap_check(planes[i] == expected, __LINE__, "%lldx%lld from %lld, %lld of %lldx%lld, value %lld: %d, not %d",
                  (long long)w->width, (long long)w->height, (long long)w->left, (long long)w->top, (long long)r->width,
                  (long long)r->height, (long long)i, planes[i], expected);
    }
    ys_free(planes);
}

static void check_windows(struct ys_rng *rng, const struct ys_image *image, const struct ys_box *box, int64_t height,
                          int64_t width)
{
    static uint8_t whole[3 * SIDE * SIDE];
    struct ys_resampling r = ys_resampling_whole(box, height, width);
    ys_image_resize(image, box, height, width, whole);
    check_window(image, &r, whole);
    for (int corner = 0; corner < 4; corner++) {
        r.window.height = 1 + ys_rng_below(rng, (uint32_t)height);
        r.window.width = 1 + ys_rng_below(rng, (uint32_t)width);
        r.window.top = corner / 2 ? height - r.window.height : 0;
        r.window.left = corner % 2 ? width - r.window.width : 0;
        check_window(image, &r, whole);
        r.window.top = ys_rng_below(rng, (uint32_t)(height - r.window.height) + 1);
        r.window.left = ys_rng_below(rng, (uint32_t)(width - r.window.width) + 1);
        check_window(image, &r, whole);
    }
}

/* At scales below, at and above 1, of whole edges and others; also of an image that was decoded at half its size. */
static void a_window_has_the_bytes_of_all(void)
{
    static const struct {
        struct ys_box box; /* of 60 x 80 pixels */
        int64_t height, width;
    } kinds[] = {{{0, 0, 60, 80}, 60, 80},     {{0, 10.5, 60, 59}, 60, 59},      {{7, 3, 33, 40}, 33, 40},
                 {{0.5, 0.5, 50, 70}, 50, 70}, {{0, 0, 60, 80}, 30, 40},         {{4, 6.25, 48, 72}, 12, 96},
                 {{1, 2, 20, 24}, 60, 72},     {{3.3, 4.7, 31.1, 50.9}, 37, 53}, {{0, 0, 60, 80}, 90, 40}};
    struct ys_rng rng;
    ys_rng_init(&rng, seed, "windows");
    for (size_t i = 0; i < 4 * sizeof kinds / sizeof kinds[0]; i++) {
        const int reduction = i % 4 < 2 ? 1 : 2;
        struct ys_image image = random_image(&rng, 60 / reduction, 80 / reduction, i % 2 ? 3 : 1);
        image.full_height = 60;
        image.full_width = 80;
        image.reduction = reduction;
        check_windows(&rng, &image, &kinds[i / 4].box, kinds[i / 4].height, kinds[i / 4].width);
        ys_image_fini(&image);
    }
}

/* Of a box as large as what it gives nothing is looked at beside the window, where its edges are whole. */
static void no_more_is_looked_at_than_the_window_needs(void)
{
    const struct ys_box whole = {0, 0, 375, 500}, middle = {0, 62.5, 375, 375};
    struct ys_resampling r = ys_resampling_whole(&whole, 375, 500);
    r.window = (struct ys_pixel_window){100, 244, 256, 256};
    struct ys_image_part part = ys_resampling_part(&r, true);
    CHECK(part.top == 100 && part.left == 244 && part.height == 256 && part.width == 256 && part.reduction == 1);
    r = ys_resampling_whole(&middle, 375, 375);
    r.window = (struct ys_pixel_window){100, 50, 256, 256};
    part = ys_resampling_part(&r, false);
    CHECK(part.top == 100 && part.height == 256);
    CHECK(part.left <= 112 && part.left >= 109 && part.left + part.width >= 369 && part.width <= 262);
    r = ys_resampling_whole(&middle, 256, 256);
    r.window = (struct ys_pixel_window){16, 16, 224, 224};
    part = ys_resampling_part(&r, false);
    /* 224 results, 1.46 apart, and as much on both sides; two and what rounding adds to it */
    CHECK(part.height <= 224 * 375 / 256 + 6 && part.width <= 224 * 375 / 256 + 6);
    CHECK(part.top >= 19 && part.left >= 62 + 19);
    r = ys_resampling_whole(&middle, 90, 90);
    r.window = (struct ys_pixel_window){0, 0, 10, 10};
    CHECK_INT(ys_resampling_part(&r, true).reduction, 4); /* that of all that is given: 375 / 4 is above 90 */
}

static void channels_become_planes(void)
{
    struct ys_image image;
    uint8_t planes[3 * 4];
    REQUIRE(ys_image_init(&image, "a", 6, 6, 3) == YS_OK);
    for (int i = 0; i < 6 * 6 * 3; i++)
        image.pixels[i] = (uint8_t)(10 + 100 * (i % 3));
    const struct ys_box box = ys_box_centre(image.full_height, image.full_width, 2, 2);
    ys_image_resize(&image, &box, 2, 2, planes);
    for (int i = 0; i < 12; i++)
        CHECK_INT(planes[i], 10 + 100 * (i / 4));
    ys_image_fini(&image);
}

static void the_middle_has_the_proportions_of_a_row(void)
{
    struct ys_image image;
    REQUIRE(ys_image_init(&image, "a", 375, 500, 1) == YS_OK);
    struct ys_box box = ys_box_centre(image.full_height, image.full_width, 224, 224);
    CHECK(box.top == 0 && box.height == 375 && box.left == 62.5 && box.width == 375);
    box = ys_box_centre(image.full_height, image.full_width, 100, 200);
    CHECK(box.left == 0 && box.width == 500 && box.top == 62.5 && box.height == 250);
    ys_image_fini(&image);
}

TAP_MAIN(TAP_CASE(every_pixel_is_what_the_formula_says), TAP_CASE(every_byte_is_that_of_the_formula_in_its_order),
         TAP_CASE(the_same_size_changes_nothing), TAP_CASE(a_window_has_the_bytes_of_all),
         TAP_CASE(no_more_is_looked_at_than_the_window_needs), TAP_CASE(channels_become_planes),
         TAP_CASE(the_middle_has_the_proportions_of_a_row))
