#include "files.h"
#include "tap.h"
#include "verify/error.h"

static void the_error_of_logits_is_relative_to_the_largest(void)
{
    double a[] = {1, -4.5, 2}, b[] = {1, -4, 2};
    struct ys_tensor x = vector64("x", a, 3), ref = vector64("x", b, 3);
    CHECK_NEAR(ys_error_max(&x, &ref), 0.125, 0); /* 0.5 / 4, exact in binary */
}

static void a_tensor_that_is_missing_or_of_another_shape_is_infinitely_wrong(void)
{
    double a[] = {1, 2, 3};
    struct ys_tensor x = vector64("x", a, 2), ref = vector64("x", a, 3);
    CHECK(isinf(ys_error_max(&x, &ref)));
    CHECK(isinf(ys_error_norm(NULL, &ref)));
}

static void nan_is_infinitely_wrong(void)
{
    double a[] = {1, NAN}, b[] = {1, 2};
    struct ys_tensor x = vector64("x", a, 2), ref = vector64("x", b, 2);
    CHECK(isinf(ys_error_max(&x, &ref)));
    CHECK(isinf(ys_error_norm(&x, &ref)));
}

static void gradients_are_judged_by_the_worst_tensor(void)
{
    double g1[] = {3, 4}, g2[] = {6, 8}, wrong[] = {6, 8.1};
    struct ys_tensor right[] = {vector64("grad.a", g1, 2), vector64("grad.b", g2, 2), vector64("other", g1, 2)};
    struct ys_tensor theirs[] = {vector64("grad.a", g1, 2), vector64("grad.b", wrong, 2)};
    struct ys_safetensors *ref = files_make("ref", right, 3), *a = files_make("a", theirs, 2);
    struct ys_worst worst;
    ys_error_gradients(a, ref, "grad.", &worst);
    CHECK_TEXT(worst.name, "grad.b");
    CHECK_NEAR(worst.error, 0.01, 1e-15); /* 0.1 / 10; 8.1 is off by half a unit, 9e-16 of it shows */
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void a_tensor_that_is_noise_is_judged_against_the_largest(void)
{
    double big[] = {1e3}, tiny[] = {1e-9}, other[] = {2e-9};
    struct ys_tensor right[] = {vector64("grad.big", big, 1), vector64("grad.tiny", tiny, 1)};
    struct ys_tensor theirs[] = {vector64("grad.big", big, 1), vector64("grad.tiny", other, 1)};
    struct ys_safetensors *ref = files_make("ref", right, 2), *a = files_make("a", theirs, 2);
    struct ys_worst worst;
    ys_error_gradients(a, ref, "grad.", &worst);
    CHECK(worst.error < 1e-11); /* 1e-9 / 1e3, not 1e-9 / 1e-9 */
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void weights_are_judged_relative_to_the_way_gone(void)
{
    double w0[] = {100, 100}, w1[] = {100, 101}, theirs[] = {100, 101.5};
    struct ys_tensor t0 = vector64("w", w0, 2), t1 = vector64("w", w1, 2), ta = vector64("w", theirs, 2);
    struct ys_safetensors *start = files_make("start", &t0, 1), *ref = files_make("ref", &t1, 1),
                          *a = files_make("a", &ta, 1);
    struct ys_worst worst;
    ys_error_weights(a, ref, start, &worst);
    CHECK_NEAR(worst.error, 0.5, 0); /* 0.5 off after a way of 1 */
    ys_safetensors_close(start);
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void equality_is_by_value_over_formats(void)
{
    double wide[] = {0.5, 3};
    float narrow[] = {0.5f, 3};
    struct ys_tensor a = vector64("a", wide, 2);
    struct ys_tensor b = {
        .name = "b", .dtype = YS_F32, .rank = 1, .shape = {2}, .data = narrow, .size_bytes = sizeof narrow};
    CHECK(ys_tensors_equal(&a, &b));
    narrow[1] = nextafterf(3, 4);
    CHECK(!ys_tensors_equal(&a, &b));
}

TAP_MAIN(TAP_CASE(the_error_of_logits_is_relative_to_the_largest),
         TAP_CASE(a_tensor_that_is_missing_or_of_another_shape_is_infinitely_wrong), TAP_CASE(nan_is_infinitely_wrong),
         TAP_CASE(gradients_are_judged_by_the_worst_tensor),
         TAP_CASE(a_tensor_that_is_noise_is_judged_against_the_largest),
         TAP_CASE(weights_are_judged_relative_to_the_way_gone), TAP_CASE(equality_is_by_value_over_formats))
