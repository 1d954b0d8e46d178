/* Models that only seem to withstand: each raises its alarm, and an honest one raises none. */
#include "unit/robust/made_model.h"

static bool has_alarm(const struct ys_robustness *found, const char *what)
{
    const struct ys_attack_alarm *alarms = found->alarms.items;
    for (size_t i = 0; i < found->alarms.count; i++)
        if (strcmp(alarms[i].alarm, what) == 0)
            return CHECK(alarms[i].value > alarms[i].threshold) && found->is_masked;
    return false;
}

/** Attacks with functions of an adversary's in place of the model's own. */
static ys_status attack_with(ys_status (*logits)(void *, const float *, size_t, float *),
                             ys_status (*gradient)(void *, const float *, const float *, size_t, float *, float *),
                             const char *attacks, struct ys_robustness *found)
{
    static struct made_model m;
    static struct made_images images;
    m = made(false, "tangent");
    make_images(&m, 0, 1, &images);
    struct made_judge judge = {.model = &m};
    struct ys_attacked model = attacked(&m);
    struct ys_attack_spec spec = {.images = images.pixels,
                                  .labels = images.labels,
                                  .rows = ROWS,
                                  .restarts = 1,
                                  .judge = made_judge,
                                  .judge_of = &judge};
    model.logits = logits ? logits : made_logits;
    model.gradient = gradient ? gradient : made_gradient;
    YS_TRY(ys_attacks_read(attacks, &spec.attacks));
    return ys_attack_model(&model, &spec, found);
}

static void an_honest_model_raises_none(void)
{
    struct ys_robustness found;
    REQUIRE(attack_with(NULL, NULL, "pgd(0.2)", &found) == YS_OK);
    CHECK_INT(found.alarms.count, 0);
    CHECK(!found.is_masked);
    ys_robustness_fini(&found);
}

static ys_status zero_gradient(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                               float *gradient)
{
    YS_TRY(made_gradient(of, images, cotangent, count, logits, gradient));
    memset(gradient, 0, count * PIXELS * sizeof *gradient);
    return YS_OK;
}

/* Whoever hides its gradients does not hide its answers. */
static void attacks_without_gradients_see_that_they_are_hidden(void)
{
    struct ys_robustness found;
    REQUIRE(attack_with(NULL, zero_gradient, "pgd(0.2) square(0.2, 500)", &found) == YS_OK);
    CHECK(has_alarm(&found, "it breaks more rows without gradients than others with them"));
    ys_robustness_fini(&found);
    REQUIRE(attack_with(NULL, zero_gradient, "autoattack(0.2)", &found) == YS_OK);
    CHECK(has_alarm(&found, "its part without gradients breaks rows that the others did not"));
    ys_robustness_fini(&found);
    REQUIRE(attack_with(NULL, NULL, "pgd(0.2) square(0.2, 500) autoattack(0.2)", &found) == YS_OK);
    CHECK_INT(found.alarms.count, 0);
    ys_robustness_fini(&found);
}

static void gradients_of_zero_are_seen(void)
{
    struct ys_robustness found;
    REQUIRE(attack_with(NULL, zero_gradient, "pgd(0.2)", &found) == YS_OK);
    CHECK(has_alarm(&found, "gradients are zero"));
    CHECK(has_alarm(&found, "a change without bound leaves more rows than chance"));
    ys_robustness_fini(&found);
}

static ys_status noisy_gradient(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                                float *gradient)
{
    static struct ys_rng rng;
    YS_TRY(made_gradient(of, images, cotangent, count, logits, gradient));
    for (size_t i = 0; i < count * PIXELS; i++)
        gradient[i] = (float)ys_rng_normal(&rng);
    return YS_OK;
}

static void gradients_of_noise_are_seen(void)
{
    struct ys_robustness found;
    REQUIRE(attack_with(NULL, noisy_gradient, "pgd(0.2)", &found) == YS_OK);
    CHECK(has_alarm(&found, "a change without bound leaves more rows than chance"));
    ys_robustness_fini(&found);
}

static ys_status random_logits(void *of, const float *images, size_t count, float *logits)
{
    static struct ys_rng rng;
    YS_TRY(made_logits(of, images, count, logits));
    for (size_t i = 0; i < count * CLASSES; i++)
        logits[i] += 0.1f * (float)ys_rng_normal(&rng);
    return YS_OK;
}

static void outputs_that_change_are_seen(void)
{
    struct ys_robustness found;
    REQUIRE(attack_with(random_logits, NULL, "pgd(0.2)", &found) == YS_OK);
    CHECK(has_alarm(&found, "outputs change from call to call"));
    ys_robustness_fini(&found);
}

static ys_status probabilities(void *of, const float *images, size_t count, float *logits)
{
    YS_TRY(made_logits(of, images, count, logits));
    for (size_t i = 0; i < count; i++) {
        float *z = logits + i * CLASSES, sum = 0;
        for (int c = 0; c < CLASSES; c++)
            sum += z[c] = expf(z[c]);
        for (int c = 0; c < CLASSES; c++)
            z[c] /= sum;
    }
    return YS_OK;
}

static void probabilities_are_seen(void)
{
    struct ys_robustness found;
    REQUIRE(attack_with(probabilities, NULL, "pgd(0.2)", &found) == YS_OK);
    CHECK(has_alarm(&found, "outputs are probabilities in place of logits"));
    ys_robustness_fini(&found);
}

/** Right where the images are as they were made, and turned round elsewhere: steps after the first lead back. */
static ys_status turning_gradient(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                                  float *gradient)
{
    YS_TRY(made_gradient(of, images, cotangent, count, logits, gradient));
    for (size_t i = 0; i < count; i++) {
        bool is_bytes = true; /* an image as it was made is a multiple of 1/16: no pixel of pgd's is */
        for (int p = 0; p < PIXELS; p++)
            is_bytes = is_bytes && images[i * PIXELS + (size_t)p] * 16 == rintf(images[i * PIXELS + (size_t)p] * 16);
        for (int p = 0; p < PIXELS && !is_bytes; p++)
            gradient[i * PIXELS + (size_t)p] *= -1;
    }
    return YS_OK;
}

static void one_step_that_breaks_more_is_seen(void)
{
    struct made_model m = made(false, "tangent");
    struct made_images images;
    struct ys_robustness found;
    make_images(&m, 0, 1, &images);
    for (int i = 0; i < ROWS * PIXELS; i++)
        images.pixels[i] = rintf(images.pixels[i] * 16) / 16;
    struct ys_attacked model = attacked(&m);
    struct ys_attack_spec spec = {.images = images.pixels, .labels = images.labels, .rows = ROWS, .restarts = 1};
    model.gradient = turning_gradient;
    REQUIRE(ys_attacks_read("pgd(0.2)", &spec.attacks) == YS_OK);
    REQUIRE(ys_attack_model(&model, &spec, &found) == YS_OK);
    CHECK(has_alarm(&found, "one step of the same size breaks more rows"));
    ys_robustness_fini(&found);
}

static ys_status nan_logits(void *of, const float *images, size_t count, float *logits)
{
    YS_TRY(made_logits(of, images, count, logits));
    logits[0] = NAN;
    return YS_OK;
}

static ys_status failing_logits(void *of, const float *images, size_t count, float *logits)
{
    (void)of, (void)images, (void)count, (void)logits;
    return ys_fail(YS_EPROTOCOL, "the adapter is gone");
}

static void logits_that_are_no_numbers_are_refused(void)
{
    struct ys_robustness found;
    CHECK_INT(attack_with(nan_logits, NULL, "pgd(0.2)", &found), YS_EINVAL);
    CHECK_HAS(ys_error(), "no finite numbers");
    ys_robustness_fini(&found);
    CHECK_INT(attack_with(failing_logits, NULL, "pgd(0.2)", &found), YS_EPROTOCOL);
    CHECK_HAS(ys_error(), "the adapter is gone");
    ys_robustness_fini(&found);
}

TAP_MAIN(TAP_CASE(an_honest_model_raises_none), TAP_CASE(gradients_of_zero_are_seen),
         TAP_CASE(attacks_without_gradients_see_that_they_are_hidden), TAP_CASE(gradients_of_noise_are_seen),
         TAP_CASE(outputs_that_change_are_seen), TAP_CASE(probabilities_are_seen),
         TAP_CASE(one_step_that_breaks_more_is_seen), TAP_CASE(logits_that_are_no_numbers_are_refused))
