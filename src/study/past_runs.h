/* What a study has behind it: its stored runs, as far as they decide what is still to be run. */
#ifndef YS_STUDY_PAST_RUNS_H
#define YS_STUDY_PAST_RUNS_H

#include "protocol/run_status.h"
#include "study/state.h"

struct ys_past_runs {
    size_t trials;
    int64_t rounds;
    int *attempts; /* of each round: what it is to be run under next, above every attempt stored of it */
    bool *present; /* [round * trials + trial]: a run of the round's highest attempt that was not cancelled */
};

/** Reads the runs of the study, whose trials have their ids, and counts them into trials (failures, successes,
 * given_up, last_round) and study (runs_before, run_failed). `past` is empty on failure. */
ys_status ys_past_runs_load(struct ys_study *study, struct ys_past_runs *past) YS_MUST_CHECK;
void ys_past_runs_free(struct ys_past_runs *past);

/** Whether round `round` has to be run: a trial that can run, and was not given up, lacks a run of it. */
bool ys_past_runs_want(const struct ys_past_runs *past, const struct ys_study *study, int64_t round);
/** How many rounds lack a run of trial `index`. */
int64_t ys_past_runs_lack(const struct ys_past_runs *past, size_t index);

/** Counts a run of round `round` that ended with `status`. The one place that decides when a
 * trial is given up: `given_up` of it is then set, and NULL while it goes on. */
void ys_past_runs_count(struct ys_trial *trial, int64_t round, enum ys_run_status status);

#endif
