/* Lines of a normalisation along the last axis, a vector at a time. YS_KERNELS names the table: compiled once
 * for each width of vector registers. What lies behind a line's end counts as 0 in a sum. */
#include "backend/kernels/kernels_curve.h"

#include <math.h>

extern const struct ys_line_kernels YS_KERNELS;

/* Adds the numbers of a vector, `lanes` of which count, less `mean`: them, or their squares. */
static inline void gather_centred(struct pair *sum, vector x, int64_t lanes, double mean, bool squares)
{
    struct pair v = widen(x);
    v.low -= mean;
    v.high -= mean;
    if (lanes < LANES) {
        double few[LANES];
        memcpy(few, &v, sizeof v);
        for (int64_t i = lanes; i < LANES; i++)
            few[i] = 0;
        memcpy(&v, few, sizeof v);
    }
    sum->low += squares ? v.low * v.low : v.low;
    sum->high += squares ? v.high * v.high : v.high;
}

static struct ys_line_statistics statistics(const float *x, int64_t count, bool is_square, float epsilon)
{
    struct pair sum = {{0}, {0}}, squares = {{0}, {0}};
    for (int64_t k = 0; !is_square && k < count; k += LANES)
        gather_centred(&sum, load(x + k, count - k), count - k, 0, false);
    const double mean = is_square ? 0 : total(sum) / (double)count;
    for (int64_t k = 0; k < count; k += LANES)
        gather_centred(&squares, load(x + k, count - k), count - k, mean, true);
    return (struct ys_line_statistics){(float)mean, (float)(1 / sqrt(total(squares) / (double)count + epsilon))};
}

static void forward(const struct ys_line_statistics *s, int64_t count, const float *x, const float *weight,
                    const float *bias, float *y)
{
    for (int64_t k = 0; k < count; k += LANES) {
        const vector z = (load(x + k, count - k) - s->mean) * s->inverse * load(weight + k, count - k);
        store(y + k, bias ? z + load(bias + k, count - k) : z, count - k);
    }
}

static void backward(const struct ys_line_statistics *s, bool is_square, int64_t count, const float *x,
                     const float *weight, const float *dy, float *dx)
{
    struct pair sum = {{0}, {0}}, product = {{0}, {0}};
    for (int64_t k = 0; k < count; k += LANES) {
        const int64_t lanes = count - k;
        const vector g = load(dy + k, lanes) * load(weight + k, lanes);
        gather_centred(&sum, g, LANES, 0, false);
        gather_centred(&product, g * ((load(x + k, lanes) - s->mean) * s->inverse), LANES, 0, false);
    }
    const float mean = is_square ? 0 : (float)(total(sum) / (double)count),
                slope = (float)(total(product) / (double)count);
    for (int64_t k = 0; k < count; k += LANES) {
        const int64_t lanes = count - k;
        const vector g = load(dy + k, lanes) * load(weight + k, lanes);
        store(dx + k, s->inverse * (g - mean - (load(x + k, lanes) - s->mean) * s->inverse * slope), lanes);
    }
}

static void gather(const struct ys_line_statistics *s, int64_t count, const float *x, const float *dy, float *dweight,
                   float *dbias)
{
    for (int64_t k = 0; k < count; k += LANES) {
        const int64_t lanes = count - k;
        const vector g = load(dy + k, lanes);
        store(dweight + k, load(dweight + k, lanes) + g * ((load(x + k, lanes) - s->mean) * s->inverse), lanes);
        if (dbias)
            store(dbias + k, load(dbias + k, lanes) + g, lanes);
    }
}

const struct ys_line_kernels YS_KERNELS = {
    .statistics = statistics, .forward = forward, .backward = backward, .gather = gather};
