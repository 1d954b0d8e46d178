/* What the kernels of all formats share: vectors as wide as the registers that a file is compiled for, and a tail's
 * statistics. Included by the kernels' own files. */
#ifndef YS_BACKEND_KERNELS_KERNELS_TAIL_H
#define YS_BACKEND_KERNELS_KERNELS_TAIL_H

#include "backend/kernels/kernels.h"
#include <string.h>

/* Lanes of a vector. Of two registers the compiler makes an array in memory. */
#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef float vector __attribute__((vector_size(4 * LANES)));
typedef int32_t truth __attribute__((vector_size(4 * LANES))); /* of a comparison: all bits or none */
typedef double wide __attribute__((vector_size(8 * LANES)));

struct tail_channel { /* of one unit */
    vector mean, inverse, scale, bias, mean_dz, slope_dz;
};

static inline int64_t tail_blocks(const struct ys_tail *t)
{
    return (t->image.channels + t->image.lanes - 1) / t->image.lanes;
}

/** All blocks of channels. */
static inline struct ys_tail tail_whole(const struct ys_tail *t)
{
    struct ys_tail whole = *t;
    whole.first_block = 0;
    whole.block_count = tail_blocks(t);
    return whole;
}

/** Vectors that a block of channels takes. */
static inline int64_t tail_parts(const struct ys_value_layout *im)
{
    return (im->lanes + LANES - 1) / LANES;
}

/** Of the blocks that are being worked on: a unit is one vector of channels in one row. */
static inline size_t tail_units(const struct ys_tail *t)
{
    return (size_t)(t->image.rows * t->block_count * tail_parts(&t->image));
}

/** Lanes of the vector that begins at `channel`, lane `lane` of its block, that are in memory; 0 or less: none. */
static inline int tail_width(const struct ys_value_layout *im, int64_t channel, int64_t lane)
{
    const int64_t left = im->has_padding ? im->lanes - lane : im->channels - channel;
    const int64_t most = im->lanes < LANES ? im->lanes : LANES;
    return (int)(left < most ? left : most);
}

struct tail_unit {
    int64_t channel, first, place; /* first: where its channels begin in row 0; place: in its own */
    int width;                     /* lanes in memory */
    double *sums;                  /* of the first quantity; those of the second lie YS_LANES behind */
};

/** Length of one array of statistics: a vector may be read from any channel that begins a block. */
static inline int64_t tail_stride(const struct ys_tail *t)
{
    return (t->image.channels + 2 * YS_LANES - 1) / YS_LANES * YS_LANES;
}

static inline double *tail_sums(const struct ys_tail *t, void *stats, int64_t row, int64_t block)
{
    int64_t unit = row * tail_blocks(t) + block;
    return (double *)(void *)((float *)stats + YS_STATS_COUNT * tail_stride(t)) + unit * (2 * YS_LANES);
}

static inline struct tail_unit tail_unit(const struct ys_tail *t, void *stats, size_t index)
{
    const struct ys_value_layout *im = &t->image;
    const int64_t parts = tail_parts(im), lane = (int64_t)index % parts * LANES;
    const int64_t block = t->first_block + (int64_t)index / parts % t->block_count;
    const int64_t row = (int64_t)index / parts / t->block_count;
    struct tail_unit u = {.channel = block * im->lanes + lane, .first = block * im->block + lane};
    u.place = row * im->row + u.first;
    u.width = tail_width(im, u.channel, lane);
    u.sums = stats ? tail_sums(t, stats, row, block) + lane : NULL;
    return u;
}

static inline vector tail_load(const float *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void tail_channel_load(const struct ys_tail *t, const void *stats, int64_t channel,
                                     struct tail_channel *ch)
{
    const float *s = (const float *)stats + channel;
    int64_t stride = tail_stride(t);
    ch->mean = tail_load(s + YS_STATS_MEAN * stride);
    ch->inverse = tail_load(s + YS_STATS_INVERSE * stride);
    ch->scale = tail_load(s + YS_STATS_SCALE * stride);
    ch->bias = tail_load(s + YS_STATS_BIAS * stride);
    ch->mean_dz = tail_load(s + YS_STATS_MEAN_DZ * stride);
    ch->slope_dz = tail_load(s + YS_STATS_SLOPE_DZ * stride);
}

/** Totals of channel c over the rows of the batch, in their order. */
static inline void tail_total(const struct ys_tail *t, void *stats, int64_t c, double *first, double *second)
{
    int64_t block = c / t->image.lanes, lane = c % t->image.lanes;
    *first = *second = 0;
    for (int64_t n = 0; n < t->image.rows; n++) {
        const double *sums = tail_sums(t, stats, n, block);
        *first += sums[lane];
        *second += sums[YS_LANES + lane];
    }
}

/** Lanes beyond the channels get statistics 0, so that what a layout pads with stays 0. */
void tail_stats_clear(const struct ys_tail *t, void *stats);
/** operand: x, weight, bias, running_mean, running_var, stats. `shift` was taken from every x before it was summed. */
void tail_stats_finish(const struct ys_tail *t, void *const *operand, int64_t c, bool training, float shift);
/** operand: dy, x, stats, weight gradient, bias gradient. */
void tail_reduce_finish(const struct ys_tail *t, void *const *operand, int64_t c, bool training);
/* The same of a batch that several engines have: each of the first two for every channel, then the third. */
void tail_stats_own(const struct ys_tail *t, void *stats, int64_t c, float shift);
void tail_reduce_own(const struct ys_tail *t, void *const *operand, int64_t c);
ys_status tail_stats_join(const struct ys_tail *t, void *const *operand) YS_MUST_CHECK;
ys_status tail_reduce_join(const struct ys_tail *t, void *stats) YS_MUST_CHECK;

#endif
