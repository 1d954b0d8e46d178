/* Functions of one element that are made of exp, a vector at a time. YS_KERNELS names the table: compiled once
 * for each width of vector registers. */
#include "backend/kernels/kernels_curve.h"
#include "backend/plain/simd.h"

extern const struct ys_curve_kernels YS_KERNELS;

/** What the exact GELU takes of the normal distribution: half of erfc(x), for x from 0 up, by a polynomial in 1 / (1 +
 * x / 2) that is good to 1.2e-7 of it (Press and others, Numerical Recipes, 2nd ed., 6.2). */
static inline vector half_erfc(vector x)
{
    static const float terms[] = {0.17087277F,  -0.82215223F, 1.48851587F, -1.13520398F, 0.27886807F,
                                  -0.18628806F, 0.09678418F,  0.37409196F, 1.00002368F};
    const vector t = 1.0F / (1.0F + 0.5F * x);
    vector sum = (vector){0};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        sum = sum * t + terms[i];
    return 0.5F * t * exponential(sum * t - 1.26551223F - x * x);
}

/** The share of the normal distribution below a. */
static inline vector share_below(vector a)
{
    const vector x = a * 0.70710678F, tail = half_erfc(choose(x < 0, -x, x));
    return choose(x < 0, tail, 1.0F - tail);
}

/** The approximated GELU is a logistic(2 inner). */
static inline vector gelu_share(const struct ys_node *node, vector a)
{
    return node->by_tanh ? sigmoid(1.59576912F * (a + 0.044715F * a * a * a)) : share_below(a);
}

static inline vector gelu_slope(const struct ys_node *node, vector a)
{
    const vector share = gelu_share(node, a);
    if (node->by_tanh)
        return share + a * share * (1.0F - share) * 1.59576912F * (1.0F + 0.134145F * a * a);
    return share + a * 0.39894228F * exponential(-0.5F * a * a);
}

static inline vector swish_slope(vector a)
{
    const vector share = sigmoid(a);
    return share * (1.0F + a * (1.0F - share));
}

/* y: forward, where a is x; operands x, y. dx: backward, where a is x or y, as the operator's descriptor says, and b is
 * dy; operands a, dy, dx. */
#define CURVE(name, y, dx)                                                                                             \
    static ys_status name##_run(void *context, void *const *operand)                                                   \
    {                                                                                                                  \
        const struct ys_ref_context *c = context;                                                                      \
        const float *from = operand[0];                                                                                \
        float *to = operand[1];                                                                                        \
        for (int64_t i = 0, count = (int64_t)c->count; i < count; i += LANES) {                                        \
            const vector a = load(from + i, count - i);                                                                \
            store(to + i, y, count - i);                                                                               \
        }                                                                                                              \
        return YS_OK;                                                                                                  \
    }                                                                                                                  \
    static ys_status name##_backward_run(void *context, void *const *operand)                                          \
    {                                                                                                                  \
        const struct ys_ref_context *c = context;                                                                      \
        const float *first = operand[0], *second = operand[1];                                                         \
        float *to = operand[2];                                                                                        \
        for (int64_t i = 0, count = (int64_t)c->count; i < count; i += LANES) {                                        \
            const vector a = load(first + i, count - i), b = load(second + i, count - i);                              \
            store(to + i, dx, count - i);                                                                              \
        }                                                                                                              \
        return YS_OK;                                                                                                  \
    }
/* It would take the products below for declarations of pointers. */
/* clang-format off */
CURVE(tanh, hyperbolic(a), b * (1.0F - a * a))
CURVE(sigmoid, sigmoid(a), b * a * (1.0F - a))
CURVE(swish, a * sigmoid(a), b * swish_slope(a))
CURVE(gelu, a * gelu_share(c->node, a), b * gelu_slope(c->node, a))
/* clang-format on */

const struct ys_curve_kernels YS_KERNELS = {.of = {[YS_OP_TANH] = {tanh_run, tanh_backward_run},
                                                   [YS_OP_SIGMOID] = {sigmoid_run, sigmoid_backward_run},
                                                   [YS_OP_SWISH] = {swish_run, swish_backward_run},
                                                   [YS_OP_GELU] = {gelu_run, gelu_backward_run}}};
