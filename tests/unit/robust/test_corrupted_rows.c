/* A model's accuracy after corruptions, kind by kind, and the words that ask for it. */
#include "base/mem.h"
#include "robust/attack.h"

#include "tap.h"

#include <math.h>
#include <string.h>

enum { SIDE = 10, PIXELS = SIDE * SIDE, CLASSES = 2, ROWS = 23 };

/** Says which half of the picture has more light, by a margin; asked for at most `batch` rows. */
struct halves {
    size_t batch, calls;
    float scale; /* of the logits */
};

static ys_status logits_of(void *of, const float *images, size_t count, float *logits)
{
    struct halves *self = of;
    CHECK(count <= self->batch);
    self->calls++;
    for (size_t i = 0; i < count; i++) {
        float sums[2] = {0, 0};
        for (size_t p = 0; p < PIXELS; p++)
            sums[p % SIDE >= SIDE / 2] += images[i * PIXELS + p];
        logits[2 * i] = self->scale * sums[0];
        logits[2 * i + 1] = self->scale * sums[1];
    }
    return YS_OK;
}

static ys_status no_gradient(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                             float *gradient)
{
    (void)of, (void)images, (void)cotangent, (void)count, (void)logits, (void)gradient;
    CHECK(!"a gradient was asked for");
    return YS_EINVAL;
}

static float images[ROWS * PIXELS];
static int64_t labels[ROWS];

/** A little more light on one side, each seventh label wrong. */
static void make_rows(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t p = 0; p < PIXELS; p++)
            images[i * PIXELS + p] = (float)(0.3 + 0.01 * (double)(i % 5) + ((p % SIDE >= 5) == i % 2 ? 0.05 : 0));
        labels[i] = i % 7 == 6 ? 1 - (int64_t)(i % 2) : (int64_t)(i % 2);
    }
}

static ys_status ask(struct halves *halves, const char *words, uint64_t seed, struct ys_robustness *found)
{
    const struct ys_attacked model = {.of = halves,
                                      .logits = logits_of,
                                      .gradient = no_gradient,
                                      .pixels = PIXELS,
                                      .classes = CLASSES,
                                      .batch = halves->batch,
                                      .channels = 1,
                                      .height = SIDE,
                                      .width = SIDE};
    struct ys_attack_spec spec = {.images = images, .labels = labels, .rows = ROWS, .restarts = 1, .seed = seed};
    make_rows();
    CHECK(ys_attacks_read(words, &spec.attacks) == YS_OK);
    return ys_attack_model(&model, &spec, found);
}

static const struct ys_corruption_result *entry(const struct ys_robustness *found, size_t i)
{
    return (const struct ys_corruption_result *)found->corruptions.items + i;
}

static void each_kind_is_counted_over_all_rows(void)
{
    struct halves halves = {.batch = 7, .scale = 1};
    struct ys_robustness found;
    REQUIRE(ask(&halves, "corruptions(4) corruptions(2)", 5, &found) == YS_OK);
    CHECK_INT(found.rows, ROWS);
    CHECK_INT(found.clean, 20);
    CHECK_INT(found.attacks.count + found.robust.count + found.alarms.count, 0);
    REQUIRE(found.corruptions.count == 30);
    for (size_t i = 0; i < 30; i++) {
        float corrupted[PIXELS], logits[CLASSES];
        int64_t right = 0;
        CHECK_TEXT(entry(&found, i)->kind, ys_corruption_name(1, i % 15));
        CHECK_INT(entry(&found, i)->severity, i < 15 ? 2 : 4);
        for (size_t row = 0; row < ROWS; row++) {
            ys_corrupt(&(struct ys_corruption){{1, SIDE, SIDE}, i % 15, i < 15 ? 2 : 4, 5, row}, images + row * PIXELS,
                       corrupted);
            (void)!logits_of(&halves, corrupted, 1, logits);
            right += (logits[1] > logits[0]) == labels[row];
        }
        CHECK_INT(entry(&found, i)->right, right);
    }
    CHECK(entry(&found, 1)->right < 20); /* impulse noise changes what so little light decides */
    ys_robustness_fini(&found);
}

static void batches_are_without_influence_and_seeds_are_not(void)
{
    struct halves few = {.batch = 3, .scale = 1}, many = {.batch = 50, .scale = 1};
    struct ys_robustness a, b, other;
    size_t apart = 0;
    REQUIRE(ask(&few, "corruptions(3)", 1, &a) == YS_OK && ask(&many, "corruptions(3)", 1, &b) == YS_OK);
    REQUIRE(ask(&many, "corruptions(3)", 2, &other) == YS_OK);
    for (size_t i = 0; i < 15; i++) {
        CHECK_INT(entry(&a, i)->right, entry(&b, i)->right);
        apart += entry(&b, i)->right != entry(&other, i)->right;
    }
    CHECK(apart > 0);
    CHECK_INT(many.calls, 2 * (15 + 1)); /* and once for the rows as they are */
    ys_robustness_fini(&a);
    ys_robustness_fini(&b);
    ys_robustness_fini(&other);
}

static void logits_that_are_no_numbers_are_an_error(void)
{
    struct halves halves = {.batch = 7, .scale = NAN};
    struct ys_robustness found;
    CHECK_INT(ask(&halves, "corruptions(1)", 1, &found), YS_EINVAL);
    CHECK_HAS(ys_error(), "no finite numbers");
    ys_robustness_fini(&found);
}

static void words_are_read_and_written(void)
{
    struct ys_attacks attacks;
    REQUIRE(ys_attacks_read("corruptions( 5 ) fgsm(0.1) corruptions(1)", &attacks) == YS_OK);
    CHECK_INT(attacks.count, 1);
    CHECK_INT(ys_attacks_severities(&attacks), 2);
    char *text = ys_attacks_text(&attacks);
    CHECK_TEXT(text, "fgsm(0.1) corruptions(1) corruptions(5)");
    ys_free(text);
    /* 2 severities of 15 kinds, logits alone; fgsm, and the alarm's 40 */
    CHECK_NEAR(ys_attacks_gradients(&attacks, 1, 0), 2 * 15 / 3.0 + 41, 1e-12);
    REQUIRE(ys_attacks_read("corruptions(3)", &attacks) == YS_OK);
    CHECK_NEAR(ys_attacks_gradients(&attacks, 1, 0), 5, 1e-12); /* nothing attacks, and no alarm asks */
    static const struct {
        const char *text, *says;
    } wrong[] = {{"corruptions(0)", "corruptions(0): SEVERITY must be a whole number, 1 to 5"},
                 {"corruptions(6)", "SEVERITY must be a whole number, 1 to 5"},
                 {"corruptions(2.5)", "SEVERITY must be a whole number, 1 to 5"},
                 {"corruptions", "SEVERITY is missing, a whole number of 1 to 5: write corruptions(3)"},
                 {"corruptions(1, 2)", "too many numbers: write corruptions(SEVERITY)"},
                 {"corruptions(3) fgsm(0.1) corruptions(3)", "corruptions(3) stands there twice"},
                 {"corruption(3)", "did you mean corruptions?"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_INT(ys_attacks_read(wrong[i].text, &attacks), YS_EINVAL);
        CHECK_HAS(ys_error(), wrong[i].says);
    }
}

static void shapes_are_asked_about_where_corruptions_are(void)
{
    const struct ys_picture_shape two = {2, 28, 28}, one = {1, 28, 28};
    struct ys_attacks attacks;
    REQUIRE(ys_attacks_read("corruptions(1)", &attacks) == YS_OK);
    CHECK_INT(ys_attacks_check(&attacks, 10, &one), YS_OK);
    CHECK_INT(ys_attacks_check(&attacks, 10, &two), YS_EINVAL);
    CHECK_HAS(ys_error(), "leave corruptions out");
    REQUIRE(ys_attacks_read("fgsm(0.1)", &attacks) == YS_OK);
    CHECK_INT(ys_attacks_check(&attacks, 10, &two), YS_OK);
}

TAP_MAIN(TAP_CASE(each_kind_is_counted_over_all_rows), TAP_CASE(batches_are_without_influence_and_seeds_are_not),
         TAP_CASE(logits_that_are_no_numbers_are_an_error), TAP_CASE(words_are_read_and_written),
         TAP_CASE(shapes_are_asked_about_where_corruptions_are))
