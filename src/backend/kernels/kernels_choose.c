#include "backend/kernels/kernels_attention.h"
#include "backend/kernels/kernels_tail.h"
#include "backend/level.h"

#include <math.h>

typedef ys_status update_function(void *context, void *const *operand);

YS_FORMS(const struct ys_kernels, ys_kernels_f32);
YS_FORMS(const struct ys_attention_kernels, ys_kernels_attention);
YS_FORMS(const struct ys_recurrent_kernels, ys_kernels_recurrent);
YS_FORMS(const struct ys_softmax_kernels, ys_kernels_softmax);
YS_FORMS(const struct ys_line_kernels, ys_kernels_line);
YS_FORMS(update_function, ys_kernels_update);

#ifdef __x86_64__
extern const struct ys_kernels ys_kernels_bf16_v4;

const struct ys_kernels *ys_kernels(bool bf16, int64_t lanes)
{
    if (bf16)
        return &ys_kernels_bf16_v4;
    return ys_level_width() == 4 && lanes < YS_LANES ? &ys_kernels_f32_v3 : YS_FORM(ys_kernels_f32);
}
#else
const struct ys_kernels *ys_kernels(bool bf16, int64_t lanes)
{
    (void)lanes;
    return bf16 ? NULL : YS_FORM(ys_kernels_f32);
}
#endif

ys_call_run ys_kernel_update(void)
{
    return YS_FORM(ys_kernels_update);
}

const struct ys_attention_kernels *ys_attention_kernels(void)
{
    return YS_FORM(ys_kernels_attention);
}

const struct ys_recurrent_kernels *ys_recurrent_kernels(void)
{
    return YS_FORM(ys_kernels_recurrent);
}

const struct ys_softmax_kernels *ys_softmax_kernels(void)
{
    return YS_FORM(ys_kernels_softmax);
}

const struct ys_line_kernels *ys_line_kernels(void)
{
    return YS_FORM(ys_kernels_line);
}

/** Two doubles for each lane of each unit. */
static size_t sum_count(const struct ys_tail *t)
{
    return (size_t)(t->image.rows * tail_blocks(t)) * 2 * YS_LANES;
}

size_t ys_tail_stats_bytes(const struct ys_tail *t)
{
    return YS_STATS_COUNT * (size_t)tail_stride(t) * sizeof(float) +
           (sum_count(t) + 3 * (size_t)t->image.channels) * sizeof(double);
}

/** Two arrays [channels] for what engines join, and room for a third. */
static double *joined_of(const struct ys_tail *t, void *stats)
{
    return tail_sums(t, stats, 0, 0) + sum_count(t);
}

void ys_tail_batch(const struct ys_tail *t, const void *stats, const float **mean, const float **unbiased)
{
    *mean = (const float *)stats + YS_STATS_MEAN * tail_stride(t);
    *unbiased = (const float *)stats + YS_STATS_UNBIASED * tail_stride(t);
}

void tail_stats_clear(const struct ys_tail *t, void *stats)
{
    for (int array = 0; array < YS_STATS_COUNT; array++)
        for (int64_t c = t->image.channels; c < tail_stride(t); c++)
            ((float *)stats)[array * tail_stride(t) + c] = 0;
}

/** Mean and variance (with n) of channel c. */
static void own_statistics(const struct ys_tail *t, void *stats, int64_t c, float shift, double *mean, double *variance)
{
    double count = (double)(t->image.rows * t->image.positions), sum, square;
    tail_total(t, stats, c, &sum, &square);
    double offset = sum / count;
    *mean = shift + offset;
    *variance = square / count - offset * offset;
    *variance = *variance > 0 ? *variance : 0;
}

static void set_statistics(const struct ys_tail *t, void *const *operand, int64_t c, double mean, double variance)
{
    const float *weight = operand[1], *bias = operand[2];
    float *stats = operand[5];
    int64_t stride = tail_stride(t);
    double inverse = 1 / sqrt(variance + t->epsilon);
    stats[YS_STATS_MEAN * stride + c] = (float)mean;
    stats[YS_STATS_INVERSE * stride + c] = (float)inverse;
    stats[YS_STATS_SCALE * stride + c] = (float)(weight[c] * inverse);
    stats[YS_STATS_BIAS * stride + c] = bias[c];
}

/** The variance with n - 1, of n = `count` numbers. */
static void set_unbiased(const struct ys_tail *t, float *stats, int64_t c, double variance, int64_t count)
{
    stats[YS_STATS_UNBIASED * tail_stride(t) + c] =
        (float)(count > 1 ? variance * (double)count / (double)(count - 1) : variance);
}

void tail_stats_finish(const struct ys_tail *t, void *const *operand, int64_t c, bool training, float shift)
{
    double mean = ((const float *)operand[3])[c], variance = ((const float *)operand[4])[c];
    if (training) {
        own_statistics(t, operand[5], c, shift, &mean, &variance);
        set_unbiased(t, operand[5], c, variance, t->image.rows * t->image.positions);
    }
    set_statistics(t, operand, c, mean, variance);
}

void tail_stats_own(const struct ys_tail *t, void *stats, int64_t c, float shift)
{
    double *mean = joined_of(t, stats);
    own_statistics(t, stats, c, shift, &mean[c], &mean[t->image.channels + c]);
}

ys_status tail_stats_join(const struct ys_tail *t, void *const *operand)
{
    const int64_t channels = t->image.channels;
    double *mean = joined_of(t, operand[5]), *variance = mean + channels;
    YS_TRY(ys_lower_join_statistics(t->lowering, mean, variance, variance + channels, (size_t)channels));
    for (int64_t c = 0; c < channels; c++) {
        set_unbiased(t, operand[5], c, variance[c], ys_lower_joined(t->lowering) * t->image.rows * t->image.positions);
        set_statistics(t, operand, c, mean[c], variance[c]);
    }
    return YS_OK;
}

/** The gradients of weight and bias, and the means of dz and of dz * xhat. */
static void own_reduced(const struct ys_tail *t, void *const *operand, int64_t c, double *mean_dz, double *mean_product)
{
    float *weight_gradient = operand[3], *bias_gradient = operand[4];
    double count = (double)(t->image.rows * t->image.positions), sum, product;
    tail_total(t, operand[2], c, &sum, &product);
    weight_gradient[c] = (float)product;
    bias_gradient[c] = (float)sum;
    *mean_dz = sum / count;
    *mean_product = product / count;
}

static void set_reduced(const struct ys_tail *t, float *stats, int64_t c, double mean_dz, double mean_product)
{
    int64_t stride = tail_stride(t);
    stats[YS_STATS_MEAN_DZ * stride + c] = (float)mean_dz;
    stats[YS_STATS_SLOPE_DZ * stride + c] = (float)(mean_product * stats[YS_STATS_INVERSE * stride + c]);
}

void tail_reduce_finish(const struct ys_tail *t, void *const *operand, int64_t c, bool training)
{
    double mean_dz, mean_product;
    own_reduced(t, operand, c, &mean_dz, &mean_product);
    set_reduced(t, operand[2], c, training ? mean_dz : 0, training ? mean_product : 0);
}

void tail_reduce_own(const struct ys_tail *t, void *const *operand, int64_t c)
{
    double *mean_dz = joined_of(t, operand[2]);
    own_reduced(t, operand, c, &mean_dz[c], &mean_dz[t->image.channels + c]);
}

ys_status tail_reduce_join(const struct ys_tail *t, void *stats)
{
    const int64_t channels = t->image.channels;
    double *mean_dz = joined_of(t, stats);
    YS_TRY(ys_lower_join(t->lowering, mean_dz, 2 * (size_t)channels));
    for (int64_t c = 0; c < channels; c++)
        set_reduced(t, stats, c, mean_dz[c], mean_dz[channels + c]);
    return YS_OK;
}
