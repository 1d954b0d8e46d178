/* The engine as a library: what a run must leave alone and repeat, memory, errors, files. */
#include "unit/engine/families.h"

#include "base/mem.h"
#include "base/status.h"
#include <malloc.h>
#include <unistd.h>

/* Where the library allocates: every malloc of the process is counted, where it is that of the GNU C library: a
 * sanitizer brings its own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OTHER_MALLOC 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define OTHER_MALLOC 1
#endif
#ifndef OTHER_MALLOC
#define OTHER_MALLOC 0
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
#ifdef __wasm__
#define mallinfo2 mallinfo
#endif

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

static void passes_change_nothing_simd(void)
{
    check_passes_change_nothing(&simd2);
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

static void runs_repeat_to_the_bit_simd_1_thread(void)
{
    check_same_bits(&simd1, false);
}

static void runs_repeat_to_the_bit_onednn_2_threads(void)
{
    check_same_bits(&onednn2, false);
}

static void runs_repeat_to_the_bit_simd_2_threads(void)
{
    check_same_bits(&simd2, false);
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

static void shared_memory_changes_nothing_simd(void)
{
    check_same_bits(&simd2, true);
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
            CHECK_NEAR(((const double *)ys_engine_logits(reader))[i], ((const double *)ys_engine_logits(trainer))[i],
                       0);
        else
            CHECK_NEAR(((const float *)ys_engine_logits(reader))[i], ((const float *)ys_engine_logits(trainer))[i],
                       1e-4); /* sums of 3136 terms of the order of one and below: 3136 u = 2e-4 at the very worst */
    CHECK(ys_engine_counters(reader).arena_bytes < ys_engine_counters(trainer).arena_bytes);
    CHECK_INT(ys_engine_backward(reader, x, y, YS_ENGINE_TRAIN, NULL), YS_EINVAL);
    CHECK_HAS(ys_engine_error(), "inference");
    CHECK_INT(ys_engine_forward(reader, x, y, YS_ENGINE_TRAIN, NULL), YS_EINVAL);
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

static void inference_gives_the_same_logits_simd(void)
{
    check_inference(&simd2);
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

static void lenet_learns_simd(void)
{
    check_learning(&simd2, 8);
}

/* ---- memory */

/** malloc calls and the growth of what is in use, over 20 steps after the first `before`; the calls of the program. */
static size_t check_allocations(const struct family *f, const struct backend_case *b, int before, long *calls,
                                long *growth)
{
    struct net n;
    *calls = *growth = 0;
    f->build(&n);
    struct ys_engine *e = open_case(&n, b);
    if (!e)
        return 0;
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    for (int step = 0; step < before; step++)
        CHECK(ys_engine_step(e, x, y, 0.01, NULL) == 0);
    ys_mem_fail_at(1); /* from here on any allocation through base/mem.h fails */
    *growth = 1;
    for (int window = 0; window < 10 && *growth != 0; window++) {
        long calls_before = malloc_calls;
        struct mallinfo2 start = mallinfo2();
        for (int step = 0; step < 20; step++)
            if (ys_engine_step(e, x, y, 0.01, NULL) != 0)
                CHECK_TEXT(ys_engine_error(), "");
        struct mallinfo2 after = mallinfo2();
        *calls = malloc_calls - calls_before;
        *growth = (long)(after.uordblks + after.hblkhd) - (long)(start.uordblks + start.hblkhd);
    }
    ys_mem_fail_at(0);
    size_t program_calls = ys_engine_counters(e).calls;
    ys_engine_close(e);
    free(x);
    free(y);
    return program_calls;
}

/** Proves: no malloc, calloc or realloc by anything in the process. */
static void steps_allocate_nothing_ref(void)
{
    if (OTHER_MALLOC) {
        tap_skip("malloc is not that of the GNU C library");
        return;
    }
    for (int f = 0; f < FAMILIES; f++) {
        long calls = -1, growth = -1;
        check_allocations(&families[f], &ref64, 1, &calls, &growth);
        CHECK_INT(calls, 0);
        CHECK_INT(growth, 0);
    }
}

/** Proves: nothing through base/mem.h, and no byte more in use afterwards. oneDNN takes a few small blocks a call for
 * its argument tables and gives them back; that is counted here so that a change is noticed: at most 64 a call. What
 * it gives back stays with malloc's per-thread lists until these are full, which takes some steps: of ten windows of
 * 20 steps one has to show no growth. What keeps a byte a step grows in all of them. */
static void check_onednn_memory(const struct backend_case *b)
{
    if (is_left_out(b->name))
        return;
    if (OTHER_MALLOC) {
        tap_skip("malloc is not that of the GNU C library");
        return;
    }
    for (int f = 0; f < FAMILIES; f++) {
        long calls = -1, growth = -1;
        size_t program_calls = check_allocations(&families[f], b, 20, &calls, &growth);
        CHECK(calls >= 0 && calls <= 20L * 64 * (long)program_calls);
        CHECK_INT(growth, 0);
    }
}

static void steps_keep_no_memory_onednn(void)
{
    check_onednn_memory(&onednn2);
}

static void steps_keep_no_memory_bf16(void)
{
    if (lacks_bf16())
        return;
    check_onednn_memory(&bf16);
}

/** Whatever allocation of ours fails, open says so and leaves nothing behind (the sanitizer build looks for leaks). */
static void check_failing_allocations(const struct family *f, const struct backend_case *b)
{
    enum { LIMIT = 5000 };
    struct net n;
    f->build(&n);
    struct ys_engine_config config = config_of(&n, b);
    config.input_gradient = true;
    int failures = 0;
    if (is_left_out(b->name))
        return;
    for (long at = 1; at < LIMIT; at++) {
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
    CHECK(failures > 10 && failures < LIMIT - 1);
}

static void open_survives_lack_of_memory_ref(void)
{
    for (int f = 0; f < FAMILIES; f++)
        check_failing_allocations(&families[f], &ref64);
}

static void open_survives_lack_of_memory_onednn(void)
{
    for (int f = 0; f < FAMILIES; f++)
        check_failing_allocations(&families[f], &onednn2);
}

static void open_survives_lack_of_memory_simd(void)
{
    for (int f = 0; f < FAMILIES; f++)
        check_failing_allocations(&families[f], &simd2);
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
    CHECK_HAS(ys_engine_error(), ys_backend_left_out("onednn") ? "install" : "f64");
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
    if (is_left_out("onednn"))
        return;
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

/** Buffers too: normalised networks keep theirs in the file. */
static void check_files(const struct backend_case *b)
{
    struct net n;
    family_resnet(&n);
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

static void weights_survive_a_file_simd(void)
{
    check_files(&simd2);
}

/** A product with `out` columns and its file, which other networks then read. */
static void save_product(int64_t out, int bias, const char *path)
{
    struct net n;
    net_input(&n, YS_F32, 2, 2, 1, 1);
    net_flatten(&n);
    net_gemm(&n, out, bias);
    struct ys_engine *e = open_case(&n, &ref64);
    CHECK(e && ys_engine_save(e, path) == 0);
    ys_engine_close(e);
}

static void files_of_other_networks_are_refused(void)
{
    struct net n;
    net_input(&n, YS_F32, 2, 2, 1, 1);
    net_flatten(&n);
    net_gemm(&n, 2, 0);
    struct ys_engine *e = open_case(&n, &ref64);
    REQUIRE(e != NULL);
    char path[] = "/tmp/ys-engine-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    save_product(2, 0, path);
    CHECK_INT(ys_engine_load(e, path), 0);
    save_product(5, 0, path); /* p0 has another shape */
    CHECK_INT(ys_engine_load(e, path), YS_EFORMAT);
    CHECK_HAS(ys_engine_error(), path);
    CHECK_HAS(ys_engine_error(), "p0");
    CHECK_HAS(ys_engine_error(), "[5, 2]");
    CHECK_HAS(ys_engine_error(), "[2, 2]");
    save_product(2, 1, path); /* p1 is its bias */
    CHECK_INT(ys_engine_load(e, path), YS_EFORMAT);
    CHECK_HAS(ys_engine_error(), path);
    CHECK_HAS(ys_engine_error(), "p1");
    ys_engine_close(e);
    unlink(path);
}

/** What the caller has at absent connections never gets in, and steps leave it out. */
static void check_connections(const struct backend_case *b)
{
    struct net n;
    family_torch(&n);
    struct ys_engine *e = open_case(&n, b);
    REQUIRE(e != NULL);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    const struct ys_node *node = NULL;
    for (size_t i = 0; i < n.graph.node_count; i++)
        node = ys_node_connections(&n.nodes[i]) ? &n.nodes[i] : node;
    size_t count = (size_t)ys_param_elements(&n.params[node->weight]), area = 9;
    float *w = malloc(count * sizeof *w), *g = malloc(count * sizeof *g);
    for (int t = 0; t < 3; t++) {
        CHECK(ys_engine_param_get(e, (size_t)node->weight, YS_ENGINE_F32, w) == 0);
        int wrong = 0;
        for (size_t i = 0; i < count; i++)
            wrong += (w[i] != 0) != node->connected[i / area];
        CHECK_INT(wrong, 0);
        CHECK(ys_engine_step(e, x, y, 0.1, NULL) == 0);
        CHECK(ys_engine_gradient_get(e, (size_t)node->weight, YS_ENGINE_F32, g) == 0);
        for (size_t i = 0; i < count; i++)
            wrong += g[i] != 0 && !node->connected[i / area];
        CHECK_INT(wrong, 0);
    }
    ys_engine_close(e);
    free(w);
    free(g);
    free(x);
    free(y);
}

static void absent_connections_stay_absent_ref(void)
{
    check_connections(&ref64);
}

static void absent_connections_stay_absent_onednn(void)
{
    check_connections(&onednn2);
}

static void absent_connections_stay_absent_simd(void)
{
    check_connections(&simd2);
}

static void buffers_have_no_gradient(void)
{
    struct net n;
    family_resnet(&n);
    struct ys_engine *e = open_case(&n, &ref64);
    REQUIRE(e != NULL);
    size_t buffers = 0;
    double g[64];
    for (size_t p = 0; p < n.graph.param_count; p++)
        if (n.params[p].role == YS_ROLE_BUFFER) {
            CHECK_INT(ys_engine_gradient_get(e, p, YS_ENGINE_F64, g), YS_EINVAL);
            CHECK_HAS(ys_engine_error(), n.params[p].name);
            buffers++;
        }
    CHECK(buffers > 0);
    ys_engine_close(e);
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

TAP_MAIN(TAP_CASE(passes_change_nothing_ref), TAP_CASE(passes_change_nothing_onednn),
         TAP_CASE(passes_change_nothing_simd), TAP_CASE(runs_repeat_to_the_bit_ref),
         TAP_CASE(runs_repeat_to_the_bit_onednn_1_thread), TAP_CASE(runs_repeat_to_the_bit_simd_1_thread),
         TAP_CASE(runs_repeat_to_the_bit_onednn_2_threads), TAP_CASE(runs_repeat_to_the_bit_simd_2_threads),
         TAP_CASE(shared_memory_changes_nothing_ref), TAP_CASE(shared_memory_changes_nothing_onednn),
         TAP_CASE(shared_memory_changes_nothing_simd), TAP_CASE(inference_gives_the_same_logits_ref),
         TAP_CASE(inference_gives_the_same_logits_onednn), TAP_CASE(inference_gives_the_same_logits_simd),
         TAP_CASE(lenet_learns_ref), TAP_CASE(lenet_learns_onednn), TAP_CASE(lenet_learns_simd),
         TAP_CASE(steps_allocate_nothing_ref), TAP_CASE(steps_keep_no_memory_onednn),
         TAP_CASE(steps_keep_no_memory_bf16), TAP_CASE(open_survives_lack_of_memory_ref),
         TAP_CASE(open_survives_lack_of_memory_onednn), TAP_CASE(open_survives_lack_of_memory_simd),
         TAP_CASE(wrong_settings_are_named), TAP_CASE(auto_takes_onednn_for_float_and_ref_for_double),
         TAP_CASE(labels_outside_the_classes_are_refused), TAP_CASE(dead_nodes_are_left_out),
         TAP_CASE(weights_survive_a_file_ref), TAP_CASE(weights_survive_a_file_onednn),
         TAP_CASE(weights_survive_a_file_simd), TAP_CASE(files_of_other_networks_are_refused),
         TAP_CASE(absent_connections_stay_absent_ref), TAP_CASE(absent_connections_stay_absent_onednn),
         TAP_CASE(absent_connections_stay_absent_simd), TAP_CASE(buffers_have_no_gradient),
         TAP_CASE(loss_of_known_logits))
