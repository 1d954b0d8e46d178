/* A control group of its own for each run: what the kernel then counts and limits for all of its processes, whoever
 * waits for them.
 *
 * Every controller is tried for itself, in the hierarchy of version 1 that has it and in version 2, and each file is
 * looked for: hybrid systems have both, with different controllers on each. The group is made below yardstick's own
 * where that gives what is wanted, else below one of its ancestors, but never above one that limits memory or processor
 * time: a run is to stay within the limits that yardstick was given. It needs root, or a group that was delegated
 * (systemd-run --user --scope -p Delegate=yes). */
#ifndef YS_PROBE_OWN_CGROUP_H
#define YS_PROBE_OWN_CGROUP_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ys_group;

enum { YS_GROUP_MOST_JOINS = 8 };

/** What is known of a group. Everything counts from when its first process joined; has_... false: nothing is known. */
struct ys_group_usage {
    bool has_cpu, has_memory, has_tasks;
    uint64_t cpu_ns, user_ns, system_ns; /* of all its processes, waited for or not; user and system are the kernel's
                                            division of the total, and 0 where it has none */
    uint64_t held_bytes;  /* now, without page cache: anonymous and shared memory (memfd and tmpfs included) */
    uint64_t cache_bytes; /* now: page cache that it was the first to touch */
    uint64_t other_bytes; /* now: all beside held_bytes, page cache and the kernel's own memory for it */
    uint64_t peak_bytes;  /* the largest sum of both so far */
    uint64_t swap_bytes;  /* now */
    uint64_t tasks_peak;  /* processes and threads at once; 0 where the kernel keeps no peak */
    int64_t oom_kills;    /* processes killed for want of memory; -1 unknown */
};

/** Makes the group. `memory_limit_bytes` 0: none. `root` as in probe/procfs.h: of another machine than this one the
 * folders are expected to be there.
 * @return YS_OK; YS_ENOTFOUND where none can be made: *group is NULL and ys_error() says why, in words that can stand
 * after "no control group: ". */
ys_status ys_group_open(const char *root, uint64_t memory_limit_bytes, struct ys_group **group) YS_MUST_CHECK;

/** Descriptors into which a process writes "0" to join, at most YS_GROUP_MOST_JOINS into `fds`; borrowed. A process
 * that could not join one of them does not count as in the group. */
size_t ys_group_joins(const struct ys_group *group, int *fds);
/** Closes those descriptors: everybody has joined. */
void ys_group_joined(struct ys_group *group);
/** A descriptor through which whoever outlives yardstick sees to the group's end, *word being what is to be written
 * into it: of version 2 that kills the whole at once; of version 1, where SIGKILL does not reach what is frozen, it
 * thaws. -1 where the kernel has neither. Borrowed. */
int ys_group_end_fd(const struct ys_group *group, const char **word);

/** Whether the kernel holds its memory to the limit that ys_group_open() was given. */
bool ys_group_limits_memory(const struct ys_group *group);
/** Whether the kernel counts which of its processes it killed for want of memory. */
bool ys_group_counts_kills(const struct ys_group *group);
/** Whether it can be killed as a whole, so that nothing escapes. */
bool ys_group_can_kill(const struct ys_group *group);
/** What it is for a reader: "version 1: cpuacct, memory; version 2: cpu". Borrowed. */
const char *ys_group_text(const struct ys_group *group);

/** Costs a few small files. */
void ys_group_read(const struct ys_group *group, struct ys_group_usage *usage);
/** Of `usage`, which ys_group_read() filled or whose oom_kills is -1 and everything else 0, what can change from sample
 * to sample: processor time, memory, oom_kills. The rest of what the kernel keeps until it is asked stays as it was.
 * Costs four to six reads of descriptors that are kept open. */
void ys_group_sample(const struct ys_group *group, struct ys_group_usage *usage);
/** Freezes the group, and waits until all of it is; or thaws it. False where that is not to be had, or one of its
 * processes, which waits for a device, was not frozen within a second: it will be. Processes do not notice. */
bool ys_group_freeze(const struct ys_group *group, bool is_frozen);
/** Freezes the group, kills every process of it and lets them end. Nothing where that is not to be had. */
void ys_group_kill(const struct ys_group *group);
/** Removes the group, which processes that could not be killed prevent. NULL is fine. */
void ys_group_close(struct ys_group *group);

/** Removes groups that yardsticks which were killed left where this one would make its own: those that nobody holds a
 * lock of. What is left in them, frozen or not, is thawed and killed. */
void ys_group_sweep(const char *root);

#endif
