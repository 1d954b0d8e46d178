/* One maker or remover of an environment at a time, across processes. The lock is a file beside the environment's
 * folder; it ends with the process that holds it, however that ends. */
#ifndef YS_FRAMEWORK_ENV_LOCK_H
#define YS_FRAMEWORK_ENV_LOCK_H

#include "base/status.h"
#include <stdbool.h>

/** Takes the lock of the environment `folder`, whose parent is made when it is missing. YS_EBUSY names the process that
 * has it. Release with ys_env_lock_release(). */
ys_status ys_env_lock_take(const char *folder, int *fd) YS_MUST_CHECK;
void ys_env_lock_release(int fd); /* negative: nothing is done */

/** Whether another holds it now; *holder is its process number, 0 when unknown. Never waits and takes nothing. */
bool ys_env_lock_is_taken(const char *folder, long *holder);

#endif
