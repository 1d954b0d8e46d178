/* Sources of observations of a session, beside its process tree and its threads: one file and one struct each, called
 * by session/observe.h at the points that the struct names. What they find is one flat record, a member of the facts of
 * a run as it is here.
 *
 * A new source is a file in this folder, its figures in YS_OBSERVED_FIGURES and its name in ys_probes. */
#ifndef YS_PROBE_OBSERVED_OBSERVATION_H
#define YS_PROBE_OBSERVED_OBSERVATION_H

#include "base/json/record.h"
#include "probe/own_cgroup.h"
#include "probe/process_tree.h"

/** Numbers, from the adapter's beginning until the last of its processes has been waited for: member, unit, flags of
 * its field beside YS_FIELD_NULL, meaning. Of several ranks they are summed. */
#define YS_OBSERVED_FIGURES(X)                                                                                         \
    X(cpu_ns, "ns", YS_FIELD_LATER, "processor time of all processes")                                                 \
    X(memory_peak_bytes, "B", YS_FIELD_LATER, "largest memory, page cache included")                                   \
    X(memory_own_peak_bytes, "B", YS_FIELD_LATER, "largest memory without page cache")                                 \
    X(memory_own_least_bytes, "B", YS_FIELD_MAY_LACK, "what samples saw of it")                                        \
    X(memory_own_most_bytes, "B", YS_FIELD_MAY_LACK, "between two samples")                                            \
    X(cache_peak_bytes, "B", YS_FIELD_LATER, "largest page cache seen")                                                \
    X(swap_peak_bytes, "B", YS_FIELD_LATER, "largest memory in swap")                                                  \
    X(tasks_peak, "1", YS_FIELD_LATER, "most tasks at once")                                                           \
    X(cpu_wait_ns, "ns", YS_FIELD_LATER, "threads were ready and had no CPU, summed")                                  \
    X(read_bytes, "B", YS_FIELD_LATER, "asked to read by system calls")                                                \
    X(written_bytes, "B", YS_FIELD_LATER, "written by system calls")                                                   \
    X(disk_read_bytes, "B", YS_FIELD_LATER, "fetched from storage")                                                    \
    X(disk_written_bytes, "B", YS_FIELD_LATER, "made to be sent to storage")                                           \
    X(sampled_shared_bytes, "B", YS_FIELD_LATER, "most that resident pages may count more than once")                  \
    X(shared_rss_bytes, "B", YS_FIELD_LATER, "resident pages where most was shared")                                   \
    X(shared_pss_bytes, "B", YS_FIELD_LATER, "the same, each divided by its users")                                    \
    X(pss_peak_bytes, "B", YS_FIELD_LATER, "the largest such sum")

/** What is known at the end. Texts are owned; a number that is not known is YS_FIELD_NONE. */
struct ys_observation {
    bool guarded; /* it could not write the cache, the results and other runs' folders (session/guard.h) */
    char *guard;  /* by what, or why not */
    bool grouped, killed_as_a_whole;
    char *group; /* which controllers it had, or why there was none */
#define YS_OBSERVED_MEMBER(member, unit, flags, what) int64_t member;
    YS_OBSERVED_FIGURES(YS_OBSERVED_MEMBER)
#undef YS_OBSERVED_MEMBER
};
extern const struct ys_record ys_observation_record;

/** The session as a source sees it. Borrowed. */
struct ys_probed {
    pid_t keeper;                           /* that waits for all of its processes; 0: it was lost */
    const struct ys_group_usage *usage;     /* of its control group, as last read; without one nothing is known */
    const struct ys_tree_peak *peak;        /* of its tree; at the end alone */
    const struct ys_tree_member *processes; /* at the end of a phase alone */
    size_t process_count;
};

/** `state` is the source's own, `size_bytes` that begin as 0. Any of the functions may be NULL. */
struct ys_probe {
    size_t size_bytes;
    void (*begin)(void *state, const struct ys_probed *session);  /* the adapter's process has begun */
    void (*sample)(void *state, const struct ys_probed *session); /* while timing: costs microseconds at most */
    void (*phase)(void *state, const struct ys_probed *session);  /* a phase has ended; never while timing */
    void (*end)(void *state, const struct ys_probed *session, struct ys_observation *found);
};
enum { YS_PROBE_COUNT = 3 };
extern const struct ys_probe *const ys_probes[YS_PROBE_COUNT];
extern const struct ys_probe ys_group_figures_probe; /* of its control group, else of its tree */
extern const struct ys_probe ys_process_io_probe;    /* /proc/PID/io of those that were waited for */
extern const struct ys_probe ys_shared_pages_probe;  /* /proc/PID/smaps_rollup of each, where there are several */

#endif
