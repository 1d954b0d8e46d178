/* A run as trace events: the JSON that Perfetto's UI and chrome://tracing open ("Trace Event Format", Google, 2016). */
#ifndef YS_REPORT_TRACE_EVENTS_H
#define YS_REPORT_TRACE_EVENTS_H

#include "base/buf.h"
#include "crew/facts.h"
#include "stat/series.h"

struct ys_report_trace {
    bool begun; /* an event was written: the next one needs a comma before it */
};

/** Appends what comes before the first event, after the last, and the events of one run: it as a process of number
 * `run`, its phases as slices of a thread, what it was asked for, its blocks and, of ranks that tell, the parts of its
 * steps as those of another (of one for each rank), what was sampled of it as counters. Times are microseconds of the
 * clock that all runs of a study share. A series that does not fit its time stamps is left out. */
void ys_report_trace_head(struct ys_buf *out);
void ys_report_trace_run(struct ys_report_trace *trace, int64_t run, const char *trial, const struct ys_facts *facts,
                         const struct ys_series_set *series, struct ys_buf *out);
void ys_report_trace_tail(struct ys_buf *out);

#endif
