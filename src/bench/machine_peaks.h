/* What this machine can do at best beside products: its memory, and a cache line that goes from one CPU to another. */
#ifndef YS_BENCH_MACHINE_PEAKS_H
#define YS_BENCH_MACHINE_PEAKS_H

#include "base/status.h"
#include <stddef.h>

/** Bytes a second that the program reads and writes; what caches fetch beside that, as the lines that are written, is
 * not counted (McCalpin, STREAM, 1995). */
struct ys_peak_memory {
    double read;  /* sum of a buffer */
    double copy;  /* one buffer into another */
    double triad; /* a = b + s c */
};
/** Over three buffers of `buffer_bytes` each, in runs of equal length on `threads` threads. */
ys_status ys_peak_memory(size_t buffer_bytes, int threads, int repeats, struct ys_peak_memory *memory) YS_MUST_CHECK;

/** Nanoseconds that a cache line takes from one CPU to another and back, when a thread on each writes it in turn. */
struct ys_peak_handover {
    int samples;
    double fastest_ns, median_ns, slowest_ns;
};
/** Between two CPUs, by number. Each of the samples, 1 or more, is the mean of 10000 trips; they lie 50 ms apart, since
 * a host may move the CPUs of a virtual machine nearer to each other or further. */
ys_status ys_peak_handover(const int cpus[2], int samples, struct ys_peak_handover *handover) YS_MUST_CHECK;

#endif
