/* How the agents of a run come, and go. */
#include "base/clock.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "run/nodes_state.h"
#include "session/keeper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* All agents are there after this, or the run is given up. */
static const uint64_t PATIENCE_NS = 30000000000;
/* Whoever connects says who it is at once. */
static const uint64_t GREETING_NS = 2000000000;
/* The keeper of an agent is asked again so often, and given up after so long. */
static const long ORDER_PAUSE_NS = 2000000;
static const uint64_t KILL_PATIENCE_NS = 20000000000;
/* A starter of agents elsewhere ends when these have; they are given so long to end their ranks before it is asked to
 * end them, and then so long before it is killed. */
static const uint64_t PARTING_NS = 10000000000, ENDING_NS = 10000000000;

/* What an agent said as it ended comes another way than that it has: by ssh, mpirun or srun. */
static const uint64_t LAST_WORDS_NS = 500000000;

/* Weights of a line that says why an agent did not come: by srun, of each program that fails; of anything; by an agent.
 */
enum { OF_END = 1, OF_WORDS, OF_AGENT };

/* Where agents come, while they do. */
struct door {
    int fd;           /* -1: they do not, and have lines of their own */
    char address[32]; /* "HOST:PORT" */
    char token[YS_NODE_TOKEN_BYTES];
};

static ys_status open_door(const struct ys_nodes *nodes, struct door *door)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = ys_nodes_address(nodes)};
    socklen_t size = sizeof place;
    unsigned char random[(YS_NODE_TOKEN_BYTES - 1) / 2];
    char host[INET_ADDRSTRLEN] = "";
    (void)!inet_ntop(AF_INET, &place.sin_addr, host, sizeof host);
    *door = (struct door){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (door->fd < 0 || bind(door->fd, (const struct sockaddr *)&place, sizeof place) != 0 ||
        listen(door->fd, 2 * YS_NODES_MOST) != 0 || getsockname(door->fd, (struct sockaddr *)&place, &size) != 0)
        return ys_fail(YS_EIO, "no port of %s where agents could come: %s", host, strerror(errno));
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return ys_fail(YS_EIO, "the kernel gives no random numbers: %s", strerror(errno));
    snprintf(door->address, sizeof door->address, "%s:%d", host, ntohs(place.sin_port));
    ys_hex_text(random, sizeof random, door->token);
    return YS_OK;
}

static void close_door(struct door *door)
{
    if (door->fd >= 0)
        close(door->fd);
    door->fd = -1;
}

static ys_status open_log(const struct ys_launch *launch, struct ys_run_node *node)
{
    char *path = ys_format("%s/node-%" PRId64 ".log", launch->folder, node->number);
    ys_status status = ys_log_file_open(&node->log, node->process.log_fd, path, YS_LOG_LIMIT_BYTES);
    if (status != YS_OK) {
        ys_free(path);
        return status;
    }
    node->process.log_fd = -1;
    node->log_path = path;
    return YS_OK;
}

/** What it prints is its log; what goes through its channel is said to the agent, where that has a line. */
static ys_status take_over(const struct ys_nodes *nodes, const struct ys_launch *launch, struct ys_run_node *node)
{
    YS_TRY(open_log(launch, node));
    if (!ys_nodes_have_lines(nodes))
        return YS_OK;
    node->fd = node->process.channel_fd;
    node->process.channel_fd = -1;
    YS_TRY(ys_channel_open(node->fd, &node->line));
    ys_channel_ignore_stop(node->line);
    return YS_OK;
}

/** One that cannot be started is no failure of yardstick's: a program is missing, say. */
static ys_status start_agent(const struct ys_nodes *nodes, const struct door *door, struct ys_run_node *node)
{
    char title[128], token[sizeof YS_NODE_TOKEN_VARIABLE + YS_NODE_TOKEN_BYTES];
    const char *const env[] = {token, NULL};
    struct ys_node_command command;
    snprintf(token, sizeof token, "%s=%s", YS_NODE_TOKEN_VARIABLE, door->token);
    char *folder = ys_path_absolute(nodes->spec->launch.folder);
    ys_status status = ys_node_command_make(nodes, node, door->address, &command);
    const struct ys_launch launch = {.argv = command.words,
                                     .env = ys_nodes_have_lines(nodes) ? NULL : env,
                                     .folder = folder,
                                     .program = YS_PROGRAM_OTHER};
    if (status == YS_OK)
        status = ys_launch_start(&launch, &node->process);
    if (status == YS_ENOTFOUND) { /* srun, say, is not on this host */
        ys_node_lose(node, YS_RUN_LOAD_FAILED, "the agent of %s cannot be started: %s", ys_node_title(node, title),
                     ys_error());
        status = YS_OK;
    } else if (status == YS_OK) {
        status = take_over(nodes, &launch, node);
    }
    ys_node_command_fini(&command);
    ys_free(folder);
    return status;
}

/** Of a token of the right length: takes as long whatever is wrong, so that nobody learns the token digit by digit. */
static bool is_token(const struct door *door, const char *said)
{
    unsigned difference = 0;
    if (strlen(said) != sizeof door->token - 1)
        return false;
    for (size_t i = 0; i < sizeof door->token - 1; i++)
        difference |= (unsigned char)(said[i] ^ door->token[i]);
    return difference == 0;
}

/** NULL: there is none of that number. */
static struct ys_run_node *node_of(struct ys_nodes *nodes, int64_t number)
{
    return number >= 0 && number < (int64_t)nodes->count ? &nodes->items[number] : NULL;
}

/** Says why an agent of `node`, NULL: of none, is refused. New string; NULL: it is welcome. One with a line of its own
 * has what a token shows: nobody else has that line. */
static char *refusal(const struct ys_nodes *nodes, bool has_token, const struct ys_run_node *node,
                     const struct ys_node_hello *hello)
{
    if (!has_token)
        return ys_strdup("its token is not that of this study");
    if (strcmp(hello->version, YS_VERSION) != 0)
        return ys_format("it is of yardstick %.40s, and the study of " YS_VERSION ": all hosts need the same version",
                         hello->version);
    if (!node || node->number != hello->node)
        return ys_format("it says that it is node %" PRId64 ", and there are %zu", hello->node, nodes->count);
    return node->channel ? ys_format("node %" PRId64 " is there already: agents of %.60s and of %.60s have that number",
                                     hello->node, node->hello.host, hello->host)
                         : NULL;
}

static void send_away(struct ys_channel *channel, const char *why)
{
    const struct ys_node_said said = {.t_ns = YS_FIELD_NONE, .asked_ns = YS_FIELD_NONE, .status = YS_FIELD_NONE};
    (void)!ys_node_send_said(channel, YS_NODE_REFUSED, said, why); /* it may have gone */
}

static bool welcome(struct ys_run_node *node, int fd, struct ys_channel *channel, const struct ys_node_hello *hello)
{
    if (ys_node_send(channel, YS_NODE_WELCOME, NULL, NULL) != YS_OK)
        return false;
    node->fd = fd;
    node->channel = channel;
    node->line = NULL;
    node->standing = YS_NODE_HERE;
    node->heard_ns = ys_time_ns();
    node->hello = *hello;
    return true;
}

/** Takes the agent, or its refusal into account. A stranger, who has not the token, does nothing to the run. */
static void receive(struct ys_nodes *nodes, const struct door *door, int fd, struct ys_channel *channel,
                    struct ys_node_hello *hello)
{
    const bool has_token = is_token(door, hello->token);
    struct ys_run_node *node = has_token ? node_of(nodes, hello->node) : NULL;
    char title[128], *why = refusal(nodes, has_token, node, hello);
    if (!why && node && welcome(node, fd, channel, hello))
        return;
    if (why)
        send_away(channel, why);
    if (why && node)
        ys_node_lose(node, YS_RUN_LOAD_FAILED, "the agent of %s was refused: %s", ys_node_title(node, title), why);
    else if (why)
        ys_log_warn("something on %.60s that said it was an agent was sent away: %s", hello->host, why);
    ys_free(why);
    ys_channel_close(channel);
    close(fd);
    ys_record_fini(&ys_node_hello_record, hello);
}

/** One that is started at the other end of a line has said something. What is no greeting is a shell's. */
static void receive_by_line(struct ys_nodes *nodes, struct ys_run_node *node)
{
    char title[128];
    struct ys_node_hello hello;
    ys_json *message = NULL;
    ys_status status = ys_channel_receive(node->line, 0, &message);
    if (status == YS_ETIMEOUT)
        return;
    if (status != YS_OK && ys_channel_eof(node->line)) { /* why is known when its starter has ended */
        ys_channel_close(node->line);
        node->line = NULL;
        return;
    }
    if (status == YS_OK)
        status = ys_record_read(&ys_node_hello_record, message, "an agent's greeting", &hello);
    ys_json_free(message);
    if (status != YS_OK) {
        ys_node_lose(
            node, YS_RUN_LOAD_FAILED,
            "the agent of %s is not the first to speak there: %s; a shell that is no terminal's has to be silent",
            ys_node_title(node, title), ys_error());
        return;
    }
    char *why = refusal(nodes, true, node, &hello);
    if (!why && welcome(node, node->fd, node->line, &hello))
        return;
    if (why) {
        send_away(node->line, why);
        ys_node_lose(node, YS_RUN_LOAD_FAILED, "the agent of %s was refused: %s", ys_node_title(node, title), why);
    }
    ys_free(why);
    ys_record_fini(&ys_node_hello_record, &hello);
}

/** Somebody has come to the door. Who says nothing, or something else, is no agent. */
static void let_in(struct ys_nodes *nodes, const struct door *door)
{
    const int on = 1, fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
    struct ys_channel *channel = NULL;
    struct ys_node_hello hello;
    ys_json *message = NULL;
    if (fd < 0)
        return; /* it has gone again */
    (void)!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ys_status status = ys_channel_open(fd, &channel);
    if (status == YS_OK)
        ys_channel_ignore_stop(channel);
    if (status == YS_OK)
        status = ys_channel_receive(channel, ys_time_ns() + GREETING_NS, &message);
    if (status == YS_OK)
        status = ys_record_read(&ys_node_hello_record, message, "an agent's greeting", &hello);
    ys_json_free(message);
    if (status == YS_OK) {
        receive(nodes, door, fd, channel, &hello);
        return;
    }
    ys_channel_close(channel);
    close(fd);
}

static bool is_awaited(const struct ys_run_node *node)
{
    return node->standing == YS_NODE_ABSENT;
}

/** 0: it is a rule, or empty. */
static int weigh(const char *line)
{
    if (strncmp(line, YS_NODE_AGENT ": ", sizeof YS_NODE_AGENT ": " - 1) == 0)
        return OF_AGENT;
    if (strstr(line, ": Exited with exit code "))
        return OF_END;
    return line[strspn(line, "-=*# \t\r")] ? OF_WORDS : 0;
}

/** What has come of its log, new; NULL: it has none. */
static char *log_of(struct ys_run_node *starter)
{
    if (!starter->log_path)
        return NULL;
    ys_log_file_drain(&starter->log);
    return ys_log_file_tail(&starter->log);
}

/** Why an agent did not come: of the log of it, or of what was to start it, the last line of those that weigh most.
 * Their weight; 0: there is none. */
static int find_why(struct ys_run_node *starter, char *line, size_t size)
{
    int weight = 0;
    char *rest = NULL, *tail = log_of(starter);
    line[0] = 0;
    for (char *at = tail ? strtok_r(tail, "\n", &rest) : NULL; at; at = strtok_r(NULL, "\n", &rest)) {
        const int own = weigh(at);
        if (own == 0 || own < weight)
            continue;
        weight = own;
        snprintf(line, size, "%s", at);
    }
    ys_free(tail);
    return weight;
}

/** Whether that is a line of the agent of `node`, which says why it ends: what it says; else NULL. */
static const char *words_of(const struct ys_run_node *node, const char *line)
{
    char begin[64];
    const size_t size = (size_t)snprintf(begin, sizeof begin, YS_NODE_AGENT ": node %" PRId64 " on ", node->number);
    const char *words = strncmp(line, begin, size) == 0 ? strstr(line + size, ": ") : NULL;
    return words ? words + 2 : NULL;
}

/** Of what has come of its log. */
static bool find_words(struct ys_run_node *starter, const struct ys_run_node *node, char *words, size_t size)
{
    bool is_found = false;
    char *rest = NULL, *tail = log_of(starter);
    for (char *at = tail ? strtok_r(tail, "\n", &rest) : NULL; at; at = strtok_r(NULL, "\n", &rest)) {
        const char *said = words_of(node, at);
        if (!said)
            continue;
        is_found = true;
        snprintf(words, size, "%s", said);
    }
    ys_free(tail);
    return is_found;
}

/** What the user can do about an agent that was not brought. */
static const char *remedy(const struct ys_nodes *nodes, const struct ys_run_node *starter)
{
    const int code = starter->process.ended_value;
    if (starter->process.ended_code != CLD_EXITED)
        return "";
    switch ((enum ys_launcher)nodes->spec->launcher) {
    case YS_LAUNCHER_SSH:
        if (code == 126 || code == 127)
            return "; yardstick has to be at the same path on all hosts";
        return code == 255 ? "; ssh has to get there without asking anything" : "";
    case YS_LAUNCHER_MPI:
        return geteuid() == 0
                   ? "; mpirun has to know a host for each node, with yardstick at the same path, and that of Open MPI "
                     "runs as root only where OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are set"
                   : "; mpirun has to know a host for each node, with yardstick at the same path";
    case YS_LAUNCHER_SLURM:
        return "; srun has to start a program on each node of the allocation, with yardstick at the same path";
    case YS_LAUNCHER_LOCAL:
        break;
    }
    return "";
}

static struct ys_run_node *starter_of(struct ys_nodes *nodes, struct ys_run_node *node)
{
    return node->is_shared ? nodes->items : node;
}

bool ys_node_last_words(struct ys_nodes *nodes, struct ys_run_node *node, char *words, size_t size)
{
    struct ys_run_node *starter = starter_of(nodes, node);
    const uint64_t until_ns = ys_time_ns() + (node->is_starter ? LAST_WORDS_NS : 0);
    while (!find_words(starter, node, words, size)) {
        if (!starter->log_path || starter->log.pipe_fd < 0 || ys_time_ns() >= until_ns)
            return false;
        struct pollfd source = {.fd = starter->log.pipe_fd, .events = POLLIN};
        poll(&source, 1, 50);
    }
    return true;
}

/** An agent that has ended before it came, or what was to start it. What starts others too goes on with them. */
static void look_for_end(struct ys_nodes *nodes, struct ys_run_node *node)
{
    char title[128], line[200];
    struct ys_run_node *starter = starter_of(nodes, node);
    const bool has_said_why = find_words(starter, node, line, sizeof line);
    ys_keeper_listen(&starter->process);
    if (!is_awaited(node) || (!starter->process.has_ended && !(node->is_shared && has_said_why)))
        return;
    const int weight = find_why(starter, line, sizeof line);
    ys_node_lose(node, YS_RUN_LOAD_FAILED, "the agent of %s ended before it had come%s%s%s", ys_node_title(node, title),
                 weight ? ": " : "", line, weight == OF_AGENT ? "" : remedy(nodes, starter));
}

/** What is to start it still tries, or waits. */
static void give_up(struct ys_nodes *nodes, struct ys_run_node *node)
{
    char title[128], line[200];
    const int weight = find_why(starter_of(nodes, node), line, sizeof line);
    ys_node_lose(node, YS_RUN_LOAD_FAILED, "the agent of %s did not come in %.0f s%s%s", ys_node_title(node, title),
                 (double)PATIENCE_NS * 1e-9, weight ? ": " : "", line);
}

static void look_at(struct ys_nodes *nodes, struct ys_run_node *node, uint64_t until_ns)
{
    if (is_awaited(node) && node->line)
        receive_by_line(nodes, node);
    if (is_awaited(node))
        look_for_end(nodes, node);
    if (is_awaited(node) && ys_time_ns() >= until_ns)
        give_up(nodes, node);
}

static ys_status wait_for_all(struct ys_nodes *nodes, const struct door *door)
{
    const uint64_t until_ns = ys_time_ns() + PATIENCE_NS;
    for (;;) {
        struct pollfd sources[2 * YS_NODES_MOST + 2] = {{.fd = door->fd, .events = POLLIN},
                                                        {.fd = ys_stop_fd(), .events = POLLIN}};
        size_t awaited = 0, lost = 0;
        for (size_t i = 0; i < nodes->count; i++) {
            struct ys_run_node *node = &nodes->items[i];
            sources[2 + 2 * i] = (struct pollfd){.fd = is_awaited(node) ? node->process.note_fd : -1, .events = POLLIN};
            sources[3 + 2 * i] = (struct pollfd){.fd = node->line ? node->fd : -1, .events = POLLIN};
            awaited += is_awaited(node);
            lost += node->standing == YS_NODE_LOST;
        }
        if (awaited == 0 || lost > 0)
            return YS_OK;
        if (ys_stop_signal())
            return ys_stopped();
        poll(sources, (nfds_t)(2 * nodes->count + 2), 100);
        if (sources[0].revents)
            let_in(nodes, door);
        for (size_t i = 0; i < nodes->count; i++)
            look_at(nodes, &nodes->items[i], until_ns);
    }
}

ys_status ys_nodes_start(struct ys_nodes *nodes)
{
    struct door door = {.fd = -1};
    const size_t started = ys_nodes_have_one_starter(nodes) ? 1 : nodes->count;
    ys_status status = ys_nodes_have_lines(nodes) ? YS_OK : open_door(nodes, &door);
    for (size_t i = 0; status == YS_OK && i < started; i++)
        status = start_agent(nodes, &door, &nodes->items[i]);
    if (status == YS_OK)
        status = wait_for_all(nodes, &door);
    close_door(&door);
    return status;
}

/** Waits for a starter of agents elsewhere, to which nothing is said any more, to end as they do; where the user asks
 * again to stop, no longer than `least_ns`. */
static void await_parting(struct ys_run_node *node, uint64_t patience_ns, uint64_t least_ns)
{
    const uint64_t begin_ns = ys_time_ns();
    ys_keeper_listen(&node->process);
    while (!node->process.has_ended && !node->process.is_lost &&
           ys_time_ns() < begin_ns + (ys_stop_insisted() ? least_ns : patience_ns)) {
        struct pollfd source = {.fd = node->process.note_fd, .events = POLLIN};
        poll(&source, 1, 100);
        if (node->log_path)
            ys_log_file_drain(&node->log);
        ys_keeper_listen(&node->process);
    }
}

/** Has the keeper kill what is left below it, and waits for that. */
static bool end_all(struct ys_started *process)
{
    const uint64_t until_ns = ys_time_ns() + KILL_PATIENCE_NS;
    struct ys_launch_note note;
    while (ys_time_ns() < until_ns && !process->is_lost) {
        ys_keeper_order(process, true);
        struct pollfd source = {.fd = process->note_fd, .events = POLLIN};
        poll(&source, 1, 1000);
        while (ys_keeper_take(process, &note))
            if (note.kind == YS_LAUNCH_REAPED && note.value == 0)
                return true;
        nanosleep(&(struct timespec){.tv_nsec = ORDER_PAUSE_NS}, NULL);
    }
    return process->is_lost;
}

void ys_node_part(struct ys_run_node *node)
{
    ys_channel_close(node->channel);
    ys_channel_close(node->line);
    node->channel = node->line = NULL;
    if (node->fd >= 0)
        close(node->fd);
    node->fd = -1;
}

/** What it has started on other hosts is out of reach of its keeper: an agent that is stopped, say, is srun's to end.
 */
static void end_starter(struct ys_run_node *node)
{
    await_parting(node, PARTING_NS, 0);
    if (node->process.has_ended || node->process.is_lost || kill(node->process.pid, SIGTERM) != 0)
        return;
    await_parting(node, ENDING_NS, ENDING_NS);
}

void ys_node_finish(struct ys_run_node *node)
{
    ys_node_part(node);
    if (node->process.keeper > 0 && node->process.pid > 1 && node->is_starter)
        end_starter(node);
    if (node->process.keeper > 0)
        ys_keeper_dismiss(&node->process, end_all(&node->process));
    if (!node->log_path)
        return;
    ys_log_file_drain(&node->log);
    ys_log_file_close(&node->log);
    if (node->log.written == 0)
        unlink(node->log_path);
    ys_free(node->log_path);
    node->log_path = NULL;
}
