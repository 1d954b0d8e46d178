/* Two trials of stored or exported studies, run anew side by side (campaign/arms.h): what of a suspicion fresh rounds
 * confirm. Both may have recipes of one name that lie in two places. */
#ifndef YS_CAMPAIGN_CONFIRM_ROUNDS_H
#define YS_CAMPAIGN_CONFIRM_ROUNDS_H

#include "metric/result_document.h"
#include "stat/compare.h"

struct ys_again;

struct ys_again_wish {
    const struct ys_result_trial *trials[2]; /* borrowed until close */
    const char *const *recipe_dirs; /* of the user, ended by NULL; or NULL. Where the recipe of a trial was none
                                       of yardstick's own, its folder comes first */
    int64_t seed;                   /* of the first round; each has its own */
    const char *on_disturbance;     /* as of a job; NULL: its default */
    uint64_t deadline_ns;           /* measuring ends then; 0: never */
};

/** *reason (ys_free) says why one of the two cannot be run here, and *again is then NULL. */
ys_status ys_again_open(const struct ys_again_wish *wish, struct ys_again **again, char **reason) YS_MUST_CHECK;
void ys_again_close(struct ys_again *again); /* NULL is fine */

/** Measures until there are `rounds` of both. *reason (ys_free) is new where there are not: the deadline has passed, a
 * run failed, or is of another adapter than the trial was. YS_EINTR. */
ys_status ys_again_measure(struct ys_again *again, size_t rounds, char **reason) YS_MUST_CHECK;
/** The values of the metric of that name in the rounds in which both have one, those of the second against those of the
 * first, and behind them in attempts that were run again. The lists of `rounds` have room for twice as many as there
 * are rounds. */
void ys_again_values(const struct ys_again *again, const char *metric, struct ys_compare_rounds *rounds);

#endif
