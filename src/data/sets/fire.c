#include "data/sets/fire.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>

#define SEED 0x46495245u /* never changes: the bytes are the same on every machine */

enum { FIRE, SMOKE, NEITHER, SIDE = YS_FIRE_SIDE, PLANE = SIDE * SIDE, WALLS = 4, PUFFS = 28, THINGS = 6 };

struct fire_color {
    double part[3]; /* red, green, blue in 0 to 1 */
};

/* From the foot of a fire to its top, and of smoke. */
static const struct fire_color flame[3] = {{{1.0, 0.95, 0.6}}, {{1.0, 0.6, 0.1}}, {{0.75, 0.15, 0.05}}};
static const struct fire_color fume[3] = {{{0.35, 0.34, 0.33}}, {{0.55, 0.55, 0.55}}, {{0.75, 0.76, 0.78}}};

/** An image that is painted, in numbers of 0 to 1. */
struct scene_canvas {
    struct ys_rng rng;
    double pixel[3][PLANE];
};

static double between(struct scene_canvas *canvas, double low, double high)
{
    return low + (high - low) * ys_rng_uniform(&canvas->rng);
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static struct fire_color draw_color(struct scene_canvas *canvas, double low, double high)
{
    struct fire_color color;
    for (int c = 0; c < 3; c++)
        color.part[c] = between(canvas, low, high);
    return color;
}

static void lay(struct scene_canvas *canvas, int at, const struct fire_color *color, double share)
{
    for (int c = 0; c < 3; c++)
        canvas->pixel[c][at] += share * (color->part[c] - canvas->pixel[c][at]);
}

/* A sky that changes from top to bottom, ground, and walls that stand on it. */
static void paint_scene(struct scene_canvas *canvas)
{
    const struct fire_color top = draw_color(canvas, 0.15, 0.85), low = draw_color(canvas, 0.3, 0.9);
    const struct fire_color ground = draw_color(canvas, 0.1, 0.5);
    const int horizon = (int)between(canvas, 0.6 * SIDE, 0.85 * SIDE);
    for (int at = 0; at < PLANE; at++) {
        const double share = (double)(at / SIDE) / SIDE;
        for (int c = 0; c < 3; c++)
            canvas->pixel[c][at] =
                at / SIDE >= horizon ? ground.part[c] : top.part[c] * (1 - share) + low.part[c] * share;
    }
    for (int i = 0; i < WALLS; i++) {
        const struct fire_color color = draw_color(canvas, 0.1, 0.8);
        const int left = (int)between(canvas, -30, SIDE - 20), right = left + (int)between(canvas, 20, 70);
        const int roof = horizon - (int)between(canvas, 10, 110);
        for (int y = roof < 0 ? 0 : roof; y < horizon; y++)
            for (int x = left < 0 ? 0 : left; x < right && x < SIDE; x++)
                lay(canvas, y * SIDE + x, &color, 1);
    }
}

/* A disc whose edge is soft, or sharp with `hardness` 1. */
static void paint_disc(struct scene_canvas *canvas, double x, double y, double radius, const struct fire_color *color,
                       double share, double hardness)
{
    const int top = (int)clamp(y - radius, 0, SIDE), bottom = (int)clamp(y + radius + 1, 0, SIDE);
    const int left = (int)clamp(x - radius, 0, SIDE), right = (int)clamp(x + radius + 1, 0, SIDE);
    for (int row = top; row < bottom; row++)
        for (int column = left; column < right; column++) {
            const double a = (column - x) / radius, b = (row - y) / radius, inside = 1 - a * a - b * b;
            if (inside > 0)
                lay(canvas, row * SIDE + column, color, share * (hardness + (1 - hardness) * inside * inside));
        }
}

/* Puffs that rise from a place: those of a fire become smaller and redder, those of smoke larger, lighter and thinner.
 */
static void paint_puffs(struct scene_canvas *canvas, int class, const struct fire_color stages[3])
{
    const double x = between(canvas, 50, SIDE - 50), y = between(canvas, 140, 200), size = between(canvas, 14, 26);
    const double rise = class == FIRE ? between(canvas, 40, 80) : between(canvas, 80, 150);
    const double wind = class == FIRE ? between(canvas, -12, 12) : between(canvas, -60, 60);
    for (int i = 0; i < PUFFS; i++) {
        const double age = (double)(PUFFS - 1 - i) / (PUFFS - 1),
                     spread = class == FIRE ? 1 - 0.7 * age : 0.6 + 1.4 * age;
        const struct fire_color *from = &stages[age < 0.5 ? 0 : 1], *to = from + 1;
        const double way = age < 0.5 ? 2 * age : 2 * age - 1;
        struct fire_color color;
        for (int c = 0; c < 3; c++)
            color.part[c] = from->part[c] * (1 - way) + to->part[c] * way + between(canvas, -0.05, 0.05);
        const double radius =
            size * spread * between(canvas, 0.7, 1.3); /* arguments have no order: draws stand apart */
        const double aside = between(canvas, -1, 1) * size * spread;
        paint_disc(canvas, x + wind * age + aside, y - rise * age, radius, &color,
                   class == FIRE ? 0.9 : 0.75 - 0.4 * age, 0);
    }
}

/* Discs in the colours of fire and of smoke that are neither: lamps, wheels, clouds at the top. */
static void paint_things(struct scene_canvas *canvas)
{
    for (int i = 0; i < THINGS; i++) {
        const struct fire_color *stages = i % 2 ? fume : flame;
        const struct fire_color *color = &stages[ys_rng_below(&canvas->rng, 3)];
        const double radius = between(canvas, 6, 28), y = between(canvas, 10, SIDE - 10), x = between(canvas, 0, SIDE);
        paint_disc(canvas, x, y, radius, color, 0.95, 1);
    }
}

static void draw_one(const char *half, int64_t row, struct scene_canvas *canvas, uint8_t *planes)
{
    const int class = (int)(row % YS_FIRE_CLASSES);
    char name[64];
    snprintf(name, sizeof name, "fire/%s/%lld", half, (long long)row);
    ys_rng_init(&canvas->rng, SEED, name);
    paint_scene(canvas);
    if (class == NEITHER)
        paint_things(canvas);
    else
        paint_puffs(canvas, class, class == FIRE ? flame : fume);
    const double light = between(canvas, 0.7, 1.1), noise = between(canvas, 0.01, 0.06);
    for (int at = 0; at < PLANE; at++) {
        const double grain = noise * (2 * ys_rng_uniform(&canvas->rng) - 1);
        for (int c = 0; c < 3; c++)
            planes[c * PLANE + at] = (uint8_t)floor(clamp(canvas->pixel[c][at] * light + grain, 0, 1) * 255 + 0.5);
    }
}

void ys_fire_draw(const char *half, int64_t count, uint8_t *x, int64_t *y)
{
    static struct scene_canvas canvas;
    for (int64_t row = 0; row < count; row++) {
        draw_one(half, row, &canvas, x + row * 3 * PLANE);
        y[row] = row % YS_FIRE_CLASSES;
    }
}
