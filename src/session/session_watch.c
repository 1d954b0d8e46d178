/* The one loop of all sessions: what they do while they wait, and that they sleep together. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "probe/mapped_libraries.h"
#include "probe/procfs.h"
#include "probe/thread_count.h"
#include "session/session_internal.h"
#include <poll.h>

/* A sleep is no longer than this, so that it shows from when on yardstick was stopped. */
static const uint64_t LONGEST_SLEEP_NS = 250000000;
/* Later than this after the time at which it meant to wake, yardstick was stopped, if it was also told to continue;
 * else (a frozen container, a machine that slept) after the longer one, which no busy machine reaches. */
static const uint64_t CONTINUED_SLACK_NS = 20000000, STOPPED_SLACK_NS = 2000000000;

enum {
    GROUP_PERIOD = 5,          /* samples between two looks at the control group of a run whose memory stays as it is */
    LEAST_MOVE_BYTES = 1 << 20 /* what counts as a change of that */
};

/* Between two drainings of the rings of samples, which hold some hundred times as much. */
static const uint64_t DRAIN_PERIOD_NS = 200000000;

static void add(struct ys_session *session, const char *name, uint64_t value)
{
    ys_series_add_int(session->launch.samples, name, (int64_t)value);
}

/** Its control group costs a third of a sample, and what it adds to the tree changes with the resident memory, or is
 * page cache and kills, which can be half a second old. */
static bool is_group_due(struct ys_session *session, uint64_t rss_bytes)
{
    const uint64_t before_bytes = session->grouped_rss_bytes;
    const uint64_t moved_bytes = rss_bytes > before_bytes ? rss_bytes - before_bytes : before_bytes - rss_bytes;
    if (session->group_in-- > 0 && moved_bytes <= LEAST_MOVE_BYTES)
        return false;
    session->group_in = GROUP_PERIOD - 1;
    session->grouped_rss_bytes = rss_bytes;
    return true;
}

static void take_sample(struct ys_session *session)
{
    struct ys_tree_sample sample;
    if (ys_tree_look(session->tree, &sample) != YS_OK)
        return;
    if (session->launch.cpu_time_limit_s > 0 || is_group_due(session, sample.rss_bytes))
        ys_observe_sample(&session->observe);
    session->sampled_cpu_ns = sample.cpu_ns;
    session->sampled_rss_bytes = sample.rss_bytes;
    session->sampled_wait_ns = sample.wait_ns;
    if (sample.stopped > 0 && session->sampled_ns)
        session->held_ns += sample.t_ns - session->sampled_ns;
    session->sampled_ns = sample.t_ns;
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
    if (rows)
        ys_series_add_rank(session->launch.samples, "sample_rank", rows->count - 1, session->launch.rank);
}

void ys_session_look(struct ys_session *session)
{
    if (session->period_ns && !session->process.has_ended)
        take_sample(session);
}

static void drain_if_due(struct ys_session *session)
{
    if (!session->perf || ys_time_ns() < session->next_drain_ns)
        return;
    ys_perf_drain(session->perf);
    session->next_drain_ns = ys_time_ns() + DRAIN_PERIOD_NS;
}

void ys_session_profile(struct ys_session *session, enum ys_profile_phase phase)
{
    ys_perf_begin(session->perf, phase);
}

static void sample_if_due(struct ys_session *session)
{
    uint64_t now_ns = ys_time_ns();
    if (now_ns < session->next_sample_ns)
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

/** Until it is ended by force. */
static bool is_sampled(const struct ys_session *session)
{
    const bool is_alive = session->state == YS_SESSION_LEAVING ||
                          (session->state <= YS_SESSION_ASKED && !session->has_failed && session->process.pid > 0);
    return is_alive && session->period_ns && !session->process.has_ended && !session->is_paused;
}

/** When something of it is due without anything happening. */
static uint64_t next_due(const struct ys_session *session)
{
    uint64_t until_ns = UINT64_MAX;
    switch (session->state) {
    case YS_SESSION_IDLE:
    case YS_SESSION_ASKED:
        if (session->has_failed || session->process.pid <= 0)
            return UINT64_MAX;
        until_ns = ys_session_next_limit(session);
        break;
    case YS_SESSION_LEAVING:
    case YS_SESSION_REAPED:
    case YS_SESSION_LOST:
        until_ns = ys_session_next_of_end(session);
        break;
    case YS_SESSION_ENDED:
        return UINT64_MAX;
    }
    return is_sampled(session) && session->next_sample_ns < until_ns ? session->next_sample_ns : until_ns;
}

/** Whether the user's wish to stop would change what it does. Once it has, nothing may wake for it again. */
static bool heeds_stop(const struct ys_session *session)
{
    if (session->state == YS_SESSION_LEAVING)
        return session->has_failed;
    return session->state <= YS_SESSION_ASKED && !session->has_failed && session->process.pid > 0;
}

enum { CHANNEL, NOTES, LOG, SOURCES };

static void watch(const struct ys_session *session, struct pollfd sources[SOURCES])
{
    const bool is_asked = session->state == YS_SESSION_ASKED && !session->has_failed;
    const bool is_read = is_asked && !session->is_silenced;
    const bool is_sent = session->unsent_size > 0 && (is_asked || session->state == YS_SESSION_LEAVING);
    const short events = (short)((is_read ? POLLIN : 0) | (is_sent ? POLLOUT : 0));
    for (int i = 0; i < SOURCES; i++)
        sources[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (session->state == YS_SESSION_ENDED)
        return;
    sources[CHANNEL] = (struct pollfd){.fd = events ? session->process.channel_fd : -1, .events = events};
    if (!session->process.is_lost && (!session->process.has_ended || session->has_ordered))
        sources[NOTES].fd = session->process.note_fd;
    if (session->has_log)
        sources[LOG].fd = session->log.pipe_fd;
}

static void sleep_all(struct ys_session *const *sessions, size_t count, uint64_t until_ns, int beside_fd)
{
    struct pollfd sources[SOURCES * YS_SESSIONS_MOST + 2];
    bool is_stop_heeded = false;
    uint64_t now_ns = ys_time_ns();
    for (size_t i = 0; i < count; i++) {
        const uint64_t due_ns = next_due(sessions[i]);
        until_ns = due_ns < until_ns ? due_ns : until_ns;
        is_stop_heeded = is_stop_heeded || heeds_stop(sessions[i]);
        watch(sessions[i], &sources[SOURCES * i]);
    }
    sources[SOURCES * count] = (struct pollfd){.fd = is_stop_heeded ? ys_stop_fd() : -1, .events = POLLIN};
    sources[SOURCES * count + 1] = (struct pollfd){.fd = beside_fd, .events = POLLIN};
    if (until_ns > now_ns + LONGEST_SLEEP_NS)
        until_ns = now_ns + LONGEST_SLEEP_NS;
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000U), .tv_nsec = (long)(left_ns % 1000000000U)};
    for (size_t i = 0; i < count; i++) {
        ys_session_wake(sessions[i]);
        sessions[i]->wake_ns = now_ns + left_ns;
    }
    ppoll(sources, SOURCES * count + 2, &left, NULL);
    for (size_t i = 0; i < count; i++) {
        look_for_stop(sessions[i]);
        sessions[i]->has_printed = sources[SOURCES * i + LOG].revents != 0;
    }
}

/** One step of it, without waiting. True when it is busy no more, or has failed, by this. */
static bool go_on(struct ys_session *session)
{
    const bool was_busy = ys_session_is_busy(session), had_failed = session->has_failed;
    if (session->state <= YS_SESSION_ASKED)
        ys_session_attend(session);
    else
        ys_session_go_on_ending(session);
    return was_busy != ys_session_is_busy(session) || (session->has_failed && !had_failed);
}

static void keep_up(struct ys_session *session)
{
    if (session->has_printed)
        ys_log_file_drain(&session->log);
    session->has_printed = false;
    if (is_sampled(session))
        sample_if_due(session);
    drain_if_due(session);
}

void ys_session_turn(struct ys_session *const *sessions, size_t count, uint64_t until_ns)
{
    ys_session_turn_beside(sessions, count, until_ns, -1);
}

void ys_session_turn_beside(struct ys_session *const *sessions, size_t count, uint64_t until_ns, int beside_fd)
{
    struct ys_session *living[YS_SESSIONS_MOST];
    size_t living_count = 0;
    bool is_news = false;
    YS_ASSERT(count <= YS_SESSIONS_MOST);
    for (size_t i = 0; i < count; i++)
        if (sessions[i] && sessions[i]->state != YS_SESSION_ENDED)
            living[living_count++] = sessions[i];
    /* All messages first: samples, which take longer, do not make the times at which the others are received late. */
    for (size_t i = 0; i < living_count; i++)
        is_news = go_on(living[i]) || is_news;
    if (is_news)
        return;
    for (size_t i = 0; i < living_count; i++)
        keep_up(living[i]);
    sleep_all(living, living_count, until_ns, beside_fd);
    if (living_count > 0 && living[0]->launch.on_turn)
        living[0]->launch.on_turn(living[0]->launch.turn_context);
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
    ys_observe_sample(&session->observe);
    return ys_session_seen_cpu_s(session);
}

double ys_session_seen_cpu_s(const struct ys_session *session)
{
    const struct ys_group_usage *usage = &session->observe.usage;
    uint64_t sampled_ns = session->sampled_cpu_ns;
    return (double)(usage->has_cpu && usage->cpu_ns > sampled_ns ? usage->cpu_ns : sampled_ns) * 1e-9;
}

double ys_session_seen_wait_s(const struct ys_session *session)
{
    return (double)session->sampled_wait_ns * 1e-9;
}

uint64_t ys_session_seen_rss_bytes(const struct ys_session *session)
{
    return session->sampled_rss_bytes;
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

ys_status ys_session_mapped(struct ys_session *session, const char *but, const char *const *others,
                            struct ys_mapped_files *files)
{
    const struct ys_tree_member *members;
    size_t count;
    YS_TRY(ys_tree_list(session->tree, &members, &count));
    for (size_t i = 0; i < count; i++) {
        ys_status status = ys_mapped_files_add(files, ys_procfs_root(), members[i].pid, but, others);
        if (status != YS_OK && status != YS_ENOTFOUND)
            return status;
    }
    return YS_OK;
}

void ys_session_interfaces(const struct ys_session *session, struct ys_interfaces *seen)
{
    ys_interfaces_of(ys_procfs_root(), session->process.pid, seen);
}

static ys_status note_threads(struct ys_session *session, struct ys_thread_uses *uses)
{
    const struct ys_tree_member *members;
    size_t count = 0;
    YS_TRY(ys_tree_list(session->tree, &members, &count));
    for (size_t i = 0; i < count; i++)
        ys_threads_note(ys_procfs_root(), members[i].pid, uses);
    return YS_OK;
}

void ys_session_mark_threads(struct ys_session *session)
{
    ys_threads_fini(&session->threads);
    (void)!note_threads(session, &session->threads); /* what cannot be seen is not known */
}

struct ys_threads_worked ys_session_threads(struct ys_session *session)
{
    struct ys_thread_uses now = {0};
    struct ys_threads_worked worked = {0};
    if (note_threads(session, &now) == YS_OK)
        worked = ys_threads_worked(ys_procfs_root(), &session->threads, &now);
    ys_threads_fini(&now);
    return worked;
}

size_t ys_session_astray(struct ys_session *session)
{
    const struct ys_tree_member *members;
    size_t count = 0, astray = 0;
    if (!session->cpus || ys_tree_list(session->tree, &members, &count) != YS_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        astray += ys_threads_astray(ys_procfs_root(), members[i].pid, session->cpus, session->launch.cpu_count);
    return astray;
}
