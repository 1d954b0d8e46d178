/* How the learning rate changes, and how long a run is. */
#ifndef YS_JOB_SCHEDULE_H
#define YS_JOB_SCHEDULE_H

#include "job/settings.h"
#include "job/value_form.h"
#include <stdint.h>

/* With lr the job's rate and k the step, counted from 0:
 *
 *     constant             lr
 *     step(STEPS, FACTOR)  lr FACTOR^floor(k / STEPS), multiplied up step by step
 *     inv(GAMMA, POWER)    lr (1 + GAMMA k)^-POWER             "inv" of Caffe's solver (sgd_solver.cpp)
 *     inv(DECAY)           lr / (1 + DECAY k)                  learningRateDecay of Torch 7 (optim/sgd.lua)
 *     cosine(STEPS)        lr (1 + cos(pi k / STEPS)) / 2, and 0 from step STEPS on: Loshchilov and Hutter, "SGDR:
 *                          stochastic gradient descent with warm restarts", ICLR 2017, equation 5, without restarts,
 *                          down to 0, moved at every step
 *     cosine               the same with the steps of the whole run that are left after the warm-up
 *
 * warmup(STEPS) before any of them: lr (k + 1) / STEPS for the first STEPS steps, after which the schedule begins with
 * its own step 0: Goyal et al., "Accurate, large minibatch SGD: training ImageNet in 1 hour", 2017, section 2.2,
 * gradual warm-up from next to nothing. A run may be shorter than its schedule; it then sees the beginning of it. */
struct ys_schedule {
    int64_t warmup;             /* steps; 0: none */
    const struct ys_form *form; /* of what follows */
    double numbers[YS_FORM_ARGUMENTS];
};

/** The schedules without warm-up. */
const struct ys_form *ys_schedules(void);

/** STEPS 1 to 1e9; FACTOR, GAMMA and DECAY above 0 and at most 1000; POWER above 0 and at most 100. YS_EINVAL says what
 * is wrong. */
ys_status ys_schedule_parse(const char *text, struct ys_schedule *schedule) YS_MUST_CHECK;
/** As the resolved study writes it: "warmup(500) step(30,0.1)". Appended. */
void ys_schedule_print(const struct ys_schedule *schedule, struct ys_buf *out);

/** The learning rate of each of the first `steps` steps of a run that takes `total` of them (fewer or more than
 * `steps`); `keys` are those of a trial; lr [out] has room for `steps` values. All 0 where the trial does not train.
 * YS_EINVAL: a rate is no longer a finite number. */
ys_status ys_schedule_fill(const struct ys_trial_settings *keys, int64_t total, int64_t steps,
                           double *lr) YS_MUST_CHECK;

/** Whether the rates of all `total` steps of a run are finite, as ys_schedule_fill() says, but without room for them.
 */
ys_status ys_schedule_check(const struct ys_trial_settings *keys, int64_t total) YS_MUST_CHECK;

/** Of `train_count` training rows those that are kept from training (tune.rows): at least one, and 0 without it. */
int64_t ys_job_kept_rows(const struct ys_trial_settings *keys, int64_t train_count);

/** The number of batches that a trial's order needs. Training: its steps, keys.steps or keys.epochs times
 * floor(train_count / keys.batch). mode = infer: keys.requests, or as many as one pass over the data has where that is
 * less: requests go round the order, so no row comes again before all others have come. `train_count` is the number of
 * training rows, of which those that are kept from training do not count. YS_EINVAL: the batch is larger than the data,
 * or more than 1e9 steps or YS_ORDER_MAX_ROWS rows come out. */
ys_status ys_job_steps(const struct ys_trial_settings *keys, int64_t train_count, int64_t *steps) YS_MUST_CHECK;

#endif
