/* What the weights of a run withstand: asked of `yardstick-builtin attack`, on all CPUs, for every framework alike. */
#ifndef YS_STUDY_ATTACK_RUN_H
#define YS_STUDY_ATTACK_RUN_H

#include "crew/facts.h"
#include "study/state.h"

/** Attacks the weights that a run of `trial` in round `round`, whose work is `work`, has saved in `folder`, as the
 * trial's keys say, and sets facts->robustness; where nothing is to attack them nothing is done. Its time is counted in
 * the study's attack_s. That attacks break off is said there too, and does not end the study. YS_EINTR: the run is then
 * a cancelled one, with the attacks that were finished. */
ys_status ys_weights_attack(struct ys_study *study, const struct ys_trial *trial, const struct ys_work *work,
                            int64_t round, const char *folder, struct ys_facts *facts) YS_MUST_CHECK;

#endif
