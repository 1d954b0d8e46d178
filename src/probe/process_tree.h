/* The process tree of a run, seen from outside through /proc.
 *
 * Members are all descendants of one process, the top: the keeper of a session (session/keeper.h), which is a
 * subreaper, so that a process whose parent ends stays a descendant. New members are found from
 * /proc/PID/task/TID/children, or by the parents of all processes where the kernel lacks these files; the search is
 * left out while the number of the machine's newest process (/proc/loadavg) has not changed, for then there is none.
 *
 * A sample reads two kept-open descriptors a process and one a thread and allocates nothing unless new members came. */
#ifndef YS_PROBE_PROCESS_TREE_H
#define YS_PROBE_PROCESS_TREE_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ys_tree;

struct ys_tree_options {
    const char *root; /* as in probe/procfs.h; NULL for ys_procfs_root() */
    pid_t top;        /* not a member itself, and what it uses is not counted */
};

/** One look at the whole tree. Ended members count in cpu_ns and switches alone. */
struct ys_tree_sample {
    uint64_t t_ns;      /* of ys_time_ns(), taken when the reading was done */
    uint64_t cpu_ns;    /* user and system, all members so far: never falls. What an ended process had used since it was
                           last    seen is known only once somebody waited for it, so this is a lower bound. */
    uint64_t rss_bytes; /* sum over processes of resident pages; shared pages count once a process */
    uint32_t threads, processes;
    uint64_t switches; /* how often a thread was given a CPU, all threads (/proc/PID/task/TID/schedstat; voluntary and
                          involuntary context switches where the kernel lacks that file): never falls, a lower bound
                          likewise */
    uint64_t wait_ns;  /* for so long its threads were ready and waited for a CPU, summed; likewise, 0 where the kernel
                          lacks that file */
    uint64_t swap_bytes; /* moved out of memory, summed over processes */
    uint32_t stopped;    /* processes that a signal holds (SIGSTOP, SIGTSTP) */
};

/** Over all samples so far. */
struct ys_tree_peak {
    uint64_t rss_bytes;     /* largest sum, and at least the largest peak that the kernel recorded for one process */
    uint64_t process_bytes; /* that largest peak of one process (VmHWM), which no spike escapes */
    uint32_t threads, processes;
    uint64_t samples;
    uint64_t swap_bytes;   /* largest sum */
    uint64_t shared_bytes; /* the most that the sum of resident pages may count more than once: of files and shared
                              memory in all processes but the one with the most; 0 while there is one process */
    uint64_t wait_ns;      /* of the last sample */
    bool has_wait;         /* the kernel counts it */
};

struct ys_tree_member {
    pid_t pid, parent;
    char state; /* as in struct ys_proc_stat */
};

struct ys_tree *ys_tree_open(const struct ys_tree_options *options);
/** Another top, while there are no members yet: a process that began after ys_tree_open(). */
void ys_tree_set_top(struct ys_tree *tree, pid_t top);
void ys_tree_close(struct ys_tree *tree); /* NULL is fine */

/** YS_OK also when there is no member. */
ys_status ys_tree_look(struct ys_tree *tree, struct ys_tree_sample *sample) YS_MUST_CHECK;
const struct ys_tree_peak *ys_tree_peak(const struct ys_tree *tree); /* borrowed */

/** Searches anew and lists the members that exist now, ended ones that nobody waited for included ('Z'). The list is
 * valid until the next call with this tree. */
ys_status ys_tree_list(struct ys_tree *tree, const struct ys_tree_member **members, size_t *count) YS_MUST_CHECK;

#endif
