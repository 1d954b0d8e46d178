/* Lines of a normalisation: the kernels against their formulas in double, of lengths around a vector's. */
#include "backend/kernels/kernels.h"
#include "tap.h"

#include <math.h>

enum { MOST = 600 };
static const int64_t counts[] = {1, 2, 15, 16, 17, 48, 37, MOST};
enum { COUNTS = sizeof counts / sizeof *counts };

/* Numbers about `mean`, none of which are alike within a line; all arrays are longer by one, which is kept. */
static float x[MOST + 1], weight[MOST + 1], bias[MOST + 1], dy[MOST + 1], out[MOST + 1], other[MOST + 1];

static void draw(float mean)
{
    for (int64_t k = 0; k <= MOST; k++) {
        x[k] = mean + (float)((k * 37 + 5) % 601) * 0.01F;
        weight[k] = 1 + (float)((k * 29 + 3) % 97) * 0.02F;
        bias[k] = (float)((k * 31 + 7) % 89) * 0.03F - 1;
        dy[k] = (float)((k * 53 + 11) % 83) * 0.05F - 2;
        out[k] = other[k] = -3;
    }
}

struct exact {
    double mean, inverse;
};

static struct exact exact_of(int64_t count, bool is_square, double epsilon)
{
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < count; k++)
        sum += x[k];
    const double mean = is_square ? 0 : sum / (double)count;
    for (int64_t k = 0; k < count; k++)
        squares += (x[k] - mean) * (x[k] - mean);
    return (struct exact){mean, 1 / sqrt(squares / (double)count + epsilon)};
}

/* Sums in double leave one rounding to float in each figure, also where the mean is far from 0. */
static void statistics_are_rounded_once(void)
{
    for (int i = 0; i < COUNTS; i++)
        for (int form = 0; form < 4; form++) {
            const bool is_square = form & 1;
            draw(form & 2 ? 1000 : 0);
            const struct exact e = exact_of(counts[i], is_square, 0.25F);
            const struct ys_line_statistics s = ys_line_kernels()->statistics(x, counts[i], is_square, 0.25F);
            CHECK_NEAR(s.mean, e.mean, 1.01 * 0x1p-24 * fabs(e.mean));
            CHECK_NEAR(s.inverse, e.inverse, 1.01 * 0x1p-24 * e.inverse);
        }
}

/* Of (x - mean) inverse weight + bias each step is rounded, and so were mean and inverse: 6 units of a float. */
static void a_line_is_normalised(void)
{
    for (int i = 0; i < COUNTS; i++)
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            draw(0.5F);
            const struct ys_line_statistics s = ys_line_kernels()->statistics(x, counts[i], false, 1e-3F);
            ys_line_kernels()->forward(&s, counts[i], x, weight, with_bias ? bias : NULL, out);
            for (int64_t k = 0; k < counts[i]; k++) {
                const double z = ((double)x[k] - s.mean) * s.inverse * weight[k];
                CHECK_NEAR(out[k], z + (with_bias ? bias[k] : 0), 6 * 0x1p-24 * (fabs(z) + fabs((double)bias[k])));
            }
            CHECK(out[counts[i]] == -3); /* nothing behind the end is written */
        }
}

static void its_gradient_is_that_of_the_formula(void)
{
    for (int i = 0; i < COUNTS; i++)
        for (int is_square = 0; is_square < 2; is_square++) {
            draw(0.5F);
            const double count = (double)counts[i];
            const struct ys_line_statistics s = ys_line_kernels()->statistics(x, counts[i], is_square, 1e-3F);
            double mean = 0, slope = 0;
            for (int64_t k = 0; k < counts[i]; k++) {
                mean += (double)dy[k] * weight[k] / count;
                slope += (double)dy[k] * weight[k] * ((double)x[k] - s.mean) * s.inverse / count;
            }
            mean = is_square ? 0 : mean;
            ys_line_kernels()->backward(&s, is_square, counts[i], x, weight, dy, out);
            for (int64_t k = 0; k < counts[i]; k++) {
                const double g = (double)dy[k] * weight[k], z = ((double)x[k] - s.mean) * s.inverse;
                CHECK_NEAR(out[k], s.inverse * (g - mean - z * slope),
                           8 * 0x1p-24 * s.inverse * (fabs(g) + fabs(mean) + fabs(z * slope)));
            }
            CHECK(out[counts[i]] == -3);
        }
}

static void lines_add_to_the_gradients_of_the_parameters(void)
{
    for (int i = 0; i < COUNTS; i++)
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            draw(0.5F);
            const struct ys_line_statistics s = ys_line_kernels()->statistics(x, counts[i], false, 1e-3F);
            for (int line = 0; line < 2; line++)
                ys_line_kernels()->gather(&s, counts[i], x, dy, out, with_bias ? other : NULL);
            for (int64_t k = 0; k < counts[i]; k++) {
                const double share = (double)dy[k] * ((double)x[k] - s.mean) * s.inverse;
                CHECK_NEAR(out[k], -3 + 2 * share, 8 * 0x1p-24 * (3 + 2 * fabs(share)));
                CHECK_NEAR(other[k], with_bias ? -3 + 2 * (double)dy[k] : -3,
                           4 * 0x1p-24 * (3 + 2 * fabs((double)dy[k])));
            }
            CHECK(out[counts[i]] == -3 && other[counts[i]] == -3);
        }
}

TAP_MAIN(TAP_CASE(statistics_are_rounded_once), TAP_CASE(a_line_is_normalised),
         TAP_CASE(its_gradient_is_that_of_the_formula), TAP_CASE(lines_add_to_the_gradients_of_the_parameters))
