#include "data/sets/images.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>

#define SEED 0x494d4753u /* never changes: the bytes are the same on every machine */

struct texture_color {
    double part[3]; /* red, green, blue in 0 to 1 */
};

/* The two colours between which a texture changes. */
static const struct texture_color colors[YS_IMAGES_COLORS][2] = {
    {{{0.90, 0.15, 0.15}}, {{0.40, 0.02, 0.05}}}, {{{0.15, 0.75, 0.20}}, {{0.02, 0.30, 0.08}}},
    {{{0.20, 0.35, 0.95}}, {{0.05, 0.08, 0.40}}}, {{{0.95, 0.90, 0.20}}, {{0.50, 0.42, 0.02}}},
    {{{0.85, 0.25, 0.85}}, {{0.35, 0.05, 0.38}}}, {{{0.20, 0.85, 0.90}}, {{0.02, 0.35, 0.42}}},
    {{{0.98, 0.98, 0.98}}, {{0.55, 0.55, 0.55}}}, {{{0.35, 0.35, 0.35}}, {{0.02, 0.02, 0.02}}},
    {{{0.98, 0.55, 0.12}}, {{0.20, 0.25, 0.80}}}, {{{0.95, 0.95, 0.85}}, {{0.75, 0.05, 0.10}}},
};

/** One image, as it was drawn by lot. */
struct scene {
    int shape, texture;
    struct texture_color ink[2], back; /* the background in its middle */
    double slope[2];                   /* of the background: change from the middle to the right and the lower edge */
    double centre[2], sine, cosine, size;
    double phase[2], waves; /* of the texture: how often it changes from the middle to the edge of the shape */
    double noise;
    uint32_t grain; /* of the texture that is made of random squares */
};

static double between(struct ys_rng *rng, double low, double high)
{
    return low + (high - low) * ys_rng_uniform(rng);
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static struct scene draw_scene(struct ys_rng *rng, int64_t label)
{
    struct scene s = {.shape = (int)(label % YS_IMAGES_SHAPES),
                      .texture = (int)(label / YS_IMAGES_SHAPES % YS_IMAGES_TEXTURES)};
    const int color = (int)(label / (YS_IMAGES_SHAPES * YS_IMAGES_TEXTURES));
    const double light = between(rng, 0.8, 1.1);
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 2; i++)
            s.ink[i].part[c] = colors[color][i].part[c] * light + between(rng, -0.06, 0.06);
        s.back.part[c] = between(rng, 0.3, 0.7);
    }
    for (int i = 0; i < 2; i++) {
        s.slope[i] = between(rng, -0.2, 0.2);
        s.centre[i] = between(rng, -0.25, 0.25);
        s.phase[i] = ys_rng_uniform(rng);
    }
    s.size = between(rng, 0.5, 0.75);
    s.sine = clamp(0.14 * ys_rng_normal(rng), -0.3, 0.3);
    s.cosine = sqrt(1 - s.sine * s.sine);
    s.waves = between(rng, 1.8, 2.6);
    s.noise = between(rng, 0.02, 0.1);
    s.grain = ys_rng_u32(rng);
    return s;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Whether the point is inside of the shape, whose box is about -1 to 1 both ways. */
static int is_inside(int shape, double a, double b)
{
    const double square = a * a + b * b, across = fabs(a), down = fabs(b), box = larger(across, down);
    switch (shape) {
    case 0: /* disc */
        return square <= 1;
    case 1: /* square */
        return box <= 0.85;
    case 2: /* square on its corner */
        return across + down <= 1.15;
    case 3: /* ring */
        return square <= 1 && square >= 0.3;
    case 4: /* cross */
        return box <= 1 && (across <= 0.33 || down <= 0.33);
    case 5: /* bar, lying */
        return across <= 1.15 && down <= 0.4;
    case 6: /* bar, standing */
        return down <= 1.15 && across <= 0.4;
    case 7: /* triangle */
        return b <= 0.8 && 2 * across - b <= 1;
    case 8: /* frame */
        return box <= 1 && box >= 0.55;
    default: /* two discs */
        return (across - 0.55) * (across - 0.55) + b * b <= 0.2;
    }
}

/* 0 to 1 and back, once for each whole number. */
static double wave(double x)
{
    return fabs(2 * (x - floor(x)) - 1);
}

static double stripes(double x)
{
    return wave(x) > 0.5 ? 1 : 0;
}

/* Of the square of a pattern, 0 to 1: a hash (Jenkins, "one at a time"). */
static double grain_of(const struct scene *s, double p, double q)
{
    const uint32_t keys[] = {s->grain, (uint32_t)(int32_t)floor(4 * p), (uint32_t)(int32_t)floor(4 * q)};
    uint32_t hash = 0;
    for (int i = 0; i < 3; i++) {
        hash += keys[i];
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    return hash / 4294967296.0;
}

/* The share of the second colour at a point of the shape. */
static double texture_at(const struct scene *s, double a, double b)
{
    const double p = a * s->waves + s->phase[0], q = b * s->waves + s->phase[1];
    switch (s->texture) {
    case 0: /* plain */
        return 0;
    case 1: /* stripes, standing */
        return stripes(p);
    case 2: /* stripes, lying */
        return stripes(q);
    case 3: /* stripes from the upper left */
        return stripes(0.75 * (p - q));
    case 4: /* stripes from the upper right */
        return stripes(0.75 * (p + q));
    case 5: /* squares of a board */
        return stripes(p) == stripes(q) ? 1 : 0;
    case 6: /* dots */
        return (wave(p) - 1) * (wave(p) - 1) + (wave(q) - 1) * (wave(q) - 1) <= 0.35 ? 1 : 0;
    case 7: /* rings */
        return stripes(s->waves * sqrt(a * a + b * b) + s->phase[0]);
    case 8: /* from one colour to the other */
        return clamp(0.5 + 0.6 * b, 0, 1);
    default:
        return grain_of(s, p, q);
    }
}

/* At (u, v), -1 to 1 from the left to the right and from the top to the bottom edge. */
static struct texture_color color_at(const struct scene *s, double u, double v)
{
    const double x = (u - s->centre[0]) / s->size, y = (v - s->centre[1]) / s->size;
    const double a = s->cosine * x + s->sine * y, b = s->cosine * y - s->sine * x;
    struct texture_color made;
    if (is_inside(s->shape, a, b)) {
        const double share = texture_at(s, a, b);
        for (int c = 0; c < 3; c++)
            made.part[c] = s->ink[0].part[c] * (1 - share) + s->ink[1].part[c] * share;
    } else {
        for (int c = 0; c < 3; c++)
            made.part[c] = s->back.part[c] + s->slope[0] * u + s->slope[1] * v;
    }
    return made;
}

static uint8_t byte_of(double part)
{
    return (uint8_t)floor(clamp(part, 0, 1) * 255 + 0.5);
}

static void paint(const struct scene *s, struct ys_rng *rng, const int64_t *shape, uint8_t *planes)
{
    const int64_t height = shape[1], width = shape[2], plane = height * width;
    for (int64_t i = 0; i < plane; i++) {
        const double v = (2 * (double)(i / width) + 1) / (double)height - 1;
        const double u = (2 * (double)(i % width) + 1) / (double)width - 1;
        const struct texture_color color = color_at(s, u, v);
        const double noise = s->noise * (2 * ys_rng_uniform(rng) - 1);
        if (shape[0] == 1)
            planes[i] = byte_of(0.299 * color.part[0] + 0.587 * color.part[1] + 0.114 * color.part[2] + noise);
        for (int64_t c = 0; c < 3 && shape[0] == 3; c++)
            planes[c * plane + i] = byte_of(color.part[c] + noise);
    }
}

int64_t ys_images_draw_one(const char *half, const struct ys_rows *form, int64_t row, uint8_t *planes)
{
    const int64_t classes = form->classes < YS_IMAGES_CLASSES ? form->classes : YS_IMAGES_CLASSES;
    struct ys_rng rng;
    char name[64];
    snprintf(name, sizeof name, "images/%s/%lld", half, (long long)row);
    ys_rng_init(&rng, SEED, name);
    const struct scene scene = draw_scene(&rng, row % classes);
    paint(&scene, &rng, form->inputs[0].shape, planes);
    return row % classes;
}

void ys_images_draw(const char *half, const struct ys_rows *form, int64_t count, uint8_t *x, int64_t *y)
{
    const size_t row_bytes = ys_row_bytes(&form->inputs[0]);
    for (int64_t i = 0; i < count; i++)
        y[i] = ys_images_draw_one(half, form, i, x + (size_t)i * row_bytes);
}
