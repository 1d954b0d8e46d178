/* What a run took until its target was met (key `until`). */
#ifndef YS_METRIC_RUN_TARGET_REACHED_H
#define YS_METRIC_RUN_TARGET_REACHED_H

#include "crew/facts.h"
#include "stat/series.h"

/** Each NaN where there is none, for `reason`. */
struct ys_target_reached {
    double time_ns, steps; /* trained before the checkpoint that met it */
    double grain_ns;       /* of these, behind the checkpoint before */
    double limit_ns;       /* trained without meeting it */
    char reason[240];      /* why the first three are NaN; "" where they are not */
    char no_limit[240];    /* likewise the last */
    char note[160];        /* between which steps it was met; "" */
};

/** `first` and `spans` of the run's `blocks`, as metric/run/work_span.h has them; a run without facts of a target, or
 * without blocks, has nothing. */
void ys_target_find(const struct ys_facts *facts, const struct ys_series *first, const int64_t *spans, size_t blocks,
                    struct ys_target_reached *found);

#endif
