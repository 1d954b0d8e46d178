/* Whether a framework computes a quantised network's operators as the rule says: each by itself, on the oracle's
 * numbers in front of it, against exact integers (quant/layer_network.h). It is the half "numerics" of the proof of
 * such a trial, made with the weights and scales of its first run that went well. */
#ifndef YS_PREPARE_LAYER_PROOF_H
#define YS_PREPARE_LAYER_PROOF_H

#include "prepare/agreement.h"

struct ys_layer_proof {
    int64_t operators, elements; /* of the network and made ones: integers that were compared */
    int64_t in_band;             /* a step beside, next to a half */
    bool is_float;               /* it adds up in float and rounds */
    char *wrong;                 /* a sentence: what is not as it has to be; NULL: all is */
    char *unasked;               /* why it could not be asked; NULL */
};

/** Asks the trial's framework, in `folder`. `plan` is that of a run, with scales of rule static; `env` its variables,
 * may be NULL. On failure `found` owns nothing. */
ys_status ys_layer_proof_ask(const struct ys_agreement *agreement, const struct ys_trial *trial,
                             const struct ys_work *work, const struct ys_plan *plan, const char *folder,
                             struct ys_layer_proof *found) YS_MUST_CHECK;
void ys_layer_proof_fini(struct ys_layer_proof *found);

#endif
