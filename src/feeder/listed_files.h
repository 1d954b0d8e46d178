/* The images of a prepared file that only lists them (data/listed_images.h), decoded one by one. */
#ifndef YS_FEEDER_LISTED_FILES_H
#define YS_FEEDER_LISTED_FILES_H

#include "base/stored/safetensors.h"
#include "feeder/image.h"

#include <stdbool.h>

struct ys_image_files {
    int64_t count;
    int64_t channels, height, width; /* of the rows that they are decoded to */
    const char *paths;
    const int64_t *starts, *sizes, *times;
};

/** Whether `file` is such a list. */
bool ys_image_files_are(const struct ys_safetensors *file);
/** `path` is its name, for messages. What `files` points to is the file's. YS_EFORMAT. */
ys_status ys_image_files_open(const struct ys_safetensors *file, const char *path,
                              struct ys_image_files *files) YS_MUST_CHECK;
const char *ys_image_files_path(const struct ys_image_files *files, int64_t row);
/** Reads and decodes that image, or no more of it than is chosen; in its own colours. From any number of threads.
 * YS_EFORMAT: the file is not the one that was listed, or is damaged. YS_EIO: it cannot be read. */
ys_status ys_image_files_decode(const struct ys_image_files *files, int64_t row, const struct ys_image_chooser *chooser,
                                struct ys_image *image) YS_MUST_CHECK;

#endif
