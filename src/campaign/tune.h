/* The settings that make each trial of a study best by a metric, found under one budget. docs/tuning.md.
 *
 * Every trial gets an equal share of the budget, proofs included. Of it the trial as it is runs twice (which tells what
 * a run and a proof take), then the search by halving (campaign/halving.h) among the knobs (campaign/knob_space.h) as
 * arms of stores of their own, and in the end YS_TUNE_ROUNDS fresh rounds or more of the winner and of the trial as it
 * is, side by side, as a study of the user's store. What that study says is the answer; what the search saw is told as
 * such. Runs of early rungs are held by their first losses alone; the candidates of the last rung are proven. */
#ifndef YS_CAMPAIGN_TUNE_H
#define YS_CAMPAIGN_TUNE_H

#include "campaign/tune_document.h"
#include "store/store.h"

enum { YS_TUNE_ROUNDS = 10, YS_TUNE_ROUNDS_MOST = 50, YS_TUNE_TRIALS = 64 };

/** `tuned` is overwritten, and the caller's also after a failure: where its trials have sentences, as on a disk that
 * became full, that is what was found so far. YS_EINVAL  a metric, a wish or a knob that is none; a budget that is too
 * short, which says how much is needed; no trial has a value to choose Asked to stop it is YS_OK, `interrupted`, with
 * what was found so far. */
ys_status ys_tune(const struct ys_tune_wish *wish, struct ys_store *store, struct ys_tuned *tuned) YS_MUST_CHECK;

#endif
