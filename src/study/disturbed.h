/* What else the machine did while a run was measured. */
#ifndef YS_STUDY_DISTURBED_H
#define YS_STUDY_DISTURBED_H

#include "crew/facts.h"

/* Not; by what took a known time, at most; by what took nobody knows how much. */
enum ys_disturbance { YS_DISTURBED_NOT, YS_DISTURBED_BOUNDED, YS_DISTURBED_UNTOLD };

/** Fills `facts->disturbed` of a run with `threads` threads on each machine: sentences, none where nothing passed its
 * share or the run was too short to tell; and `facts->taken`, where there are some. Of a run on several machines each
 * is judged by itself, and named. */
enum ys_disturbance ys_disturbed(int64_t threads, struct ys_facts *facts);

#endif
