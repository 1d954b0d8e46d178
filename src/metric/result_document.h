/* A result as structs, and the document that is made of it: what docs/results.md lists of trials and comparisons, and
 * the JSON Schema of it (tools/result_schema.txt), is what these tables list. */
#ifndef YS_METRIC_RESULT_DOCUMENT_H
#define YS_METRIC_RESULT_DOCUMENT_H

#include "base/json/record.h"
#include "crew/facts.h"
#include "crew/self_report.h"
#include "stat/summary.h"
#include "store/stored_trial.h"

/** A trial without its disturbed runs: medians of the others. */
struct ys_result_quiet {
    int64_t runs;
    double rate_per_s, latency_p50_s, wall_s, cpu_s;
};
extern const struct ys_record ys_result_quiet_record;

/** A metric of a trial, beside what its `.metric` file says. */
struct ys_trial_metric {
    size_t n;                  /* runs that have a value; 0: none, and `reason` says why */
    struct ys_summary summary; /* of them */
    size_t judged, steady;     /* of them those of which it is known whether they are of a steady part, and which are */
    double *by_round;          /* owned; entry r is that of round r, NaN where there is none */
    double *bias;  /* owned, likewise: by how much the logarithm of that value would change were what is left of
                      warm-up gone (stat/steady.h), NaN where it cannot be told; NULL of metrics of more than
                      the steady part, of which that is no question */
    double *whole; /* owned, likewise: that value as the whole run has it, which is the worse one, or else the value
                      itself (metric/outside_speed.h); NULL where it is so in all rounds */
    double *taken; /* owned, likewise: by how large a part the time that it is, or is of, could be shorter were what the
                      machine took given back, NaN where nobody knows; NULL of what is no time */
    size_t rounds;
    size_t again; /* of a time, so many entries more behind those of the rounds: attempts at rounds that were run again
                     as wholes, in an order that is the same for all trials */
    char *reason; /* owned; NULL */
};
void ys_trial_metrics_free(struct ys_trial_metric *metrics); /* of all metrics; NULL is fine */

/** Of how many runs of a trial a warning is true. */
enum ys_warned { YS_WARNED_DISTURBED, YS_WARNED_UNSTEADY, YS_WARNED_SHORT, YS_WARNED_LACKING, YS_WARNED_SAID };
extern const struct ys_names ys_warneds; /* "disturbed", "unsteady", "short", "lacking", "said" */
struct ys_result_warned {
    int kind; /* enum ys_warned */
    int64_t runs;
    char *text; /* of what a run said; else NULL */
};
extern const struct ys_record ys_result_warned_record;

/** A trial: members as docs/results.md has them, but for `metrics`, which come into the document from `values`. */
struct ys_result_trial {
    struct ys_trial_metric *values; /* owned; one for each of ys_metric_infos() */
    char *id;
    int64_t index, trial_id;
    char *section;
    ys_json *factors;
    struct ys_trial_framework *framework;
    int status, stage; /* enum ys_run_status, enum ys_stage */
    char *reason, *command;
    int64_t runs, failed, disturbed, runs_planned, runs_lacking;
    int threads_shared; /* 1, 0; YS_NAME_NONE: one thread was asked for, or nothing is known */
    ys_json *deviations, *warnings, *doubts, *proof, *metrics, *agreement;
    ys_json *ranks;                /* NULL where its runs are of one process each */
    struct ys_result_quiet *quiet; /* NULL where none of its runs was disturbed */
    struct ys_facts_perf *perf;    /* the mean of its ok runs; NULL where it was not asked for */
    struct ys_trial_settings keys;
    ys_json *options, *env;
    ys_json *observed;     /* how its first ok run was observed; NULL where there is none */
    struct ys_list warned; /* struct ys_result_warned */
    struct ys_list said;   /* struct ys_self_report, of its first ok run; empty where there is none */
    ys_json *runs_detail;  /* NULL where it was not asked for */
};
extern const struct ys_record ys_result_trial_record;

/** As if a comparison were the only one of its family. */
struct ys_comparison_single {
    struct ys_list ci; /* double: both ends, or empty */
    double level;
};

/** What the machine took from rounds of a comparison, which its interval holds. */
struct ys_comparison_taken {
    int64_t rounds;     /* from a run of which something was taken, at most so much */
    double least, most; /* shares of the time of the CPUs that the runs might use; NaN where there are none */
    bool by_host;       /* by nothing but the hypervisor */
};

extern const struct ys_record ys_comparison_taken_record;

/** One comparison. */
struct ys_comparison_record {
    char *metric;
    char *a, *b; /* names of trials */
    int64_t a_index, b_index;
    char *varies; /* of several the names of all, with commas between */
    int best;     /* enum ys_pair_best; YS_NAME_NONE where neither is the best of its group */
    int scale;    /* enum ys_scale */
    double ratio, difference;
    struct ys_list ci; /* double: both ends, or empty */
    double level;
    struct ys_comparison_single single;
    struct ys_list settled_ci; /* as ci */
    int rounds;                /* enum ys_rounds_say */
    double round_correlation, bias_bound, window_from;
    int64_t n, left_out;
    struct ys_comparison_taken taken;
    int decision;        /* enum ys_decision; YS_NAME_NONE where the study is not decided by it */
    int64_t look_rounds; /* of the look that it is as of; YS_FIELD_NONE where the number of rounds was fixed */
    double margin;
    int verdict; /* enum ys_verdict */
    double resolution;
    char *reason;
    double a_value, b_value;
    char *unit;
    int better;  /* enum ys_better */
    int scaling; /* enum ys_scaling; YS_NAME_NONE where the ratio is no speed-up */
    double efficiency;
    struct ys_list efficiency_ci; /* as ci */
    double exposed_s;             /* NaN where the two do not differ in exchanging alone */
    struct ys_list exposed_s_ci;  /* as ci */
};
extern const struct ys_record ys_comparison_record;

/** One comparison of a result, which keeps the ends of its intervals; what `told` says of them counts for nothing. */
struct ys_result_comparison {
    struct ys_comparison_record told; /* borrows all texts but `varies` and its reason */
    struct ys_interval interval, single, settled, efficiency, exposed;
};

struct ys_metric_view;
/** What is found in a study. Trials borrow from `source` what does not come from their runs. */
struct ys_result {
    ys_json *rest; /* the document without trials and comparisons, which are null in it */
    struct ys_result_trial *trials;
    size_t trial_count;
    struct ys_result_comparison *comparisons;
    size_t comparison_count, comparison_capacity;
    struct ys_metric_view *source;
};
/** A zeroed one is fine. */
void ys_result_fini(struct ys_result *result);
/** The result document, yardstick/result/1. */
ys_json *ys_result_json(const struct ys_result *result);

/** Whether a study that goes on until its comparisons are decided has decided this one; never: more rounds would not.
 */
enum ys_decision { YS_DECISION_MADE, YS_DECISION_OPEN, YS_DECISION_NEVER };
extern const struct ys_names ys_decisions; /* "decided", "open", "never" */

/** Whether a round's ratio tells the next one's. */
enum ys_rounds_say { YS_ROUNDS_INDEPENDENT, YS_ROUNDS_CORRELATED, YS_ROUNDS_UNKNOWN };
extern const struct ys_names ys_rounds_say; /* "independent", "correlated", "cannot be told" */

/* What several ranks have more of than one: nothing, for they divide a batch, or rows, since each has as many as the
 * one. */
enum ys_scaling { YS_SCALING_STRONG, YS_SCALING_WEAK };
extern const struct ys_names ys_scalings; /* "strong", "weak" */

/* Which of the two is the best of the group of both, with which the whole group is compared. */
enum ys_pair_best { YS_BEST_A, YS_BEST_B };
extern const struct ys_names ys_pair_bests; /* "a", "b" */

enum ys_scale { YS_SCALE_RATIO, YS_SCALE_DIFFERENCE };
extern const struct ys_names ys_scales; /* "ratio", "difference" */

#endif
