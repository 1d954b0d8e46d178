#include "run/session.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/size.h"
#include "base/stop.h"
#include "run/message.h"
#include "run/session_internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEMPORARY_PREFIX "yardstick-run-"

enum { PROTOCOL = 1, RESERVED_SECONDS = 3600, MOST_RESERVED = 1 << 20 };

/* A process that closes the channel because it is ending gets this long to end. */
static const uint64_t ENDING_NS = 2000000000;

/* How often memory and processor time are looked at where there is a limit and nothing else to sample. */
static const uint64_t MEMORY_PERIOD_NS = 100000000;

/* Which message ends the answer to which request, and which may come before it. */
static const struct answer {
    const char *request, *reply, *part;
} ANSWERS[] = {
    {"hello", "hello", NULL},     {"open", "opened", NULL},       {"reset", "done", NULL},
    {"forward", "tensors", NULL}, {"backward", "tensors", NULL},  {"step", "tensors", NULL},
    {"train", "done", "block"},   {"infer", "done", "latencies"}, {"input_gradient", "tensors", NULL},
    {"save", "saved", NULL},
};

static uint64_t span_ns(double span_s)
{
    return span_s > 1e9 ? (uint64_t)1e18 : (uint64_t)(span_s * 1e9);
}

static ys_status reserve_samples(const struct ys_launch *launch)
{
    static const char *const names[] = {"sample_t_ns",    "sample_cpu_ns",    "sample_rss_bytes",
                                        "sample_threads", "sample_processes", "sample_switches"};
    if (!launch->samples || launch->sample_hz <= 0)
        return YS_OK;
    double limit_s = launch->run_time_limit_s > 0 && launch->run_time_limit_s < RESERVED_SECONDS
                         ? launch->run_time_limit_s
                         : RESERVED_SECONDS;
    double count = launch->sample_hz * limit_s + 16;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        YS_TRY(ys_series_reserve(launch->samples, names[i], 0, count < MOST_RESERVED ? (size_t)count : MOST_RESERVED));
    return YS_OK;
}

/** What messages call the adapter: the script, where an interpreter runs one. */
static const char *adapter_name(const char *const *argv)
{
    const char *program = ys_path_base(argv[0]);
    bool is_script = strncmp(program, "python", 6) == 0 && argv[1] && argv[1][0] != '-';
    return is_script ? ys_path_base(argv[1]) : program;
}

static char *temporary_parent(void)
{
    const char *set = getenv("TMPDIR");
    return ys_path_absolute(set && *set ? set : "/tmp");
}

void ys_session_sweep(const struct ys_sweep *sweep)
{
    char *parent = temporary_parent();
    if (parent)
        ys_working_sweep(parent, TEMPORARY_PREFIX, sweep);
    ys_free(parent);
}

/** The adapter's own folder for temporary files: frameworks leave some behind when they are killed, or compile into it
 * what the next run would find there. Not below the run's folder, whose path may be too long for a socket's name. */
static ys_status make_temporary(struct ys_session *session)
{
    char *parent = temporary_parent();
    if (!parent)
        return ys_out_of_memory();
    ys_working_sweep(parent, TEMPORARY_PREFIX, NULL);
    ys_status status = ys_working_make(parent, TEMPORARY_PREFIX, &session->temporary);
    if (status != YS_OK && status != YS_ENOMEM && status != YS_EINTR)
        status = ys_fail_in(status, "no place for temporary files (name another in TMPDIR)");
    ys_free(parent);
    session->launch.temporary = session->temporary.path;
    return status;
}

/** Everything that needs memory, before the adapter begins. */
static ys_status prepare(const struct ys_launch *launch, struct ys_session *session)
{
    struct ys_tree_options options = {.top = getpid()}; /* until there is a keeper: its /proc is like ours */
    session->launch = *launch;
    session->process = YS_NOT_STARTED;
    session->temporary.lock = YS_LOCK_NONE;
    session->log.pipe_fd = -1;
    session->wall_limit_ns = UINT64_MAX;
    session->stall_span_ns = span_ns(launch->stall_limit_s);
    session->period_ns = launch->sample_hz > 0 ? span_ns(1 / launch->sample_hz) : 0;
    if ((launch->memory_limit_bytes || launch->cpu_time_limit_s > 0) && !session->period_ns) {
        session->period_ns = MEMORY_PERIOD_NS;
        session->launch.samples = NULL;
    }
    session->end.exit_code = -1;
    session->end.warnings = ys_json_array();
    session->program = ys_strdup(adapter_name(launch->argv));
    snprintf(session->end.stage, sizeof session->end.stage, "%s", ys_stage_name(YS_STAGE_START));
    if (!session->end.warnings || !session->program)
        return ys_out_of_memory();
    YS_TRY(ys_tree_open(&options, &session->tree));
    YS_TRY(reserve_samples(launch));
    YS_TRY(make_temporary(session));
    YS_TRY(ys_observe_open(&session->observe, launch->memory_limit_bytes));
    session->launch.group = session->observe.group;
    ys_host_count(&session->before);
    return YS_OK;
}

static ys_status start(struct ys_session *session)
{
    const struct ys_launch *launch = &session->launch;
    char *path = ys_path_join(launch->folder, YS_LOG_NAME);
    if (!path)
        return ys_out_of_memory();
    ys_status status = ys_launch_start(launch, &session->process);
    session->end.exec_ns = session->process.exec_ns;
    if (status == YS_OK) {
        ys_tree_set_top(session->tree, session->process.keeper);
        ys_observe_begun(&session->observe, &session->process);
        status = ys_log_file_open(&session->log, session->process.log_fd, path,
                                  launch->log_limit_bytes ? launch->log_limit_bytes : YS_LOG_LIMIT_BYTES);
    }
    ys_free(path);
    YS_TRY(status);
    session->process.log_fd = -1; /* the log's, which closes it */
    session->has_log = true;
    session->continued = ys_stop_continued();
    ys_session_wake(session);
    session->next_sample_ns = session->process.exec_ns + session->period_ns;
    if (launch->run_time_limit_s > 0)
        session->wall_limit_ns = session->process.exec_ns + span_ns(launch->run_time_limit_s);
    return ys_channel_open(session->process.channel_fd, &session->channel);
}

static ys_status say_hello(struct ys_session *session)
{
    ys_json *message = ys_json_object();
    ys_json_set_string(message, "type", "hello");
    if (ys_json_set_int(message, "protocol", PROTOCOL) != YS_OK) {
        ys_json_free(message);
        return ys_out_of_memory();
    }
    YS_TRY(ys_session_request(session, message, NULL, NULL, &session->end.hello));
    session->end.hello_ns = ys_time_ns();
    int64_t protocol = ys_json_get_int(session->end.hello, "protocol", -1);
    if (protocol != PROTOCOL)
        return ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "%s speaks version %" PRId64 " of the protocol, not %d",
                               session->program, protocol, PROTOCOL);
    return YS_OK;
}

ys_status ys_session_open(const struct ys_launch *launch, struct ys_session **session)
{
    *session = NULL;
    if (ys_stop_signal())
        return ys_stopped();
    struct ys_session *made = ys_alloc(1, sizeof *made);
    if (!made)
        return ys_out_of_memory();
    ys_status status = prepare(launch, made);
    if (status == YS_OK)
        status = start(made);
    if (status == YS_ENOTFOUND || status == YS_EINVAL) {
        *session = made;
        return ys_session_set_failure(made, YS_EIO, YS_RUN_LOAD_FAILED, ys_strdup(ys_error()));
    }
    if (status == YS_EINTR) {
        *session = made;
        return ys_session_set_failure(made, YS_EINTR, YS_RUN_CANCELLED, ys_strdup(ys_error()));
    }
    if (status != YS_OK) {
        char *message = ys_strdup(ys_error()); /* closing may fail too and put another in its place */
        made->has_failed = true;
        ys_session_close(made, NULL);
        status = ys_fail(status, "%s", message ? message : "out of memory");
        ys_free(message);
        return status;
    }
    *session = made;
    return say_hello(made);
}

const ys_json *ys_session_hello(const struct ys_session *session)
{
    return session->end.hello;
}

static bool is_due(const char *type, const struct answer *expected, bool takes_parts)
{
    return !expected || strcmp(type, "error") == 0 || strcmp(type, expected->reply) == 0 ||
           (takes_parts && expected->part && strcmp(type, expected->part) == 0);
}

/** One message has come; where it is the answer, *reply owns it. `expected` NULL: any is. */
static ys_status handle(struct ys_session *session, ys_json *message, const struct answer *expected,
                        ys_session_on_message on_message, void *context, ys_json **reply)
{
    const char *type = ys_json_get_text(message, "type", "");
    session->heard_ns = ys_time_ns();
    ys_status status = YS_OK;
    if (is_due(type, expected, on_message != NULL) && ys_message_check(message) != YS_OK) {
        ys_json_free(message);
        return ys_session_set_failure(session, YS_EPROTOCOL, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
    }
    if (!expected) {
        *reply = message;
        return YS_OK;
    }
    if (strcmp(type, "error") == 0) {
        int code = ys_name_find(&ys_run_statuses, ys_json_get_text(message, "code", ""));
        const char *text = ys_json_get_text(message, "message", "the adapter gave no reason");
        const char *op = ys_json_get_text(message, "op", NULL);
        const char *stage = ys_json_get_text(message, "stage", NULL);
        if (stage && stage[0])
            snprintf(session->end.stage, sizeof session->end.stage, "%s", stage);
        session->is_obedient = code > YS_RUN_SKIPPED; /* no error ends as "ok" */
        if (!session->is_obedient)
            status = ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "an error of unknown code \"%s\": %s",
                                     ys_json_get_text(message, "code", ""), text);
        else
            status = ys_session_fail(session, (enum ys_run_status)code, "%s%s%s", op && op[0] ? op : "",
                                     op && op[0] ? ": " : "", text);
    } else if (strcmp(type, expected->reply) == 0) {
        *reply = message;
        return YS_OK;
    } else if (!on_message || !expected->part || strcmp(type, expected->part) != 0) {
        status = ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "a message \"%s\" where \"%s\" was due", type,
                                 expected->reply);
    } else {
        status = on_message(context, message);
        if (status == YS_ENOMEM || status == YS_EINTERNAL)
            ys_session_set_failure(session, status, YS_RUN_CANCELLED, ys_strdup(ys_error()));
        else if (status != YS_OK)
            status = ys_session_set_failure(session, YS_EPROTOCOL, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
    }
    ys_json_free(message);
    return status;
}

/** The failure that a limit which has passed means, YS_OK while none has. */
static ys_status check_limits(struct ys_session *session, uint64_t silenced_ns)
{
    uint64_t now_ns = ys_time_ns();
    ys_session_wake(session);
    if (ys_stop_signal()) {
        ys_stopped();
        return ys_session_set_failure(session, YS_EINTR, YS_RUN_CANCELLED, ys_strdup(ys_error()));
    }
    if (now_ns >= session->wall_limit_ns)
        return ys_session_fail(session, YS_RUN_TIMEOUT_WALL, "the run was not done after %g s (run_time_limit)",
                               session->launch.run_time_limit_s);
    if (session->launch.cpu_time_limit_s > 0 && ys_session_seen_cpu_s(session) > session->launch.cpu_time_limit_s)
        return ys_session_fail(session, YS_RUN_TIMEOUT_CPU,
                               "its processes used more than %g s of processor time "
                               "(cpu_time_limit)",
                               session->launch.cpu_time_limit_s);
    if (session->observe.seen.usage.oom_kills > 0)
        return ys_session_out_of_memory(session);
    bool is_kept = session->observe.group && ys_group_limits_memory(session->observe.group);
    if (!is_kept && session->launch.memory_limit_bytes &&
        session->sampled_rss_bytes > session->launch.memory_limit_bytes) {
        char held[YS_SIZE_TEXT], limit[YS_SIZE_TEXT];
        ys_size_texts(session->sampled_rss_bytes, session->launch.memory_limit_bytes, held, limit);
        return ys_session_fail(session, YS_RUN_OOM_HOST, "its processes held %s, more than the %s of memory_limit",
                               held, limit);
    }
    if (!session->is_silenced && session->stall_span_ns && now_ns >= session->heard_ns + session->stall_span_ns)
        return ys_session_fail(session, YS_RUN_STALLED, "nothing was heard of %s for %g s (stall_limit)",
                               session->program, session->launch.stall_limit_s);
    if (session->is_silenced && now_ns >= silenced_ns + ENDING_NS)
        return ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "%s closed the channel and went on running",
                               session->program);
    return YS_OK;
}

/** Until when to sleep: the first of the limits. */
static uint64_t next_limit(const struct ys_session *session, uint64_t silenced_ns)
{
    uint64_t until_ns = session->wall_limit_ns;
    if (!session->is_silenced && session->stall_span_ns && session->heard_ns + session->stall_span_ns < until_ns)
        until_ns = session->heard_ns + session->stall_span_ns;
    if (session->is_silenced && silenced_ns + ENDING_NS < until_ns)
        until_ns = silenced_ns + ENDING_NS;
    return until_ns;
}

/** Takes a message if one has come: YS_OK with *message, or with NULL when there is none yet. */
static ys_status take_message(struct ys_session *session, ys_json **message)
{
    *message = NULL;
    if (session->is_silenced)
        return YS_OK;
    ys_status status = ys_channel_receive(session->channel, 0, message);
    if (status == YS_OK || status == YS_ETIMEOUT)
        return YS_OK;
    session->is_silenced = ys_channel_eof(session->channel);
    if (session->is_silenced)
        return YS_OK; /* what that means depends on whether the process has ended */
    if (status == YS_EINTR)
        return ys_session_set_failure(session, status, YS_RUN_CANCELLED, ys_strdup(ys_error()));
    if (status == YS_ENOMEM)
        return ys_session_set_failure(session, status, YS_RUN_CANCELLED, NULL);
    return ys_session_set_failure(session, YS_EPROTOCOL, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
}

/** Nothing is judged before what has come is read: yardstick itself may have been stopped. */
static ys_status wait_answer(struct ys_session *session, const struct answer *expected,
                             ys_session_on_message on_message, void *context, ys_json **reply)
{
    uint64_t silenced_ns = ys_time_ns();
    for (;;) {
        bool was_silenced = session->is_silenced, had_ended = ys_session_check_ended(session);
        ys_json *message;
        YS_TRY(take_message(session, &message));
        const bool has_come = message != NULL;
        if (has_come) {
            YS_TRY(handle(session, message, expected, on_message, context, reply));
            if (*reply)
                return YS_OK;
        } else if (had_ended) { /* asked before the channel was: nothing more can come */
            return ys_session_ended_early(session);
        } else if (session->is_silenced && !was_silenced) {
            silenced_ns = ys_time_ns();
        }
        YS_TRY(check_limits(session, silenced_ns));
        /* Samples are kept up with however fast messages come. */
        ys_session_wait(session, has_come ? 0 : next_limit(session, silenced_ns), true, true);
    }
}

static ys_status ask(struct ys_session *session, ys_json *message_taken, const struct answer *expected,
                     ys_session_on_message on_message, void *context, ys_json **reply)
{
    const char *type = ys_json_get_text(message_taken, "type", "");
    if (strcmp(type, "hello") != 0)
        snprintf(session->end.stage, sizeof session->end.stage, "%s", type);
    ys_session_wake(session);
    session->heard_ns = session->awake_ns;
    ys_status status = ys_channel_send(session->channel, message_taken);
    ys_json_free(message_taken);
    if (status == YS_ENOMEM)
        return ys_session_set_failure(session, status, YS_RUN_CANCELLED, NULL);
    if (status == YS_EINTR)
        return ys_session_set_failure(session, status, YS_RUN_CANCELLED, ys_strdup(ys_error()));
    if (status == YS_ETIMEOUT)
        return ys_session_fail(session, YS_RUN_STALLED, "%s", ys_error());
    /* A closed channel shows again in reading, where what the adapter said last is still to be had. */
    return wait_answer(session, expected, on_message, context, reply);
}

ys_status ys_session_request(struct ys_session *session, ys_json *message_taken, ys_session_on_message on_message,
                             void *context, ys_json **reply)
{
    *reply = NULL;
    const char *type = ys_json_get_text(message_taken, "type", "");
    const struct answer *expected = NULL;
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++)
        if (strcmp(ANSWERS[i].request, type) == 0)
            expected = &ANSWERS[i];
    if (session->has_failed || !expected) {
        ys_status status = session->has_failed
                               ? ys_fail(session->failure, "%s", session->end.message ? session->end.message : "")
                               : ys_fail(YS_EINTERNAL, "there is no request \"%s\"", type);
        ys_json_free(message_taken);
        return status;
    }
    return ask(session, message_taken, expected, on_message, context, reply);
}

ys_status ys_session_provoke(struct ys_session *session, ys_json *message_taken, ys_json **reply)
{
    *reply = NULL;
    if (!session->has_failed)
        return ask(session, message_taken, NULL, NULL, NULL, reply);
    ys_json_free(message_taken);
    return ys_fail(session->failure, "%s", session->end.message ? session->end.message : "");
}
