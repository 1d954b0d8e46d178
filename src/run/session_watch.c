/* What a session does while it waits: sleep, drain, sample. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "probe/maps.h"
#include "probe/procfs.h"
#include "probe/threads.h"
#include "run/session_internal.h"
#include <poll.h>

/* A sleep is no longer than this, so that it shows from when on yardstick was stopped. */
static const uint64_t LONGEST_SLEEP_NS = 250000000;
/* Later than this after the time at which it meant to wake, yardstick was stopped, if it was also told to continue;
 * else (a frozen container, a machine that slept) after the longer one, which no busy machine reaches. */
static const uint64_t CONTINUED_SLACK_NS = 20000000, STOPPED_SLACK_NS = 2000000000;

static void add(struct ys_session *session, const char *name, uint64_t value)
{
    if (ys_series_add_int(session->launch.samples, name, (int64_t)value) != YS_OK)
        session->launch.samples = NULL; /* out of memory: the series end here, all at the same length but for one */
}

static void take_sample(struct ys_session *session)
{
    struct ys_tree_sample sample;
    if (ys_tree_look(session->tree, &sample) != YS_OK)
        return;
    ys_observe_look(&session->observe);
    session->sampled_cpu_ns = sample.cpu_ns;
    session->sampled_rss_bytes = sample.rss_bytes;
    const struct {
        const char *name;
        uint64_t value;
    } columns[] = {
        {"sample_t_ns", sample.t_ns},           {"sample_cpu_ns", sample.cpu_ns},
        {"sample_rss_bytes", sample.rss_bytes}, {"sample_threads", sample.threads},
        {"sample_processes", sample.processes}, {"sample_switches", sample.switches},
    };
    for (size_t i = 0; session->launch.samples && i < sizeof columns / sizeof columns[0]; i++)
        add(session, columns[i].name, columns[i].value);
    const struct ys_series *rows =
        session->launch.samples ? ys_series_find(session->launch.samples, "sample_t_ns") : NULL;
    if (rows &&
        ys_series_add_rank(session->launch.samples, "sample_rank", rows->count - 1, session->launch.rank) != YS_OK)
        session->launch.samples = NULL;
}

void ys_session_look(struct ys_session *session)
{
    if (session->period_ns && !session->process.has_ended)
        take_sample(session);
}

static void sample_if_due(struct ys_session *session)
{
    uint64_t now_ns = ys_time_ns();
    if (!session->period_ns || session->process.has_ended || now_ns < session->next_sample_ns)
        return;
    uint64_t late_ns = now_ns - session->next_sample_ns;
    if (late_ns > session->end.lateness_max_ns)
        session->end.lateness_max_ns = late_ns;
    take_sample(session);
    /* The grid stays where it is; points that were missed are left out. */
    session->next_sample_ns += (late_ns / session->period_ns + 1) * session->period_ns;
}

bool ys_session_check_ended(struct ys_session *session)
{
    ys_keeper_listen(&session->process);
    return session->process.has_ended;
}

/** Notes that yardstick itself did not run for a time: it was stopped (Ctrl-Z, SIGSTOP), or the machine was. The
 * adapter worked on meanwhile and is not to blame for what yardstick did not hear. */
static void look_for_stop(struct ys_session *session)
{
    uint64_t now_ns = ys_time_ns(), stopped_ns = 0;
    int continued = ys_stop_continued();
    if (continued != session->continued && now_ns > session->wake_ns + CONTINUED_SLACK_NS)
        stopped_ns = now_ns - session->awake_ns;
    else if (now_ns > session->wake_ns + STOPPED_SLACK_NS)
        stopped_ns = now_ns - session->wake_ns;
    session->end.stopped_ns += stopped_ns;
    session->heard_ns += stopped_ns;
    session->continued = continued;
    session->awake_ns = session->wake_ns = now_ns;
}

void ys_session_wake(struct ys_session *session)
{
    if (ys_stop_continued() != session->continued)
        look_for_stop(session);
    session->awake_ns = session->wake_ns = ys_time_ns();
}

void ys_session_wait(struct ys_session *session, uint64_t until_ns, bool watch_channel, bool watch_stop)
{
    bool is_watched = watch_channel && !session->is_silenced;
    struct pollfd sources[] = {
        {.fd = is_watched ? session->process.channel_fd : -1, .events = POLLIN},
        {.fd = session->process.has_ended ? -1 : session->process.note_fd, .events = POLLIN},
        {.fd = session->log.pipe_fd, .events = POLLIN},
        {.fd = watch_stop ? ys_stop_fd() : -1, .events = POLLIN},
    };
    look_for_stop(session);
    uint64_t now_ns = session->awake_ns;
    if (session->period_ns && !session->process.has_ended && session->next_sample_ns < until_ns)
        until_ns = session->next_sample_ns;
    if (until_ns > now_ns + LONGEST_SLEEP_NS)
        until_ns = now_ns + LONGEST_SLEEP_NS;
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000U), .tv_nsec = (long)(left_ns % 1000000000U)};
    session->wake_ns = now_ns + left_ns;
    ppoll(sources, sizeof sources / sizeof sources[0], &left, NULL);
    look_for_stop(session);
    if (sources[2].revents)
        ys_log_file_drain(&session->log);
    if (sources[1].revents)
        ys_session_check_ended(session);
    sample_if_due(session);
}

void ys_session_phase(struct ys_session *session)
{
    const struct ys_tree_member *members;
    size_t count;
    if (ys_tree_list(session->tree, &members, &count) == YS_OK)
        ys_observe_phase(&session->observe, members, count);
}

double ys_session_cpu_s(struct ys_session *session)
{
    ys_session_look(session);
    ys_observe_look(&session->observe);
    return ys_session_seen_cpu_s(session);
}

double ys_session_seen_cpu_s(const struct ys_session *session)
{
    const struct ys_group_usage *usage = &session->observe.seen.usage;
    uint64_t sampled_ns = session->sampled_cpu_ns;
    return (double)(usage->has_cpu && usage->cpu_ns > sampled_ns ? usage->cpu_ns : sampled_ns) * 1e-9;
}

ys_status ys_session_libraries(struct ys_session *session, ys_json *libraries)
{
    const struct ys_tree_member *members;
    size_t count;
    YS_TRY(ys_tree_list(session->tree, &members, &count));
    for (size_t i = 0; i < count; i++) {
        ys_status status = ys_maps_libraries(ys_procfs_root(), members[i].pid, libraries);
        if (status != YS_OK && status != YS_ENOTFOUND) /* one that has just ended is no failure */
            return status;
    }
    return YS_OK;
}

double ys_session_threads(struct ys_session *session)
{
    const struct ys_tree_member *members;
    struct ys_thread_share share = {0};
    size_t count = 0;
    if (ys_tree_list(session->tree, &members, &count) != YS_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        ys_threads_add(ys_procfs_root(), members[i].pid, &share);
    return ys_threads_count(&share);
}
