/* What the files of this room share. */
#ifndef YS_JUDGE_JUDGE_PARTS_H
#define YS_JUDGE_JUDGE_PARTS_H

#include "judge/study_pair.h"
#include "metric/metric.h"
#include "stat/signed_rank.h"

/** Adds the members in which two objects differ, those of objects inside them as "cpu.model"; `except` (ended by NULL)
 * are left out, by that name. Anything else in the place of an object has no members. */
void ys_judge_differ(const ys_json *base, const ys_json *candidate, const char *prefix, const char *const *except,
                     struct ys_list *differences);
/** Adds one where the texts differ; NULL is nothing. */
void ys_judge_differ_text(const char *what, const char *base, const char *candidate, struct ys_list *differences);

/** In what the studies and their machines differ. */
void ys_judge_differ_studies(const struct ys_side *base, const struct ys_side *candidate, struct ys_list *differences);
/** In what the surroundings of two trials differ: framework, threads, options, environment. */
void ys_judge_differ_trials(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                            struct ys_list *differences);
/** In what differs how they were observed. */
void ys_judge_differ_observed(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                              struct ys_list *differences);
/** In what their work differs: settings, network, data. */
void ys_judge_differ_work(const struct ys_side *base, const struct ys_result_trial *of_base,
                          const struct ys_side *candidate, const struct ys_result_trial *of_candidate,
                          struct ys_list *differences);

/** What is said of a side; `told` is as after ys_record_init(). */
void ys_judge_tell_side(const struct ys_side *side, struct ys_judged_side *told);
/** The verdict of a trial's proof; "none" where there is none. */
const char *ys_judge_proof_word(const struct ys_result_trial *trial);
/** Why nothing may be concluded from a trial, whatever it is compared with: a new text; NULL when something may.
 * `side`: whose it is, "base"; NULL where there is one side alone. */
char *ys_judge_fault(const struct ys_result_trial *trial, const char *side);

/** Both ends of an interval as a list of two; an unknown one leaves it empty. */
void ys_judge_set_ends(struct ys_list *list, const struct ys_interval *interval);

/** Whether the machine's speed tells on it: on times and rates, not on sizes, shares and counts. */
bool ys_judge_may_drift(const struct ys_metric_info *info);

/** How far the value of a round may lie down and up: were what the machine took given back, and were the run as slow as
 * its whole (docs/proof.md). */
struct ys_ends {
    double low, high;
    bool untold; /* nobody knows how much was taken: they are then of the whole run alone */
};
/** `metric`: its place in ys_metric_infos(). */
void ys_judge_ends(const struct ys_trial_metric *of, size_t metric, size_t round, struct ys_ends *ends);

/** How far a metric of two trials lies apart. */
struct ys_apart {
    struct ys_centre centre;  /* as measured; its interval reaches to the ends of its runs (ys_judge_ends()) */
    struct ys_centre settled; /* the same were what is left of warm-up gone from each run; none where a run has too few
                                 blocks to tell, and of metrics of more than the steady part */
    struct ys_interval restored, restored_settled; /* with the runs that were left out, each at its worse end, and those
                                                      that were run again */
    size_t left_out, disturbed; /* runs from which nobody knows how much was taken; and from which a known time was */
    size_t put_back;            /* the first, and those that were run again */
    bool most_out;              /* more than a third of one side's are left out */
    bool paired;                /* what was learned by seed; else by all runs of the one and all of the other */
};
/** Of the candidate's values of a metric (its place in ys_metric_infos()) against the base's, by ratio or `difference`.
 * `paired`: round by round, where both learned the same from the same seeds; else unpaired. A ratio of values of which
 * one is not above 0 has no interval. */
void ys_judge_apart(const struct ys_result_trial *base, const struct ys_result_trial *candidate, size_t metric,
                    bool difference, bool paired, struct ys_apart *apart);

/** What the anchors of both sides say. */
enum ys_anchored {
    YS_ANCHORS_COMPARED,
    YS_ANCHORS_LACK,            /* one side has none; `anchor = on` would give it some */
    YS_ANCHORS_OF_OTHER_CPU,    /* the sides have two models of processor, or one that is not known */
    YS_ANCHORS_OF_OTHER_KERNELS /* of another version, or compiled by another compiler */
};

/** What bounds the drift of the machine between the two studies for a pair of trials: the trials of the built-in engine
 * that both have alike, the pair itself aside; and the anchors of both, where they are of one kind of processor. */
struct ys_drift {
    bool none; /* the sides are of one study: no question */
    enum ys_anchored anchored;
    double anchors[2];          /* by what ratio they say that the candidate's machine is faster; 1 lies inside */
    size_t places[2][8], count; /* of such trials, base and candidate */
};
/** The anchors of both, as of struct ys_drift; `ends` are 1 and 1 where they are not compared. */
enum ys_anchored ys_drift_anchors(const struct ys_side *base, const struct ys_side *candidate, double ends[2]);
/** Whether the two are the built-in engine with the same closure, settings and work. */
bool ys_drift_is_reference(const struct ys_side *base, size_t of_base, const struct ys_side *candidate,
                           size_t of_candidate);
void ys_drift_find(const struct ys_side *base, size_t of_base, const struct ys_side *candidate, size_t of_candidate,
                   struct ys_drift *drift);
/** By what ratio it may have changed: an interval that holds 1; unknown where nothing bounds it. */
void ys_drift_bound(const struct ys_drift *drift, const struct ys_side *base, const struct ys_side *candidate,
                    size_t metric, struct ys_interval *bound);

#endif
