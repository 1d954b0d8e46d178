/* What a run of mode size asks beside what all runs do: that a model be saved in a form, and, of a process that loaded
 * it again, the logits of all rows. */
#ifndef YS_CREW_STORED_MODEL_H
#define YS_CREW_STORED_MODEL_H

#include "crew/run_state.h"

/** That `hello` tells just the forms of the recipe. Failures are those of ys_session_request(), here and below. */
ys_status ys_run_check_forms(struct ys_run *run, const ys_json *hello) YS_MUST_CHECK;
/** That `saved` names a file or folder below the run's folder without any link, which the spec then has the path of. */
ys_status ys_run_take_model(struct ys_run *run, const ys_json *reply) YS_MUST_CHECK;
/** Counts what the process that loaded has mapped, and what `opened` lists, which is then no part of it any more. */
ys_status ys_run_count_runtime(struct ys_run *run) YS_MUST_CHECK;
/** Adds the logits of a batch, from `tensors`, to those of the spec. */
ys_status ys_run_take_logits(struct ys_run *run, const ys_json *reply) YS_MUST_CHECK;

#endif
