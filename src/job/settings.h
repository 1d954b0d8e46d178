/* The settings of a trial, resolved: every key of the job file that a trial has, at its value. What the job writes, the
 * store keeps and the result document shows as `keys`. */
#ifndef YS_JOB_SETTINGS_H
#define YS_JOB_SETTINGS_H

#include "base/words.h"

enum ys_compare { YS_COMPARE_CONTROLLED, YS_COMPARE_SAME_WEIGHTS, YS_COMPARE_OWN };
extern const struct ys_names ys_compares; /* "controlled", "same-weights", "own" */

/* Members are named as the keys are, whose meaning is in docs/job-file.md; units stand in the table. What does not
 * apply, or is not limited, is YS_FIELD_NONE, NaN, NULL or an empty list. */
struct ys_trial_settings {
    int mode;                                /* enum ys_mode */
    char *framework, *device, *model, *data; /* the framework as it was asked for: "pytorch@2.13.0" */
    char *input;
    int64_t batch, block;
    int64_t epochs, steps, requests; /* how long a run is; one or two of them are none */
    char *optimizer;                 /* a form: "sgd", "adam(0.9,0.999,1e-08)"; as the next ones that are texts */
    double lr, momentum, weight_decay;
    char *schedule;
    double clip_norm;
    char *loss;
    int precision; /* enum ys_precision */
    int64_t eval_every;
    int compare; /* enum ys_compare */
    int64_t rows;
    char *own_of, *own_data;
    int64_t threads;     /* none until it is resolved: all */
    struct ys_list cpus; /* int64_t; empty: chosen by `threads` */
    int64_t memory_limit;
    double cpu_time_limit, run_time_limit, stall_limit, sample_hz;
    bool keep_log;
    double beta1, beta2, alpha, epsilon; /* numbers of the optimizer, where its rule has them */
};

extern const struct ys_record ys_trial_settings_record;

#endif
