/* Kernels of windows, against plain loops, to the bit, in every layout that they take: the gradient by the weight of a
 * convolution in which every channel is a group of its own, or whose x has one channel, and pools of maxima. And
 * `onednn` against `ref` where they stand in for the library. */
#include "backend/kernels/kernels.h"
#include "backend/level.h"

#include "engine/program.h"
#include "engines.h"
#include "fenced.h"
#include "graph/builder.h"

#include <string.h>

/* Kernel, stride, dilation, pads. Images are of 9 x 11: rows of four windows at once and of some more. */
static const struct ys_window windows[] = {
    {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1},   {{1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1},
    {{5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}, 1},   {{2, 1}, {3, 3}, {1, 1}, {0, 0, 0, 0}, 1},
    {{3, 4}, {2, 1}, {2, 3}, {2, 3, 1, 4}, 1},   {{9, 2}, {1, 2}, {1, 1}, {4, 0, 4, 1}, 1},
    {{16, 16}, {3, 1}, {1, 1}, {8, 9, 9, 8}, 1},
};
/* Windows of which some elements lie outside in all places, over images of 4 x 2. */
static const struct ys_window large = {{7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}, 1},
                              large_stride = {{7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}, 1};

enum { ROWS = 3 };

/** Channels in blocks of `lanes`, of which the last is whole in memory; or side by side at each position, with 0. */
struct order {
    int64_t channels, lanes;
};
static const struct order orders[] = {{16, 16}, {19, 16}, {8, 8}, {13, 8}, {16, 0}, {19, 0}, {24, 0}, {5, 0}};

static struct ys_value_layout layout_of(const struct order *o, const int64_t extent[2])
{
    const int64_t area = extent[0] * extent[1], blocks = o->lanes ? (o->channels + o->lanes - 1) / o->lanes : 1;
    struct ys_value_layout l = {.rows = ROWS, .channels = o->channels, .positions = area, .has_padding = o->lanes > 0};
    l.lanes = o->lanes ? o->lanes : YS_LANES;
    l.position = o->lanes ? o->lanes : o->channels;
    l.block = o->lanes ? area * o->lanes : YS_LANES;
    l.row = o->lanes ? blocks * l.block : area * o->channels;
    return l;
}

static int64_t place(const struct ys_value_layout *l, int64_t row, int64_t channel, int64_t position)
{
    return row * l->row + channel / l->lanes * l->block + position * l->position + channel % l->lanes;
}

/** A whole number from -3 to 3: bfloat16 holds it, and sums of products of them are exact in float. */
static int number_of(int64_t row, int64_t channel, int64_t position, int64_t more)
{
    return (int)((row * 131 + channel * 37 + position * 53 + more) * 29 % 97 % 7) - 3;
}

static size_t bytes_of(const struct ys_value_layout *l, bool bf16)
{
    return (size_t)(l->rows * l->row) * (bf16 ? sizeof(uint16_t) : sizeof(float));
}

/** Ends at a fence; lanes without a channel hold NaNs, which no result may show. */
static void *drawn(const struct ys_value_layout *l, bool bf16, int64_t more)
{
    void *values = fenced_new(bytes_of(l, bf16));
    for (int64_t n = 0; n < l->rows; n++)
        for (int64_t c = 0; c < l->channels; c++)
            for (int64_t p = 0; p < l->positions; p++) {
                const float v = (float)number_of(n, c, p, more);
                uint32_t bits;
                memcpy(&bits, &v, sizeof bits);
                if (bf16)
                    ((uint16_t *)values)[place(l, n, c, p)] = (uint16_t)(bits >> 16);
                else
                    ((float *)values)[place(l, n, c, p)] = v;
            }
    return values;
}

enum { X = 5, DY = 11 }; /* number_of()'s `more` */

/** Of one element of a channel's kernel. */
static double plain_sum(const struct ys_depthwise *d, int64_t channel, int64_t ky, int64_t kx)
{
    const struct ys_window *w = &d->window;
    double sum = 0;
    for (int64_t n = 0; n < ROWS; n++)
        for (int64_t i = 0; i < d->out[0] * d->out[1]; i++) {
            const int64_t y = i / d->out[1] * w->stride[0] - w->pad[0] + ky * w->dilation[0];
            const int64_t x = i % d->out[1] * w->stride[1] - w->pad[1] + kx * w->dilation[1];
            if (y >= 0 && y < d->extent[0] && x >= 0 && x < d->extent[1])
                sum += number_of(n, channel, i, DY) *
                       number_of(n, d->x.channels == 1 ? 0 : channel, y * d->extent[1] + x, X);
        }
    return sum;
}

static void check_sums(const struct ys_depthwise *d, int64_t channels, const float *dw, const float *dbias)
{
    const int64_t taps = d->window.kernel[0] * d->window.kernel[1];
    for (int64_t c = 0; c < channels; c++) {
        double bias = 0;
        for (int64_t tap = 0; tap < taps; tap++)
            CHECK_NEAR(dw[c * taps + tap], plain_sum(d, c, tap / d->window.kernel[1], tap % d->window.kernel[1]), 0);
        for (int64_t i = 0; i < ROWS * d->dy.positions; i++)
            bias += number_of(i / d->dy.positions, c, i % d->dy.positions, DY);
        if (dbias)
            CHECK_NEAR(dbias[c], bias, 0);
    }
}

static struct ys_depthwise depthwise_of(const struct ys_window *window, const int64_t extent[2],
                                        const struct order *order, bool has_bias)
{
    struct ys_depthwise d = {.threads = 2, .has_bias = has_bias, .extent = {extent[0], extent[1]}, .window = *window};
    for (int i = 0; i < 2; i++)
        d.out[i] =
            (extent[i] + window->pad[i] + window->pad[2 + i] - window->dilation[i] * (window->kernel[i] - 1) - 1) /
                window->stride[i] +
            1;
    d.x = layout_of(order, d.extent);
    d.dy = layout_of(order, d.out);
    return d;
}

static void check_kernel(const struct ys_window *window, const int64_t extent[2], const struct order *order, bool bf16,
                         bool has_bias)
{
    struct ys_depthwise d = depthwise_of(window, extent, order, has_bias);
    const size_t dw_bytes = (size_t)(order->channels * window->kernel[0] * window->kernel[1]) * sizeof(float);
    const size_t dbias_bytes = (size_t)order->channels * sizeof(float);
    void *x = drawn(&d.x, bf16, X), *dy = drawn(&d.dy, bf16, DY);
    float *dw = fenced_new(dw_bytes), *dbias = fenced_new(dbias_bytes);
    CHECK(ys_kernels(bf16, d.x.lanes)->depthwise_weights(&d, (void *const[]){x, dy, dw, dbias}) == YS_OK);
    check_sums(&d, order->channels, dw, has_bias ? dbias : NULL);
    if (!has_bias)
        CHECK(isnan(dbias[0])); /* as it was */
    fenced_free(x, bytes_of(&d.x, bf16));
    fenced_free(dy, bytes_of(&d.dy, bf16));
    fenced_free(dw, dw_bytes);
    fenced_free(dbias, dbias_bytes);
}

static void check_kernels(bool bf16)
{
    static const int64_t image[2] = {9, 11}, small[2] = {4, 2};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (int bias = 0; bias < 2; bias++) {
            for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
                check_kernel(&windows[w], image, &orders[o], bf16, bias);
            check_kernel(&large, small, &orders[o], bf16, bias);
            check_kernel(&large_stride, small, &orders[o], bf16, bias);
        }
}

static void sums_are_those_of_plain_loops(void)
{
    check_kernels(false);
}

static void sums_are_those_of_plain_loops_bf16(void)
{
    if (ys_level_lacks(YS_ENGINE_BF16))
        tap_skip("%s", ys_level_lacks(YS_ENGINE_BF16));
    else
        check_kernels(true);
}

/** x of one channel. */
static void check_narrow(const struct ys_window *window, const int64_t extent[2], const struct order *order, bool bf16,
                         bool has_bias)
{
    struct ys_depthwise d = depthwise_of(window, extent, order, has_bias);
    d.x = (struct ys_value_layout){
        .rows = ROWS, .channels = 1, .positions = d.x.positions, .lanes = 1, .row = d.x.positions, .position = 1};
    const int64_t taps = window->kernel[0] * window->kernel[1];
    const size_t dw_bytes = (size_t)(order->channels * taps) * sizeof(float);
    void *x = drawn(&d.x, bf16, X), *dy = drawn(&d.dy, bf16, DY);
    float *dw = fenced_new(dw_bytes), *dbias = fenced_new((size_t)order->channels * sizeof(float));
    CHECK(ys_kernels(bf16, d.dy.lanes)->narrow_weights(&d, (void *const[]){x, dy, dw, dbias}) == YS_OK);
    check_sums(&d, order->channels, dw, has_bias ? dbias : NULL);
    fenced_free(x, bytes_of(&d.x, bf16));
    fenced_free(dy, bytes_of(&d.dy, bf16));
    fenced_free(dw, dw_bytes);
    fenced_free(dbias, (size_t)order->channels * sizeof(float));
}

/** All bits set, which is a NaN, at some places. */
static void set_nans(const struct ys_value_layout *l, bool bf16, void *values)
{
    const size_t size = bf16 ? sizeof(uint16_t) : sizeof(float);
    for (int64_t n = 0; n < l->rows; n++)
        for (int64_t c = 0; c < l->channels; c++)
            for (int64_t p = (n + c) % 17; p < l->positions; p += 41)
                memset((char *)values + (size_t)place(l, n, c, p) * size, 0xff, size);
}

static float value_at(const void *values, bool bf16, int64_t at)
{
    const uint32_t bits = bf16 ? (uint32_t)((const uint16_t *)values)[at] << 16 : ((const uint32_t *)values)[at];
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

struct won {
    int tap;       /* YS_MAXPOOL_TAPS: all is padding */
    int64_t place; /* in x */
    float value;
};

static struct won plain_winner(const struct ys_maxpool *p, const void *x, bool bf16, int64_t n, int64_t c, int64_t i)
{
    const struct ys_window *w = &p->window;
    struct won best = {YS_MAXPOOL_TAPS, -1, -INFINITY};
    for (int tap = 0; tap < w->kernel[0] * w->kernel[1]; tap++) {
        const int64_t y = i / p->out[1] * w->stride[0] - w->pad[0] + tap / w->kernel[1] * w->dilation[0];
        const int64_t z = i % p->out[1] * w->stride[1] - w->pad[1] + tap % w->kernel[1] * w->dilation[1];
        if (y < 0 || y >= p->extent[0] || z < 0 || z >= p->extent[1])
            continue;
        const int64_t at = place(&p->x, n, c, y * p->extent[1] + z);
        const float v = value_at(x, bf16, at);
        if (best.place < 0 || (!isnan(best.value) && (isnan(v) || v > best.value)))
            best = (struct won){tap, at, v};
    }
    return best;
}

/** dx as the plain loops have it: for each element of x one float. */
static float *check_forward(const struct ys_maxpool *p, const void *x, const void *y, const uint8_t *winners,
                            const void *dy, bool bf16)
{
    float *dx = calloc((size_t)(p->x.rows * p->x.row), sizeof *dx);
    if (!CHECK(dx))
        return NULL;
    for (int64_t n = 0; n < ROWS; n++)
        for (int64_t c = 0; c < p->x.channels; c++)
            for (int64_t i = 0; i < p->y.positions; i++) {
                const struct won won = plain_winner(p, x, bf16, n, c, i);
                const int64_t at = place(&p->y, n, c, i);
                const float v = value_at(y, bf16, at);
                CHECK(isnan(won.value) ? isnan(v) : v == won.value);
                CHECK_INT(winners[at], won.tap);
                if (won.place >= 0)
                    dx[won.place] += value_at(dy, bf16, at);
            }
    return dx;
}

static void check_maxpool(const struct ys_window *window, const int64_t extent[2], const struct order *order, bool bf16)
{
    const struct ys_depthwise like = depthwise_of(window, extent, order, false);
    struct ys_maxpool p = {.x = like.x,
                           .y = like.dy,
                           .threads = 2,
                           .extent = {extent[0], extent[1]},
                           .out = {like.out[0], like.out[1]},
                           .window = *window,
                           .has_winners = true};
    const size_t winners_bytes = bytes_of(&p.y, bf16) / (bf16 ? sizeof(uint16_t) : sizeof(float));
    void *x = drawn(&p.x, bf16, X), *dy = drawn(&p.y, bf16, DY), *y = fenced_new(bytes_of(&p.y, bf16));
    void *dx = fenced_new(bytes_of(&p.x, bf16));
    uint8_t *winners = fenced_new(winners_bytes);
    const struct ys_kernels *kernels = ys_kernels(bf16, p.x.lanes);
    set_nans(&p.x, bf16, x);
    CHECK(kernels->maxpool(&p, (void *const[]){x, y, winners}) == YS_OK);
    float *expected = check_forward(&p, x, y, winners, dy, bf16);
    CHECK(kernels->maxpool_backward(&p, (void *const[]){dy, winners, dx}) == YS_OK);
    for (int64_t n = 0; expected && n < ROWS; n++)
        for (int64_t c = 0; c < p.x.channels; c++)
            for (int64_t i = 0; i < p.x.positions; i++)
                CHECK_NEAR(value_at(dx, bf16, place(&p.x, n, c, i)), expected[place(&p.x, n, c, i)], 0);
    p.has_winners = false;
    CHECK(kernels->maxpool(&p, (void *const[]){x, y}) == YS_OK);
    free(check_forward(&p, x, y, winners, dy, bf16));
    free(expected);
    fenced_free(x, bytes_of(&p.x, bf16));
    fenced_free(dx, bytes_of(&p.x, bf16));
    fenced_free(y, bytes_of(&p.y, bf16));
    fenced_free(dy, bytes_of(&p.y, bf16));
    fenced_free(winners, winners_bytes);
}

static void check_windows(bool bf16)
{
    static const int64_t image[2] = {9, 11}, small[2] = {4, 2}, tiled[2] = {6, 8};
    static const struct ys_window tile = {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            if (windows[w].kernel[0] * windows[w].kernel[1] <= YS_MAXPOOL_TAPS)
                check_maxpool(&windows[w], image, &orders[o], bf16);
            check_narrow(&windows[w], image, &orders[o], bf16, w % 2);
        }
        check_maxpool(&tile, tiled, &orders[o], bf16);
        check_maxpool(&large, small, &orders[o], bf16);
        check_narrow(&large, small, &orders[o], bf16, true);
        check_narrow(&large_stride, small, &orders[o], bf16, false);
    }
}

static void maxima_and_sums_of_one_channel(void)
{
    check_windows(false);
}

static void maxima_and_sums_of_one_channel_bf16(void)
{
    if (ys_level_lacks(YS_ENGINE_BF16))
        tap_skip("%s", ys_level_lacks(YS_ENGINE_BF16));
    else
        check_windows(true);
}

static struct ys_build *begin(int64_t height, int64_t width)
{
    struct ys_build *b = NULL;
    CHECK(ys_build_new("depthwise", (const int64_t[]){3, height, width}, 3, YS_F32, &b) == YS_OK);
    return b;
}

static const struct drawing rows = {.purpose = "depthwise", .seed = 3, .batch = 3};

/** That the gradient by the weight is made by our kernel, and marked as such. */
static void check_is_ours(const struct ys_graph *graph)
{
    struct ys_engine *e = open_engine(graph, "onednn", YS_ENGINE_F32, &rows);
    int ours = 0;
    for (size_t i = 0; e && i < ys_engine_program(e)->call_count; i++) {
        const struct ys_call *call = &ys_engine_program(e)->calls[i];
        ours += (call->run == ys_kernels(false, YS_LANES)->depthwise_weights ||
                 call->run == ys_kernels(false, YS_LANES / 2)->depthwise_weights) &&
                call->kind == YS_CALL_WEIGHTS;
    }
    CHECK_INT(ours, e ? 1 : 0);
    ys_engine_close(e);
}

/** A convolution of each channel, with a bias or without, between two that mix them. */
static void compare_networks(const struct ys_window *window, int64_t channels, int64_t height, int64_t width,
                             bool is_ours)
{
    for (int bias = 0; bias < 2; bias++) {
        struct ys_build *b = begin(height, width);
        struct ys_window grouped = *window;
        struct ys_graph *graph = NULL;
        REQUIRE(b);
        grouped.group = channels;
        int v = ys_build_conv(b, ys_build_input(b), channels, 1, 1, 0, "ahead");
        v = ys_build_conv_window(b, v, channels, &grouped, NULL, bias, "each");
        v = ys_build_gemm(b, ys_build_flatten(b, ys_build_plain(b, YS_OP_TANH, v, "tanh"), "flatten"), 5, "fc");
        REQUIRE(ys_build_finish(b, v, &graph) == YS_OK);
        struct ys_engine *ref = open_engine(graph, "ref", YS_ENGINE_F64, &rows);
        REQUIRE(ref);
        compare(graph, ref, YS_ENGINE_F32, &rows, &allowed_f32);
        if (is_ours && ys_level_width() > 1) /* below AVX2 the library's own layouts are others */
            check_is_ours(graph);
        ys_engine_close(ref);
        ys_graph_free(graph);
    }
}

static void kernels_that_the_library_has_not(void)
{
    compare_networks(&large, 19, 9, 8, true);
    compare_networks(&windows[2], 16, 9, 7, true);
}

/** The library may lay their values out as no loop of ours takes them. */
static void kernels_beyond_the_image(void)
{
    compare_networks(&large, 19, 4, 2, false);
    compare_networks(&large_stride, 8, 4, 3, false);
}

TAP_MAIN(TAP_CASE(sums_are_those_of_plain_loops), TAP_CASE(sums_are_those_of_plain_loops_bf16),
         TAP_CASE(maxima_and_sums_of_one_channel), TAP_CASE(maxima_and_sums_of_one_channel_bf16),
         TAP_CASE(kernels_that_the_library_has_not), TAP_CASE(kernels_beyond_the_image))
