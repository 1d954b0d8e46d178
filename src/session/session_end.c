/* How a session fails, and how it ends. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "base/stop.h"
#include "session/checked_message.h"
#include "session/session_internal.h"
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* What ends by itself once the adapter has (helpers that see their pipe close) gets this long, then it is killed. */
static const uint64_t LEFTOVER_GRACE_NS = 250000000;
/* A process in an uninterruptible wait cannot be killed; after this it is given up. */
static const uint64_t KILL_PATIENCE_NS = 20000000000;
/* The keeper answers an order in microseconds; after this it is given up. */
static const uint64_t KEEPER_PATIENCE_NS = 20000000000;
/* Between two orders to it, more and more; and between two looks at processes that lost theirs. */
static const uint64_t FIRST_PAUSE_NS = 200000, LONGEST_PAUSE_NS = 10000000, LOST_PAUSE_NS = 1000000;
/* CPU time that samples show and the kernel's account lacks is worth words from here on: above what ticks blur. */
static const uint64_t UNWAITED_MIN_NS = 100000000;

ys_status ys_session_set_failure(struct ys_session *session, ys_status failure, enum ys_run_status status,
                                 char *message_taken)
{
    if (session->has_failed) {
        ys_free(message_taken);
        return session->failure;
    }
    session->has_failed = true;
    session->failure = failure;
    session->end.failed_ns = ys_time_ns();
    session->end.status = status;
    session->end.message = message_taken;
    return ys_fail(failure, "%s", message_taken);
}

static ys_status code_of(enum ys_run_status status)
{
    if (status == YS_RUN_STALLED || status == YS_RUN_TIMEOUT_WALL || status == YS_RUN_TIMEOUT_CPU)
        return YS_ETIMEOUT;
    return status == YS_RUN_UNSUPPORTED ? YS_EUNSUPPORTED : status == YS_RUN_PROTOCOL_ERROR ? YS_EPROTOCOL : YS_EIO;
}

ys_status ys_session_fail(struct ys_session *session, enum ys_run_status status, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ys_session_set_failure(session, code_of(status), status, ys_strdup(text));
}

/** Adds a sentence to the end's warnings. */
static YS_PRINTF(2, 3) void add_warning(struct ys_session *session, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ys_json_append(session->end.warnings, ys_json_string(text));
}

ys_status ys_session_out_of_memory(struct ys_session *session)
{
    char limit[YS_SIZE_TEXT];
    uint64_t limit_bytes = session->launch.memory_limit_bytes;
    if (!limit_bytes)
        return ys_session_fail(session, YS_RUN_OOM_HOST,
                               "the kernel killed a process of %s for want of memory: a control group around "
                               "yardstick or the machine has no more",
                               session->program);
    return ys_session_fail(session, YS_RUN_OOM_HOST,
                           "its processes needed more than the %s of memory_limit: the kernel killed one",
                           ys_size_text(limit_bytes, limit));
}

ys_status ys_session_ended_early(struct ys_session *session)
{
    const char *program = session->program;
    int value = session->process.ended_value;
    ys_observe_look(&session->observe);
    if (session->observe.usage.oom_kills > 0) /* the keeper may be the one that was chosen */
        return ys_session_out_of_memory(session);
    if (session->process.is_lost)
        return ys_session_fail(session, YS_RUN_KILLED,
                               "the keeper of %s (yardstick-launch) was ended by something else than yardstick, and %s "
                               "with it",
                               program, program);
    if (session->process.ended_code == CLD_EXITED && value == 0)
        return ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "%s ended (exit code 0) without an answer", program);
    if (session->process.ended_code == CLD_EXITED)
        return ys_session_fail(session, YS_RUN_CRASHED, "%s ended with exit code %d", program, value);
    if (value != SIGKILL)
        return ys_session_fail(session, YS_RUN_CRASHED, "%s was ended by signal %d (%s)", program, value,
                               strsignal(value));
    if (session->kills_before >= 0 && ys_host_oom_kills() > session->kills_before)
        return ys_session_fail(session, YS_RUN_OOM_HOST,
                               "%s was killed, and the kernel killed processes for want of memory meanwhile", program);
    return ys_session_fail(session, YS_RUN_KILLED, "%s was killed (signal 9) by something else than yardstick",
                           program);
}

static void book(struct ys_session *session, const struct ys_launch_account *account)
{
    struct ys_session_end *end = &session->end;
    end->user_ns += account->user_ns;
    end->system_ns += account->system_ns;
    end->voluntary_switches += account->voluntary_switches;
    end->involuntary_switches += account->involuntary_switches;
    end->minor_faults += account->minor_faults;
    end->major_faults += account->major_faults;
    end->keeper_ns = account->keeper_ns;
    if (account->peak_bytes > end->peak.process_bytes)
        end->peak.process_bytes = account->peak_bytes;
    if (account->peak_bytes > end->peak.rss_bytes)
        end->peak.rss_bytes = account->peak_bytes;
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

static const struct ys_tree_peak *sampled_peak(const struct ys_session *session)
{
    static const struct ys_tree_peak none;
    return session->tree ? ys_tree_peak(session->tree) : &none;
}

/** The end is reached: nothing is waited for any more. */
static void end_here(struct ys_session *session, bool is_empty)
{
    if (!is_empty)
        add_warning(session, "processes of %s are left that could not be killed", session->program);
    ys_observe_ended(&session->observe, &session->process, sampled_peak(session),
                     is_empty ? session->end.warnings : NULL, &session->end.observed);
    if (session->perf) {
        ys_perf_read(session->perf, &session->end.perf.counts, &session->end.perf.in_kernel);
        session->end.perf.is_known = true;
    }
    session->end.end_ns = ys_time_ns(); /* that the keeper goes too is no part of the run */
    session->is_empty = is_empty;
    session->state = YS_SESSION_ENDED;
}

/** The keeper has been killed, and others have inherited what was below it. The adapter went with it; what of the rest
 * was seen in samples is known by open descriptors, which never come to mean another process. */
static void kill_known(struct ys_session *session)
{
    const struct ys_tree_member *members;
    size_t count = 0, living = 0;
    (void)!ys_tree_list(session->tree, &members, &count);
    for (size_t i = 0; i < count; i++)
        living += members[i].state != 'Z' && members[i].pid > 1 && kill(members[i].pid, SIGKILL) == 0;
    session->next_order_ns = ys_time_ns() + LOST_PAUSE_NS;
    if (living > 0 && ys_time_ns() < session->until_ns)
        return;
    add_warning(session, "processor time and memory of %s are not known in full: its keeper was killed",
                session->program);
    end_here(session, true);
}

static void lose_keeper(struct ys_session *session)
{
    session->state = YS_SESSION_LOST;
    session->until_ns = ys_time_ns() + LEFTOVER_GRACE_NS;
    kill_known(session);
}

/** Has the keeper wait for what has ended, and kill the rest where that is due. */
static void order(struct ys_session *session)
{
    ys_keeper_order(&session->process, session->is_deadly);
    session->has_ordered = true;
    session->ordered_ns = ys_time_ns();
}

static void reap_by_force(struct ys_session *session)
{
    size_t left = session->process.has_ended ? count_living(session) : 0;
    if (left > 0)
        add_warning(session, "%zu process%s left behind by %s and killed", left, left == 1 ? " was" : "es were",
                    session->program);
    if (session->observe.group)
        ys_group_kill(session->observe.group);
    session->is_deadly = true;
    session->until_ns = ys_time_ns() + KILL_PATIENCE_NS;
    session->pause_ns = FIRST_PAUSE_NS;
    order(session);
}

/** Has what is left of the tree killed, and every process of it waited for. */
static void reap(struct ys_session *session)
{
    session->state = YS_SESSION_REAPED;
    session->until_ns = ys_time_ns() + LEFTOVER_GRACE_NS;
    session->pause_ns = FIRST_PAUSE_NS;
    if (session->process.is_lost)
        lose_keeper(session);
    else if (session->has_failed && !session->is_obedient)
        reap_by_force(session);
    else
        order(session);
}

/** The keeper has said that there are processes left. */
static void reap_again(struct ys_session *session)
{
    const uint64_t now_ns = ys_time_ns();
    session->next_order_ns = now_ns + session->pause_ns;
    session->pause_ns = session->pause_ns < LONGEST_PAUSE_NS ? 2 * session->pause_ns : session->pause_ns;
    if (now_ns >= session->until_ns && session->is_deadly)
        end_here(session, false);
    else if (now_ns >= session->until_ns)
        reap_by_force(session);
}

static void go_on_reaping(struct ys_session *session)
{
    struct ys_launch_note note;
    if (!session->has_ordered) {
        if (ys_time_ns() >= session->next_order_ns)
            order(session);
        return;
    }
    while (session->has_ordered && ys_keeper_take(&session->process, &note)) {
        if (note.kind != YS_LAUNCH_REAPED)
            continue;
        session->has_ordered = false;
        book(session, &note.account);
        if (note.value == 0)
            end_here(session, true);
        else
            reap_again(session);
    }
    if (session->has_ordered && !session->process.is_lost && ys_time_ns() >= session->ordered_ns + KEEPER_PATIENCE_NS)
        ys_keeper_give_up(&session->process);
    if (session->process.is_lost)
        lose_keeper(session);
}

/** Nothing may have been said that nobody asked for. */
static void check_silence(struct ys_session *session)
{
    ys_json *message = NULL;
    ys_status status = session->is_silenced ? YS_ETIMEOUT : ys_channel_receive(session->channel, 0, &message);
    if (status == YS_OK)
        ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "a message \"%s\" where none was due",
                        ys_message_type(message));
    else if (status == YS_EPROTOCOL && !ys_channel_eof(session->channel))
        ys_session_set_failure(session, YS_EPROTOCOL, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
    ys_json_free(message);
}

/** Says `bye`; then the adapter has some time to end. */
static void say_bye(struct ys_session *session)
{
    double grace_s = session->launch.stop_grace_s > 0 ? session->launch.stop_grace_s : YS_STOP_GRACE_S;
    ys_json *bye = ys_json_object();
    ys_json_set_string(bye, "type", "bye");
    ys_session_look(session);
    if (!session->has_failed)
        session->end.stage = YS_STAGE_STOP;
    session->end.bye_ns = ys_time_ns();
    session->until_ns = session->end.bye_ns + (uint64_t)(grace_s * 1e9);
    session->state = YS_SESSION_LEAVING;
    (void)!ys_session_post(session, bye); /* an adapter that has gone already shows below */
}

static void go_on_leaving(struct ys_session *session)
{
    (void)!ys_session_push(session);
    const bool has_ended = ys_session_check_ended(session);
    if (!has_ended && ys_time_ns() < session->until_ns && !(session->has_failed && ys_stop_signal()))
        return;
    if (!session->has_failed && !has_ended)
        ys_session_fail(session, YS_RUN_STALLED, "%s had not ended %g s after bye and was killed", session->program,
                        (double)(session->until_ns - session->end.bye_ns) * 1e-9);
    else if (!session->has_failed && (session->process.ended_code != CLD_EXITED || session->process.ended_value != 0))
        ys_session_ended_early(session);
    else if (!session->has_failed)
        check_silence(session);
    reap(session);
}

void ys_session_bye(struct ys_session *session)
{
    const bool is_welcome = !session->has_failed || session->is_obedient;
    if (session->state > YS_SESSION_ASKED)
        return;
    if (session->process.pid <= 0) {
        end_here(session, true);
        return;
    }
    ys_session_resume(session, NULL); /* nothing that is frozen can hear of it, or end */
    if (is_welcome && !ys_session_check_ended(session)) {
        say_bye(session);
        return;
    }
    if (!session->has_failed)
        ys_session_ended_early(session);
    else
        ys_session_look(session);
    reap(session);
}

void ys_session_go_on_ending(struct ys_session *session)
{
    switch (session->state) {
    case YS_SESSION_LEAVING:
        go_on_leaving(session);
        break;
    case YS_SESSION_REAPED:
        go_on_reaping(session);
        break;
    case YS_SESSION_LOST:
        kill_known(session);
        break;
    case YS_SESSION_IDLE:
    case YS_SESSION_ASKED:
    case YS_SESSION_ENDED:
        break;
    }
}

uint64_t ys_session_next_of_end(const struct ys_session *session)
{
    if (session->state == YS_SESSION_LEAVING)
        return session->until_ns;
    return session->has_ordered ? session->ordered_ns + KEEPER_PATIENCE_NS : session->next_order_ns;
}

static void note_log(struct ys_session *session)
{
    for (int i = 0; i < 64 && session->log.pipe_fd >= 0; i++)
        ys_log_file_drain(&session->log); /* everybody has gone: what is left is in the pipe, 64 KiB as a rule */
    if (session->log.failure)
        add_warning(session, "the log of %s ends early: %" PRIu64 " bytes of it could not be written (%s)",
                    session->program, session->log.dropped, strerror(session->log.failure));
    else if (session->log.dropped > 0)
        add_warning(session, "the log of %s is cut at %zu bytes: %" PRIu64 " more were printed and dropped",
                    session->program, session->log.limit, session->log.dropped);
    session->end.log_tail = ys_log_file_tail(&session->log);
    ys_log_file_close(&session->log);
}

/** The control group's count of processor time is exact, and has that of processes that nobody waited for. Its parts,
 * user and system, are in the proportion of the kernel's account of those that were waited for, or of the group where
 * these are not most of it. */
static bool take_group_times(struct ys_session *session)
{
    struct ys_session_end *end = &session->end;
    const struct ys_group_usage *usage = &session->observe.usage;
    uint64_t waited_ns = end->user_ns + end->system_ns;
    if (!usage->has_cpu)
        return false;
    double user = (double)end->user_ns, system = (double)end->system_ns;
    if (usage->cpu_ns > waited_ns + waited_ns / 100 + UNWAITED_MIN_NS / 10 && usage->user_ns + usage->system_ns > 0) {
        user = (double)usage->user_ns;
        system = (double)usage->system_ns;
    }
    double share = user + system > 0 ? user / (user + system) : 1;
    end->user_ns = (uint64_t)((double)usage->cpu_ns * share);
    end->system_ns = usage->cpu_ns - end->user_ns;
    return true;
}

static void note_end(struct ys_session *session)
{
    struct ys_session_end *end = &session->end;
    if (session->process.has_ended && session->process.ended_code == CLD_EXITED)
        end->exit_code = session->process.ended_value;
    else if (session->process.has_ended)
        end->signal = session->process.ended_value;
    if (end->stopped_ns)
        add_warning(session,
                    "yardstick itself was stopped for %.1f s during this run: wall_s and the phase that it fell "
                    "into contain that time, and nothing was sampled meanwhile",
                    (double)end->stopped_ns * 1e-9);
    if (session->held_ns)
        add_warning(session,
                    "a process of %s was stopped (SIGSTOP) for %.1f s during this run: what was measured contains "
                    "that time",
                    session->program, (double)session->held_ns * 1e-9);
    struct ys_tree_peak waited = end->peak;
    char span[32];
    end->peak = *sampled_peak(session);
    if (waited.process_bytes > end->peak.process_bytes)
        end->peak.process_bytes = waited.process_bytes;
    if (waited.rss_bytes > end->peak.rss_bytes)
        end->peak.rss_bytes = waited.rss_bytes;
    uint64_t waited_ns = end->user_ns + end->system_ns;
    if (take_group_times(session))
        return;
    if (session->sampled_cpu_ns > waited_ns + UNWAITED_MIN_NS) {
        end->unwaited_ns = session->sampled_cpu_ns - waited_ns;
        add_warning(session,
                    "at least %s of processor time were used by processes that nobody waited for; they are missing "
                    "in the total",
                    ys_span_text((double)end->unwaited_ns * 1e-9, span, sizeof span));
    }
}

static void free_session(struct ys_session *session)
{
    ys_perf_close(session->perf);
    ys_observe_close(&session->observe);
    ys_channel_close(session->channel);
    ys_tree_close(session->tree);
    ys_threads_fini(&session->threads);
    ys_working_remove(&session->temporary);
    ys_json_free(session->reply);
    ys_free(session->line);
    ys_free(session->program);
    ys_free(session->cpus);
    ys_free(session);
}

void ys_session_close(struct ys_session *session, struct ys_session_end *end)
{
    if (!session) {
        if (end)
            *end = (struct ys_session_end){.exit_code = -1};
        return;
    }
    ys_session_bye(session);
    while (ys_session_is_busy(session))
        ys_session_turn(&session, 1, UINT64_MAX);
    ys_keeper_dismiss(&session->process, session->is_empty);
    if (session->has_log)
        note_log(session);
    if (session->end.warnings)
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
    ys_record_fini(&ys_observation_record, &end->observed);
    *end = (struct ys_session_end){.exit_code = -1};
}

void ys_session_last_line(const char *log, char *line, size_t size)
{
    size_t end = log ? strlen(log) : 0;
    while (end > 0 && (log[end - 1] == '\n' || log[end - 1] == ' '))
        end--;
    size_t begin = end;
    while (begin > 0 && log[begin - 1] != '\n')
        begin--;
    snprintf(line, size, "%.*s", (int)(end - begin), log ? log + begin : "");
}

char *ys_session_end_text(const struct ys_session_end *end, const char *otherwise)
{
    char line[160] = "";
    const char *text = end->message ? end->message : otherwise ? otherwise : "no message";
    if (!end->is_told)
        ys_session_last_line(end->log_tail, line, sizeof line);
    return line[0] ? ys_format("%s; its log ends with \"%s\"", text, line) : ys_strdup(text);
}
