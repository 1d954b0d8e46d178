#include "files.h"
#include "tap.h"
#include "verify/oracle/tensor_error.h"

/* The part of a graph that is looked at: parameters "a" and "b", the second of role `role`. */
static char name_a[] = "a", name_b[] = "b";
static struct ys_param params[] = {{.name = name_a, .role = YS_ROLE_WEIGHT}, {.name = name_b, .role = YS_ROLE_WEIGHT}};

static struct ys_worst worst_of(enum ys_role second, enum ys_role wanted, const char *prefix,
                                const struct ys_safetensors *a, const struct ys_safetensors *ref,
                                const struct ys_safetensors *start)
{
    struct ys_graph graph = {.params = params, .param_count = 2};
    struct ys_worst worst = {.error = -1};
    params[1].role = second;
    ys_error_parameters(&graph, wanted, prefix, a, ref, start, &worst);
    return worst;
}

static struct ys_safetensors *two(const char *file, struct ys_tensor first, struct ys_tensor second)
{
    return files_make(file, (struct ys_tensor[]){first, second}, 2);
}

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
    CHECK(isinf(ys_error_max(NULL, &ref)));
    CHECK(isinf(ys_error_scalar(&x, &ref)));
    CHECK(isinf(ys_error_scalar(NULL, &ref)));
    struct ys_safetensors *right = two("right", vector64("a", a, 3), vector64("b", a, 3));
    struct ys_safetensors *short_one = two("short", vector64("a", a, 3), vector64("b", a, 2));
    struct ys_safetensors *missing = two("missing", vector64("a", a, 3), vector64("c", a, 3));
    CHECK(isinf(worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", short_one, right, NULL).error));
    CHECK(isinf(worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", missing, right, NULL).error));
    CHECK(isinf(worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", right, missing, NULL).error));
    CHECK_TEXT(worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", right, right, missing).name, "b");
    ys_safetensors_close(right);
    ys_safetensors_close(short_one);
    ys_safetensors_close(missing);
}

static void nan_is_infinitely_wrong(void)
{
    double a[] = {1, NAN}, b[] = {1, 2};
    struct ys_tensor x = vector64("x", a, 2), ref = vector64("x", b, 2);
    CHECK(isinf(ys_error_max(&x, &ref)));
    struct ys_safetensors *theirs = two("nan", vector64("a", b, 2), vector64("b", a, 2));
    struct ys_safetensors *right = two("right", vector64("a", b, 2), vector64("b", b, 2));
    CHECK(isinf(worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", theirs, right, NULL).error));
    ys_safetensors_close(theirs);
    ys_safetensors_close(right);
}

static void gradients_are_judged_by_the_worst_tensor(void)
{
    double g1[] = {3, 4}, g2[] = {6, 8}, wrong[] = {6, 8.1};
    struct ys_safetensors *ref = two("ref", vector64("grad.a", g1, 2), vector64("grad.b", g2, 2));
    struct ys_safetensors *a = two("a", vector64("grad.a", g1, 2), vector64("grad.b", wrong, 2));
    struct ys_worst worst = worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "grad.", a, ref, NULL);
    CHECK_TEXT(worst.name, "b");
    CHECK_NEAR(worst.error, 0.01, 1e-15); /* 0.1 / 10; 8.1 is off by half a unit, 9e-16 of it shows */
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void gradients_of_matrices_are_judged_among_all_and_by_themselves(void)
{
    double g1[] = {3, 4}, g2[] = {6, 8}, wrong1[] = {3, 4.5}, wrong2[] = {6, 8.1};
    struct ys_graph graph = {.params = params, .param_count = 2};
    struct ys_safetensors *ref = two("ref", vector64("grad.a", g1, 2), vector64("grad.b", g2, 2));
    struct ys_safetensors *a = two("a", vector64("grad.a", wrong1, 2), vector64("grad.b", wrong2, 2));
    struct ys_worst all = {0}, matrices = {0};
    params[0].rank = 1;
    params[1].rank = 2;
    params[1].role = YS_ROLE_WEIGHT;
    ys_error_gradients(&graph, a, ref, &all, &matrices);
    CHECK_TEXT(all.name, "a");
    CHECK_NEAR(all.error, 0.1, 0); /* 0.5 / 5 */
    CHECK_TEXT(matrices.name, "b");
    CHECK_NEAR(matrices.error, 0.01, 1e-15); /* as above */
    ys_error_gradients(&graph, ref, ref, &all, &matrices);
    CHECK_NEAR(all.error, 0.1, 0); /* raised, never lowered */
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void weights_and_buffers_are_judged_apart(void)
{
    double w[] = {3, 4}, b[] = {6, 8}, wrong[] = {6, 8.1};
    struct ys_safetensors *ref = two("ref", vector64("a", w, 2), vector64("b", b, 2));
    struct ys_safetensors *a = two("a", vector64("a", w, 2), vector64("b", wrong, 2));
    CHECK_NEAR(worst_of(YS_ROLE_BUFFER, YS_ROLE_WEIGHT, "", a, ref, NULL).error, 0, 0);
    CHECK_NEAR(worst_of(YS_ROLE_BUFFER, YS_ROLE_BUFFER, "", a, ref, NULL).error, 0.01, 1e-15); /* as above */
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void a_tensor_that_is_noise_is_judged_against_the_largest(void)
{
    double big[] = {1e3}, tiny[] = {1e-9}, other[] = {2e-9};
    struct ys_safetensors *ref = two("ref", vector64("a", big, 1), vector64("b", tiny, 1));
    struct ys_safetensors *a = two("a", vector64("a", big, 1), vector64("b", other, 1));
    CHECK(worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", a, ref, NULL).error < 1e-11); /* 1e-9 / 1e3, not 1e-9 / 1e-9 */
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void weights_are_judged_relative_to_the_way_gone(void)
{
    double w0[] = {100, 100}, w1[] = {100, 101}, theirs[] = {100, 101.5};
    struct ys_safetensors *start = two("start", vector64("a", w0, 2), vector64("b", w0, 2));
    struct ys_safetensors *ref = two("ref", vector64("a", w1, 2), vector64("b", w1, 2));
    struct ys_safetensors *a = two("a", vector64("a", w1, 2), vector64("b", theirs, 2));
    CHECK_NEAR(worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", a, ref, start).error, 0.5, 0); /* 0.5 off, a way of 1 */
    ys_safetensors_close(start);
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

/* Tensors are read a piece at a time, and a framework's file may be of another format than the oracle's. */
static void long_tensors_of_two_formats_are_compared_to_their_end(void)
{
    enum { N = 5000 };
    static double wide[N];
    static float narrow[N];
    for (int i = 0; i < N; i++)
        narrow[i] = (float)(wide[i] = i % 7);
    narrow[N - 1] += 3;
    struct ys_tensor short_one = vector64("a", wide, 1), other = {.name = "b",
                                                                  .dtype = YS_F32,
                                                                  .rank = 1,
                                                                  .shape = {N},
                                                                  .data = narrow,
                                                                  .size_bytes = sizeof narrow};
    struct ys_safetensors *ref = two("ref", short_one, vector64("b", wide, N)), *a = two("a", short_one, other);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += wide[i] * wide[i]; /* integers: exact */
    double error = worst_of(YS_ROLE_WEIGHT, YS_ROLE_WEIGHT, "", a, ref, NULL).error;
    CHECK_NEAR(error, 3 / sqrt(sum), 1e-15); /* two roots and a quotient below 1: three roundings */
    CHECK(!ys_tensors_equal(ys_safetensors_find(a, "b"), ys_safetensors_find(ref, "b")));
    ys_safetensors_close(ref);
    ys_safetensors_close(a);
}

static void columns_are_judged_apart(void)
{
    /* Two rows of five; the third column of the second row differs, by an eighth of the largest of its two columns. */
    double wide[] = {1, 2, -4, 3, 100, 1, 2, 3, 1, 100}, other[10];
    memcpy(other, wide, sizeof other);
    other[7] += 0.5;
    struct ys_tensor ref = vector64("r", wide, 10), a = vector64("a", other, 10);
    ref.rank = a.rank = 2;
    ref.shape[0] = a.shape[0] = 2;
    ref.shape[1] = a.shape[1] = 5;
    CHECK(ys_error_columns(&a, &ref, 0, 2) == 0);
    CHECK(ys_error_columns(&a, &ref, 2, 2) == 0.125); /* exact in binary */
    CHECK(ys_error_columns(&a, &ref, 4, 1) == 0);
    CHECK(isinf(ys_error_columns(&a, &ref, 3, 3)));
    CHECK(isinf(ys_error_columns(NULL, &ref, 0, 1)));
    other[4] = NAN;
    CHECK(isinf(ys_error_columns(&a, &ref, 4, 1)));
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
    CHECK(!ys_tensors_equal(&a, NULL));
}

static const char ONE_WEIGHT[] =
    "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"tiny\",\"inputs\":[{\"name\":\"x\",\"shape\":[\"N\",2],"
    "\"dtype\":\"F32\"}],\"nodes\":[{\"op\":\"Gemm\",\"name\":\"d\",\"in\":[\"x\"],\"out\":[\"logits\"],\"params\":{"
    "\"weight\":"
    "\"w\"}}],\"params\":[{\"name\":\"w\",\"shape\":[1,2],\"role\":\"weight\",\"init\":{\"dist\":\"constant\","
    "\"value\":1}}],"
    "\"output\":\"logits\",\"loss\":\"mean_squared_error\"}";

static struct ys_safetensors *saved_as(const char *name, enum ys_dtype dtype, const void *values)
{
    struct ys_tensor w = {.name = "w",
                          .dtype = dtype,
                          .rank = 2,
                          .shape = {1, 2},
                          .data = values,
                          .size_bytes = 2 * ys_dtype_size(dtype)};
    return files_make(name, &w, 1);
}

static void what_saving_single_precision_rounds_is_no_difference_and_more_is(void)
{
    const double start[2] = {1, 2}, ref[2] = {1 + 0x1p-10 + 0x1p-30, 2 - 0x1p-10};
    float same[2] = {(float)ref[0], (float)ref[1]}, other[2] = {same[0], nextafterf(nextafterf(same[1], 3), 3)};
    ys_json *json = NULL;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_json_parse(ONE_WEIGHT, sizeof ONE_WEIGHT - 1, "graph", &json) == YS_OK);
    REQUIRE(ys_graph_from_json(json, "graph", &graph) == YS_OK);
    struct ys_safetensors *s = saved_as("s", YS_F64, start), *r = saved_as("r", YS_F64, ref);
    struct ys_safetensors *a = saved_as("a", YS_F32, same), *b = saved_as("b", YS_F32, other);
    struct ys_worst worst;
    ys_error_saved(graph, YS_ROLE_WEIGHT, a, r, s, &worst);
    CHECK_NEAR(worst.error, 0, 0);
    ys_error_parameters(graph, YS_ROLE_WEIGHT, "", a, r, s, &worst);
    CHECK(worst.error > 1e-7);
    ys_error_saved(graph, YS_ROLE_WEIGHT, b, r, s, &worst);
    CHECK(worst.error > 1e-7); /* two units, of which the rounding of both values explains less */
    ys_safetensors_close(s);
    ys_safetensors_close(r);
    ys_safetensors_close(a);
    ys_safetensors_close(b);
    ys_graph_free(graph);
    ys_json_free(json);
}

TAP_MAIN(TAP_CASE(the_error_of_logits_is_relative_to_the_largest),
         TAP_CASE(a_tensor_that_is_missing_or_of_another_shape_is_infinitely_wrong), TAP_CASE(nan_is_infinitely_wrong),
         TAP_CASE(gradients_are_judged_by_the_worst_tensor),
         TAP_CASE(gradients_of_matrices_are_judged_among_all_and_by_themselves),
         TAP_CASE(weights_and_buffers_are_judged_apart), TAP_CASE(a_tensor_that_is_noise_is_judged_against_the_largest),
         TAP_CASE(weights_are_judged_relative_to_the_way_gone),
         TAP_CASE(long_tensors_of_two_formats_are_compared_to_their_end), TAP_CASE(columns_are_judged_apart),
         TAP_CASE(equality_is_by_value_over_formats),
         TAP_CASE(what_saving_single_precision_rounds_is_no_difference_and_more_is))
