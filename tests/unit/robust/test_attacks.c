/* Each attack on a linear model, whose answer is known in closed form, and on a made network against plain loops. */
#include "unit/robust/made_model.h"

static const double inner_low = 0.4, inner_high = 0.6; /* far from 0 and 1: nothing is clipped */

/** By how much the logit of `label` lies above that of class c, and the gradient of that, of a linear model. */
static double gap(const struct made_model *m, const float *x, int64_t label, int c, double *w)
{
    double h[HIDDEN], z[CLASSES], cotangent[CLASSES] = {0};
    forward(m, x, h, z);
    cotangent[label] += 1;
    cotangent[c] -= 1;
    backward(m, x, cotangent, w);
    return z[label] - z[c];
}

/** The distance of an image from the nearest boundary; `largest`: in the largest change of a pixel, else L2. */
static double boundary(const struct made_model *m, const float *x, int64_t label, bool largest)
{
    double nearest = INFINITY;
    for (int c = 0; c < CLASSES; c++) {
        double w[PIXELS], l1 = 0, squares = 0;
        if (c == label)
            continue;
        const double g = gap(m, x, label, c, w);
        for (int p = 0; p < PIXELS; p++) {
            l1 += fabs(w[p]);
            squares += w[p] * w[p];
        }
        nearest = fmin(nearest, largest ? g / l1 : g / sqrt(squares));
    }
    return nearest;
}

static int64_t right_rows(const struct ys_robustness *found)
{
    CHECK_INT(found->rows, ROWS);
    CHECK_INT(found->clean, ROWS - ROWS / 5);
    return found->clean;
}

static void a_linear_model_breaks_where_its_boundary_is_within_eps(void)
{
    struct made_model m = made(true, "linear");
    struct made_images images;
    struct ys_robustness found;
    const double eps = 0.045;
    int64_t broken = 0;
    make_images(&m, inner_low, inner_high, &images);
    REQUIRE(attack_made(&m, &images, "pgd(0.045, 60, 0.0025) bim(0.045, 60, 0.0025)", NULL, &found) == YS_OK);
    right_rows(&found);
    for (int i = 0; i < ROWS; i++) {
        if (i % 5 == 4) {
            CHECK(result_of(&found, 0)->outcomes[i] == 'w');
            continue;
        }
        const double distance = boundary(&m, images.pixels + (size_t)i * PIXELS, images.labels[i], true);
        /* What is nearer can be broken; the loss pulls towards all classes and misses the nearest at times. */
        if (distance > eps) {
            CHECK(result_of(&found, 0)->outcomes[i] == 's');
            CHECK(result_of(&found, 1)->outcomes[i] == 's');
        }
        broken += distance < eps;
    }
    CHECK(broken > 5 && broken < 20);
    CHECK(result_of(&found, 0)->broken <= broken && result_of(&found, 0)->broken >= broken - 2);
    CHECK(result_of(&found, 1)->broken <= broken && result_of(&found, 1)->broken >= broken - 2);
    CHECK_INT(m.wide_calls, 0);
    ys_robustness_fini(&found);
}

/** The median over all rows of the distance to the boundary, 0 of a row that was wrong. */
static double median_distance(const struct made_model *m, const struct made_images *images)
{
    double distance[ROWS];
    for (int i = 0; i < ROWS; i++)
        distance[i] = i % 5 == 4 ? 0 : boundary(m, images->pixels + (size_t)i * PIXELS, images->labels[i], false);
    for (int i = 1; i < ROWS; i++)
        for (int k = i; k > 0 && distance[k] < distance[k - 1]; k--) {
            const double other = distance[k];
            distance[k] = distance[k - 1];
            distance[k - 1] = other;
        }
    return (distance[ROWS / 2 - 1] + distance[ROWS / 2]) / 2;
}

static void the_smallest_change_of_a_linear_model_is_the_distance_to_its_boundary(void)
{
    struct made_model m = made(true, "linear");
    struct made_images images;
    struct ys_robustness found;
    make_images(&m, inner_low, inner_high, &images);
    const double expected = median_distance(&m, &images);
    REQUIRE(attack_made(&m, &images, "deepfool ddn(300) cw(9, 300)", NULL, &found) == YS_OK);
    const int64_t clean = right_rows(&found);
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(result_of(&found, i)->broken, clean);
    /* One step of deepfool: 1.02 (distance + 1e-4), a number of float. */
    CHECK_NEAR(result_of(&found, 0)->change_p50, 1.02 * (expected + 1e-4), 1e-5);
    CHECK_INT(result_of(&found, 0)->gradients, clean * (CLASSES - 1));
    /* ddn shortens by a twentieth at a time; cw ends its search for c after nine. Neither gets below the distance, but
     * for the rounding of float. */
    CHECK(result_of(&found, 1)->change_p50 >= expected - 1e-5 && result_of(&found, 1)->change_p50 < 1.06 * expected);
    CHECK(result_of(&found, 2)->change_p50 >= expected - 1e-5 && result_of(&found, 2)->change_p50 < 1.06 * expected);
    CHECK_INT(found.robust.count, 0);
    /* Row by row the smallest of the three: no larger than the least of their medians. */
    for (size_t i = 0; i < 3; i++)
        CHECK(found.perturbation_p50 <= result_of(&found, i)->change_p50);
    CHECK(found.perturbation_p50 >= expected - 1e-5);
    ys_robustness_fini(&found);
}

/* On some rows deepfool comes nearer, on others ddn: row by row they come to less than either alone. */
static void the_smallest_change_of_a_row_is_taken_over_attacks(void)
{
    struct made_model m = made(true, "linear");
    struct made_images images;
    struct ys_robustness alone, together, none;
    make_images(&m, inner_low, inner_high, &images);
    REQUIRE(attack_made(&m, &images, "deepfool", NULL, &alone) == YS_OK);
    REQUIRE(attack_made(&m, &images, "deepfool ddn(60)", NULL, &together) == YS_OK);
    REQUIRE(attack_made(&m, &images, "pgd(0.001)", NULL, &none) == YS_OK);
    CHECK_NEAR(alone.perturbation_p50, result_of(&alone, 0)->change_p50, 0);
    CHECK(together.perturbation_p50 < alone.perturbation_p50);
    CHECK(together.perturbation_p50 < result_of(&together, 1)->change_p50);
    CHECK(!isfinite(none.perturbation_p50));
    ys_robustness_fini(&alone);
    ys_robustness_fini(&together);
    ys_robustness_fini(&none);
}

/** bim in double: images [out] of one row. */
static void bim_in_double(const struct made_model *m, const float *image, int64_t label, double eps, int steps,
                          double step, double *x)
{
    for (int p = 0; p < PIXELS; p++)
        x[p] = image[p];
    for (int s = 0; s < steps; s++) {
        float now[PIXELS];
        double h[HIDDEN], z[CLASSES], c[CLASSES], g[PIXELS], sum = 0;
        for (int p = 0; p < PIXELS; p++)
            now[p] = (float)x[p];
        forward(m, now, h, z);
        for (int k = 0; k < CLASSES; k++)
            sum += exp(z[k] - z[label]);
        for (int k = 0; k < CLASSES; k++)
            c[k] = exp(z[k] - z[label]) / sum - (k == label); /* softmax - onehot */
        backward(m, now, c, g);
        for (int p = 0; p < PIXELS; p++) {
            const double sign = (g[p] > 0) - (g[p] < 0);
            x[p] = fmin(fmax(x[p] + step * sign, image[p] - eps), image[p] + eps);
            x[p] = fmin(fmax(x[p], 0), 1);
        }
    }
}

static void bim_and_fgsm_follow_the_loss_of_a_made_network(void)
{
    static const struct {
        const char *words;
        double eps, step;
        int steps;
    } cases[] = {{"bim(0.1, 12, 0.02)", 0.1, 0.02, 12}, {"fgsm(0.15)", 0.15, 0.15, 1}};
    struct made_model m = made(false, "tangent");
    struct made_images images;
    make_images(&m, 0, 1, &images);
    for (size_t c = 0; c < 2; c++) {
        struct made_judge judge;
        struct ys_robustness found;
        REQUIRE(attack_made(&m, &images, cases[c].words, &judge, &found) == YS_OK);
        CHECK_INT(judge.count, right_rows(&found));
        size_t at = 0, far = 0;
        for (int i = 0; i < ROWS; i++) {
            double x[PIXELS];
            if (i % 5 == 4)
                continue;
            bim_in_double(&m, images.pixels + (size_t)i * PIXELS, images.labels[i], cases[c].eps, cases[c].steps,
                          cases[c].step, x);
            for (int p = 0; p < PIXELS; p++) /* twelve steps, each rounded to float */
                far += fabs(judge.images[at * PIXELS + (size_t)p] - x[p]) > 1e-5;
            at++;
        }
        CHECK_INT(far, 0);
        CHECK(result_of(&found, 0)->broken > 0 && result_of(&found, 0)->broken < found.clean);
        ys_robustness_fini(&found);
    }
}

static void logits_a_thousand_times_as_large_are_attacked_alike(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness plain, steep;
    make_images(&m, 0, 1, &images);
    REQUIRE(attack_made(&m, &images, "bim(0.1)", NULL, &plain) == YS_OK);
    m.scale = 1000;
    REQUIRE(attack_made(&m, &images, "bim(0.1)", NULL, &steep) == YS_OK);
    /* Cross-entropy's own gradient is 0 in float where the margin is 1000 times 1; the decisions are the same. The
     * nearest class has all of the pull now, so that a few rows may differ. */
    CHECK(result_of(&plain, 0)->broken > 0);
    CHECK(result_of(&steep, 0)->broken >= result_of(&plain, 0)->broken - 2);
    CHECK(!steep.is_masked);
    ys_robustness_fini(&plain);
    ys_robustness_fini(&steep);
}

/** jsma on one image, by the paper's loops over all pairs; the number of pixels that it changed. */
static int jsma_by_loops(const struct made_model *m, const float *image, int64_t label, float *x)
{
    const int64_t target = (label + 1) % CLASSES;
    bool is_free[PIXELS];
    int changed = 0;
    memcpy(x, image, PIXELS * sizeof *x);
    for (int p = 0; p < PIXELS; p++)
        is_free[p] = x[p] < 0.99f;
    for (int s = 0; s < 5; s++) { /* half of 0.5 times twenty pixels */
        double h[HIDDEN], z[CLASSES], rise[PIXELS], fall[PIXELS], c[CLASSES] = {0}, best = 0;
        int pair[2] = {-1, -1}, top = 0;
        forward(m, x, h, z);
        for (int k = 1; k < CLASSES; k++)
            top = z[k] > z[top] ? k : top;
        if (top == target)
            break;
        c[target] = 1;
        backward(m, x, c, rise);
        for (int k = 0; k < CLASSES; k++)
            c[k] = 1 - c[k];
        backward(m, x, c, fall);
        for (int p = 0; p < PIXELS; p++)
            for (int q = p + 1; q < PIXELS; q++) {
                const double up = rise[p] + rise[q], down = fall[p] + fall[q];
                if (!is_free[p] || !is_free[q] || up <= 0 || down >= 0 || up * -down <= best)
                    continue;
                best = up * -down;
                pair[0] = p;
                pair[1] = q;
            }
        if (pair[0] < 0)
            break;
        for (int k = 0; k < 2; k++) {
            x[pair[k]] = fminf(x[pair[k]] + 0.5f, 1);
            is_free[pair[k]] = false;
        }
    }
    for (int p = 0; p < PIXELS; p++)
        changed += x[p] != image[p];
    return changed;
}

static void jsma_finds_the_pairs_that_loops_over_all_find(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct made_judge judge;
    struct ys_robustness found;
    size_t at = 0, other = 0;
    int most = 0;
    make_images(&m, 0, 1, &images);
    REQUIRE(attack_made(&m, &images, "jsma(0.5, 0.5)", &judge, &found) == YS_OK);
    for (int i = 0; i < ROWS; i++) {
        float x[PIXELS];
        if (i % 5 == 4)
            continue;
        const int changed = jsma_by_loops(&m, images.pixels + (size_t)i * PIXELS, images.labels[i], x);
        most = changed > most ? changed : most;
        for (int p = 0; p < PIXELS; p++)
            other += judge.images[at * PIXELS + (size_t)p] != x[p];
        at++;
    }
    CHECK_INT(other, 0);
    CHECK_INT(most, 10);
    const struct ys_attack_result *result = result_of(&found, 0);
    CHECK(result->target_reached > 0 && result->target_reached <= result->broken && result->broken <= found.clean);
    ys_robustness_fini(&found);
}

static void rows_that_stand_are_counted_over_attacks(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness found;
    make_images(&m, 0, 1, &images);
    REQUIRE(attack_made(&m, &images, "pgd(0.1) fgsm(0.02) fgsm(0.1) ddn", NULL, &found) == YS_OK);
    const struct ys_eps_standing *robust = found.robust.items;
    CHECK_INT(found.robust.count, 2);
    CHECK_NEAR(robust[0].eps, 0.02, 0);
    CHECK_NEAR(robust[1].eps, 0.1, 0);
    CHECK_INT(robust[0].standing, found.clean - result_of(&found, 1)->broken);
    int64_t standing = 0;
    for (int i = 0; i < ROWS; i++)
        standing += result_of(&found, 0)->outcomes[i] == 's' && result_of(&found, 1)->outcomes[i] == 's' &&
                    result_of(&found, 2)->outcomes[i] == 's';
    CHECK_INT(robust[1].standing, standing);
    CHECK(standing < robust[0].standing);
    ys_robustness_fini(&found);
}

static void restarts_break_more_and_hang_on_the_seed_alone(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness one, again, many;
    const struct ys_attacked model = attacked(&m);
    make_images(&m, 0, 1, &images);
    struct ys_attack_spec spec = {
        .images = images.pixels, .labels = images.labels, .rows = ROWS, .restarts = 1, .seed = 3};
    REQUIRE(ys_attacks_read("pgd(0.05, 2, 0.01)", &spec.attacks) == YS_OK);
    REQUIRE(ys_attack_model(&model, &spec, &one) == YS_OK);
    m.batch = 3;
    const struct ys_attacked narrow = attacked(&m);
    REQUIRE(ys_attack_model(&narrow, &spec, &again) == YS_OK);
    CHECK_TEXT(result_of(&again, 0)->outcomes, result_of(&one, 0)->outcomes);
    spec.restarts = 30;
    REQUIRE(ys_attack_model(&model, &spec, &many) == YS_OK);
    CHECK(result_of(&many, 0)->broken > result_of(&one, 0)->broken);
    for (int i = 0; i < ROWS; i++)
        CHECK(result_of(&one, 0)->outcomes[i] != 'b' || result_of(&many, 0)->outcomes[i] == 'b');
    ys_robustness_fini(&one);
    ys_robustness_fini(&again);
    ys_robustness_fini(&many);
}

static void a_model_that_is_wrong_on_every_row_is_not_attacked(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness found;
    make_images(&m, 0, 1, &images);
    for (int i = 0; i < ROWS; i++)
        images.labels[i] = (images.labels[i] + (i % 5 == 4 ? 0 : 1)) % CLASSES;
    REQUIRE(attack_made(&m, &images, "pgd(0.1) deepfool ddn cw jsma", NULL, &found) == YS_OK);
    CHECK_INT(found.clean, 0);
    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(result_of(&found, i)->broken, 0);
        CHECK_INT(result_of(&found, i)->gradients, 0);
        CHECK(isnan(result_of(&found, i)->change_p50));
    }
    CHECK_INT(((const struct ys_eps_standing *)found.robust.items)->standing, 0);
    ys_robustness_fini(&found);
}

static void what_is_found_is_read_back_from_json(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness found, again;
    make_images(&m, 0, 1, &images);
    REQUIRE(attack_made(&m, &images, "pgd(0.001) jsma", NULL, &found) == YS_OK);
    CHECK(isinf(result_of(&found, 0)->change_p75));
    REQUIRE(ys_record_copy(&ys_robustness_record, &found, &again) == YS_OK);
    CHECK_INT(again.clean, found.clean);
    CHECK_TEXT(result_of(&again, 0)->attack, "pgd(0.001, 40, 0.0001)");
    CHECK_TEXT(result_of(&again, 1)->outcomes, result_of(&found, 1)->outcomes);
    CHECK(isnan(result_of(&again, 0)->change_p75)); /* null */
    CHECK_INT(result_of(&again, 0)->target_reached, YS_FIELD_NONE);
    ys_robustness_fini(&found);
    ys_robustness_fini(&again);
}

TAP_MAIN(TAP_CASE(a_linear_model_breaks_where_its_boundary_is_within_eps),
         TAP_CASE(the_smallest_change_of_a_linear_model_is_the_distance_to_its_boundary),
         TAP_CASE(the_smallest_change_of_a_row_is_taken_over_attacks),
         TAP_CASE(bim_and_fgsm_follow_the_loss_of_a_made_network),
         TAP_CASE(logits_a_thousand_times_as_large_are_attacked_alike),
         TAP_CASE(jsma_finds_the_pairs_that_loops_over_all_find), TAP_CASE(rows_that_stand_are_counted_over_attacks),
         TAP_CASE(restarts_break_more_and_hang_on_the_seed_alone),
         TAP_CASE(a_model_that_is_wrong_on_every_row_is_not_attacked), TAP_CASE(what_is_found_is_read_back_from_json))
