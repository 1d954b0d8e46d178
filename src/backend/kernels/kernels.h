/* Kernels of our own beside oneDNN's: what the library has not, or not as one pass over memory.
 *
 * They are compiled for several widths of vector registers, a vector being one register, and chosen when the program
 * runs. Where channels lie in the lanes (kernels.inc), all widths give the same bits; a sum along a line
 * (kernels_line.c, kernels_softmax.c) goes in as many lanes as a register has, so its last bits hang on the width.
 * Nothing is contracted. Work is split into units of one row of the batch and a vector of channels, so the number of
 * threads does not change a result. Values are float or bfloat16 in memory and float in registers. */
#ifndef YS_BACKEND_KERNELS_KERNELS_H
#define YS_BACKEND_KERNELS_KERNELS_H

#include "engine/backend.h"

#define YS_LANES 16 /* the most channels of a block, and lanes of a vector */

/** A value of shape (rows, channels, positions): element [n, c, p] lies at n * row + (c / lanes) * block +
 * p * position + c % lanes. Where lanes does not divide the channels, a blocked layout has room for the missing ones,
 * which are zero. */
struct ys_value_layout {
    int64_t rows, channels, positions;
    int64_t lanes; /* at most YS_LANES */
    int64_t row, block, position;
    bool has_padding; /* the last block has all its lanes in memory */
};

enum ys_activation { YS_ACT_NONE, YS_ACT_RELU, YS_ACT_CLIP };

/** y = act(bn(x) + z): batch normalisation, sum and activation in one pass; each part may be missing. */
struct ys_tail {
    struct ys_value_layout image;
    int threads;
    bool has_norm, has_sum;
    enum ys_activation act;
    float low, high;          /* of YS_ACT_CLIP */
    double epsilon, momentum; /* of the normalisation, as what follows */
    const struct ys_lowering *lowering;
    const enum ys_engine_mode *mode;  /* NULL: evaluation */
    bool streams;                     /* forward: y is too large for any cache, so it is written past them */
    bool has_second;                  /* backward: a second share of dy is added */
    bool writes_dz;                   /* backward: the gradient behind the activation is stored */
    bool wants_dx;                    /* backward: the gradient by x is wanted, not those of the parameters alone */
    int64_t first_block, block_count; /* of channels: set by the kernels, which work on a few at a time */
};

/* Statistics of a normalisation: YS_STATS_COUNT arrays of float, each as long as the channels rounded up to YS_LANES;
 * then, for sums, two doubles for each lane of each unit, and three for each channel. */
enum ys_stats {
    YS_STATS_MEAN,    /* of the batch, or running */
    YS_STATS_INVERSE, /* 1 / sqrt(variance + epsilon) */
    YS_STATS_SCALE,   /* weight * inverse */
    YS_STATS_BIAS,
    YS_STATS_UNBIASED, /* variance of the batch with n - 1 */
    YS_STATS_MEAN_DZ,  /* backward: 0 in evaluation */
    YS_STATS_SLOPE_DZ, /* backward: mean(dz * xhat) * inverse; 0 in evaluation */
    YS_STATS_COUNT
};
size_t ys_tail_stats_bytes(const struct ys_tail *tail);
/** Mean of the last batch and its variance with n - 1, [channels]; after tail_stats in training. */
void ys_tail_batch(const struct ys_tail *tail, const void *stats, const float **mean, const float **unbiased);

/** The gradient by the weight of a convolution in which every channel is a group of its own, or whose x has one
 * channel.
 */
struct ys_depthwise {
    struct ys_value_layout x, dy; /* with the same lanes; of an x of one channel the rows alone count, in C order */
    int threads;
    bool has_bias;
    int64_t extent[2], out[2]; /* height and width of x and of dy */
    struct ys_window window;   /* at most YS_DEPTHWISE_TAPS elements */
};
enum { YS_DEPTHWISE_TAPS = 256 };

/** A pool whose result is the largest element under each window. */
struct ys_maxpool {
    struct ys_value_layout x, y; /* with the same lanes */
    int threads;
    int64_t extent[2], out[2]; /* height and width of x and of y */
    struct ys_window window;   /* at most YS_MAXPOOL_TAPS elements */
    bool has_winners;
};
/* Winners are bytes, laid out as y is: the element of the window that won, row by row; YS_MAXPOOL_TAPS: all is padding.
 */
enum { YS_MAXPOOL_TAPS = 255 };

struct ys_elements {
    int threads;
    size_t count;
};

struct ys_update {
    int threads;
    const struct ys_lowering *low;
};

/* Each takes the struct named as its context. Those with two passes over x take so few channels at a time that the
 * second pass finds them in the cache. */
struct ys_kernels {
    ys_call_run tail_norm; /* ys_tail with norm. x, weight, bias, running_mean, running_var, stats, y, [z]: statistics
                              of the batch in training, the running ones else, and y */
    ys_call_run tail_forward; /* ys_tail. x, y, [stats as tail_norm left them], [z] */
    /* ys_tail with norm. dy, x, stats, weight gradient, bias gradient, y (read with a sum and an activation only), dz
     * (may be dy), second dy, dx (may be dz): dz = (dy + second) act', and through the normalisation */
    ys_call_run tail_backward;
    ys_call_run tail_mask;         /* ys_tail without norm. dy, y, dz (may be dy), [second dy] */
    ys_call_run depthwise_weights; /* x, dy, dw in C order (channels, kernel height, kernel width), [dbias] */
    ys_call_run narrow_weights;    /* the same of an x of one channel */
    /* ys_maxpool. x, y, [winners]. The first of equal elements wins, and a NaN over all others. */
    ys_call_run maxpool;
    ys_call_run maxpool_backward; /* ys_maxpool. dy, winners, dx */
    ys_call_run add;              /* ys_elements. a += b */
    ys_call_run multiply;         /* ys_elements. y = a * b */
};

/* A step of LSTM and of GRU for one row, in float: backend/recurrent.h, docs/graph.md. `hidden` numbers of each array,
 * of `gate` 4 or 3 times as many: the sums of the products, without the bias, become the gates behind their functions.
 * The state and the cell before are NULL at the first position, what comes from behind at the last. */
struct ys_recurrent_kernels {
    void (*lstm)(int64_t hidden, const float *bias, const float *cell_before, float *gate, float *cell, float *y);
    /* `inner`: the product, without its bias; it is not read at the first position */
    void (*gru)(int64_t hidden, const float *bias, const float *inner_bias, const float *y_before, float *gate,
                float *inner, float *y);
    /* The gradient of y, and what came from the position behind; the gradients of the sums, and of the cell before. */
    void (*lstm_backward)(int64_t hidden, const float *gate, const float *cell_before, const float *cell,
                          const float *dy, const float *carried, const float *dcell_behind, float *dgate, float *dcell);
    /* `carried`, to which the products add, becomes what goes past them to the state before. */
    void (*gru_backward)(int64_t hidden, const float *gate, const float *y_before, const float *inner, const float *dy,
                         bool is_last, float *carried, float *dgate, float *dinner);
};

/* Lines of a softmax. A line that is a number, all of which is -infinity or a NaN, gives NaN. */
struct ys_softmax_kernels {
    float (*largest)(const float *z, int64_t count);
    /* to[k] = exp(z[k] - top), unless `to` is NULL; may be z. Their sum. */
    double (*exponents)(const float *z, int64_t count, float top, float *to);
    void (*times)(float *z, int64_t count, float factor, float shift); /* z = z * factor + shift */
};

struct ys_line_statistics {
    float mean, inverse; /* 1 / sqrt(variance + epsilon) */
};

/* Lines of a normalisation along the last axis, by the mean square where `is_square`: then the mean counts as 0. */
struct ys_line_kernels {
    /* Sums in double: a line may be long, and its mean far from 0. */
    struct ys_line_statistics (*statistics)(const float *x, int64_t count, bool is_square, float epsilon);
    /* y = (x - mean) inverse weight + bias; no bias where it is NULL */
    void (*forward)(const struct ys_line_statistics *s, int64_t count, const float *x, const float *weight,
                    const float *bias, float *y);
    /* With z = (x - mean) inverse and g = dy weight, dx = inverse (g - mean of g - z mean of g z), without the mean of
     * g where there is no mean that moves with x. */
    void (*backward)(const struct ys_line_statistics *s, bool is_square, int64_t count, const float *x,
                     const float *weight, const float *dy, float *dx);
    /* What this line adds: dweight += dy z, dbias += dy, unless it is NULL */
    void (*gather)(const struct ys_line_statistics *s, int64_t count, const float *x, const float *dy, float *dweight,
                   float *dbias);
};

/** In the widest form that this processor runs. */
const struct ys_line_kernels *ys_line_kernels(void);
const struct ys_softmax_kernels *ys_softmax_kernels(void);
const struct ys_recurrent_kernels *ys_recurrent_kernels(void);

/** For values in blocks of so many lanes, in float or bfloat16 (where ys_level_lacks(YS_ENGINE_BF16) is NULL), in the
 * widest form that this processor runs and a block fills. */
const struct ys_kernels *ys_kernels(bool bf16, int64_t lanes);
/** The optimizer. Context: ys_update; operands: weights, gradients, [state1], [state2]. */
ys_call_run ys_kernel_update(void);

#endif
