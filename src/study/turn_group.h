/* Which trials of a round live together and take turns (run/turns.h), as the job's key `interleave` says. */
#ifndef YS_STUDY_TURN_GROUP_H
#define YS_STUDY_TURN_GROUP_H

#include "run/turns.h"
#include "study/state.h"

/** Settles `interleave = auto`: blocks where all trials that can run may take turns with another, else runs, and says
 * which, and why. Where blocks were asked for: YS_EINVAL with the reason where a trial cannot take any. */
ys_status ys_turn_group_settle(struct ys_study *study) YS_MUST_CHECK;

/** Those of `trials` that run together with the first, which is of them: in their order, taken out of the list. Into
 * `members`, with room for YS_TURNS_MOST; their number. One alone where nothing takes turns, or none with it. */
size_t ys_turn_group_take(const struct ys_study *study, struct ys_trial **trials, size_t *count,
                          struct ys_trial *members[YS_TURNS_MOST]);

/** How those of round `round` take their turns. */
void ys_turn_group_turns(const struct ys_study *study, int64_t round, struct ys_turns *turns);

#endif
