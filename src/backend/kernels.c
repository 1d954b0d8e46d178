#include "backend/kernels_tail.h"

#include <math.h>

extern const struct ys_kernels ys_kernels_f32, ys_kernels_bf16;
extern const struct ys_recurrent_kernels ys_kernels_recurrent;
extern const struct ys_softmax_kernels ys_kernels_softmax;
extern ys_status ys_kernels_update(void *context, void *const *operand);
#ifdef __x86_64__
extern const struct ys_kernels ys_kernels_f32_v3, ys_kernels_bf16_v3, ys_kernels_f32_v4, ys_kernels_bf16_v4;
extern const struct ys_recurrent_kernels ys_kernels_recurrent_v3, ys_kernels_recurrent_v4;
extern const struct ys_softmax_kernels ys_kernels_softmax_v3, ys_kernels_softmax_v4;
extern ys_status ys_kernels_update_v3(void *context, void *const *operand);
extern ys_status ys_kernels_update_v4(void *context, void *const *operand);
#endif

/** The widest of the x86-64 levels that were compiled: 1, 3 or 4. */
static int width(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return 3;
#endif
    return 1;
}

const struct ys_kernels *ys_kernels(bool bf16)
{
    switch (width()) {
#ifdef __x86_64__
    case 4:
        return bf16 ? &ys_kernels_bf16_v4 : &ys_kernels_f32_v4;
    case 3:
        return bf16 ? &ys_kernels_bf16_v3 : &ys_kernels_f32_v3;
#endif
    default:
        return bf16 ? &ys_kernels_bf16 : &ys_kernels_f32;
    }
}

ys_call_run ys_kernel_update(void)
{
    switch (width()) {
#ifdef __x86_64__
    case 4:
        return ys_kernels_update_v4;
    case 3:
        return ys_kernels_update_v3;
#endif
    default:
        return ys_kernels_update;
    }
}

const struct ys_recurrent_kernels *ys_recurrent_kernels(void)
{
    switch (width()) {
#ifdef __x86_64__
    case 4:
        return &ys_kernels_recurrent_v4;
    case 3:
        return &ys_kernels_recurrent_v3;
#endif
    default:
        return &ys_kernels_recurrent;
    }
}

const struct ys_softmax_kernels *ys_softmax_kernels(void)
{
    switch (width()) {
#ifdef __x86_64__
    case 4:
        return &ys_kernels_softmax_v4;
    case 3:
        return &ys_kernels_softmax_v3;
#endif
    default:
        return &ys_kernels_softmax;
    }
}

size_t ys_tail_stats_bytes(const struct ys_tail *t)
{
    return YS_STATS_COUNT * (size_t)tail_stride(t) * sizeof(float) +
           (size_t)(t->image.rows * tail_blocks(t)) * 2 * YS_LANES * sizeof(double);
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

void tail_stats_finish(const struct ys_tail *t, void *const *operand, int64_t c, bool training, float shift)
{
    const float *weight = operand[1], *bias = operand[2], *running_mean = operand[3], *running_var = operand[4];
    float *stats = operand[5];
    int64_t stride = tail_stride(t), count = t->image.rows * t->image.positions;
    double mean = running_mean[c], variance = running_var[c];
    if (training) {
        double sum, square;
        tail_total(t, stats, c, &sum, &square);
        double offset = sum / (double)count;
        mean = shift + offset;
        variance = square / (double)count - offset * offset;
        variance = variance > 0 ? variance : 0;
        stats[YS_STATS_UNBIASED * stride + c] =
            (float)(count > 1 ? variance * (double)count / (double)(count - 1) : variance);
    }
    double inverse = 1 / sqrt(variance + t->epsilon);
    stats[YS_STATS_MEAN * stride + c] = (float)mean;
    stats[YS_STATS_INVERSE * stride + c] = (float)inverse;
    stats[YS_STATS_SCALE * stride + c] = (float)(weight[c] * inverse);
    stats[YS_STATS_BIAS * stride + c] = bias[c];
}

void tail_reduce_finish(const struct ys_tail *t, void *const *operand, int64_t c, bool training)
{
    float *stats = operand[2], *weight_gradient = operand[3], *bias_gradient = operand[4];
    int64_t stride = tail_stride(t);
    double count = (double)(t->image.rows * t->image.positions), sum, product;
    tail_total(t, stats, c, &sum, &product);
    weight_gradient[c] = (float)product;
    bias_gradient[c] = (float)sum;
    stats[YS_STATS_MEAN_DZ * stride + c] = training ? (float)(sum / count) : 0;
    stats[YS_STATS_SLOPE_DZ * stride + c] =
        training ? (float)(product / count * stats[YS_STATS_INVERSE * stride + c]) : 0;
}
