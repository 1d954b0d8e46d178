#include "data/sets/images.h"

#include "base/hash.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "tap.h"
#include "unit/base/scratch.h"

#define SIDE    32
#define TRAIN   2000
#define TEST    500
#define PIXELS  (3 * SIDE * SIDE)
#define CLASSES 10

static uint8_t *x, *test_x; /* [TRAIN or TEST, 1 or 3, SIDE, SIDE] */
static int64_t y[TRAIN], test_y[TEST];

static void draw(int channels, int64_t classes)
{
    const struct ys_rows form = YS_ROWS_OF_IMAGES(channels, SIDE, SIDE, classes);
    ys_free(x);
    ys_free(test_x);
    x = ys_alloc(TRAIN, PIXELS);
    test_x = ys_alloc(TEST, PIXELS);
    if (!x || !test_x)
        exit(1);
    ys_images_draw("train", &form, TRAIN, x, y);
    ys_images_draw("test", &form, TEST, test_x, test_y);
}

/** Written down when this was made: other bytes on another machine or by another version are an error, or want another
 * YS_IMAGES_EDITION. */
static void the_bytes_are_the_same_on_every_machine(void)
{
    char hash[YS_SHA256_TEXT];
    draw(3, 1000);
    ys_sha256_text(x, (size_t)TRAIN * PIXELS, hash);
    CHECK_TEXT(hash, "5e49566d088a4a577333e963e712455784651f3bb8d4d7a588e9c2d9bf9c32ec");
    draw(1, 10);
    ys_sha256_text(test_x, (size_t)TEST * SIDE * SIDE, hash);
    CHECK_TEXT(hash, "b105f48b3d1867bb69c74654c1509b2a9a9aa36aa5ac72de6aaabf24074659c9");
}

static void classes_come_in_turn_and_no_more_than_there_are(void)
{
    draw(3, 7);
    for (int i = 0; i < TRAIN; i++)
        CHECK_INT(y[i], i % 7);
    draw(1, 65536);
    for (int i = 0; i < TRAIN; i++)
        CHECK_INT(y[i], i % YS_IMAGES_CLASSES);
}

/* The share of the test rows whose nearest training row, in squares of differences, is of their class. */
static double nearest_right(int64_t (*of)(int64_t), int64_t classes)
{
    int right = 0;
    draw(3, classes);
    for (int i = 0; i < TEST; i++) {
        int64_t best = INT64_MAX, label = -1;
        for (int j = 0; j < TRAIN; j++) {
            int64_t sum = 0;
            for (int k = 0; k < PIXELS; k += 3) {
                const int64_t d = (int64_t)test_x[i * PIXELS + k] - x[j * PIXELS + k];
                sum += d * d;
            }
            if (sum < best) {
                best = sum;
                label = y[j];
            }
        }
        right += of(label) == of(test_y[i]);
    }
    return (double)right / TEST;
}

static int64_t shape_of(int64_t label)
{
    return label % YS_IMAGES_SHAPES;
}

/* By chance it is 0.1, with a deviation of sqrt(0.1 * 0.9 / 500) = 0.0134: 0.3 is fifteen of these above. What is
 * copied, with nothing drawn by lot, would be 1. */
static void shapes_can_be_told_apart_but_not_at_a_glance(void)
{
    const double share = nearest_right(shape_of, CLASSES);
    tap_check(share > 0.3 && share < 0.9, __LINE__, "the nearest row is right for %g of the test rows", share);
}

static void nothing_is_flat_and_the_halves_differ(void)
{
    draw(3, 1000);
    CHECK(memcmp(x, test_x, PIXELS) != 0);
    for (int i = 0; i < TRAIN; i++) {
        int low = 255, high = 0;
        for (int k = 0; k < PIXELS; k++) {
            low = x[i * PIXELS + k] < low ? x[i * PIXELS + k] : low;
            high = x[i * PIXELS + k] > high ? x[i * PIXELS + k] : high;
        }
        tap_check(high - low > 40, __LINE__, "row %d has values from %d to %d", i, low, high);
    }
}

static void the_set_follows_models_that_take_images(void)
{
    const struct ys_rows form = YS_ROWS_OF_IMAGES(3, SIDE, SIDE, 1000), grids = YS_ROWS_OF_IMAGES(2, SIDE, SIDE, 10);
    struct ys_dataset dataset;
    setenv("YARDSTICK_CACHE", scratch("cache"), 1);
    REQUIRE(ys_data_prepare("images", &form, NULL, &dataset) == YS_OK);
    CHECK(dataset.train_count == 4096 && dataset.test_count == 256 && dataset.generated && dataset.verified);
    CHECK(ys_rows_equal(&dataset.rows, &form));
    CHECK(strstr(dataset.folder, "images-3x32x32-1000"));
    ys_dataset_fini(&dataset);
    CHECK(ys_data_prepare("images", &grids, NULL, &dataset) == YS_EINVAL);
    CHECK_HAS(ys_error(), "the data set images is for networks that take images, grey or in colours");
    ys_free(x);
    ys_free(test_x);
    x = test_x = NULL;
}

TAP_MAIN(TAP_CASE(the_bytes_are_the_same_on_every_machine), TAP_CASE(classes_come_in_turn_and_no_more_than_there_are),
         TAP_CASE(shapes_can_be_told_apart_but_not_at_a_glance), TAP_CASE(nothing_is_flat_and_the_halves_differ),
         TAP_CASE(the_set_follows_models_that_take_images))
