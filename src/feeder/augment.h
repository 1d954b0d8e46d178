/* Images changed by lot, as training wants them: the same seed, epoch and row give the same numbers on every machine,
 * in any order and with any number of threads. docs/data.md has the formulas.
 *
 * Source of `cifar`: the CIFAR-10 tutorial of TensorFlow 1 (cifar10_input.py); of `area`: Szegedy et al., "Going deeper
 * with convolutions", 2014, with proportions drawn without a logarithm. */
#ifndef YS_FEEDER_AUGMENT_H
#define YS_FEEDER_AUGMENT_H

#include "feeder/resize.h"
#include <stdbool.h>

enum ys_crop {
    YS_CROP_CENTRE, /* the largest box in the middle, resampled */
    YS_CROP_PLACE,  /* pixels as they are, from a place drawn by lot */
    YS_CROP_PAD,    /* the same after YS_AUGMENT_PAD pixels of 0 were put around the image */
    YS_CROP_AREA,   /* a box of an area and of proportions drawn by lot, resampled */
};

enum { YS_AUGMENT_PAD = 4 };

struct ys_augmentation {
    const char *name;
    enum ys_crop crop;
    bool flips;                         /* left and right, of every second row */
    double brightness;                  /* largest change of all pixels, of 255; 0: none */
    double contrast_low, contrast_high; /* range of the factor about each channel's mean; 1, 1: none */
    bool standardises;                  /* to mean 0 and deviation 1, of a row */
};

/** Whether what it makes are numbers that are no whole pixels any more. */
bool ys_augmentation_makes_floats(const struct ys_augmentation *augmentation);

/** "none" (a crop in the middle where nothing is drawn), "centre", "flip", "crop+flip", "place", "area", "area+colour",
 * "cifar"; NULL when there is none of that name. */
const struct ys_augmentation *ys_augmentation_find(const char *name);

/** What a row is drawn from. `evaluates`: nothing by lot, a crop in the middle. */
struct ys_augment_draw {
    uint64_t seed, epoch, row;
    bool evaluates;
    /* Of the prepared row that a place is cut out of, where the image is still to be cut and resampled to it: no more
     * of that is done than the place holds. 0: the image is the row. */
    int64_t prepared_height, prepared_width;
};

/** One row of `height` x `width`. `name` begins messages.
 * @param planes  [out] [channels, height, width]: 0 to 255, or as standardising makes it
 * YS_EFORMAT: too small an image for a crop without resampling. */
ys_status ys_augment(const struct ys_augmentation *augmentation, const struct ys_image *image, const char *name,
                     const struct ys_augment_draw *draw, int64_t height, int64_t width, float *planes) YS_MUST_CHECK;
/** The same as bytes, by one that makes no other numbers. */
ys_status ys_augment_bytes(const struct ys_augmentation *augmentation, const struct ys_image *image, const char *name,
                           const struct ys_augment_draw *draw, int64_t height, int64_t width,
                           uint8_t *planes) YS_MUST_CHECK;
/** Which part of an image of that size these look at. */
struct ys_image_part ys_augment_part(const struct ys_augmentation *augmentation, const struct ys_augment_draw *draw,
                                     int64_t full_height, int64_t full_width, int64_t height, int64_t width,
                                     bool reduces);

#endif
