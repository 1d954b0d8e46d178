/* A run whose ranks are on several hosts: the study's side. Each host has an agent (run/node.h), which is started for
 * the run and gone after it; until all have come the study listens for them, and no longer. They go from question to
 * question together: the next one is asked when the ranks of all hosts have answered theirs.
 *
 * Agents are started by the study itself, on its own host (launch = local): as processes below a keeper, so that none
 * of them, nor what they start, outlives the study. What ranks read and write lies in folders that all hosts see. */
#ifndef YS_RUN_NODES_H
#define YS_RUN_NODES_H

#include "run/ranks.h"
#include "run/run.h"

/** Runs the ranks of `plans` on spec->nodes hosts, the first ones on the first, and makes one record of theirs, as
 * ys_run_execute() does of the ranks of one host. `own` has room for a record of each rank, which the caller frees.
 *
 * An agent that does not come, is refused, or reads other bytes in a file than the study makes the run load_failed; one
 * that is killed makes it killed, one of which nothing is heard for 30 s stalled, one that breaks the rules of
 * run/node_message.h protocol_error. The message names node and host. Results are those of ys_run_execute(). */
ys_status ys_nodes_execute(const struct ys_run_spec *spec, const struct ys_rank_plans *plans, struct ys_run_record *own,
                           struct ys_run_record *record) YS_MUST_CHECK;

#endif
