/* Pictures that are bent, and such of fewer pixels. */
#include "robust/corrupt/canvas.h"

#include <math.h>

/* Where a pixel of the new picture is taken from: (y, x) = by (y, x) + from. */
struct affine {
    double by[2][2], from[2];
};

static void apply(struct ys_canvas *canvas, const struct affine *affine, enum ys_edge edge)
{
    double *before = ys_canvas_room(canvas, canvas->area);
    for (size_t c = 0; c < canvas->channels; c++) {
        double *plane = ys_canvas_plane(canvas, c);
        for (size_t p = 0; p < canvas->area; p++)
            before[p] = plane[p];
        for (size_t p = 0; p < canvas->area; p++) {
            const double y = (double)(p / canvas->width), x = (double)(p % canvas->width);
            plane[p] = ys_plane_between(canvas, before, affine->by[0][0] * y + affine->by[0][1] * x + affine->from[0],
                                        affine->by[1][0] * y + affine->by[1][1] * x + affine->from[1], edge);
        }
    }
}

/* About the middle; to one side or the other by lot. Shear is scikit-image's of 2019: a column goes by its sine. */
void ys_corrupt_warp(struct ys_canvas *canvas)
{
    const double one = ys_rng_below(&canvas->rng, 2) ? 1 : -1, other = ys_rng_below(&canvas->rng, 2) ? 1 : -1;
    const double rotation = canvas->numbers[0] * one, shear = canvas->numbers[1] * one, scale = canvas->numbers[2],
                 shift = canvas->numbers[3] * canvas->unit;
    const double middle[2] = {((double)canvas->height - 1) / 2, ((double)canvas->width - 1) / 2};
    struct affine affine = {{{scale * cos(rotation + shear), scale * sin(rotation)},
                             {-scale * sin(rotation + shear), scale * cos(rotation)}},
                            {0, 0}};
    affine.from[0] = middle[0] - affine.by[0][0] * middle[0] - affine.by[0][1] * middle[1] + shift * other;
    affine.from[1] = middle[1] - affine.by[1][0] * middle[0] - affine.by[1][1] * middle[1] + shift * one;
    apply(canvas, &affine, YS_EDGE_NOTHING);
}

/* By three corners, which go elsewhere by lot. Corners are (y, x) about the middle: (s, s), (-s, s), (-s, -s). Their
 * ways are of the first column by + by, and so on: the inverse of what takes the old ones to the new ones. */
static struct affine bend_corners(struct ys_canvas *canvas, double middle_y, double middle_x, double s, double most)
{
    static const double signs[3][2] = {{1, 1}, {-1, 1}, {-1, -1}};
    double to[3][2];
    for (size_t i = 0; i < 3; i++) {
        to[i][1] = s * signs[i][1] + ys_canvas_uniform(canvas, -most, most);
        to[i][0] = s * signs[i][0] + ys_canvas_uniform(canvas, -most, most);
    }
    /* Old to new: a column for y from the first two corners, for x from the last two. */
    const double yy = (to[0][0] - to[1][0]) / (2 * s), xy = (to[0][1] - to[1][1]) / (2 * s),
                 yx = (to[1][0] - to[2][0]) / (2 * s), xx = (to[1][1] - to[2][1]) / (2 * s);
    const double shift_y = (to[0][0] + to[2][0]) / 2 + middle_y, shift_x = (to[0][1] + to[2][1]) / 2 + middle_x;
    const double size = yy * xx - yx * xy;
    struct affine back = {{{xx / size, -yx / size}, {-xy / size, yy / size}}, {0, 0}};
    back.from[0] = middle_y - back.by[0][0] * shift_y - back.by[0][1] * shift_x;
    back.from[1] = middle_x - back.by[1][0] * shift_y - back.by[1][1] * shift_x;
    return back;
}

/* A smooth field of changes of place. */
static double *make_field(struct ys_canvas *canvas, double length, double sigma)
{
    double *field = ys_canvas_room(canvas, canvas->area);
    for (size_t p = 0; p < canvas->area; p++)
        field[p] = ys_canvas_uniform(canvas, -1, 1);
    ys_plane_blur(canvas, field, sigma, 3, YS_EDGE_MIRROR_TWICE);
    for (size_t p = 0; p < canvas->area; p++)
        field[p] *= length;
    return field;
}

void ys_corrupt_elastic(struct ys_canvas *canvas)
{
    const double side = (double)(canvas->height < canvas->width ? canvas->height : canvas->width);
    const double length = canvas->numbers[0] * side, sigma = canvas->numbers[1] * side;
    const struct affine bent = bend_corners(canvas, floor((double)canvas->height / 2), floor((double)canvas->width / 2),
                                            floor(side / 3), canvas->numbers[2] * side);
    apply(canvas, &bent, YS_EDGE_MIRROR_ONCE);
    const double *right = make_field(canvas, length, sigma), *down = make_field(canvas, length, sigma);
    double *before = ys_canvas_room(canvas, canvas->area);
    for (size_t c = 0; c < canvas->channels; c++) {
        double *plane = ys_canvas_plane(canvas, c);
        for (size_t p = 0; p < canvas->area; p++)
            before[p] = plane[p];
        for (size_t p = 0; p < canvas->area; p++)
            plane[p] = ys_plane_between(canvas, before, (double)(p / canvas->width) + down[p],
                                        (double)(p % canvas->width) + right[p], YS_EDGE_MIRROR_TWICE);
    }
}

/* A line of `from` numbers, `stride` apart, becomes one of `to`: the mean of those whose middle lies within a number's
 * share, the nearest one where that is less than one. */
static void resample(const double *in, size_t from, double *out, size_t to, size_t stride)
{
    const double scale = (double)from / (double)to, support = scale > 1 ? scale / 2 : 0.5;
    for (size_t i = 0; i < to; i++) {
        const double middle = ((double)i + 0.5) * scale;
        double sum = 0, count = 0;
        for (size_t k = 0; k < from; k++) {
            const double away = (double)k + 0.5 - middle;
            if (away <= -support || away > support)
                continue;
            sum += in[k * stride];
            count++;
        }
        out[i * stride] = sum / count;
    }
}

void ys_corrupt_pixelate(struct ys_canvas *canvas)
{
    const size_t height = (size_t)((double)canvas->height * canvas->numbers[0]),
                 width = (size_t)((double)canvas->width * canvas->numbers[0]);
    double *small = ys_canvas_room(canvas, canvas->area);
    for (size_t c = 0; c < canvas->channels; c++) {
        double *plane = ys_canvas_plane(canvas, c);
        for (size_t y = 0; y < canvas->height; y++) {
            resample(plane + y * canvas->width, canvas->width, small + y * canvas->width, width, 1);
            resample(small + y * canvas->width, width, plane + y * canvas->width, canvas->width, 1);
        }
        for (size_t x = 0; x < canvas->width; x++) {
            resample(plane + x, canvas->height, small + x, height, canvas->width);
            resample(small + x, height, plane + x, canvas->height, canvas->width);
        }
    }
}
