/* One small network of every family of models: gradients, repetition to the bit, memory, agreement of the back ends. */
#include "unit/engine/families.h"

#include "base/json/json.h"
#include "base/status.h"

/** The networks of this test are what the graph room would read: same shapes, same attributes. */
static void families_are_valid_graphs(void)
{
    for (int f = 0; f < FAMILIES; f++) {
        struct net n;
        families[f].build(&n);
        ys_json *json = ys_graph_to_json(&n.graph);
        struct ys_graph *read = NULL;
        CHECK_TEXT(ys_graph_from_json(json, families[f].name, &read) == YS_OK ? "" : ys_error(), "");
        for (size_t v = 0; read && v < n.graph.value_count; v++)
            CHECK_INT(ys_value_row_elements(&read->values[v]), ys_value_row_elements(&n.values[v]));
        ys_graph_free(read);
        ys_json_free(json);
    }
}

/* ---- gradients */

/* Central differences with h = 2^-17 in double. These networks are smooth, with weights below one; a third derivative
 * of 1000 in one direction gives a truncation of h^2 / 6 * 1000 = 1e-8, and the rounding of a loss of some units of
 * 2^-52 over h gives 1e-10. A share that is left out, or counted twice, changes a gradient by some 1e-2. */
static const double step = 0x1p-17, difference_tolerance = 1e-7;

static double loss_of(struct ys_engine *e, const void *x, const int64_t *y, enum ys_engine_mode mode)
{
    double loss = NAN;
    CHECK(ys_engine_forward(e, x, y, mode, &loss) == 0);
    return loss;
}

static void check_param_gradient(struct ys_engine *e, const struct net *n, size_t p, const void *x, const int64_t *y,
                                 enum ys_engine_mode mode)
{
    size_t count = (size_t)ys_param_elements(&n->params[p]), stride = 1 + count / 40;
    double *w = malloc(count * sizeof *w), *g = malloc(count * sizeof *g), largest = 0;
    CHECK(ys_engine_param_get(e, p, YS_ENGINE_F64, w) == 0 && ys_engine_gradient_get(e, p, YS_ENGINE_F64, g) == 0);
    for (size_t i = 0; i < count; i += stride) {
        double old = w[i], beside[2];
        for (int side = 0; side < 2; side++) {
            w[i] = old + (side ? step : -step);
            CHECK(ys_engine_param_set(e, p, YS_ENGINE_F64, w) == 0);
            beside[side] = loss_of(e, x, y, mode);
        }
        w[i] = old;
        CHECK(ys_engine_param_set(e, p, YS_ENGINE_F64, w) == 0);
        double difference = (beside[1] - beside[0]) / (2 * step);
        tap_check(fabs(g[i] - difference) <= difference_tolerance, __LINE__,
                  "gradient of %s[%zu] is %.12g, differences say %.12g", n->params[p].name, i, g[i], difference);
        largest = fmax(largest, fabs(g[i]));
    }
    tap_check(largest > 1e-5, __LINE__, "gradients of %s are all about zero: nothing was tested", n->params[p].name);
    free(w);
    free(g);
}

static void check_gradients(const struct net *n, enum ys_engine_mode mode)
{
    struct ys_engine_config config = config_of(n, &ref64);
    config.guarded = true;
    struct ys_engine *e = open_with(n, &config);
    REQUIRE(e != NULL);
    void *x = net_rows(n, "x");
    int64_t *y = net_labels(n, "y");
    CHECK(ys_engine_backward(e, x, y, mode, NULL) == 0);
    for (size_t p = 0; p < n->graph.param_count; p++)
        if (n->params[p].role == YS_ROLE_WEIGHT)
            check_param_gradient(e, n, p, x, y, mode);
    CHECK_TEXT(ys_engine_check(e) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(e);
    free(x);
    free(y);
}

static void shares_of_many_readers_add_up_ref(void)
{
    struct net n;
    family_tangle(&n);
    check_gradients(&n, YS_ENGINE_TRAIN);
}

/** A residual block with projection, one without, smooth activations. */
static void residual_gradients_ref(void)
{
    for (int mode = YS_ENGINE_EVAL; mode <= YS_ENGINE_TRAIN; mode++) {
        struct net n;
        family_residual(&n, YS_OP_TANH, 6);
        check_gradients(&n, (enum ys_engine_mode)mode);
    }
}

/** Half of the channels go nowhere: their part of the gradient is zero, not whatever lay in memory. */
static void a_part_that_nobody_reads_counts_as_zeros_ref(void)
{
    struct net n;
    int parts[2];
    net_input(&n, YS_F32, 3, 2, 4, 4);
    net_conv(&n, 4, THREE, 1);
    net_alike(&n, YS_OP_TANH);
    net_split(&n, 1, 2, (int64_t[]){2, 2}, parts);
    net_from(&n, parts[1]);
    net_flatten(&n);
    net_gemm(&n, 3, 1);
    check_gradients(&n, YS_ENGINE_TRAIN);
}

/** The input itself read twice: its gradient has a place of its own, to which both readers give. */
static void check_input_read_twice(const struct backend_case *b)
{
    struct net n;
    net_input(&n, YS_F32, 2, 3, 4, 4);
    net_conv(&n, 3, THREE, 1);
    net_with(&n, YS_OP_ADD, 0);
    net_flatten(&n);
    net_gemm(&n, 3, 1);
    struct ys_engine_config config = config_of(&n, b);
    config.input_gradient = config.guarded = true;
    struct ys_engine *e = open_with(&n, &config);
    REQUIRE(e != NULL);
    float *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    double g[96];
    CHECK(ys_engine_backward(e, x, y, YS_ENGINE_TRAIN, NULL) == 0);
    for (size_t i = 0; i < 96; i++)
        g[i] = b->precision == YS_ENGINE_F64 ? ((const double *)ys_engine_input_gradient(e))[i]
                                             : (double)((const float *)ys_engine_input_gradient(e))[i];
    struct ys_engine *exact = open_case(&n, &ref64);
    for (size_t i = 0; exact && i < 96; i++) {
        float old = x[i];
        double beside[2];
        for (int side = 0; side < 2; side++) {
            x[i] = old + (side ? (float)step : -(float)step);
            beside[side] = loss_of(exact, x, y, YS_ENGINE_TRAIN);
        }
        x[i] = old;
        /* in float: 27 products of the order of one */
        CHECK_NEAR(g[i], (beside[1] - beside[0]) / (2 * step),
                   b->precision == YS_ENGINE_F64 ? difference_tolerance : difference_tolerance + 27 * 0x1p-23);
    }
    CHECK_TEXT(ys_engine_check(e) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(e);
    ys_engine_close(exact);
    free(x);
    free(y);
}

static void both_readers_give_to_the_input_ref(void)
{
    check_input_read_twice(&ref64);
}

static void both_readers_give_to_the_input_onednn(void)
{
    check_input_read_twice(&onednn2);
}

static void both_readers_give_to_the_input_simd(void)
{
    check_input_read_twice(&simd2);
}

/* ---- repetition and memory */

/** Three steps with everything that keeps a state; the second engine guarded: equal bits mean that runs repeat, and
 * that memory shared between buffers overwrites nothing in use. */
static void check_repeats(const struct family *f, const struct backend_case *b)
{
    struct net n;
    f->build(&n);
    struct ys_engine_config config = config_of(&n, b);
    struct ys_engine *e[3] = {open_with(&n, &config), open_with(&n, &config)};
    config.guarded = true;
    e[2] = open_with(&n, &config);
    REQUIRE(e[0] && e[1] && e[2]);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    double *w[3];
    size_t count = 0;
    for (int k = 0; k < 3; k++) {
        double loss = NAN;
        for (int t = 0; t < 3; t++)
            CHECK(ys_engine_step(e[k], x, y, 0.05, &loss) == 0);
        CHECK(isfinite(loss));
        w[k] = flat_of(e[k], false, &count);
        tap_check(memcmp(w[0], w[k], count * sizeof **w) == 0, __LINE__, "%s: other weights in run %d", f->name, k);
    }
    CHECK_TEXT(ys_engine_check(e[2]) == 0 ? "" : ys_engine_error(), "");
    for (int k = 0; k < 3; k++) {
        ys_engine_close(e[k]);
        free(w[k]);
    }
    free(x);
    free(y);
}

/** Passes in both modes between the steps of one of two engines. */
static void check_passes(const struct family *f, const struct backend_case *b)
{
    struct net n;
    f->build(&n);
    struct ys_engine *quiet = open_case(&n, b), *busy = open_case(&n, b);
    REQUIRE(quiet && busy);
    void *x = net_rows(&n, "x"), *other = net_rows(&n, "other");
    int64_t *y = net_labels(&n, "y");
    for (int t = 0; t < 2; t++) {
        CHECK(ys_engine_forward(busy, other, y, YS_ENGINE_TRAIN, NULL) == 0);
        CHECK(ys_engine_forward(busy, other, y, YS_ENGINE_EVAL, NULL) == 0);
        CHECK(ys_engine_backward(busy, other, y, YS_ENGINE_TRAIN, NULL) == 0);
        CHECK(ys_engine_step(busy, x, y, 0.05, NULL) == 0 && ys_engine_step(quiet, x, y, 0.05, NULL) == 0);
    }
    size_t count;
    double *a = flat_of(quiet, false, &count), *c = flat_of(busy, false, &count);
    tap_check(memcmp(a, c, count * sizeof *a) == 0, __LINE__, "%s: passes changed something", f->name);
    ys_engine_close(quiet);
    ys_engine_close(busy);
    free(a);
    free(c);
    free(x);
    free(other);
    free(y);
}

/** Evaluation in an engine opened for it alone, against one that could train. */
static void check_inference(const struct family *f, const struct backend_case *b)
{
    struct net n;
    f->build(&n);
    struct ys_engine_config config = config_of(&n, b);
    struct ys_engine *trainer = open_with(&n, &config);
    config.training = false;
    struct ys_engine *reader = open_with(&n, &config);
    REQUIRE(trainer && reader);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    double expected = NAN, loss = NAN;
    CHECK(ys_engine_forward(trainer, x, y, YS_ENGINE_EVAL, &expected) == 0);
    CHECK(ys_engine_forward(reader, x, y, YS_ENGINE_EVAL, &loss) == 0);
    /* Kernels for inference may add in another order. */
    CHECK_NEAR(loss, expected, b->precision == YS_ENGINE_F64 ? 1e-12 : 1e-5);
    CHECK_INT(ys_engine_forward(reader, x, y, YS_ENGINE_TRAIN, NULL), YS_EINVAL);
    size_t gradients_and_state = 2 * (size_t)ys_graph_parameter_count(&n.graph) * ys_engine_real_size(reader);
    CHECK(ys_engine_counters(reader).requested_bytes + gradients_and_state <=
          ys_engine_counters(trainer).requested_bytes);
    CHECK(ys_engine_counters(reader).arena_bytes < ys_engine_counters(trainer).arena_bytes);
    ys_engine_close(trainer);
    ys_engine_close(reader);
    free(x);
    free(y);
}

/* ---- agreement */

/* A chain of L sums of at most K terms has a normwise error of some L sqrt(K) u where signs are random, u = 2^-24; here
 * L <= 16 and K <= 600, which makes 2e-5. Normalisation by the deviation of a channel may double it a layer or two, and
 * minimal filtering makes one layer five times as coarse. A wrong layout, mask, statistic or share gives differences of
 * the order of one.
 *
 * In bf16 every activation is rounded to u = 2^-9, which moves logits of the order of one, and so the loss, by a few u.
 * It also lets other elements win in pools and turns ReLUs over: a share p of changed places moves a gradient by
 * sqrt(p) of itself, so gradients are compared only in networks without either (or with few, as the product net). */
static const double chain_tolerance = 3e-4, bf16_loss_tolerance = 4 * 0x1p-9, bf16_gradient_tolerance = 16 * 0x1p-9;

static void compare_gradient(const struct family *f, struct ys_engine *r, struct ys_engine *o, size_t p,
                             double tolerance)
{
    const struct ys_param *param = &ys_engine_graph(r)->params[p];
    size_t count = (size_t)ys_param_elements(param);
    double *a = malloc(count * sizeof *a), *c = malloc(count * sizeof *c), error = 0, size = 0;
    CHECK(ys_engine_gradient_get(r, p, YS_ENGINE_F64, a) == 0 && ys_engine_gradient_get(o, p, YS_ENGINE_F64, c) == 0);
    for (size_t i = 0; i < count; i++) {
        error += (a[i] - c[i]) * (a[i] - c[i]);
        size += a[i] * a[i];
    }
    tap_check(sqrt(error) <= tolerance * sqrt(size) + 1e-6, __LINE__, "%s: gradient of %s differs by %g of itself",
              f->name, param->name, sqrt(error / size));
    free(a);
    free(c);
}

/** Loss and gradients of `b` in the mode, against ref in double. */
static void check_agreement(const struct family *f, const struct backend_case *b, enum ys_engine_mode mode,
                            double loss_tolerance, double gradient_tolerance)
{
    struct net n;
    f->build(&n);
    struct ys_engine_config config = config_of(&n, b);
    config.guarded = true;
    struct ys_engine *r = open_case(&n, &ref64), *o = open_with(&n, &config);
    REQUIRE(r && o);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    double expected = NAN, loss = NAN;
    CHECK(ys_engine_backward(r, x, y, mode, &expected) == 0 && ys_engine_backward(o, x, y, mode, &loss) == 0);
    CHECK_NEAR(loss, expected, loss_tolerance * expected);
    for (size_t p = 0; p < n.graph.param_count; p++)
        if (n.params[p].role == YS_ROLE_WEIGHT)
            compare_gradient(f, r, o, p, gradient_tolerance);
    CHECK_TEXT(ys_engine_check(o) == 0 ? "" : ys_engine_error(), "");
    ys_engine_close(r);
    ys_engine_close(o);
    free(x);
    free(y);
}

static void for_all(void (*check)(const struct family *, const struct backend_case *), const struct backend_case *b)
{
    for (int f = 0; f < FAMILIES; f++)
        check(&families[f], b);
}

static void check_both_modes(const struct family *f, const struct backend_case *b)
{
    check_agreement(f, b, YS_ENGINE_EVAL, chain_tolerance, chain_tolerance);
    check_agreement(f, b, YS_ENGINE_TRAIN, chain_tolerance, chain_tolerance);
}

static void check_losses(const struct family *f, const struct backend_case *b)
{
    check_agreement(f, b, YS_ENGINE_EVAL, bf16_loss_tolerance, INFINITY);
    check_agreement(f, b, YS_ENGINE_TRAIN, bf16_loss_tolerance, INFINITY);
}

static void families_repeat_to_the_bit_ref(void)
{
    for_all(check_repeats, &ref64);
}

static void families_repeat_to_the_bit_onednn(void)
{
    for_all(check_repeats, &onednn2);
}

static void families_repeat_to_the_bit_simd(void)
{
    for_all(check_repeats, &simd2);
}

static void families_repeat_to_the_bit_bf16(void)
{
    if (lacks_bf16())
        return;
    for_all(check_repeats, &bf16);
}

static void passes_change_nothing_ref(void)
{
    for_all(check_passes, &ref64);
}

static void passes_change_nothing_onednn(void)
{
    for_all(check_passes, &onednn2);
}

static void passes_change_nothing_simd(void)
{
    for_all(check_passes, &simd2);
}

static void passes_change_nothing_bf16(void)
{
    if (lacks_bf16())
        return;
    for_all(check_passes, &bf16);
}

static void inference_takes_less_memory_ref(void)
{
    for_all(check_inference, &ref64);
}

static void inference_takes_less_memory_onednn(void)
{
    for_all(check_inference, &onednn2);
}

static void inference_takes_less_memory_simd(void)
{
    for_all(check_inference, &simd2);
}

static void inference_takes_less_memory_bf16(void)
{
    if (lacks_bf16())
        return;
    for_all(check_inference, &bf16);
}

static void ref_f32_agrees_with_ref_f64(void)
{
    for_all(check_both_modes, &ref32);
}

static void onednn_agrees_with_ref(void)
{
    for_all(check_both_modes, &onednn2);
}

static void simd_agrees_with_ref(void)
{
    for_all(check_both_modes, &simd2);
}

static void bf16_losses_agree_with_ref(void)
{
    if (lacks_bf16())
        return;
    for_all(check_losses, &bf16);
}

static void bf16_gradients_agree_with_ref(void)
{
    if (lacks_bf16())
        return;
    static const struct family smooth[] = {{"mlp", family_mlp}, {"tangle", family_tangle}};
    for (int f = 0; f < 2; f++)
        check_agreement(&smooth[f], &bf16, YS_ENGINE_TRAIN, bf16_loss_tolerance, bf16_gradient_tolerance);
}

/** How many of the numbers are of bfloat16. */
static size_t rounded_count(const float *values, size_t count)
{
    size_t rounded = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        rounded += (bits & 0xffff) == 0;
    }
    return rounded;
}

/** Whatever is rounded on the way, logits are numbers of 24 bits. */
static void bf16_logits_are_in_single_precision(void)
{
    if (lacks_bf16())
        return;
    struct net n;
    family_mlp(&n);
    struct ys_engine *e = open_case(&n, &bf16);
    REQUIRE(e);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    const size_t count = (size_t)n.batch * ys_engine_row_logits(e);
    CHECK(ys_engine_forward(e, x, y, YS_ENGINE_EVAL, NULL) == 0);
    CHECK(rounded_count(ys_engine_logits(e), count) < count);
    ys_engine_close(e);
    free(x);
    free(y);
}

static void transposed_net(struct net *n)
{
    family_input(n, 5);
    net_conv_transpose(n, 6, STRIDED, 0, 1);
    net_alike(n, YS_OP_TANH);
    family_head(n, 5);
}

/** So are gradients of weights, whatever their products read. */
static void bf16_gradients_are_in_single_precision(void)
{
    static const struct family of_weights[] = {{"lenet", family_lenet}, {"transposed", transposed_net}};
    if (lacks_bf16())
        return;
    for (int f = 0; f < 2; f++) {
        struct net n;
        of_weights[f].build(&n);
        struct ys_engine *e = open_case(&n, &bf16);
        REQUIRE(e);
        void *x = net_rows(&n, "x");
        int64_t *y = net_labels(&n, "y");
        CHECK(ys_engine_backward(e, x, y, YS_ENGINE_EVAL, NULL) == 0);
        for (size_t p = 0; p < n.graph.param_count; p++) {
            const size_t count = (size_t)ys_param_elements(&n.params[p]);
            float *gradient = malloc(count * sizeof *gradient);
            CHECK(ys_engine_gradient_get(e, p, YS_ENGINE_F32, gradient) == 0);
            tap_check(rounded_count(gradient, count) < count, __LINE__, "%s: all of the gradient of %s is rounded",
                      of_weights[f].name, n.params[p].name);
            free(gradient);
        }
        ys_engine_close(e);
        free(x);
        free(y);
    }
}

TAP_MAIN(TAP_CASE(families_are_valid_graphs), TAP_CASE(shares_of_many_readers_add_up_ref),
         TAP_CASE(residual_gradients_ref), TAP_CASE(a_part_that_nobody_reads_counts_as_zeros_ref),
         TAP_CASE(both_readers_give_to_the_input_ref), TAP_CASE(both_readers_give_to_the_input_onednn),
         TAP_CASE(both_readers_give_to_the_input_simd), TAP_CASE(families_repeat_to_the_bit_ref),
         TAP_CASE(families_repeat_to_the_bit_onednn), TAP_CASE(families_repeat_to_the_bit_simd),
         TAP_CASE(families_repeat_to_the_bit_bf16), TAP_CASE(passes_change_nothing_ref),
         TAP_CASE(passes_change_nothing_onednn), TAP_CASE(passes_change_nothing_simd),
         TAP_CASE(passes_change_nothing_bf16), TAP_CASE(inference_takes_less_memory_ref),
         TAP_CASE(inference_takes_less_memory_onednn), TAP_CASE(inference_takes_less_memory_simd),
         TAP_CASE(inference_takes_less_memory_bf16), TAP_CASE(ref_f32_agrees_with_ref_f64),
         TAP_CASE(onednn_agrees_with_ref), TAP_CASE(simd_agrees_with_ref), TAP_CASE(bf16_losses_agree_with_ref),
         TAP_CASE(bf16_gradients_agree_with_ref), TAP_CASE(bf16_logits_are_in_single_precision),
         TAP_CASE(bf16_gradients_are_in_single_precision))
