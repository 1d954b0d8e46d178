/* Shared by the files of a run on several hosts; nobody else includes it. */
#ifndef YS_RUN_NODES_STATE_H
#define YS_RUN_NODES_STATE_H

#include "run/agent_message.h"
#include "run/clocks.h"
#include "run/nodes.h"
#include "session/log_file.h"

#include <netinet/in.h>

#define YS_NODES_MOST YS_SESSIONS_MOST
#define YS_NODE_AGENT "yardstick-node" /* the program, and how its lines begin */

enum ys_node_standing {
    YS_NODE_ABSENT, /* it has not come yet */
    YS_NODE_HERE,   /* it has, and has no job yet */
    YS_NODE_BUSY,   /* its ranks are asked something */
    YS_NODE_IS_READY,
    YS_NODE_HAS_FAILED, /* one of its ranks has; it waits for the end of the run */
    YS_NODE_HAS_TOLD,   /* what it saw is taken */
    YS_NODE_LOST,       /* nothing more is to be had of it */
};

/** A host of the run. */
struct ys_run_node {
    int64_t number;
    size_t first, count; /* its ranks */
    enum ys_node_standing standing;
    const char *named;         /* as the user names its host; NULL: nobody does */
    struct ys_started process; /* the agent, below its keeper, or what starts it elsewhere; where one starter has all
                                  agents it is that of node 0 */
    bool is_starter;           /* it ends when the agents that it has started have */
    bool is_shared;            /* these are those of all nodes */
    struct ys_log_file log;    /* what it prints, which is little where all is well */
    char *log_path;            /* NULL: there is none */
    int fd;
    struct ys_channel *channel; /* NULL: none */
    struct ys_channel *line; /* to one that is not here yet, by its own input and output; NULL: it comes by the door */
    struct ys_node_hello hello; /* once it has come */
    struct ys_node_alive alive; /* as last heard */
    bool is_done;               /* its ranks are at the end of their order */
    bool is_ending;             /* it was told that the run is over */
    uint64_t heard_ns;
    uint64_t asked_ns;          /* when it got the last ping */
    bool is_asked_beside;       /* that was one during the run */
    int64_t pong_ns;            /* the answer to that, by its clock; YS_FIELD_NONE: not there yet */
    struct ys_clock_pair clock; /* how it relates to ours */
    bool is_stopped;            /* something else than yardstick asked it to end, by a signal */
    /* Of one that is lost, or has told of trouble of its own. */
    enum ys_run_status status;
    char *message;
    uint64_t failed_ns;
};

struct ys_nodes {
    const struct ys_run_spec *spec;
    struct ys_rank_plans *plans;
    struct ys_run_record *own;
    struct ys_session_end *ends; /* of each rank */
    size_t count;
    struct ys_run_node *items;
    char *reason;    /* why the run ended that is no fault of its ranks'; NULL: there is none */
    bool is_stopped; /* by the user's wish, which is followed already */
};

/** Starts the agents and waits until all are there. One that does not come, or is refused, is lost. YS_EINTR: the user
 * asked to stop; YS_EIO: a failure of yardstick's own. */
ys_status ys_nodes_start(struct ys_nodes *nodes) YS_MUST_CHECK;
/** Ends the agent and all that it started, and waits for that. Of one that has not come nothing is there to end. */
void ys_node_finish(struct ys_run_node *node);
/** Why the agent, which has gone, gave up by itself, as its last line says; waits a moment for that where it comes from
 * elsewhere. False: it said nothing, as one that was killed. */
bool ys_node_last_words(struct ys_nodes *nodes, struct ys_run_node *node, char *words, size_t size);
/** Closes what it speaks by: it then ends its ranks and itself. */
void ys_node_part(struct ys_run_node *node);

/** The command by which an agent is started, or all are. */
struct ys_node_command {
    const char *words[24]; /* ended by NULL */
    char *program, *remote, *options[3];
};
/** That of `node`, or of all, by spec->launcher. `address`: where the study listens for agents ("HOST:PORT"); not
 * looked at where they speak by their own input and output. YS_ENOTFOUND: there are no such hosts, as without an
 * allocation; YS_EIO: the agent's program is not there. What was made is to be freed after a failure too. */
ys_status ys_node_command_make(const struct ys_nodes *nodes, const struct ys_run_node *node, const char *address,
                               struct ys_node_command *command) YS_MUST_CHECK;
void ys_node_command_fini(struct ys_node_command *command);
/** Whether agents speak to the study by their own input and output. */
bool ys_nodes_have_lines(const struct ys_nodes *nodes);
/** Whether one program starts all of them. */
bool ys_nodes_have_one_starter(const struct ys_nodes *nodes);
/** The address of this host at which agents reach it: of the loopback interface where they are here too, else that of
 * the host's name, or of its first interface. */
struct in_addr ys_nodes_address(const struct ys_nodes *nodes);

/** Nothing more is to be had of it: it is ended, and its ranks that it has not told of are `status`, because of what
 * `format` says. The first reason stays. */
void ys_node_lose(struct ys_run_node *node, enum ys_run_status status, const char *format, ...) YS_PRINTF(3, 4);
/** Its number and its name, for messages: "node 1 (host)". Until it has come its name is not known. */
const char *ys_node_title(const struct ys_run_node *node, char text[128]);

/** One look at all of them, which waits until something is said, a quarter of a second has passed, or it is `until_ns`.
 * Sets what they say in them, and loses those that have gone, or are silent. YS_EINTR once the user asks to stop. */
ys_status ys_nodes_listen(struct ys_nodes *nodes, uint64_t until_ns) YS_MUST_CHECK;
/** Sends it a message, `why` being NULL or a reason; one that cannot be reached is lost. */
void ys_node_say(struct ys_run_node *node, enum ys_node_word word, const char *why);

/** Relates the clocks of all hosts to this one's; again at the end of the run. One that does not answer is lost. */
ys_status ys_nodes_ping(struct ys_nodes *nodes, bool at_end) YS_MUST_CHECK;
/** Asks those whose clock is another for the time, where that was not done for a while; does not wait for answers,
 * which ys_nodes_listen() takes. */
void ys_nodes_ping_beside(struct ys_nodes *nodes);

#endif
