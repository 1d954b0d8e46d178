/* Who may do what with an environment, across processes: one alone makes or removes it, any number use it. The lock is
 * a file beside the environment's folder; it ends with the processes that hold it, however they end
 * (base/files/lock.h). */
#ifndef YS_FRAMEWORK_ENVIRONMENT_LOCK_H
#define YS_FRAMEWORK_ENVIRONMENT_LOCK_H

#include "base/files/lock.h"
#include "framework/env_files.h"
#include "framework/framework.h"

/** Takes the environment `folder`, whose parent is made when it is missing, to make or remove it. One that is in use is
 * YS_EBUSY at once; one that another process makes or removes after some patience: what a killed one left may just be
 * ending. Release with ys_lock_release(). */
ys_status ys_environment_take(const char *folder, struct ys_lock *lock) YS_MUST_CHECK;

/** Takes it to use it, as others may at the same time. YS_EBUSY: it is being made or removed. Release as above. */
ys_status ys_environment_share(const char *folder, struct ys_lock *lock) YS_MUST_CHECK;

/** Whether another makes or removes it now; *holder is its process number, 0 when unknown. Never waits. */
bool ys_environment_is_taken(const char *folder, long *holder);

/** Whether another uses, makes or removes it now. Never waits, makes no file. */
bool ys_environment_is_used(const char *folder);

/** Looks at the files of the environment of a framework that is ready, as ys_framework_hold() does, but holds nothing
 * and warns of nothing. Free `files` with ys_env_files_fini(). */
ys_status ys_framework_look(struct ys_framework *framework, struct ys_env_files *files) YS_MUST_CHECK;

/** Gives up what ys_framework_hold() took; NULL is fine. */
void ys_held_release(struct ys_held *held);

#endif
