/* The machines that a run of several ranks was on. What else a machine does slows the ranks that it has and no others,
 * so where there are several each is looked at by itself. */
#ifndef YS_RUN_RANK_MACHINES_H
#define YS_RUN_RANK_MACHINES_H

#include "crew/run_spec.h"

/** Adds what a process, or a run on one machine, took of it: all but node, host and disturbance. */
void ys_machine_add(struct ys_facts_machine *machine, const struct ys_facts *facts);

/** Appends struct ys_facts_machine to `machines`, in the order of their ranks; nothing where all ranks were on one. Of
 * each rank there is what was recorded of it, before it is joined to others, and a struct ys_facts_rank in `ranks`;
 * `hosts` are the struct ys_facts_node of the run, in their order. */
void ys_machines_join(struct ys_run_record *const *own, const struct ys_list *ranks, const struct ys_list *hosts,
                      struct ys_list *machines);

#endif
