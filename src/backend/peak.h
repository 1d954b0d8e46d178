/* What this machine can do at best: matrix products of the library that the engine computes with, and memory. The
 * shortest of some repeats counts, since what disturbs a run only makes it longer. */
#ifndef YS_BACKEND_PEAK_H
#define YS_BACKEND_PEAK_H

#include "base/status.h"
#include "yardstick/engine.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The widest instructions that the library computes with on this machine, for people: "AVX512-BF16". */
const char *ys_peak_instructions(void);
/** Whether they multiply bf16 numbers; without, the library makes them from float ones. */
bool ys_peak_has_bf16(void);

/** [rows, columns] = [rows, depth] x [depth, columns] */
struct ys_peak_product {
    int64_t rows, columns, depth;
};
/** Seconds of one product, the shortest of `repeats`, or with 0 of as many as fit in some tenths of a second, after one
 * that is not timed. F32 or BF16, every layout the library's choice; on the calling thread and `threads` - 1 others. */
ys_status ys_peak_product(const struct ys_peak_product *product, enum ys_engine_precision precision, int threads,
                          int repeats, double *seconds) YS_MUST_CHECK;

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
