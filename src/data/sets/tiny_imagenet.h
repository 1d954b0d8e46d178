/* Tiny ImageNet: 200 classes of ImageNet, 500 JPEG files of 64x64 pixels to train on of each and 50 to test on, those
 * of its folder `val`; what is in `test` has no classes. Published as tiny-imagenet-200.zip for a course of Stanford
 * University (CS231n). */
#ifndef YS_DATA_SETS_TINY_IMAGENET_H
#define YS_DATA_SETS_TINY_IMAGENET_H

#include "data/published.h"

extern const struct ys_data_published ys_tiny_published;

#define YS_TINY_SIDE    64
#define YS_TINY_CLASSES 200
#define YS_TINY_ARCHIVE "tiny-imagenet-200.zip"

/** Writes those members of the archive below `folder`, which exists, that lie in its folders train and val. `name`
 * begins messages. YS_EFORMAT: damaged, a name that leads elsewhere, more than a set of that name has; YS_EIO. */
ys_status ys_tiny_unpack(const uint8_t *bytes, size_t size, const char *name, const char *folder) YS_MUST_CHECK;

#endif
