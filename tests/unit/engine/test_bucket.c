/* The gradient in buckets: each is complete when it is given away, and nobody touches it afterwards. */
#include "unit/engine/families.h"

#include "base/status.h"
#include "engine/engine.h"

/* Doubles each bucket when it comes. */
struct doubler {
    size_t buckets, numbers, real_size;
    size_t least; /* numbers of a bucket but the last */
    size_t last;
    bool has_ended;
};

static int double_bucket(void *context, const struct ys_engine_span *spans, size_t count)
{
    struct doubler *d = context;
    CHECK(!d->has_ended && count > 0);
    if (d->buckets++ > 0)
        d->least = d->last < d->least ? d->last : d->least;
    d->last = 0;
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < spans[s].count; i++)
            if (d->real_size == sizeof(double))
                ((double *)spans[s].values)[i] *= 2;
            else
                ((float *)spans[s].values)[i] *= 2;
        d->last += spans[s].count;
    }
    d->numbers += d->last;
    return 0;
}

static int end_buckets(void *context)
{
    struct doubler *d = context;
    CHECK(!d->has_ended);
    d->has_ended = true;
    return 0;
}

/** How many buckets `bytes` makes; gradients are twice those of an engine that exchanges nothing, to the bit. */
static size_t check_doubled(const struct net *n, const struct backend_case *b, size_t bytes)
{
    struct ys_engine *plain = open_case(n, b), *doubled = open_case(n, b);
    if (!CHECK(plain && doubled))
        return 0;
    struct doubler d = {.real_size = ys_engine_real_size(doubled), .least = SIZE_MAX};
    const struct ys_engine_exchange exchange = {
        .bucket_bytes = bytes, .begin = double_bucket, .end = end_buckets, .context = &d};
    CHECK(ys_engine_set_exchange(doubled, &exchange) == 0);
    void *x = net_rows(n, "x");
    int64_t *y = net_labels(n, "y");
    size_t wrong = 0, spans = 0, all = 0;
    CHECK(ys_engine_backward(plain, x, y, YS_ENGINE_TRAIN, NULL) == 0);
    CHECK(ys_engine_backward(doubled, x, y, YS_ENGINE_TRAIN, NULL) == 0);
    CHECK(d.has_ended && d.buckets == ys_engine_bucket_count(doubled, &spans));
    CHECK(spans >= d.buckets && (d.buckets < 2 || d.least * d.real_size >= bytes));
    for (size_t p = 0; p < n->graph.param_count; p++) {
        const size_t count = (size_t)ys_param_elements(&n->graph.params[p]);
        double *one = calloc(count, sizeof *one), *two = calloc(count, sizeof *two);
        if (n->graph.params[p].role == YS_ROLE_WEIGHT) {
            CHECK(ys_engine_gradient_get(plain, p, YS_ENGINE_F64, one) == 0);
            CHECK(ys_engine_gradient_get(doubled, p, YS_ENGINE_F64, two) == 0);
            all += count;
        }
        for (size_t i = 0; i < count; i++)
            wrong += two[i] != 2 * one[i];
        free(one);
        free(two);
    }
    CHECK_INT((int)wrong, 0);
    CHECK(d.numbers >= all);
    ys_engine_close(plain);
    ys_engine_close(doubled);
    free(x);
    free(y);
    return d.buckets;
}

static void check_families(const struct backend_case *b)
{
    if (is_left_out(b->name))
        return;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct net n;
        size_t trained = 0;
        families[f].build(&n);
        for (size_t p = 0; p < n.graph.param_count; p++)
            trained += n.graph.params[p].role == YS_ROLE_WEIGHT;
        printf("# %s\n", families[f].name);
        CHECK_INT((int)check_doubled(&n, b, 1), (int)trained);
        CHECK(check_doubled(&n, b, 2048) <= trained);
        CHECK_INT((int)check_doubled(&n, b, 0), 1);
    }
}

static void buckets_are_complete_when_they_come_ref(void)
{
    check_families(&ref64);
}

static void buckets_are_complete_when_they_come_onednn(void)
{
    check_families(&onednn1);
}

static void buckets_are_complete_when_they_come_simd(void)
{
    check_families(&simd1);
}

/** That it is the doubled gradient which is clipped and taken, and the plain one again without an exchange. */
static void a_step_takes_what_the_exchange_leaves(void)
{
    struct net n;
    small_net(&n, 4);
    struct ys_engine_config config = config_of(&n, &ref64);
    config.optimizer.momentum = config.optimizer.weight_decay = 0;
    struct ys_engine *plain = open_with(&n, &config), *doubled = open_with(&n, &config);
    REQUIRE(plain && doubled);
    struct doubler d = {.real_size = sizeof(double), .least = SIZE_MAX};
    const struct ys_engine_exchange exchange = {
        .bucket_bytes = 1, .begin = double_bucket, .end = end_buckets, .context = &d};
    CHECK(ys_engine_set_exchange(doubled, &exchange) == 0);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    size_t count;
    for (int step = 0; step < 2; step++) { /* with the exchange, and without */
        CHECK(ys_engine_step(plain, x, y, step == 0 ? 0.5 : 0.25, NULL) == 0);
        CHECK(ys_engine_step(doubled, x, y, 0.25, NULL) == 0);
        CHECK(ys_engine_set_exchange(doubled, NULL) == 0);
        double *v = flat_of(plain, false, &count), *w = flat_of(doubled, false, &count);
        CHECK(memcmp(v, w, count * sizeof *v) == 0); /* factors of two round nothing */
        free(v);
        free(w);
    }
    ys_engine_close(plain);
    ys_engine_close(doubled);
    free(x);
    free(y);
}

static int refuse(void *context)
{
    (void)context;
    return ys_fail(YS_EIO, "rank 1 has gone");
}

static void an_exchange_that_fails_fails_the_step(void)
{
    struct net n;
    small_net(&n, 4);
    struct ys_engine *e = open_case(&n, &ref64);
    REQUIRE(e != NULL);
    struct doubler d = {.real_size = sizeof(double), .least = SIZE_MAX};
    const struct ys_engine_exchange exchange = {
        .bucket_bytes = 0, .begin = double_bucket, .end = refuse, .context = &d};
    CHECK(ys_engine_set_exchange(e, &exchange) == 0);
    CHECK(ys_engine_step(e, NULL, NULL, 0.1, NULL) != 0);
    CHECK_TEXT(ys_engine_error(), "rank 1 has gone");
    ys_engine_close(e);
}

TAP_MAIN(TAP_CASE(buckets_are_complete_when_they_come_ref), TAP_CASE(buckets_are_complete_when_they_come_onednn),
         TAP_CASE(buckets_are_complete_when_they_come_simd), TAP_CASE(a_step_takes_what_the_exchange_leaves),
         TAP_CASE(an_exchange_that_fails_fails_the_step))
