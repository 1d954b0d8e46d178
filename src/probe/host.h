/* The machine that measures: what it is, what yardstick may use of it, what else went on. */
#ifndef YS_PROBE_HOST_H
#define YS_PROBE_HOST_H

#include "base/json/json.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number of CPUs that this process may use (affinity and control groups applied); at least 1. */
int ys_host_cpus_allowed(void);
bool ys_host_cpu_is_allowed(int cpu);
/** The CPUs for a run of `threads` threads into cpus[threads]: one of each physical core first. YS_EINVAL when fewer
 * are allowed. */
ys_status ys_host_cpu_pick(int threads, int *cpus) YS_MUST_CHECK;

/** Bytes of memory that something else may take now: what the kernel calls available, and no more than the control
 * group of this process allows; 0 where neither is known. */
int64_t ys_host_memory_room(void);

/** Everything about this machine that may change a result, as an object that the caller owns:
 *  {"cpu": {"model", "vendor", "online", "allowed", "allowed_list", "cores", "threads_per_core", "packages",
 * "quota_cores", "effective_cores" (what affinity and quota leave), "caches": [{"level", "type", "size_bytes",
 * "shared_by"}], "isa": ["avx2"..], "governor", "turbo" (bool), "mhz_max"}, "memory": {"total_bytes", "limit_bytes"
 * (control group), "effective_bytes", "available_bytes", "swap_bytes", "huge_pages"}, "system": {"kernel", "machine",
 * "distribution", "libc", "hypervisor", "product", "container", "mitigations" ({name of a weakness: what the kernel
 * does}, of those that the processor has)}, "load": {"average_1min", "steal_s" (since boot)}, "environment": {NAME:
 * value of variables that steer anything (base/process/steering.h)}, "warnings": ["a sentence on what makes this
 * machine a poor one to measure on", ...], "reasons": {"cpu.governor": "why it is null", ...}} Every member is always
 * there; what is unknown is null and has its reason. A limit that is not set is null likewise. */
ys_status ys_host_describe(ys_json **host) YS_MUST_CHECK;

/** What yardstick itself acts on of such a description, borrowed from it. Unknown numbers are NaN, texts and values
 * NULL. */
struct ys_host_known {
    struct ys_host_known_cpu {
        const char *model, *governor;
        int turbo; /* 1 or 0; YS_NAME_NONE: unknown */
        double allowed, threads_per_core, quota_cores;
        const ys_json *caches;
        ys_json *isa; /* array of texts */
    } cpu;
    struct ys_host_known_memory {
        double available_bytes, effective_bytes, swap_bytes;
    } memory;
    const ys_json *environment, *reasons;
    double largest_cache_bytes;
};
void ys_host_read(const ys_json *host, struct ys_host_known *known);

/** Counters of the whole machine, to be read before and after something. Negative: unknown. */
struct ys_host_counters {
    uint64_t t_ns;
    double busy_s, steal_s; /* CPU time since boot: all that was used, and what the hypervisor gave to others */
    double load_1min;
    double memory_stalled_s; /* time in which everything waited for memory (/proc/pressure/memory, "full") */
    double throttled_s;      /* for so long the quota of our control group stopped us */
    int64_t swapped_bytes;   /* moved to or from swap */
    int64_t
        oom_kills; /* processes killed for want of memory: in our control group where counted, else on the machine */
};
void ys_host_count(struct ys_host_counters *counters);
/** What some CPUs did since boot, in seconds; negative: unknown. The kernel counts each in ticks, and so tells of each
 * as much less as one of them at most: `tick_s`, of all these CPUs together. */
struct ys_host_cpu_counters {
    int64_t cpus;                        /* how many of them there are */
    double busy_s, steal_s, throttled_s; /* throttled: our control group, whatever the CPU */
    double tick_s;
    uint64_t t_ns;
};
/** Of cpus[count]; of all that this process may use where count is 0. Takes two small files. */
void ys_host_count_cpus(const int64_t *cpus, size_t count, struct ys_host_cpu_counters *counters);
/** What happened between the two: {"seconds", "cpus" (how many), "busy_s", "steal_s", "throttled_s", "tick_s"}, unknown
 * ones null. New object; NULL without memory. */
ys_json *ys_host_cpus_between(const struct ys_host_cpu_counters *before, const struct ys_host_cpu_counters *after);

/** Moves `before` so that what happened between the two others is in no difference to it. */
void ys_host_leave_out(struct ys_host_counters *before, const struct ys_host_counters *from,
                       const struct ys_host_counters *to);
void ys_host_leave_out_cpus(struct ys_host_cpu_counters *before, const struct ys_host_cpu_counters *from,
                            const struct ys_host_cpu_counters *to);

/** Its oom_kills alone, for less. */
int64_t ys_host_oom_kills(void);
/** What happened between the two: {"seconds", "steal_s", "steal_share" (of all CPU time that could be had), "busy_s",
 * "load_before", "load_after", "memory_stalled_s", "throttled_s", "swapped_bytes"}, unknown ones null. New object; NULL
 * without memory. */
ys_json *ys_host_disturbance(const struct ys_host_counters *before, const struct ys_host_counters *after);

#endif
