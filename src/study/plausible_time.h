/* Whether the processor time of a run can have paid for its work. */
#ifndef YS_STUDY_PLAUSIBLE_TIME_H
#define YS_STUDY_PLAUSIBLE_TIME_H

#include "crew/facts.h"
#include "job/settings.h"
#include "prepare/noted_peak.h"

/** Looks at the facts of a run that is "ok", of a trial with these keys, whose `work` is noted. A run whose steps used
 * less processor time than this machine's CPUs need for them, by `measured` where that is known, else than any CPU
 * needs, becomes "wrong_output", with a message; one that used much elsewhere gets a warning. */
void ys_plausible(const struct ys_trial_settings *keys, const struct ys_peak_measured *measured,
                  struct ys_facts *facts);

#endif
