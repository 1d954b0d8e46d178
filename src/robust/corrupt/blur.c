/* Blur. */
#include "robust/corrupt/canvas.h"

#include <math.h>

static const double REACH = 4; /* of a Gaussian, in sigmas */

/* A disk of whole pixels whose edge is blurred by 3 x 3; weights [out]: [2 * reach + 1][2 * reach + 1]. */
static void make_disk(double radius, double sigma, ptrdiff_t reach, double *weights)
{
    const double beside = exp(-0.5 / (sigma * sigma)), edge[3] = {beside, 1, beside};
    const ptrdiff_t side = 2 * reach + 1;
    double sum = 0;
    for (ptrdiff_t y = -reach + 1; y < reach; y++)
        for (ptrdiff_t x = -reach + 1; x < reach; x++) {
            if ((double)(y * y + x * x) > radius * radius)
                continue;
            for (ptrdiff_t i = -1; i <= 1; i++)
                for (ptrdiff_t k = -1; k <= 1; k++)
                    weights[(y + i + reach) * side + x + k + reach] += edge[i + 1] * edge[k + 1];
        }
    for (ptrdiff_t p = 0; p < side * side; p++)
        sum += weights[p];
    for (ptrdiff_t p = 0; p < side * side; p++)
        weights[p] /= sum;
}

void ys_corrupt_defocus_blur(struct ys_canvas *canvas)
{
    const double radius = canvas->numbers[0] * canvas->unit;
    const ptrdiff_t reach = (ptrdiff_t)radius + 1, side = 2 * reach + 1;
    double *weights = ys_canvas_room(canvas, (size_t)(side * side)), *sharp = ys_canvas_room(canvas, canvas->area);
    make_disk(radius, canvas->numbers[1], reach, weights);
    for (size_t c = 0; c < canvas->channels; c++) {
        double *plane = ys_canvas_plane(canvas, c);
        for (size_t p = 0; p < canvas->area; p++)
            sharp[p] = plane[p];
        for (size_t p = 0; p < canvas->area; p++) {
            const ptrdiff_t y = (ptrdiff_t)(p / canvas->width), x = (ptrdiff_t)(p % canvas->width);
            plane[p] = 0;
            for (ptrdiff_t k = 0; k < side * side; k++)
                plane[p] += weights[k] *
                            ys_plane_at(canvas, sharp, y + k / side - reach, x + k % side - reach, YS_EDGE_MIRROR_ONCE);
        }
    }
}

static void blur_all(struct ys_canvas *canvas)
{
    for (size_t c = 0; c < canvas->channels; c++)
        ys_plane_blur(canvas, ys_canvas_plane(canvas, c), canvas->numbers[0] * canvas->unit, REACH, YS_EDGE_LAST);
}

/* Pixel `a` becomes `b`, and with `swaps` the other way round too. */
static void move_pixel(struct ys_canvas *canvas, size_t a, size_t b, bool swaps)
{
    for (size_t c = 0; c < canvas->channels; c++) {
        double *plane = ys_canvas_plane(canvas, c);
        const double kept = plane[a];
        plane[a] = plane[b];
        if (swaps)
            plane[b] = kept;
    }
}

/* From the last pixel on, each takes that of a place nearby. Those of colour only take: the script would swap them, but
 * what it hands over by then is the pixel that was just taken. */
void ys_corrupt_glass_blur(struct ys_canvas *canvas)
{
    const double scaled = nearbyint(canvas->numbers[1] * canvas->unit);
    const size_t reach = scaled > 1 ? (size_t)scaled : 1, width = canvas->width;
    blur_all(canvas);
    for (size_t pass = 0; pass < (size_t)canvas->numbers[2]; pass++)
        for (size_t y = canvas->height - reach; y > reach; y--)
            for (size_t x = width - reach; x > reach; x--) {
                const double lot = ys_rng_uniform(&canvas->rng), chance = canvas->numbers[3];
                const size_t to_x = x + ys_rng_below(&canvas->rng, (uint32_t)(2 * reach)) - reach,
                             to_y = y + ys_rng_below(&canvas->rng, (uint32_t)(2 * reach)) - reach;
                if (chance == 0 || lot < chance)
                    move_pixel(canvas, y * width + x, to_y * width + to_x, chance > 0);
            }
    blur_all(canvas);
}

void ys_corrupt_motion_blur(struct ys_canvas *canvas)
{
    const double angle = ys_canvas_uniform(canvas, -45, 45);
    for (size_t c = 0; c < canvas->channels; c++)
        ys_plane_streak(canvas, ys_canvas_plane(canvas, c), canvas->numbers[0] * canvas->unit,
                        canvas->numbers[1] * canvas->unit, angle);
}

/* The mean of the picture and of what it is 1, 1.01, 1.02, ... times as large. */
void ys_corrupt_zoom_blur(struct ys_canvas *canvas)
{
    const size_t steps = (size_t)canvas->numbers[0];
    double *larger = ys_canvas_room(canvas, canvas->area), *sum = ys_canvas_room(canvas, canvas->area);
    for (size_t c = 0; c < canvas->channels; c++) {
        double *plane = ys_canvas_plane(canvas, c);
        for (size_t p = 0; p < canvas->area; p++)
            sum[p] = plane[p];
        for (size_t step = 0; step < steps; step++) {
            ys_plane_enlarge(canvas, plane, 1 + 0.01 * (double)step, larger);
            for (size_t p = 0; p < canvas->area; p++)
                sum[p] += larger[p];
        }
        for (size_t p = 0; p < canvas->area; p++)
            plane[p] = sum[p] / (double)(steps + 1);
    }
}
