/* The files that processes have mapped, as what they take on disk: each once, by device and inode. */
#ifndef YS_PROBE_MAPPED_FILES_H
#define YS_PROBE_MAPPED_FILES_H

#include "base/status.h"

#include <stdint.h>
#include <sys/types.h>

struct ys_mapped_file {
    uint64_t device, inode;
};

/** All zero at first. Bytes of what belongs to the C library (libc, ld.so, libm, libpthread and their kin), of an
 * interpreter (python, libpython, luajit and their like, by its name), and of all others. */
struct ys_mapped_files {
    struct ys_mapped_file *seen; /* owned */
    size_t count, room;
    int64_t libc_bytes, interpreter_bytes, other_bytes;
};

/** Adds what process `pid` has mapped but for files below the folder `but` and the paths in `others`, which ends with
 * NULL. What has no file any more is passed over. `root` as in probe/procfs.h. YS_ENOTFOUND: there is no such process.
 */
ys_status ys_mapped_files_add(struct ys_mapped_files *files, const char *root, pid_t pid, const char *but,
                              const char *const *others) YS_MUST_CHECK;
/** Adds one file, where there is a regular one. */
void ys_mapped_files_add_path(struct ys_mapped_files *files, const char *path);
void ys_mapped_files_fini(struct ys_mapped_files *files);

#endif
