#include "robust/corrupt/corruption.h"

#include "base/mem.h"
#include "robust/corrupt/canvas.h"

#include <stdio.h>
#include <string.h>

struct kind {
    const char *name;
    void (*draw)(struct ys_canvas *canvas);
    double numbers[YS_SEVERITIES][YS_CANVAS_NUMBERS];
};

/* clang-format off */
/* The published scripts' own: corruptions.py of MNIST-C, of pictures of 28 pixels. */
static const struct kind grey[] = {
    {"shot_noise", ys_corrupt_shot_noise, {{60}, {25}, {12}, {5}, {3}}},
    {"impulse_noise", ys_corrupt_impulse_noise, {{.03}, {.06}, {.09}, {.17}, {.27}}},
    {"glass_blur", ys_corrupt_glass_blur,
     {{.7, 1, 2, .5}, {.9, 2, 1, .5}, {1, 2, 3, .5}, {1.1, 3, 2, .5}, {1.5, 4, 2, .5}}},
    {"motion_blur", ys_corrupt_motion_blur, {{10, 3}, {15, 5}, {15, 8}, {15, 12}, {20, 15}}},
    {"shear", ys_corrupt_warp, {{0, .2, 1}, {0, .4, 1}, {0, .6, 1}, {0, .8, 1}, {0, 1, 1}}},
    {"scale", ys_corrupt_warp, {{0, 0, 1 / .9}, {0, 0, 1 / .8}, {0, 0, 1 / .7}, {0, 0, 1 / .6}, {0, 0, 1 / .5}}},
    {"rotate", ys_corrupt_warp, {{.2, 0, 1}, {.4, 0, 1}, {.6, 0, 1}, {.8, 0, 1}, {1, 0, 1}}},
    {"brightness", ys_corrupt_brightness, {{.1}, {.2}, {.3}, {.4}, {.5}}},
    {"translate", ys_corrupt_warp, {{0, 0, 1, 1}, {0, 0, 1, 2}, {0, 0, 1, 3}, {0, 0, 1, 4}, {0, 0, 1, 5}}},
    {"stripe", ys_corrupt_stripe, {{0}}},
    {"fog", ys_corrupt_fog, {{1.5, 2, 8}, {2, 2, 8}, {2.5, 1.7, 8}, {2.5, 1.5, 8}, {3, 1.4, 8}}},
    {"spatter", ys_corrupt_spatter,
     {{.65, .3, 4, .69, .6}, {.65, .3, 3, .68, .6}, {.65, .3, 2, .68, .5}, {.65, .3, 1, .65, 1.5},
      {.67, .4, 1, .65, 1.5}}},
    {"dotted_line", ys_corrupt_dotted_line, {{0}}},
    {"zigzag", ys_corrupt_zigzag, {{0}}},
    {"canny_edges", ys_corrupt_canny_edges, {{0}}},
};

/* make_cifar_c.py of CIFAR-10-C, of pictures of 32 pixels. */
static const struct kind colour[] = {
    {"gaussian_noise", ys_corrupt_gaussian_noise, {{.04}, {.06}, {.08}, {.09}, {.10}}},
    {"shot_noise", ys_corrupt_shot_noise, {{500}, {250}, {100}, {75}, {50}}},
    {"impulse_noise", ys_corrupt_impulse_noise, {{.01}, {.02}, {.03}, {.05}, {.07}}},
    {"defocus_blur", ys_corrupt_defocus_blur, {{.3, .4}, {.4, .5}, {.5, .6}, {1, .2}, {1.5, .1}}},
    {"glass_blur", ys_corrupt_glass_blur,
     {{.05, 1, 1}, {.25, 1, 1}, {.4, 1, 1}, {.25, 1, 2}, {.4, 1, 2}}},
    {"motion_blur", ys_corrupt_motion_blur, {{6, 1}, {6, 1.5}, {6, 2}, {8, 2}, {9, 2.5}}},
    {"zoom_blur", ys_corrupt_zoom_blur, {{7}, {12}, {16}, {21}, {26}}},
    {"snow", ys_corrupt_snow,
     {{.1, .2, 1, .6, 8, 3, .95}, {.1, .2, 1, .5, 10, 4, .9}, {.15, .3, 1.75, .55, 10, 4, .9},
      {.25, .3, 2.25, .6, 12, 6, .85}, {.3, .3, 1.25, .65, 14, 12, .8}}},
    {"fog", ys_corrupt_fog, {{.2, 3, 1}, {.5, 3, 1}, {.75, 2.5, 1}, {1, 2, 1}, {1.5, 1.75, 1}}},
    {"brightness", ys_corrupt_brightness, {{.05}, {.1}, {.15}, {.2}, {.3}}},
    {"contrast", ys_corrupt_contrast, {{.75}, {.5}, {.4}, {.3}, {.15}}},
    {"elastic_transform", ys_corrupt_elastic,
     {{0, 0, .08}, {.05, .2, .07}, {.08, .06, .06}, {.1, .04, .05}, {.1, .03, .03}}},
    {"pixelate", ys_corrupt_pixelate, {{.95}, {.9}, {.85}, {.75}, {.65}}},
    {"jpeg_compression", ys_corrupt_jpeg, {{80}, {65}, {58}, {50}, {40}}},
};
/* clang-format on */

enum { GREY = 1, COLOUR = 3 };
static const double grey_side = 28, colour_side = 32; /* pixels of the published pictures */

static const struct kind *kinds_of(int64_t channels, size_t *count)
{
    *count = channels == GREY     ? sizeof grey / sizeof grey[0]
             : channels == COLOUR ? sizeof colour / sizeof colour[0]
                                  : 0;
    return channels == GREY ? grey : colour;
}

ys_status ys_corruption_check(const struct ys_picture_shape *shape)
{
    if (shape->channels != GREY && shape->channels != COLOUR)
        return ys_fail(YS_EINVAL,
                       "corruptions are of grey pictures, of one channel, or of colour, of three, and these have %lld: "
                       "leave corruptions out",
                       (long long)shape->channels);
    if (shape->height < YS_CORRUPTED_SIDE_LEAST || shape->width < YS_CORRUPTED_SIDE_LEAST)
        return ys_fail(YS_EINVAL,
                       "corruptions need pictures of at least %d x %d pixels, and these have %lld x %lld: leave "
                       "corruptions out",
                       YS_CORRUPTED_SIDE_LEAST, YS_CORRUPTED_SIDE_LEAST, (long long)shape->height,
                       (long long)shape->width);
    return YS_OK;
}

size_t ys_corruption_count(int64_t channels)
{
    size_t count;
    (void)kinds_of(channels, &count);
    return count;
}

const char *ys_corruption_name(int64_t channels, size_t kind)
{
    size_t count;
    const struct kind *kinds = kinds_of(channels, &count);
    YS_ASSERT(kind < count);
    return kinds[kind].name;
}

void ys_corrupt(const struct ys_corruption *corruption, const float *picture, float *corrupted)
{
    const struct ys_picture_shape *shape = &corruption->shape;
    const int64_t least = shape->height < shape->width ? shape->height : shape->width;
    size_t count;
    const struct kind *kinds = kinds_of(shape->channels, &count), *kind = &kinds[corruption->kind];
    YS_ASSERT(corruption->kind < count && corruption->severity >= 1 && corruption->severity <= YS_SEVERITIES);
    struct ys_canvas canvas = {.channels = (size_t)shape->channels,
                               .height = (size_t)shape->height,
                               .width = (size_t)shape->width,
                               .area = (size_t)(shape->height * shape->width),
                               .numbers = kind->numbers[corruption->severity - 1],
                               .unit = (double)least / (shape->channels == GREY ? grey_side : colour_side)};
    const size_t pixels = canvas.channels * canvas.area;
    char name[80];
    snprintf(name, sizeof name, "corruption %s of row %llu", kind->name, (unsigned long long)corruption->row);
    ys_rng_init(&canvas.rng, corruption->seed, name);
    canvas.pixels = ys_canvas_room(&canvas, pixels);
    for (size_t p = 0; p < pixels; p++)
        canvas.pixels[p] = (double)picture[p];
    kind->draw(&canvas);
    for (size_t p = 0; p < pixels; p++) {
        const double value = canvas.pixels[p];
        corrupted[p] = (float)(value < 0 ? 0 : value > 1 ? 1 : value);
    }
    while (canvas.room_count > 0)
        ys_free(canvas.rooms[--canvas.room_count]);
}
