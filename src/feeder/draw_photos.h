/* A folder of photographs that nobody took: the images of the data set `images` (data/sets/images.h) as JPEG files, for
 * who has none of their own to try how they are loaded. The same files with the same version of libjpeg-turbo. */
#ifndef YS_FEEDER_DRAW_PHOTOS_H
#define YS_FEEDER_DRAW_PHOTOS_H

#include "base/status.h"

#include <stdint.h>

struct ys_feeder_drawing {
    const char *folder; /* FOLDER/train/CLASS/ROW.jpg and FOLDER/test/CLASS/ROW.jpg */
    int channels;       /* 1 or 3 */
    int64_t height, width, classes;
    int64_t count; /* to train on; a tenth as many, at least one of each class, to test on */
};

/** YS_EIO. YS_EINVAL: fewer images than classes. */
ys_status ys_feeder_draw(const struct ys_feeder_drawing *drawing) YS_MUST_CHECK;

#endif
