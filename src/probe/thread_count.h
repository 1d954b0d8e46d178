/* How many threads share a process's work. */
#ifndef YS_PROBE_THREAD_COUNT_H
#define YS_PROBE_THREAD_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** The CPU time that each thread has used so far; begin with zeros. */
struct ys_thread_uses {
    struct ys_thread_use {
        pid_t pid, tid;
        double used_s;
    } * items; /* owned */
    size_t count, capacity;
};

/** Adds the threads that process `pid` has now, as /proc/PID/task/TID/schedstat tells; nothing where the process has
 * gone or the kernel lacks these files. `root` as in probe/procfs.h. */
void ys_threads_note(const char *root, pid_t pid, struct ys_thread_uses *uses);
void ys_threads_fini(struct ys_thread_uses *uses);

/** Who did the work between two looks. */
struct ys_threads_worked {
    double shared; /* the square of the sum over the sum of the squares: n threads that used the same CPU time give n,
                      and one that used little adds little. 0 when nothing is known */
    int cpus;      /* on which those that did a twentieth of it or more may run, all together; 0 likewise */
};
struct ys_threads_worked ys_threads_worked(const char *root, const struct ys_thread_uses *before,
                                           const struct ys_thread_uses *after);

/** Whether of as many threads as work was divided among, in `processes` of them, one in each did it all but for a
 * tenth, or all of them lay on one CPU. What is not known (0, NaN, below 0) is neither. */
bool ys_threads_alone(double shared, int64_t cpus, int64_t processes);

/** How many threads of process `pid` may run on other CPUs than the `count` of `cpus`, as /proc/PID/task/TID/status
 * tells; 0 where it has gone. `root` likewise. */
size_t ys_threads_astray(const char *root, pid_t pid, const int *cpus, size_t count);

/** How many threads of process `pid` no signal has stopped yet; 0 where it has gone. `root` likewise. */
size_t ys_threads_running(const char *root, pid_t pid);

#endif
