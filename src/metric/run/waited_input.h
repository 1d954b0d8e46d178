/* What of the time that an adapter says it waited for rows can have been one. Of this room alone. */
#ifndef YS_METRIC_RUN_WAITED_INPUT_H
#define YS_METRIC_RUN_WAITED_INPUT_H

#include "crew/facts.h"

/** The part of `said_ns`, in steps that took `span_ns` on so many threads, that may be waiting: while its processes
 * computed on all threads it did not wait. Copying rows is computing, of which a twentieth of the span is let pass. 1
 * where nobody knows what they used. */
double ys_waited_part(int64_t span_ns, int64_t said_ns, int64_t threads, const struct ys_facts_phase_cpu *cpu);

#endif
