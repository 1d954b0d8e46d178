/* How an agent (run/agent.h) reaches its study, and at which address other hosts reach its own. Of this room alone. */
#ifndef YS_RUN_AGENT_REACH_H
#define YS_RUN_AGENT_REACH_H

#include "protocol/channel.h"

#include <netinet/in.h>

struct ys_node_reached {
    int fd; /* a connection; -1: the program's own standard input and output */
    struct ys_channel *channel;
    char address[INET_ADDRSTRLEN]; /* at which other hosts reach this one */
};

/** The study listens at `study`, "HOST:PORT" with an IPv4 address; or it is "-" and at the other end of the program's
 * standard input and output. Other hosts reach this one at `own`, or, where that is NULL, as the study does: at the
 * address that a connection to it has here, or that ssh says it came to (SSH_CONNECTION). YS_EINVAL: `study` or `own`
 * is no such thing, or ssh says no address of IPv4; YS_EIO: the study is not there. */
ys_status ys_node_reach(const char *study, const char *own, struct ys_node_reached *reached) YS_MUST_CHECK;
void ys_node_leave(struct ys_node_reached *reached);

/** The number of a host in its run, from 0 on: `word` is that, or the name of the variable that has it, which whoever
 * starts the agents sets for each. Others may be set too, by what has started the study. YS_EINVAL: neither. */
ys_status ys_node_number(const char *word, int64_t *number) YS_MUST_CHECK;

#endif
