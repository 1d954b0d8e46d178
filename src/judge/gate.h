/* Rules that a study has to keep against a baseline: for CI. docs/ci.md.
 *
 * A rule bounds the change of one metric, "rate_per_s >= -3 %". It holds where the whole interval of the change lies
 * inside, is broken where the whole interval lies outside, and open otherwise; what is left of warm-up in the steady
 * part must change nothing of that. A trial of the baseline that the candidate lacks, or has failed or unproven, breaks
 * every rule; where the baseline itself has it so they are open. Never is what is missing "no regression". */
#ifndef YS_JUDGE_GATE_H
#define YS_JUDGE_GATE_H

#include "judge/study_pair.h"

#define YS_GATE_SCHEMA "yardstick/gate/1"

enum ys_gate_outcome { YS_GATE_HOLDS, YS_GATE_BROKEN, YS_GATE_OPEN };
extern const struct ys_names ys_gate_outcomes; /* "holds", "broken", "open" */

struct ys_rule {
    char *text;         /* as it was written */
    const char *metric; /* of ys_metric_infos() */
    bool at_least;      /* >=; else <= */
    double change;      /* -0.03: by 3 % less; of an accuracy in points */
};
struct ys_rules {
    struct ys_rule *items; /* owned */
    size_t count;
};
/** Adds the rule. YS_EINVAL: it cannot be read, or names no metric (the nearest is named). */
ys_status ys_rules_add(struct ys_rules *rules, const char *text) YS_MUST_CHECK;
/** Adds those of a file: one a line; # begins a comment. YS_EINVAL names file and line. */
ys_status ys_rules_read(struct ys_rules *rules, const char *path) YS_MUST_CHECK;
/** Adds those that are taken where none are given. */
ys_status ys_rules_default(struct ys_rules *rules) YS_MUST_CHECK;
void ys_rules_fini(struct ys_rules *rules);

/** One rule for one trial. */
struct ys_gate_check {
    char *trial, *rule;
    int outcome; /* enum ys_gate_outcome */
    double base_value, candidate_value;
    int scale; /* enum ys_scale; YS_NAME_NONE where nothing was compared */
    double ratio, difference;
    struct ys_list ci, settled_ci; /* double; settled: were what is left of warm-up gone */
    bool is_untold;                /* not in the document: that cannot be told, nor by fresh runs */
    char *reason;                  /* why it is open or broken where the interval does not say; NULL */
    /* Of fresh rounds in turn (ys_gate_confirm()); YS_FIELD_NONE and NaN: there were none. */
    int64_t fresh_rounds;
    double fresh_change,
        fresh_p; /* centre of candidate / base (or their difference), and how surely it is not the bound */
};

struct ys_gate {
    char *schema;
    int outcome;    /* broken where any check is, else open where any is */
    char *sentence; /* what came out */
    struct ys_judged_side base, candidate;
    struct ys_list checks;      /* struct ys_gate_check */
    struct ys_list differences; /* struct ys_judged_difference: of the machines */
    struct ys_list added;       /* char *: trials that the baseline has not, of which no rule says anything */
};
extern const struct ys_record ys_gate_record, ys_gate_check_record;

/** `gate` is overwritten.
 *   YS_EINVAL  no trial is in both, or a trial is of other work than the baseline's */
ys_status ys_gate_judge(const struct ys_side *base, const struct ys_side *candidate, const struct ys_rules *rules,
                        struct ys_gate *gate) YS_MUST_CHECK;

/** After so many fresh rounds it is looked, and at no other time; and the level of each look. */
enum { YS_GATE_LOOKS = 3, YS_GATE_ROUNDS_MOST = 50 };
extern const size_t YS_GATE_ROUNDS[YS_GATE_LOOKS]; /* 8, 20, 50 */
#define YS_GATE_LEVEL (0.05 / YS_GATE_LOOKS)

/** Whether fresh rounds may say more of it: it does not hold, and both sides have values of runs that are long enough.
 */
bool ys_gate_is_suspect(const struct ys_gate_check *check);
/** Takes what fresh rounds of both in turn, the candidate's values against the base's, say in the place of what it was:
 * broken or holding where the signs of the rounds' distances from the rule's bound are as one-sided as at most `level`
 * of chances would be (an exact signed-rank test), with what is left of warm-up and without, with what the machine took
 * given back to either side, and with the rounds of which nobody knows that put back at their worse ends; else open. */
void ys_gate_confirm(struct ys_gate_check *check, const struct ys_rule *rule, const struct ys_compare_rounds *rounds,
                     double level);
/** Sets outcome and sentence anew, after checks were confirmed. */
void ys_gate_conclude(struct ys_gate *gate);

#endif
