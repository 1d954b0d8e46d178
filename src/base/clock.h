/* Time. All times in yardstick are nanoseconds of CLOCK_MONOTONIC, which every process of this machine shares. */
#ifndef YS_BASE_CLOCK_H
#define YS_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

uint64_t ys_time_ns(void);

/** Seconds since the Unix epoch (CLOCK_REALTIME), for dates only. */
int64_t ys_date_s(void);
/** "2026-11-21T03:58:02Z" into `text`, which holds at least 21 bytes. */
void ys_date_text(int64_t date_s, char *text, size_t size);

/** "1.5 s", "320 ms", "2 min 05 s": a span for people, into `text`; returns `text`. */
char *ys_span_text(double span_s, char *text, size_t size);

#endif
