/* Which numerical libraries a process has really mapped, whatever its environment or its documentation say. */
#ifndef YS_PROBE_MAPPED_LIBRARIES_H
#define YS_PROBE_MAPPED_LIBRARIES_H

#include "base/json/json.h"
#include "base/status.h"
#include <sys/types.h>

/** What kind of library a file is by its name: "blas", "openmp", "primitives" (oneDNN and the like), "framework",
 * "device" (CUDA and the like), "threads", "allocator", "communication"; NULL for any other. */
const char *ys_maps_kind(const char *file_name);

/** What is known to hide inside a library of that name because it is linked in: such parts never show as files of their
 * own. A sentence, or NULL. */
const char *ys_maps_note(const char *file_name);

/** Adds to `libraries` (an array of strings) the file names of such libraries that process `pid` has mapped, each once,
 * in the order of the alphabet among those added. Reading the list holds a lock of the process for a moment, so do it
 * outside of what is timed. `root` as in probe/procfs.h.
 * @return YS_OK, YS_ENOTFOUND when there is no such process or it may not be read. */
ys_status ys_maps_libraries(const char *root, pid_t pid, ys_json *libraries) YS_MUST_CHECK;

#endif
