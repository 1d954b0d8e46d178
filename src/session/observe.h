/* What is observed of a session beside its process tree (probe/process_tree.h): its control group, what it read and
 * wrote, and how much of its memory is shared. Belongs to the session, which calls it; facts_filled.c writes it down.
 */
#ifndef YS_SESSION_OBSERVE_H
#define YS_SESSION_OBSERVE_H

#include "probe/own_cgroup.h"
#include "probe/process_tree.h"
#include "session/launch.h"
#include "session/leftover.h"

/** Bytes by the kernel's count for processes that were waited for, /proc/PID/io. */
struct ys_observe_io {
    uint64_t asked_read, asked_written; /* through system calls, whoever had the pages; pipes and terminals included */
    uint64_t disk_read, disk_written;   /* that had to be fetched from storage, or were made dirty to be sent there */
};

/** What is known at the end. Plain data. */
struct ys_observed {
    bool is_grouped, has_io;
    bool is_guarded; /* it could not write what is guarded (session/guard.h) */
    char guard[160]; /* by what, or why not */
    char group[160]; /* which controllers it had, or why there was none */
    bool can_kill;
    struct ys_group_usage usage;                 /* as last read; of all its life once the session has ended */
    uint64_t held_peak_bytes;                    /* largest of usage.held_bytes as sampled */
    uint64_t cache_peak_bytes, swap_peak_bytes;  /* likewise */
    uint64_t held_most_bytes;                    /* what it can have been between two samples at most */
    uint64_t other_bytes;                        /* usage.other_bytes of the last sample */
    struct ys_observe_io io;                     /* all its life */
    uint64_t shared_rss_bytes, shared_pss_bytes; /* at the end of the phase at which they differed most: resident
                                                    pages summed over processes, and each divided by its users. 0: at
                                                    no such end were there two processes */
    uint64_t pss_peak_bytes;                     /* largest sum at the end of a phase; 0 likewise */
};

struct ys_observe {
    struct ys_group *group; /* NULL: none */
    struct ys_observe_io before;
    struct ys_leftover leftover;
    struct ys_observed seen;
};

/** Makes the group, where one can be made. The variable YARDSTICK_CGROUP=off asks for none. */
void ys_observe_open(struct ys_observe *observe, uint64_t memory_limit_bytes);
/** The adapter has begun, and has joined the group or not. */
void ys_observe_begun(struct ys_observe *observe, const struct ys_started *process);
/** A sample of the group: processor time and memory. */
void ys_observe_sample(struct ys_observe *observe);
/** One look at all that the group tells. */
void ys_observe_look(struct ys_observe *observe);
/** At the end of a phase, never while timing: how much the `count` processes share. */
void ys_observe_phase(struct ys_observe *observe, const struct ys_tree_member *members, size_t count);
/** All processes have been waited for, and their keeper is still there. Sentences are added to `warnings`, NULL: to
 * none. */
void ys_observe_ended(struct ys_observe *observe, const struct ys_started *process, ys_json *warnings);
void ys_observe_close(struct ys_observe *observe);

#endif
