/* What is drawn over a grey picture, and what is left of it as edges. */
#include "robust/corrupt/canvas.h"

#include <math.h>

static const double PUBLISHED_LAST = 27; /* of the published pictures, the last row and column */

/* A row and a column of the published pictures, here. */
static double row_of(const struct ys_canvas *canvas, double row)
{
    return row * (double)(canvas->height - 1) / PUBLISHED_LAST;
}

static double column_of(const struct ys_canvas *canvas, double column)
{
    return column * (double)(canvas->width - 1) / PUBLISHED_LAST;
}

/* Adds a white stroke from column c0 to c1: 1 + log(1 - d / 2.3), d the distance along a column. Of smaller pictures it
 * is at least so wide that each column has some of it. */
static void add_stroke(struct ys_canvas *canvas, double c0, double r0, double c1, double r1, size_t dots)
{
    const double width = fmax(2.3 * canvas->unit, 1), steep = (r1 - r0) / (c1 - c0);
    for (size_t p = 0; p < canvas->area && c1 > c0; p++) {
        const double x = (double)(p % canvas->width), y = (double)(p / canvas->width);
        const double away = fabs(y - (steep * (x - c0) + r0));
        if (x < floor(c0) || x >= ceil(c1) || away >= width || (dots && p % canvas->width / dots % 2 == 0))
            continue;
        canvas->pixels[p] = fmin(canvas->pixels[p] + fmax(log(1 - away / width) + 1, 0), 1);
    }
}

void ys_corrupt_stripe(struct ys_canvas *canvas)
{
    for (size_t p = 0; p < canvas->area; p++) {
        const size_t x = p % canvas->width;
        if (4 * x < canvas->width || 4 * x >= 3 * canvas->width)
            canvas->pixels[p] = 1 - canvas->pixels[p];
    }
}

void ys_corrupt_dotted_line(struct ys_canvas *canvas)
{
    const double first = ys_rng_below(&canvas->rng, 27), last = ys_rng_below(&canvas->rng, 27),
                 dots = nearbyint(2 * canvas->unit);
    add_stroke(canvas, 0, row_of(canvas, first), column_of(canvas, PUBLISHED_LAST), row_of(canvas, last),
               dots > 1 ? (size_t)dots : 1);
}

/* Strokes of two pixels to the one side and the other of a line between columns 2 and 25; its last end is the
 * script's. */
void ys_corrupt_zigzag(struct ys_canvas *canvas)
{
    enum { MOST = 12 };
    const double c0 = 2, c1 = 25, length = 2, high = 2;
    const double r0 = ys_rng_below(&canvas->rng, 27), r1 = r0 + ys_rng_below(&canvas->rng, 10) - 5;
    const double angle = atan((r1 - r0) / (c1 - c0)), way = (c1 - c0) / cos(angle);
    double along[MOST] = {0}, aside[MOST] = {0};
    size_t count = 1;
    for (size_t i = 0; i < (size_t)floor((way - length) / (2 * length)) + 1; i++, count++) {
        along[count] = (2 * (double)i + 1) * length;
        aside[count] = i % 2 ? -high : high;
    }
    const double whole = 2 * length * floor(way / (2 * length));
    if (way != whole) {
        along[count] = way;
        aside[count] = aside[count - 1] / (2 * (way - whole));
        count++;
    }
    double columns[MOST], rows[MOST];
    for (size_t i = 0; i < count; i++) {
        columns[i] = column_of(canvas, cos(angle) * along[i] - sin(angle) * aside[i] + c0);
        rows[i] = row_of(canvas, sin(angle) * along[i] + cos(angle) * aside[i] + r0);
    }
    for (size_t i = 1; i < count; i++)
        add_stroke(canvas, columns[i - 1], rows[i - 1], columns[i], rows[i], 0);
}

/* ---- Canny, "A computational approach to edge detection", 1986, with scikit-image's defaults */

struct edges {
    const struct ys_canvas *canvas;
    double *down, *right, *steep; /* the slopes by Sobel, and their length */
};

static double slope(const struct edges *edges, const double *plane, ptrdiff_t y, ptrdiff_t x, bool down)
{
    static const double weights[3] = {1, 2, 1};
    double sum = 0;
    for (ptrdiff_t k = -1; k <= 1; k++)
        sum += weights[k + 1] *
               (ys_plane_at(edges->canvas, plane, down ? y + 1 : y + k, down ? x + k : x + 1, YS_EDGE_MIRROR_TWICE) -
                ys_plane_at(edges->canvas, plane, down ? y - 1 : y + k, down ? x + k : x - 1, YS_EDGE_MIRROR_TWICE));
    return sum;
}

/* Whether it is no less steep in front and behind, along the slope, between two neighbours each. */
static bool is_ridge(const struct edges *edges, ptrdiff_t y, ptrdiff_t x)
{
    const size_t p = (size_t)y * edges->canvas->width + (size_t)x;
    const double down = fabs(edges->down[p]), right = fabs(edges->right[p]);
    const ptrdiff_t dy = edges->down[p] < 0 ? -1 : 1, dx = edges->right[p] < 0 ? -1 : 1;
    const double share = down >= right ? right / down : down / right;
    for (ptrdiff_t side = -1; side <= 1; side += 2) {
        const double straight = ys_plane_at(edges->canvas, edges->steep, down >= right ? y + side * dy : y,
                                            down >= right ? x : x + side * dx, YS_EDGE_NOTHING),
                     aslant = ys_plane_at(edges->canvas, edges->steep, y + side * dy, x + side * dx, YS_EDGE_NOTHING);
        if (aslant * share + straight * (1 - share) > edges->steep[p])
            return false;
    }
    return true;
}

/* Ridges above the low threshold that hang together with one above the high one; `ridges`: 0 none, 1 low, 2 high. */
static void follow(struct ys_canvas *canvas, double *ridges)
{
    for (bool has_grown = true; has_grown;) {
        has_grown = false;
        for (size_t p = 0; p < canvas->area; p++) {
            const ptrdiff_t y = (ptrdiff_t)(p / canvas->width), x = (ptrdiff_t)(p % canvas->width);
            for (ptrdiff_t k = 0; k < 9 && ridges[p] == 1; k++)
                if (ys_plane_at(canvas, ridges, y + k / 3 - 1, x + k % 3 - 1, YS_EDGE_NOTHING) == 2) {
                    ridges[p] = 2;
                    has_grown = true;
                }
        }
    }
    for (size_t p = 0; p < canvas->area; p++)
        canvas->pixels[p] = ridges[p] == 2;
}

void ys_corrupt_canny_edges(struct ys_canvas *canvas)
{
    static const double low = 0.1, high = 0.2, reach = 4;
    const struct edges edges = {canvas, ys_canvas_room(canvas, canvas->area), ys_canvas_room(canvas, canvas->area),
                                ys_canvas_room(canvas, canvas->area)};
    double *ridges = ys_canvas_room(canvas, canvas->area), *inside = ys_canvas_room(canvas, canvas->area);
    for (size_t p = 0; p < canvas->area; p++)
        inside[p] = 1;
    ys_plane_blur(canvas, canvas->pixels, canvas->unit, reach, YS_EDGE_NOTHING);
    ys_plane_blur(canvas, inside, canvas->unit, reach, YS_EDGE_NOTHING);
    for (size_t p = 0; p < canvas->area; p++)
        canvas->pixels[p] /= inside[p];
    for (size_t p = 0; p < canvas->area; p++) {
        const ptrdiff_t y = (ptrdiff_t)(p / canvas->width), x = (ptrdiff_t)(p % canvas->width);
        edges.down[p] = slope(&edges, canvas->pixels, y, x, true);
        edges.right[p] = slope(&edges, canvas->pixels, y, x, false);
        edges.steep[p] = hypot(edges.down[p], edges.right[p]);
    }
    for (size_t y = 1; y + 1 < canvas->height; y++) /* the border is no edge */
        for (size_t x = 1; x + 1 < canvas->width; x++) {
            const size_t p = y * canvas->width + x;
            if (edges.steep[p] >= low && is_ridge(&edges, (ptrdiff_t)y, (ptrdiff_t)x))
                ridges[p] = edges.steep[p] >= high ? 2 : 1;
        }
    follow(canvas, ridges);
}
