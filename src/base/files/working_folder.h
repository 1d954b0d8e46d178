/* Folders to work in, of which nothing may stay: each has a random name and is locked (base/files/lock.h) while it is
 * in use. What processes left that were killed is known by its free lock, and is removed by the next sweep. */
#ifndef YS_BASE_FILES_WORKING_FOLDER_H
#define YS_BASE_FILES_WORKING_FOLDER_H

#include "base/files/lock.h"
#include <stdint.h>

#define YS_WORKING_IN_CACHE "working-" /* begins the names of those in the cache */

struct ys_working {
    char *path; /* absolute; NULL: none */
    struct ys_lock lock;
};

/** Makes `parent`/`prefix`XXXXXX, for this user alone. YS_EIO names the folder. */
ys_status ys_working_make(const char *parent, const char *prefix, struct ys_working *working) YS_MUST_CHECK;
/** Whether the cache is there and cannot be written: what is prepared in it is used, and nothing is added. */
bool ys_working_cache_is_read_only(void);
/** The same in cache_dir/<sub>, where what others left is swept away first; of a read-only cache where temporary files
 * go. */
ys_status ys_working_in_cache(const char *sub, struct ys_working *working) YS_MUST_CHECK;
/** Removes the folder and all that is in it; where that fails a warning says so. ys_error() stays what it was. NULL
 * path is fine. */
void ys_working_remove(struct ys_working *working);
/** Gives up the lock and forgets the folder without removing it: it was renamed, and is somebody else's now. */
void ys_working_keep(struct ys_working *working);

/** Called with each thing that was left over: what it is, in words, and what it takes. */
typedef void (*ys_on_leftover)(void *context, const char *path, uint64_t size_bytes);

struct ys_sweep {
    bool dry;                   /* only say */
    ys_on_leftover on_leftover; /* may be NULL */
    void *context;
};

/** Removes the folders `prefix`XXXXXX of `parent` that are this user's and that nobody holds. `sweep` NULL: quietly.
 * What cannot be removed is a warning; a `parent` that is not there is fine. */
void ys_working_sweep(const char *parent, const char *prefix, const struct ys_sweep *sweep);
/** Removes the folder `path`, likewise, whatever its name. */
void ys_working_sweep_one(const char *path, const struct ys_sweep *sweep);
/** Removes what killed processes left of both kinds in cache_dir/<sub>, which need not be there. */
void ys_working_sweep_cache(const char *sub, const struct ys_sweep *sweep);
/** Removes the files that ys_atomic_file_open() left in `folder`, likewise. */
void ys_atomic_file_sweep(const char *folder, const struct ys_sweep *sweep);

#endif
