/* How a session fails, and how it ends. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "run/session_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What ends by itself once the adapter has (helpers that see their pipe close) gets this long, then it is killed. */
static const uint64_t LEFTOVER_GRACE_NS = 250000000;
/* A process in an uninterruptible wait cannot be killed; after this it is given up. */
static const uint64_t KILL_PATIENCE_NS = 20000000000;
/* CPU time that samples show and the kernel's account lacks is worth words from here on: above what ticks blur. */
static const uint64_t UNWAITED_MIN_NS = 100000000;

const char *ys_session_error_word(const char *text)
{
    static const char *const words[] = {"unsupported",  "missing",       "build_failed",   "load_failed",
                                        "crashed",      "killed",        "oom_host",       "oom_device",
                                        "timeout_wall", "timeout_cpu",   "stalled",        "diverged",
                                        "wrong_output", "not_converged", "protocol_error", "cancelled"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], text) == 0)
            return words[i];
    return NULL;
}

ys_status ys_session_set_failure(struct ys_session *session, ys_status failure, const char *status, char *message_taken)
{
    if (session->has_failed) {
        ys_free(message_taken);
        return session->failure;
    }
    session->has_failed = true;
    session->failure = failure;
    session->end.status = status;
    session->end.message = message_taken;
    return ys_fail(failure, "%s", message_taken ? message_taken : "out of memory");
}

static ys_status code_of(const char *status)
{
    static const struct {
        const char *word;
        ys_status code;
    } codes[] = {
        {"stalled", YS_ETIMEOUT},         {"timeout_wall", YS_ETIMEOUT},    {"timeout_cpu", YS_ETIMEOUT},
        {"unsupported", YS_EUNSUPPORTED}, {"protocol_error", YS_EPROTOCOL},
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(codes[i].word, status) == 0)
            return codes[i].code;
    return YS_EIO;
}

ys_status ys_session_fail(struct ys_session *session, const char *status, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ys_session_set_failure(session, code_of(status), status, ys_strdup(text));
}

void ys_session_warn(struct ys_session *session, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ys_json_append(session->end.warnings, ys_json_string(text));
}

ys_status ys_session_ended_early(struct ys_session *session)
{
    const char *program = session->program;
    int value = session->ended_value;
    if (session->ended_code == CLD_EXITED && value == 0)
        return ys_session_fail(session, "protocol_error", "%s ended (exit code 0) without an answer", program);
    if (session->ended_code == CLD_EXITED)
        return ys_session_fail(session, "crashed", "%s ended with exit code %d", program, value);
    if (value != SIGKILL)
        return ys_session_fail(session, "crashed", "%s was ended by signal %d (%s)", program, value, strsignal(value));
    struct ys_host_counters now;
    ys_host_count(&now);
    if (session->before.oom_kills >= 0 && now.oom_kills > session->before.oom_kills)
        return ys_session_fail(session, "oom_host",
                               "%s was killed, and the kernel killed processes for want of memory meanwhile", program);
    return ys_session_fail(session, "killed", "%s was killed (signal 9) by something else than yardstick", program);
}

static void book(struct ys_session *session, const struct rusage *usage)
{
    struct ys_session_end *end = &session->end;
    end->user_ns += (uint64_t)usage->ru_utime.tv_sec * 1000000000U + (uint64_t)usage->ru_utime.tv_usec * 1000U;
    end->system_ns += (uint64_t)usage->ru_stime.tv_sec * 1000000000U + (uint64_t)usage->ru_stime.tv_usec * 1000U;
    end->voluntary_switches += (uint64_t)usage->ru_nvcsw;
    end->involuntary_switches += (uint64_t)usage->ru_nivcsw;
    uint64_t peak_bytes = (uint64_t)usage->ru_maxrss * 1024;
    if (peak_bytes > end->peak.process_bytes)
        end->peak.process_bytes = peak_bytes;
    if (peak_bytes > end->peak.rss_bytes)
        end->peak.rss_bytes = peak_bytes;
}

/** Waits for every ended process among `members` that is ours to wait for. Returns how many members are left. */
static size_t reap_ended(struct ys_session *session, const struct ys_tree_member *members, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        struct rusage usage;
        if (members[i].parent == getpid() && wait4(members[i].pid, NULL, WNOHANG, &usage) == members[i].pid)
            book(session, &usage);
        else
            left++;
    }
    return left;
}

/** Lists the tree, waits for what has ended, kills the rest when `is_deadly`. Returns how many processes are left. */
static size_t sweep(struct ys_session *session, bool is_deadly, size_t *killed)
{
    const struct ys_tree_member *members;
    size_t count = 0;
    if (ys_tree_list(session->tree, &members, &count) != YS_OK)
        return 1; /* no memory at the moment: try again */
    for (size_t i = 0; is_deadly && i < count; i++)
        if (members[i].state != 'Z' && kill(members[i].pid, SIGKILL) == 0)
            ++*killed;
    return reap_ended(session, members, count);
}

static void pause_ns(uint64_t span_ns)
{
    struct timespec span = {.tv_nsec = (long)span_ns};
    nanosleep(&span, NULL);
}

/** Sweeps until nothing is left or `until_ns` has passed; false in the latter case. */
static bool sweep_until(struct ys_session *session, uint64_t until_ns, bool is_deadly, size_t *killed)
{
    for (uint64_t span_ns = 200000;; span_ns = span_ns < 10000000 ? 2 * span_ns : span_ns) {
        /* Reaping can make orphans ours, so only a look that finds nobody at all ends it. */
        size_t before = *killed;
        if (sweep(session, is_deadly, killed) == 0 && sweep(session, is_deadly, killed) == 0 && *killed == before)
            return true;
        if (session->has_log)
            ys_log_file_drain(&session->log);
        if (ys_time_ns() >= until_ns)
            return false;
        pause_ns(span_ns);
    }
}

static size_t count_living(struct ys_session *session)
{
    const struct ys_tree_member *members;
    size_t count = 0, living = 0;
    (void)!ys_tree_list(session->tree, &members, &count);
    for (size_t i = 0; i < count; i++)
        living += members[i].state != 'Z';
    return living;
}

void ys_session_reap(struct ys_session *session)
{
    size_t killed = 0;
    bool is_gone = false;
    if (!session->has_failed || session->is_obedient)
        is_gone = sweep_until(session, ys_time_ns() + LEFTOVER_GRACE_NS, false, &killed);
    if (!is_gone) {
        size_t left = session->has_ended ? count_living(session) : 0;
        if (left > 0)
            ys_session_warn(session, "%zu process%s left behind by %s and killed", left, left == 1 ? " was" : "es were",
                            session->program);
        is_gone = sweep_until(session, ys_time_ns() + KILL_PATIENCE_NS, true, &killed);
    }
    if (!is_gone)
        ys_session_warn(session, "processes of %s are left that could not be killed", session->program);
}

/** Says `bye` and waits for the adapter to end. */
static void part(struct ys_session *session)
{
    double grace_s = session->launch.stop_grace_s > 0 ? session->launch.stop_grace_s : YS_STOP_GRACE_S;
    ys_json *bye = ys_json_object(), *ignored;
    ys_json_set_string(bye, "type", "bye");
    ys_session_look(session);
    if (!session->has_failed)
        snprintf(session->end.stage, sizeof session->end.stage, "stop");
    session->end.bye_ns = ys_time_ns();
    (void)!ys_channel_send(session->channel, bye); /* an adapter that has gone already shows below */
    ys_json_free(bye);
    uint64_t until_ns = session->end.bye_ns + (uint64_t)(grace_s * 1e9);
    while (!ys_session_check_ended(session) && ys_time_ns() < until_ns && !(session->has_failed && ys_stop_signal()))
        ys_session_wait(session, until_ns, false, session->has_failed);
    if (session->has_failed)
        return;
    while (ys_channel_receive(session->channel, 0, &ignored) == YS_OK)
        ys_json_free(ignored);
    if (!session->has_ended)
        ys_session_fail(session, "stalled", "%s had not ended %g s after bye and was killed", session->program,
                        grace_s);
    else if (session->ended_code != CLD_EXITED || session->ended_value != 0)
        ys_session_ended_early(session);
}

static void note_log(struct ys_session *session)
{
    for (int i = 0; i < 64 && session->log.pipe_fd >= 0; i++)
        ys_log_file_drain(&session->log); /* everybody has gone: what is left is in the pipe, 64 KiB as a rule */
    if (session->log.dropped > 0)
        ys_session_warn(session, "the log of %s is cut at %zu bytes: %" PRIu64 " more were printed and dropped",
                        session->program, session->log.limit, session->log.dropped);
    session->end.log_tail = ys_log_file_tail(&session->log);
    ys_log_file_close(&session->log);
}

static void note_end(struct ys_session *session)
{
    struct ys_session_end *end = &session->end;
    end->end_ns = ys_time_ns();
    if (!end->status)
        end->status = "ok";
    if (session->has_ended && session->ended_code == CLD_EXITED)
        end->exit_code = session->ended_value;
    else if (session->has_ended)
        end->signal = session->ended_value;
    const struct ys_tree_peak *sampled = ys_tree_peak(session->tree);
    struct ys_tree_peak waited = end->peak;
    char span[32];
    end->peak = *sampled;
    if (waited.process_bytes > end->peak.process_bytes)
        end->peak.process_bytes = waited.process_bytes;
    if (waited.rss_bytes > end->peak.rss_bytes)
        end->peak.rss_bytes = waited.rss_bytes;
    uint64_t waited_ns = end->user_ns + end->system_ns;
    if (session->sampled_cpu_ns > waited_ns + UNWAITED_MIN_NS) {
        end->unwaited_ns = session->sampled_cpu_ns - waited_ns;
        ys_session_warn(session,
                        "at least %s of processor time were used by processes that nobody waited for; they are missing "
                        "in the total",
                        ys_span_text((double)end->unwaited_ns * 1e-9, span, sizeof span));
    }
}

static void free_session(struct ys_session *session)
{
    ys_channel_close(session->channel);
    if (session->process.channel_fd >= 0)
        close(session->process.channel_fd);
    if (session->process.pid_fd >= 0)
        close(session->process.pid_fd);
    if (!session->has_log && session->process.log_fd >= 0)
        close(session->process.log_fd);
    ys_tree_close(session->tree);
    if (session->temporary && ys_fs_remove_tree(session->temporary) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_free(session->temporary);
    ys_free(session->program);
    ys_free(session);
}

void ys_session_close(struct ys_session *session, struct ys_session_end *end)
{
    if (!session) {
        if (end)
            *end = (struct ys_session_end){.exit_code = -1};
        return;
    }
    if (session->process.pid > 0) {
        bool is_welcome = !session->has_failed || session->is_obedient;
        if (is_welcome && !ys_session_check_ended(session))
            part(session);
        else if (!session->has_failed)
            ys_session_ended_early(session);
        else
            ys_session_look(session);
        ys_session_check_ended(session);
        ys_session_reap(session);
        /* Killed by the sweep: how it ended is known only now, and is ours to say. */
        if (!session->has_ended) {
            session->has_ended = true;
            session->ended_code = CLD_KILLED;
            session->ended_value = SIGKILL;
        }
    }
    if (session->has_log)
        note_log(session);
    if (session->tree && session->end.warnings)
        note_end(session);
    if (end)
        *end = session->end;
    else
        ys_session_end_fini(&session->end);
    free_session(session);
}

void ys_session_end_fini(struct ys_session_end *end)
{
    ys_free(end->message);
    ys_free(end->log_tail);
    ys_json_free(end->warnings);
    ys_json_free(end->hello);
    *end = (struct ys_session_end){.exit_code = -1};
}
