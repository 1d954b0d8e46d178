/* A run on this host while it is under way: its crew, with its plans and where its record goes. What goes through the
 * order of its phases in between is run/execute.c, or, with those of others, run/turns.c. */
#ifndef YS_RUN_LOCAL_RUN_H
#define YS_RUN_LOCAL_RUN_H

#include "crew/crew.h"
#include "crew/ranks.h"

struct ys_local_run {
    const struct ys_run_spec *spec; /* borrowed, as the next */
    struct ys_run_record *record;
    bool is_open; /* there is a crew */
    struct ys_crew crew;
    /* Of several ranks: */
    struct ys_rank_plans plans;
    struct ys_run_record *own; /* of each; of one process alone `record` */
    size_t count;
};

/** Starts its processes, as ys_crew_begin(). It is to be ended whatever comes of it; `record` is overwritten. */
ys_status ys_local_run_begin(const struct ys_run_spec *spec, struct ys_run_record *record,
                             struct ys_local_run *going) YS_MUST_CHECK;
/** Ends them and completes the record, `status` (and ys_error()) being how it went. What is returned is that of
 * ys_run_execute(). */
ys_status ys_local_run_end(struct ys_local_run *going, ys_status status) YS_MUST_CHECK;

#endif
