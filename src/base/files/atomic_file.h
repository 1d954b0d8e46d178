/* A file that appears whole or not at all: written under a temporary name in the same folder, synced, then renamed. */
#ifndef YS_BASE_FILES_ATOMIC_FILE_H
#define YS_BASE_FILES_ATOMIC_FILE_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

#define YS_ATOMIC_FILE_END ".tmp" /* of the temporary name: PATH.XXXXXX.tmp, of random letters */

struct ys_atomic_file {
    const char *path; /* borrowed until commit or discard */
    char *temporary;
    int fd;
    bool fleeting; /* set it after open: commit does not sync, for nobody needs the file once the machine has stopped */
};

/** The temporary file is locked until commit, so that one that a killed process left is known
 * (base/files/working_folder.h). */
ys_status ys_atomic_file_open(struct ys_atomic_file *file, const char *path) YS_MUST_CHECK;
ys_status ys_atomic_file_write(struct ys_atomic_file *file, const void *data, size_t size) YS_MUST_CHECK;
/** Syncs (unless fleeting) and renames; the temporary file is gone afterwards, also on failure. */
ys_status ys_atomic_file_commit(struct ys_atomic_file *file) YS_MUST_CHECK;
/** Removes the temporary file. For use instead of commit. */
void ys_atomic_file_discard(struct ys_atomic_file *file);

#endif
