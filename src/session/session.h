/* A session: one adapter's process tree, from exec until the last of its processes has been waited for. Requests go
 * out, answers come in; meanwhile the log is drained, the tree sampled and every limit watched, all in one loop of one
 * thread.
 *
 * What belongs to it is what descends from its keeper (session/keeper.h): nothing else is counted, killed or waited
 * for. The locks that yardstick holds when it begins (base/files/lock.h) stay taken until the last of its processes is
 * gone, also when yardstick is killed.
 *
 * Several sessions live side by side, each with its own samples, log, limits and end, and one loop goes through all of
 * them (ys_session_turn()). ys_session_begin(), _send() and _bye() then start what ys_session_open(), _request() and
 * _close() do to the end, which are that loop with one session:
 *
 *     for each: ys_session_begin(&launch[i], &session[i])
 *     while some ys_session_is_busy(session[i]):
 *         ys_session_turn(session, count, UINT64_MAX)
 *         for each that is busy no more:
 *             ys_session_answer(session[i], &reply, &answered_ns), then ys_session_send() what is next, or
 *             ys_session_bye()
 *     for each: ys_session_close(session[i], &end[i])
 *
 * A session that hangs, dies or does not want to end delays no other: nothing here waits for one alone but the three
 * that say so, and starting a program. */
#ifndef YS_SESSION_SESSION_H
#define YS_SESSION_SESSION_H

#include "base/json/json.h"
#include "base/files/working_folder.h"
#include "base/status.h"
#include "probe/mapped_files.h"
#include "probe/thread_count.h"
#include "probe/network_interfaces.h"
#include "probe/perf.h"
#include "probe/process_tree.h"
#include "protocol/run_status.h"
#include "session/launch.h"
#include "session/observe.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ys_session;

/** Where processor time went, of a launch with `perf`. */
struct ys_session_perf {
    bool is_asked, is_known, in_kernel;
    char reason[300]; /* why it is not known */
    struct ys_profile_counts counts;
};

enum { YS_SESSIONS_MOST = 64 }; /* in one loop */

/** How its processes were kept from working while others had their turn. */
enum ys_hold {
    YS_HOLD_NONE,    /* they kept still by themselves */
    YS_HOLD_GROUP,   /* frozen with their control group, which they do not notice */
    YS_HOLD_SIGNALS, /* SIGSTOP and SIGCONT for each */
};
extern const struct ys_names ys_holds;

/** What a session did while others had their turn (ys_session_pause()). */
struct ys_session_waited {
    uint64_t waited_ns;
    uint64_t cpu_ns;   /* processor time that it used once it was, where that was asked for, held */
    enum ys_hold hold; /* of the last time */
};

/** How a session went. */
struct ys_session_end {
    enum ys_run_status status;
    enum ys_stage stage; /* where it ended */
    int exit_code;       /* of the adapter itself; -1 when a signal ended it or nothing was started */
    int signal;          /* that signal, 0 for none; SIGKILL also when yardstick sent it */
    char *message;       /* why it is not "ok"; NULL when it is */
    bool is_told;        /* that is the adapter's own word */
    bool is_stopped;     /* it stalled because a process of it was stopped (SIGSTOP) and still is */
    uint64_t failed_ns;  /* when it failed; 0: it did not */
    char *log_tail;      /* the last lines that the adapter printed */
    ys_json *warnings;   /* array of sentences */
    ys_json *hello;      /* what the adapter said of itself; NULL when it did not */
    uint64_t exec_ns, hello_ns, bye_ns,
        end_ns; /* began; hello answered; bye sent; last process waited for. 0: not reached */
    /* What the kernel says of all processes that were waited for, theirs included. */
    uint64_t user_ns, system_ns, voluntary_switches, involuntary_switches;
    uint64_t
        unwaited_ns; /* CPU time that was seen in samples and is missing above, for want of a process that waited */
    struct ys_tree_peak peak; /* peak.samples is 0 when nothing was sampled; peak.rss_bytes is known even then */
    uint64_t lateness_max_ns; /* of a sample behind its time */
    uint64_t minor_faults, major_faults; /* page faults, of the processes that were waited for */
    struct ys_observation observed;      /* beside the tree */
    struct ys_session_perf perf;
    uint64_t keeper_ns;  /* CPU time of the keeper, which is yardstick's own and not in the sums above */
    uint64_t stopped_ns; /* for so long yardstick itself did not run: it was stopped, or the machine was */
    struct ys_session_waited waited;
};
void ys_session_end_fini(struct ys_session_end *end);
/** Why it is not "ok", for people: its message, or `otherwise` (NULL: "no message"), and where the adapter gave no
 * reason the last line that it printed. New string; NULL without memory. */
char *ys_session_end_text(const struct ys_session_end *end, const char *otherwise);
/** The last line of a log's end that says something, cut to what fits into `size` bytes; "" where there is none. */
void ys_session_last_line(const char *log, char *line, size_t size);

/** Called for each message before the final one. A failure ends the session: as set by ys_session_fail(), else as
 * protocol_error with ys_error() as the message (YS_EINTERNAL is passed on). */
typedef ys_status (*ys_session_on_message)(void *context, const ys_json *message);

/** Starts the adapter and asks for hello; the answer is taken as that of ys_session_send(), with a reply of NULL
 * (ys_session_hello() has it).
 * On failure *session is set all the same whenever it can say more (ys_session_close() tells what happened); it is NULL
 * when yardstick itself failed (YS_EIO) or was stopped before anything began. Other results are those of
 * ys_session_request(). */
ys_status ys_session_begin(const struct ys_launch *launch, struct ys_session **session) YS_MUST_CHECK;

/** The same, and waits until hello is exchanged. */
ys_status ys_session_open(const struct ys_launch *launch, struct ys_session **session) YS_MUST_CHECK;

/** What the adapter said of itself; NULL before it did. Borrowed until close. */
const ys_json *ys_session_hello(const struct ys_session *session);

/** Sends `message_taken`, as fast as the adapter takes it, and does not wait for the final answer (docs/protocol.md
 * says which). One at a time. `on_message` is called from ys_session_turn(); it closes no session. Failures are those
 * of ys_session_request(). */
ys_status ys_session_send(struct ys_session *session, ys_json *message_taken, ys_session_on_message on_message,
                          void *context) YS_MUST_CHECK;

/** Whether a turn goes on with it: an answer is awaited, or its end. No more so once it has failed, until
 * ys_session_bye(). */
bool ys_session_is_busy(const struct ys_session *session);

/** One turn of the loop: takes at most one message of each session, judges the limits of each, and unless that made one
 * of them busy no more, or fail, drains logs, samples what is due and sleeps until something happens to one, a
 * quarter of a second has passed, or it is `until_ns`. Sessions that are not busy have their logs drained, their trees
 * sampled and their limits watched as well (all but the stall limit), so that one may wait for the others.
 * `count` is at most YS_SESSIONS_MOST; entries may be NULL. */
void ys_session_turn(struct ys_session *const *sessions, size_t count, uint64_t until_ns);
/** The same, and it does not sleep longer than until there is something to read from `beside_fd`; -1: of nothing else.
 */
void ys_session_turn_beside(struct ys_session *const *sessions, size_t count, uint64_t until_ns, int beside_fd);

/** Whether it has failed, as requests return from then on. */
bool ys_session_has_failed(const struct ys_session *session);

/** Once it is busy no more: the final answer, which the caller then owns, or why there is none. `answered_ns` (may be
 * NULL): when it was received, by ys_time_ns(), whatever was done for other sessions since. */
ys_status ys_session_answer(struct ys_session *session, ys_json **reply, uint64_t *answered_ns) YS_MUST_CHECK;

/** Sends `message_taken` and waits for its final answer, which the caller owns.
 * Failures end the session; what happened is in ys_session_close()'s `end`:
 *  YS_EINTR cancelled · YS_ETIMEOUT stalled or timeout_wall · YS_EUNSUPPORTED the adapter said so · YS_EPROTOCOL
 * protocol_error, and any failure of an on_message · YS_EIO anything else: crashed, killed, the adapter's own error.
 * Once failed, every request fails the same way. */
ys_status ys_session_request(struct ys_session *session, ys_json *message_taken, ys_session_on_message on_message,
                             void *context, ys_json **reply) YS_MUST_CHECK;

/** Sends `message_taken`, of any type, and gives what is answered first, whatever it is: an `error` too, which does not
 * end the session. For tests of an adapter's manners. Other failures are those of ys_session_request(). */
ys_status ys_session_provoke(struct ys_session *session, ys_json *message_taken, ys_json **reply) YS_MUST_CHECK;

/** Declares the session failed as `status`. Returns the failure that requests then
 * return. The first failure stays. */
ys_status ys_session_fail(struct ys_session *session, enum ys_run_status status, const char *format, ...)
    YS_PRINTF(3, 4);

/** One sample more, now: at the boundary of a phase. Nothing when sampling is off. */
void ys_session_look(struct ys_session *session);
/** Adds to `libraries` (array of strings) what the processes of the tree have mapped (probe/mapped_libraries.h). Never
 * while timing. */
ys_status ys_session_libraries(struct ys_session *session, ys_json *libraries) YS_MUST_CHECK;

/** Adds the files that the processes of the tree have mapped, but for those below its folder `but` and `others`
 * (probe/mapped_files.h). Never while timing. */
ys_status ys_session_mapped(struct ys_session *session, const char *but, const char *const *others,
                            struct ys_mapped_files *files) YS_MUST_CHECK;

/** At the end of a phase, never while timing: what its processes share (session/observe.h). */
void ys_session_phase(struct ys_session *session);

/** Processor time of the tree so far, in seconds; 0 where it is neither sampled nor in a control group. Never while
 * timing. */
double ys_session_cpu_s(struct ys_session *session);

/** The same as it was last looked at, which ys_session_pause() and ys_session_resume() do. */
double ys_session_seen_cpu_s(const struct ys_session *session);
/** For how long its threads were ready and had no CPU, summed, as last looked at; 0 where the kernel does not count it.
 */
double ys_session_seen_wait_s(const struct ys_session *session);

/** What they held in memory when they were last sampled; 0: they were not. */
uint64_t ys_session_seen_rss_bytes(const struct ys_session *session);

/** Says that what its processes do from now on is of another phase, where `perf` was asked for. */
void ys_session_profile(struct ys_session *session, enum ys_profile_phase phase);

/** What went through the network interfaces that the adapter's process has. Never while timing. */
void ys_session_interfaces(const struct ys_session *session, struct ys_interfaces *seen);

/** What the tree's threads do from now on is work. Never while timing. */
void ys_session_mark_threads(struct ys_session *session);
/** Who did the work since then (probe/thread_count.h). Never while timing. */
struct ys_threads_worked ys_session_threads(struct ys_session *session);

/** How many threads of the tree may run on other CPUs than those that it was started on; 0 where it was given none.
 * Never while timing. */
size_t ys_session_astray(struct ys_session *session);

/** Others have their turn: nothing is asked of it and its tree is not sampled until ys_session_resume(), and none of
 * its limits counts that time. With `holds` its processes are kept from running, and this waits until they are; a tree
 * that begins processes all the time without a control group is held as far as it can be. Never while it is busy. */
void ys_session_pause(struct ys_session *session, bool holds);
/** Its turn has come. Adds what it did meanwhile to what ys_session_waited() says; *cpu_ns: processor time that it used
 * while it waited; of one that was held too up to a tick (at most 10 ms) a thread, which the kernel counts late. Of one
 * that does not wait it does nothing, and says 0. ys_session_bye() does it too. */
void ys_session_resume(struct ys_session *session, uint64_t *cpu_ns);

/** Begins to end it: `bye` and patience when all was well or the adapter answered with an error; then, or at once after
 * any other failure, SIGKILL for everything that is left, and waits for all of it. It is busy until that is done. */
void ys_session_bye(struct ys_session *session);

/** Ends it, unless ys_session_bye() has begun that, waits for the end and frees it. NULL is fine. `end` (may be NULL)
 * must be freed with ys_session_end_fini(). */
void ys_session_close(struct ys_session *session, struct ys_session_end *end);

#endif
