#include "backend/onednn.h"

#include "base/mem.h"
#include "backend/parallel.h"
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

enum { GRAIN = 1024 }; /* elements: 4 kB, so that threads share no page */

static void relu_part(const void *context, void *const *operand, size_t first, size_t end)
{
    (void)context;
    const float *x = operand[0];
    float *y = operand[1];
    for (size_t i = first; i < end; i++)
        y[i] = x[i] <= 0 ? 0 : x[i];
}

ys_status ys_onednn_relu_run(void *context, void *const *operand)
{
    const struct ys_onednn_elements *c = context;
    ys_parallel_for(c->threads, c->count, GRAIN, relu_part, c, operand);
    return YS_OK;
}

static void mask_part(const void *context, void *const *operand, size_t first, size_t end)
{
    (void)context;
    const float *y = operand[0];
    float *gradient = operand[1];
    for (size_t i = first; i < end; i++)
        gradient[i] = y[i] > 0 ? gradient[i] : 0;
}

ys_status ys_onednn_mask_run(void *context, void *const *operand)
{
    const struct ys_onednn_elements *c = context;
    ys_parallel_for(c->threads, c->count, GRAIN, mask_part, c, operand);
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

struct update_part {
    const struct ys_lowering *low;
    const struct ys_update_range *range;
};

/** One pass over elements of a range, in the three flat arrays at once. */
static void update_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct update_part *part = context;
    const struct ys_lowering *low = part->low;
    float rate = (float)(*low->lr * part->range->lr_mult), momentum = (float)low->config.optimizer.momentum;
    float decay = (float)(low->config.optimizer.weight_decay * part->range->decay_mult);
    float *restrict w = (float *)operand[0] + part->range->first;
    const float *restrict g = (const float *)operand[1] + part->range->first;
    float *restrict v = low->state1 >= 0 ? (float *)operand[2] + part->range->first : NULL;
    if (!v) {
        for (size_t i = first; i < end; i++)
            w[i] = w[i] - rate * (g[i] + decay * w[i]);
    } else if (low->config.optimizer.nesterov) {
        for (size_t i = first; i < end; i++) {
            float d = g[i] + decay * w[i], moved = momentum * v[i] + d;
            v[i] = moved;
            w[i] = w[i] - rate * (d + momentum * moved);
        }
    } else {
        for (size_t i = first; i < end; i++) {
            float moved = momentum * v[i] + (g[i] + decay * w[i]);
            v[i] = moved;
            w[i] = w[i] - rate * moved;
        }
    }
}

ys_status ys_onednn_update_run(void *context, void *const *operand)
{
    const struct ys_onednn_update *c = context;
    for (size_t r = 0; r < c->low->range_count; r++) {
        struct update_part part = {c->low, &c->low->ranges[r]};
        ys_parallel_for(c->threads, part.range->count, GRAIN, update_part, &part, operand);
    }
    return YS_OK;
}
