/* What a trial of compare = same-weights predicted, over its rounds. */
#ifndef YS_METRIC_AGREEMENT_H
#define YS_METRIC_AGREEMENT_H

#include "metric/trial.h"

/** The member `agreement` of a trial (docs/results.md); JSON null where no run has one. New value; a failure sticks in
 * `status`. */
ys_json *ys_agreement_block(ys_status *status, const struct ys_metric_view_trial *trial);

#endif
