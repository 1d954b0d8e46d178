/* What else the machine did while a run was measured. */
#ifndef YS_STUDY_DISTURBED_H
#define YS_STUDY_DISTURBED_H

#include "base/json.h"
#include "base/status.h"
#include <stdbool.h>

/** Adds the fact "disturbed" to `facts` (run/run.h) of a run with `threads` threads: an array of sentences, empty where
 * nothing passed its share; null where the run was too short to tell. True when it was disturbed. YS_ENOMEM shows in
 * what is put into `facts` next. */
bool ys_disturbed(int64_t threads, ys_json *facts);

#endif
