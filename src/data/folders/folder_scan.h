/* Looking for the images of data/folders/folder.h. */
#ifndef YS_DATA_FOLDERS_FOLDER_SCAN_H
#define YS_DATA_FOLDERS_FOLDER_SCAN_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct ys_found_image {
    char *path, *class; /* owned: absolute, and the word for its class */
    size_t line;        /* of the list that named it, from 1 */
    bool tests;
    int64_t size_bytes, time_ns; /* of the last change; 0 of a link that leads nowhere */
};

/** In no order. */
struct ys_image_search {
    struct ys_found_image *items;
    size_t count, capacity;
    char *lists[2]; /* owned: the list that named those to train on, and that of those to test on; NULL: folders did */
    struct ys_found_left {
        size_t count;
        char *what; /* as in "3 .gif" */
    } * left;       /* files and folders that are none of them, by why */
    size_t left_count, left_capacity;
};
void ys_found_fini(struct ys_image_search *found); /* after a failure of the functions below too */

/** Adds the images of `folder`/CLASS, at any depth. YS_EFORMAT: a class without images, an image in no class. */
ys_status ys_found_classes(const char *folder, bool tests, struct ys_image_search *found) YS_MUST_CHECK;
/** Adds those of a list, whose paths begin at its folder. YS_EFORMAT and YS_ENOTFOUND name its line. */
ys_status ys_found_list(const char *path, bool tests, struct ys_image_search *found) YS_MUST_CHECK;
/** Adds those of Tiny ImageNet's val_annotations.txt, to test on: lines of an image in the folder `images` beside it,
 * its class and the edges of what it shows, apart by tabs. */
ys_status ys_found_annotations(const char *path, struct ys_image_search *found) YS_MUST_CHECK;

/** Adds one image, whose path it takes. */
void ys_found_add(struct ys_image_search *found, char *path_taken, const char *class, size_t class_length, bool tests,
                  const struct stat *file);
/** Notes that so many of them are left out. */
void ys_found_leave(struct ys_image_search *found, size_t count, const char *what);
/** A folder that systems and file servers put beside those of people: thumbnails, what was deleted. */
bool ys_found_is_service(const char *name);

#endif
