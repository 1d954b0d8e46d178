/* The versions of one data set, in its folder data/NAME of the cache (data/prepared.h). */
#ifndef YS_DATA_DATASET_VERSION_H
#define YS_DATA_DATASET_VERSION_H

#include "base/files/working_folder.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

struct ys_versions {
    char **paths; /* absolute, the one made last first; owned */
    size_t count;
};

/** Those of `folder`; none where it is not there. */
void ys_versions_list(const char *folder, struct ys_versions *versions);
void ys_versions_fini(struct ys_versions *versions);

/** The path of the current version, new string: that which the file `current` names, without it the one made last.
 * YS_ENOTFOUND: there is none. */
ys_status ys_version_current(const char *folder, char **path) YS_MUST_CHECK;

/** Whether the manifest of the version at `path` is the one that it is named by. */
bool ys_version_is_named_right(const char *path);

/** Gives `made`, sealed (base/stored/sealed.h), the name folder/`hash`, where that is not there whole already, and
 * makes it the current version. Before that, those that are neither current nor held are removed. */
ys_status ys_version_put(const char *folder, const char *made, const char *hash) YS_MUST_CHECK;

/** Removes the versions that are neither current nor held. */
void ys_versions_sweep(const char *folder, const struct ys_sweep *sweep);

#endif
