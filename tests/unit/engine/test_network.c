/* Whole networks: `onednn` and `simd` (and `ref` in float) against `ref` in double. */
#include "unit/engine/open.h"

#define FIVE    ((struct ys_window){{5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 1})
#define PAIRS   ((struct ys_window){{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 2})
#define OVERLAP ((struct ys_window){{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1})

static double norm_of_difference(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* A chain of L sums with at most K terms each has a normwise error of at most about L K u, u = 2^-24, of the same chain
 * over absolute values; random signs make that some sqrt(K) times the result. For these nets (L <= 5, K <= 3136) the
 * rms expectation is L sqrt(K) u = 2e-5; a wrong layout, mask or convention gives differences of the order of one. */
static const double chain_tolerance = 1e-4;

static void compare_one(const struct net *n, const struct backend_case *b)
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
        if (n->params[p].role != YS_ROLE_WEIGHT)
            continue;
        size_t count = (size_t)ys_param_elements(&n->params[p]);
        double *a = malloc(count * sizeof *a), *c = malloc(count * sizeof *c), *zero = calloc(count, sizeof *zero);
        CHECK(ys_engine_gradient_get(r, p, YS_ENGINE_F64, a) == 0 &&
              ys_engine_gradient_get(o, p, YS_ENGINE_F64, c) == 0);
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

/** Of `onednn`, and of `simd` with as many threads. */
static void compare_nets(const struct net *n, const struct backend_case *b)
{
    compare_one(n, b);
    if (b == &onednn2)
        compare_one(n, &simd2);
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

/** The pools behind two convolutions with ReLU: what the sum gives both for a gradient is one, and each pool masks it.
 */
static void two_pooled_branches_agree(void)
{
    struct net n;
    net_input(&n, YS_F32, 3, 2, 8, 8);
    net_conv(&n, 16, THREE, 1);
    net_relu(&n);
    net_pool(&n, OVERLAP);
    const int first = n.last;
    net_from(&n, 0);
    net_conv(&n, 16, THREE, 1);
    net_relu(&n);
    net_pool(&n, OVERLAP);
    net_with(&n, YS_OP_ADD, first);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    compare_nets(&n, &onednn2);
}

/** A ReLU that a pool reads, and a convolution too, so that the pool may not mask for both. */
static void a_relu_with_two_readers_agrees(void)
{
    struct net n;
    net_input(&n, YS_F32, 3, 2, 8, 8);
    net_conv(&n, 16, THREE, 1);
    net_relu(&n);
    const int both = n.last;
    net_pool(&n, OVERLAP);
    const int pooled = n.last;
    net_from(&n, both);
    net_conv(&n, 16, OVERLAP, 1);
    net_with(&n, YS_OP_ADD, pooled);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    compare_nets(&n, &onednn2);
}

/** Two activations whose results are added: what the sum gives both for a gradient is one, and each masks it. */
static void two_activated_branches_agree(void)
{
    struct net n;
    net_input(&n, YS_F32, 3, 2, 6, 6);
    net_conv(&n, 16, THREE, 1);
    net_relu(&n);
    const int first = n.last;
    net_from(&n, 0);
    net_conv(&n, 16, THREE, 1);
    net_clip(&n, -0.25, 0.25);
    net_with(&n, YS_OP_ADD, first);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    compare_nets(&n, &onednn2);
}

/** A convolution of the pixels, which its gradient reads when those behind it are made, and HardSigmoid. */
static void a_hard_sigmoid_within_agrees(void)
{
    struct net n;
    net_input(&n, YS_F32, 3, 2, 6, 6);
    net_conv(&n, 2, THREE, 1);
    struct ys_node *node = net_alike(&n, YS_OP_HARDSIGMOID);
    node->slope = 0.2;
    node->shift = 0.5;
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    compare_nets(&n, &onednn2);
}

/** Nobody but the activation says how the pixels are to lie. */
static void an_activation_of_normalized_pixels_agrees(void)
{
    struct net n;
    net_input(&n, YS_U8, 3, 2, 6, 6);
    net_normalize(&n, 2, 1.0 / 255);
    net_relu(&n);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    compare_nets(&n, &onednn2);
}

/** Two normalisations of one scale and one shift, each with statistics of its own. */
static void a_normalisation_shared_agrees(void)
{
    struct net n;
    net_input(&n, YS_F32, 3, 2, 6, 6);
    net_conv(&n, 17, THREE, 0);
    net_batchnorm(&n, 1e-3, 0.1);
    const struct ys_node *first = &n.nodes[n.graph.node_count - 1];
    net_alike(&n, YS_OP_TANH);
    net_batchnorm(&n, 1e-3, 0.1);
    struct ys_node *again = &n.nodes[n.graph.node_count - 1];
    n.graph.param_count -= 4; /* of its own it has running statistics alone */
    again->weight = first->weight;
    again->bias = first->bias;
    const int64_t channels = 17;
    again->running_mean = net_param(&n, 1, &channels);
    again->running_var = net_param(&n, 1, &channels);
    n.params[again->running_mean].role = n.params[again->running_var].role = YS_ROLE_BUFFER;
    n.params[again->running_var].init.a = 1;
    net_alike(&n, YS_OP_TANH);
    net_flatten(&n);
    net_gemm(&n, 4, 1);
    compare_nets(&n, &onednn2);
}

/** The pixels, of which nobody wants a gradient, as a factor, and joined to a value that has one. */
static void pixels_without_a_gradient_agree(void)
{
    for (int joined = 0; joined < 2; joined++) {
        struct net n;
        net_input(&n, YS_F32, 3, 2, 6, 6);
        net_conv(&n, 2, THREE, 1);
        if (joined)
            net_concat(&n, 1, 1, (const int[]){0});
        else
            net_with(&n, YS_OP_MUL, 0);
        net_flatten(&n);
        net_gemm(&n, 4, 1);
        compare_nets(&n, &onednn2);
    }
}

TAP_MAIN(TAP_CASE(two_pooled_branches_agree), TAP_CASE(a_relu_with_two_readers_agrees),
         TAP_CASE(two_activated_branches_agree), TAP_CASE(an_activation_of_normalized_pixels_agrees),
         TAP_CASE(a_normalisation_shared_agrees), TAP_CASE(a_hard_sigmoid_within_agrees),
         TAP_CASE(pixels_without_a_gradient_agree), TAP_CASE(lenet_onednn_agrees_with_ref),
         TAP_CASE(lenet_ref_f32_agrees_with_ref_f64), TAP_CASE(small_net_onednn_agrees_with_ref),
         TAP_CASE(mlp_onednn_agrees_with_ref), TAP_CASE(odd_channels_before_flatten_agree),
         TAP_CASE(relus_in_odd_places_agree), TAP_CASE(logits_without_a_product_agree), TAP_CASE(two_flattens_agree))
