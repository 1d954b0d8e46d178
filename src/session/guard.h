/* What an adapter may not write: the cache, the results of every study and yardstick itself. Kept by Landlock, the
 * kernel's own way to let a process give up rights for itself and for all that it starts; no right of the user's is
 * needed for it. docs/measuring.md says what stays writable and what Landlock does not keep. */
#ifndef YS_SESSION_GUARD_H
#define YS_SESSION_GUARD_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

/** From now on no adapter that this process starts may write below `folder`, but for its own folders. Guarded in any
 * case are the cache, yardstick's programs, adapters and recipes, and /sys. At most YS_GUARD_MOST of them; one that is
 * named already is fine. YS_EINTERNAL. */
ys_status ys_guard_protect(const char *folder) YS_MUST_CHECK;
#define YS_GUARD_MOST 32
/** Those that were named, in turn, as absolute paths; NULL behind the last one. */
const char *ys_guard_named(size_t index);

/** The version of the kernel's Landlock, at least 3 (Linux 6.2: earlier ones let files be cut); 0 where there is none,
 * or where the variable YARDSTICK_LANDLOCK is off: `reason` (may be NULL) then says why. A literal or borrowed text. */
int ys_guard_version(const char **reason);

/** The rules for one adapter: *fd, close-on-exec, for landlock_restrict_self(). All that exists may be written but what
 * is guarded; of that the `count` folders `writable` may (a NULL among them is passed over). No entry can be made in,
 * or taken from, a folder in which something guarded lies. *fd is -1 where ys_guard_version() is 0. YS_EIO. */
ys_status ys_guard_open(const char *const *writable, size_t count, int *fd) YS_MUST_CHECK;

#endif
