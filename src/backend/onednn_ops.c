#include "backend/onednn.h"

#include "base/mem.h"
#include <math.h>

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
    const float *table = p->table + (p->table ? 256 * channel : 0);
    for (int64_t i = 0; i < p->height; i++, from += p->width) {
        float *row = y + plane / p->channels * p->stride[0] + plane % p->channels * p->stride[1] + i * p->stride[2];
        if (table)
            for (int64_t k = 0; k < p->width; k++)
                row[k * step] = table[((const uint8_t *)raw)[from + k]];
        else
            for (int64_t k = 0; k < p->width; k++)
                row[k * step] = normalized(p->normalize, channel, ((const float *)raw)[from + k]);
    }
}

ys_status ys_onednn_pixels_run(void *context, void *const *operand)
{
    const struct ys_onednn_pixels *p = context;
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t plane = 0; plane < p->rows * p->channels; plane++)
        pixels_plane(p, plane, operand[0], operand[1]);
    return YS_OK;
}

enum { CHUNK = 4096 };

ys_status ys_onednn_relu_run(void *context, void *const *operand)
{
    const struct ys_onednn_elements *c = context;
    const float *x = operand[0];
    float *y = operand[1];
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (size_t from = 0; from < c->count; from += CHUNK) {
        size_t end = from + CHUNK < c->count ? from + CHUNK : c->count;
        for (size_t i = from; i < end; i++)
            y[i] = x[i] <= 0 ? 0 : x[i];
    }
    return YS_OK;
}

ys_status ys_onednn_mask_run(void *context, void *const *operand)
{
    const struct ys_onednn_elements *c = context;
    const float *y = operand[0];
    float *gradient = operand[1];
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (size_t from = 0; from < c->count; from += CHUNK) {
        size_t end = from + CHUNK < c->count ? from + CHUNK : c->count;
        for (size_t i = from; i < end; i++)
            gradient[i] = y[i] > 0 ? gradient[i] : 0;
    }
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

/** In double: the logits are few, and the sum of exponentials is where float would lose most. */
ys_status ys_onednn_loss_run(void *context, void *const *operand)
{
    const struct ys_onednn_loss *c = context;
    const int64_t *labels = operand[1];
    double total = 0;
    for (int64_t n = 0; n < c->rows; n++) {
        const float *z = (const float *)operand[0] + n * c->classes;
        double top = z[0], sum = 0;
        for (int64_t k = 1; k < c->classes; k++)
            top = z[k] > top ? z[k] : top;
        for (int64_t k = 0; k < c->classes; k++)
            sum += exp(z[k] - top);
        double log_sum = top + log(sum);
        total += log_sum - z[labels[n]];
        float *dz = c->with_gradient ? (float *)operand[3] + n * c->classes : NULL;
        for (int64_t k = 0; dz && k < c->classes; k++)
            dz[k] = (float)((exp(z[k] - log_sum) - (k == labels[n])) / (double)c->rows);
    }
    *(float *)operand[2] = (float)(total / (double)c->rows);
    return YS_OK;
}

/** One pass over [from, end) of the three flat arrays. */
static void update_part(const struct ys_lowering *low, const struct ys_update_range *range, size_t from, size_t end,
                        float *restrict w, const float *restrict g, float *restrict v)
{
    float rate = (float)(*low->lr * range->lr_mult), decay = (float)(low->config.weight_decay * range->decay_mult);
    float momentum = (float)low->config.momentum;
    if (!v) {
        for (size_t i = from; i < end; i++)
            w[i] = w[i] - rate * (g[i] + decay * w[i]);
    } else if (low->config.nesterov) {
        for (size_t i = from; i < end; i++) {
            float d = g[i] + decay * w[i], moved = momentum * v[i] + d;
            v[i] = moved;
            w[i] = w[i] - rate * (d + momentum * moved);
        }
    } else {
        for (size_t i = from; i < end; i++) {
            float moved = momentum * v[i] + (g[i] + decay * w[i]);
            v[i] = moved;
            w[i] = w[i] - rate * moved;
        }
    }
}

ys_status ys_onednn_update_run(void *context, void *const *operand)
{
    const struct ys_onednn_update *c = context;
    const struct ys_lowering *low = c->low;
    float *w = operand[0], *v = low->momenta >= 0 ? operand[2] : NULL;
    const float *g = operand[1];
    for (size_t r = 0; r < low->range_count; r++) {
        const struct ys_update_range *range = &low->ranges[r];
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (size_t from = 0; from < range->count; from += CHUNK) {
            size_t end = from + CHUNK < range->count ? from + CHUNK : range->count;
            update_part(low, range, range->first + from, range->first + end, w, g, v);
        }
    }
    return YS_OK;
}
