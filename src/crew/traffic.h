/* What went through network interfaces while a run of several processes trained: from the end of its first step to that
 * of its last, as all that is told of its steps. Of this room alone. */
#ifndef YS_CREW_TRAFFIC_H
#define YS_CREW_TRAFFIC_H

#include "crew/facts.h"
#include "crew/run_state.h"

/** Looks at the counters of the network namespace that the rank's process is in, or that its adapter says its
 * connections are in. At the end of the first step, and at that of the last; nothing of one process alone. Never while
 * timing. */
void ys_traffic_begin(struct ys_run *run);
void ys_traffic_end(struct ys_run *run);
/** Adds what passed meanwhile to `facts->networks`, as of a network with this rank alone. */
void ys_traffic_fill(const struct ys_run *run, struct ys_facts *facts);
void ys_traffic_fini(struct ys_run *run);

/** The networks of `count` ranks, which each have one at most and lose it, become `networks`: ranks that are in one are
 * told of once, with the counts that the first of them saw. `ranks` says where each was. */
void ys_traffic_join(struct ys_run_record *const *own, size_t count, const struct ys_facts_rank *ranks,
                     struct ys_list *networks);

#endif
