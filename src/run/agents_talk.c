/* What is said between a study and the agents of a run. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "run/nodes_state.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Agents that have a job give a sign of life each second. */
static const uint64_t SILENCE_NS = 30000000000;
static const uint64_t LONGEST_SLEEP_NS = 250000000;

enum { PINGS = 16 };
static const uint64_t PONG_NS = 2000000000;
/* Between two looks at a clock during a run: often enough to see a clock that is set or slewed, too seldom to be felt.
 */
static const uint64_t PING_PAUSE_NS = 5000000000;

const char *ys_node_title(const struct ys_run_node *node, char text[128])
{
    if (node->hello.host)
        snprintf(text, 128, "node %" PRId64 " (%.80s)", node->number, node->hello.host);
    else if (node->named)
        snprintf(text, 128, "node %" PRId64 " (%.80s)", node->number, node->named);
    else
        snprintf(text, 128, "node %" PRId64, node->number);
    return text;
}

void ys_node_lose(struct ys_run_node *node, enum ys_run_status status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (node->standing == YS_NODE_LOST)
        return;
    node->standing = YS_NODE_LOST;
    node->failed_ns = ys_time_ns();
    node->status = status;
    ys_free(node->message);
    node->message = ys_strdup(text);
    if (node->is_shared) /* the others are to tell what they saw before their starter is ended */
        ys_node_part(node);
    else
        ys_node_finish(node);
}

void ys_node_say(struct ys_run_node *node, enum ys_node_word word, const char *why)
{
    char title[128];
    const struct ys_node_said said = {.t_ns = word == YS_NODE_PING ? (int64_t)node->asked_ns : YS_FIELD_NONE,
                                      .asked_ns = YS_FIELD_NONE,
                                      .status = YS_FIELD_NONE};
    if (!node->channel)
        return;
    node->is_ending = node->is_ending || word == YS_NODE_END;
    if (ys_node_send_said(node->channel, word, said, why) != YS_OK)
        ys_node_lose(node, YS_RUN_KILLED, "the agent of %s cannot be reached any more: %s", ys_node_title(node, title),
                     ys_error());
}

/** The place of one of its ranks; YS_EPROTOCOL where it is another's. */
static ys_status find_rank(const struct ys_run_node *node, int64_t rank, size_t *place)
{
    *place = (size_t)rank;
    return rank >= (int64_t)node->first && rank < (int64_t)(node->first + node->count)
               ? YS_OK
               : ys_fail(YS_EPROTOCOL, "it told of rank %" PRId64 ", which it does not have", rank);
}

static ys_status take_series(struct ys_nodes *nodes, const struct ys_run_node *node, const ys_json *message)
{
    struct ys_node_series said;
    size_t rank;
    YS_TRY(ys_record_read(&ys_node_series_record, message, "series", &said));
    ys_status status = find_rank(node, said.rank, &rank);
    if (status == YS_OK)
        status = ys_node_take_series(&said, &nodes->own[rank].series);
    ys_record_fini(&ys_node_series_record, &said);
    return status;
}

static ys_status take_rank(struct ys_nodes *nodes, const struct ys_run_node *node, const ys_json *message)
{
    struct ys_node_rank said;
    size_t rank;
    YS_TRY(ys_record_read(&ys_node_rank_record, message, "rank", &said));
    ys_status status = find_rank(node, said.rank, &rank);
    if (status == YS_OK && nodes->own[rank].has_facts)
        status = ys_fail(YS_EPROTOCOL, "it told of rank %zu twice", rank);
    if (status == YS_OK)
        status = ys_facts_read(said.facts, "facts", &nodes->own[rank].facts);
    if (status == YS_OK) {
        nodes->own[rank].has_facts = true;
        nodes->ends[rank] = (struct ys_session_end){
            .is_told = said.is_told, .is_stopped = said.is_stopped, .failed_ns = (uint64_t)said.failed_ns};
    }
    ys_record_fini(&ys_node_rank_record, &said);
    return status;
}

static ys_status take_alive(struct ys_nodes *nodes, struct ys_run_node *node, const ys_json *message)
{
    const struct ys_run_spec *spec = nodes->spec;
    struct ys_node_alive alive;
    YS_TRY(ys_record_read(&ys_node_alive_record, message, "alive", &alive));
    node->alive = alive;
    if (node->number == 0 && spec->on_progress)
        spec->on_progress(spec->context, (enum ys_stage)alive.stage, (double)alive.steps / (double)spec->plan->steps);
    return YS_OK;
}

/** One that comes late, after the next ping, is passed over. */
static void take_pong(struct ys_run_node *node, const struct ys_node_said *said)
{
    const uint64_t now_ns = ys_time_ns();
    if (said->asked_ns != (int64_t)node->asked_ns || said->t_ns == YS_FIELD_NONE)
        return;
    node->pong_ns = said->t_ns;
    if (node->is_asked_beside)
        ys_clock_take_during(&node->clock, node->asked_ns, said->t_ns, now_ns);
}

/** Of its own, not of one of its ranks. */
static void take_trouble(struct ys_run_node *node, const struct ys_node_said *said)
{
    char title[128];
    node->is_stopped = said->status == YS_EINTR;
    node->status = node->is_stopped ? YS_RUN_KILLED : YS_RUN_LOAD_FAILED;
    node->message =
        node->is_stopped
            ? ys_format("the agent of %s was asked by something else than yardstick to end, and its ranks with it: %s",
                        ys_node_title(node, title), said->message)
            : ys_strdup(said->message);
    node->failed_ns = ys_time_ns();
}

static ys_status take(struct ys_nodes *nodes, struct ys_run_node *node, const ys_json *message)
{
    struct ys_node_said said;
    ys_record_glance(&ys_node_said_record, message, &said);
    switch (ys_node_word(message)) {
    case YS_NODE_ALIVE:
        return take_alive(nodes, node, message);
    case YS_NODE_SERIES:
        return take_series(nodes, node, message);
    case YS_NODE_RANK:
        return take_rank(nodes, node, message);
    case YS_NODE_PONG:
        take_pong(node, &said);
        return YS_OK;
    case YS_NODE_READY:
        node->standing = YS_NODE_IS_READY;
        node->is_done = said.is_done;
        return YS_OK;
    case YS_NODE_FAILED:
        node->standing = YS_NODE_HAS_FAILED;
        return YS_OK;
    case YS_NODE_TOLD:
        node->standing = YS_NODE_HAS_TOLD;
        if (said.message && !node->message)
            take_trouble(node, &said);
        return YS_OK;
    default:
        return ys_fail(YS_EPROTOCOL, "it said what agents do not say");
    }
}

static void lose_gone(struct ys_nodes *nodes, struct ys_run_node *node)
{
    char title[128], words[512];
    ys_node_title(node, title);
    if (ys_node_last_words(nodes, node, words, sizeof words))
        ys_node_lose(node, YS_RUN_KILLED, "the agent of %s ended, and its ranks with it: %s", title, words);
    else
        ys_node_lose(node, YS_RUN_KILLED,
                     "the agent of %s was ended by something else than yardstick, and its ranks with it", title);
}

/** Takes all that has come of one. */
static void listen_to(struct ys_nodes *nodes, struct ys_run_node *node)
{
    char title[128];
    while (node->channel) {
        ys_json *message = NULL;
        ys_status status = ys_channel_receive(node->channel, 0, &message);
        const bool has_gone = status != YS_OK && ys_channel_eof(node->channel);
        if (status == YS_ETIMEOUT)
            return;
        if (status == YS_OK) {
            node->heard_ns = ys_time_ns();
            status = take(nodes, node, message);
        }
        ys_json_free(message);
        if (has_gone)
            lose_gone(nodes, node);
        else if (status != YS_OK)
            ys_node_lose(node, YS_RUN_PROTOCOL_ERROR, "the agent of %s: %s", ys_node_title(node, title), ys_error());
    }
}

static void look_at_silence(struct ys_run_node *node)
{
    char title[128];
    if (node->standing != YS_NODE_BUSY && node->standing != YS_NODE_IS_READY && node->standing != YS_NODE_HAS_FAILED)
        return;
    if (ys_time_ns() >= node->heard_ns + SILENCE_NS)
        ys_node_lose(node, YS_RUN_STALLED, "nothing was heard of the agent of %s for %.0f s",
                     ys_node_title(node, title), (double)SILENCE_NS * 1e-9);
    else if (node->is_ending && ys_stop_insisted())
        ys_node_lose(node, YS_RUN_CANCELLED,
                     "the agent of %s had not told what it saw when yardstick was asked again to stop",
                     ys_node_title(node, title));
}

ys_status ys_nodes_listen(struct ys_nodes *nodes, uint64_t until_ns)
{
    struct pollfd sources[2 * YS_NODES_MOST + 1];
    const uint64_t now_ns = ys_time_ns();
    for (size_t i = 0; i < nodes->count; i++) {
        const struct ys_run_node *node = &nodes->items[i];
        sources[2 * i] = (struct pollfd){.fd = node->channel ? node->fd : -1, .events = POLLIN};
        sources[2 * i + 1] = (struct pollfd){.fd = node->log_path ? node->log.pipe_fd : -1, .events = POLLIN};
    }
    sources[2 * nodes->count] = (struct pollfd){.fd = nodes->is_stopped ? -1 : ys_stop_fd(), .events = POLLIN};
    if (until_ns > now_ns + LONGEST_SLEEP_NS)
        until_ns = now_ns + LONGEST_SLEEP_NS;
    const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const struct timespec left = {.tv_nsec = (long)left_ns};
    ppoll(sources, (nfds_t)(2 * nodes->count + 1), &left, NULL);
    for (size_t i = 0; i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        if (sources[2 * i + 1].revents && node->log_path)
            ys_log_file_drain(&node->log);
        listen_to(nodes, node);
        look_at_silence(node);
    }
    if (!ys_stop_signal() || nodes->is_stopped)
        return YS_OK;
    nodes->is_stopped = true;
    return ys_stopped();
}

static void ask(struct ys_run_node *node, bool beside)
{
    node->pong_ns = YS_FIELD_NONE;
    node->is_asked_beside = beside;
    node->asked_ns = ys_time_ns();
    ys_node_say(node, YS_NODE_PING, NULL);
}

static ys_status ping(struct ys_nodes *nodes, struct ys_run_node *node, struct ys_clock_look *look)
{
    char title[128];
    for (int i = 0; i < PINGS && node->channel; i++) {
        ask(node, false);
        const uint64_t asked_ns = node->asked_ns;
        while (node->channel && node->pong_ns == YS_FIELD_NONE) {
            YS_TRY(ys_nodes_listen(nodes, asked_ns + PONG_NS));
            if (node->pong_ns == YS_FIELD_NONE && ys_time_ns() >= asked_ns + PONG_NS)
                ys_node_lose(node, YS_RUN_STALLED,
                             "the clock of %s cannot be related: its agent did not say the time in %.0f s",
                             ys_node_title(node, title), (double)PONG_NS * 1e-9);
        }
        if (node->channel)
            ys_clock_take(look, asked_ns, node->pong_ns, ys_time_ns());
    }
    return YS_OK;
}

ys_status ys_nodes_ping(struct ys_nodes *nodes, bool at_end)
{
    char *own = ys_node_clock();
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        struct ys_clock_pair *pair = &node->clock;
        pair->is_one = node->hello.clock && own[0] && strcmp(node->hello.clock, own) == 0;
        if (node->channel && !pair->is_one)
            status = ping(nodes, node, at_end ? &pair->after : &pair->before);
    }
    ys_free(own);
    return status;
}

void ys_nodes_ping_beside(struct ys_nodes *nodes)
{
    const uint64_t now_ns = ys_time_ns();
    for (size_t i = 0; i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        if (node->channel && node->standing == YS_NODE_BUSY && !node->clock.is_one &&
            now_ns >= node->asked_ns + PING_PAUSE_NS)
            ask(node, true);
    }
}
