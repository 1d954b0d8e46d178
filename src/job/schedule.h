/* How the learning rate changes, and how long training is. */
#ifndef YS_JOB_SCHEDULE_H
#define YS_JOB_SCHEDULE_H

#include "base/json.h"
#include "base/status.h"
#include <stdint.h>

struct ys_schedule {
    int64_t every; /* steps; 0: the rate never changes */
    double factor; /* the rate is multiplied by it after each `every` steps */
};

/** "constant" or "step(STEPS, FACTOR)": STEPS 1 to 1e9, FACTOR above 0 and at most 1000. YS_EINVAL says what is wrong.
 */
ys_status ys_schedule_parse(const char *text, struct ys_schedule *schedule) YS_MUST_CHECK;

/** The learning rate of each step: lr[0] is `keys.lr`, and lr[k] is lr[k - 1], times FACTOR when STEPS divides k.
 * `keys` is that of a trial; lr [out] has room for `steps` values. YS_EINVAL: a rate is no longer a finite number. */
ys_status ys_schedule_fill(const ys_json *keys, int64_t steps, double *lr) YS_MUST_CHECK;

/** The number of steps of a trial: keys.steps, or keys.epochs times floor(train_count / keys.batch). `train_count` is
 * the number of training rows. YS_EINVAL: the batch is larger than the data, or more than 1e9 steps come out. */
ys_status ys_job_steps(const ys_json *keys, int64_t train_count, int64_t *steps) YS_MUST_CHECK;

#endif
