/* One run of a trial: fresh processes, the phases in their order, everything that was observed. */
#ifndef YS_RUN_EXECUTE_H
#define YS_RUN_EXECUTE_H

#include "crew/run_spec.h"

/** Order (the tables of crew/phase.c): hello, open, train {0, 1} (the first step alone), train {1, steps} in blocks,
 * interrupted by a save after every `eval_every` steps, save, bye. In mode "infer": hello, open, infer, bye.
 * @return YS_OK also for a run that failed: facts.status tells. YS_EINTR, YS_EIO and YS_EINTERNAL are
 * failures of yardstick's own or the user's wish; even then the record holds what is known (it has no facts where the
 * ranks had no place to meet). */
ys_status ys_run_execute(const struct ys_run_spec *spec, struct ys_run_record *record) YS_MUST_CHECK;

#endif
