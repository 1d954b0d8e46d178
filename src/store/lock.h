/* One writer a results folder. Of this room alone. */
#ifndef YS_STORE_LOCK_H
#define YS_STORE_LOCK_H

#include "base/status.h"

/** Takes `folder`/results.lock, writing our process id into it. YS_EBUSY: "results folder X is in use by process N";
 * YS_EIO. */
ys_status ys_lock_take(const char *folder, int *fd);
/** Lets go. The file stays: removing it would let two processes lock two files of one name. -1 is fine. */
void ys_lock_release(int fd);

/** Writes and removes a file of 64 KiB in `folder`. YS_EIO when that cannot be done. */
ys_status ys_lock_probe_folder(const char *folder);

#endif
