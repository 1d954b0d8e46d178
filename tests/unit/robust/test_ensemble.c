/* The attacks of autoattack, apart and together, on a linear model, whose boundary is known in closed form. */
#include "unit/robust/made_model.h"

static const double inner_low = 0.4, inner_high = 0.6, eps = 0.045; /* far from 0 and 1: nothing is clipped */

/** The largest change of a pixel that takes an image of a linear model to its nearest boundary. */
static double boundary(const struct made_model *m, const float *x, int64_t label)
{
    double h[HIDDEN], z[CLASSES], nearest = INFINITY;
    forward(m, x, h, z);
    for (int c = 0; c < CLASSES; c++) {
        double w[PIXELS], sum = 0, cotangent[CLASSES] = {0};
        if (c == label)
            continue;
        cotangent[label] = 1;
        cotangent[c] = -1;
        backward(m, x, cotangent, w);
        for (int p = 0; p < PIXELS; p++)
            sum += fabs(w[p]);
        nearest = fmin(nearest, (z[label] - z[c]) / sum);
    }
    return nearest;
}

/** Rows of which `what` breaks others than those whose boundary is within EPS: more; fewer. */
static void compare_rows(const struct made_model *m, const struct made_images *images,
                         const struct ys_attack_result *result, int64_t *more, int64_t *fewer)
{
    *more = *fewer = 0;
    for (int i = 0; i < ROWS; i++) {
        const bool is_near = boundary(m, images->pixels + (size_t)i * PIXELS, images->labels[i]) < eps;
        *more += !is_near && result->outcomes[i] == 'b';
        *fewer += is_near && result->outcomes[i] == 's';
    }
}

static void what_has_targets_breaks_all_that_is_within_eps_and_no_more(void)
{
    struct made_model m = made(true, "linear");
    struct made_images images;
    struct ys_robustness found;
    make_images(&m, inner_low, inner_high, &images);
    REQUIRE(attack_made(&m, &images, "apgd-t(0.045) fab-t(0.045) autoattack(0.045)", NULL, &found) == YS_OK);
    for (size_t a = 0; a < 3; a++) {
        int64_t more, fewer;
        compare_rows(&m, &images, result_of(&found, a), &more, &fewer);
        CHECK_INT(more, 0);
        CHECK_INT(fewer, 0);
        CHECK(result_of(&found, a)->broken > 5 && result_of(&found, a)->broken < 20);
    }
    CHECK_INT(result_of(&found, 2)->blindly_broken, 0);
    CHECK_INT(result_of(&found, 1)->blindly_broken, YS_FIELD_NONE);
    CHECK(!found.is_masked);
    CHECK_INT(m.wide_calls, 0);
    ys_robustness_fini(&found);
}

static void what_has_none_breaks_no_more_than_that(void)
{
    struct made_model m = made(true, "linear");
    struct made_images images;
    struct ys_robustness found;
    make_images(&m, inner_low, inner_high, &images);
    REQUIRE(attack_made(&m, &images, "apgd-ce(0.045) square(0.045, 3000)", NULL, &found) == YS_OK);
    for (size_t a = 0; a < 2; a++) {
        int64_t more, fewer;
        compare_rows(&m, &images, result_of(&found, a), &more, &fewer);
        CHECK_INT(more, 0);
        /* The loss pulls towards all classes at once; no square reaches the last row or column of an image. */
        CHECK(fewer <= (a == 0 ? 2 : 10));
        CHECK(result_of(&found, a)->broken > 3);
    }
    CHECK_INT(result_of(&found, 1)->gradients, 0);
    ys_robustness_fini(&found);
}

static void the_way_to_the_boundary_stays_within_the_image(void)
{
    struct made_model m = made(true, "linear");
    struct made_images images;
    struct made_judge judge;
    struct ys_robustness found;
    size_t outside = 0;
    make_images(&m, 0, 1, &images);
    REQUIRE(attack_made(&m, &images, "fab-t(0.3)", &judge, &found) == YS_OK);
    CHECK(result_of(&found, 0)->broken > 20);
    for (size_t i = 0; i < judge.count * PIXELS; i++)
        outside += judge.images[i] < 0 || judge.images[i] > 1;
    CHECK_INT(outside, 0);
    CHECK(judge.count > 0);
    ys_robustness_fini(&found);
}

static void each_part_attacks_what_stands_alone(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness apart, together;
    make_images(&m, 0, 1, &images);
    REQUIRE(attack_made(&m, &images, "apgd-ce(0.05) apgd-t(0.05) fab-t(0.05) square(0.05)", NULL, &apart) == YS_OK);
    REQUIRE(attack_made(&m, &images, "autoattack(0.05)", NULL, &together) == YS_OK);
    int64_t standing = 0, gradients = 0;
    for (size_t a = 0; a < 4; a++)
        gradients += result_of(&apart, a)->gradients;
    for (int i = 0; i < ROWS; i++) {
        bool stands = true;
        for (size_t a = 0; a < 4; a++)
            stands = stands && result_of(&apart, a)->outcomes[i] != 'b';
        CHECK_INT(stands, result_of(&together, 0)->outcomes[i] != 'b');
        standing += result_of(&together, 0)->outcomes[i] == 's';
    }
    CHECK(standing > 0 && standing < together.clean);
    CHECK(result_of(&together, 0)->gradients < gradients);
    ys_robustness_fini(&apart);
    ys_robustness_fini(&together);
}

static void logits_a_thousand_times_as_large_are_attacked_alike(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness plain, steep;
    make_images(&m, 0, 1, &images);
    REQUIRE(attack_made(&m, &images, "apgd-ce(0.1)", NULL, &plain) == YS_OK);
    m.scale = 1000;
    REQUIRE(attack_made(&m, &images, "apgd-ce(0.1)", NULL, &steep) == YS_OK);
    CHECK(result_of(&plain, 0)->broken > 0);
    CHECK(result_of(&steep, 0)->broken >= result_of(&plain, 0)->broken - 2);
    ys_robustness_fini(&plain);
    ys_robustness_fini(&steep);
}

static void too_few_classes_are_refused(void)
{
    const struct ys_picture_shape any = {0, 0, 0}; /* which is asked about corruptions alone */
    struct ys_attacks attacks;
    REQUIRE(ys_attacks_read("apgd-ce(0.1) fab-t(0.1) square(0.1)", &attacks) == YS_OK);
    CHECK_INT(ys_attacks_check(&attacks, 2, &any), YS_OK);
    REQUIRE(ys_attacks_read("ddn apgd-t(0.1)", &attacks) == YS_OK);
    CHECK_INT(ys_attacks_check(&attacks, 4, &any), YS_OK);
    CHECK_INT(ys_attacks_check(&attacks, 3, &any), YS_EINVAL);
    CHECK_HAS(ys_error(), "apgd-t needs 4 classes");
    REQUIRE(ys_attacks_read("autoattack(0.1)", &attacks) == YS_OK);
    CHECK_INT(ys_attacks_check(&attacks, 3, &any), YS_EINVAL);
    CHECK_HAS(ys_error(), "use apgd-ce, fab-t and square");
}

TAP_MAIN(TAP_CASE(what_has_targets_breaks_all_that_is_within_eps_and_no_more),
         TAP_CASE(what_has_none_breaks_no_more_than_that), TAP_CASE(the_way_to_the_boundary_stays_within_the_image),
         TAP_CASE(each_part_attacks_what_stands_alone), TAP_CASE(logits_a_thousand_times_as_large_are_attacked_alike),
         TAP_CASE(too_few_classes_are_refused))
