/* Corruptions against slow plain versions, and against means and variances that are stored. */
#include "base/mem.h"
#include "robust/corrupt/canvas.h"
#include "robust/corrupt/corruption.h"

#include "tap.h"

#include <math.h>
#include <string.h>

enum { MOST = 3 * 48 * 48, SEED = 7 };

static float picture[MOST], made[MOST], again[MOST];

/** A bright ring on a slope of light, in each channel a little elsewhere. */
static void draw(struct ys_picture_shape shape)
{
    for (int64_t p = 0; p < shape.channels * shape.height * shape.width; p++) {
        const double c = (double)(p / (shape.height * shape.width));
        const double y = (double)(p / shape.width % shape.height) / (double)shape.height,
                     x = (double)(p % shape.width) / (double)shape.width;
        const double away = fabs(hypot(y - 0.5, x - 0.5 - 0.05 * c) - 0.28);
        picture[p] = (float)(0.1 + 0.2 * y + 0.1 * c + (away < 0.08 ? 0.5 : 0));
    }
}

static void fill(struct ys_picture_shape shape, float value)
{
    for (int64_t p = 0; p < shape.channels * shape.height * shape.width; p++)
        picture[p] = value;
}

static size_t kind_of(int64_t channels, const char *name)
{
    size_t kind = 0;
    while (kind < ys_corruption_count(channels) && strcmp(ys_corruption_name(channels, kind), name) != 0)
        kind++;
    CHECK(kind < ys_corruption_count(channels));
    return kind;
}

static const struct ys_picture_shape grey = {1, 28, 28}, colour = {3, 32, 32};

static void corrupt_of(struct ys_picture_shape shape, const char *name, int severity, uint64_t row, float *out)
{
    const struct ys_corruption corruption = {shape, kind_of(shape.channels, name), severity, SEED, row};
    ys_corrupt(&corruption, picture, out);
}

static double largest_difference(const float *a, const float *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
    return largest;
}

static void pictures_of_any_size_stay_pictures_and_come_again(void)
{
    static const struct ys_picture_shape shapes[] = {{1, 8, 8}, {1, 28, 28}, {1, 9, 13}, {1, 48, 30},
                                                     {3, 8, 8}, {3, 32, 32}, {3, 13, 9}, {3, 33, 47}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const size_t count = (size_t)(shapes[s].channels * shapes[s].height * shapes[s].width);
        draw(shapes[s]);
        for (size_t kind = 0; kind < ys_corruption_count(shapes[s].channels); kind++)
            for (int severity = 1; severity <= YS_SEVERITIES; severity++) {
                const struct ys_corruption corruption = {shapes[s], kind, severity, SEED, 3};
                size_t outside = 0;
                ys_corrupt(&corruption, picture, made);
                memset(again, 0, sizeof again);
                ys_corrupt(&corruption, picture, again);
                for (size_t p = 0; p < count; p++)
                    outside += !(made[p] >= 0 && made[p] <= 1);
                CHECK_INT(outside, 0);
                CHECK(memcmp(made, again, count * sizeof *made) == 0);
                /* Of others what is blurred may be less than a pixel; and a picture may have no drop of mud. */
                const bool may_stay = (shapes[s].width != 28 && shapes[s].width != 32) ||
                                      strcmp(ys_corruption_name(shapes[s].channels, kind), "spatter") == 0;
                tap_check(may_stay || largest_difference(made, picture, count) > 1e-3, __LINE__,
                          "%s of severity %d leaves a picture as it is", ys_corruption_name(shapes[s].channels, kind),
                          severity);
            }
    }
}

/** Others' lots are other pictures; what has no lots is the same for all. */
static void lots_hang_on_seed_and_row(void)
{
    static const char *const without[] = {"scale",        "brightness", "stripe",   "canny_edges",     "contrast",
                                          "defocus_blur", "zoom_blur",  "pixelate", "jpeg_compression"};
    for (int64_t channels = 1; channels <= 3; channels += 2) {
        const struct ys_picture_shape shape = channels == 1 ? grey : colour;
        const size_t count = (size_t)(shape.channels * shape.height * shape.width);
        draw(shape);
        for (size_t kind = 0; kind < ys_corruption_count(channels); kind++) {
            const char *name = ys_corruption_name(channels, kind);
            bool has_lots = true;
            size_t rows = 0, seeds = 0; /* that differ; motion to one of two sides may be the same once */
            for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
                has_lots &= strcmp(name, without[i]) != 0;
            ys_corrupt(&(struct ys_corruption){shape, kind, 3, SEED, 0}, picture, made);
            for (uint64_t other = 1; other < 12; other++) {
                ys_corrupt(&(struct ys_corruption){shape, kind, 3, SEED, other}, picture, again);
                rows += memcmp(made, again, count * sizeof *made) != 0;
                ys_corrupt(&(struct ys_corruption){shape, kind, 3, SEED + other, 0}, picture, again);
                seeds += memcmp(made, again, count * sizeof *made) != 0;
            }
            tap_check((rows > 0) == has_lots && (seeds > 0) == has_lots, __LINE__,
                      "%s: of 11, %zu rows and %zu seeds differ", name, rows, seeds);
        }
    }
}

static void mean_and_variance(const float *values, size_t count, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (size_t p = 0; p < count; p++)
        *mean += (double)values[p] / (double)count;
    for (size_t p = 0; p < count; p++)
        *variance += ((double)values[p] - *mean) * ((double)values[p] - *mean) / (double)count;
}

/* Of the picture above at severities 1, 3 and 5, row 0: what these sources made on 30 November 2026. They change where
 * a formula, a number or a lot does. Pixels are floats, whose rounding is 6e-8; sin, exp and log of another library may
 * move a lot's pixel by as much. */
static const struct {
    int64_t channels;
    const char *name;
    double mean[3], variance[3];
} stored[] = {
    /* clang-format off */
    {1, "shot_noise", {0.3436437, 0.3425808, 0.3235544}, {0.0620624, 0.0779420, 0.1179599}},
    {1, "impulse_noise", {0.3524326, 0.3582270, 0.3900328}, {0.0646288, 0.0762365, 0.1135693}},
    {1, "glass_blur", {0.3418288, 0.3414337, 0.3403054}, {0.0322493, 0.0172519, 0.0122625}},
    {1, "motion_blur", {0.3423776, 0.3276885, 0.3012445}, {0.0352984, 0.0200186, 0.0123131}},
    {1, "shear", {0.3351063, 0.3448110, 0.3360993}, {0.0552231, 0.0672148, 0.0728504}},
    {1, "scale", {0.2765065, 0.1706892, 0.0854592}, {0.0570663, 0.0532498, 0.0337408}},
    {1, "rotate", {0.3256934, 0.3098401, 0.3103130}, {0.0564666, 0.0629219, 0.0626790}},
    {1, "brightness", {0.4418367, 0.6364978, 0.7836735}, {0.0559283, 0.0518260, 0.0220153}},
    {1, "translate", {0.3247358, 0.2934585, 0.2563320}, {0.0628767, 0.0743595, 0.0785711}},
    {1, "stripe", {0.5625000, 0.5625000, 0.5625000}, {0.0770376, 0.0770376, 0.0770376}},
    {1, "fog", {0.2936526, 0.2864306, 0.2772873}, {0.0064523, 0.0030299, 0.0023360}},
    {1, "spatter", {0.3423784, 0.3079163, 0.3159507}, {0.0557452, 0.0408906, 0.0436750}},
    {1, "dotted_line", {0.3608113, 0.3608113, 0.3608113}, {0.0664640, 0.0664640, 0.0664640}},
    {1, "zigzag", {0.3790790, 0.3790790, 0.3790790}, {0.0751463, 0.0751463, 0.0751463}},
    {1, "canny_edges", {0.1428571, 0.1428571, 0.1428571}, {0.1224490, 0.1224490, 0.1224490}},
    {3, "gaussian_noise", {0.4378637, 0.4375252, 0.4373569}, {0.0627840, 0.0666948, 0.0693083}},
    {3, "shot_noise", {0.4381432, 0.4377604, 0.4367448}, {0.0620274, 0.0643436, 0.0668597}},
    {3, "impulse_noise", {0.4390503, 0.4419718, 0.4421794}, {0.0629219, 0.0674405, 0.0752444}},
    {3, "defocus_blur", {0.4378847, 0.4380692, 0.4383138}, {0.0587472, 0.0530314, 0.0487918}},
    {3, "glass_blur", {0.4371887, 0.4367940, 0.4286114}, {0.0625755, 0.0571754, 0.0562874}},
    {3, "motion_blur", {0.4378267, 0.4382068, 0.4386018}, {0.0555815, 0.0490951, 0.0459255}},
    {3, "zoom_blur", {0.4428825, 0.4549435, 0.4686859}, {0.0551864, 0.0540104, 0.0516209}},
    {3, "snow", {0.4786688, 0.5371166, 0.6659079}, {0.0614497, 0.0634992, 0.0510968}},
    {3, "fog", {0.4237992, 0.4024784, 0.3905369}, {0.0426068, 0.0226733, 0.0152579}},
    {3, "brightness", {0.4749588, 0.5387373, 0.6134427}, {0.0651536, 0.0660191, 0.0587502}},
    {3, "contrast", {0.4378255, 0.4378255, 0.4378255}, {0.0373729, 0.0153088, 0.0077713}},
    {3, "elastic_transform", {0.4195677, 0.4218820, 0.4290245}, {0.0510146, 0.0495315, 0.0505225}},
    {3, "pixelate", {0.4378255, 0.4378255, 0.4378255}, {0.0599893, 0.0589367, 0.0552276}},
    {3, "jpeg_compression", {0.4363728, 0.4355073, 0.4357473}, {0.0564508, 0.0547400, 0.0557169}},
    /* clang-format on */
};

static void means_and_variances_are_those_that_are_stored(void)
{
    CHECK_INT(sizeof stored / sizeof stored[0], ys_corruption_count(1) + ys_corruption_count(3));
    for (size_t i = 0; i < sizeof stored / sizeof stored[0]; i++) {
        const struct ys_picture_shape shape = stored[i].channels == 1 ? grey : colour;
        draw(shape);
        for (int k = 0; k < 3; k++) {
            double mean, variance;
            corrupt_of(shape, stored[i].name, 1 + 2 * k, 0, made);
            mean_and_variance(made, (size_t)(shape.channels * shape.height * shape.width), &mean, &variance);
            tap_check(fabs(mean - stored[i].mean[k]) <= 1e-6 && fabs(variance - stored[i].variance[k]) <= 1e-6,
                      __LINE__, "%s of severity %d: mean %.7f, variance %.7f", stored[i].name, 1 + 2 * k, mean,
                      variance);
        }
    }
}

/* ---- noise */

/** 3072 independent pixels: their mean is within 5 standard errors of what is expected, but for one in a million
 * seeds; a share of events likewise. */
static void noise_has_its_mean_and_variance(void)
{
    const size_t count = 3 * 32 * 32;
    double mean, variance;
    fill(colour, 0.5f);
    corrupt_of(colour, "gaussian_noise", 5, 1, made); /* which is clipped at 5 standard deviations */
    mean_and_variance(made, count, &mean, &variance);
    CHECK_NEAR(mean, 0.5, 5 * 0.1 / sqrt((double)count));
    CHECK_NEAR(variance, 0.01, 5 * 0.01 * sqrt(2 / (double)count));
    corrupt_of(colour, "shot_noise", 1, 1, made); /* of 250 photons: variance 250 / 500^2 */
    mean_and_variance(made, count, &mean, &variance);
    CHECK_NEAR(mean, 0.5, 5 * sqrt(0.001 / (double)count));
    CHECK_NEAR(variance, 0.001, 5 * 0.001 * sqrt(2 / (double)count));
    corrupt_of(colour, "impulse_noise", 5, 1, made);
    double black = 0, white = 0;
    for (size_t p = 0; p < count; p++) {
        black += made[p] == 0;
        white += made[p] == 1;
    }
    CHECK_NEAR((black + white) / (double)count, 0.07, 5 * sqrt(0.07 * 0.93 / (double)count));
    CHECK_NEAR(white, (black + white) / 2, 5 * sqrt((black + white) / 4));
    fill(grey, 0);
    corrupt_of(grey, "shot_noise", 5, 1, made);
    CHECK(largest_difference(made, picture, 28 * 28) == 0); /* where there is no light there is no noise */
}

/* ---- blur */

static void a_blur_is_the_sum_over_a_square(void)
{
    static const enum ys_edge edges[] = {YS_EDGE_LAST, YS_EDGE_MIRROR_TWICE, YS_EDGE_MIRROR_ONCE, YS_EDGE_NOTHING};
    const double sigma = 1.3;
    const int radius = 5; /* 4 x 1.3 + 0.5 */
    struct ys_canvas canvas = {.channels = 1, .height = 9, .width = 12, .area = 108};
    double plane[108], before[108];
    draw((struct ys_picture_shape){1, 9, 12});
    for (size_t e = 0; e < 4; e++) {
        double sum = 0;
        for (int k = -radius; k <= radius; k++)
            sum += exp(-k * k / (2 * sigma * sigma));
        for (int p = 0; p < 108; p++)
            plane[p] = before[p] = (double)picture[p];
        ys_plane_blur(&canvas, plane, sigma, 4, edges[e]);
        for (int p = 0; p < 108; p++) {
            double expected = 0;
            for (int i = -radius; i <= radius; i++)
                for (int k = -radius; k <= radius; k++)
                    expected += exp(-(i * i + k * k) / (2 * sigma * sigma)) / (sum * sum) *
                                ys_plane_at(&canvas, before, p / 12 + i, p % 12 + k, edges[e]);
            CHECK_NEAR(plane[p], expected, 1e-12);
        }
    }
}

static void beyond_the_edge_lies_what_is_said(void)
{
    struct ys_canvas canvas = {.channels = 1, .height = 1, .width = 4, .area = 4};
    const double plane[] = {1, 2, 3, 4};
    static const struct {
        enum ys_edge edge;
        double at[14]; /* from -5 to 8 */
    } rows[] = {{YS_EDGE_LAST, {1, 1, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4}},
                {YS_EDGE_MIRROR_TWICE, {4, 4, 3, 2, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1}},
                {YS_EDGE_MIRROR_ONCE, {2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3}},
                {YS_EDGE_NOTHING, {0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0}}};
    for (size_t r = 0; r < 4; r++)
        for (int i = 0; i < 14; i++)
            CHECK_NEAR(ys_plane_at(&canvas, plane, 0, i - 5, rows[r].edge), rows[r].at[i], 0);
}

/** Severity 1: a single pixel, blurred by 3 x 3 with sigma 0.4. */
static void defocus_is_its_kernel(void)
{
    const double beside = exp(-0.5 / 0.16), sum = 1 + 2 * beside;
    const double weights[3] = {beside / sum, 1 / sum, beside / sum};
    draw(colour);
    corrupt_of(colour, "defocus_blur", 1, 0, made);
    for (int c = 0; c < 3; c++)
        for (int y = 1; y < 31; y++)
            for (int x = 1; x < 31; x++) {
                double expected = 0;
                for (int i = -1; i <= 1; i++)
                    for (int k = -1; k <= 1; k++)
                        expected += weights[i + 1] * weights[k + 1] * (double)picture[(c * 32 + y + i) * 32 + x + k];
                CHECK_NEAR(made[(c * 32 + y) * 32 + x], expected, 1e-6);
            }
}

/** What only moves light about leaves as much of it; where all is alike nothing changes. */
static void blur_keeps_the_light(void)
{
    static const char *const of_colour[] = {"defocus_blur", "glass_blur", "motion_blur", "zoom_blur"};
    for (size_t i = 0; i < 4; i++) {
        fill(colour, 0.3f);
        corrupt_of(colour, of_colour[i], 5, 0, made);
        CHECK(largest_difference(made, picture, 3 * 32 * 32) < 1e-6);
    }
    fill(grey, 0);
    picture[14 * 28 + 14] = 1;
    double light = 0, lit = 0;
    corrupt_of(grey, "motion_blur", 1, 0, made);
    for (int p = 0; p < 28 * 28; p++) {
        light += (double)made[p];
        lit += made[p] > 0;
    }
    CHECK(lit > 5 && lit <= 21); /* a streak of 2 x 10 + 1 pixels, of which the far ones may leave the picture */
    CHECK(light > 0.99 && light < 1 + 1e-6);
}

/* ---- geometry */

/** One of the directions of a lot; `from` maps a place about the middle to where it is taken from. */
static bool is_warped(const char *name, int severity, const double by[2][2], const double shift[2])
{
    double worst = 0;
    struct ys_canvas canvas = {.channels = 1, .height = 28, .width = 28, .area = 784};
    double plane[784];
    for (int p = 0; p < 784; p++)
        plane[p] = (double)picture[p];
    corrupt_of(grey, name, severity, 0, made);
    for (int p = 0; p < 784; p++) {
        const double x = p % 28 - 13.5, y = p / 28 - 13.5;
        const double from_x = by[0][0] * x + by[0][1] * y + shift[0] + 13.5,
                     from_y = by[1][0] * x + by[1][1] * y + shift[1] + 13.5;
        worst = fmax(worst, fabs(ys_plane_between(&canvas, plane, from_y, from_x, YS_EDGE_NOTHING) - (double)made[p]));
    }
    return worst < 1e-6;
}

static void pictures_are_bent_about_their_middle(void)
{
    static const double none[2] = {0, 0};
    size_t shears = 0, turns = 0, shifts = 0;
    draw(grey);
    for (int sign = -1; sign <= 1; sign += 2) {
        const double shear = 0.6 * sign, turn = 0.4 * sign;
        shears += is_warped("shear", 3, (const double[2][2]){{1, -sin(shear)}, {0, cos(shear)}}, none);
        turns += is_warped("rotate", 2, (const double[2][2]){{cos(turn), -sin(turn)}, {sin(turn), cos(turn)}}, none);
        for (int other = -1; other <= 1; other += 2)
            shifts +=
                is_warped("translate", 4, (const double[2][2]){{1, 0}, {0, 1}}, (const double[2]){4 * sign, 4 * other});
    }
    CHECK_INT(shears, 1);
    CHECK_INT(turns, 1);
    CHECK_INT(shifts, 1);
    CHECK(is_warped("scale", 5, (const double[2][2]){{2, 0}, {0, 2}}, none));
}

/** At severity 1 no field bends it: what is a plane in the picture stays one, away from the mirrored edges. */
static void elastic_begins_with_three_corners(void)
{
    for (int p = 0; p < 3 * 32 * 32; p++)
        picture[p] = (float)(0.2 + 0.01 * (p % 32) + 0.005 * (p / 32 % 32));
    corrupt_of(colour, "elastic_transform", 1, 0, made);
    CHECK(largest_difference(made, picture, 3 * 32 * 32) > 0.005);
    for (int y = 12; y < 20; y++)
        for (int x = 12; x < 20; x++) {
            const float *at = made + y * 32 + x;
            CHECK_NEAR((double)at[-1] + (double)at[1] - 2 * (double)at[0], 0, 1e-6);
            CHECK_NEAR((double)at[-32] + (double)at[32] - 2 * (double)at[0], 0, 1e-6);
        }
}

/** 24 of 32 pixels a side: the mean of those whose middle lies in a share of 4 / 3, then the nearest. */
static void pixelate_is_the_mean_of_boxes(void)
{
    draw(colour);
    corrupt_of(colour, "pixelate", 4, 0, made);
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++) {
            const double small_y = floor((y + 0.5) * 0.75), small_x = floor((x + 0.5) * 0.75);
            double sum = 0, count = 0;
            for (int i = 0; i < 32; i++)
                for (int k = 0; k < 32; k++) {
                    const double down = i + 0.5 - (small_y + 0.5) * 4 / 3, right = k + 0.5 - (small_x + 0.5) * 4 / 3;
                    if (fabs(down) > 2.0 / 3 + 1e-9 || fabs(right) > 2.0 / 3 + 1e-9)
                        continue;
                    sum += (double)picture[1024 + i * 32 + k];
                    count++;
                }
            CHECK_NEAR(made[1024 + y * 32 + x], sum / count, 1e-6);
        }
}

static void what_is_enlarged_begins_and_ends_as_it_was_cut(void)
{
    struct ys_canvas canvas = {.channels = 1, .height = 8, .width = 8, .area = 64};
    double plane[64], out[64];
    for (int p = 0; p < 64; p++)
        plane[p] = p % 8 + 10 * (p / 8);
    ys_plane_enlarge(&canvas, plane, 1, out);
    for (int p = 0; p < 64; p++)
        CHECK_NEAR(out[p], plane[p], 1e-12);
    ys_plane_enlarge(&canvas, plane, 2, out); /* columns 2 to 5 over 8 pixels */
    for (int p = 0; p < 64; p++)
        CHECK_NEAR(out[p], 22 + (p % 8 + 10 * (p / 8)) * 3.0 / 7, 1e-12);
}

/* ---- light and weather */

/** By hue, saturation and value and back, as the textbook has it. */
static void brightness_adds_to_the_value(void)
{
    draw(colour);
    picture[0] = picture[1024] = picture[2048] = 0;
    corrupt_of(colour, "brightness", 5, 0, made);
    for (int p = 0; p < 1024; p++) {
        const double r = (double)picture[p], g = (double)picture[1024 + p], b = (double)picture[2048 + p];
        const double value = fmax(r, fmax(g, b)), least = fmin(r, fmin(g, b)), range = value - least;
        double hue = range == 0   ? 0
                     : value == r ? (g - b) / range
                     : value == g ? 2 + (b - r) / range
                                  : 4 + (r - g) / range;
        hue = hue < 0 ? hue + 6 : hue;
        const double saturation = value > 0 ? range / value : 0, v = fmin(value + 0.3, 1);
        const double f = hue - floor(hue), low = v * (1 - saturation), falling = v * (1 - saturation * f),
                     rising = v * (1 - saturation * (1 - f));
        const double back[6][3] = {{v, rising, low},  {falling, v, low}, {low, v, rising},
                                   {low, falling, v}, {rising, low, v},  {v, low, falling}};
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(made[c * 1024 + p], back[(int)floor(hue)][c], 1e-6);
    }
}

static void contrast_goes_to_the_mean_of_a_channel(void)
{
    draw(colour);
    corrupt_of(colour, "contrast", 2, 0, made);
    for (int c = 0; c < 3; c++) {
        double mean = 0;
        for (int p = 0; p < 1024; p++)
            mean += (double)picture[c * 1024 + p] / 1024;
        for (int p = 0; p < 1024; p++)
            CHECK_NEAR(made[c * 1024 + p], ((double)picture[c * 1024 + p] + mean) / 2, 1e-6);
    }
}

/** Of a picture of 32 the map is as large as it, from 0 to 1. */
static void fog_is_a_map_from_nothing_to_its_amount(void)
{
    double least = 1, largest = 0;
    draw(colour);
    double top = 0;
    for (int p = 0; p < 3 * 1024; p++)
        top = fmax(top, (double)picture[p]);
    corrupt_of(colour, "fog", 3, 0, made);
    for (int p = 0; p < 1024; p++) {
        const double height = ((double)made[p] * (top + 0.75) / top - (double)picture[p]) / 0.75;
        for (int c = 1; c < 3; c++) /* the same over all channels */
            CHECK_NEAR(((double)made[c * 1024 + p] * (top + 0.75) / top - (double)picture[c * 1024 + p]) / 0.75, height,
                       1e-5);
        least = fmin(least, height);
        largest = fmax(largest, height);
    }
    CHECK_NEAR(least, 0, 1e-5);
    CHECK_NEAR(largest, 1, 1e-5);
}

/** On black: half of what is not kept, and flakes that are as they are when turned by half a turn. */
static void snow_falls_both_ways(void)
{
    fill(colour, 0);
    corrupt_of(colour, "snow", 2, 0, made);
    double flakes = 0;
    for (int p = 0; p < 1024; p++) {
        CHECK_NEAR(made[p], made[1023 - p], 1e-6);
        CHECK_NEAR(made[p], made[1024 + p], 0);
        CHECK(made[p] >= 0.05f - 1e-6f);
        flakes += made[p] > 0.051f;
    }
    CHECK(flakes > 30);
}

static void mud_hides_and_leaves_the_rest(void)
{
    size_t whole = 0, hidden = 0;
    draw(grey);
    corrupt_of(grey, "spatter", 3, 0, made);
    for (int p = 0; p < 784; p++) {
        whole += made[p] == picture[p];
        hidden += fabsf(made[p] - 63.0f / 255) <= 0.2f * fabsf(picture[p] - 63.0f / 255) + 1e-6f;
    }
    CHECK(whole > 50 && hidden > 50);
    CHECK(whole + hidden >= 784); /* nothing between: what hides less than 0.8 is left out */
}

/* ---- strokes and edges */

static void strokes_are_drawn_on_top(void)
{
    fill(grey, 0);
    for (uint64_t row = 0; row < 10; row++) {
        double lit[28] = {0}, bright = 0;
        corrupt_of(grey, "dotted_line", 1, row, made);
        for (int p = 0; p < 784; p++)
            lit[p % 28] += made[p] > 0;
        for (int x = 0; x < 28; x++)
            CHECK((lit[x] > 0) == (x / 2 % 2 == 1 && x < 27));
        corrupt_of(grey, "zigzag", 1, row, made);
        for (int p = 0; p < 784; p++) {
            bright += made[p] > 0.5f;
            CHECK(made[p] == 0 || (p % 28 >= 1 && p % 28 <= 26));
        }
        CHECK(bright >= 8); /* of some 23 columns, of which those beyond the edge are not seen */
    }
    draw(grey);
    corrupt_of(grey, "stripe", 1, 0, made);
    for (int p = 0; p < 784; p++)
        CHECK_NEAR(made[p], p % 28 < 7 || p % 28 >= 21 ? 1 - (double)picture[p] : (double)picture[p], 1e-7);
}

static void edges_lie_where_light_ends(void)
{
    double edges = 0;
    fill(grey, 0.7f);
    corrupt_of(grey, "canny_edges", 1, 0, made);
    for (int p = 0; p < 784; p++)
        CHECK(made[p] == 0);
    for (int p = 0; p < 784; p++)
        picture[p] = hypot(p / 28 - 13.5, p % 28 - 13.5) < 8 ? 1 : 0;
    corrupt_of(grey, "canny_edges", 1, 0, made);
    for (int p = 0; p < 784; p++) {
        CHECK(made[p] == 0 || made[p] == 1);
        if (made[p] == 1)
            CHECK_NEAR(hypot(p / 28 - 13.5, p % 28 - 13.5), 8, 1.3);
        edges += made[p] == 1;
    }
    CHECK(edges >= 40 && edges <= 110); /* once or twice the circumference, 50 */
}

/* ---- JPEG */

/** Grey in colour: of the first block alone, by the four sums of the standard. */
static void jpeg_is_the_standards_sums(void)
{
    static const int first_row[8] = {16, 11, 10, 16, 24, 40, 51, 61},
                     first_column[8] = {16, 12, 14, 14, 18, 24, 49, 72};
    const struct ys_picture_shape shape = {3, 16, 16};
    double bytes[8][8], waves[8][8];
    /* Light that falls along x, then along y: only the first row of cosines, or the first column, is not 0. */
    for (int down = 0; down < 2; down++) {
        for (int p = 0; p < 3 * 256; p++) {
            const int along = down ? p / 16 % 16 : p % 16;
            picture[p] = (float)((20 + along * along) / 255.0);
        }
        corrupt_of(shape, "jpeg_compression", 4, 0, made); /* quality 50: the tables as they are */
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++)
                bytes[y][x] = nearbyint(255 * (double)picture[y * 16 + x]) - 128;
        for (int v = 0; v < 8; v++)
            for (int u = 0; u < 8; u++) {
                double sum = 0;
                for (int y = 0; y < 8; y++)
                    for (int x = 0; x < 8; x++)
                        sum += bytes[y][x] * cos((2 * x + 1) * u * M_PI / 16) * cos((2 * y + 1) * v * M_PI / 16);
                sum *= (u ? 1 : M_SQRT1_2) * (v ? 1 : M_SQRT1_2) / 4;
                CHECK(u == 0 || v == 0 || fabs(sum) < 1e-9);
                const int step = v == 0 ? first_row[u] : u == 0 ? first_column[v] : 99;
                waves[v][u] = nearbyint(sum / step) * step;
            }
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++) {
                double sum = 0;
                for (int v = 0; v < 8; v++)
                    for (int u = 0; u < 8; u++)
                        sum += (u ? 1 : M_SQRT1_2) * (v ? 1 : M_SQRT1_2) / 4 * waves[v][u] *
                               cos((2 * x + 1) * u * M_PI / 16) * cos((2 * y + 1) * v * M_PI / 16);
                for (int c = 0; c < 3; c++) /* a half may round to either byte */
                    CHECK_NEAR(255 * (double)made[c * 256 + y * 16 + x], fmax(nearbyint(sum + 128), 0), 1.001);
            }
    }
}

/** Of one colour all over, what is left is that colour, by the rounding of its parts. */
static void jpeg_keeps_what_is_even(void)
{
    static const float tint[3] = {0.8f, 0.3f, 0.1f};
    for (int p = 0; p < 3 * 1024; p++)
        picture[p] = tint[p / 1024];
    corrupt_of(colour, "jpeg_compression", 1, 0, made);
    /* Quality 80: steps of 6 and 7 of eight times the mean, half of them 3 / 8 and 3.5 / 8 of a byte; of red and blue
     * less brightness 1.402 and 1.772 times as much; and the rounding of three bytes. */
    CHECK(largest_difference(made, picture, 3 * 1024) < (0.4 + 1.772 * 0.5 + 3) / 255);
    for (int p = 1; p < 1024; p++)
        CHECK_NEAR(made[p], made[0], 0);
}

static void pictures_that_cannot_be_corrupted_are_refused(void)
{
    CHECK_INT(ys_corruption_check(&(struct ys_picture_shape){1, 8, 8}), YS_OK);
    CHECK_INT(ys_corruption_check(&(struct ys_picture_shape){3, 8, 200}), YS_OK);
    CHECK_INT(ys_corruption_check(&(struct ys_picture_shape){2, 28, 28}), YS_EINVAL);
    CHECK_HAS(ys_error(), "and these have 2: leave corruptions out");
    CHECK_INT(ys_corruption_check(&(struct ys_picture_shape){1, 7, 28}), YS_EINVAL);
    CHECK_HAS(ys_error(), "at least 8 x 8 pixels, and these have 7 x 28");
    CHECK_INT(ys_corruption_check(&(struct ys_picture_shape){3, 28, 7}), YS_EINVAL);
    CHECK_INT(ys_corruption_count(2), 0);
    CHECK_INT(ys_corruption_count(1), 15);
    CHECK_INT(ys_corruption_count(3), 14);
}

TAP_MAIN(TAP_CASE(pictures_of_any_size_stay_pictures_and_come_again), TAP_CASE(lots_hang_on_seed_and_row),
         TAP_CASE(means_and_variances_are_those_that_are_stored), TAP_CASE(noise_has_its_mean_and_variance),
         TAP_CASE(a_blur_is_the_sum_over_a_square), TAP_CASE(beyond_the_edge_lies_what_is_said),
         TAP_CASE(defocus_is_its_kernel), TAP_CASE(blur_keeps_the_light),
         TAP_CASE(pictures_are_bent_about_their_middle), TAP_CASE(elastic_begins_with_three_corners),
         TAP_CASE(pixelate_is_the_mean_of_boxes), TAP_CASE(what_is_enlarged_begins_and_ends_as_it_was_cut),
         TAP_CASE(brightness_adds_to_the_value), TAP_CASE(contrast_goes_to_the_mean_of_a_channel),
         TAP_CASE(fog_is_a_map_from_nothing_to_its_amount), TAP_CASE(snow_falls_both_ways),
         TAP_CASE(mud_hides_and_leaves_the_rest), TAP_CASE(strokes_are_drawn_on_top),
         TAP_CASE(edges_lie_where_light_ends), TAP_CASE(jpeg_is_the_standards_sums), TAP_CASE(jpeg_keeps_what_is_even),
         TAP_CASE(pictures_that_cannot_be_corrupted_are_refused))
