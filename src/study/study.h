/* A study from its job to its stored results: resolve, prepare, prove, order, run, check. The only place that knows the
 * whole sequence. It prints nothing but progress and warnings; what it found is in the store. */
#ifndef YS_STUDY_STUDY_H
#define YS_STUDY_STUDY_H

#include "base/json/json.h"
#include "job/job.h"
#include "store/store.h"

#include <stdbool.h>

struct ys_listing;

/* Exit codes of the program, as far as a study decides them (design: if several apply, the first listed here wins). */
enum ys_study_exit {
    YS_EXIT_OK = 0,
    YS_EXIT_RUN_FAILED = 1,
    YS_EXIT_USAGE = 2,
    YS_EXIT_PROOF_FAILED = 5,
    YS_EXIT_NOTHING_RAN = 6,
    YS_EXIT_INTERNAL = 7,
    YS_EXIT_TIME_LIMIT = 124,
};

struct ys_study_options {
    const char *const *recipe_dirs;            /* ended by NULL, or NULL */
    const char *const *const *own_recipe_dirs; /* in the place of these, of each trial; NULL */
    const char *command;                       /* the command line that repeats this study */
    bool fresh_proofs;                         /* prove again although proofs are cached */
    bool all_steps;                            /* of proofs, ten, for large networks as well */
    bool trace;                                /* beside each proof, where the trial first parts from the oracle */
    bool meaning_only;                         /* proofs in double alone where the framework has it */
    bool says_noise;                           /* says what the noise that doctor measured lets it show */
    bool unproven; /* no proof is made: nothing may be concluded but what to prove. First losses are checked */
};

/** Runs every round of `job` into `store` (open for writing). *study_id is set as soon as the study exists in the
 * store. *exit_code is one of enum ys_study_exit or 128 + signal. YS_EINVAL: the job cannot be run as it is (nothing
 * was run). YS_EIO: results could not be written; what was stored before stays. */
ys_status ys_study_run(const struct ys_job *job, const struct ys_study_options *options, struct ys_store *store,
                       int64_t *study_id, int *exit_code) YS_MUST_CHECK;

/** Goes on with a study that was interrupted: repeats its unfinished round, then runs the rounds that are left. A study
 * that is complete is YS_OK at once. */
ys_status ys_study_resume(const struct ys_study_options *options, struct ys_store *store, int64_t study_id,
                          int *exit_code) YS_MUST_CHECK;

/** What would run, without running it. `store` may be NULL: then nothing was measured before. `listing` is overwritten,
 * and freed with ys_listing_fini(); it is empty after a failure. */
ys_status ys_study_check(const struct ys_job *job, const struct ys_study_options *options, struct ys_store *store,
                         struct ys_listing *listing) YS_MUST_CHECK;

/** Proves every trial of the job: the listing has no estimates, but proofs. *exit_code is 0, 5 or 6. */
ys_status ys_study_verify(const struct ys_job *job, const struct ys_study_options *options, struct ys_listing *listing,
                          int *exit_code) YS_MUST_CHECK;

/** The hooks that let a job's framework names and options be checked against recipes. `recipe_dirs` is borrowed. */
struct ys_job_hooks ys_study_job_hooks(const char *const *recipe_dirs);

#endif
