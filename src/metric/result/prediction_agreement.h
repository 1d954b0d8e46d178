/* Predictions with the same weights: what runs found, as the result document shows it of a trial. */
#ifndef YS_METRIC_RESULT_PREDICTION_AGREEMENT_H
#define YS_METRIC_RESULT_PREDICTION_AGREEMENT_H

#include "metric/study_view.h"

/** One value of the network against the oracle's. */
struct ys_agreement_layer {
    const char *value, *op;
    double error; /* NaN: not finite */
};
extern const struct ys_record ys_agreement_layer_record;

/** The member `agreement` of a trial (docs/results.md), borrowed from it or from what it is made of. Numbers that are
 * not known are NaN or YS_FIELD_NONE. */
struct ys_agreement_block {
    const char *reference;
    int64_t weights_steps, rows;
    int64_t predictions, disagreements; /* of all rounds; YS_FIELD_NONE: no round has predictions */
    double accuracy, reference_accuracy, logits_error;
    int64_t layers_rows;
    const char *layers_reason;
    const ys_json *layers; /* array of layers; NULL, for the reason above */
    const ys_json *rounds; /* array of struct ys_agreement_round */
};
extern const struct ys_record ys_agreement_block_record;

struct ys_agreement_round {
    int64_t round, disagreements;
    double accuracy, reference_accuracy, logits_error;
    const char *reason; /* why there are no predictions */
};
extern const struct ys_record ys_agreement_round_record;

/** Null where no run has any. */
ys_json *ys_agreement_block(const struct ys_metric_view_trial *trial);

#endif
