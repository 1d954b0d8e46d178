/* One trial over all stored studies, and where it changed.
 *
 * Its points are studies, in order of date; a point is the median of the trial's runs. Change points are found by
 * binary segmentation: of a stretch of at least YS_HISTORY_POINTS points the split with the largest rank sum statistic
 * (Pettitt's) is a change where that statistic is exceeded by at most 1 in 100 of the permutations of the stretch, and
 * the medians of both parts differ by more than the margin; then both parts are looked at. What the machine took from
 * runs, and how slow they may be as a whole, bounds that: a change must be one at the worse ends too, and points of too
 * few runs without a doubt tell nothing. So a history without any change shows one in at most 1 of 100. Sources:
 * Pettitt 1979, "A non-parametric approach to the change-point problem"; permutations in the place of its table:
 * Matteson and James 2014, "A nonparametric approach for multiple change point analysis". */
#ifndef YS_JUDGE_HISTORY_H
#define YS_JUDGE_HISTORY_H

#include "base/json/record.h"
#include "store/store.h"

#define YS_HISTORY_SCHEMA "yardstick/history/1"
#define YS_HISTORY_POINTS 8    /* fewer tell nothing: of 7 points no split is as rare as 1 in 100 */
#define YS_HISTORY_LEVEL  0.01 /* how often a stretch without a change shows one, at most */

struct ys_history_point {
    int64_t study;
    char *started, *version; /* version: of the framework, "" where it has none */
    double value;            /* median; NaN: no run succeeded */
    int64_t n;
    double low, high;  /* not in the document: `value` at both ends of its runs (ys_judge_ends()), of those of which is
                          known how much the machine took; NaN where it is known of too few */
    struct ys_list ci; /* double: both ends, or empty */
    struct ys_list anchor; /* double: how fast the machine was against the first point that says it, least and most of
                              its anchors; or empty */
    bool change;           /* a change is between the point before and this one */
};

struct ys_history {
    char *schema, *trial, *metric, *unit;
    struct ys_list points; /* struct ys_history_point */
};
extern const struct ys_record ys_history_record, ys_history_point_record;

/** Where `values` change: sets change[i] where a change lies between i - 1 and i. `margin`: smaller changes are none.
 * `low` and `high`: how far each may lie down and up; a change must be one too were the points before it moved towards
 * those behind it as far as they may, and those behind it towards them; NULL: nowhere. The permutations have a seed of
 * their own, so the same values give the same answer. */
void ys_history_changes(const double *values, const double *low, const double *high, size_t n, double margin,
                        bool *change);

/** The trials of that name in all stored studies that are called as the study `study_id` is; `trial_id` 0: its first
 * trial.
 * `history` is overwritten. YS_ENOTFOUND: there is no such trial. */
ys_status ys_history_load(struct ys_store *store, int64_t study_id, int64_t trial_id, const char *metric,
                          struct ys_history *history) YS_MUST_CHECK;

#endif
