/* What a study and the agent of a host (run/agent.h) say to one another: one JSON object a line (protocol/channel.h),
 * as adapters do, whose member `type` is one of the words below. Both are of one version, which they see to first; this
 * is no public format.
 *
 *     agent                        study
 *     hello   who it is       ->
 *                             <-   welcome, or refused with why: the agent ends
 *     pong                    <->  ping, a few times: how its clock relates
 *                             <-   job: what its ranks are to do. They are started
 *     alive   each second     ->
 *     ready   all of its ranks have answered, and have been looked at
 *                             ->
 *                             <-   go: to the next question, once all hosts are ready
 *     pong                    <->  ping, now and then: hosts whose clock is another
 *     failed  one of its ranks has, or could not be started
 *                             ->
 *                             <-   end: of the run, however it went
 *     series, rank            ->   what it saw of each
 *     told                    ->   that was all
 *     pong                    <->  ping
 *                             <-   bye: it has taken everything, the agent ends */
#ifndef YS_RUN_AGENT_MESSAGE_H
#define YS_RUN_AGENT_MESSAGE_H

#include "base/json/record.h"
#include "crew/run_spec.h"
#include "protocol/channel.h"

#define YS_NODE_TOKEN_BYTES    33 /* 128 bits in hexadecimal digits, and the 0 */
#define YS_NODE_TOKEN_VARIABLE "YARDSTICK_NODE_TOKEN"

enum ys_node_word {
    YS_NODE_HELLO,
    YS_NODE_WELCOME,
    YS_NODE_REFUSED,
    YS_NODE_PING,
    YS_NODE_PONG,
    YS_NODE_JOB,
    YS_NODE_ALIVE,
    YS_NODE_READY,
    YS_NODE_GO,
    YS_NODE_FAILED,
    YS_NODE_END,
    YS_NODE_SERIES,
    YS_NODE_RANK,
    YS_NODE_TOLD,
    YS_NODE_BYE,
};
extern const struct ys_names ys_node_words;
/** YS_NAME_NONE where it is none of them. */
int ys_node_word(const ys_json *message);

/** hello: who the agent is, and what its host is. Unknown numbers are null. */
struct ys_node_hello {
    int64_t node;
    char *token, *version;
    char *host;    /* its name */
    char *clock;   /* the kernel and the time namespace whose clock it has: equal texts are one clock; "" is unknown */
    char *address; /* of IPv4, at which ranks of other hosts reach its own */
    char *place;   /* "ADDRESS:PORT" there, which it holds as long as it runs: where the ranks meet if it has rank 0 */
    char *cpu, *kernel;
    int64_t cpus, memory_bytes; /* that it may use */
    struct ys_list cpu_order;   /* int64_t: those, in the order in which a run takes them (probe/host.h) */
};

/** A file that ranks read: what is in it, as the study reads it. */
struct ys_node_file {
    char *path, *sha256;
};

/** job: what struct ys_run_spec says, and the plan of each rank of the host. */
struct ys_node_job {
    struct ys_list plans;              /* struct ys_plan */
    struct ys_list argv, env, guarded; /* char *: guarded are folders, as of ys_guard_protect() */
    char *kept;                        /* NULL: none */
    struct ys_list files;              /* struct ys_node_file */
    double stall_limit_s, run_time_limit_s, cpu_time_limit_s, sample_hz, stop_grace_s;
    int64_t memory_limit_bytes, round;
    bool listens;
};

/** alive: where the host's first rank is. */
struct ys_node_alive {
    int stage; /* enum ys_stage */
    int64_t steps;
};

/** What several words say: refused, failed and end why (NULL: nobody's fault), ready whether all ranks of the host are
 * at the end of their order, ping the time by the study's clock and pong that by the agent's, with the ping's; told a
 * failure of the agent's own, and then `status` is one of enum ys_status. */
struct ys_node_said {
    char *message;
    bool is_done;
    int64_t t_ns, asked_ns, status;
};

/** series: numbers of one rank in their order, which may come in several messages. */
struct ys_node_series {
    int64_t rank;
    char *name;
    bool is_real;          /* then the numbers are the bits of doubles */
    struct ys_list values; /* int64_t */
};
enum { YS_NODE_SERIES_MOST = 65536 }; /* numbers in a message */

/** rank: what is known of it, and of its end what its facts do not say. */
struct ys_node_rank {
    int64_t rank;
    ys_json *facts;
    bool is_told, is_stopped; /* as in struct ys_session_end */
    int64_t failed_ns;
};

extern const struct ys_record ys_node_hello_record, ys_node_job_record, ys_node_alive_record, ys_node_said_record,
    ys_node_series_record, ys_node_rank_record;

/** Sends `word` with the members of `item`, a struct of `record`; without any where that is NULL. Failures are those of
 * ys_channel_send(). */
ys_status ys_node_send(struct ys_channel *channel, enum ys_node_word word, const struct ys_record *record,
                       const void *item) YS_MUST_CHECK;
/** Sends `word` with what `said` says, and `why` as its message, which may be NULL. */
ys_status ys_node_send_said(struct ys_channel *channel, enum ys_node_word word, struct ys_node_said said,
                            const char *why) YS_MUST_CHECK;
/** Sends all series of `set`, which are of `rank`. */
ys_status ys_node_send_series(struct ys_channel *channel, int64_t rank, const struct ys_series_set *set) YS_MUST_CHECK;
/** Adds what a message `series` says to `set`. YS_EPROTOCOL: the name is none that a series can have. */
ys_status ys_node_take_series(const struct ys_node_series *said, struct ys_series_set *set) YS_MUST_CHECK;

/** The name of this host's clock, for `clock`. New string. */
char *ys_node_clock(void);

#endif
