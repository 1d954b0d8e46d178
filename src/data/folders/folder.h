/* A folder of images, or a list of them, as a data set: which files, of which class, to train on or to test.
 *
 *   PATH/train/CLASS/.../image.jpg, PATH/test/CLASS/...   (by the names of data/folders/folder_halves.c)
 *   PATH/CLASS/.../image.jpg                              one row in ten of each class is to test on
 *   PATH/train.csv, PATH/test.csv; or PATH is such a list: lines of IMAGE,CLASS
 *
 * docs/data.md says it for people. */
#ifndef YS_DATA_FOLDERS_FOLDER_H
#define YS_DATA_FOLDERS_FOLDER_H

#include "base/hash.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_FOLDER_MAX_CLASSES 65536
#define YS_FOLDER_TEST_OF     10 /* one row in so many is to test on where the folder does not say */

struct ys_folder_row {
    char *path; /* absolute */
    int64_t label;
    bool tests;
    int64_t size_bytes, time_ns; /* of the file, and of its last change */
};

/** Everything is owned. */
struct ys_folder {
    struct ys_folder_row *rows; /* those to train on first, each half by class, then by path */
    size_t count, train_count;
    int64_t classes;
    char *left_out;            /* "3 .gif (...), 12 of val (...)": what lies there and is none of them; NULL: nothing */
    char hash[YS_SHA256_TEXT]; /* of paths below the folder, classes, sizes and times: another one says that it changed
                                */
};

/** Looks at `path`, absolute; no image is opened. YS_ENOTFOUND: it, or an image of a list, is not there; YS_EFORMAT:
 * no classes, an empty class, an image in no class, a label out of range; each with the path. */
ys_status ys_folder_read(const char *path, struct ys_folder *folder) YS_MUST_CHECK;
void ys_folder_fini(struct ys_folder *folder);

#endif
