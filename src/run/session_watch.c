/* What a session does while it waits: sleep, drain, sample. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "probe/maps.h"
#include "probe/procfs.h"
#include "probe/threads.h"
#include "run/session_internal.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

/* Without a descriptor that announces the end of a process (kernels before 5.3) it is asked for this often. */
static const uint64_t TICK_NS = 20000000;

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
}

void ys_session_look(struct ys_session *session)
{
    if (session->period_ns && !session->has_ended)
        take_sample(session);
}

static void sample_if_due(struct ys_session *session)
{
    uint64_t now_ns = ys_time_ns();
    if (!session->period_ns || session->has_ended || now_ns < session->next_sample_ns)
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
    siginfo_t info = {0};
    if (session->has_ended)
        return true;
    if (waitid(P_PID, (id_t)session->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        session->has_ended = true;
        session->ended_code = info.si_code;
        session->ended_value = info.si_status;
    }
    return session->has_ended;
}

void ys_session_wait(struct ys_session *session, uint64_t until_ns, bool watch_channel, bool watch_stop)
{
    bool is_watched = watch_channel && !session->is_silenced;
    struct pollfd sources[] = {
        {.fd = is_watched ? session->process.channel_fd : -1, .events = POLLIN},
        {.fd = session->has_ended ? -1 : session->process.pid_fd, .events = POLLIN},
        {.fd = session->log.pipe_fd, .events = POLLIN},
        {.fd = watch_stop ? ys_stop_fd() : -1, .events = POLLIN},
    };
    uint64_t now_ns = ys_time_ns();
    if (session->period_ns && !session->has_ended && session->next_sample_ns < until_ns)
        until_ns = session->next_sample_ns;
    if (session->process.pid_fd < 0 && until_ns > now_ns + TICK_NS)
        until_ns = now_ns + TICK_NS;
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000U), .tv_nsec = (long)(left_ns % 1000000000U)};
    ppoll(sources, sizeof sources / sizeof sources[0], until_ns == UINT64_MAX ? NULL : &left, NULL);
    if (sources[2].revents)
        ys_log_file_drain(&session->log);
    if (sources[1].revents || session->process.pid_fd < 0)
        ys_session_check_ended(session);
    sample_if_due(session);
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
