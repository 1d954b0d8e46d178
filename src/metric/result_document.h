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
    /* Of time and steps to a target: of the n those that did not meet it, whose value is INFINITY, and what that is
     * more than, the least of them; NaN where there are none. */
    size_t lost;
    double limit;
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

/** Predictions with the same weights (docs/results.md). Numbers that are not known are NaN or YS_FIELD_NONE. */
struct ys_agreement_block {
    char *reference;
    int64_t weights_steps, rows;
    int64_t predictions, disagreements; /* of all rounds; YS_FIELD_NONE: no round has predictions */
    double accuracy, reference_accuracy, logits_error;
    int64_t classes;
    double change;               /* of the accuracy, in place of the reference's */
    double change_lo, change_hi; /* Tango's interval of it over the rows */
    double change_p;             /* McNemar's; the largest of the rounds */
    double rounds_lo, rounds_hi; /* of the median of the rounds' changes, by rank; NaN with too few of them */
    int64_t layers_rows;
    char *layers_reason;
    struct ys_list layers;   /* struct ys_agreement_layer; empty, for the reason above */
    struct ys_list in_float; /* char *: of a quantised network, nodes that are computed in float, and why */
    struct ys_list rounds;   /* struct ys_agreement_round */
};
extern const struct ys_record ys_agreement_block_record;

/** One value of the network against the oracle's. */
struct ys_agreement_layer {
    char *value, *op;
    double error; /* NaN: not finite */
};
struct ys_agreement_round {
    int64_t round, disagreements;
    int64_t only_here, only_reference; /* rows that it alone, and that the reference alone, got right */
    double accuracy, reference_accuracy, logits_error;
    char *reason; /* why there are no predictions */
};

/** One attack on the networks of a trial's runs: medians of these. Numbers that are not known are NaN. */
struct ys_attack_block {
    char *attack;                  /* with all its numbers */
    double clean, broken;          /* rows that were right before, and those of them that it broke */
    double target_reached;         /* of jsma; NaN of others */
    double change_p25, change_p50; /* of the change in the attack's norm, over all rows; NaN also where infinite */
    double change_p75;
    double gradients, queries, attack_s;
};
extern const struct ys_record ys_attack_block_record;
/** What share of the rows stands against all attacks that are bounded by `eps` or less; the median of the runs. */
struct ys_standing_block {
    double eps, accuracy;
};
extern const struct ys_record ys_standing_block_record;
/** What share of the rows is right after a kind of corruption; the median of the runs. */
struct ys_corruption_block {
    char *kind;
    int64_t severity;
    double accuracy;
};
extern const struct ys_record ys_corruption_block_record;
/** A sign that gradients may be masked. */
struct ys_alarm_block {
    char *attack, *alarm;    /* attack NULL: of the model itself */
    double value, threshold; /* of the first of those runs */
    int64_t runs;            /* that have it */
};
extern const struct ys_record ys_alarm_block_record;
/** A training of the built-in engine from initial weights that are moved by rounding alone: the same metrics of it, NaN
 * where they are not known. */
struct ys_twin_block {
    double robust_accuracy, perturbation_p50, corrupted_accuracy;
};
extern const struct ys_record ys_twin_block_record;
/** What a trial withstands (docs/robustness.md). */
struct ys_robustness_block {
    int64_t runs, rows; /* runs that were attacked, and rows of each; 0 and YS_FIELD_NONE: none, for that reason */
    double accuracy;    /* on those rows before; median */
    bool is_masked;     /* some run has an alarm: what stands is at most what stands */
    char *reason;       /* why a run, the last of them, was not attacked, or by some attacks alone; NULL */
    double question_s, computed_s; /* of a gradient in mode attack, with files and messages, and without; medians */
    struct ys_list attacks, robust, curve, alarms; /* of the structs above; robust and curve of ys_standing_block */
    struct ys_list corruptions;                    /* struct ys_corruption_block */
    struct ys_list twins;                          /* struct ys_twin_block; of the first round */
};
extern const struct ys_record ys_robustness_block_record;

/** One rank in the member `ranks` of a trial (docs/results.md). Numbers that are not known are NaN or YS_FIELD_NONE. */
struct ys_result_rank {
    int64_t rank;
    char *host;           /* NULL: all are on one */
    double clock_error_s; /* of its clock against that of the study's host, the largest; NaN: all are on one */
    int status;   /* enum ys_run_status: ok, or how it ended in the example of failures that the trial tells of */
    int64_t runs; /* that are ok, which the rest is of */
    double rate_per_s, cpu_s, cpu_wait_s, rss_peak_bytes, threads_peak; /* medians */
    /* Of a step: medians of what the runs have, each of which add up within its run; and both ends of their intervals,
     * of that level, or empty of fewer than YS_STAT_INTERVAL_MIN runs. */
    double compute_s, communication_s, waiting_s, optimizer_s, framework_s, input_s, rest_s;
    struct ys_list compute_ci, communication_ci, waiting_ci, optimizer_ci, framework_ci, input_ci, rest_ci; /* double */
    double level;
    int late_part;          /* enum ys_rank_part; YS_NAME_NONE where parts are not known */
    double late_s;          /* median of how much longer than the others it takes for that part of a step */
    struct ys_list late_ci; /* as the intervals above */
    double sent_bytes;      /* of a step, to other ranks; median */
    char *untimed;          /* why the parts of its step are not known; NULL: they are, or nothing ended well */
    /* Of its host's network interface (metric/result/wire_traffic.h), which it shares with the other ranks there: what
     * passed in a step, and what has to leave it; medians. */
    char *interface;
    double wire_sent_bytes, wire_received_bytes, wire_needed_bytes;
    /* In collectives (struct ys_facts_collectives): whose they are and why something of it is not known, as the last
     * run has it, or NULL; of a step, medians: calls, bytes that were handed over, at least one was under way, and of
     * that while the rank did not wait for its gradients. */
    char *collective_library, *collective_reason;
    double collective_calls, collective_bytes, collective_s, hidden_s;
};
extern const struct ys_record ys_result_rank_record;

/* What of a step can make a rank late: the rest of it depends on others. */
enum ys_rank_part { YS_RANK_COMPUTE, YS_RANK_OPTIMIZER, YS_RANK_FRAMEWORK, YS_RANK_INPUT, YS_RANK_REST };
extern const struct ys_names ys_rank_parts; /* "compute", "optimizer" and so on */

/** How the first ok run of a trial was observed. */
struct ys_result_observed {
    bool grouped, guarded;
    char *group, *guard;             /* which, or why not; NULL */
    struct ys_list libraries, notes; /* char *: mapped ones, and what hides in them */
};
extern const struct ys_record ys_result_observed_record;

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
    ys_json *deviations, *warnings, *doubts, *proof, *metrics;
    ys_json *scales;                        /* NULL where no quantiser of its own chose any, or tells them */
    char *software;                         /* by what its graphics are drawn in software; NULL: they are not */
    struct ys_agreement_block *agreement;   /* NULL where it predicted nothing */
    struct ys_robustness_block *robustness; /* NULL where nothing was to attack it */
    struct ys_facts_stored *stored;         /* of its last run that counts; NULL where nothing was stored */
    struct ys_list ranks;                   /* struct ys_result_rank; empty where its runs are of one process each */
    struct ys_result_quiet *quiet;          /* NULL where none of its runs was disturbed */
    struct ys_facts_perf *perf;             /* the mean of its ok runs; NULL where it was not asked for */
    struct ys_trial_settings keys;
    ys_json *options, *env;
    struct ys_result_observed *observed; /* NULL where there is none */
    struct ys_list warned;               /* struct ys_result_warned */
    struct ys_list said;                 /* struct ys_self_report, of its first ok run; empty where there is none */
    ys_json *runs_detail;                /* NULL where it was not asked for */
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
    int64_t a_met, b_met; /* of a target: of n rounds those in which each met it; YS_FIELD_NONE of other metrics */
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

enum ys_difference_of {
    YS_DIFFERENCE_VERSION,
    YS_DIFFERENCE_RUNTIME,
    YS_DIFFERENCE_LIBRARIES,
    YS_DIFFERENCE_RECIPE,
    YS_DIFFERENCE_FILES,
    YS_DIFFERENCE_THREADS
};
extern const struct ys_names ys_differences; /* "version", "runtime", "libraries", "recipe", "files", "threads" */

/** What some trials have in common. */
struct ys_shared_value {
    char *value;
    struct ys_list trials; /* char *: their ids */
};
/** In what surroundings of trials differ, beyond the factors that were asked for. */
struct ys_difference {
    int what;              /* enum ys_difference_of */
    char *text;            /* a sentence */
    struct ys_list values; /* struct ys_shared_value */
};
extern const struct ys_record ys_difference_record, ys_shared_value_record;

/** What an attack made on the weights of one trial, shown to those of another: of a round the two have the same rows.
 */
struct ys_result_transfer {
    char *section, *attack;                 /* with all its numbers */
    char *from, *to;                        /* ids of the trials: on whose weights it was made, whose it was shown to */
    int64_t rounds;                         /* whose rows are summed */
    int64_t both_right, broken, also_wrong; /* rows that both had right before, of those broken where it was made, and
                                               of those wrong in the other too */
};
extern const struct ys_record ys_result_transfer_record;

/** Trials that do the same work. */
struct ys_result_group {
    struct ys_list trials; /* char *: ids, in the order of the job */
    char *best;            /* of them the fastest from which something may be concluded; NULL: there is none */
};
extern const struct ys_record ys_result_group_record;

/** By what the comparisons of a study are decided, and after how many rounds it looks at what level. */
struct ys_result_decide {
    char *metric;
    struct ys_list looks; /* struct ys_result_look */
};
struct ys_result_look {
    int64_t rounds;
    double level;
};

/** The study: members as docs/results.md has them. What is not known, or was not stored earlier, is NULL or
 * YS_FIELD_NONE. */
struct ys_result_study {
    int64_t id;
    const char *name, *folder;
    char *started, *ended;
    int status; /* enum ys_study_state */
    int64_t exit_code, seed, repeat;
    struct ys_result_decide *decide; /* NULL: the number of rounds was given */
    int64_t rounds;                  /* that are complete */
    double margin;
    const char *comparisons, *interleave, *on_disturbance, *command;
    char *job_hash;
    const char *job_text, *version;
    const ys_json *timing;         /* as it is stored */
    const char *imported;          /* the file that it came from */
    struct ys_result_chain *chain; /* of the store, the link that holds it; NULL */
};
struct ys_result_chain {
    int64_t link;
    const char *hash;
};
extern const struct ys_record ys_result_study_record, ys_result_decide_record, ys_result_chain_record,
    ys_result_look_record;

/** What measuring itself took; NaN where no run says it. */
struct ys_result_harness {
    double cpu_share, lateness_max_s, overhead_s;
    int64_t runs; /* that the first two are of */
};

struct ys_metric_view;
/** What is found in a study. It borrows from `source` what does not come from runs. */
struct ys_result {
    struct ys_result_study study; /* owns started, ended, decide, job_hash and chain */
    struct ys_result_harness harness;
    const ys_json *work, *host; /* as they are stored: array, as of ys_study_work_find(); object. NULL */
    struct ys_result_trial *trials;
    size_t trial_count;
    struct ys_result_comparison *comparisons;
    size_t comparison_count, comparison_capacity;
    struct ys_list groups, differences; /* struct ys_result_group, struct ys_difference */
    struct ys_list transfers;           /* struct ys_result_transfer; empty where nobody asked */
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
