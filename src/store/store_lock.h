/* One writer a results folder. Of this room alone. */
#ifndef YS_STORE_STORE_LOCK_H
#define YS_STORE_STORE_LOCK_H

#include "base/files/lock.h"

/** Takes `folder`/results.lock alone. The file stays afterwards. YS_EBUSY: "results folder X is in use by process N";
 * YS_EIO; YS_EINTR. */
ys_status ys_store_lock_take(const char *folder, struct ys_lock *lock) YS_MUST_CHECK;

/** Whether another process has taken it. */
bool ys_store_lock_is_taken(const char *folder);

/** Writes and removes a file of 64 KiB in `folder`. YS_EIO when that cannot be done. */
ys_status ys_store_lock_probe(const char *folder) YS_MUST_CHECK;

#endif
