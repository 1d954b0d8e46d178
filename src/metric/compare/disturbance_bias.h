/* What the machine took from a run, as a part of each of its metrics. Of this room alone. */
#ifndef YS_METRIC_COMPARE_DISTURBANCE_BIAS_H
#define YS_METRIC_COMPARE_DISTURBANCE_BIAS_H

#include "metric/study_view.h"

/** By how large a part of its value metric `m` of ys_compared, a time or the time that a speed is of, could be shorter
 * were what was taken from the run given back: 0 of a quiet run and of what is no time, else below 1; NaN: nobody
 * knows. `window`: what the run is compared over. */
double ys_taken_part(const struct ys_metric_view_run *run, const struct ys_run_window *window, int m);

/** Whether anything can be taken from metric `m` of ys_compared. */
bool ys_taken_is_part(int m);

/** ys_taken_part() of any metric, by its place in ys_metric_infos(), over the run's own window. A time that no more is
 * known of can have lost all that was taken from the run. */
double ys_taken_part_of(const struct ys_metric_view_run *run, size_t place);

/** Adds a round of these two runs to what was taken from those of a comparison, where something was and it is known how
 * much. `rounds` begins as YS_TAKEN_NOTHING. */
#define YS_TAKEN_NOTHING ((struct ys_comparison_taken){.least = NAN, .most = NAN})
void ys_taken_add(const struct ys_metric_view_run *a, const struct ys_metric_view_run *b,
                  struct ys_comparison_taken *rounds);

#endif
