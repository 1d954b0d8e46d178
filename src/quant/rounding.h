/* How numbers become integers, and sums of products integers again. Each formula is computed in double, where scales
 * (float32) multiply exactly, and rounded once, half to even. */
#ifndef YS_QUANT_ROUNDING_H
#define YS_QUANT_ROUNDING_H

#include "graph/scales.h"
#include <math.h>
#include <stdint.h>

/** Of weights: 127 or 63. Not 128 or 64, so that -w has its integer where w has; 255 * (63 + 63) < 2^15, so that
 * instructions that add two products in 16 bits do not saturate. */
static inline int ys_quant_weight_limit(int range)
{
    return range == YS_QUANT_REDUCED ? 63 : 127;
}

/** Of a bias: 2^30, which leaves as much to the sum of products. */
#define YS_QUANT_BIAS_LIMIT 1073741824.0

/** Half to even, of any |x| < 2^51; a NaN stays one. Not for code that may add up in another order. */
static inline double ys_quant_round(double x)
{
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: its unit is 1 */
    return (x + shift) - shift;
}

static inline double ys_quant_clamped(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x; /* a NaN stays one */
}

/** QuantizeLinear to an unsigned byte. A NaN becomes the zero point. */
static inline uint8_t ys_quant_u8(double x, double scale, int zero_point)
{
    const double steps = ys_quant_clamped(x / scale, -512, 512);
    return (uint8_t)ys_quant_clamped(ys_quant_round(isnan(steps) ? 0 : steps) + zero_point, 0, 255);
}

/** Of a weight; in [-limit, limit]. */
static inline int8_t ys_quant_s8(double w, double scale, int limit)
{
    return (int8_t)ys_quant_round(ys_quant_clamped(w / scale, -limit, limit));
}

/** Of a bias, at the product of the scales of input and weight. */
static inline int32_t ys_quant_bias(double bias, double in_scale, double weight_scale)
{
    return (int32_t)ys_quant_round(
        ys_quant_clamped(bias / (in_scale * weight_scale), -YS_QUANT_BIAS_LIMIT, YS_QUANT_BIAS_LIMIT));
}

/** The number x, already in steps of the result's scale, as its byte. `low`, `high`: 0 and 255, or where the joined
 * Relu or Clip ends (ys_quant_ends()). */
static inline uint8_t ys_quant_steps(double x, int zero_point, int low, int high)
{
    return (uint8_t)ys_quant_clamped(ys_quant_round(ys_quant_clamped(x, -512, 512)) + zero_point, low, high);
}

#endif
