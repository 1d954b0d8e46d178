/* Values that are made again for the backward pass, instead of kept, change no bit of a result and take less memory. */
#include "unit/engine/families.h"

static void check_keep(const struct family *family, const struct backend_case *b, bool saves)
{
    struct net n;
    family->build(&n);
    struct ys_engine_config config = config_of(&n, b);
    config.seed = 5;
    struct ys_engine *keeps = open_with(&n, &config);
    config.keep_bytes = 1;
    config.guarded = true; /* what is read without having been made again is NaN */
    struct ys_engine *rebuilds = open_with(&n, &config);
    REQUIRE(keeps && rebuilds);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    for (int step = 0; step < 3; step++) {
        double a = NAN, c = NAN;
        CHECK(ys_engine_step(keeps, x, y, 0.01, &a) == 0 && ys_engine_step(rebuilds, x, y, 0.01, &c) == 0);
        CHECK_NEAR(a, c, 0);
    }
    size_t count;
    double *v = flat_of(keeps, false, &count), *w = flat_of(rebuilds, false, &count);
    tap_check(memcmp(v, w, count * sizeof *v) == 0, __LINE__, "weights of %s differ", family->name);
    CHECK_TEXT(ys_engine_check(rebuilds) == 0 ? "" : ys_engine_error(), "");
    if (saves)
        CHECK(ys_engine_counters(rebuilds).calls > ys_engine_counters(keeps).calls);
    ys_engine_close(keeps);
    ys_engine_close(rebuilds);
    free(v);
    free(w);
    free(x);
    free(y);
}

static size_t calls_with(const struct net *n, const struct backend_case *b, size_t keep_bytes)
{
    struct ys_engine_config config = config_of(n, b);
    config.keep_bytes = keep_bytes;
    struct ys_engine *e = open_with(n, &config);
    const size_t calls = e ? ys_engine_counters(e).calls : 0;
    ys_engine_close(e);
    return calls;
}

/** A network of just so many bytes keeps its values, of one more it makes them again. */
static void check_bound(const struct backend_case *b, size_t element_bytes)
{
    struct net n;
    size_t bytes = 0;
    family_resnet(&n);
    for (size_t v = 0; v < n.graph.value_count; v++)
        bytes += (size_t)(n.batch * ys_value_row_elements(&n.graph.values[v])) * element_bytes;
    const size_t kept = calls_with(&n, b, 0);
    REQUIRE(kept > 0);
    CHECK_INT(calls_with(&n, b, bytes), kept);
    CHECK(calls_with(&n, b, bytes - 1) > kept);
}

static void the_bound_is_what_all_values_take(void)
{
    check_bound(&onednn2, sizeof(float));
}

static void the_bound_is_what_all_values_take_bf16(void)
{
    if (!lacks_bf16())
        check_bound(&bf16, 2);
}

static void made_again_is_the_same(void)
{
    for (int f = 0; f < FAMILIES; f++)
        check_keep(&families[f], &onednn2,
                   strcmp(families[f].name, "resnet") == 0 || strcmp(families[f].name, "mobilenet") == 0);
}

static void made_again_is_the_same_bf16(void)
{
    if (lacks_bf16())
        return;
    for (int f = 0; f < FAMILIES; f++)
        check_keep(&families[f], &bf16, false);
}

static void build_normalized(struct net *n)
{
    net_input(n, YS_F32, 3, 4, 6, 6);
    net_batchnorm(n, 1e-5, 0.1);
    net_relu(n);
    net_conv(n, 8, THREE, 1);
    net_flatten(n);
    net_gemm(n, 5, 1);
}

/** The first node of all. */
static void a_normalisation_of_the_pixels_is_made_again(void)
{
    check_keep(&(const struct family){"normalized", build_normalized}, &onednn2, true);
}

TAP_MAIN(TAP_CASE(a_normalisation_of_the_pixels_is_made_again), TAP_CASE(the_bound_is_what_all_values_take),
         TAP_CASE(the_bound_is_what_all_values_take_bf16), TAP_CASE(made_again_is_the_same),
         TAP_CASE(made_again_is_the_same_bf16))
