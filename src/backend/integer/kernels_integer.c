/* The loops behind quantised nodes. YS_KERNELS names the table: compiled once for each width of vector registers. Sums
 * are of 32 bits, which quant/quant_plan.h has seen to be enough; what is rounded is computed in double. */
#include "backend/integer/kernels_integer.h"

#include "quant/rounding.h"
#include <string.h>

extern const struct ys_integer_kernels YS_KERNELS;

/** The taps of a window along one axis that lie in [low, high). */
struct window_taps {
    int64_t at; /* of tap 0 */
    int64_t first, end;
};

static struct window_taps taps_of(const struct ys_window *w, int axis, int64_t out, int64_t low, int64_t high)
{
    struct window_taps t = {.at = out * w->stride[axis] - w->pad[axis], .end = w->kernel[axis]};
    while (t.first < t.end && t.at + t.first * w->dilation[axis] < low)
        t.first++;
    while (t.end > t.first && t.at + (t.end - 1) * w->dilation[axis] >= high)
        t.end--;
    return t;
}

static int32_t dot(const uint8_t *restrict x, const int8_t *restrict w, int64_t count, int32_t zero)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += ((int32_t)x[i] - zero) * w[i];
    return sum;
}

/** All channels of one position of the result. */
static void position_sums(const struct ys_integer_product *p, int32_t zero, const uint8_t *x, const int8_t *w,
                          struct window_taps y, struct window_taps across, int32_t *sums)
{
    const struct ys_window *win = &p->window;
    const int64_t deep = p->in.channels / win->group, wide = p->out.channels / win->group;
    for (int64_t c = 0; c < p->out.channels; c++) {
        int32_t sum = 0;
        for (int64_t ky = y.first; ky < y.end; ky++)
            for (int64_t kx = across.first; kx < across.end; kx++) {
                const int64_t at = (y.at + ky * win->dilation[0]) * p->in.width + across.at + kx * win->dilation[1];
                sum += dot(x + at * p->in.channels + c / wide * deep,
                           w + ((c * win->kernel[0] + ky) * win->kernel[1] + kx) * deep, deep, zero);
            }
        sums[c] = sum;
    }
}

static void product(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_product *p = context;
    const int32_t zero = p->is_found ? ((const struct ys_integer_found *)operand[3])->zero : p->zero;
    for (size_t line = first; line < end; line++) {
        const int64_t row = (int64_t)line / p->out.height, oy = (int64_t)line % p->out.height;
        const uint8_t *x = (const uint8_t *)operand[0] + row * p->in.height * p->in.width * p->in.channels;
        int32_t *sums = (int32_t *)operand[2] + (int64_t)line * p->out.width * p->out.channels;
        const struct window_taps y = taps_of(&p->window, 0, oy, 0, p->in.height);
        for (int64_t ox = 0; ox < p->out.width; ox++)
            position_sums(p, zero, x, operand[1], y, taps_of(&p->window, 1, ox, 0, p->in.width),
                          sums + ox * p->out.channels);
    }
}

static uint8_t cut(double x, const struct ys_integer_ends *ends)
{
    return ys_quant_steps(x, ends->zero, ends->low, ends->high);
}

static void requantise(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_requantise *r = context;
    const struct ys_integer_ends ends = r->ends;
    const int32_t *restrict weights = operand[1], *restrict bias = r->has_bias ? operand[3] : NULL;
    const double *restrict factor = r->factor;
    for (size_t unit = first; unit < end; unit++) {
        const int32_t *restrict sums = (const int32_t *)operand[0] + (int64_t)unit * r->channels;
        uint8_t *restrict y = (uint8_t *)operand[2] + (int64_t)unit * r->channels;
        for (int64_t c = 0; c < r->channels; c++) {
            const int32_t own = r->zero ? sums[c] - r->zero * weights[c] : sums[c];
            y[c] = cut((double)(bias ? own + bias[c] : own) * factor[c], &ends);
        }
    }
}

static void numbers(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_numbers *n = context;
    const struct ys_integer_found *found = operand[2];
    const int64_t area = n->image.height * n->image.width, channels = n->image.channels;
    const int32_t *weights = operand[1];
    const float *bias = n->has_bias ? operand[4] : NULL;
    for (size_t row = first; row < end; row++) {
        const int32_t *sums = (const int32_t *)operand[0] + (int64_t)row * area * channels;
        float *y = (float *)operand[3] + (int64_t)row * area * channels;
        for (int64_t c = 0; c < channels; c++) {
            const double scale = (double)found->scale * n->factor[c];
            const int32_t less = n->is_raw ? found->zero * weights[c] : 0;
            for (int64_t i = 0; i < area; i++)
                y[c * area + i] =
                    (float)((double)(sums[i * channels + c] - less) * scale + (bias ? (double)bias[c] : 0));
        }
    }
}

static void sum_exactly(const struct ys_integer_sum *s, const uint8_t *restrict a, const uint8_t *restrict b,
                        uint8_t *restrict y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = cut((double)(a[i] - s->zero[0]) * s->factor[0] + (double)(b[i] - s->zero[1]) * s->factor[1], &s->ends);
}

/* Elements of a sum that are rounded in float at a time. */
enum { RUN = 64 };

/* Terms of at most 512 steps are in float within 1e-4 of what they are, five roundings of 2^-15 at most; what lies
 * further than twice that from a half is rounded to the same side. */
static const float MOST_STEPS = 512, SURE = 0.5F - 2e-4F;

/** Whether all of a run was rounded for sure. */
static bool sum_in_float(const struct ys_integer_sum *s, const uint8_t *restrict a, const uint8_t *restrict b,
                         uint8_t *restrict y)
{
    const float shift = 12582912.0F, first = (float)s->factor[0], second = (float)s->factor[1];
    const int zero[2] = {s->zero[0], s->zero[1]};
    const struct ys_integer_ends ends = s->ends;
    int unsure = 0;
    for (int i = 0; i < RUN; i++) {
        float x = (float)(a[i] - zero[0]) * first + (float)(b[i] - zero[1]) * second;
        x = x < -MOST_STEPS ? -MOST_STEPS : x > MOST_STEPS ? MOST_STEPS : x;
        const float rounded = (x + shift) - shift, off = x - rounded;
        unsure |= (off > SURE) | (off < -SURE);
        const int q = (int)rounded + ends.zero;
        y[i] = (uint8_t)(q < ends.low ? ends.low : q > ends.high ? ends.high : q);
    }
    return !unsure;
}

static void sum(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_sum *s = context;
    const uint8_t *a = operand[0], *b = operand[1];
    uint8_t *y = operand[2];
    const double most = (double)MOST_STEPS / UINT8_MAX;
    const bool is_small = s->factor[0] <= most && s->factor[1] <= most;
    for (size_t i = first; i < end; i += RUN) {
        const size_t count = end - i < RUN ? end - i : RUN;
        if (!is_small || count < RUN || !sum_in_float(s, a + i, b + i, y + i))
            sum_exactly(s, a + i, b + i, y + i, (int64_t)count);
    }
}

static void table(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_table *t = context;
    for (size_t unit = first; unit < end; unit++) {
        const uint8_t *x = (const uint8_t *)operand[0] + (int64_t)unit * t->channels;
        uint8_t *y = (uint8_t *)operand[1] + (int64_t)unit * t->of + t->first;
        for (int64_t c = 0; c < t->channels; c++)
            y[c] = t->table[x[c]];
    }
}

static void order(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_order *o = context;
    const int64_t count = o->area * o->channels;
    for (size_t row = first; row < end; row++) {
        const uint8_t *x = (const uint8_t *)operand[0] + (int64_t)row * count;
        uint8_t *y = (uint8_t *)operand[1] + (int64_t)row * count;
        for (int64_t i = 0; i < count; i++)
            y[i % o->to_area * o->to_channels + i / o->to_area] = x[i % o->area * o->channels + i / o->area];
    }
}

static const uint8_t *pixel(const struct ys_integer_pool *p, const uint8_t *x, struct window_taps y, int64_t ky,
                            struct window_taps across, int64_t kx)
{
    const struct ys_window *w = &p->window;
    return x + ((y.at + ky * w->dilation[0]) * p->in.width + across.at + kx * w->dilation[1]) * p->in.channels;
}

static void maxpool(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_pool *p = context;
    const int64_t channels = p->in.channels;
    for (size_t line = first; line < end; line++) {
        const int64_t row = (int64_t)line / p->out.height, oy = (int64_t)line % p->out.height;
        const uint8_t *x = (const uint8_t *)operand[0] + row * p->in.height * p->in.width * channels;
        const struct window_taps down = taps_of(&p->window, 0, oy, 0, p->in.height);
        for (int64_t ox = 0; ox < p->out.width; ox++) {
            uint8_t *restrict y = (uint8_t *)operand[1] + ((int64_t)line * p->out.width + ox) * channels;
            const struct window_taps across = taps_of(&p->window, 1, ox, 0, p->in.width);
            memset(y, 0, (size_t)channels);
            for (int64_t ky = down.first; ky < down.end; ky++)
                for (int64_t kx = across.first; kx < across.end; kx++) {
                    const uint8_t *restrict from = pixel(p, x, down, ky, across, kx);
                    for (int64_t c = 0; c < channels; c++)
                        y[c] = from[c] > y[c] ? from[c] : y[c];
                }
        }
    }
}

/** What a sum is divided by: the taps in the image, or in image and padding. */
static int64_t divisor_of(const struct ys_integer_pool *p, int64_t oy, int64_t ox)
{
    const struct ys_window *w = &p->window;
    const int64_t more = w->include_pad;
    const struct window_taps y = taps_of(w, 0, oy, -more * w->pad[0], p->in.height + more * w->pad[2]),
                             x = taps_of(w, 1, ox, -more * w->pad[1], p->in.width + more * w->pad[3]);
    return (y.end - y.first) * (x.end - x.first);
}

enum { CHANNELS = 256 }; /* summed at a time */

static void averagepool(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_pool *p = context;
    const int64_t all = p->in.channels;
    int32_t sums[CHANNELS];
    for (size_t line = first; line < end; line++) {
        const int64_t row = (int64_t)line / p->out.height, oy = (int64_t)line % p->out.height;
        const uint8_t *x = (const uint8_t *)operand[0] + row * p->in.height * p->in.width * all;
        const struct window_taps down = taps_of(&p->window, 0, oy, 0, p->in.height);
        for (int64_t ox = 0; ox < p->out.width; ox++) {
            uint8_t *y = (uint8_t *)operand[1] + ((int64_t)line * p->out.width + ox) * all;
            const struct window_taps across = taps_of(&p->window, 1, ox, 0, p->in.width);
            const int64_t inside = (down.end - down.first) * (across.end - across.first),
                          divisor = divisor_of(p, oy, ox);
            const double factor = divisor ? p->factor / (double)divisor : 0;
            for (int64_t from = 0; from < all; from += CHANNELS) {
                const int64_t count = all - from < CHANNELS ? all - from : CHANNELS;
                for (int64_t c = 0; c < count; c++)
                    sums[c] = -(int32_t)inside * p->zero;
                for (int64_t ky = down.first; ky < down.end; ky++)
                    for (int64_t kx = across.first; kx < across.end; kx++) {
                        const uint8_t *one = pixel(p, x, down, ky, across, kx) + from;
                        for (int64_t c = 0; c < count; c++)
                            sums[c] += one[c];
                    }
                for (int64_t c = 0; c < count; c++)
                    y[from + c] = cut((double)sums[c] * factor, &p->ends);
            }
        }
    }
}

static void quantise(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_quantise *q = context;
    const struct ys_integer_found *found = q->is_found ? operand[2] : NULL;
    const double scale = found ? (double)found->scale : q->scale;
    const int zero = found ? found->zero : q->zero;
    const struct ys_integer_image *im = &q->image;
    const int64_t height = im->height + q->pad[0] + q->pad[2], width = im->width + q->pad[1] + q->pad[3];
    for (size_t line = first; line < end; line++) {
        const int64_t row = (int64_t)line / height, at = (int64_t)line % height - q->pad[0];
        uint8_t *y = (uint8_t *)operand[1] + (int64_t)line * width * im->channels;
        const float *x = (const float *)operand[0] + (row * im->channels * im->height + at) * im->width;
        memset(y, zero, (size_t)(width * im->channels));
        if (at < 0 || at >= im->height)
            continue;
        for (int64_t i = 0; i < im->width; i++)
            for (int64_t c = 0; c < im->channels; c++)
                y[(i + q->pad[1]) * im->channels + c] =
                    ys_quant_u8((double)x[c * im->height * im->width + i], scale, zero);
    }
}

static void dequantise(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_dequantise *d = context;
    const int64_t area = d->image.height * d->image.width, channels = d->image.channels;
    for (size_t row = first; row < end; row++) {
        const uint8_t *x = (const uint8_t *)operand[0] + (int64_t)row * area * channels;
        float *y = (float *)operand[1] + (int64_t)row * area * channels;
        for (int64_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < area; i++)
                y[c * area + i] = d->table[x[i * channels + c]];
    }
}

static void pixels(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_integer_pixels *p = context;
    const struct ys_integer_image *im = &p->image;
    for (size_t line = first; line < end; line++) {
        const int64_t row = (int64_t)line / im->height, at = (int64_t)line % im->height;
        const uint8_t *x = (const uint8_t *)operand[0] + (row * im->channels * im->height + at) * im->width;
        uint8_t *y = (uint8_t *)operand[1] + (int64_t)line * im->width * im->channels;
        for (int64_t c = 0; c < im->channels; c++)
            for (int64_t i = 0; i < im->width; i++)
                y[i * im->channels + c] = p->table[c * 256 + x[c * im->height * im->width + i]];
    }
}

const struct ys_integer_kernels YS_KERNELS = {.product = product,
                                              .requantise = requantise,
                                              .numbers = numbers,
                                              .sum = sum,
                                              .table = table,
                                              .order = order,
                                              .maxpool = maxpool,
                                              .averagepool = averagepool,
                                              .quantise = quantise,
                                              .dequantise = dequantise,
                                              .pixels = pixels};
