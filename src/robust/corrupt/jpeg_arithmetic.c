/* What JPEG loses: bytes of brightness and of two colours at half the size, cosines of 8 x 8, rounded by the tables of
 * its standard (ITU-T T.81, annex K; scaled by quality as libjpeg does). Nothing is coded. */
#include "robust/corrupt/canvas.h"

#include <math.h>

enum { BLOCK = 8, PARTS = 3 };
static const double PI = 3.14159265358979323846;

static const double tables[2][BLOCK * BLOCK] = {
    {16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
     69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
     81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99},
    {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
     99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}};

struct part {
    size_t height, width; /* multiples of BLOCK */
    double *values;       /* about 0 */
};

static double byte_of(double value)
{
    return fmin(fmax(nearbyint(value), 0), 255);
}

/* [u][x], so that the sum over x of cosines[u][x] cosines[v][x] is 1 where u is v, else 0. */
static void make_cosines(double cosines[BLOCK][BLOCK])
{
    for (int u = 0; u < BLOCK; u++)
        for (int x = 0; x < BLOCK; x++)
            cosines[u][x] = sqrt((u ? 2.0 : 1.0) / BLOCK) * cos((2 * x + 1) * u * PI / (2 * BLOCK));
}

/* out = C in C^T, or C^T in C. */
static void transform(double cosines[BLOCK][BLOCK], bool back, double in[BLOCK][BLOCK], double out[BLOCK][BLOCK])
{
    double half[BLOCK][BLOCK];
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++) {
            half[i][k] = 0;
            for (int j = 0; j < BLOCK; j++)
                half[i][k] += (back ? cosines[j][i] : cosines[i][j]) * in[j][k];
        }
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++) {
            out[i][k] = 0;
            for (int j = 0; j < BLOCK; j++)
                out[i][k] += half[i][j] * (back ? cosines[j][k] : cosines[k][j]);
        }
}

static void round_part(const struct part *part, const double *table, double quality)
{
    const double scale = quality < 50 ? floor(5000 / quality) : 200 - 2 * quality;
    double cosines[BLOCK][BLOCK], block[BLOCK][BLOCK], waves[BLOCK][BLOCK];
    make_cosines(cosines);
    for (size_t top = 0; top < part->height; top += BLOCK)
        for (size_t left = 0; left < part->width; left += BLOCK) {
            double *corner = part->values + top * part->width + left;
            for (size_t i = 0; i < BLOCK * BLOCK; i++)
                block[i / BLOCK][i % BLOCK] = corner[i / BLOCK * part->width + i % BLOCK];
            transform(cosines, false, block, waves);
            for (size_t i = 0; i < BLOCK * BLOCK; i++) {
                const double step = fmin(fmax(floor((table[i] * scale + 50) / 100), 1), 255);
                waves[i / BLOCK][i % BLOCK] = nearbyint(waves[i / BLOCK][i % BLOCK] / step) * step;
            }
            transform(cosines, true, waves, block);
            for (size_t i = 0; i < BLOCK * BLOCK; i++)
                corner[i / BLOCK * part->width + i % BLOCK] = byte_of(block[i / BLOCK][i % BLOCK] + 128) - 128;
        }
}

/* Brightness (0), and blue and red less it, of a pixel that may lie beyond the edge; about 0. */
static double part_at(const struct ys_canvas *canvas, size_t which, size_t y, size_t x)
{
    static const double of[PARTS][3] = {
        {0.299, 0.587, 0.114}, {-0.168735892, -0.331264108, 0.5}, {0.5, -0.418687589, -0.081312411}};
    double sum = which ? 128 : 0;
    for (size_t c = 0; c < PARTS; c++)
        sum += of[which][c] * nearbyint(255 * ys_plane_at(canvas, ys_canvas_plane(canvas, c), (ptrdiff_t)y,
                                                          (ptrdiff_t)x, YS_EDGE_LAST));
    return byte_of(sum) - 128;
}

static struct part make_part(struct ys_canvas *canvas, size_t which)
{
    const size_t halved = which ? 2 : 1, step = BLOCK * halved;
    struct part part = {.height = (canvas->height + step - 1) / step * BLOCK,
                        .width = (canvas->width + step - 1) / step * BLOCK};
    part.values = ys_canvas_room(canvas, part.height * part.width);
    for (size_t p = 0; p < part.height * part.width; p++) {
        const size_t y = p / part.width * halved, x = p % part.width * halved;
        part.values[p] = which ? nearbyint((part_at(canvas, which, y, x) + part_at(canvas, which, y, x + 1) +
                                            part_at(canvas, which, y + 1, x) + part_at(canvas, which, y + 1, x + 1)) /
                                           4)
                               : part_at(canvas, which, y, x);
    }
    return part;
}

/* Of a halved part, three quarters of the nearer and one of the farther, in both directions. */
static double enlarged_at(const struct ys_canvas *canvas, const struct part *part, size_t y, size_t x)
{
    const size_t height = (canvas->height + 1) / 2, width = (canvas->width + 1) / 2, row = y / 2, column = x / 2;
    const size_t far_row = y % 2 ? (row + 1 < height ? row + 1 : row) : row - (row > 0);
    const size_t far_column = x % 2 ? (column + 1 < width ? column + 1 : column) : column - (column > 0);
    const double *near_by = part->values + row * part->width, *far_by = part->values + far_row * part->width;
    return nearbyint((9 * near_by[column] + 3 * near_by[far_column] + 3 * far_by[column] + far_by[far_column]) / 16);
}

void ys_corrupt_jpeg(struct ys_canvas *canvas)
{
    struct part parts[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = make_part(canvas, i);
        round_part(&parts[i], tables[i > 0], canvas->numbers[0]);
    }
    for (size_t p = 0; p < canvas->area; p++) {
        const size_t y = p / canvas->width, x = p % canvas->width;
        const double bright = parts[0].values[y * parts[0].width + x] + 128,
                     blue = enlarged_at(canvas, &parts[1], y, x), red = enlarged_at(canvas, &parts[2], y, x);
        ys_canvas_plane(canvas, 0)[p] = byte_of(bright + 1.402 * red) / 255;
        ys_canvas_plane(canvas, 1)[p] = byte_of(bright - 0.344136286 * blue - 0.714136286 * red) / 255;
        ys_canvas_plane(canvas, 2)[p] = byte_of(bright + 1.772 * blue) / 255;
    }
}
