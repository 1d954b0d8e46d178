#include "session/session.h"
#include "base/clock.h"
#include "base/files/fs.h"
#include "base/files/temporary.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "base/stop.h"
#include "session/checked_message.h"
#include "session/session_internal.h"
#include "yardstick/protocol.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESERVED_SECONDS = 3600, MOST_RESERVED = 1 << 20 };

/* A process that closes the channel because it is ending gets this long to end. */
static const uint64_t ENDING_NS = 2000000000;

/* An adapter that takes nothing of a request for so long is stalled, whatever the other limits are. */
static const uint64_t SEND_LIMIT_NS = 60000000000;

/* How often memory and processor time are looked at where there is a limit and nothing else to sample. */
static const uint64_t MEMORY_PERIOD_NS = 100000000;

/* Which message ends the answer to which request, and which may come before it. */
static const struct ys_session_due {
    const char *request, *reply, *part;
} ANSWERS[] = {
#define ANSWER(upper, name, reply, part, mode) {#name, reply, part},
    YS_QUESTIONS(ANSWER)
#undef ANSWER
};

static uint64_t span_ns(double span_s)
{
    return span_s > 1e9 ? (uint64_t)1e18 : (uint64_t)(span_s * 1e9);
}

static void reserve_samples(const struct ys_launch *launch)
{
    static const char *const names[] = {"sample_t_ns",    "sample_cpu_ns",    "sample_rss_bytes",
                                        "sample_threads", "sample_processes", "sample_switches"};
    if (!launch->samples || launch->sample_hz <= 0)
        return;
    double limit_s = launch->run_time_limit_s > 0 && launch->run_time_limit_s < RESERVED_SECONDS
                         ? launch->run_time_limit_s
                         : RESERVED_SECONDS;
    double count = launch->sample_hz * limit_s + 16;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ys_series_reserve(launch->samples, names[i], 0, count < MOST_RESERVED ? (size_t)count : MOST_RESERVED);
}

/** What messages call the adapter: the script, where an interpreter runs one. */
static const char *adapter_name(const char *const *argv)
{
    const char *program = ys_path_base(argv[0]);
    bool is_script = strncmp(program, "python", 6) == 0 && argv[1] && argv[1][0] != '-';
    return is_script ? ys_path_base(argv[1]) : program;
}

/** The adapter's own folder for temporary files: frameworks leave some behind when they are killed, or compile into it
 * what the next run would find there. Not below the run's folder, whose path may be too long for a socket's name. */
static ys_status make_temporary(struct ys_session *session)
{
    YS_TRY(ys_temporary_make(&session->temporary));
    session->launch.temporary = session->temporary.path;
    return YS_OK;
}

/** What it samples is what is started from here on. That it may not is a fact of the run. */
static void open_perf(struct ys_session *session)
{
    struct ys_session_perf *perf = &session->end.perf;
    perf->is_asked = session->launch.perf;
    if (perf->is_asked && ys_perf_open(&session->perf) != YS_OK)
        snprintf(perf->reason, sizeof perf->reason, "%s", ys_error());
}

/** Everything that takes memory, before the adapter begins. */
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
    session->end.stage = YS_STAGE_START;
    session->cpus = launch->cpu_count ? ys_alloc(launch->cpu_count, sizeof *session->cpus) : NULL;
    for (size_t i = 0; i < launch->cpu_count; i++)
        session->cpus[i] = launch->cpus[i];
    session->tree = ys_tree_open(&options);
    reserve_samples(launch);
    YS_TRY(make_temporary(session));
    ys_observe_open(&session->observe, launch->memory_limit_bytes);
    session->launch.group = session->observe.group;
    open_perf(session);
    const struct ys_group *group = session->observe.group;
    session->kills_before = group && ys_group_counts_kills(group) ? -1 : ys_host_oom_kills();
    return YS_OK;
}

static ys_status start(struct ys_session *session)
{
    const struct ys_launch *launch = &session->launch;
    char *path = ys_path_join(launch->folder, YS_LOG_NAME);
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
    ys_json_set_int(message, "protocol", YS_PROTOCOL_VERSION);
    return ys_session_send(session, message, NULL, NULL);
}

/** The first answer belongs to the session. */
static void take_hello(struct ys_session *session, ys_json *hello)
{
    session->end.hello = hello;
    session->end.hello_ns = session->received_ns;
    struct ys_message message;
    ys_message_read(hello, &message);
    if (message.hello.protocol != YS_PROTOCOL_VERSION)
        ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "%s speaks version %" PRId64 " of the protocol, not %d",
                        session->program, message.hello.protocol, YS_PROTOCOL_VERSION);
}

ys_status ys_session_begin(const struct ys_launch *launch, struct ys_session **session)
{
    *session = NULL;
    if (ys_stop_signal())
        return ys_stopped();
    struct ys_session *made = ys_alloc(1, sizeof *made);
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
        status = ys_fail(status, "%s", message);
        ys_free(message);
        return status;
    }
    *session = made;
    return say_hello(made);
}

static ys_status await(struct ys_session *session, ys_json **reply)
{
    while (ys_session_is_busy(session))
        ys_session_turn(&session, 1, UINT64_MAX);
    return ys_session_answer(session, reply, NULL);
}

ys_status ys_session_open(const struct ys_launch *launch, struct ys_session **session)
{
    ys_json *none;
    YS_TRY(ys_session_begin(launch, session));
    return await(*session, &none);
}

const ys_json *ys_session_hello(const struct ys_session *session)
{
    return session->end.hello;
}

static bool is_due(const char *type, const struct ys_session_due *due, bool takes_parts)
{
    return !due || strcmp(type, "error") == 0 || strcmp(type, due->reply) == 0 ||
           (takes_parts && due->part && strcmp(type, due->part) == 0);
}

/** Whether an adapter may say so of itself. That a run was cancelled is not its word to say: nobody asks it to stop,
 * and slow runs could be dropped so. */
static bool is_adapters_word(int code)
{
    static const enum ys_run_status words[] = {YS_RUN_UNSUPPORTED, YS_RUN_LOAD_FAILED, YS_RUN_BUILD_FAILED,
                                               YS_RUN_OOM_HOST,    YS_RUN_OOM_DEVICE,  YS_RUN_PROTOCOL_ERROR,
                                               YS_RUN_CRASHED};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (code == (int)words[i])
            return true;
    return false;
}

/** A word that is no stage leaves the session in the one that it is in. */
static void note_stage(struct ys_session *session, const char *word)
{
    const int stage = ys_name_find(&ys_stages, word);
    if (stage != YS_NAME_NONE)
        session->end.stage = (enum ys_stage)stage;
}

/** An error ends the session. */
static void take_error(struct ys_session *session, const ys_json *json)
{
    struct ys_message message;
    ys_message_read(json, &message);
    int code = ys_name_find(&ys_run_statuses, message.error.code);
    const char *text = message.error.message ? message.error.message : "the adapter gave no reason";
    const char *op = message.error.op;
    note_stage(session, message.error.stage);
    session->is_obedient = is_adapters_word(code);
    session->end.is_told = !session->has_failed && session->is_obedient;
    if (!session->is_obedient)
        ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "an error of code \"%s\", which is not an adapter's to say: %s",
                        message.error.code ? message.error.code : "", text);
    else
        ys_session_fail(session, (enum ys_run_status)code, "%s%s%s", op && op[0] ? op : "", op && op[0] ? ": " : "",
                        text);
}

static void take_part(struct ys_session *session, const ys_json *message)
{
    ys_status status = session->on_message(session->context, message);
    if (status == YS_EINTERNAL)
        ys_session_set_failure(session, status, YS_RUN_CANCELLED, ys_strdup(ys_error()));
    else if (status != YS_OK)
        ys_session_set_failure(session, YS_EPROTOCOL, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
}

/** One message has come. */
static void handle(struct ys_session *session, ys_json *message_taken)
{
    const struct ys_session_due *due = session->due;
    const char *type = ys_message_type(message_taken);
    if (is_due(type, due, session->on_message != NULL) && ys_message_check(message_taken) != YS_OK) {
        ys_session_set_failure(session, YS_EPROTOCOL, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
    } else if (!due || strcmp(type, due->reply) == 0) {
        session->state = YS_SESSION_IDLE;
        if (due && strcmp(due->request, "hello") == 0 && !session->end.hello)
            take_hello(session, message_taken);
        else
            session->reply = message_taken;
        return;
    } else if (strcmp(type, "error") == 0) {
        take_error(session, message_taken);
    } else if (!session->on_message || !due->part || strcmp(type, due->part) != 0) {
        ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "a message \"%s\" where \"%s\" was due", type, due->reply);
    } else {
        take_part(session, message_taken);
    }
    ys_json_free(message_taken);
}

static ys_status fail_stalled(struct ys_session *session)
{
    const struct ys_tree_member *members;
    size_t count = 0;
    if (ys_tree_list(session->tree, &members, &count) == YS_OK)
        for (size_t i = 0; i < count; i++)
            session->end.is_stopped = session->end.is_stopped || members[i].state == 'T';
    return ys_session_fail(session, YS_RUN_STALLED, "nothing was heard of %s for %g s (stall_limit)%s",
                           session->program, session->launch.stall_limit_s,
                           session->end.is_stopped ? ": a process of it is stopped" : "");
}

/** The failure that a limit which has passed means, YS_OK while none has. */
static ys_status check_limits(struct ys_session *session)
{
    const bool is_asked = session->state == YS_SESSION_ASKED;
    uint64_t now_ns = ys_time_ns();
    ys_session_wake(session);
    if (ys_stop_signal()) {
        ys_stopped();
        return ys_session_set_failure(session, YS_EINTR, YS_RUN_CANCELLED, ys_strdup(ys_error()));
    }
    if (now_ns >= session->wall_limit_ns && !session->is_paused)
        return ys_session_fail(session, YS_RUN_TIMEOUT_WALL, "the run was not done after %g s (run_time_limit)",
                               session->launch.run_time_limit_s);
    if (session->launch.cpu_time_limit_s > 0 && ys_session_seen_cpu_s(session) > session->launch.cpu_time_limit_s)
        return ys_session_fail(session, YS_RUN_TIMEOUT_CPU,
                               "its processes used more than %g s of processor time "
                               "(cpu_time_limit)",
                               session->launch.cpu_time_limit_s);
    if (session->observe.usage.oom_kills > 0)
        return ys_session_out_of_memory(session);
    bool is_kept = session->observe.group && ys_group_limits_memory(session->observe.group);
    if (!is_kept && session->launch.memory_limit_bytes &&
        session->sampled_rss_bytes > session->launch.memory_limit_bytes) {
        char held[YS_SIZE_TEXT], limit[YS_SIZE_TEXT];
        ys_size_texts(session->sampled_rss_bytes, session->launch.memory_limit_bytes, held, limit);
        return ys_session_fail(session, YS_RUN_OOM_HOST, "its processes held %s, more than the %s of memory_limit",
                               held, limit);
    }
    if (session->unsent_size > 0 && now_ns >= session->unsent_ns + SEND_LIMIT_NS)
        return ys_session_fail(session, YS_RUN_STALLED, "%s took no data for %.0f s", session->program,
                               (double)SEND_LIMIT_NS * 1e-9);
    if (!is_asked)
        return YS_OK;
    if (!session->is_silenced && session->stall_span_ns && now_ns >= session->heard_ns + session->stall_span_ns)
        return fail_stalled(session);
    if (session->is_silenced && now_ns >= session->silenced_ns + ENDING_NS)
        return ys_session_fail(session, YS_RUN_PROTOCOL_ERROR, "%s closed the channel and went on running",
                               session->program);
    return YS_OK;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

uint64_t ys_session_next_limit(const struct ys_session *session)
{
    uint64_t until_ns = session->is_paused ? UINT64_MAX : session->wall_limit_ns;
    if (session->unsent_size > 0)
        until_ns = earlier(until_ns, session->unsent_ns + SEND_LIMIT_NS);
    if (session->state != YS_SESSION_ASKED)
        return until_ns;
    if (session->has_come)
        return 0;
    if (session->is_silenced)
        return earlier(until_ns, session->silenced_ns + ENDING_NS);
    return session->stall_span_ns ? earlier(until_ns, session->heard_ns + session->stall_span_ns) : until_ns;
}

/** Takes a message if one has come: YS_OK with *message, or with NULL when there is none yet. */
static ys_status take_message(struct ys_session *session, ys_json **message)
{
    *message = NULL;
    if (session->is_silenced)
        return YS_OK;
    ys_status status = ys_channel_receive(session->channel, 0, message);
    if (status == YS_OK)
        session->heard_ns = session->received_ns = ys_time_ns();
    if (status == YS_OK || status == YS_ETIMEOUT)
        return YS_OK;
    session->is_silenced = ys_channel_eof(session->channel);
    if (session->is_silenced)
        return YS_OK; /* what that means depends on whether the process has ended */
    if (status == YS_EINTR)
        return ys_session_set_failure(session, status, YS_RUN_CANCELLED, ys_strdup(ys_error()));
    return ys_session_set_failure(session, YS_EPROTOCOL, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
}

/** Nothing is judged before what has come is read: yardstick itself may have been stopped. */
static void listen_for_answer(struct ys_session *session)
{
    bool was_silenced = session->is_silenced, had_ended = ys_session_check_ended(session);
    ys_json *message;
    session->has_come = false;
    if (ys_session_push(session) != YS_OK || take_message(session, &message) != YS_OK)
        return;
    if (message) {
        session->has_come = true;
        handle(session, message);
        if (session->state != YS_SESSION_ASKED || session->has_failed)
            return;
    } else if (had_ended) { /* asked before the channel was: nothing more can come */
        ys_session_ended_early(session);
        return;
    } else if (session->is_silenced && !was_silenced) {
        session->silenced_ns = ys_time_ns();
    }
    check_limits(session);
}

void ys_session_attend(struct ys_session *session)
{
    if (session->has_failed || session->process.pid <= 0)
        return;
    if (session->state == YS_SESSION_ASKED)
        listen_for_answer(session);
    else if (ys_session_check_ended(session))
        ys_session_ended_early(session);
    else
        check_limits(session);
}

ys_status ys_session_push(struct ys_session *session)
{
    const size_t before = session->unsent_size;
    if (before == 0)
        return YS_OK;
    ys_status status = ys_channel_push(session->channel, &session->unsent, &session->unsent_size);
    if (session->unsent_size < before)
        session->unsent_ns = ys_time_ns();
    if (session->unsent_size > 0 && status == YS_OK)
        return YS_OK;
    session->unsent_size = 0;
    ys_free(session->line);
    session->line = NULL;
    if (status == YS_EPROTOCOL)
        return ys_session_set_failure(session, status, YS_RUN_PROTOCOL_ERROR, ys_strdup(ys_error()));
    return YS_OK; /* a closed channel shows again in reading, where what the adapter said last is still to be had */
}

ys_status ys_session_post(struct ys_session *session, ys_json *message_taken)
{
    ys_free(session->line); /* of a request that an error answered before all of it was taken */
    session->line = ys_json_dump(message_taken, YS_JSON_COMPACT);
    session->unsent_size = 0;
    ys_json_free(message_taken);
    session->unsent = session->line;
    session->unsent_size = strlen(session->line) + 1;
    session->line[session->unsent_size - 1] = '\n'; /* it goes by the size from here on */
    session->unsent_ns = ys_time_ns();
    return ys_session_push(session);
}

/** What requests return after the first failure. */
static ys_status failed_before(const struct ys_session *session)
{
    return ys_fail(session->failure, "%s", session->end.message);
}

static ys_status ask(struct ys_session *session, ys_json *message_taken, const struct ys_session_due *due,
                     ys_session_on_message on_message, void *context)
{
    const char *type = ys_message_type(message_taken);
    YS_ASSERT(session->state == YS_SESSION_IDLE && !session->reply);
    if (strcmp(type, "hello") != 0)
        note_stage(session, type);
    session->due = due;
    session->on_message = on_message;
    session->context = context;
    session->state = YS_SESSION_ASKED;
    session->has_come = true; /* what is there already is read before it is slept */
    ys_session_wake(session);
    session->heard_ns = session->silenced_ns = session->awake_ns;
    return ys_session_post(session, message_taken);
}

ys_status ys_session_send(struct ys_session *session, ys_json *message_taken, ys_session_on_message on_message,
                          void *context)
{
    const char *type = ys_message_type(message_taken);
    const struct ys_session_due *due = NULL;
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++)
        if (strcmp(ANSWERS[i].request, type) == 0)
            due = &ANSWERS[i];
    if (!session->has_failed && due)
        return ask(session, message_taken, due, on_message, context);
    ys_status status =
        session->has_failed ? failed_before(session) : ys_fail(YS_EINTERNAL, "there is no request \"%s\"", type);
    ys_json_free(message_taken);
    return status;
}

bool ys_session_has_failed(const struct ys_session *session)
{
    return session->has_failed;
}

bool ys_session_is_busy(const struct ys_session *session)
{
    if (session->state == YS_SESSION_ASKED)
        return !session->has_failed;
    return session->state != YS_SESSION_IDLE && session->state != YS_SESSION_ENDED;
}

ys_status ys_session_answer(struct ys_session *session, ys_json **reply, uint64_t *answered_ns)
{
    *reply = NULL;
    if (session->has_failed)
        return failed_before(session);
    *reply = session->reply;
    session->reply = NULL;
    if (answered_ns)
        *answered_ns = session->received_ns;
    return YS_OK;
}

ys_status ys_session_request(struct ys_session *session, ys_json *message_taken, ys_session_on_message on_message,
                             void *context, ys_json **reply)
{
    *reply = NULL;
    YS_TRY(ys_session_send(session, message_taken, on_message, context));
    return await(session, reply);
}

ys_status ys_session_provoke(struct ys_session *session, ys_json *message_taken, ys_json **reply)
{
    *reply = NULL;
    if (session->has_failed) {
        ys_json_free(message_taken);
        return failed_before(session);
    }
    YS_TRY(ask(session, message_taken, NULL, NULL, NULL));
    return await(session, reply);
}
