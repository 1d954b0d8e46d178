/* A study that goes on until its comparisons are decided (repeat = decide): after which rounds it looks, what it knows
 * then, and whether it is over. docs/statistics.md says why it looks at no other time. */
#ifndef YS_STUDY_DECIDE_H
#define YS_STUDY_DECIDE_H

#include "stat/looks.h"
#include "study/state.h"

/** All looks that it may have; 0: its number of rounds is fixed. */
size_t ys_decide_looks(const struct ys_study *study, struct ys_look looks[YS_LOOKS_MOST]);
/** Whether it looks after so many rounds. */
bool ys_decide_is_look(const struct ys_study *study, int64_t rounds);
/** Says in the live lines what is known after so many rounds, and warns after the first where the time limit will come
 * before the first look. Nothing where the number of rounds is fixed. */
ys_status ys_decide_tell(struct ys_study *study, int64_t rounds) YS_MUST_CHECK;
/** A look: *is_over says that no comparison is left that more rounds could decide; then these rounds are the study's.
 */
ys_status ys_decide_look(struct ys_study *study, int64_t rounds, bool *is_over) YS_MUST_CHECK;
/** Says what a study that ends after so many rounds for another reason leaves open. */
ys_status ys_decide_end(const struct ys_study *study, int64_t rounds) YS_MUST_CHECK;

#endif
