/* What else the machine did while a run was measured. */
#ifndef YS_STUDY_DISTURBED_H
#define YS_STUDY_DISTURBED_H

#include "run/facts.h"
#include <stdbool.h>

/** Fills `facts->disturbed` of a run with `threads` threads on each machine: sentences, none where nothing passed its
 * share or the run was too short to tell. Of a run on several machines each is judged by itself, and named. True when
 * it was disturbed. */
bool ys_disturbed(int64_t threads, struct ys_facts *facts);

#endif
