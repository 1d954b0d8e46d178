/* The phase of a run that attacks: whoever drives the attack asks its questions of the run's session. */
#ifndef YS_CREW_DRIVE_ATTACK_H
#define YS_CREW_DRIVE_ATTACK_H

#include "crew/run_state.h"

/** Lets run->spec->attack ask until it is done, each question timed as a request is: those times are in the series.
 * Failures are those of ys_session_request(); what the attack itself cannot do with the answers is one of the run. */
ys_status ys_run_drive_attack(struct ys_run *run) YS_MUST_CHECK;

#endif
