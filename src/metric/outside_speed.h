/* How fast a run was as seen from outside. Of this room alone.
 *
 * A speed is of the steady part of a run, in blocks that the adapter tells. What of the work was done before, ahead of
 * being asked, is in no block: but it took time, which looks from outside as compilation does. So a run has two
 * figures: that of its steady part, and that of the whole, from the question `open` on, without saves, pauses and turns
 * of others. Where the time before the steady part is more than the proof's own sessions and warm-up of its blocks
 * explain, and long enough to hold work, the truth lies anywhere from the one to the other (docs/proof.md). */
#ifndef YS_METRIC_OUTSIDE_SPEED_H
#define YS_METRIC_OUTSIDE_SPEED_H

#include "metric/run/run_windows.h"
#include "store/stored_trial.h"

struct ys_metric_view_run;
struct ys_metric_view_trial;

/** What is no more than this part of the steady part holds no work that matters. */
#define YS_OUTSIDE_SMALL 0.05

struct ys_run_outside {
    double ahead_s; /* before the steady part, of which nothing is known that explains it; 0: too little to matter */
    double steps;   /* of a run that is long enough for it not to matter; of inference requests */
    double whole[YS_WINDOW_METRICS]; /* the other end of each metric of the steady part, which is the worse one; NaN:
                                        there is none */
};

/** `outside` of all runs of a trial whose metrics and facts are there. What of a run is not explained counts no further
 * than in the fourth of its trial's runs that have least of it: what fewer runs than most do moves no verdict, and a
 * machine that is slow for a while makes some openings longer, an adapter that works ahead all of them. What steps took
 * that settle in, in a run by turns, counts whole. */
void ys_outside_find(struct ys_metric_view_trial *trial);

/** How far the truth may lie beyond `value` of metric `m` of ys_compared, on its worse side: a logarithm, at least 0.
 */
double ys_outside_reach(const struct ys_run_outside *outside, int m, double value);

/** Adds to `texts`, an array, in words that follow a trial's name, how far apart the two ends lie in its runs. */
void ys_outside_say(const struct ys_metric_view_trial *trial, ys_json *texts);

#endif
