#include "robust/corrupt/canvas.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

static const double RADIANS = 3.14159265358979323846 / 180;

double *ys_canvas_room(struct ys_canvas *canvas, size_t count)
{
    YS_ASSERT(canvas->room_count < YS_CANVAS_ROOMS);
    return canvas->rooms[canvas->room_count++] = ys_alloc(count, sizeof(double));
}

double *ys_canvas_plane(const struct ys_canvas *canvas, size_t channel)
{
    return canvas->pixels + channel * canvas->area;
}

double ys_canvas_uniform(struct ys_canvas *canvas, double low, double high)
{
    return low + (high - low) * ys_rng_uniform(&canvas->rng);
}

/* The place within [0, count) that stands for i; -1: none does. */
static ptrdiff_t place_of(ptrdiff_t i, ptrdiff_t count, enum ys_edge edge)
{
    const ptrdiff_t period = edge == YS_EDGE_MIRROR_TWICE ? 2 * count : 2 * (count - 1);
    if (i >= 0 && i < count)
        return i;
    if (edge == YS_EDGE_NOTHING)
        return -1;
    if (edge == YS_EDGE_LAST)
        return i < 0 ? 0 : count - 1;
    i = (i % period + period) % period;
    return i < count ? i : edge == YS_EDGE_MIRROR_TWICE ? period - 1 - i : period - i;
}

double ys_plane_at(const struct ys_canvas *canvas, const double *plane, ptrdiff_t y, ptrdiff_t x, enum ys_edge edge)
{
    const ptrdiff_t row = place_of(y, (ptrdiff_t)canvas->height, edge),
                    column = place_of(x, (ptrdiff_t)canvas->width, edge);
    return row < 0 || column < 0 ? 0 : plane[(size_t)row * canvas->width + (size_t)column];
}

double ys_plane_between(const struct ys_canvas *canvas, const double *plane, double y, double x, enum ys_edge edge)
{
    const double top = floor(y), left = floor(x), down = y - top, right = x - left;
    const ptrdiff_t i = (ptrdiff_t)top, k = (ptrdiff_t)left;
    return (1 - down) * ((1 - right) * ys_plane_at(canvas, plane, i, k, edge) +
                         right * ys_plane_at(canvas, plane, i, k + 1, edge)) +
           down * ((1 - right) * ys_plane_at(canvas, plane, i + 1, k, edge) +
                   right * ys_plane_at(canvas, plane, i + 1, k + 1, edge));
}

void ys_plane_blur(struct ys_canvas *canvas, double *plane, double sigma, double reach, enum ys_edge edge)
{
    const ptrdiff_t radius = (ptrdiff_t)(reach * sigma + 0.5);
    double sum = 0;
    if (radius == 0)
        return;
    double *weights = ys_alloc((size_t)(2 * radius + 1), sizeof *weights),
           *before = ys_alloc(canvas->area, sizeof *before);
    for (ptrdiff_t k = -radius; k <= radius; k++)
        sum += weights[k + radius] = exp(-0.5 * (double)(k * k) / (sigma * sigma));
    for (ptrdiff_t k = 0; k <= 2 * radius; k++)
        weights[k] /= sum;
    for (int across = 0; across < 2; across++) {
        memcpy(before, plane, canvas->area * sizeof *before);
        for (size_t p = 0; p < canvas->area; p++) {
            const ptrdiff_t y = (ptrdiff_t)(p / canvas->width), x = (ptrdiff_t)(p % canvas->width);
            plane[p] = 0;
            for (ptrdiff_t k = -radius; k <= radius; k++)
                plane[p] +=
                    weights[k + radius] * ys_plane_at(canvas, before, across ? y : y + k, across ? x + k : x, edge);
        }
    }
    ys_free(weights);
    ys_free(before);
}

/* Of the pixel itself and those behind it, by half a Gaussian; ImageMagick rounds where they lie to whole pixels, and
 * goes 2 ceil(radius) far. */
void ys_plane_streak(struct ys_canvas *canvas, double *plane, double radius, double sigma, double angle)
{
    const ptrdiff_t length = 2 * (ptrdiff_t)ceil(radius) + 1;
    const double down = sin(angle * RADIANS), right = cos(angle * RADIANS);
    double sum = 0;
    double *before = ys_alloc(canvas->area, sizeof *before);
    memcpy(before, plane, canvas->area * sizeof *before);
    memset(plane, 0, canvas->area * sizeof *plane);
    for (ptrdiff_t k = 0; k < length; k++) {
        const double weight = exp(-0.5 * (double)(k * k) / (sigma * sigma));
        const ptrdiff_t dy = (ptrdiff_t)ceil((double)k * down - 0.5), dx = (ptrdiff_t)ceil((double)k * right - 0.5);
        sum += weight;
        for (size_t p = 0; p < canvas->area; p++)
            plane[p] += weight * ys_plane_at(canvas, before, (ptrdiff_t)(p / canvas->width) + dy,
                                             (ptrdiff_t)(p % canvas->width) + dx, YS_EDGE_LAST);
    }
    for (size_t p = 0; p < canvas->area; p++)
        plane[p] /= sum;
    ys_free(before);
}

/* One side: what is cut out of it, how large it becomes, and the first of that which is kept. */
struct middle {
    double first, step; /* the place in the plane of the first that is kept, and from there on */
};

static struct middle middle_of(size_t side, double factor)
{
    const double inner = ceil((double)side / factor), from = floor(((double)side - inner) / 2);
    const double larger = nearbyint(inner * factor), trim = floor((larger - (double)side) / 2);
    const double step = larger > 1 ? (inner - 1) / (larger - 1) : 0;
    return (struct middle){.first = from + trim * step, .step = step};
}

void ys_plane_enlarge(const struct ys_canvas *canvas, const double *plane, double factor, double *out)
{
    const struct middle rows = middle_of(canvas->height, factor), columns = middle_of(canvas->width, factor);
    for (size_t p = 0; p < canvas->area; p++)
        out[p] = ys_plane_between(canvas, plane, rows.first + (double)(p / canvas->width) * rows.step,
                                  columns.first + (double)(p % canvas->width) * columns.step, YS_EDGE_LAST);
}
