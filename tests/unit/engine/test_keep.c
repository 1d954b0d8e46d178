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

TAP_MAIN(TAP_CASE(made_again_is_the_same), TAP_CASE(made_again_is_the_same_bf16))
