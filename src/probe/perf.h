/* The kernel's sampling of where processor time goes (perf_event_open(2), its software clock), over everything that the
 * calling thread starts: the events are inherited, switch on when a program takes over, and are none of the caller's
 * own time. One ring of samples a CPU. Source: perf_event_open(2).
 *
 * Cost: an interrupt every YS_PERF_PERIOD_NS of processor time, and a copy of some 40 bytes. A thread that lives less
 * than that is mostly missed. */
#ifndef YS_PROBE_PERF_H
#define YS_PROBE_PERF_H

#include "probe/profile.h"
#include <stdbool.h>

#define YS_PERF_PERIOD_NS 3999971 /* 4 ms, and in step with nothing */

struct ys_perf;

/** Before what is to be sampled is started. YS_ENOTFOUND: the kernel does not let it (ys_error() has the reason and the
 * remedy). */
ys_status ys_perf_open(struct ys_perf **perf) YS_MUST_CHECK;
/** Empties the rings; often enough that they do not run over: 256 KiB are some 25 s of one busy CPU. */
void ys_perf_drain(struct ys_perf *perf); /* NULL is fine */
/** From now on it is another phase. NULL is fine. */
void ys_perf_begin(struct ys_perf *perf, enum ys_profile_phase phase);
/** Everything until now. *in_kernel: whether time in the kernel was to be seen. */
void ys_perf_read(struct ys_perf *perf, struct ys_profile_counts *counts, bool *in_kernel);
void ys_perf_close(struct ys_perf *perf); /* NULL is fine */

#endif
