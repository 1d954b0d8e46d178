#include "backend/onednn/onednn.h"

#include "base/mem.h"
#include "backend/kernels/kernels.h"
#include "backend/parallel.h"
#include <math.h>
#include <string.h>

/** The same arithmetic as the reference back end, so that the two start from equal values. */
static float normalized(const struct ys_normalize *n, size_t channel, float x)
{
    return n ? (x * (float)n->scale - (float)n->mean[channel]) / (float)n->std[channel] : x;
}

static size_t statistics(const struct ys_onednn_pixels *p)
{
    return p->normalize ? p->normalize->channels : 1;
}

ys_status ys_onednn_pixels_prepare(struct ys_onednn_pixels *p)
{
    p->table = ys_alloc(256 * statistics(p), sizeof *p->table);
    if (!p->table)
        return ys_out_of_memory();
    for (size_t i = 0; i < 256 * statistics(p); i++)
        p->table[i] = normalized(p->normalize, i / 256, (float)(i % 256));
    return YS_OK;
}

void ys_onednn_pixels_free(void *context)
{
    ys_free(((struct ys_onednn_pixels *)context)->table);
    ys_free(context);
}

static void pixels_plane(const struct ys_onednn_pixels *p, int64_t plane, const void *raw, float *y)
{
    size_t channel = statistics(p) > 1 ? (size_t)(plane % p->channels) : 0;
    int64_t from = plane * p->height * p->width, step = p->stride[3];
    const float *table = p->table ? p->table + 256 * channel : NULL;
    for (int64_t i = 0; i < p->height; i++, from += p->width) {
        float *row = y + plane / p->channels * p->stride[0] + plane % p->channels * p->stride[1] + i * p->stride[2];
        if (table)
            for (int64_t k = 0; k < p->width; k++)
                row[k * step] = table[((const uint8_t *)raw)[from + k]];
        else if (p->dtype == YS_I32)
            for (int64_t k = 0; k < p->width; k++)
                row[k * step] = normalized(p->normalize, channel, (float)((const int32_t *)raw)[from + k]);
        else
            for (int64_t k = 0; k < p->width; k++)
                row[k * step] = normalized(p->normalize, channel, ((const float *)raw)[from + k]);
    }
}

static void pixels_part(const void *context, void *const *operand, size_t first, size_t end)
{
    for (size_t plane = first; plane < end; plane++)
        pixels_plane(context, (int64_t)plane, operand[0], operand[1]);
}

ys_status ys_onednn_pixels_run(void *context, void *const *operand)
{
    const struct ys_onednn_pixels *p = context;
    ys_parallel_for(p->threads, (size_t)(p->rows * p->channels), 1, pixels_part, p, operand);
    return YS_OK;
}

ys_status ys_onednn_scale_run(void *context, void *const *operand)
{
    const struct ys_onednn_scale *c = context;
    const struct ys_normalize *n = c->normalize;
    const float *dy = operand[0];
    float *dx = operand[1];
    for (int64_t plane = 0; plane < c->rows * c->channels; plane++) {
        float factor = (float)(n->scale / n->std[n->channels > 1 ? plane % c->channels : 0]);
        for (int64_t i = plane * c->area; i < (plane + 1) * c->area; i++)
            dx[i] = dy[i] * factor;
    }
    return YS_OK;
}

/** The result that element `i` of x belongs to. */
static int64_t mean_place(const struct ys_onednn_mean *c, int64_t i)
{
    int64_t place = 0;
    for (size_t axis = c->rank; axis-- > 0; i /= c->dims[axis])
        place += i % c->dims[axis] * c->stride[axis];
    return place;
}

ys_status ys_onednn_mean_run(void *context, void *const *operand)
{
    const struct ys_onednn_mean *c = context;
    const float *x = operand[0];
    float *y = operand[1];
    memset(y, 0, (size_t)c->results * sizeof *y);
    for (int64_t i = 0; i < c->count; i++)
        y[mean_place(c, i)] += x[i] * (float)c->share;
    return YS_OK;
}

ys_status ys_onednn_spread_run(void *context, void *const *operand)
{
    const struct ys_onednn_mean *c = context;
    const float *dy = operand[0];
    float *dx = operand[1];
    for (int64_t i = 0; i < c->count; i++)
        dx[i] = dy[mean_place(c, i)] * (float)c->share;
    return YS_OK;
}

ys_status ys_onednn_dropout_run(void *context, void *const *operand)
{
    const struct ys_onednn_dropout *c = context;
    bool drops = c->mode && *c->mode == YS_ENGINE_TRAIN;
    const float *x = operand[0];
    float *y = operand[1];
    unsigned char *keep = operand[2];
    if (!drops) {
        memcpy(y, x, c->count * sizeof *y);
        return YS_OK;
    }
    ys_dropout_mask(&c->mask, *c->step, 0, c->count, keep);
    for (size_t i = 0; i < c->count; i++)
        y[i] = keep[i] ? x[i] * c->scale : 0;
    return YS_OK;
}

ys_status ys_onednn_dropout_backward_run(void *context, void *const *operand)
{
    const struct ys_onednn_dropout *c = context;
    const float *dy = operand[0];
    float *dx = operand[1];
    const unsigned char *keep = operand[2];
    if (*c->mode != YS_ENGINE_TRAIN)
        memcpy(dx, dy, c->count * sizeof *dx);
    else
        for (size_t i = 0; i < c->count; i++)
            dx[i] = keep[i] ? dy[i] * c->scale : 0;
    return YS_OK;
}

/* The losses of one row, in double: the logits are few, and the sum of exponentials is where float would lose most.
 * Each returns the row's loss and, where dz is given, writes its gradient, the gradient divided by the `count` of
 * targets that the mean is of. */

static double cross_entropy(const struct ys_onednn_loss *c, const float *z, int64_t label, double count, float *dz)
{
    double top = z[0], sum = 0, all = 0, rest = c->smoothing / (double)c->classes;
    for (int64_t k = 1; k < c->classes; k++)
        top = z[k] > top ? z[k] : top;
    for (int64_t k = 0; k < c->classes; k++) {
        sum += exp(z[k] - top);
        all += z[k];
    }
    double log_sum = top + log(sum);
    for (int64_t k = 0; dz && k < c->classes; k++)
        dz[k] = (float)((exp(z[k] - log_sum) - rest - (k == label ? 1 - c->smoothing : 0)) / count);
    return log_sum - (1 - c->smoothing) * z[label] - rest * all;
}

/* Of many classes: each exponential once, in float, their sum in double. */
static double cross_entropy_of_many(const struct ys_onednn_loss *c, const float *z, int64_t label, double count,
                                    float *dz)
{
    const struct ys_softmax_kernels *kernels = ys_softmax_kernels();
    const double rest = c->smoothing / (double)c->classes, own = 1 - c->smoothing;
    const float top = kernels->largest(z, c->classes);
    const double sum = kernels->exponents(z, c->classes, top, dz), log_sum = (double)top + log(sum);
    double all = 0;
    for (int64_t k = 0; c->smoothing > 0 && k < c->classes; k++)
        all += z[k];
    if (dz) {
        kernels->times(dz, c->classes, (float)(1 / (sum * count)), (float)(-rest / count));
        dz[label] = (float)((exp(z[label] - log_sum) - rest - own) / count);
    }
    return log_sum - own * z[label] - rest * all;
}

static double negative_log(const struct ys_onednn_loss *c, const float *z, int64_t label, double count, float *dz)
{
    for (int64_t k = 0; dz && k < c->classes; k++)
        dz[k] = k == label ? (float)(-1 / count) : 0;
    return -(double)z[label];
}

/** From the label's unit vector; from `numbers` where they are given. */
static double squared_error(const struct ys_onednn_loss *c, const float *z, int64_t label, const float *numbers,
                            double count, float *dz)
{
    double sum = 0;
    for (int64_t k = 0; k < c->classes; k++) {
        double d = z[k] - (numbers ? (double)numbers[k] : k == label ? 1 : 0);
        sum += d * d;
        if (dz)
            dz[k] = (float)(2 * d / (double)c->classes / count);
    }
    return sum / (double)c->classes;
}

#define MANY_CLASSES 32 /* below, the exponentials in double are few */

/* Positions without a target, whose label is below 0, have neither loss nor gradient. */
static double loss_of_row(const struct ys_onednn_loss *c, void *const *operand, int64_t n)
{
    const int64_t *labels = operand[1];
    const float *numbers = operand[1], *z = (const float *)operand[0] + n * c->classes;
    const double count = ((const double *)operand[3])[c->rows];
    float *dz = c->with_gradient ? (float *)operand[4] + n * c->classes : NULL;
    if (c->has_numbers)
        return squared_error(c, z, 0, numbers + n * c->classes, count, dz);
    if (labels[n] < 0) {
        if (dz)
            memset(dz, 0, (size_t)c->classes * sizeof *dz);
        return 0;
    }
    if (c->kind == YS_LOSS_NLL)
        return negative_log(c, z, labels[n], count, dz);
    if (c->kind == YS_LOSS_MEAN_SQUARED_ERROR)
        return squared_error(c, z, labels[n], NULL, count, dz);
    return c->classes < MANY_CLASSES ? cross_entropy(c, z, labels[n], count, dz)
                                     : cross_entropy_of_many(c, z, labels[n], count, dz);
}

static void loss_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_onednn_loss *c = context;
    for (int64_t n = (int64_t)first; n < (int64_t)end; n++)
        ((double *)operand[3])[n] = loss_of_row(c, operand, n);
}

/* The losses of the rows are added in their order, whoever made them; behind them lies the number of targets. */
ys_status ys_onednn_loss_run(void *context, void *const *operand)
{
    const struct ys_onednn_loss *c = context;
    const int64_t *labels = operand[1];
    double *losses = operand[3], total = 0, count = 0;
    for (int64_t n = 0; n < c->rows; n++)
        count += c->has_numbers || labels[n] >= 0;
    losses[c->rows] = count;
    ys_parallel_for(c->classes < MANY_CLASSES ? 1 : c->threads, (size_t)c->rows, 1, loss_part, context, operand);
    for (int64_t n = 0; n < c->rows; n++)
        total += losses[n];
    *(float *)operand[2] = (float)(total / count);
    return YS_OK;
}
