/* What keepers have in common. A keeper is a small process between yardstick and what yardstick starts: the parent of
 * all of it, orphans included, so that yardstick's processes are known by descent and none of them outlives yardstick.
 * There is one for each session (session/launch_main.c) and for each helper program (base/process/child.c).
 *
 * yardstick-launch is built of this file and its own: nothing here allocates, logs or fails with a message. */
#ifndef YS_BASE_PROCESS_KEEPER_DUTIES_H
#define YS_BASE_PROCESS_KEEPER_DUTIES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Makes the calling process, which has one thread, a keeper: no signal but SIGKILL and SIGSTOP reaches it, and orphans
 * of its descendants become its children. It should leave its session (setsid) once the child is made: the kernel may
 * take the processor from it then, and the child should not wait for that. Returns a descriptor that becomes readable
 * when a child has ended; -1 with errno. */
int ys_keep_begin(void);
/** In a child that `keeper` has just made: a session of its own, signals as usual, SIGKILL when the keeper ends. False
 * when it has ended already. */
bool ys_keep_child(pid_t keeper);

/** Closes every descriptor from `first` on but the `count` of `kept`, which it sorts. */
void ys_keep_only(int first, int *kept, size_t count);

/** SIGKILL for each child. A child keeps its number until it is waited for, so no other process can be hit. `known`
 * (0: none) is one of them: all that can be reached where /proc shows the processes of another container. */
void ys_keep_kill(pid_t known);
/** Takes the announcements of ys_keep_begin()'s descriptor, so that it is readable no more. */
void ys_keep_hear(int signals_fd);
/** Kills and waits until there is neither child nor descendant. A process that cannot be killed keeps it here. */
void ys_keep_end_all(pid_t known);

#endif
