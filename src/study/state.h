/* A study under way: what its steps share. */
#ifndef YS_STUDY_STATE_H
#define YS_STUDY_STATE_H

#include "job/settings.h"
#include "prepare/kept_round.h"
#include "prepare/noted_peak.h"
#include "prepare/trial.h"
#include "prepare/work.h"
#include "probe/host.h"
#include "study/live_progress.h"
#include "study/study.h"
#include "verify/verify.h"

struct ys_study {
    const ys_json *settings;       /* the job's study keys; borrowed */
    struct ys_study_settings keys; /* the same, read */
    const struct ys_study_options *options;
    struct ys_store *store; /* NULL while only checking or verifying */
    int64_t id;
    char *folder; /* of this study, below the results folder */
    struct ys_trial_set set;
    size_t runnable;             /* trials that can run */
    struct ys_framework *oracle; /* the built-in engine: oracle and evaluator; NULL when nothing needs it */
    struct ys_verifier *verifier;
    uint64_t seed;
    bool decides;                          /* rounds go on until its comparisons are decided */
    double round_s;                        /* that the last round took */
    int64_t rounds, runs_total, runs_done; /* in this session */
    int64_t runs_before;                   /* of earlier sessions */
    struct ys_live live;                   /* one entry a trial, while rounds are run; else empty */
    uint64_t deadline_ns;                  /* of the study's time limit; 0 for none */
    char *start_below;                     /* initial weights and a target that they do not meet, the last; NULL */
    ys_json *warned;                       /* {warning: true}: said of a framework; NULL: nothing yet */
    bool round_untold;                     /* what a run of the round under way lost nobody knows */
    bool run_failed, proof_failed, out_of_time;
    bool lacking;                   /* runs of a trial that could run when the study began, and cannot now */
    int stopped_by;                 /* the signal; 0 */
    struct ys_peak_measured peak;   /* of this machine, where doctor measured it */
    struct ys_host_counters before; /* of the machine, as measuring began */
    double measured_before_s;       /* by earlier sessions; NAN: one that was killed could not say */
    double limit_spent_s;           /* of the time limit, by earlier sessions */
    uint64_t opened_ns;             /* when this session began */
    struct ys_list anchors;         /* struct ys_anchor (probe/anchor.h), of all sessions */
    double anchor_s;                /* that those of this session took */
    int64_t anchors_made;           /* in this session */
    bool anchor_failed;             /* said once; no more are tried */
    double prepare_s, prepare_in_rounds_s, prove_s, audit_s, measure_s;
    struct ys_kept_round kept;           /* what is kept of the round under way for attack.transfer */
    double attack_s, attack_in_rounds_s; /* of attacks on trained weights, by all sessions and by this one */
};

/** Resolves the trials. The oracle is found when the first of them is proven. */
ys_status ys_study_open(const ys_json *settings, const ys_json *trials, const struct ys_study_options *options,
                        struct ys_store *store, struct ys_study *study) YS_MUST_CHECK;
/** Holds the environments of all trials that can run, before the first of them is started (ys_trial_hold). */
ys_status ys_study_hold(struct ys_study *study) YS_MUST_CHECK;
/** The same for a study that was interrupted, whose stored document is `document`: its data are those that it began
 * with, and are compared with their sums. Where that cannot be, YS_ENOTFOUND or YS_EINVAL says what to do. */
ys_status ys_study_open_again(const ys_json *document, const ys_json *trials, const struct ys_study_options *options,
                              struct ys_store *store, struct ys_study *study) YS_MUST_CHECK;
/** Before anything is run: compares the study's data with their sums (ys_data_check()), and removes what killed
 * processes left of prepared work. */
ys_status ys_study_check_cache(const struct ys_study *study) YS_MUST_CHECK;
void ys_study_close(struct ys_study *study);

/** What the store keeps about the study itself. */
ys_json *ys_study_document(struct ys_study *study, const struct ys_job *job);
/** Sets `folder` from the store, and makes it. */
ys_status ys_study_find_folder(struct ys_study *study) YS_MUST_CHECK;
/** job.ys (as given) and job.json (resolved) into the folder. */
ys_status ys_study_write_job(const struct ys_study *study, const struct ys_job *job) YS_MUST_CHECK;
/** Writes the work of `trial` in round `round` (ys_work_prepare), counting the time as preparation. */
ys_status ys_study_prepare(struct ys_study *study, const struct ys_trial *trial, int64_t round, int64_t least_steps,
                           struct ys_work *work) YS_MUST_CHECK;
/** Sets `oracle` and `verifier`, where they are not yet: not before something is to be proven, for without a trial that
 * can run nothing is. */
ys_status ys_study_find_oracle(struct ys_study *study) YS_MUST_CHECK;
/** The proof of one trial, from the cache or made now, into *proof, which is overwritten and belongs to the caller. */
ys_status ys_study_prove_one(struct ys_study *study, const struct ys_trial *trial,
                             struct ys_proof *proof) YS_MUST_CHECK;
/** Seconds that a run with these keys may take: its own limit, and what the study's leaves. 0: no limit. */
double ys_study_run_limit_s(const struct ys_study *study, const struct ys_trial_settings *keys);
/** Begins `live` anew, with what earlier sessions have of each trial. */
void ys_study_begin_live(struct ys_study *study);
/** Gives its lines to the terminal, where there is one. */
void ys_study_show_live(const struct ys_study *study);
int ys_study_exit_code(const struct ys_study *study);
/** How a study that ends with this exit code has ended. */
enum ys_study_state ys_study_end_state(const struct ys_study *study, int exit_code);

#endif
