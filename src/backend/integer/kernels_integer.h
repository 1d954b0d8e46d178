/* What is computed on bytes, in exact integers and one rounding (quant/rounding.h).
 *
 * A quantised value lies with its channels innermost: (rows, height, width, channels), of a value of two dimensions
 * (rows, channels); of more than four or of three, what lies behind the channels is the height. Each kernel works on
 * the units [first, end) that its structure tells; all widths of vector registers and all numbers of threads give the
 * same bits. */
#ifndef YS_BACKEND_INTEGER_KERNELS_INTEGER_H
#define YS_BACKEND_INTEGER_KERNELS_INTEGER_H

#include "backend/parallel.h"
#include "graph/graph.h"

struct ys_integer_image {
    int64_t rows, height, width, channels;
};

struct ys_integer_ends { /* of a result: its zero point, and where it is cut */
    int zero, low, high;
};

/** Of a batch, as DynamicQuantizeLinear finds it. */
struct ys_integer_found {
    float scale;
    int32_t zero;
};

/** Sums of products. Unit: a line of the result. x, weight (channels out, height, width, channels in / group), sums
 * (int32, laid out as the result), [ys_integer_found, whose zero counts instead]. */
struct ys_integer_product {
    struct ys_integer_image in, out;
    struct ys_window window;
    int zero; /* of x, which stands for the padding too */
    bool is_found;
};

/** Sums to bytes. Unit: a position. sums, sums of weights (int32, used where `zero` is not 0), y, [bias (int32)]. */
struct ys_integer_requantise {
    int64_t channels;
    const double *factor; /* [channels]: scale of x, times that of the weight, over that of y */
    struct ys_integer_ends ends;
    int zero; /* of x, where the sums are of x as it lies, else 0 */
    bool has_bias;
};

/** Sums to numbers. Unit: a row. sums, sums of weights, ys_integer_found, y (float, C order), [bias (float)]. */
struct ys_integer_numbers {
    struct ys_integer_image image;
    const double *factor; /* [channels]: scale of the weight */
    bool is_raw;          /* the sums are of x as it lies */
    bool has_bias;
};

/** Unit: an element. a, b, y. */
struct ys_integer_sum {
    double factor[2]; /* scale of a and of b over that of y */
    int zero[2];
    struct ys_integer_ends ends;
};

/** A function of one byte, into some channels of y. Unit: a position. x, y. */
struct ys_integer_table {
    int64_t channels, of, first; /* of x; of y, and the first of them that is written */
    uint8_t table[256];
};

/** Another order of a row's elements: as C order has them, seen with other dimensions. Unit: a row. x, y. */
struct ys_integer_order {
    int64_t area, channels, to_area, to_channels;
};

/** Unit: a line of the result. x, y. Averages alone: factor, zero, ends. */
struct ys_integer_pool {
    struct ys_integer_image in, out;
    struct ys_window window;
    double factor; /* scale of x over that of y */
    int zero;      /* of x */
    struct ys_integer_ends ends;
};

/** Numbers to bytes. Unit: a line. x (float, C order), y (with a border of zero points), [ys_integer_found]. */
struct ys_integer_quantise {
    struct ys_integer_image image;
    int64_t pad[4]; /* top, left, bottom, right */
    double scale;
    int zero;
    bool is_found;
};

/** Bytes to numbers. Unit: a row. x, y (float, C order). */
struct ys_integer_dequantise {
    struct ys_integer_image image;
    float table[256];
};

/** Pixels, as they lie in C order, to bytes. Unit: a line. x, y. */
struct ys_integer_pixels {
    struct ys_integer_image image;
    const uint8_t *table; /* [channels][256] */
};

/** Each takes the structure above it as its context. */
struct ys_integer_kernels {
    ys_parallel_body product, requantise, numbers, sum, table, order, maxpool, averagepool, quantise, dequantise,
        pixels;
};
const struct ys_integer_kernels *ys_integer_kernels(void);

/** The scale and zero point of `count` numbers, 0 among them (ONNX's DynamicQuantizeLinear). A NaN counts as 0. */
struct ys_integer_found ys_integer_find(const float *x, size_t count);

#endif
