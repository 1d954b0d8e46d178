/* The CPUs of this machine: which ones yardstick may use, and how they share cores. */
#ifndef YS_PROBE_CPUS_H
#define YS_PROBE_CPUS_H

#include "base/status.h"
#include <stddef.h>

struct ys_cpu {
    int number;
    int package, core; /* the same number for all CPUs of one; -1 when the kernel does not say */
    int sibling;       /* 0 for the first allowed CPU of its core, 1 for the second, ... */
    int kind; /* 0 for the fastest kind of core among the allowed, 1 for the next (laptops and phones have two or three)
               */
};

struct ys_cpus {
    struct ys_cpu *items; /* allowed ones, in the order of their numbers */
    size_t count;
    int online;          /* of the machine, allowed or not; 0 when unknown */
    int cores, packages; /* of the allowed ones; 0 when unknown */
    int kinds;           /* of core, among the allowed; 1 also where the kernel does not say */
};

/** `root` as in probe/procfs.h. YS_ENOTFOUND when the kernel does not say which CPUs this process may use. */
ys_status ys_cpus_read(const char *root, struct ys_cpus *cpus) YS_MUST_CHECK;
void ys_cpus_fini(struct ys_cpus *cpus);

/** The CPUs that a run with `threads` threads gets: one of each core first, the fastest kind before the others, package
 * after package, then the siblings in the same order. At most cpus->count are picked; returns how many were written to
 * `picked`. */
size_t ys_cpus_pick(const struct ys_cpus *cpus, size_t threads, int *picked);

#endif
