/* Arms: trials that are measured side by side, for who asks by how much they differ: both sides of --confirm
 * (campaign/confirm_rounds.h), versions of a framework (campaign/bisect.h), one trial in several ways
 * (campaign/pairs.h), settings among which the best is looked for (campaign/tune.h).
 *
 * They are the trials of one job. They are measured in parts, each of which is a study of its own, of as many rounds as
 * are asked for, and goes on with the seeds of the one before it; what it found is read here, by arm, metric and round.
 * Whether its rounds are of runs or of turns is what the job's `interleave` says; `auto` is settled by the first part.
 */
#ifndef YS_CAMPAIGN_ARMS_H
#define YS_CAMPAIGN_ARMS_H

#include "base/files/working_folder.h"
#include "job/job.h"
#include "metric/result_document.h"
#include "study/study.h"

struct ys_arms_wish {
    struct ys_job *job;                        /* its trials are the arms; taken: it is empty afterwards */
    const char *const *recipe_dirs;            /* of all of them, ended by NULL; or NULL */
    const char *const *const *own_recipe_dirs; /* in the place of these, of each arm; NULL */
    struct ys_store *store;                    /* of the studies; NULL: in a folder of the cache that goes with them */
    const char *command;                       /* by which they say that they were measured */
    uint64_t deadline_ns;                      /* at which measuring ends; 0: never */
    bool unproven;                             /* as of struct ys_study_options */
};

/* Of one metric of one run, NaN where it has none. */
struct ys_arms_value {
    double value, bias, taken; /* as of struct ys_trial_metric; 0 of what it has no such part of */
};

struct ys_arm {
    int64_t runs, failed;
    bool disproved;               /* its proof failed */
    int status;                   /* enum ys_run_status: of an example of those that failed, or why it cannot run */
    char *reason;                 /* of the same; NULL: it said nothing */
    struct ys_arms_value *values; /* [round * metrics + place in ys_metric_infos()] */
    struct ys_arms_value *again;  /* likewise, of attempts at rounds that were run again, as nobody knows what the
                                     machine took from some run of them */
};

/* Changed by the functions below alone. */
struct ys_arms {
    struct ys_arm *items;
    size_t count, metrics;
    size_t rounds, complete; /* that were asked for; of them those that there was time for */
    size_t again;            /* attempts that were run again; none where an arm lacks one */
    bool by_turns;           /* the last part took turns */
    bool is_late;            /* the time was over before all of them were measured */
    struct ys_result last;   /* of the last part */
    int64_t study_id, seed;  /* of the last part; of the next round */
    struct ys_job job;
    struct ys_study_options options;
    struct ys_working working;
    struct ys_store *store;
    uint64_t deadline_ns;
};

/** `wish` is borrowed but for its job. `arms` may be closed also after a failure. */
ys_status ys_arms_open(const struct ys_arms_wish *wish, struct ys_arms *arms) YS_MUST_CHECK;
void ys_arms_close(struct ys_arms *arms); /* a zeroed one is fine */

/** Measures so many more rounds, in part where the time is over. What fails or cannot run is a fact of its arm.
 * YS_EINTR: asked to stop; what a study says. */
ys_status ys_arms_measure(struct ys_arms *arms, int rounds) YS_MUST_CHECK;
struct ys_arms_value ys_arms_value(const struct ys_arms *arms, size_t arm, size_t metric, size_t round);
struct ys_arms_value ys_arms_again(const struct ys_arms *arms, size_t arm, size_t metric, size_t attempt);

/* A key of the job of arms: what is usual unless the user says it (of a study's own keys in its file, too); what is set
 * whatever he says; what he may not say. */
enum ys_arms_key_kind { YS_ARMS_USUAL, YS_ARMS_SET, YS_ARMS_OURS };
struct ys_arms_key {
    const char *key, *value;
    enum ys_arms_key_kind kind;
};
/** The job of `flags` and `keys` (ended by a NULL key), of the study at `path` where that is not NULL, which has to
 * have `arms` trials. YS_EINVAL. */
ys_status ys_arms_load(const char *path, const struct ys_job_flag *flags, size_t count, const struct ys_arms_key *keys,
                       const char *const *recipe_dirs, size_t arms, struct ys_job *job) YS_MUST_CHECK;

#endif
