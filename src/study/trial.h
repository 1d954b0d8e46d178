/* The trials of a study, resolved: each with its framework, its data, its CPUs, or the reason why it cannot run. */
#ifndef YS_STUDY_TRIAL_H
#define YS_STUDY_TRIAL_H

#include "base/json.h"
#include "data/dataset.h"
#include "framework/framework.h"

#define YS_TRIAL_MAX_CPUS 4096

struct ys_trial {
    ys_json *json;                     /* as it is stored: the job's trial with framework, status, reason, command */
    struct ys_framework *framework;    /* owned */
    const struct ys_dataset *data;     /* owned by the set; NULL where the job itself says that it cannot run */
    const char *status;                /* NULL: it can run; else "missing", "unsupported" or "skipped" */
    int64_t steps;                     /* batches of its order: training steps, or batches that requests go round */
    int64_t taught_steps;              /* of same weights: training steps that make them; 0: the initial weights */
    int64_t parameters, multiply_adds; /* of its network */
    int threads;
    int *cpus; /* `threads` of them, or those of the key `cpus` */
    size_t cpu_count;
    int64_t id;              /* in the store */
    bool broken;             /* a run of it failed in a way that the next one will repeat */
    int failures, successes; /* runs so far */
};

struct ys_trial_set {
    struct ys_trial *items;
    size_t count;
    struct ys_dataset *datasets;
    size_t dataset_count;
    const ys_json *measured_with; /* borrowed while trials are resolved */
};

/** Resolves `trials` (an array as in struct ys_job). A data set that is not there yet is made; one that must be fetched
 * first is YS_ENOTFOUND with the command. `measured_with`, NULL for a new study, says which rows an earlier part of it
 * had: an array of {model, data, train_hash, test_hash}. */
ys_status ys_trials_resolve(const ys_json *trials, const ys_json *measured_with, const char *const *recipe_dirs,
                            struct ys_trial_set *set) YS_MUST_CHECK;
void ys_trials_fini(struct ys_trial_set *set);

/** Key `key` of the trial. */
const ys_json *ys_trial_key(const struct ys_trial *trial, const char *key);
/** Whether it predicts with weights that the built-in engine trained: compare = same-weights. */
bool ys_trial_same_weights(const struct ys_trial *trial);

#endif
