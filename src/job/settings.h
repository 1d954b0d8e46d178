/* The settings of a study and of a trial, resolved: every key of the job file that a trial has, at its value. What the
 * job writes, the store keeps and the result document shows as `keys`. */
#ifndef YS_JOB_SETTINGS_H
#define YS_JOB_SETTINGS_H

#include "base/json/shared_words.h"
#include "base/modes.h"
#include "base/stored/formats.h"

enum ys_compare { YS_COMPARE_CONTROLLED, YS_COMPARE_SAME_WEIGHTS, YS_COMPARE_OWN };
enum ys_init_from { YS_INIT_AUTO, YS_INIT_FROM_SEED, YS_INIT_FROM_FILE };
enum ys_on_bad_row { YS_BAD_ROW_REFUSE, YS_BAD_ROW_SKIP };
enum ys_input_decode { YS_DECODE_ONCE, YS_DECODE_LIVE, YS_DECODE_REDUCED };
enum ys_input_dtype { YS_INPUT_UINT8, YS_INPUT_FLOAT32 };
extern const struct ys_names ys_init_froms; /* "auto", which no trial is once it is resolved, "seed", "file" */
extern const struct ys_names ys_layouts;    /* "auto", "nchw", "nhwc": enum ys_layout */
extern const struct ys_names ys_compares;   /* "controlled", "same-weights", "own" */

enum ys_order_of_trials { YS_TRIALS_RANDOM, YS_TRIALS_FIXED };
enum ys_interleave { YS_INTERLEAVE_RUNS, YS_INTERLEAVE_BLOCKS, YS_INTERLEAVE_AUTO };
extern const struct ys_names ys_interleaves; /* "runs", "blocks", "auto" */
enum ys_audits { YS_AUDITS_OFF, YS_AUDITS_ONE, YS_AUDITS_ALL };
enum ys_switch { YS_OFF, YS_ON };
enum ys_anchors { YS_ANCHORS_AUTO, YS_ANCHORS_ON, YS_ANCHORS_OFF };
enum ys_on_disturbance { YS_DISTURBANCE_MARK, YS_DISTURBANCE_REPEAT, YS_DISTURBANCE_IGNORE };

/** What a study itself is told, beside its trials: those keys of it that running it asks for. Texts are borrowed; what
 * a study that was stored before there was the key does not say is the first word, NaN or YS_FIELD_NONE. */
struct ys_study_settings {
    const char *name;
    const char *results; /* folder; NULL: the usual one */
    int64_t repeat;      /* none: until its comparisons are decided */
    int64_t repeat_most; /* rounds at most, of those */
    int64_t seed;
    int order;          /* enum ys_order_of_trials */
    int interleave;     /* enum ys_interleave */
    int on_disturbance; /* enum ys_on_disturbance */
    int audit;          /* enum ys_audits: of which rounds */
    int anchor;         /* enum ys_anchors: whether the machine's own speed is measured beside it */
    double turn_s;      /* NaN: auto */
    double time_limit_s, cooldown_s;
    double margin; /* what counts as the same */
};
/** From the job's study, as ys_record_glance() does. */
void ys_study_settings_read(const ys_json *study, struct ys_study_settings *settings);

/* Members are named as the keys are, whose meaning is in docs/job-file.md; units stand in the table. What does not
 * apply, or is not limited, is YS_FIELD_NONE, NaN, NULL or an empty list. */
struct ys_trial_settings {
    int mode;                                /* enum ys_mode */
    char *framework, *device, *model, *data; /* the framework as it was asked for: "pytorch@2.13.0" */
    char *input;
    int64_t batch, block;
    int64_t global_batch; /* rows of all ranks together, where they were given so; else none: `batch` times `ranks` */
    int64_t ranks;        /* none of one process */
    int64_t nodes, ranks_per_node; /* none of one host */
    int launch;                    /* enum ys_launcher; YS_NAME_NONE of one host */
    char *hosts;                   /* a list of them, or the path of a file; NULL: none are named */
    int strategy, bn;              /* enum ys_strategy, enum ys_statistics; YS_NAME_NONE of one process */
    int64_t bucket;                /* bytes of gradients that ranks exchange together; none: as the framework has it */
    int64_t epochs, steps, requests; /* how long a run is; one or two of them are none */
    int64_t prompt;                  /* positions of a row that are answered together; none: all */
    char *optimizer;                 /* a form: "sgd", "adam(0.9,0.999,1e-08)"; as the next ones that are texts */
    double lr, momentum, weight_decay;
    char *schedule;
    double clip_norm;
    int carry_state; /* enum ys_switch; YS_NAME_NONE where nothing is trained */
    char *loss;
    int precision; /* enum ys_precision */
    int quant;     /* enum ys_quant_kind; YS_NAME_NONE where nothing is quantised, as the next ones (job/quant.h) */
    int quant_by;  /* enum ys_quant_by; also where an earlier study does not say it, whose scales were yardstick's */
    int quant_scheme, quant_range; /* enum ys_quant_scheme, enum ys_quant_range; keys "quant.scheme" ... */
    char *quant_calibration;       /* "percentile(99.9)"; NULL also where nothing is calibrated, as the next one */
    int64_t quant_rows;
    int64_t eval_every;
    char *until;                          /* a target (job/goal.h); NULL: all steps are done */
    double tune_rows;                     /* key "tune.rows": share of the training rows; none: the test rows */
    char *attack;                         /* words apart by blanks, each with all its numbers (robust/attack.h) */
    int64_t attack_rows, attack_restarts; /* keys "attack.rows" ...; none where nothing attacks, as the next one */
    char *attack_curve;                   /* numbers apart by blanks */
    int64_t attack_twins;                 /* none also where all have the same weights, or before there was the key */
    int attack_transfer;                  /* enum ys_switch; YS_NAME_NONE likewise */
    int compare;                          /* enum ys_compare */
    int64_t rows;
    char *form; /* of a stored model, in mode size; else NULL */
    int64_t
        taught_batch; /* key "taught.batch"; none where no common weights are trained, or before there was the key */
    char *own_of, *own_data;
    char *model_freeze, *model_train, *model_tie, *model_untie, *model_mean, *model_std; /* keys "model.freeze" ... */
    char *model_input, *model_output;                                                    /* keys "model.input" */
    int model_layout;                                                                    /* enum ys_layout */
    double model_width, model_depth;   /* of a named model; none: as it was published */
    int64_t model_layers, model_heads; /* likewise */
    int64_t model_classes;             /* none: those of the data */
    int init;                          /* enum ys_init_from */
    int on_bad_row;                    /* enum ys_on_bad_row */
    int64_t input_threads;             /* key "input.threads" */
    int input_decode, input_dtype;     /* enum ys_input_decode, enum ys_input_dtype; keys "input.decode" ... */
    int64_t input_size, input_width;   /* none: as the model has it; a width as input.size says */
    int64_t input_crop;                /* none: as the data have it */
    char *augment;                     /* name of an augmentation, or "none" */
    int64_t threads;                   /* none until it is resolved: all */
    struct ys_list cpus;               /* int64_t; empty: chosen by `threads` */
    struct ys_list input_cpus;         /* int64_t, of the feeder; empty: all */
    int64_t memory_limit;
    double cpu_time_limit, run_time_limit, stall_limit, sample_hz;
    int listen; /* enum ys_switch: to collectives; YS_NAME_NONE of one process */
    bool perf, keep_log;
    double beta1, beta2, alpha, epsilon; /* numbers of the optimizer, where its rule has them */
};

extern const struct ys_record ys_trial_settings_record;

/** Those that say where and how a trial runs, not what it computes; ended by NULL. */
enum { YS_SETTINGS_SURROUNDINGS = 12 };
extern const char *const ys_settings_surroundings[YS_SETTINGS_SURROUNDINGS];
/** What it computes, as one text: equal where two trials do the same work. All settings but the surroundings; ranks
 * that divide the rows of a batch do the work of one process with that batch. */
char *ys_settings_work(const struct ys_trial_settings *settings);

/** The processes of a run: 1 where the trial answers requests. */
int64_t ys_settings_ranks(const struct ys_trial_settings *settings);
/** Whether each node is a host of its own: threads and CPUs are then those of each. */
bool ys_settings_are_apart(const struct ys_trial_settings *settings);
/** Those of them that share the threads and CPUs that were asked for: all, or where each node is a host of its own
 * those of one. */
int64_t ys_settings_sharers(const struct ys_trial_settings *settings);
/** The rows of a batch of all of them together. */
int64_t ys_settings_rows(const struct ys_trial_settings *settings);
/** The rows of a batch with which common weights are trained: `batch` in trials that were stored before there was
 * taught.batch. */
int64_t ys_settings_taught_batch(const struct ys_trial_settings *settings);

#endif
