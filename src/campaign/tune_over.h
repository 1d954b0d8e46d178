/* The hyper-parameters with which each trial of a study meets its target soonest (`tune --over`), every trial with the
 * same number of steps. docs/tuning.md.
 *
 * Searched runs are judged on rows that are kept from training (tune.rows), unproven and in no store. The winner is
 * then trained on all rows beside the trial as it is, in YS_OVER_ROUNDS rounds of seeds that the search never had, and
 * judged on the test rows, as a study of the user's store: what that says is the answer. */
#ifndef YS_CAMPAIGN_TUNE_OVER_H
#define YS_CAMPAIGN_TUNE_OVER_H

#include "campaign/tune_document.h"
#include "store/store.h"

enum { YS_OVER_ROUNDS = 7 };

/** `tuned` is overwritten, and the caller's also after a failure, as of ys_tune().
 *   YS_EINVAL  another metric than time or steps to a target; a trial without a target or with epochs; keys or values
 *              that cannot be searched; a budget below one point on all seeds for each trial
 *   YS_EUNSUPPORTED  search = tpe, and Optuna is not installed
 * Asked to stop it is YS_OK, `interrupted`, with what was found so far. */
ys_status ys_tune_over(const struct ys_tune_wish *wish, struct ys_store *store, struct ys_tuned *tuned) YS_MUST_CHECK;

#endif
