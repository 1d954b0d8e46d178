/* The agent of a host: the program yardstick-node, which has some of the ranks of a run. It reaches the study where
 * that listens, and shows the token that it was given (the variable YARDSTICK_NODE_TOKEN, which no list of processes
 * shows), or speaks to it by its own standard input and output, which ssh carries. It says who it is. Then it does what
 * it is told (run/agent_message.h): starts its ranks, samples them, watches their limits and waits for their ends, all
 * by the crew that ranks of the study's own host have too (crew/crew.h), and keeps what it saw until the study has
 * taken it.
 *
 * It serves one run. When the study goes, whatever way, it ends its ranks and itself; when the agent goes, the keepers
 * of its ranks end them (session/keeper.h). */
#ifndef YS_RUN_AGENT_H
#define YS_RUN_AGENT_H

#include <stdint.h>

/** Serves the study at `address` (run/agent_reach.h), as the host `node` of its run, counted from 0, which others reach
 * at `own`, where that is not NULL.
 * @return the exit code of the program: 0 when the study has taken everything; 1 when it has gone, or cannot be
 * reached; 2 when it refused the agent (another token or version, a node that is there already). Why is said on
 * stderr, in one sentence. */
int ys_node_serve(const char *address, int64_t node, const char *own);

#endif
