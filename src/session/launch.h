/* How an adapter's process comes into being. */
#ifndef YS_SESSION_LAUNCH_H
#define YS_SESSION_LAUNCH_H

#include "base/json/record.h"
#include "base/process/steering.h"
#include "base/status.h"
#include "probe/own_cgroup.h"
#include "stat/series.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** What to start, and within which limits. Everything is borrowed; limits of 0 are no limits. */
struct ys_launch {
    const char *const *argv;         /* ended by NULL; argv[0] is looked for on the PATH that the adapter gets */
    enum ys_steered_program program; /* which of yardstick's own variables it gets; one of OTHER may write what
                                yardstick may (session/guard.h) */
    const char *const *env;          /* "NAME=value" put over those, ended by NULL; may be NULL */
    const char *folder;              /* exists; the adapter's working folder, where adapter.log goes */
    const char *temporary;           /* TMPDIR, unless `env` sets another; NULL: that of yardstick */
    const char *kept; /* a folder of the cache that it may write beside these (session/guard.h); may be NULL, or lack */
    const int *cpus;  /* the CPUs it may use; none: those that yardstick may use */
    size_t cpu_count;
    double stall_limit_s;        /* longest silence while an answer is awaited */
    double run_time_limit_s;     /* from exec on */
    uint64_t memory_limit_bytes; /* all processes: kept by the kernel where the run has a control group, else resident
                                    as sampled: ten times a second where sample_hz is 0 */
    double cpu_time_limit_s;     /* of all processes, as looked at likewise */
    bool perf;                   /* sample where its processor time goes (probe/perf.h) */
    double sample_hz;            /* looks at the process tree a second; 0: none */
    double stop_grace_s;         /* patience after `bye`; 0: YS_STOP_GRACE_S */
    size_t log_limit_bytes;      /* of adapter.log; 0: YS_LOG_LIMIT_BYTES */
    const int *passed;           /* descriptors that it gets beside the channel, as 6, 7, ...; they stay the caller's */
    size_t passed_count;         /* at most 8 */
    const struct ys_group *group;   /* that the adapter joins before it begins; may be NULL */
    int64_t rank;                   /* of this adapter among those of one run; blocks and samples carry it */
    void (*on_turn)(void *context); /* called whenever it was waited for, four times a second at least; may be NULL */
    void *turn_context;
    struct ys_series_set *samples; /* where the looks go (sample_t_ns and so on); may be NULL */
};

#define YS_STOP_GRACE_S    5.0
#define YS_LOG_LIMIT_BYTES ((size_t)4 << 20)
#define YS_LOG_NAME        "adapter.log"

/** An adapter that has begun, below its keeper (session/keeper.h), which ends it. */
struct ys_started {
    pid_t pid;        /* the adapter's own process: a child of the keeper, which leads a session of its own */
    pid_t keeper;     /* our child; top of the tree */
    int note_fd;      /* readable when the keeper has something to say */
    int channel_fd;   /* our end of the channel: a stream socket */
    int log_fd;       /* our end of its stdout and stderr: a pipe, non-blocking; -1 once it is another's to close */
    uint64_t exec_ns; /* when its program was executed: joining the control groups, which may wait for
                         the kernel for 15 ms, is not the adapter's time; when starting began if it was not */
    bool has_ended;   /* the adapter's own process; as last heard */
    int ended_code, ended_value; /* of waitid: CLD_EXITED and the exit code, or CLD_KILLED and the signal */
    int group_errno;             /* why the adapter could not join launch->group; 0: it did, or there was none */
    int guard_version; /* of Landlock, that keeps it from what is guarded (session/guard.h); 0: nothing does */
    int guard_errno;   /* why not, where the kernel has it */
    bool is_lost;      /* the keeper has ended, and nothing is known of what was below it */
};

#define YS_NOT_STARTED ((struct ys_started){.pid = -1, .keeper = -1, .note_fd = -1, .channel_fd = -1, .log_fd = -1})

/** The CPUs of a plan's list, int64_t, as `cpus` of a launch: new. NULL: no memory. */
int *ys_launch_cpus(const struct ys_list *listed);

/** Starts yardstick-launch, which takes over the locks that yardstick holds (base/files/lock.h) as well, and waits
 * until the adapter's program has taken over or could not. YS_ENOTFOUND, YS_EINVAL: the program, its folder or its CPUs
 * cannot be had (its fault, nothing is left running); YS_EINTR; YS_EIO: a failure of yardstick's own,
 * yardstick-launch missing among them. */
ys_status ys_launch_start(const struct ys_launch *launch, struct ys_started *started) YS_MUST_CHECK;

#endif
