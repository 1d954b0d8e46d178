/* The optimizers of a job file. The formulas are in docs/engine.md. */
#ifndef YS_JOB_OPTIMIZER_H
#define YS_JOB_OPTIMIZER_H

#include "base/json/json.h"
#include "job/value_form.h"

struct ys_job_optimizer {
    const char *name; /* as plans name the rule: "sgd", "adam", "adamw", "rmsprop" */
    bool nesterov;
    double beta1, beta2, alpha, epsilon; /* where the rule has no such number, its default elsewhere */
};

/** What may be written. */
const struct ys_form *ys_job_optimizers(void);

/** YS_EINVAL says what is wrong. */
ys_status ys_job_optimizer_parse(const char *text, struct ys_job_optimizer *optimizer) YS_MUST_CHECK;
/** As the resolved study writes it: without blanks, and without numbers where all are the defaults. Appended. */
void ys_job_optimizer_print(const struct ys_job_optimizer *optimizer, struct ys_buf *out);
/** Sets beta1, beta2, alpha and epsilon of a trial's keys; null where the rule has no such number. */
void ys_job_optimizer_put(const struct ys_job_optimizer *optimizer, ys_json *keys);
/** Whether the rule and `momentum` go together. YS_EINVAL: what is wrong and what to write. */
ys_status ys_job_optimizer_check(const struct ys_job_optimizer *optimizer, double momentum) YS_MUST_CHECK;

#endif
