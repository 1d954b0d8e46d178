/* As of which rounds a study's comparisons are made, and how sure: of a fixed number of rounds as of all; of a study
 * that goes on until it is decided as of each look (stat/looks.h) that was reached. Of this room alone. */
#ifndef YS_METRIC_COMPARE_DECISION_LOOKS_H
#define YS_METRIC_COMPARE_DECISION_LOOKS_H

#include "metric/study_view.h"
#include "stat/looks.h"

struct ys_moment {
    int64_t rounds; /* those before it */
    double level;   /* the least of its intervals, of a family together */
};

struct ys_moments {
    struct ys_moment items[YS_LOOKS_MOST];
    size_t count; /* at least one */
    bool decides; /* the rounds go on until comparisons are decided */
    int metric;   /* of ys_compared, by which; -1: by latency of trials that infer, by speed of others. Where the
                     requests of a trial were timed together it is the speed of all */
};

/** The looks that were reached and, where complete rounds lie behind the last of them, these as if the next look were
 * now: it is where the study was ended by its time limit. */
struct ys_moments ys_moments_of(const struct ys_metric_view *view);
/** All looks that the study may have; 0: its number of rounds is fixed. */
size_t ys_moments_looks(const struct ys_metric_view *view, struct ys_look looks[YS_LOOKS_MOST]);
/** Whether the comparisons of two trials, of which this is one, are decided by metric `m` of ys_compared. */
bool ys_moments_decide(const struct ys_moments *moments, const struct ys_metric_view_trial *trial, int m);
/** Rounds that the study has, as far as that is known: of one that was decided those that it took. */
int64_t ys_moments_rounds(const struct ys_metric_view *view);

#endif
