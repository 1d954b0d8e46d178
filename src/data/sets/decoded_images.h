/* The images of a folder (data/folders/folder.h) as a prepared set: decoded once, to the size that a model takes, by
 * the program yardstick-feeder, and kept in the cache as any other set. */
#ifndef YS_DATA_SETS_DECODED_IMAGES_H
#define YS_DATA_SETS_DECODED_IMAGES_H

#include "data/prepared.h"

/** As ys_data_prepare() does for a path. Of `form` the one input counts, U8 [1 or 3, height, width]; the classes are
 * those of the folder. */
ys_status ys_decoded_prepare(const char *path, const struct ys_rows *form, const struct ys_data_wanted *wanted,
                             struct ys_dataset *dataset) YS_MUST_CHECK;

/** Decodes the images of the folder `path` and makes them a version of `source`, a set of images of one form with a
 * name of its own; `origin` is for people. YS_EFORMAT: a bad image, another number of classes. */
ys_status ys_decoded_import(const struct ys_data_source *source, const char *path, const char *origin,
                            bool verified) YS_MUST_CHECK;

/** Decodes the folder of `dataset` once more, whose prepared files are damaged. YS_EFORMAT: it has changed since. */
ys_status ys_decoded_again(const struct ys_dataset *dataset) YS_MUST_CHECK;

#endif
