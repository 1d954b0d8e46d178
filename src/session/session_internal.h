/* Shared by the files of the session; nobody else includes it. */
#ifndef YS_SESSION_SESSION_INTERNAL_H
#define YS_SESSION_SESSION_INTERNAL_H

#include "base/files/working_folder.h"
#include "probe/host.h"
#include "protocol/channel.h"
#include "session/keeper.h"
#include "session/log_file.h"
#include "session/session.h"
#include <stdbool.h>

enum ys_session_state {
    YS_SESSION_IDLE,    /* nothing is asked */
    YS_SESSION_ASKED,   /* an answer is awaited; no longer once it has failed */
    YS_SESSION_LEAVING, /* `bye` is said, and the adapter is expected to end */
    YS_SESSION_REAPED,  /* its keeper waits for what has ended, and kills when `is_deadly` */
    YS_SESSION_LOST,    /* its keeper was killed: what is known to have been below it is killed one by one */
    YS_SESSION_ENDED,
};

struct ys_session {
    enum ys_session_state state;
    struct ys_launch launch;     /* its pointers are the caller's and are used in open alone, `samples` excepted */
    int *cpus;                   /* launch.cpu_count of them, a copy; NULL: none were given */
    char *program;               /* the adapter's file name, for messages */
    struct ys_working temporary; /* the adapter's TMPDIR, removed when all of its processes have gone */
    struct ys_started process;
    struct ys_channel *channel;
    struct ys_log_file log;
    bool has_log, has_printed; /* printed: it waits in the log's pipe */
    struct ys_tree *tree;
    struct ys_thread_uses threads; /* of the tree, as the work began */
    struct ys_observe observe;
    struct ys_perf *perf;   /* NULL: not asked for, or not to be had */
    uint64_t next_drain_ns; /* of its rings */
    uint64_t wall_limit_ns; /* a time; UINT64_MAX for none */
    uint64_t stall_span_ns; /* 0 for none */
    uint64_t period_ns;     /* between samples; 0 for none */
    uint64_t next_sample_ns;
    uint64_t heard_ns; /* when the adapter last said something, or was last asked something; later by the time that
                          yardstick itself was stopped since */
    uint64_t awake_ns; /* when yardstick was last known to run */
    uint64_t wake_ns;  /* when it meant to run again, at the latest */
    int continued;     /* ys_stop_continued() as last seen */
    uint64_t sampled_cpu_ns;    /* of the last sample */
    uint64_t sampled_rss_bytes; /* likewise */
    uint64_t sampled_wait_ns;   /* likewise */
    uint64_t sampled_ns;        /* likewise, when; 0: none was taken */
    uint64_t held_ns;           /* for so long a process of it was stopped, as sampled */
    uint64_t grouped_rss_bytes; /* of the sample at which the control group was last looked at */
    int group_in;               /* so many samples until it is again, whatever that does */
    bool is_silenced;           /* the channel has come to its end */
    int64_t kills_before;       /* ys_host_oom_kills() before the adapter began; -1: its own group counts them */
    bool is_paused;             /* others have their turn */
    uint64_t paused_ns;         /* since when */
    uint64_t paused_cpu_ns;     /* processor time so far, as it was held */
    /* What is asked. */
    const struct ys_session_due *due; /* what may come; NULL: anything */
    ys_session_on_message on_message;
    void *context;
    ys_json *reply;       /* that nobody has taken yet */
    uint64_t received_ns; /* when the last message was */
    uint64_t silenced_ns; /* when the channel came to its end, or the question was asked if later */
    bool has_come;        /* there was a message at the last look, and may be another */
    char *line;           /* being sent; NULL: none */
    const char *unsent;   /* its rest */
    size_t unsent_size;
    uint64_t unsent_ns; /* when the adapter last took some of it */
    /* How it ends. */
    uint64_t until_ns; /* for so long the state is borne */
    bool is_deadly, has_ordered;
    uint64_t ordered_ns, next_order_ns, pause_ns;
    bool is_empty;                /* no process is left */
    bool has_failed, is_obedient; /* obedient: it failed by saying so, and still listens */
    ys_status failure;
    struct ys_session_end end;
};

/** Sets the failure unless there is one already; takes `message` (NULL: no memory for it). */
ys_status ys_session_set_failure(struct ys_session *session, ys_status failure, enum ys_run_status status,
                                 char *message_taken);
/** Whether the adapter's own process has ended, as the keeper says; it is left to be waited for. */
bool ys_session_check_ended(struct ys_session *session);
/** Books the failure that the end of the adapter's process is, in the middle of `stage`. */
ys_status ys_session_ended_early(struct ys_session *session);

/** Says that yardstick was busy with something else until now: that was no stop, unless a signal says so. */
void ys_session_wake(struct ys_session *session);

/** Processor time of the tree so far, in seconds, as last looked at. */
/** Books the failure that the kernel killed a process of the session's control group for want of memory. */
ys_status ys_session_out_of_memory(struct ys_session *session);

/** Sends on what is unsent, as far as the adapter takes it. */
ys_status ys_session_push(struct ys_session *session);
/** Begins to send `message_taken`. */
ys_status ys_session_post(struct ys_session *session, ys_json *message_taken);
/** Takes what has come and judges the limits, without waiting: of one that is asked, or idle. */
void ys_session_attend(struct ys_session *session);
/** When the next of its limits is reached. */
uint64_t ys_session_next_limit(const struct ys_session *session);
/** Goes on with its end, without waiting. */
void ys_session_go_on_ending(struct ys_session *session);
/** When its end goes on by itself. */
uint64_t ys_session_next_of_end(const struct ys_session *session);

#endif
