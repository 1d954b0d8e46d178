/* Limits of the control group that this process lives in, under version 1, version 2 or both at once (hybrid systems
 * mount both, with different controllers on each): each file is looked for, the version is never guessed. */
#ifndef YS_PROBE_CGROUP_H
#define YS_PROBE_CGROUP_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

struct ys_cgroup {
    bool has_cpu_quota, has_memory_limit;
    double quota_cores;         /* CPU time per wall time that the tightest group above us grants */
    int64_t memory_limit_bytes; /* the tightest likewise */
    double throttled_s; /* our own group was stopped by its quota for so long; -1 when the kernel does not count */
    int64_t oom_kills;  /* processes killed for memory in our own group; -1 when the kernel does not count */
};

/** Reads all of it; what cannot be read counts as absent. `root` as in probe/procfs.h. */
void ys_cgroup_read(const char *root, struct ys_cgroup *cgroup);
/** The same without quota and limits: what is counted, which takes a third as long. */
void ys_cgroup_count(const char *root, struct ys_cgroup *cgroup);

#endif
