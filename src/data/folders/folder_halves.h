/* Which folders or lists are the rows to train on, and which those to test on: by the names that people give them. */
#ifndef YS_DATA_FOLDERS_FOLDER_HALVES_H
#define YS_DATA_FOLDERS_FOLDER_HALVES_H

#include "data/folders/folder_scan.h"

/** Finds the images of `path`, a folder or a list. *split: it says itself which rows are to test on. YS_EFORMAT: names
 * of halves beside others, or two for one half: which is meant cannot be told. */
ys_status ys_found_images(const char *path, struct ys_image_search *found, bool *split) YS_MUST_CHECK;
/** YS_EFORMAT: the folder of a class is cut into halves itself. */
ys_status ys_halves_check_class(const char *folder) YS_MUST_CHECK;

#endif
