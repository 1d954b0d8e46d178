/* Where the time of a step of several ranks goes. Of this room alone. */
#ifndef YS_RUN_STEP_PARTS_H
#define YS_RUN_STEP_PARTS_H

#include "crew/run_spec.h"

/** Of one rank, seconds a step: the mean over the steps after the first. They add up to what passes from the start of
 * one block to that of the next, saves and questions in between left out, over its steps. */
struct ys_step_parts {
    double compute_s;       /* forward and backward; where that is all that it tells, the next two as well */
    double optimizer_s;     /* clipping and the update; NaN: the rank does not tell when it begins a step */
    double framework_s;     /* between an update and the next forward pass, less input_s; NaN likewise */
    double communication_s; /* from the time when the last rank had its gradients until these were those of all */
    double waiting_s;       /* its own gradients were there, and those of the slowest rank of this step were not */
    double input_s;         /* the loop waited for its batches */
    double rest_s;          /* between two blocks of one question */
};

/** From the series of all ranks, whose clock is one: `parts`, one for each. NaN where some rank does not tell of all
 * its steps (`exchange_*`), but for `input_s` and `rest_s`; all of them where there is no step after the first. */
void ys_step_parts_find(struct ys_run_record *const *own, size_t count, struct ys_step_parts *parts);

#endif
