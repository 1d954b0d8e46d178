/* What corruptions share: a picture under work, and planes of it. A plane is [height, width] of doubles. */
#ifndef YS_ROBUST_CORRUPT_CANVAS_H
#define YS_ROBUST_CORRUPT_CANVAS_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { YS_CANVAS_NUMBERS = 7, YS_CANVAS_ROOMS = 16 };

struct ys_canvas {
    size_t channels, height, width, area; /* area: height * width */
    double *pixels;                       /* [channels, height, width]; what leaves [0, 1] is clipped at the end */
    const double *numbers;                /* the kind's, at this severity */
    double unit;                          /* what a pixel of the published pictures is here: lengths are times this */
    struct ys_rng rng;
    void *rooms[YS_CANVAS_ROOMS];
    size_t room_count;
};

/** Zeroed, and freed with the canvas. */
double *ys_canvas_room(struct ys_canvas *canvas, size_t count);
double *ys_canvas_plane(const struct ys_canvas *canvas, size_t channel);
double ys_canvas_uniform(struct ys_canvas *canvas, double low, double high);

/** What lies beyond the edge: the last pixel; the picture mirrored, with the last pixel twice or once; nothing. */
enum ys_edge { YS_EDGE_LAST, YS_EDGE_MIRROR_TWICE, YS_EDGE_MIRROR_ONCE, YS_EDGE_NOTHING };
double ys_plane_at(const struct ys_canvas *canvas, const double *plane, ptrdiff_t y, ptrdiff_t x, enum ys_edge edge);
/** Between four pixels, linearly. */
double ys_plane_between(const struct ys_canvas *canvas, const double *plane, double y, double x, enum ys_edge edge);
/** A Gaussian in both directions, cut at `reach` times sigma (pixels of the plane); sigma 0 leaves it. */
void ys_plane_blur(struct ys_canvas *canvas, double *plane, double sigma, double reach, enum ys_edge edge);
/** Half a Gaussian along a direction, to whole pixels, as ImageMagick's motion blur has it; angle in degrees. */
void ys_plane_streak(struct ys_canvas *canvas, double *plane, double radius, double sigma, double angle);
/** The middle of `plane`, `factor` (at least 1) times as large; out: a plane. */
void ys_plane_enlarge(const struct ys_canvas *canvas, const double *plane, double factor, double *out);

/** The corruptions: each changes `pixels` by its numbers, which the table in corruption.c has. */
void ys_corrupt_gaussian_noise(struct ys_canvas *canvas); /* scale */
void ys_corrupt_shot_noise(struct ys_canvas *canvas);     /* photons of a white pixel */
void ys_corrupt_impulse_noise(struct ys_canvas *canvas);  /* share of the pixels */
void ys_corrupt_defocus_blur(struct ys_canvas *canvas);   /* radius, sigma of its edge */
void ys_corrupt_glass_blur(struct ys_canvas *canvas);     /* sigma, reach, passes, chance of a swap; 0: copies */
void ys_corrupt_motion_blur(struct ys_canvas *canvas);    /* radius, sigma */
void ys_corrupt_zoom_blur(struct ys_canvas *canvas);      /* steps of 0.01 */
void ys_corrupt_warp(struct ys_canvas *canvas);           /* rotation, shear, scale, shift */
void ys_corrupt_elastic(struct ys_canvas *canvas);        /* of a side: length, sigma, corners */
void ys_corrupt_pixelate(struct ys_canvas *canvas);       /* size of the small picture */
void ys_corrupt_snow(struct ys_canvas *canvas); /* mean, scale, enlarged, least, radius, sigma, share of the picture */
void ys_corrupt_fog(struct ys_canvas *canvas);  /* amount, decay, how much larger its map is than the picture */
void ys_corrupt_spatter(struct ys_canvas *canvas);    /* mean, scale, sigma, least, sigma of the drops */
void ys_corrupt_brightness(struct ys_canvas *canvas); /* added */
void ys_corrupt_contrast(struct ys_canvas *canvas);   /* factor */
void ys_corrupt_stripe(struct ys_canvas *canvas);     /* none, as the next three */
void ys_corrupt_dotted_line(struct ys_canvas *canvas);
void ys_corrupt_zigzag(struct ys_canvas *canvas);
void ys_corrupt_canny_edges(struct ys_canvas *canvas);
void ys_corrupt_jpeg(struct ys_canvas *canvas); /* quality */

#endif
