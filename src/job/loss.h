/* The losses of a job file. The formulas are in docs/graph.md. */
#ifndef YS_JOB_LOSS_H
#define YS_JOB_LOSS_H

#include "graph/graph.h"
#include "job/value_form.h"

struct ys_job_loss {
    bool own; /* auto: that of the model; the rest says nothing then */
    enum ys_loss loss;
    double label_smoothing; /* of softmax cross-entropy: 0 <= s < 1 */
};

/** What may be written. */
const struct ys_form *ys_job_losses(void);

/** YS_EINVAL says what is wrong. */
ys_status ys_job_loss_parse(const char *text, struct ys_job_loss *loss) YS_MUST_CHECK;
/** As the resolved study writes it: "auto", "softmax_cross_entropy(0.1)", "mean_squared_error". Appended. */
void ys_job_loss_print(const struct ys_job_loss *loss, struct ys_buf *out);

#endif
