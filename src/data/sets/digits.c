#include "data/sets/digits.h"
#include "base/rng.h"
#include "data/sets/glyph.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIDE        YS_DIGITS_SIDE
#define SEED        1
#define CURVE_STEPS 6 /* straight pieces between two points of a curve */

struct point {
    double x, y;
};

/** Pixels from 0 (paper) to 1 (ink). */
struct digit_canvas {
    double ink[SIDE][SIDE];
};

/** From the glyph's box, [-1, 1] both ways, to pixels: bent first, then mapped by a matrix. */
struct placement {
    double bend[2][3]; /* of x and y: factors of x y, x^2 - 1/2, y^2 - 1/2 */
    double matrix[2][2];
    struct point centre;
};

static double uniform(struct ys_rng *rng, double low, double high)
{
    return low + (high - low) * ys_rng_uniform(rng);
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static struct placement draw_placement(struct ys_rng *rng)
{
    struct placement p;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            p.bend[i][k] = 0.07 * ys_rng_normal(rng);
    double sine = clamp(0.14 * ys_rng_normal(rng), -0.4, 0.4); /* of the angle of turning */
    double cosine = sqrt(1 - sine * sine);
    double shear = uniform(rng, -0.20, 0.20);
    double width = uniform(rng, 5.0, 7.5), height = uniform(rng, 8.0, 10.5); /* half of the box, in pixels */
    p.matrix[0][0] = width * cosine;
    p.matrix[0][1] = height * (-sine + shear * cosine);
    p.matrix[1][0] = width * sine;
    p.matrix[1][1] = height * (cosine + shear * sine);
    p.centre.x = SIDE / 2.0 + uniform(rng, -1.5, 1.5);
    p.centre.y = SIDE / 2.0 + uniform(rng, -1.5, 1.5);
    return p;
}

static struct point place(const struct placement *p, struct point at)
{
    double terms[3] = {at.x * at.y, at.x * at.x - 0.5, at.y * at.y - 0.5};
    struct point bent = at;
    for (int k = 0; k < 3; k++) {
        bent.x += p->bend[0][k] * terms[k];
        bent.y += p->bend[1][k] * terms[k];
    }
    return (struct point){p->centre.x + p->matrix[0][0] * bent.x + p->matrix[0][1] * bent.y,
                          p->centre.y + p->matrix[1][0] * bent.x + p->matrix[1][1] * bent.y};
}

/** Squared distance from `at` to the piece from `a` to `b`. */
static double squared_distance(struct point at, struct point a, struct point b)
{
    double dx = b.x - a.x, dy = b.y - a.y;
    double length = dx * dx + dy * dy;
    double along = length > 0 ? clamp(((at.x - a.x) * dx + (at.y - a.y) * dy) / length, 0, 1) : 0;
    double ex = at.x - (a.x + along * dx), ey = at.y - (a.y + along * dy);
    return ex * ex + ey * ey;
}

/** First and last pixel whose centre lies within `reach` of [low, high]; empty when last < first. */
static void pixel_range(double low, double high, double reach, int *first, int *last)
{
    *first = (int)clamp(low - reach, 0, SIDE);
    *last = (int)clamp(high + reach, -1, SIDE - 1);
}

/** A piece of a pen of radius `radius`, its edge half a pixel soft on either side. */
static void draw_piece(struct digit_canvas *canvas, struct point a, struct point b, double radius, double ink)
{
    double reach = radius + 1;
    int top, bottom, left, right;
    pixel_range(a.x < b.x ? a.x : b.x, a.x < b.x ? b.x : a.x, reach, &left, &right);
    pixel_range(a.y < b.y ? a.y : b.y, a.y < b.y ? b.y : a.y, reach, &top, &bottom);
    for (int y = top; y <= bottom; y++) {
        for (int x = left; x <= right; x++) {
            struct point at = {x + 0.5, y + 0.5};
            double value = ink * clamp(radius + 0.5 - sqrt(squared_distance(at, a, b)), 0, 1);
            if (value > canvas->ink[y][x])
                canvas->ink[y][x] = value;
        }
    }
}

/** Between p[1] and p[2], at 0 <= t <= 1. Catmull and Rom, "A class of local interpolating splines", 1974. */
static struct point curve_at(const struct point p[4], double t)
{
    double w0 = ((-t + 2) * t - 1) * t, w1 = (3 * t - 5) * t * t + 2;
    double w2 = ((-3 * t + 4) * t + 1) * t, w3 = (t - 1) * t * t;
    return (struct point){0.5 * (w0 * p[0].x + w1 * p[1].x + w2 * p[2].x + w3 * p[3].x),
                          0.5 * (w0 * p[0].y + w1 * p[1].y + w2 * p[2].y + w3 * p[3].y)};
}

struct pen {
    double radius_start, radius_end, ink;
};

static void draw_stroke(struct digit_canvas *canvas, const struct placement *placement, const struct point *points,
                        int count, bool is_smooth, const struct pen *pen)
{
    int steps = is_smooth ? CURVE_STEPS : 2;
    int pieces = (count - 1) * steps;
    struct point last = place(placement, points[0]);
    for (int i = 0; i < pieces; i++) {
        int k = i / steps;
        double t = (i % steps + 1) / (double)steps;
        const struct point around[4] = {points[k > 0 ? k - 1 : 0], points[k], points[k + 1],
                                        points[k + 2 < count ? k + 2 : count - 1]};
        struct point next = {around[1].x + t * (around[2].x - around[1].x),
                             around[1].y + t * (around[2].y - around[1].y)};
        next = place(placement, is_smooth ? curve_at(around, t) : next);
        double radius = pen->radius_start + (pen->radius_end - pen->radius_start) * (i / (double)pieces);
        draw_piece(canvas, last, next, radius, pen->ink);
        last = next;
    }
}

static void draw_glyph(struct digit_canvas *canvas, int digit, struct ys_rng *rng)
{
    uint32_t ways;
    const struct ys_glyph *glyphs = ys_glyphs(digit, &ways);
    const struct ys_glyph *glyph = &glyphs[ys_rng_below(rng, ways)];
    struct placement placement = draw_placement(rng);
    double radius = uniform(rng, 0.7, 1.6);
    double ink = uniform(rng, 0.60, 1.0);
    for (int s = 0; s < YS_GLYPH_MAX_STROKES && glyph->strokes[s].point_count; s++) {
        const struct ys_stroke *stroke = &glyph->strokes[s];
        struct point points[YS_GLYPH_MAX_POINTS];
        for (int i = 0; i < stroke->point_count; i++) {
            points[i].x = stroke->points[i][0] / 50.0 - 1 + 0.05 * ys_rng_normal(rng);
            points[i].y = stroke->points[i][1] / 50.0 - 1 + 0.05 * ys_rng_normal(rng);
        }
        struct pen pen = {radius * uniform(rng, 0.8, 1.2), radius * uniform(rng, 0.8, 1.2), ink};
        draw_stroke(canvas, &placement, points, stroke->point_count, stroke->is_smooth, &pen);
    }
}

/** Short strokes that belong to nothing: a part of the images has one or two. */
static void draw_strays(struct digit_canvas *canvas, struct ys_rng *rng)
{
    static const struct placement as_pixels = {.matrix = {{1, 0}, {0, 1}}};
    uint32_t dice = ys_rng_below(rng, 10);
    int strays = dice < 7 ? 0 : dice < 9 ? 1 : 2;
    for (int s = 0; s < strays; s++) {
        struct point points[3];
        points[0] = (struct point){uniform(rng, 0, SIDE), uniform(rng, 0, SIDE)};
        for (int i = 1; i < 3; i++)
            points[i] = (struct point){points[i - 1].x + uniform(rng, -5, 5), points[i - 1].y + uniform(rng, -5, 5)};
        double radius = uniform(rng, 0.3, 0.9);
        struct pen pen = {radius, radius, uniform(rng, 0.3, 0.8)};
        draw_stroke(canvas, &as_pixels, points, 3, true, &pen);
    }
}

/** Mixes every pixel with the mean of its neighbourhood, weighted 1 2 1 both ways. */
static void blur(struct digit_canvas *canvas, double strength)
{
    struct digit_canvas old = *canvas;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            double sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (y + dy >= 0 && y + dy < SIDE && x + dx >= 0 && x + dx < SIDE)
                        sum += old.ink[y + dy][x + dx] * ((2 - dy * dy) * (2 - dx * dx));
            canvas->ink[y][x] = old.ink[y][x] + strength * (sum / 16 - old.ink[y][x]);
        }
    }
}

static void draw_image(int digit, struct ys_rng *rng, uint8_t *pixels)
{
    struct digit_canvas canvas = {0};
    draw_glyph(&canvas, digit, rng);
    draw_strays(&canvas, rng);
    blur(&canvas, uniform(rng, 0, 0.8));
    double paper = uniform(rng, 0, 0.15), noise = uniform(rng, 0.02, 0.15);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double grain = ys_rng_uniform(rng) + ys_rng_uniform(rng) - 1; /* triangular on (-1, 1) */
        double ink = canvas.ink[i / SIDE][i % SIDE];
        pixels[i] = (uint8_t)(255 * clamp(paper + (1 - paper) * ink + noise * grain, 0, 1) + 0.5);
    }
}

void ys_digits_draw(const char *split, int64_t count, uint8_t *x, int64_t *y)
{
    for (int64_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "digits/%s/%lld", split, (long long)i);
        struct ys_rng rng;
        ys_rng_init(&rng, SEED, name);
        y[i] = i % 10;
        draw_image((int)y[i], &rng, x + i * SIDE * SIDE);
    }
}
