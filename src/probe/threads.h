/* How many threads share a process's work. */
#ifndef YS_PROBE_THREADS_H
#define YS_PROBE_THREADS_H

#include <stddef.h>
#include <sys/types.h>

/** Sums over threads; begin with zeros. */
struct ys_thread_share {
    double used_s, used_squared; /* of the CPU time of each, and of its square */
};

/** Adds the threads that process `pid` has now, as /proc/PID/task/TID/schedstat tells; nothing where the process has
 * gone or the kernel lacks these files. `root` as in probe/procfs.h. */
void ys_threads_add(const char *root, pid_t pid, struct ys_thread_share *share);

/** The square of the sum over the sum of the squares: n threads that used the same CPU time give n, and one that used
 * little adds little. 0 when nothing is known. */
double ys_threads_count(const struct ys_thread_share *share);

/** How many threads of process `pid` may run on other CPUs than the `count` of `cpus`, as /proc/PID/task/TID/status
 * tells; 0 where it has gone. `root` likewise. */
size_t ys_threads_astray(const char *root, pid_t pid, const int *cpus, size_t count);

/** How many threads of process `pid` no signal has stopped yet; 0 where it has gone. `root` likewise. */
size_t ys_threads_running(const char *root, pid_t pid);

#endif
