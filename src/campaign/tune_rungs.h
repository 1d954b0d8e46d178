/* One trial while it is tuned: its settings as sections of a job, and these as arms (campaign/arms.h). */
#ifndef YS_CAMPAIGN_TUNE_RUNGS_H
#define YS_CAMPAIGN_TUNE_RUNGS_H

#include "campaign/arms.h"
#include "campaign/halving.h"
#include "campaign/knob_space.h"
#include "campaign/tune_document.h"
#include "judge/wish.h"
#include "store/stored_trial.h"

struct ys_tuning {
    const struct ys_tune_wish *wish;
    const struct ys_wish *aim; /* its metric, and bounds */
    const ys_json *study;      /* keys of the user's */
    size_t metric;             /* place in ys_metric_infos() */
    struct ys_space space;
    struct ys_trial_record trial; /* as the study has it */
    char *lines;                  /* of its section, each ended by LF */
    struct ys_trial_record *made; /* of each candidate of the halving; as it is first */
    size_t made_count;
    struct ys_halving halving;
    struct ys_tuned_trial *out;
    int64_t seed;      /* of the first round of each rung */
    uint64_t began_ns; /* of what is measured now */
    double spent_s;    /* before that */
    double budget_s;   /* of this trial */
    double search_s;   /* of it until the confirmation has to begin */
    double run_s, proof_s;
    bool cannot_run;
    int64_t met[2]; /* fresh rounds that met the target, as it is and with the winner, of a metric of that */
};

/** Of trial `trial` of the job (copied). Errors as of ys_space_open(). `tuning` may be closed also after a failure. */
ys_status ys_tuning_open(const struct ys_tune_wish *wish, const struct ys_wish *aim, const struct ys_job *job,
                         const struct ys_trial_record *trial, struct ys_tuning *tuning) YS_MUST_CHECK;
void ys_tuning_close(struct ys_tuning *tuning);

/** The trial as it is, twice: what a run and a proof take. Sets `cannot_run`. YS_EINVAL: it has no value of the metric;
 * YS_EINTR. */
ys_status ys_tuning_probe(struct ys_tuning *tuning) YS_MUST_CHECK;
/** The operations of a halving, whose context is the tuning. */
extern const struct ys_halving_ops ys_tuning_ops;
double ys_tuning_spent_s(const struct ys_tuning *tuning);
/** Notes what the time since the last note was spent for. */
void ys_tuning_note(struct ys_tuning *tuning, const char *what, int64_t runs);
/** Both ends of an interval, into an empty list; an unknown one leaves it empty. */
void ys_tuning_set_ends(const struct ys_interval *interval, struct ys_list *ci);

/** Arms of the trial as it is and of one candidate, 0 and 1, as a study of `store`, until so much of the budget. */
ys_status ys_tuning_open_pair(struct ys_tuning *tuning, size_t candidate, struct ys_store *store, double deadline_s,
                              struct ys_arms *arms) YS_MUST_CHECK;
/** Arms of `sections`, which have the trial's keys below their own, on seeds from `seed` on. In a search they are
 * unproven and in no store; else a study of `store` whose trials are kept in `made`. YS_EINVAL: they are refused. */
ys_status ys_tuning_open_sections(struct ys_tuning *tuning, const char *sections, int64_t seed, bool is_search,
                                  struct ys_store *store, struct ys_arms *arms) YS_MUST_CHECK;
/** The lines of a section that give a candidate again, and what sets it so without yardstick (new; NULL: it runs by no
 * interpreter). */
ys_status ys_tuning_tell(const struct ys_tuning *tuning, size_t candidate, struct ys_list *lines,
                         char **outside) YS_MUST_CHECK;

#endif
