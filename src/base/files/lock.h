/* Locks between processes that share a file system: those of other machines, users and containers too.
 *
 * A lock is one of flock() on a file of its own, or on a folder. It belongs to the open descriptor, so it ends with the
 * last process that has it, however that process ends, and a keeper that was handed the descriptor goes on holding it
 * (session/launch.h). Numbers of processes decide nothing: they mean something else in another container. The one that
 * stands in a lock's file is for messages. */
#ifndef YS_BASE_FILES_LOCK_H
#define YS_BASE_FILES_LOCK_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

enum ys_lock_kind { YS_LOCK_SHARED, YS_LOCK_ALONE };

struct ys_lock {
    int fd; /* -1: nothing is held */
};

#define YS_LOCK_NONE       ((struct ys_lock){.fd = -1})
#define YS_LOCK_MOST_HELD  256
#define YS_LOCK_PATIENCE_S 0.2 /* enough to outlast one that only looks: ys_lock_is_taken() */
#define YS_LOCK_FOREVER_S  1e9

/** Takes the lock `path`: a folder that stays there, or a file, which is made. Waits at most `patience_s`.
 *   YS_EBUSY      others hold it still; the message says only that: callers know what it means
 *   YS_EINTR      the user asked to stop while it waited
 *   YS_ENOTFOUND  the folder that `path` names or lies in is not there
 *   YS_EIO        it cannot be opened; or the file system has no locks, and `kind` is YS_LOCK_ALONE. One that is
 *                 shared is then held in name: nobody can hold it alone. */
ys_status ys_lock_take(const char *path, enum ys_lock_kind kind, double patience_s, struct ys_lock *lock) YS_MUST_CHECK;
/** The same of a folder that may be removed or exchanged meanwhile: YS_ENOTFOUND then, where ys_lock_take() would make
 * a file of its name. The lock is on what has the name when it is taken. */
ys_status ys_lock_take_folder(const char *folder, enum ys_lock_kind kind, double patience_s,
                              struct ys_lock *lock) YS_MUST_CHECK;
/** Gives it up, unless a keeper has it too. One that is YS_LOCK_NONE is fine. */
void ys_lock_release(struct ys_lock *lock);

/** The lock of a file that is open as `fd` and itself what is locked, as long as that is open: nothing is written to
 * it, nobody is waited for, no keeper is handed it. False: others hold it, or the file system has no locks. */
bool ys_lock_file(int fd, enum ys_lock_kind kind);

/** Whether others hold it in a way that keeps it from being held alone. False where there is no such file or folder. */
bool ys_lock_is_taken(const char *path);
/** The process that last held the lock file alone, as its own machine or container numbers it; 0 unknown. */
long ys_lock_holder(const char *path);

/** The descriptors of all locks that this process holds, at most `most`: what a keeper is handed. */
size_t ys_lock_held(int *fds, size_t most);

#endif
