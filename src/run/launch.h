/* How an adapter's process comes into being. */
#ifndef YS_RUN_LAUNCH_H
#define YS_RUN_LAUNCH_H

#include "base/status.h"
#include "stat/series.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** What to start, and within which limits. Everything is borrowed; limits of 0 are no limits. */
struct ys_launch {
    const char *const *argv; /* ended by NULL; argv[0] is looked for on the PATH that the adapter gets */
    const char *const *env;  /* "NAME=value" put over yardstick's own variables, ended by NULL; may be NULL */
    const char *folder;      /* exists; the adapter's working folder, where adapter.log goes */
    const char *temporary;   /* TMPDIR, unless `env` sets another; NULL: that of yardstick */
    const int *cpus;         /* the CPUs it may use; none: those that yardstick may use */
    size_t cpu_count;
    double stall_limit_s;          /* longest silence while an answer is awaited */
    double run_time_limit_s;       /* from exec on */
    uint64_t memory_limit_bytes;   /* resident, all processes, as sampled: ten times a second where sample_hz is 0 */
    double sample_hz;              /* looks at the process tree a second; 0: none */
    double stop_grace_s;           /* patience after `bye`; 0: YS_STOP_GRACE_S */
    size_t log_limit_bytes;        /* of adapter.log; 0: YS_LOG_LIMIT_BYTES */
    struct ys_series_set *samples; /* where the looks go (sample_t_ns and so on); may be NULL */
};

#define YS_STOP_GRACE_S    5.0
#define YS_LOG_LIMIT_BYTES ((size_t)4 << 20)
#define YS_LOG_NAME        "adapter.log"

/** A process that has begun. Descriptors belong to the caller. */
struct ys_started {
    pid_t pid;
    int pid_fd;       /* readable once it has ended; -1 where the kernel has none (before 5.3) */
    int channel_fd;   /* our end of the channel: a stream socket */
    int log_fd;       /* our end of its stdout and stderr: a pipe, non-blocking */
    uint64_t exec_ns; /* when starting it began */
};

/** Starts yardstick-launch and waits until the adapter's program has taken over or could not.
 * YS_ENOTFOUND, YS_EINVAL: the program, its folder or its CPUs cannot be had (its fault, nothing is left running);
 * YS_EINTR; YS_EIO, YS_ENOMEM: a failure of yardstick's own, yardstick-launch missing among them. */
ys_status ys_launch_start(const struct ys_launch *launch, struct ys_started *started) YS_MUST_CHECK;

#endif
