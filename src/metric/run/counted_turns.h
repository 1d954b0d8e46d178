/* Of a run by turns (run/turns.h) the questions that count. */
#ifndef YS_METRIC_RUN_COUNTED_TURNS_H
#define YS_METRIC_RUN_COUNTED_TURNS_H

#include "base/status.h"
#include "stat/series.h"
#include <stdbool.h>

/** Into `kept` (overwritten, to be freed): the tables of blocks and of questions without those that settle and those of
 * dropped cycles, whose time, by yardstick's clock, is *left_ns. What a member used of a processor while others had
 * their turn is put before its next question, as if it had been sent so much earlier. A run that took no turns has none
 * of it: false, and `kept` is empty and *left_ns 0. */
bool ys_kept_find(const struct ys_series_set *series, struct ys_series_set *kept, int64_t *left_ns);

#endif
