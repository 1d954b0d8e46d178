/* How long the work took by yardstick's own clock: the time of the requests, no part of which is left out. */
#ifndef YS_METRIC_RUN_WORK_SPAN_H
#define YS_METRIC_RUN_WORK_SPAN_H

#include "stat/series.h"
#include <stddef.h>
#include <stdint.h>

/** The blocks of a training: what each takes, in ns, into spans[count]. From the end of the block before it, or from
 * when its request was sent, to its own end, or to the answer `done` of its request: what an adapter does between two
 * blocks belongs to the later one. Runs that were stored without their requests: from its start to its end. */
void ys_span_of_blocks(const struct ys_series_set *series, size_t count, int64_t *spans);

/** The requests of a run that infers, likewise: the latency of each, and its share of what its message took beside the
 * latencies. */
void ys_span_of_latencies(const struct ys_series_set *series, size_t count, int64_t *spans);
/** How many requests were timed together, at most: above 1 none has a time of its own. */
int64_t ys_span_group(const struct ys_series_set *series);

/** Of several ranks the slowest, over its blocks after the first: none of them is done with a batch before it is. */
void ys_span_slowest(const struct ys_series_set *series, int64_t ranks, struct ys_series_set *slowest);

/** Processor time between two times, in seconds, at most: from the last sample before the one to the first behind the
 * other. NaN where there are none. */
double ys_span_cpu_s(const struct ys_series_set *series, int64_t from_ns, int64_t to_ns);

#endif
