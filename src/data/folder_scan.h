/* Looking for the images of data/folder.h. */
#ifndef YS_DATA_FOLDER_SCAN_H
#define YS_DATA_FOLDER_SCAN_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ys_found_image {
    char *path, *class; /* owned: absolute, and the word for its class */
    size_t line;        /* of the list that named it, from 1 */
    bool tests;
    int64_t size_bytes, time_ns; /* of the last change */
};

/** In no order. Who calls the functions below frees it, also after a failure. */
struct ys_found {
    struct ys_found_image *items;
    size_t count, capacity;
    char *lists[2]; /* owned: the list that named those to train on, and that of those to test on; NULL: folders did */
};

/** Adds the images of `folder`/CLASS, at any depth. YS_EFORMAT: a class without images, an image in no class. */
ys_status ys_found_classes(const char *folder, bool tests, struct ys_found *found) YS_MUST_CHECK;
/** Adds those of a list, whose paths begin at its folder. YS_EFORMAT and YS_ENOTFOUND name its line. */
ys_status ys_found_list(const char *path, bool tests, struct ys_found *found) YS_MUST_CHECK;
/** Adds those of Tiny ImageNet's val_annotations.txt, to test on: lines of an image in the folder `images` beside it,
 * its class and the edges of what it shows, apart by tabs. */
ys_status ys_found_annotations(const char *path, struct ys_found *found) YS_MUST_CHECK;

#endif
