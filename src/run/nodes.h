/* A run whose ranks are on several hosts: the study's side. Each host has an agent (run/agent.h), which is started for
 * the run and gone after it. They go from question to question together: the next one is asked when the ranks of all
 * hosts have answered theirs.
 *
 * Agents are started by the study itself (run/node_commands.c): on its own host, or elsewhere by ssh, mpirun or srun,
 * all as processes below a keeper, so that none of them outlives the study; agents elsewhere end when nobody speaks to
 * them any more. Those of ssh speak through it; all others come by TCP, for which the study listens until all are
 * there, and no longer. What ranks read and write lies in folders that all hosts see. */
#ifndef YS_RUN_NODES_H
#define YS_RUN_NODES_H

#include "crew/ranks.h"
#include "crew/run_spec.h"

/** Runs the ranks of `plans` on spec->nodes hosts, the first ones on the first, and makes one record of theirs, as
 * ys_run_execute() does of the ranks of one host. The plans are told where ranks meet, once the host of
 * rank 0 has said it. `own` has room for a record of each rank, which the caller frees.
 *
 * An agent that does not come, is refused, or reads other bytes in a file than the study makes the run load_failed; one
 * that is killed makes it killed, one of which nothing is heard for 30 s stalled, one that breaks the rules of
 * run/agent_message.h protocol_error. The message names node and host. Results are those of ys_run_execute(). */
ys_status ys_nodes_execute(const struct ys_run_spec *spec, struct ys_rank_plans *plans, struct ys_run_record *own,
                           struct ys_run_record *record) YS_MUST_CHECK;

#endif
