/* Shared by the files of the session; nobody else includes it. */
#ifndef YS_RUN_SESSION_INTERNAL_H
#define YS_RUN_SESSION_INTERNAL_H

#include "base/working.h"
#include "probe/host.h"
#include "protocol/channel.h"
#include "run/keeper.h"
#include "run/log_file.h"
#include "run/session.h"
#include <stdbool.h>

struct ys_session {
    struct ys_launch launch;     /* its pointers are the caller's and are used in open alone, `samples` excepted */
    char *program;               /* the adapter's file name, for messages */
    struct ys_working temporary; /* the adapter's TMPDIR, removed when all of its processes have gone */
    struct ys_started process;
    struct ys_channel *channel;
    struct ys_log_file log;
    bool has_log;
    struct ys_tree *tree;
    struct ys_observe observe;
    uint64_t wall_limit_ns; /* a time; UINT64_MAX for none */
    uint64_t stall_span_ns; /* 0 for none */
    uint64_t period_ns;     /* between samples; 0 for none */
    uint64_t next_sample_ns;
    uint64_t heard_ns; /* when the adapter last said something, or was last asked something; later by the time that
                          yardstick itself was stopped since */
    uint64_t awake_ns; /* when yardstick was last known to run */
    uint64_t wake_ns;  /* when it meant to run again, at the latest */
    int continued;     /* ys_stop_continued() as last seen */
    uint64_t sampled_cpu_ns;        /* of the last sample */
    uint64_t sampled_rss_bytes;     /* likewise */
    bool is_silenced;               /* the channel has come to its end */
    struct ys_host_counters before; /* as it was before the adapter began */
    bool has_failed, is_obedient;   /* obedient: it failed by saying so, and still listens */
    ys_status failure;
    struct ys_session_end end;
};

/** Sets the failure unless there is one already; takes `message` (NULL: no memory for it). */
ys_status ys_session_set_failure(struct ys_session *session, ys_status failure, enum ys_run_status status,
                                 char *message_taken);
/** Adds a sentence to the end's warnings. */
void ys_session_warn(struct ys_session *session, const char *format, ...) YS_PRINTF(2, 3);
/** Whether the adapter's own process has ended, as the keeper says; it is left to be waited for. */
bool ys_session_check_ended(struct ys_session *session);
/** Books the failure that the end of the adapter's process is, in the middle of `stage`. */
ys_status ys_session_ended_early(struct ys_session *session);

/** Sleeps until something happens or until `until_ns`, drains the log, takes the samples that are due. `watch_channel`:
 * whether a message wakes it; `watch_stop`: whether the user's wish to stop does. */
void ys_session_wait(struct ys_session *session, uint64_t until_ns, bool watch_channel, bool watch_stop);

/** Says that yardstick was busy with something else until now: that was no stop, unless a signal says so. */
void ys_session_wake(struct ys_session *session);

/** Processor time of the tree so far, in seconds, as last looked at. */
double ys_session_seen_cpu_s(const struct ys_session *session);
/** Books the failure that the kernel killed a process of the session's control group for want of memory. */
ys_status ys_session_out_of_memory(struct ys_session *session);

/** Has what is left of the tree killed, every process of it waited for and sums up what the kernel says of them. False
 * when some could not be killed. */
bool ys_session_reap(struct ys_session *session);

#endif
