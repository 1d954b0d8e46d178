/* The trials of a study, resolved: each with its framework, its data, its CPUs, or the reason why it cannot run. */
#ifndef YS_PREPARE_TRIAL_H
#define YS_PREPARE_TRIAL_H

#include "base/hash.h"
#include "base/json/json.h"
#include "data/dataset.h"
#include "framework/framework.h"
#include "graph/model.h"
#include "store/due_checks.h"
#include "store/stored_trial.h"

/** How the last of its runs in this session went that was ok, of a training, and could not write what others read. */
struct ys_trial_seen {
    bool is_known;
    double start_s, train_s; /* exec to opened; its steps */
    int64_t peak_bytes;      /* resident */
};

struct ys_trial {
    struct ys_trial_record record;     /* what is stored of it; its status says why it cannot run */
    struct ys_framework *framework;    /* owned */
    const struct ys_dataset *data;     /* owned by the set; NULL where the trial is unsupported as it is given */
    int64_t steps;                     /* batches of its order: training steps, or batches that requests go round */
    int64_t taught_steps;              /* of same weights: training steps that make them; 0: the initial weights */
    int64_t parameters, multiply_adds; /* of its network */
    int64_t positions;                 /* as in struct ys_facts_work */
    char model_hash[YS_SHA256_TEXT];   /* of the model's file; "" where the model has a name */
    int threads;
    int *cpus; /* `threads` of them, or those of the key `cpus`; where all ranks are on other hosts, fewer perhaps */
    size_t cpu_count;
    bool impossible;         /* unsupported because model, data and numbers do not go together: no framework could */
    bool left;               /* it could run when its study began, and cannot now */
    const char *given_up;    /* why it gets no more runs, in words that follow its name (study/past_runs.h); NULL */
    int64_t last_round;      /* that it has a run of */
    int64_t reached;         /* behind the highest of those */
    bool is_proven_aside;    /* its proof was made now, beside another's, and lies in the cache */
    int failures, successes; /* stored runs so far */
    char *unproven;          /* why its proof broke off, which is not yet said; owned; NULL */
    struct ys_trial_seen seen;
    struct ys_list due; /* struct ys_due: the checks of its runs (study/make_checks.h) */
    bool due_changed;   /* since they were stored */
};

struct ys_trial_set {
    struct ys_trial *items;
    size_t count;
    struct ys_dataset *datasets;
    size_t dataset_count;
    const ys_json *measured_with; /* borrowed while trials are resolved */
};

/** Resolves `trials` (an array as in struct ys_job). A data set that is not there yet is made; one that must be fetched
 * first is YS_ENOTFOUND with the command. A point of the axes that nobody could run (a batch larger than the data, say)
 * is `unsupported` while any other trial is not such a point; YS_EINVAL with the reason of the first when all are.
 * `own_recipe_dirs`, where it is not NULL, has those of each trial. `measured_with`, NULL for a new study, says which
 * rows an earlier part of it had: an array of {model, data, train_hash, test_hash}. */
ys_status ys_trials_resolve(const ys_json *trials, const ys_json *measured_with, const char *const *recipe_dirs,
                            const char *const *const *own_recipe_dirs, struct ys_trial_set *set) YS_MUST_CHECK;
/** Holds the environment of the framework of a trial that can run: nobody removes it until ys_trials_fini(). One that
 * is just being removed, or has lost files, gets its status. Not for who only looks. */
ys_status ys_trial_hold(struct ys_trial *trial) YS_MUST_CHECK;
void ys_trials_fini(struct ys_trial_set *set);

/** How the inputs of the trial's model are fed, where it is an ONNX file; texts are those of `keys`. */
struct ys_model_feed ys_trial_feed(const struct ys_trial_settings *keys);

bool ys_trial_can_run(const struct ys_trial *trial);
/** How many requests a run of mode infer answers; 0 of a training. */
int64_t ys_trial_requests(const struct ys_trial *trial);
/** How often the weights of a run with a target are evaluated, at most; YS_FIELD_NONE: it has none. */
int64_t ys_trial_looks(const struct ys_trial *trial);
/** A time limit of a trial in seconds; 0: none. */
double ys_trial_limit_s(double key);
/** Whether it predicts with weights that the built-in engine trained: compare = same-weights. */
bool ys_trial_same_weights(const struct ys_trial *trial);

#endif
