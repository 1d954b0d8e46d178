/* A session that waits while others have their turn. What it is to leave alone meanwhile is the processors: frozen with
 * its control group where it has one that can be, else stopped by signals, which a process that waits for another with
 * WUNTRACED would notice. */
#include "base/clock.h"
#include "probe/procfs.h"
#include "probe/thread_count.h"
#include "session/session_internal.h"
#include <signal.h>
#include <time.h>

static const char *const hold_words[] = {
    [YS_HOLD_NONE] = "none", [YS_HOLD_GROUP] = "group", [YS_HOLD_SIGNALS] = "signals"};
const struct ys_names ys_holds = YS_NAMES("way to keep processes from running", hold_words);

static const uint64_t STOP_PATIENCE_NS = 1000000000; /* one that waits for a device stops later */

/** Processor time of its tree, and how long its threads waited for a processor, without a sample: a tree that is
 * stopped is none. */
static uint64_t look_at_cpu(struct ys_session *session)
{
    struct ys_tree_sample sample;
    ys_observe_sample(&session->observe);
    if (ys_tree_look(session->tree, &sample) == YS_OK) {
        session->sampled_cpu_ns = sample.cpu_ns;
        session->sampled_wait_ns = sample.wait_ns;
    }
    return (uint64_t)(ys_session_seen_cpu_s(session) * 1e9);
}

/** Sends it to all that have not ended; how many threads of them are not stopped yet. */
static size_t signal_all(struct ys_session *session, int number)
{
    const struct ys_tree_member *members;
    size_t count, running = 0;
    if (ys_tree_list(session->tree, &members, &count) != YS_OK)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const size_t threads = members[i].state == 'Z' ? 0 : ys_threads_running(ys_procfs_root(), members[i].pid);
        if (members[i].pid > 1 && members[i].state != 'Z' && (threads > 0 || number == SIGCONT))
            kill(members[i].pid, number);
        running += threads;
    }
    return running;
}

/** A stopped process begins no other, so that in the end all are found. They stop when a processor has time for it. */
static void stop_all(struct ys_session *session)
{
    const struct timespec pause = {.tv_nsec = 100000};
    const uint64_t until_ns = ys_time_ns() + STOP_PATIENCE_NS;
    while (signal_all(session, SIGSTOP) > 0 && ys_time_ns() < until_ns)
        nanosleep(&pause, NULL);
}

static enum ys_hold hold(struct ys_session *session)
{
    struct ys_group *group = session->observe.group;
    if (group && ys_group_can_kill(group)) {
        (void)!ys_group_freeze(group, true); /* what is not frozen in time will be */
        return YS_HOLD_GROUP;
    }
    stop_all(session);
    return YS_HOLD_SIGNALS;
}

static void let_go(struct ys_session *session)
{
    if (session->end.waited.hold == YS_HOLD_GROUP)
        (void)!ys_group_freeze(session->observe.group, false);
    else if (session->end.waited.hold == YS_HOLD_SIGNALS)
        (void)signal_all(session, SIGCONT);
}

void ys_session_pause(struct ys_session *session, bool holds)
{
    if (session->is_paused || session->process.pid <= 0 || session->state > YS_SESSION_ASKED)
        return;
    session->paused_ns = ys_time_ns();
    session->end.waited.hold = holds ? hold(session) : YS_HOLD_NONE;
    session->paused_cpu_ns = look_at_cpu(session);
    session->is_paused = true;
}

void ys_session_resume(struct ys_session *session, uint64_t *cpu_ns)
{
    uint64_t used_ns = 0;
    if (session->is_paused) {
        const uint64_t seen_ns = look_at_cpu(session);
        used_ns = seen_ns > session->paused_cpu_ns ? seen_ns - session->paused_cpu_ns : 0;
        let_go(session);
        const uint64_t span_ns = ys_time_ns() - session->paused_ns;
        session->end.waited.waited_ns += span_ns;
        session->end.waited.cpu_ns += used_ns;
        if (session->wall_limit_ns != UINT64_MAX)
            session->wall_limit_ns += span_ns;
        session->heard_ns += span_ns;
        session->next_sample_ns += span_ns;
        session->sampled_ns = 0; /* what lies between two samples is none of its own time */
        session->is_paused = false;
    }
    if (cpu_ns)
        *cpu_ns = used_ns;
}
