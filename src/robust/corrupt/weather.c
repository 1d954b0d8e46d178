/* Snow, fog, mud and light. */
#include "robust/corrupt/canvas.h"

#include <math.h>

static const double GREY_OF[3] = {0.299, 0.587, 0.114};

static double grey_at(const struct ys_canvas *canvas, size_t p)
{
    double grey = 0;
    for (size_t c = 0; c < canvas->channels; c++)
        grey += (canvas->channels == 3 ? GREY_OF[c] : 1) * ys_canvas_plane(canvas, c)[p];
    return grey;
}

static double within(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Flakes that fall one way, and the same ones turned by half a turn; the picture itself becomes paler. */
void ys_corrupt_snow(struct ys_canvas *canvas)
{
    const double *numbers = canvas->numbers, kept = numbers[6];
    double *lots = ys_canvas_room(canvas, canvas->area), *flakes = ys_canvas_room(canvas, canvas->area);
    for (size_t p = 0; p < canvas->area; p++)
        lots[p] = numbers[0] + numbers[1] * ys_rng_normal(&canvas->rng);
    ys_plane_enlarge(canvas, lots, numbers[2], flakes);
    for (size_t p = 0; p < canvas->area; p++)
        flakes[p] = flakes[p] < numbers[3] ? 0 : within(flakes[p]);
    ys_plane_streak(canvas, flakes, numbers[4] * canvas->unit, numbers[5] * canvas->unit,
                    ys_canvas_uniform(canvas, -135, -45));
    for (size_t p = 0; p < canvas->area; p++) {
        const double pale = grey_at(canvas, p) * 1.5 + 0.5, fallen = flakes[p] + flakes[canvas->area - 1 - p];
        for (size_t c = 0; c < canvas->channels; c++) {
            double *pixel = ys_canvas_plane(canvas, c) + p;
            *pixel = kept * *pixel + (1 - kept) * fmax(*pixel, pale) + fallen;
        }
    }
}

/* A map of heights by diamonds and squares, of a side that is a power of two and ends where it begins; `most` goes into
 * a lot squared, as in the script. */
struct heights {
    struct ys_canvas *canvas;
    double *map;
    size_t side;
};

static double *height_at(const struct heights *heights, size_t y, size_t x)
{
    return heights->map + (y % heights->side) * heights->side + x % heights->side;
}

/* Every place (y, x) from (first_y, first_x) on, `step` apart, becomes the mean of four around it and a lot. They lie
 * `half` away: at the corners, or above, below and beside. */
static void fill(const struct heights *heights, size_t first_y, size_t first_x, size_t step, bool at_corners,
                 double most)
{
    const size_t half = step / 2, back = heights->side - half;
    for (size_t y = first_y; y < heights->side; y += step)
        for (size_t x = first_x; x < heights->side; x += step) {
            const double sum =
                at_corners ? *height_at(heights, y + half, x + half) + *height_at(heights, y + half, x + back) +
                                 *height_at(heights, y + back, x + half) + *height_at(heights, y + back, x + back)
                           : *height_at(heights, y + half, x) + *height_at(heights, y + back, x) +
                                 *height_at(heights, y, x + half) + *height_at(heights, y, x + back);
            *height_at(heights, y, x) = sum / 4 + most * ys_canvas_uniform(heights->canvas, -most, most);
        }
}

static double *make_heights(struct ys_canvas *canvas, size_t side, double decay)
{
    const struct heights heights = {canvas, ys_canvas_room(canvas, side * side), side};
    double most = 100, least = INFINITY, largest = -INFINITY;
    for (size_t step = side; step >= 2; step /= 2, most /= decay) {
        fill(&heights, step / 2, step / 2, step, true, most);
        fill(&heights, 0, step / 2, step, false, most);
        fill(&heights, step / 2, 0, step, false, most);
    }
    for (size_t p = 0; p < side * side; p++) {
        least = fmin(least, heights.map[p]);
        largest = fmax(largest, heights.map[p]);
    }
    for (size_t p = 0; p < side * side; p++)
        heights.map[p] = (heights.map[p] - least) / (largest - least);
    return heights.map;
}

void ys_corrupt_fog(struct ys_canvas *canvas)
{
    const double amount = canvas->numbers[0];
    double brightest = 0;
    size_t side = 1;
    while (side < canvas->height || side < canvas->width)
        side *= 2;
    side *= (size_t)canvas->numbers[2];
    const double *heights = make_heights(canvas, side, canvas->numbers[1]);
    for (size_t p = 0; p < canvas->channels * canvas->area; p++)
        brightest = fmax(brightest, canvas->pixels[p]);
    for (size_t p = 0; p < canvas->channels * canvas->area; p++) {
        const size_t y = p % canvas->area / canvas->width, x = p % canvas->width;
        canvas->pixels[p] = (canvas->pixels[p] + amount * heights[y * side + x]) * brightest / (brightest + amount);
    }
}

/* Mud: drops where a blurred lot is above a threshold, which hide the picture. */
void ys_corrupt_spatter(struct ys_canvas *canvas)
{
    static const double opaque = 0.8, mud = 63.0 / 255, reach = 4;
    const double *numbers = canvas->numbers;
    double *drops = ys_canvas_room(canvas, canvas->area);
    for (size_t p = 0; p < canvas->area; p++)
        drops[p] = numbers[0] + numbers[1] * ys_rng_normal(&canvas->rng);
    ys_plane_blur(canvas, drops, numbers[2] * canvas->unit, reach, YS_EDGE_LAST);
    for (size_t p = 0; p < canvas->area; p++)
        drops[p] = drops[p] > numbers[3];
    ys_plane_blur(canvas, drops, numbers[4] * canvas->unit, reach, YS_EDGE_LAST);
    for (size_t p = 0; p < canvas->area; p++) {
        const double hides = drops[p] < opaque ? 0 : drops[p];
        canvas->pixels[p] = canvas->pixels[p] * (1 - hides) + mud * hides;
    }
}

/* The value of hue, saturation and value: what is largest of a pixel. With hue and saturation kept the others follow
 * in proportion; black has neither, and becomes grey. */
void ys_corrupt_brightness(struct ys_canvas *canvas)
{
    for (size_t p = 0; p < canvas->area; p++) {
        double value = 0;
        for (size_t c = 0; c < canvas->channels; c++)
            value = fmax(value, ys_canvas_plane(canvas, c)[p]);
        const double brighter = within(value + canvas->numbers[0]);
        for (size_t c = 0; c < canvas->channels; c++) {
            double *pixel = ys_canvas_plane(canvas, c) + p;
            *pixel = value > 0 ? *pixel / value * brighter : brighter;
        }
    }
}

void ys_corrupt_contrast(struct ys_canvas *canvas)
{
    for (size_t c = 0; c < canvas->channels; c++) {
        double *plane = ys_canvas_plane(canvas, c), mean = 0;
        for (size_t p = 0; p < canvas->area; p++)
            mean += plane[p] / (double)canvas->area;
        for (size_t p = 0; p < canvas->area; p++)
            plane[p] = (plane[p] - mean) * canvas->numbers[0] + mean;
    }
}
