/* What a run leaves where everybody writes: shared memory in /dev/shm and of System V, files in /tmp. Its own folders
 * (TMPDIR, that of the run) are removed or swept whole, elsewhere.
 *
 * Looked at are the names in these folders, before the adapter begins and after the last of its processes has gone.
 * What is new, is this user's, and is held by no process is removed if it is the run's beyond doubt: one of its
 * processes had it mapped when a phase ended, or its name has the number of one (of at least four digits, so that a
 * counter is not taken for it). New shared memory of which that is not known is told of and left. A segment of System V
 * is listed in /proc/sysvipc/shm, with who made it and how many are attached: it is the run's if one of these processes
 * made it or had it mapped. */
#ifndef YS_SESSION_LEFTOVER_H
#define YS_SESSION_LEFTOVER_H

#include "base/json/json.h"
#include "probe/process_tree.h"
#include <stddef.h>
#include <time.h>

enum { YS_LEFTOVER_FOLDERS = 2 };

struct ys_leftover {
    const char *folders[YS_LEFTOVER_FOLDERS]; /* the first holds shared memory; borrowed */
    struct timespec begun;
    ys_json *before, *mapped; /* sets of paths, and of segments as "segment ID": what was there, what was mapped */
    ys_json *numbers;         /* set: those of its processes */
};

/** `folders`: YS_LEFTOVER_FOLDERS of them, literals; NULL: /dev/shm and /tmp. Without memory nothing is looked for. */
void ys_leftover_begin(struct ys_leftover *leftover, const char *const *folders);
/** At the end of a phase, never while timing: these are its processes. */
void ys_leftover_look(struct ys_leftover *leftover, const struct ys_tree_member *members, size_t count);
/** All of its processes have gone: removes what it left, and adds a sentence to `warnings` of what it was. */
void ys_leftover_end(struct ys_leftover *leftover, ys_json *warnings);
void ys_leftover_fini(struct ys_leftover *leftover);

#endif
