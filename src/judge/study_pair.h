/* Two studies against each other: in what their surroundings differ, whether trials of both did the same work, and what
 * the one is against the other, metric by metric. docs/statistics.md has the intervals, docs/judging.md the document.
 *
 * Runs of two studies are not matched by round, so intervals are unpaired (stat/unpaired.h); but what was learned is
 * matched by seed, where the same work was done from the same seeds. What the machine took from runs bounds a verdict
 * as it does inside a study (stat/compare.h). By how much the machine
 * itself may have changed from one study to the other is bounded by what both measured that is the same: trials of the
 * built-in engine with the same closure, settings and work. A bound widens an interval, never narrows or corrects it;
 * where there is none, times and speeds are unclear. */
#ifndef YS_JUDGE_STUDY_PAIR_H
#define YS_JUDGE_STUDY_PAIR_H

#include "judge/study_source.h"
#include "stat/compare.h"

#define YS_JUDGE_SCHEMA "yardstick/compare/1"

/** Something that is not the same on both sides. */
struct ys_judged_difference {
    char *what;             /* "cpu.model" */
    char *base, *candidate; /* NULL: not there */
};

struct ys_judged_metric {
    char *metric, *unit;
    int better, scale; /* enum ys_better, enum ys_scale */
    double base_value, candidate_value;
    int64_t base_n, candidate_n;
    double ratio, difference; /* candidate against base; NaN: the other scale, or none */
    struct ys_list ci;        /* double: both ends, widened by `drift`; or empty */
    double level;
    struct ys_list settled_ci; /* double: `ci` were what is left of warm-up gone; empty: no question, or not known */
    bool is_untold;            /* not in the document: that is not known, nor would fresh runs tell */
    /* Runs from which the machine took a known time, which is in `ci`; and those of which nobody knows how much it
     * took, which are in none. Of the latter, not in the document: both intervals with them put back at their worse
     * ends. */
    int64_t disturbed, left_out;
    bool is_put_back; /* not in the document: there are runs of the latter, or such as were run again */
    double restored[2], restored_settled[2];
    bool most_out;        /* not in the document: they are more than a third of a side's */
    struct ys_list drift; /* double: by what ratio the machine may have changed; empty: not bounded, or no question */
    double margin;
    int verdict;  /* enum ys_verdict: what the candidate is against the base */
    char *reason; /* why it is unclear or invalid; NULL */
};

struct ys_judged_pair {
    char *base, *candidate;             /* names of trials */
    struct ys_list differences, other;  /* struct ys_judged_difference; other: of the work */
    char *drift;                        /* a sentence: what bounds it, or that nothing does */
    char *invalid;                      /* why nothing may be concluded; NULL */
    char *base_fault, *candidate_fault; /* of that whatever lies with one side: failed, no proof; NULL */
    bool reference; /* the same engine on the same work: its ratio is the machine's, and bounds that of others */
    struct ys_list metrics;   /* struct ys_judged_metric */
    struct ys_list confirmed; /* struct ys_judged_metric: by fresh rounds of both in turn; or empty */
    char *unconfirmed;        /* why there are none, where they were asked for; NULL */
};

struct ys_judged_side {
    char *selector, *name, *started, *version;
    int64_t id;
};

struct ys_judged {
    char *schema;
    struct ys_judged_side base, candidate;
    struct ys_list differences; /* of the studies and their machines */
    struct ys_list anchors;     /* double: by what ratio the machine is faster by its own anchors, from, to; or empty */
    struct ys_list pairs;       /* struct ys_judged_pair */
    struct ys_list only_base, only_candidate; /* char *: trials that the other side has not */
};
extern const struct ys_record ys_judged_record, ys_judged_side_record;
extern const struct ys_record ys_judged_pair_record, ys_judged_metric_record, ys_judged_difference_record;

/** `margin`: what counts as the same; NaN: as the base's study says. `metric`: this one in place of those that are
 * always compared; NULL. Trials are paired by their names; two that were named are paired as they are, and so are the
 * only ones of two studies. `judged` is overwritten. */
void ys_judge_two(const struct ys_side *base, const struct ys_side *candidate, double margin, const char *metric,
                  struct ys_judged *judged);
/** Adds to `confirmed` what fresh rounds of both in turn, the candidate's values against the base's, say of a metric of
 * the pair. No drift lies between them. */
void ys_judged_confirm(struct ys_judged_pair *pair, const struct ys_judged_metric *metric,
                       const struct ys_compare_rounds *rounds);

#endif
