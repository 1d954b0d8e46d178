/* Predictions with the same weights: what runs found, as the result shows it of a trial. */
#ifndef YS_METRIC_RESULT_PREDICTION_AGREEMENT_H
#define YS_METRIC_RESULT_PREDICTION_AGREEMENT_H

#include "metric/result_document.h"
#include "metric/study_view.h"

/** New, by its record and ys_free(); NULL where no run has any. */
struct ys_agreement_block *ys_agreement_block(const struct ys_metric_view_trial *trial);

#endif
