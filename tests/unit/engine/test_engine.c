/* The engine as a library: whole networks, the optimizer, and what a run must leave alone. */
#include "unit/engine/net.h"

#include "base/mem.h"
#include "base/status.h"
#include "tap.h"
#include <malloc.h>
#include <unistd.h>

#define FIVE ((struct ys_window){{5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 1})
#define THREE ((struct ys_window){{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1})
#define PAIRS ((struct ys_window){{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 2})
#define HALVE ((struct ys_window){{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1})
#define OVERLAP ((struct ys_window){{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1})

/* Where the library allocates: every malloc of the process is counted. A sanitizer brings its own malloc. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
static long malloc_calls;
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED);
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED);
    return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size)
{
    __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED);
    return __libc_realloc(block, size);
}
#else
static long malloc_calls;
#endif

struct backend_case {
    const char *name;
    enum ys_engine_precision precision;
    int threads;
};

static const struct backend_case ref64 = {"ref", YS_ENGINE_F64, 1}, ref32 = {"ref", YS_ENGINE_F32, 1},
                                 onednn1 = {"onednn", YS_ENGINE_F32, 1}, onednn2 = {"onednn", YS_ENGINE_F32, 2};

static struct ys_engine_config config_of(const struct net *n, const struct backend_case *b)
{
    return (struct ys_engine_config){.batch = n->batch, .precision = b->precision, .backend = b->name,
                                     .threads = b->threads, .training = true, .momentum = 0.9, .weight_decay = 5e-4};
}

static struct ys_engine *open_with(const struct net *n, const struct ys_engine_config *config)
{
    struct ys_engine *engine = NULL;
    CHECK_TEXT(ys_engine_open_graph(&n->graph, config, &engine) == 0 ? "" : ys_engine_error(), "");
    if (engine)
        CHECK(net_fill(engine, n, 0) == 0);
    return engine;
}

static struct ys_engine *open_case(const struct net *n, const struct backend_case *b)
{
    struct ys_engine_config config = config_of(n, b);
    return open_with(n, &config);
}

/** All parameters, or gradients, one after the other, as double. Free with free(). */
static double *flat_of(struct ys_engine *e, bool gradients, size_t *count)
{
    const struct ys_graph *g = ys_engine_graph(e);
    *count = 0;
    for (size_t p = 0; p < g->param_count; p++)
        *count += (size_t)ys_param_elements(&g->params[p]);
    double *all = malloc((*count + 1) * sizeof *all), *to = all;
    for (size_t p = 0; p < g->param_count; to += ys_param_elements(&g->params[p++]))
        CHECK((gradients ? ys_engine_gradient_get(e, p, YS_ENGINE_F64, to) : ys_engine_param_get(e, p, YS_ENGINE_F64, to)) == 0);
    return all;
}

static void small_net(struct net *n, int64_t batch)
{
    net_input(n, YS_U8, batch, 3, 9, 7);
    net_normalize(n, 3, 1.0 / 255);
    net_conv(n, 6, THREE, 1);
    net_relu(n);
    net_pool(n, HALVE);
    net_flatten(n);
    net_gemm(n, 11, 1);
    net_relu(n);
    net_gemm(n, 4, 1);
}

/* ---- the optimizer */

/** The formula of one step for one element, in the format of the engine. */
#define SGD(real, w, g, v, lr, lr_mult, decay, momentum, nesterov)                                                     \
    do {                                                                                                               \
        real d = (real)(g) + (real)(decay) * (real)(w);                                                                \
        real moved = (real)(momentum) * (real)(v) + d;                                                                 \
        (v) = moved;                                                                                                   \
        (w) = (real)(w) - (real)((lr) * (lr_mult)) * ((nesterov) ? d + (real)(momentum) * moved : moved);              \
    } while (0)

/** Six steps, the rate cut to a tenth after three, multipliers on two parameters, against the formula by hand. */
static void check_sgd(const struct backend_case *b, double momentum, bool nesterov)
{
    struct net n;
    small_net(&n, 5);
    n.params[1].lr_mult = 2;
    n.params[1].decay_mult = 0;
    n.params[2].lr_mult = 0.5;
    struct ys_engine_config config = config_of(&n, b);
    config.momentum = momentum;
    config.nesterov = nesterov;
    config.weight_decay = 0.01;
    struct ys_engine *e = open_with(&n, &config);
    REQUIRE(e != NULL);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    size_t count;
    double *w = flat_of(e, false, &count), *v = calloc(count, sizeof *v);
    for (int step = 0; step < 6; step++) {
        double lr = step < 3 ? 0.1 : 0.01, worst = 0;
        CHECK(ys_engine_backward(e, x, y, YS_ENGINE_TRAIN, NULL) == 0);
        double *g = flat_of(e, true, &count);
        for (size_t i = 0, p = 0, end = 0; i < count; i++) {
            while (i >= end + (size_t)ys_param_elements(&n.params[p]))
                end += (size_t)ys_param_elements(&n.params[p++]);
            double decay = 0.01 * n.params[p].decay_mult;
            if (b->precision == YS_ENGINE_F64)
                SGD(double, w[i], g[i], v[i], lr, n.params[p].lr_mult, decay, momentum, nesterov);
            else
                SGD(float, w[i], g[i], v[i], lr, n.params[p].lr_mult, decay, momentum, nesterov);
        }
        CHECK(ys_engine_step(e, x, y, lr, NULL) == 0);
        double *now = flat_of(e, false, &count);
        for (size_t i = 0; i < count; i++)
            worst = fmax(worst, fabs(now[i] - w[i]));
        CHECK_NEAR(worst, 0, 0); /* the same operations in the same order, none contracted: the same bits */
        free(g);
        free(now);
    }
    CHECK_INT(ys_engine_counters(e).steps, 6);
    ys_engine_close(e);
    free(w);
    free(v);
    free(x);
    free(y);
}

static void sgd_momentum_ref_f64(void)
{
    check_sgd(&ref64, 0.9, false);
}

static void sgd_momentum_ref_f32(void)
{
    check_sgd(&ref32, 0.9, false);
}

static void sgd_momentum_onednn(void)
{
    check_sgd(&onednn2, 0.9, false);
}

static void sgd_nesterov_ref(void)
{
    check_sgd(&ref64, 0.8, true);
}

static void sgd_nesterov_onednn(void)
{
    check_sgd(&onednn2, 0.8, true);
}

static void sgd_without_momentum_ref(void)
{
    check_sgd(&ref64, 0, false);
}

static void sgd_without_momentum_onednn(void)
{
    check_sgd(&onednn2, 0, false);
}

/* ---- whole networks: onednn against ref in double */

static double norm_of_difference(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* A chain of L sums with at most K terms each has a normwise error of at most about L K u, u = 2^-24, of the same chain over
 * absolute values; random signs make that some sqrt(K) times the result. For these nets (L <= 5, K <= 3136) the rms
 * expectation is L sqrt(K) u = 2e-5; a wrong layout, mask or convention gives differences of the order of one. */
static const double chain_tolerance = 1e-4;

static void compare_nets(const struct net *n, const struct backend_case *b)
{
    struct ys_engine *r = open_case(n, &ref64), *o = open_case(n, b);
    REQUIRE(r && o);
    void *x = net_rows(n, "x");
    int64_t *y = net_labels(n, "y");
    double expected = NAN, loss = NAN;
    CHECK(ys_engine_backward(r, x, y, YS_ENGINE_TRAIN, &expected) == 0);
    CHECK(ys_engine_backward(o, x, y, YS_ENGINE_TRAIN, &loss) == 0);
    CHECK_NEAR(loss, expected, chain_tolerance * expected);
    for (size_t p = 0; p < n->graph.param_count; p++) {
        size_t count = (size_t)ys_param_elements(&n->params[p]);
        double *a = malloc(count * sizeof *a), *c = malloc(count * sizeof *c), *zero = calloc(count, sizeof *zero);
        CHECK(ys_engine_gradient_get(r, p, YS_ENGINE_F64, a) == 0 && ys_engine_gradient_get(o, p, YS_ENGINE_F64, c) == 0);
        double difference = norm_of_difference(a, c, count), size = norm_of_difference(a, zero, count);
        tap_check(size > 0 && difference <= chain_tolerance * size, __LINE__, "gradient of %s differs by %g of itself",
                  n->params[p].name, difference / size);
        free(a);
        free(c);
        free(zero);
    }
    ys_engine_close(r);
    ys_engine_close(o);
    free(x);
    free(y);
}

static void lenet_onednn_agrees_with_ref(void)
{
    struct net n;
    net_lenet(&n, 8);
    compare_nets(&n, &onednn2);
}

static void lenet_ref_f32_agrees_with_ref_f64(void)
{
    struct net n;
    net_lenet(&n, 4);
    compare_nets(&n, &ref32);
}

static void small_net_onednn_agrees_with_ref(void)
{
    struct net n;
    small_net(&n, 3);
    compare_nets(&n, &onednn2);
}

static void mlp_onednn_agrees_with_ref(void)
{
    struct net n;
    net_input(&n, YS_U8, 16, 1, 28, 28);
    net_normalize(&n, 1, 1.0 / 255);
    net_flatten(&n);
    net_gemm(&n, 65, 1);
    net_relu(&n);
    net_gemm(&n, 33, 0);
    net_relu(&n);
    net_gemm(&n, 10, 1);
    compare_nets(&n, &onednn2);
}

/** Channels that fill no block: rows before Flatten are padded in memory, so they must be put in order. */
static void odd_channels_before_flatten_agree(void)
{
    struct net n;
    net_input(&n, YS_F32, 4, 3, 8, 8);
    net_conv(&n, 19, THREE, 1);
    net_relu(&n);
    net_conv(&n, 21, OVERLAP, 1);
    net_relu(&n);
    net_flatten(&n);
    net_gemm(&n, 5, 1);
    compare_nets(&n, &onednn2);
}

/** ReLU behind a pool, and behind nothing; groups; a pool with overlap behind ReLU; convolution without ReLU. */
static void relus_in_odd_places_agree(void)
{
    struct net n;
    net_input(&n, YS_F32, 3, 4, 11, 9);
    net_relu(&n);
    net_conv(&n, 16, PAIRS, 1);
    net_pool(&n, OVERLAP);
    net_relu(&n);
    net_conv(&n, 32, THREE, 0);
    net_relu(&n);
    net_pool(&n, OVERLAP);
    net_relu(&n);
    net_conv(&n, 8, THREE, 1);
    net_flatten(&n);
    net_relu(&n);
    net_gemm(&n, 6, 1);
    compare_nets(&n, &onednn2);
}

/** Logits straight from Flatten, and from a ReLU. */
static void logits_without_a_product_agree(void)
{
    struct net n;
    net_input(&n, YS_U8, 3, 2, 6, 6);
    net_normalize(&n, 1, 1.0 / 255);
    net_conv(&n, 17, FIVE, 1);
    net_pool(&n, HALVE);
    net_flatten(&n);
    net_relu(&n);
    compare_nets(&n, &onednn2);
}

static void two_flattens_agree(void)
{
    struct net n;
    net_input(&n, YS_F32, 3, 2, 6, 6);
    net_conv(&n, 16, THREE, 1);
    net_flatten(&n);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    compare_nets(&n, &onednn2);
}

/* ---- what a run leaves alone, and what it repeats */

static void check_passes_change_nothing(const struct backend_case *b)
{
    struct net n;
    small_net(&n, 4);
    struct ys_engine *quiet = open_case(&n, b), *busy = open_case(&n, b);
    REQUIRE(quiet && busy);
    void *x = net_rows(&n, "x"), *other = net_rows(&n, "other");
    int64_t *y = net_labels(&n, "y");
    size_t count;
    for (int step = 0; step < 3; step++) {
        double *before = flat_of(busy, false, &count);
        CHECK(ys_engine_forward(busy, other, y, YS_ENGINE_EVAL, NULL) == 0);
        CHECK(ys_engine_backward(busy, other, y, YS_ENGINE_TRAIN, NULL) == 0);
        double *after = flat_of(busy, false, &count);
        CHECK(memcmp(before, after, count * sizeof *before) == 0);
        CHECK_INT(ys_engine_counters(busy).steps, step);
        CHECK(ys_engine_step(busy, x, y, 0.1, NULL) == 0 && ys_engine_step(quiet, x, y, 0.1, NULL) == 0);
        free(before);
        free(after);
    }
    double *a = flat_of(quiet, false, &count), *c = flat_of(busy, false, &count);
    CHECK(memcmp(a, c, count * sizeof *a) == 0); /* momenta were left alone too */
    ys_engine_close(quiet);
    ys_engine_close(busy);
    free(a);
    free(c);
    free(x);
    free(other);
    free(y);
}

static void passes_change_nothing_ref(void)
{
    check_passes_change_nothing(&ref64);
}

static void passes_change_nothing_onednn(void)
{
    check_passes_change_nothing(&onednn2);
}

/** Ten steps in two engines; the second one guarded if asked. */
static void check_same_bits(const struct backend_case *b, bool guarded)
{
    struct net n;
    net_lenet(&n, 8);
    struct ys_engine_config config = config_of(&n, b);
    struct ys_engine *first = open_with(&n, &config);
    config.guarded = guarded;
    struct ys_engine *second = open_with(&n, &config);
    REQUIRE(first && second);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    for (int step = 0; step < 10; step++) {
        double a = NAN, c = NAN;
        CHECK(ys_engine_step(first, x, y, 0.01, &a) == 0 && ys_engine_step(second, x, y, 0.01, &c) == 0);
        CHECK_NEAR(a, c, 0);
    }
    size_t count;
    double *v = flat_of(first, false, &count), *w = flat_of(second, false, &count);
    CHECK(memcmp(v, w, count * sizeof *v) == 0);
    if (guarded)
        CHECK_TEXT(ys_engine_check(second) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(first);
    ys_engine_close(second);
    free(v);
    free(w);
    free(x);
    free(y);
}

static void runs_repeat_to_the_bit_ref(void)
{
    check_same_bits(&ref64, false);
}

static void runs_repeat_to_the_bit_onednn_1_thread(void)
{
    check_same_bits(&onednn1, false);
}

static void runs_repeat_to_the_bit_onednn_2_threads(void)
{
    check_same_bits(&onednn2, false);
}

/** Guarded engines share no memory and start from NaN: equal results mean that sharing overwrites nothing in use. */
static void shared_memory_changes_nothing_ref(void)
{
    check_same_bits(&ref64, true);
}

static void shared_memory_changes_nothing_onednn(void)
{
    check_same_bits(&onednn2, true);
}

static void check_reset(const struct backend_case *b)
{
    struct net n;
    small_net(&n, 4);
    struct ys_engine *e = open_case(&n, b);
    REQUIRE(e != NULL);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    double *once[2];
    size_t count = 0;
    for (int k = 0; k < 2; k++) {
        for (int step = 0; step < 4; step++)
            CHECK(ys_engine_step(e, x, y, 0.1, NULL) == 0);
        once[k] = flat_of(e, false, &count);
        ys_engine_reset(e);
        CHECK_INT(ys_engine_counters(e).steps, 0);
        CHECK(net_fill(e, &n, 0) == 0);
    }
    CHECK(memcmp(once[0], once[1], count * sizeof *once[0]) == 0);
    ys_engine_close(e);
    free(once[0]);
    free(once[1]);
    free(x);
    free(y);
}

static void reset_forgets_momenta_ref(void)
{
    check_reset(&ref64);
}

static void reset_forgets_momenta_onednn(void)
{
    check_reset(&onednn2);
}

static void check_inference(const struct backend_case *b)
{
    struct net n;
    net_lenet(&n, 4);
    struct ys_engine_config config = config_of(&n, b);
    struct ys_engine *trainer = open_with(&n, &config);
    config.training = false;
    struct ys_engine *reader = open_with(&n, &config);
    REQUIRE(trainer && reader);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    CHECK(ys_engine_forward(trainer, x, y, YS_ENGINE_EVAL, NULL) == 0);
    CHECK(ys_engine_forward(reader, x, y, YS_ENGINE_EVAL, NULL) == 0);
    for (int i = 0; i < 40; i++) /* oneDNN may choose other kernels, which add in another order */
        if (b->precision == YS_ENGINE_F64)
            CHECK_NEAR(((const double *)ys_engine_logits(reader))[i], ((const double *)ys_engine_logits(trainer))[i], 0);
        else
            CHECK_NEAR(((const float *)ys_engine_logits(reader))[i], ((const float *)ys_engine_logits(trainer))[i],
                       chain_tolerance);
    CHECK(ys_engine_counters(reader).arena_bytes < ys_engine_counters(trainer).arena_bytes);
    CHECK_INT(ys_engine_backward(reader, x, y, YS_ENGINE_TRAIN, NULL), YS_EINVAL);
    CHECK_HAS(ys_engine_error(), "inference");
    ys_engine_close(trainer);
    ys_engine_close(reader);
    free(x);
    free(y);
}

static void inference_gives_the_same_logits_ref(void)
{
    check_inference(&ref64);
}

static void inference_gives_the_same_logits_onednn(void)
{
    check_inference(&onednn2);
}

static void check_learning(const struct backend_case *b, int64_t batch)
{
    struct net n;
    net_lenet(&n, batch);
    struct ys_engine *e = open_case(&n, b);
    REQUIRE(e != NULL);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    double first = NAN, loss = NAN;
    CHECK(ys_engine_step(e, x, y, 0.01, &first) == 0);
    for (int step = 0; step < 40; step++)
        CHECK(ys_engine_step(e, x, y, 0.01, &loss) == 0);
    CHECK(first > 1.5 && loss < 0.3 * first); /* eight rows learnt by heart, from about log(10) */
    CHECK(ys_engine_counters(e).arena_bytes < ys_engine_counters(e).requested_bytes);
    ys_engine_close(e);
    free(x);
    free(y);
}

static void lenet_learns_ref(void)
{
    check_learning(&ref64, 4);
}

static void lenet_learns_onednn(void)
{
    check_learning(&onednn2, 8);
}

/* ---- memory */

/** malloc calls and the growth of what is in use, over 20 steps after a first one. */
static void check_allocations(const struct backend_case *b, long *calls, long *growth)
{
    struct net n;
    net_lenet(&n, 8);
    struct ys_engine *e = open_case(&n, b);
    REQUIRE(e != NULL);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    CHECK(ys_engine_step(e, x, y, 0.01, NULL) == 0);
    ys_mem_fail_at(1); /* from here on any allocation through base/mem.h fails */
    long calls_before = malloc_calls;
    struct mallinfo2 before = mallinfo2();
    for (int step = 0; step < 20; step++)
        if (ys_engine_step(e, x, y, 0.01, NULL) != 0)
            CHECK_TEXT(ys_engine_error(), "");
    struct mallinfo2 after = mallinfo2();
    *calls = malloc_calls - calls_before;
    *growth = (long)(after.uordblks + after.hblkhd) - (long)(before.uordblks + before.hblkhd);
    ys_mem_fail_at(0);
    ys_engine_close(e);
    free(x);
    free(y);
}

/** Proves: no malloc, calloc or realloc by anything in the process. */
static void steps_allocate_nothing_ref(void)
{
    if (SANITIZED) {
        tap_skip("a sanitizer replaces malloc");
        return;
    }
    long calls = -1, growth = -1;
    check_allocations(&ref64, &calls, &growth);
    CHECK_INT(calls, 0);
    CHECK_INT(growth, 0);
}

/** Proves: nothing through base/mem.h, and no byte more in use afterwards. oneDNN takes a few small blocks a call for its
 * argument tables and gives them back; that is counted here so that a change is noticed: at most 64 a primitive. */
static void steps_keep_no_memory_onednn(void)
{
    if (SANITIZED) {
        tap_skip("a sanitizer replaces malloc");
        return;
    }
    long calls = -1, growth = -1;
    check_allocations(&onednn2, &calls, &growth);
    CHECK(calls >= 0 && calls <= 20L * 64 * 22);
    CHECK_INT(growth, 0);
}

/** Whatever allocation of ours fails, open says so and leaves nothing behind (the sanitizer build looks for leaks). */
static void check_failing_allocations(const struct backend_case *b)
{
    struct net n;
    small_net(&n, 2);
    struct ys_engine_config config = config_of(&n, b);
    config.input_gradient = true;
    int failures = 0;
    for (long at = 1; at < 1000; at++) {
        struct ys_engine *e = NULL;
        ys_mem_fail_at(at);
        int status = ys_engine_open_graph(&n.graph, &config, &e);
        ys_mem_fail_at(0);
        ys_engine_close(e);
        if (status == 0)
            break;
        failures++;
        CHECK_INT(status, YS_ENOMEM);
    }
    CHECK(failures > 10 && failures < 500);
}

static void open_survives_lack_of_memory_ref(void)
{
    check_failing_allocations(&ref64);
}

static void open_survives_lack_of_memory_onednn(void)
{
    check_failing_allocations(&onednn2);
}

/* ---- errors and files */

static int open_status(const struct net *n, struct ys_engine_config config)
{
    struct ys_engine *e = NULL;
    int status = ys_engine_open_graph(&n->graph, &config, &e);
    ys_engine_close(e);
    return status;
}

static void wrong_settings_are_named(void)
{
    struct net n;
    small_net(&n, 2);
    struct ys_engine_config good = config_of(&n, &ref64), c = good;
    CHECK_INT(open_status(&n, good), 0);
    c.batch = 0;
    CHECK_INT(open_status(&n, c), YS_EINVAL);
    CHECK_HAS(ys_engine_error(), "batch");
    c = good;
    c.threads = 0;
    CHECK_INT(open_status(&n, c), YS_EINVAL);
    CHECK_HAS(ys_engine_error(), "threads");
    c = good;
    c.precision = YS_ENGINE_BF16;
    CHECK_INT(open_status(&n, c), YS_EUNSUPPORTED);
    CHECK_HAS(ys_engine_error(), "bf16");
    c = good;
    c.backend = "cudnn";
    CHECK_INT(open_status(&n, c), YS_EINVAL);
    CHECK_HAS(ys_engine_error(), "cudnn");
    c.backend = "onednn";
    CHECK_INT(open_status(&n, c), YS_EUNSUPPORTED);
    CHECK_HAS(ys_engine_error(), "onednn");
    CHECK_HAS(ys_engine_error(), "f64");
}

static void auto_takes_onednn_for_float_and_ref_for_double(void)
{
    struct net n;
    small_net(&n, 2);
    struct ys_engine_config config = config_of(&n, &ref64);
    config.backend = "auto";
    struct ys_engine *e = open_with(&n, &config);
    REQUIRE(e != NULL);
    CHECK_TEXT(ys_engine_backend(e), "ref");
    CHECK_TEXT(ys_engine_library(e), "");
    ys_engine_close(e);
    config.backend = NULL;
    config.precision = YS_ENGINE_F32;
    e = open_with(&n, &config);
    REQUIRE(e != NULL);
    CHECK_TEXT(ys_engine_backend(e), "onednn");
    CHECK_HAS(ys_engine_library(e), "oneDNN");
    ys_engine_close(e);
}

static void labels_outside_the_classes_are_refused(void)
{
    struct net n;
    small_net(&n, 2);
    struct ys_engine *e = open_case(&n, &ref64);
    REQUIRE(e != NULL);
    void *x = net_rows(&n, "x");
    CHECK_INT(ys_engine_forward(e, x, (int64_t[]){0, 4}, YS_ENGINE_EVAL, NULL), YS_EINVAL);
    CHECK_HAS(ys_engine_error(), "label 4 of row 1");
    CHECK_INT(ys_engine_step(e, x, (int64_t[]){-1, 0}, 0.1, NULL), YS_EINVAL);
    ys_engine_close(e);
    free(x);
}

static void a_value_that_is_read_twice_is_refused(void)
{
    struct net n;
    net_input(&n, YS_F32, 2, 2, 4, 4);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    net_relu(&n);
    n.nodes[2].in_count = 2;
    n.nodes[2].in[1] = n.nodes[2].in[0];
    struct ys_engine_config config = config_of(&n, &ref64);
    CHECK_INT(open_status(&n, config), YS_EUNSUPPORTED);
    CHECK_HAS(ys_engine_error(), "v2");
}

/** A node whose result nobody reads costs nothing and has no gradient. */
static void dead_nodes_are_left_out(void)
{
    struct net n;
    net_input(&n, YS_F32, 2, 2, 4, 4);
    net_flatten(&n);
    int alive = n.last;
    net_gemm(&n, 3, 1);
    net_gemm(&n, 5, 1); /* dead: made the output below is the node after it */
    n.last = alive;
    n.graph.output = n.nodes[1].out[0];
    for (int k = 0; k < 2; k++) {
        struct ys_engine *e = open_case(&n, k ? &onednn2 : &ref64);
        REQUIRE(e != NULL);
        void *x = net_rows(&n, "x");
        int64_t *y = net_labels(&n, "y");
        CHECK(ys_engine_backward(e, x, y, YS_ENGINE_TRAIN, NULL) == 0);
        double g[15];
        CHECK(ys_engine_gradient_get(e, 2, YS_ENGINE_F64, g) == 0);
        for (int i = 0; i < 15; i++)
            CHECK_NEAR(g[i], 0, 0);
        ys_engine_close(e);
        free(x);
        free(y);
    }
}

static void check_files(const struct backend_case *b)
{
    struct net n;
    net_lenet(&n, 2);
    struct ys_engine *e = open_case(&n, b), *other = open_case(&n, b);
    REQUIRE(e && other);
    char path[] = "/tmp/ys-engine-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    CHECK_TEXT(ys_engine_save(e, path) == 0 ? "" : ys_engine_error(), "");
    size_t count;
    double *before = flat_of(other, false, &count);
    for (size_t p = 0; p < n.graph.param_count; p++) {
        float *zero = calloc((size_t)ys_param_elements(&n.params[p]), sizeof *zero);
        CHECK(ys_engine_param_set(other, p, YS_ENGINE_F32, zero) == 0);
        free(zero);
    }
    CHECK_TEXT(ys_engine_load(other, path) == 0 ? "" : ys_engine_error(), "");
    double *after = flat_of(other, false, &count);
    CHECK(memcmp(before, after, count * sizeof *before) == 0);
    strcpy(n.param_names[3], "absent");
    CHECK(ys_engine_load(other, path) != 0);
    CHECK_HAS(ys_engine_error(), "absent");
    CHECK(ys_engine_load(other, "/nonexistent/file") != 0);
    unlink(path);
    ys_engine_close(e);
    ys_engine_close(other);
    free(before);
    free(after);
}

static void weights_survive_a_file_ref(void)
{
    check_files(&ref64);
}

static void weights_survive_a_file_onednn(void)
{
    check_files(&onednn2);
}

/** By hand: two rows of two classes through a product with known weights. */
static void loss_of_known_logits(void)
{
    struct net n;
    net_input(&n, YS_F32, 2, 2, 1, 1);
    net_flatten(&n);
    net_gemm(&n, 2, 0);
    for (int k = 0; k < 2; k++) {
        struct ys_engine *e = open_case(&n, k ? &onednn2 : &ref64);
        REQUIRE(e != NULL);
        CHECK(ys_engine_param_set(e, 0, YS_ENGINE_F64, (double[]){1, 0, 0, 1}) == 0);
        double loss = NAN;
        CHECK(ys_engine_forward(e, (float[]){1, 3, 1000, 0}, (int64_t[]){0, 1}, YS_ENGINE_EVAL, &loss) == 0);
        /* (log(1 + e^2) + 1000) / 2; in float rounded once: half a unit of 2^-15 */
        CHECK_NEAR(loss, (log1p(exp(2)) + 1000) / 2, k ? 0x1p-15 : 1e-12);
        ys_engine_close(e);
    }
}

TAP_MAIN(TAP_CASE(sgd_momentum_ref_f64), TAP_CASE(sgd_momentum_ref_f32), TAP_CASE(sgd_momentum_onednn),
         TAP_CASE(sgd_nesterov_ref), TAP_CASE(sgd_nesterov_onednn), TAP_CASE(sgd_without_momentum_ref),
         TAP_CASE(sgd_without_momentum_onednn), TAP_CASE(lenet_onednn_agrees_with_ref),
         TAP_CASE(lenet_ref_f32_agrees_with_ref_f64), TAP_CASE(small_net_onednn_agrees_with_ref),
         TAP_CASE(mlp_onednn_agrees_with_ref), TAP_CASE(odd_channels_before_flatten_agree),
         TAP_CASE(relus_in_odd_places_agree), TAP_CASE(logits_without_a_product_agree), TAP_CASE(two_flattens_agree),
         TAP_CASE(passes_change_nothing_ref), TAP_CASE(passes_change_nothing_onednn), TAP_CASE(runs_repeat_to_the_bit_ref),
         TAP_CASE(runs_repeat_to_the_bit_onednn_1_thread), TAP_CASE(runs_repeat_to_the_bit_onednn_2_threads),
         TAP_CASE(shared_memory_changes_nothing_ref), TAP_CASE(shared_memory_changes_nothing_onednn),
         TAP_CASE(reset_forgets_momenta_ref), TAP_CASE(reset_forgets_momenta_onednn),
         TAP_CASE(inference_gives_the_same_logits_ref), TAP_CASE(inference_gives_the_same_logits_onednn),
         TAP_CASE(lenet_learns_ref), TAP_CASE(lenet_learns_onednn), TAP_CASE(steps_allocate_nothing_ref),
         TAP_CASE(steps_keep_no_memory_onednn), TAP_CASE(open_survives_lack_of_memory_ref),
         TAP_CASE(open_survives_lack_of_memory_onednn), TAP_CASE(wrong_settings_are_named),
         TAP_CASE(auto_takes_onednn_for_float_and_ref_for_double), TAP_CASE(labels_outside_the_classes_are_refused),
         TAP_CASE(a_value_that_is_read_twice_is_refused), TAP_CASE(dead_nodes_are_left_out),
         TAP_CASE(weights_survive_a_file_ref), TAP_CASE(weights_survive_a_file_onednn), TAP_CASE(loss_of_known_logits))
